import { readFileSync } from "node:fs";
import path from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { openWordPieces } from "../../src/meaning/word-pieces.ts";
import { ends } from "../hang.ts";
import { needModel } from "./model.ts";

const WORDS = [
  "[PAD]",
  "[UNK]",
  "[CLS]",
  "[SEP]",
  "play",
  "##ing",
  "##ed",
  "un",
  "##play",
  "cafe",
  "i",
  "東",
  "京",
  "!",
];
WORDS.push('"', "\\", "a", "##a", "$", "¿", "я", "constructor", "##1", "1");
const pieces = openWordPieces(tokenizer(WORDS));
/** Without a glossary every token is one piece. */
const numbers = (text: string, max = 256) => pieces.encode(text, max) as number[];

describe("words", () => {
  const CASES: [text: string, words: string][] = [
    ["", ""],
    ["play", "play"],
    ["Playing PLAYED", "play ##ing play ##ed"],
    ["unplaying", "un ##play ##ing"],
    ["playful", "[UNK]"],
    ["café CAFÉ cafe\u0301", "cafe cafe cafe"],
    ["İ", "i"],
    ["東京!", "東 京 !"],
    ["play東play", "play 東 play"],
    ['"\\$¿', '" \\ $ ¿'],
    ["a\tb\na\ra\u00a0a\u3000a", "a [UNK] a a a a"],
    ["pl\0ay\u200bing\ufeff\ufffd", "play ##ing"],
    ["pl\x07a\x7fy", "play"],
    ["play\ud800ing", "play ##ing"],
    ["\udc00\ud800", ""],
    ["Я", "я"],
    ["constructor __proto__ toString", "constructor [UNK] [UNK] [UNK] [UNK] [UNK] [UNK]"],
    ["a".repeat(100), `a ${"##a ".repeat(99)}`.trim()],
    ["a".repeat(101), "[UNK]"],
    [`${"a".repeat(101)} a`, "[UNK] a"],
    ["[CLS]", "[UNK] [UNK] [UNK]"],
  ];
  it.each(CASES)("%j", (text, words) => {
    const names = numbers(text).map((id) => WORDS[id]);
    expect(names.join(" ")).toBe(["[CLS]", ...(words ? [words] : []), "[SEP]"].join(" "));
  });
});

describe("limits", () => {
  it("cuts in the middle of a word and ends with [SEP]", () => {
    expect(numbers("unplaying", 4).map((id) => WORDS[id])).toEqual(["[CLS]", "un", "##play", "[SEP]"]);
    expect(numbers("unplaying", 2).map((id) => WORDS[id])).toEqual(["[CLS]", "[SEP]"]);
  });

  it("does not read what it will not use", () => {
    let read = 0;
    const codePointAt = () => {
      read++;
      return 0x21;
    };
    const text = { length: 1e9, codePointAt, charAt: () => "!" };
    expect(pieces.encode(text as unknown as string, 256)).toHaveLength(256);
    expect(read).toBeLessThan(1000);
  });

  it.each([
    ["one word", "a".repeat(1 << 20)],
    ["spaces", " ".repeat(1 << 20)],
    ["accents", `e${"\u0301".repeat(1 << 20)}`],
    ["unknown words", "ж".repeat(99).concat(" ").repeat(10_000)],
    ["words whose last letter is unknown", `${"a".repeat(99)}ж `.repeat(10_000)],
  ])("takes a megabyte of %s in its stride", (_, text) => {
    expect(ends(() => pieces.encode(text, 256)).length).toBeLessThanOrEqual(256);
  });

  it("never throws, never exceeds the limit, says the same twice", () => {
    // Whole characters, halves of them, control characters: whatever a number can mean.
    const any = fc.oneof(fc.nat(0xff), fc.nat(0xffff), fc.nat(0x10ffff)).map((code) => String.fromCodePoint(code));
    const text = fc.array(fc.oneof(fc.constantFrom(...WORDS), any)).map((parts) => parts.join(""));
    fc.assert(
      fc.property(text, fc.integer({ min: 2, max: 300 }), (text, max) => {
        const ids = numbers(text, max);
        expect(ids.length).toBeLessThanOrEqual(max);
        expect([ids[0], ids.at(-1)]).toEqual([2, 3]);
        expect(ids.every((id) => Number.isInteger(id) && id >= 0 && id < WORDS.length)).toBe(true);
        expect(pieces.encode(text, max)).toEqual(ids);
      }),
    );
  });
});

describe("a tokenizer.json", () => {
  it("may be laid out with spaces", () => {
    const spaced = openWordPieces(Buffer.from(JSON.stringify(JSON.parse(tokenizer(WORDS).toString()), null, 2)));
    expect(spaced.encode("unplaying", 256)).toEqual(pieces.encode("unplaying", 256));
  });

  it.each([
    ["is empty", ""],
    ["has no vocabulary", "{}"],
    ["has another vocabulary", '{"vocab":[["a",0]]}'],
    ["lacks [CLS]", tokenizer(WORDS.filter((word) => word !== "[CLS]")).toString()],
    ["is cut", tokenizer(WORDS).subarray(0, -40).toString()],
    ["has a number that is none", '{"vocab":{"a":"b"}}'],
    ["has a negative number", '{"vocab":{"a":-1}}'],
    ["has a number that is too large", '{"vocab":{"a":99999999999999999999}}'],
    ["has escapes of control characters", '{"vocab":{"\\u0000":1}}'],
    ["ends in a key", '{"vocab":{"a\\'],
    ["ends after a key", '{"vocab":{"a"'],
    ["has too many words", tokenizer(Array.from({ length: 40_000 }, (_, i) => `w${i}`)).toString()],
  ])("that %s is refused", (_, json) => {
    expect(() => openWordPieces(Buffer.from(json))).toThrow(/tokenizer\.json.*reinstall/);
  });

  it("never crashes, wherever it is damaged", () => {
    const whole = tokenizer(WORDS);
    fc.assert(
      fc.property(fc.nat(whole.length - 1), fc.nat(255), (at, byte) => {
        const damaged = Buffer.from(whole);
        damaged[at] = byte;
        try {
          openWordPieces(damaged).encode("unplaying 東京!", 256);
        } catch (error) {
          expect(error).toHaveProperty("code", "broken");
        }
      }),
    );
  });
});

describe("the real vocabulary", () => {
  const folder = needModel();

  it("gives every word its own number", () => {
    const json = readFileSync(path.join(folder, "tokenizer.json"));
    const vocabulary: Record<string, number> = JSON.parse(json.toString()).model.vocab;
    const real = openWordPieces(json);
    // What a text can hold: lower case, no accents. No word goes on after the sign before a piece.
    const plain = Object.entries(vocabulary).filter(([word]) => /^(##)?[a-z0-9]+$/.test(word));
    expect(plain.length).toBeGreaterThan(27_000);
    const [cls, sep, sign] = [vocabulary["[CLS]"], vocabulary["[SEP]"], vocabulary.ɐ];
    for (const [word, id] of plain) {
      const [text, ids] = word.startsWith("##") ? [`ɐ${word.slice(2)}`, [cls, sign, id, sep]] : [word, [cls, id, sep]];
      if (real.encode(text, 256).join() !== ids.join()) expect.fail(word);
    }
  });
});

function tokenizer(words: string[]): Buffer {
  const vocab = Object.fromEntries(words.map((word, id) => [word, id]));
  return Buffer.from(JSON.stringify({ version: "1.0", model: { type: "WordPiece", vocab }, end: "x".repeat(10) }));
}
