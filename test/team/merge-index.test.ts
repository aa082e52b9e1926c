import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { mergeIndex } from "../../src/team/merge-driver.ts";

const BASE = "# Team\n\nRead this first.\n\n- [A](a.md) — about a\n- [B](b.md) — about b\n";

describe("mergeIndex", () => {
  it("takes lines that both added at the end, and drops what either removed", () => {
    const ours = `${BASE}- [C](c.md) — about c\n`.replace("- [A](a.md) — about a\n", "");
    const theirs = `${BASE}- [D](d.md) — about d\n`;
    expect(mergeIndex(BASE, ours, theirs)).toBe(
      "# Team\n\nRead this first.\n\n- [B](b.md) — about b\n- [C](c.md) — about c\n- [D](d.md) — about d\n",
    );
  });

  it("knows a line by the memory that it points to", () => {
    const ours = BASE.replace("about a", "about a, at length");
    const theirs = BASE.replace("about b", "about the letter b");
    expect(mergeIndex(BASE, ours, theirs)).toBe(
      BASE.replace("about a", "about a, at length").replace("about b", "about the letter b"),
    );
    expect(mergeIndex(BASE, BASE.replace("about a", "x"), BASE.replace("about a", "xyz"))).toContain(
      "- [A](a.md) — xyz\n",
    );
  });

  it("keeps what was written by hand in its order", () => {
    const ours = BASE.replace("Read this first.\n", "Read this first.\nThen that.\n");
    const theirs = BASE.replace("# Team\n", "# The team\n\nHello.\n");
    const merged = mergeIndex(BASE, ours, theirs);
    expect(merged.split("\n").filter((line) => line !== "" && !line.startsWith("-"))).toEqual([
      "# The team",
      "Hello.",
      "Read this first.",
      "Then that.",
    ]);
  });

  const index = fc
    .array(
      fc.constantFrom(
        "# T",
        "",
        "words",
        "more words",
        "- [A](a.md)",
        "- [A](a.md) — x",
        "- [B](b.md)",
        "- [C](c.md) — y",
        "---",
        "words",
      ),
      {
        maxLength: 8,
      },
    )
    .map((lines) => lines.map((line) => `${line}\n`).join(""));

  it("obeys the laws of a merge, for all pages", () => {
    fc.assert(
      fc.property(index, index, index, (b, o, t) => {
        expect(mergeIndex(b, b, t)).toBe(t);
        expect(mergeIndex(b, o, b)).toBe(o);
        expect(mergeIndex(b, o, o)).toBe(o);
        const merged = mergeIndex(b, o, t);
        expect(merged).toBe(mergeIndex(b, o, t));
        const lines = (text: string) => new Set(text.split("\n").filter((line) => line !== ""));
        const targets = (text: string) => new Set([...text.matchAll(/\((\w\.md)\)/g)].map((match) => match[1]));
        for (const target of targets(o))
          if (!targets(b).has(target) || targets(t).has(target)) expect(targets(merged)).toContain(target);
        for (const target of targets(t))
          if (!targets(b).has(target) || targets(o).has(target)) expect(targets(merged)).toContain(target);
        for (const line of lines(merged)) expect(lines(o).has(line) || lines(t).has(line)).toBe(true);
        for (const line of lines(o))
          if (!lines(b).has(line) && !line.startsWith("-")) expect(lines(merged)).toContain(line);
      }),
      { numRuns: 500 },
    );
  });
});
