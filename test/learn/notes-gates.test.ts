import { describe, expect, it } from "vitest";
import {
  beginNotes,
  countAnswer,
  endNotes,
  NO_NOTES,
  NOTES_LIMITS,
  type NotesState,
  shouldTakeNotes,
} from "../../src/learn/session-notes.ts";

const state = (more: Partial<NotesState>): NotesState => ({ ...NO_NOTES, ...more });

describe("shouldTakeNotes (B8.8, C28)", () => {
  it("B8.8 has the known limits", () => {
    expect(NOTES_LIMITS).toMatchObject({ firstTokens: 10_000, moreTokens: 5_000, toolCalls: 3 });
  });

  it.each([
    ["too early", { contextTokens: 9_999 }, /has 9999 tokens; the first notes are taken at 10000/],
    ["the first time", { contextTokens: 10_000 }, null],
    [
      "the first time, in the middle of a step",
      { contextTokens: 10_000, calledInLastTurn: true, toolCalls: 2 },
      /2 of 3/,
    ],
    ["the first time, after enough calls", { contextTokens: 10_000, calledInLastTurn: true, toolCalls: 3 }, null],
    ["little growth", { notedTokens: 10_000, contextTokens: 14_999, toolCalls: 9 }, /4999 tokens since/],
    ["growth, no call in the last turn", { notedTokens: 10_000, contextTokens: 15_000 }, null],
    [
      "growth, few calls",
      { notedTokens: 10_000, contextTokens: 15_000, toolCalls: 2, calledInLastTurn: true },
      /2 of 3/,
    ],
    ["growth and calls", { notedTokens: 10_000, contextTokens: 15_000, toolCalls: 3, calledInLastTurn: true }, null],
    [
      "calls alone",
      { notedTokens: 10_000, contextTokens: 10_100, toolCalls: 50, calledInLastTurn: true },
      /100 tokens/,
    ],
    ["one is running", { contextTokens: 50_000, running: true }, /already/],
    ["it keeps failing", { contextTokens: 50_000, failures: 3 }, /failed 3 times/],
  ])("%s", (_, given, reason) => {
    const decision = shouldTakeNotes(state(given));
    if (reason === null) expect(decision).toEqual({ go: true });
    else expect(decision).toEqual({ go: false, reason: expect.stringMatching(reason) });
  });

  it("takes other limits", () => {
    const limits = { ...NOTES_LIMITS, firstTokens: 100 };
    expect(shouldTakeNotes(state({ contextTokens: 100 }), limits)).toEqual({ go: true });
  });
});

describe("a session", () => {
  it("counts from the last run, whether it went well or not", () => {
    let now = countAnswer(NO_NOTES, { contextTokens: 12_000, toolCalls: 0 });
    expect(shouldTakeNotes(now).go).toBe(true);
    now = beginNotes(now);
    now = countAnswer(now, { contextTokens: 13_000, toolCalls: 2 });
    expect(shouldTakeNotes(now)).toMatchObject({ reason: expect.stringMatching(/already/) });
    now = endNotes(now, false);
    expect(now).toMatchObject({ notedTokens: 12_000, toolCalls: 2, failures: 1, running: false });
    expect(shouldTakeNotes(now).go).toBe(false);
    now = countAnswer(now, { contextTokens: 17_000, toolCalls: 1 });
    expect(shouldTakeNotes(now).go).toBe(true);
    expect(endNotes(beginNotes(now), true)).toMatchObject({ failures: 0, toolCalls: 0, notedTokens: 17_000 });
  });

  it("counts growth anew after a compaction, and keeps the last number when nobody counts", () => {
    let now = endNotes(beginNotes(state({ contextTokens: 150_000 })), true);
    now = countAnswer(now, { contextTokens: 0, toolCalls: 0 });
    expect(now).toMatchObject({ contextTokens: 150_000, notedTokens: 150_000 });
    now = countAnswer(now, { contextTokens: 20_000, toolCalls: 0 });
    expect(shouldTakeNotes(now).go).toBe(false);
    now = countAnswer(now, { contextTokens: 25_000, toolCalls: 0 });
    expect(shouldTakeNotes(now).go).toBe(true);
  });
});
