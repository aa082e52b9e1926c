import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sanitise, sanitiseLine } from "../../src/text/sanitise.ts";
import { cut, graphemes, pad, SGR, widthOf, wrapText } from "../../src/text/wrap.ts";

describe("width", () => {
  it("counts columns as terminals do", () => {
    const cases: [string, number][] = [
      ["", 0],
      ["abc", 3],
      ["你好", 4],
      ["ｆｕｌｌ", 8],
      ["한국어", 6],
      ["e\u0301", 1],
      ["👍", 2],
      ["👍🏽", 2],
      ["👩‍👩‍👧", 2],
      ["🇩🇪", 2],
      ["❤️", 2],
      ["❤", 1],
      ["1️⃣", 2],
      ["\u200b", 0],
      ["\u0301", 0],
      ["\x1b[1;31mred\x1b[0m", 3],
      ["…", 1],
      ["█", 1],
      ["é", 1],
      ["a\u00adb", 2],
      ["𠀀", 2],
      ["カ゛", 4],
    ];
    for (const [text, width] of cases) expect([text, widthOf(text)]).toEqual([text, width]);
    expect(graphemes("a👩‍👩‍👧e\u0301")).toEqual(["a", "👩‍👩‍👧", "e\u0301"]);
  });
});

describe("wrap", () => {
  it("breaks at words, next to wide characters, and where it must", () => {
    expect(wrapText("the quick brown fox", 10)).toEqual(["the quick", "brown fox"]);
    expect(wrapText("你好世界", 5)).toEqual(["你好", "世界"]);
    expect(wrapText("abcdefghijkl mn", 5)).toEqual(["abcde", "fghij", "kl mn"]);
    expect(wrapText("  indented words here", 12)).toEqual(["  indented", "words here"]);
    expect(wrapText("a\n\nb", 10)).toEqual(["a", "", "b"]);
    expect(wrapText("ab", 0)).toEqual(["ab"]);
  });

  it("carries colours over the break", () => {
    expect(wrapText("\x1b[1mone two\x1b[22m three", 4)).toEqual([
      "\x1b[1mone\x1b[0m",
      "\x1b[1mtwo\x1b[22m",
      "thre",
      "e",
    ]);
  });

  it("keeps every word and the width", () => {
    const piece = fc.constantFrom(
      "a",
      "word",
      " ",
      "   ",
      "你",
      "👍🏽",
      "e\u0301",
      "\x1b[1m",
      "\x1b[22m",
      "x".repeat(30),
      "\n",
    );
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 30 }).map((all) => all.join("")),
        fc.integer({ min: 2, max: 30 }),
        (text, columns) => {
          const lines = wrapText(text, columns);
          for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(columns);
          const bare = (value: string) => value.replace(SGR, "").replace(/\s/g, "");
          expect(bare(lines.join(""))).toBe(bare(text));
        },
      ),
    );
  });

  it("cuts with an ellipsis and fills up", () => {
    expect(cut("abcdef", 6)).toBe("abcdef");
    expect(cut("abcdef", 5)).toBe("abcd…");
    expect(cut("你好世界", 6)).toBe("你好…");
    expect(cut("\x1b[1mabcdef\x1b[22m", 3)).toBe("\x1b[1mab…\x1b[0m");
    expect([cut("abc", 1), cut("abc", 0)]).toEqual(["…", ""]);
    expect([pad("你", 4), pad("a", 3, "right"), pad("a", 3, "center"), pad("abc", 2)]).toEqual([
      "你  ",
      "  a",
      " a ",
      "abc",
    ]);
  });
});

describe("sanitise", () => {
  it("leaves nothing that a terminal obeys", () => {
    expect(
      sanitise("a\x1b[31mb\x1b[0mc\x1b]0;title\x07d\x1b]8;;http://x\x1b\\e\x9b2Jf\x1bPq\x1b\\g\x1b(Bh\x1bci"),
    ).toBe("abcdefghi");
    expect(sanitise("a\r\nb\rc\u2028d\te\bf\x00g\x7f")).toBe("a\nb\nc\nd    efg");
    expect(sanitise("\x1b]0;never ended\nnext \x1b[")).toBe("]0;never ended\nnext [");
    expect(sanitise("x\u202ey\u2066z\ufeff")).toBe("xyz");
    expect(sanitise("lone \ud83d!")).toBe("lone \ufffd!");
    expect(sanitise("👩‍👩‍👧 é 你好\n")).toBe("👩‍👩‍👧 é 你好\n");
    expect(sanitise("a\tb", "\t")).toBe("a\tb");
    expect(sanitiseLine(" a\n  b\r\nc ")).toBe("a b c");
  });

  it("is done after one time, whatever the text, and is not slow on hostile ones", () => {
    const unit = fc.constantFrom(
      "\x1b",
      "[",
      "]",
      "0",
      ";",
      "m",
      "\x07",
      "\\",
      "P",
      "\x9b",
      "\x9c",
      "a",
      "\n",
      "\r",
      "\u202e",
      "\ud83d",
      "(",
      "B",
    );
    fc.assert(
      fc.property(
        fc.array(unit, { maxLength: 40 }).map((all) => all.join("")),
        (text) => {
          const once = sanitise(text);
          expect(/(?!\n)\p{Cc}|\p{Bidi_Control}/u.test(once)).toBe(false);
          expect(sanitise(once)).toBe(once);
        },
      ),
    );
    for (const bad of ["\x1b]", "\x1b[1;", "\x1bP\x1b", "\x1b[ "])
      expect(sanitise(bad.repeat(100_000)).includes("\x1b")).toBe(false);
  });
});
