import { describe, expect, it } from "vitest";
import { hiddenLines, mendForeign, retiredLines } from "../../src/store/index-foreign.ts";
import { type Header, parseHeader } from "../../src/store/memory.ts";

const headers = new Map<string, Header>(
  ["a", "b"].map((name) => [`${name}.md`, parseHeader(`${name}.md`, `---\nname: ${name}\ndescription: new\n---\n`)]),
);
const lookup = { findHeader: (file: string) => headers.get(file) ?? null, isInMore: () => false };
const nothing = { hidden: [], retired: [] };

describe("mendForeign", () => {
  it("puts back our line in its place when an editor's text lacks it", () => {
    const known = "# Mine\n- [a](a.md) — new\n- [b](b.md) — new\n";
    expect(mendForeign("# Mine\nnew by hand\n- [b](b.md) — new\n", known, nothing, lookup)).toBe(
      "# Mine\n- [a](a.md) — new\nnew by hand\n- [b](b.md) — new\n",
    );
  });

  it("does not put back the line of a memory that is gone, or that stands on the overflow page", () => {
    expect(mendForeign("", "- [c](c.md)\n", nothing, lookup)).toBe("");
    expect(mendForeign("", "- [a](a.md)\n", nothing, { ...lookup, isInMore: () => true })).toBe("");
  });

  it("gives a line that we had replaced its new words, and drops one that we had removed", () => {
    const retired = ["- [a](a.md) — old", "- [c](c.md) — forgotten"];
    const text = "- [a](a.md) — old\n- [c](c.md) — forgotten\n- [b](b.md) — my own words\n";
    expect(mendForeign(text, "", { hidden: [], retired }, lookup)).toBe(
      "- [a](a.md) — new\n- [b](b.md) — my own words\n",
    );
  });

  it("shows hidden lines again, once", () => {
    const hidden = hiddenLines("top\nby hand\n", "top\n", 0);
    expect(mendForeign("top\nbottom\n", "", { hidden, retired: [] }, lookup)).toBe("top\nby hand\nbottom\n");
    expect(mendForeign("by hand\n", "", { hidden, retired: [] }, lookup)).toBe("by hand\n");
  });
});

describe("retiredLines", () => {
  it("are pointers that the new text lacks, but never the link to the overflow page", () => {
    const before = "# Mine\n- [a](a.md) — old\n- [More memories](MEMORY.more.md) — 3 further memories\nby hand\n";
    expect(retiredLines(before, "- [a](a.md) — new\n")).toEqual(["- [a](a.md) — old"]);
  });
});
