import { describe, expect, it } from "vitest";
import {
  beginNotes,
  countAnswer,
  endNotes,
  NO_NOTES,
  type NotesState,
  shouldTakeNotes,
} from "../../src/agent/notes.ts";

const state = (more: Partial<NotesState>): NotesState => ({ ...NO_NOTES, ...more });

describe("shouldTakeNotes (B8.8, C28)", () => {
  it.each([
    ["too early", { contextTokens: 9_999 }, false],
    ["the first time", { contextTokens: 10_000 }, true],
    ["the first time, in the middle of a step", { contextTokens: 10_000, calledInLastTurn: true, toolCalls: 2 }, false],
    ["the first time, after enough calls", { contextTokens: 10_000, calledInLastTurn: true, toolCalls: 3 }, true],
    ["little growth", { notedTokens: 10_000, contextTokens: 14_999, toolCalls: 9 }, false],
    ["growth, no call in the last turn", { notedTokens: 10_000, contextTokens: 15_000 }, true],
    ["growth, few calls", { notedTokens: 10_000, contextTokens: 15_000, toolCalls: 2, calledInLastTurn: true }, false],
    ["growth and calls", { notedTokens: 10_000, contextTokens: 15_000, toolCalls: 3, calledInLastTurn: true }, true],
    ["calls alone", { notedTokens: 10_000, contextTokens: 10_100, toolCalls: 50, calledInLastTurn: true }, false],
    ["one is running", { contextTokens: 50_000, running: true }, false],
    ["it keeps failing", { contextTokens: 50_000, failures: 3 }, false],
  ])("B8.8 %s", (_, given, isTime) => {
    expect(shouldTakeNotes(state(given))).toBe(isTime);
  });
});

describe("a session", () => {
  it("counts from the last run, whether it went well or not", () => {
    let now = countAnswer(NO_NOTES, { contextTokens: 12_000, toolCalls: 0 });
    expect(shouldTakeNotes(now)).toBe(true);
    now = beginNotes(now);
    now = countAnswer(now, { contextTokens: 13_000, toolCalls: 2 });
    expect(shouldTakeNotes(now)).toBe(false);
    now = endNotes(now, false);
    expect(now).toMatchObject({ notedTokens: 12_000, toolCalls: 2, failures: 1, running: false });
    expect(shouldTakeNotes(now)).toBe(false);
    now = countAnswer(now, { contextTokens: 17_000, toolCalls: 1 });
    expect(shouldTakeNotes(now)).toBe(true);
    expect(endNotes(beginNotes(now), true)).toMatchObject({ failures: 0, toolCalls: 0, notedTokens: 17_000 });
  });

  it("counts growth anew after a compaction, and keeps the last number when nobody counts", () => {
    let now = endNotes(beginNotes(state({ contextTokens: 150_000 })), true);
    now = countAnswer(now, { contextTokens: 0, toolCalls: 0 });
    expect(now).toMatchObject({ contextTokens: 150_000, notedTokens: 150_000 });
    now = countAnswer(now, { contextTokens: 20_000, toolCalls: 0 });
    expect(shouldTakeNotes(now)).toBe(false);
    now = countAnswer(now, { contextTokens: 25_000, toolCalls: 0 });
    expect(shouldTakeNotes(now)).toBe(true);
  });
});
