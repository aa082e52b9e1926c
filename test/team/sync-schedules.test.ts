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

  it("do so with a shared folder, too", async () => {
    await runSchedules(10, "disk");
  });
});
