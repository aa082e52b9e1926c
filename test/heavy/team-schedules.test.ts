/** Three clients, random edits, deletes, renames and conflicts, a network that drops, delays, duplicates and reorders, clients killed. */

import { describe, it } from "vitest";
import { runSchedules } from "../team/schedules.ts";

/** `SCHEDULES=20000` for more, `SCHEDULE_SEED=…` for one that failed: fast-check prints it. */
const RUNS = Number(process.env.SCHEDULES ?? 2_000);
const SEED = process.env.SCHEDULE_SEED === undefined ? undefined : Number(process.env.SCHEDULE_SEED);

describe("random schedules of three clients", () => {
  it(`agree after quiet, and lose nothing, ${RUNS} times`, { timeout: 1_800_000 }, async () => {
    await runSchedules(RUNS, "memory", SEED);
  });

  it("do so with a shared folder, too", { timeout: 600_000 }, async () => {
    await runSchedules(Math.ceil(RUNS / 10), "disk", SEED);
  });
});
