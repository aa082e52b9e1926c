import { describe, expect, it } from "vitest";
import { ageInDays, ageInWords, ageName } from "../../src/store/row-entry.ts";

const DAY = 86_400_000;
const LIMITS = { recent: 2, stale: 8, old: 31 };

describe("age", () => {
  it.each([
    [0, 0],
    [DAY - 1, 0],
    [DAY, 1],
    [2 * DAY - 1, 1],
    [2 * DAY, 2],
    [400 * DAY, 400],
  ])("B7.1 %d ms are %d whole days", (ms, days) => {
    expect(ageInDays(1e12, 1e12 + ms)).toBe(days);
  });

  it("B7.1 the future is today", () => {
    expect(ageInDays(1e12 + 5 * DAY, 1e12)).toBe(0);
  });

  it.each([
    [0, "today"],
    [1, "yesterday"],
    [2, "2 days ago"],
    [400, "400 days ago"],
  ])("B7.3 %d is %s", (days, words) => {
    expect(ageInWords(days)).toBe(words);
  });

  it.each([
    [0, "fresh"],
    [1, "fresh"],
    [2, "recent"],
    [7, "recent"],
    [8, "stale"],
    [30, "stale"],
    [31, "old"],
  ])("C14 day %d is %s", (days, name) => {
    expect(ageName(days, LIMITS)).toBe(name);
  });
});
