import { describe, expect, it } from "vitest";
import { freshnessWarning } from "../../src/recall/neutral.ts";
import { ageInDays } from "../../src/store/row-entry.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

describe("freshnessWarning", () => {
  it.each([
    [0, false],
    [47 * HOUR + 59 * MINUTE, false],
    [48 * HOUR - 1, false],
    [48 * HOUR, true],
    [-5 * HOUR, false],
  ])("B7.2 C14 after %d ms: %s", (ms, warns) => {
    expect(freshnessWarning(ageInDays(1e12, 1e12 + ms)) !== "").toBe(warns);
  });

  it("B7.2 it says how old, what that means and what to do", () => {
    const warning = freshnessWarning(47);
    for (const part of [/\b47 days old\b/, /point-in-time/, /may be outdated/, /verify it against the current code/i])
      expect(warning).toMatch(part);
    expect(warning).not.toContain("\n");
  });

  it("B7.2 an age that is no number warns of nothing", () => {
    expect(freshnessWarning(Number.NaN)).toBe("");
  });
});
