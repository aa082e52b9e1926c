import { describe, it } from "vitest";
import { makeMemoryStore } from "./memory-store.ts";
import { runSchedules } from "./schedules.ts";
import { describeStore } from "./store-contract.ts";

describeStore("memory", async () => {
  const store = makeMemoryStore();
  return { open: store.open, cleanup: () => {} };
});

/** The thousands are in test/heavy/team-schedules.test.ts. */
describe("random schedules", () => {
  it("end with every client and the store in agreement, nothing lost", async () => {
    await runSchedules(50, "memory");
  });

  it("do so with a shared folder, too", async () => {
    await runSchedules(10, "disk");
  });
});
