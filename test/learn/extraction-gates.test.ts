import { describe, expect, it } from "vitest";
import { checkGates, type GateState } from "../../src/learn/extraction-gates.ts";

const OPEN: GateState = {
  enabled: true,
  isSubAgent: false,
  mode: "auto",
  newMessages: 2,
  turnsSince: 1,
  everyTurns: 1,
  memoryWrittenInTurn: false,
  budget: { ok: true },
  explicit: false,
};

describe("checkGates", () => {
  it("B8.1 lets an ordinary turn through, into the inbox, too", () => {
    expect(checkGates(OPEN)).toEqual({ go: true });
    expect(checkGates({ ...OPEN, mode: "inbox" })).toEqual({ go: true });
  });

  it.each<[string, Partial<GateState>, RegExp, boolean]>([
    ["the scope is off", { mode: "off" }, /off/, false],
    ["the scope is read-only", { mode: "read-only" }, /read-only/, false],
    ["a sub-agent", { isSubAgent: true }, /sub-agent/, false],
    ["the switch", { enabled: false }, /extraction is off/, false],
    ["nothing new", { newMessages: 0 }, /nothing is new/, false],
    ["a memory written", { memoryWrittenInTurn: true }, /written in this turn/, true],
    ["the throttle", { turnsSince: 2, everyTurns: 3 }, /turn 2 of 3: extraction runs every 3 turns/, false],
    ["the budget", { budget: { ok: false, reason: "50,000 tokens today" } }, /50,000 tokens today/, false],
  ])("B8.7 says why it stops: %s", (_, change, reason, advance) => {
    expect(checkGates({ ...OPEN, ...change })).toEqual({ go: false, reason: expect.stringMatching(reason), advance });
  });

  it("C28 B8.6 a written memory skips and advances before the throttle is looked at", () => {
    expect(checkGates({ ...OPEN, memoryWrittenInTurn: true, turnsSince: 1, everyTurns: 5 })).toMatchObject({
      advance: true,
    });
  });

  it("B3.10 what is asked for passes switch, throttle and conflict, and neither mode, budget nor sub-agent", () => {
    const asked = { ...OPEN, explicit: true };
    expect(checkGates({ ...asked, enabled: false, turnsSince: 1, everyTurns: 9, memoryWrittenInTurn: true })).toEqual({
      go: true,
    });
    expect(checkGates({ ...asked, mode: "off" }).go).toBe(false);
    expect(checkGates({ ...asked, mode: "read-only" }).go).toBe(false);
    expect(checkGates({ ...asked, isSubAgent: true }).go).toBe(false);
    expect(checkGates({ ...asked, budget: { ok: false, reason: "used up" } }).go).toBe(false);
  });
});
