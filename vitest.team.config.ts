/** The quick start of docs/team.md, as it is written there: two people, a server, a conflict. */

import { defineConfig } from "vitest/config";
import base from "./vitest.config.ts";

export default defineConfig({
  ...base,
  test: { ...base.test, include: ["test/team-quick-start/**/*.test.ts"], exclude: [] },
});
