import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  countLines,
  formatLines,
  type LineEdit,
  type LineRange,
  markLines,
  rangesOf,
  shiftLines,
} from "../../src/session/file-state.ts";

const marked = (ranges: readonly LineRange[], total: number) =>
  ranges.reduce<Uint8Array>((lines, range) => markLines(lines, range, total), new Uint8Array(total));
const bytes = (text: string) => new TextEncoder().encode(text);

describe("ranges of lines", () => {
  it.each([
    ["", 0],
    ["\n", 1],
    ["a", 1],
    ["a\n", 1],
    ["a\r\nb", 2],
    ["a\n\n", 2],
    ["\uFEFFa\nb\n", 2],
  ])("counts the lines of %j", (text, count) => {
    expect(countLines(bytes(text))).toBe(count);
  });

  it("merges what overlaps or touches, and cuts at the ends", () => {
    const ranges = [
      { from: 8, to: 99 },
      { from: 0, to: 2 },
      { from: 3, to: 4 },
      { from: 6, to: 5 },
    ];
    expect(rangesOf(marked(ranges, 10))).toEqual([
      { from: 1, to: 4 },
      { from: 8, to: 10 },
    ]);
  });

  it("names lines as people do", () => {
    expect(formatLines([{ from: 3, to: 3 }])).toBe("line 3");
    expect(formatLines([{ from: 3, to: 9 }])).toBe("lines 3-9");
    const many = [3, 6, 9, 12, 15, 18, 21].map((from) => ({ from, to: from + 1 }));
    expect(formatLines(many.slice(0, 3))).toBe("lines 3-4, 6-7 and 9-10");
    expect(formatLines(many)).toBe("lines 3-4, 6-7, 9-10, 12-13, 15-16 and 2 more");
  });

  const range = fc
    .tuple(fc.integer({ min: 1, max: 30 }), fc.integer({ min: 0, max: 8 }))
    .map(([from, length]): LineRange => ({ from, to: from + length }));
  const listOf = (ranges: readonly LineRange[]) =>
    ranges.flatMap(({ from, to }) => Array.from({ length: to - from + 1 }, (_, at) => from + at));

  it("agrees with sets of numbers", () => {
    fc.assert(
      fc.property(fc.array(range, { maxLength: 8 }), (ranges) => {
        const known = new Set(listOf(ranges).filter((line) => line <= 25));
        expect(listOf(rangesOf(marked(ranges, 25)))).toEqual([...known].sort((a, b) => a - b));
      }),
    );
  });

  it("B10.6 moves known lines as an edit moves the text", () => {
    // Edits from gaps and lengths, so that they are in order and do not overlap.
    const edits = fc.array(fc.tuple(fc.nat(6), fc.nat(3), fc.nat(4)), { maxLength: 4 }).map((parts) => {
      let next = 1;
      return parts.map(([gap, length, into]): LineEdit => {
        const from = next + gap;
        next = from + Math.max(1, length);
        return { from, to: from + length - 1, into };
      });
    });
    fc.assert(
      fc.property(fc.array(range, { maxLength: 5 }), edits, (ranges, changes) => {
        const known = marked(ranges, 60);
        const isKnown = new Set(listOf(rangesOf(known)));
        const text = Array.from({ length: 60 }, (_, at) => isKnown.has(at + 1));
        for (const { from, to, into } of [...changes].reverse()) {
          text.splice(from - 1, to - from + 1, ...Array<boolean>(into).fill(true));
        }
        const expected = text.flatMap((yes, at) => (yes ? [at + 1] : []));
        expect(listOf(rangesOf(shiftLines(known, changes, text.length)))).toEqual(expected);
      }),
    );
  });
});
