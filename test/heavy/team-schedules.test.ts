/** Three clients, random edits, deletes, renames and conflicts, a network that drops, delays, duplicates and reorders, clients killed, stores restored from backups. */

import { describe, expect, it } from "vitest";
import { runSchedules } from "../team/schedules.ts";

/** `SCHEDULES=20000` for more, `SCHEDULE_SEED=…` for one that failed: fast-check prints it. */
const RUNS = Number(process.env.SCHEDULES ?? 1_600);
const SEED = process.env.SCHEDULE_SEED === undefined ? undefined : Number(process.env.SCHEDULE_SEED);

describe("random schedules of three clients", () => {
  it.each([
    ["memory", RUNS],
    ["disk", Math.ceil(RUNS / 10)],
    ["server", Math.ceil(RUNS / 16)],
    ["git", Math.ceil(RUNS / 200)],
  ] as const)("agree after quiet, and lose nothing: %s, %d times", { timeout: 1_800_000 }, async (kind, runs) => {
    const tally = await runSchedules(runs, kind, SEED);
    console.info(`${kind}: ${JSON.stringify(tally)}, 0 words lost, 0 replaced without a copy`);
    expect(tally.restores).toBeGreaterThan(0);
  });
});
