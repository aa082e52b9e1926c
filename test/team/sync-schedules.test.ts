import { describe, it } from "vitest";
import { makeMemoryRemote } from "./memory-remote.ts";
import { describeRemote } from "./remote-contract.ts";
import { runSchedules } from "./schedules.ts";

describeRemote("memory", async () => {
  const remote = makeMemoryRemote();
  return { open: remote.open, cleanup: () => {} };
});

/** The thousands are in test/heavy/team-schedules.test.ts. */
describe("random schedules", () => {
  it("end with every client and the remote in agreement, nothing lost", async () => {
    await runSchedules(50, "memory");
  });

  it.each([
    ["disk", 10],
    ["server", 20],
    ["git", 3],
  ] as const)("do so with another kind of place, too: %s", async (kind, runs) => {
    await runSchedules(runs, kind);
  });
});
