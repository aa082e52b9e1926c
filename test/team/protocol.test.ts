import { describe, expect, it } from "vitest";
import { findEntryProblem, foldPath, openNames } from "../../src/team/protocol.ts";

describe("names that some disk cannot tell apart", () => {
  it.each(["memory.md", "Memory.md", "sub/mEMORY.md", "memory.MORE.md", "Logs/2026/03/x.md"])(
    "%s is no memory: it is the index or a daily log there",
    (path) => {
      expect(findEntryProblem(path)).not.toBeNull();
    },
  );

  it.each(["memories.md", "sub/memory.more.md", "logbook/2026/x.md"])("%s is one", (path) => {
    expect(findEntryProblem(path)).toBeNull();
  });

  it.each([
    ["Guide.md", "guide.md"],
    ["caf\u00e9.md", "cafe\u0301.md"],
    ["STRASSE.md", "stra\u00dfe.md"],
    ["\u017fub.md", "sub.md"],
    ["\u03c3\u03c2.md", "\u03a3\u03a3.md"],
  ])("%s and %s are one name", (a, b) => {
    expect(foldPath(a)).toBe(foldPath(b));
  });

  it("are claimed once, with their folders", () => {
    const names = openNames();
    expect(["a.md", "a.md", "Sub/b.md", "Sub/c.md"].map(names.claim)).toEqual([null, null, null, null]);
    expect(["A.md", "sub/d.md", "Sub", "a.md/e.md", "SUB/B.md"].map(names.claim)).toEqual([
      "a.md",
      "Sub",
      "Sub",
      "a.md",
      "Sub",
    ]);
    expect(names.claim("d.md")).toBeNull();
  });
});
