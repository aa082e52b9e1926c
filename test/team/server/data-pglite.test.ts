/** The team's data on the embedded database, in memory. */

import { describe } from "vitest";
import { openPglite } from "../../../src/team/server/pglite.ts";
import { testTeamData } from "./data-contract.ts";

describe("on PGlite", () => {
  testTeamData((now) => openPglite(null, { load: () => import("@electric-sql/pglite"), now }));
});
