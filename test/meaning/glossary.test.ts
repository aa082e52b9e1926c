import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openGlossary } from "../../src/meaning/glossary.ts";
import { openWordPieces, type Token } from "../../src/meaning/word-pieces.ts";

const WORDS = [
  "[PAD]",
  "[UNK]",
  "[CLS]",
  "[SEP]",
  "deploy",
  "##ment",
  "store",
  "file",
  "the",
  "ha",
  "##us",
  "배",
  "을",
];
const LINES = [
  ["bereitstellung", "deployment:1.00"],
  ["das", ""],
  ["datei", "file:0.75 store:0.25"],
  ["deploy", "store:1.00"],
  ["배포", "deploy:1.00"],
  ["저장", "store:1.00"],
  ["저장소", "store:0.60 file:0.40"],
] as const;

const file = join(mkdtempSync(join(tmpdir(), "memdir-glossary-")), "glossary.txt");
const sorted = [...LINES].sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
writeFileSync(file, `das und nicht\n${sorted.map(([word, mix]) => `${word}\t${mix}\n`).join("")}`);
const glossary = openGlossary(file);
const json = JSON.stringify({ model: { vocab: Object.fromEntries(WORDS.map((word, i) => [word, i])) } });
const pieces = openWordPieces(Buffer.from(json), glossary);

function tokens(text: string): string[] {
  const name = (token: Token) =>
    typeof token === "number" ? WORDS[token] : token.map(({ piece, share }) => `${WORDS[piece]}*${share}`).join("+");
  return pieces
    .encode(text, 64)
    .slice(1, -1)
    .map((token) => name(token) ?? "?");
}

describe("a glossary", () => {
  it.each(LINES)("finds %s", (word, mix) => {
    const found = glossary.find(word)?.map(({ word, share }) => `${word}:${share.toFixed(2)}`);
    expect(found?.join(" ")).toBe(mix);
  });

  it.each(["", "a", "dateien", "zzz", "저", "저장소를", "\u{10ffff}"])("has no %j", (word) => {
    expect(glossary.find(word)).toBeNull();
  });

  it("tells other languages from English by their words and letters", () => {
    const isEnglish = (text: string) => glossary.isEnglish(text, text.toLowerCase().split(" "));
    expect(isEnglish("deploy the store")).toBe(true);
    expect(isEnglish("deploy")).toBe(true);
    expect(isEnglish("das store")).toBe(false);
    expect(isEnglish("größe")).toBe(false);
    expect(isEnglish("the café is in the store")).toBe(true);
  });
});

describe("tokens", () => {
  it.each([
    ["a word as a mixture, which says nothing being left out", "das Datei", ["file*0.75+store*0.25"]],
    ["a gloss of several pieces", "das Bereitstellung", ["deploy*0.5+##ment*0.5"]],
    ["an inflected word by its stem", "das Bereitstellungen", ["deploy*0.5+##ment*0.5"]],
    ["a word that nobody knows by its pieces", "das haus", ["ha", "##us"]],
    ["nothing in an English text", "the datei deploy", ["the", "[UNK]", "deploy"]],
    ["Korean, longest first, whatever the language around it", "deploy 저장소", ["deploy", "store*0.6+file*0.4"]],
    ["Korean with an ending that is not known", "배포랑", ["deploy*1", "[UNK]"]],
    ["runs that touch Latin letters", "저장file", ["store*1", "file"]],
  ])("%s", (_, text, expected) => {
    expect(tokens(text)).toEqual(expected);
  });

  it("stay within the limit, also where a run never ends", () => {
    expect(pieces.encode("저장소".repeat(100_000), 32)).toHaveLength(32);
  });
});
