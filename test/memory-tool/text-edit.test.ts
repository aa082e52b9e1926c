/** The two edits on texts of every kind. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { insertText, replaceText } from "../../src/memory-tool/files.ts";

/** Few letters and many breaks, so that places repeat and overlap. */
const texts = fc.string({ unit: fc.constantFrom("a", "b", "\n", "\r\n", "é", "😀"), maxLength: 30 });

describe("replaceText", () => {
  it("replaces the only place and nothing else, or refuses", () => {
    fc.assert(
      fc.property(texts, texts, fc.string(), texts, (before, old, put, after) => {
        const text = `${before}${old}${after}`;
        if (old === "" || countAll(text, old) !== 1) {
          expect(() => replaceText(text, old, put, "x")).toThrow(/No replacement was performed/);
          return;
        }
        const isCrlf = text.includes("\r\n") && !/(^|[^\r])\n/.test(text);
        const expected = before + (isCrlf ? put.replace(/\r?\n/g, "\r\n") : put) + after;
        expect(replaceText(text, old, put, "x").text).toBe(expected);
      }),
    );
  });

  it("says which lines are new", () => {
    expect(replaceText("a\nb\nc", "b", "x\ny\nz", "x")).toMatchObject({ first: 2, last: 4 });
    expect(replaceText("a\nb\nc", "b\n", "", "x")).toEqual({ text: "a\nc", first: 2, last: 2 });
    expect(replaceText("a", "a", "", "x")).toEqual({ text: "", first: 1, last: 1 });
  });

  it("names no more places than need be", () => {
    const text = "a\n".repeat(1_000_000);
    expect(() => replaceText(text, "a", "b", "x")).toThrow(/in lines: 1, 2, .*, 50\. Please/);
  });
});

describe("insertText", () => {
  it("puts one block of lines in and keeps all others", () => {
    fc.assert(
      fc.property(fc.array(fc.stringMatching(/^[ab é]*$/), { minLength: 1 }), fc.nat(), (lines, at) => {
        const line = at % (lines.length + 1);
        const { text, first, last } = insertText(lines.join("\n"), line, "x\ny\n");
        expect(text.split("\n")).toEqual(lines.toSpliced(line, 0, "x", "y"));
        expect([first, last]).toEqual([line + 1, line + 2]);
      }),
    );
  });

  it.each([
    ["", 0, "x", "x\n"],
    ["a\r\nb", 2, "x", "a\r\nb\r\nx"],
    ["a\r\nb", 0, "x\ny", "x\r\ny\r\na\r\nb"],
    ["a\r\nb\nc", 1, "x", "a\r\nx\nb\nc"],
  ])("keeps the breaks of %j at line %i", (text, line, put, expected) => {
    expect(insertText(text, line, put).text).toBe(expected);
  });
});

function countAll(text: string, wanted: string): number {
  let count = 0;
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + 1)) count++;
  return count;
}
