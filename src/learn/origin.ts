/**
 * Finds where the words of a memory come from, whatever source a model names: text from a tool or a document is
 * recognised by its words.
 */

import { setImmediate as nextTurn } from "node:timers/promises";
import { findBytes, type Memory, parseMemory, type Store, scan, TRUSTS, type Trust, trustOf } from "../store/store.ts";
import { dropForeign } from "../text/speech.ts";
import type { Piece } from "./window.ts";

/** What words are compared with: a text and how far its source is trusted. */
export type Spoken = Pick<Piece, "trust" | "text">;

/** Five words in a row are hardly ever the same by chance. */
const RUN = 5;
/** If a text has this share of the words that the user did not say in one place, it is the source. */
const TAKEN_SHARE = 0.7;
const MIN_TAKEN = 3;
/** The size of a place, in words per searched word: a long text has every word somewhere. */
const PLACE_FACTOR = 5;
/** More than any model sees, newest first: it cannot copy what it does not see. */
const MAX_CHARS = 4_000_000;
/** This much takes a few milliseconds to search; then the event loop gets a turn, because a person may be typing. */
const CHARS_PER_TURN = 500_000;

/** The trust of every text of a tool or a document that the memory's words are taken from. `base`: what it said before. */
export async function findOrigins(memory: string, base: string, said: readonly Spoken[]): Promise<Trust[]> {
  const print = takePrint(memory);
  const spoken = findTraces(base, print);
  const pieces = said.flatMap(splitPasted);
  for (const { trust, text } of pieces) if (trust === "user") findTraces(text, print, spoken);
  const rest: Traces = {
    runs: new Set([...print.runs].filter((run) => !spoken.runs.has(run))),
    words: new Set([...print.words].filter((word) => !spoken.words.has(word))),
  };
  // If the user said half of the specific words, the rest is wording.
  const isSaid = rest.words.size < MIN_TAKEN || rest.words.size < print.words.size / 2;
  const origins = new Set<Trust>();
  let chars = 0;
  for (const { trust, text } of pieces.toReversed()) {
    if (!isUntold(trust) || origins.has(trust)) continue;
    const before = chars;
    chars += Math.min(text.length, MAX_TEXT_CHARS);
    if (chars > MAX_CHARS) break;
    if (Math.floor(chars / CHARS_PER_TURN) > Math.floor(before / CHARS_PER_TURN)) await nextTurn();
    const hidden = decodeHidden(text);
    const isSource = (text: string) =>
      findTraces(text, { ...rest, firsts: print.firsts }).runs.size > 0 || (!isSaid && isTogether(text, rest.words));
    if (isSource(text) || (hidden !== "" && isSource(hidden))) origins.add(trust);
  }
  return [...origins];
}

/** What memories say that come from a tool or a document: a text does not become the user's by way of the store. */
export function readUntold(directory: Store, except: ReadonlySet<string> = new Set()): Spoken[] {
  return scan(directory).flatMap(({ file, source }) => {
    const trust = trustOf(source);
    const data = isUntold(trust) && !except.has(file) ? findBytes(directory, file) : null;
    return data ? [{ trust, text: wordsIn(parseMemory(file, data)) }] : [];
  });
}

/** All that a memory says. */
export function wordsIn({ name, description, when, body }: Memory): string {
  return [name, description, ...when, body].join("\n");
}

/** What a person pasted into a message counts as a document; the rest is theirs. */
function splitPasted(piece: Spoken): Spoken[] {
  const { trust, text } = piece;
  const own = trust === "user" ? dropForeign(text) : text;
  const pasted: Spoken[] = own === text ? [] : [{ trust: "document", text }];
  return [{ trust, text: own }, ...pasted];
}

/** How much of what a text demands was said, in the same words or others of the same stem: 0 to 1. */
export function measureSupport(demand: string, said: readonly Spoken[]): { share: number; words: number } {
  const wanted = new Set(wordsOf(demand).filter(isParticular).map(stemOf));
  const told = new Set(
    said.flatMap(splitPasted).flatMap(({ trust, text }) => (isUntold(trust) ? [] : wordsOf(text).map(stemOf))),
  );
  const words = [...wanted].filter((stem) => told.has(stem)).length;
  return { share: wanted.size === 0 ? 1 : words / wanted.size, words };
}

/** "commits" and "committing" begin alike. */
function stemOf(word: string): string {
  return word.slice(0, 5);
}

/** Neither the user nor the assistant said it. */
export function isUntold(trust: Trust): boolean {
  return TRUSTS.indexOf(trust) < TRUSTS.indexOf("inferred");
}

/** Words in a row, and the specific ones. */
type Traces = Record<"runs" | "words", Set<string>>;

/** With the words that a run begins with; others can be skipped. */
type Print = Traces & { firsts: Set<string> };

function takePrint(text: string): Print {
  const words = wordsOf(text);
  const starts = words.slice(0, Math.max(0, words.length - RUN + 1));
  return {
    runs: new Set(starts.map((_, i) => words.slice(i, i + RUN).join(" "))),
    words: new Set(words.filter(isParticular)),
    firsts: new Set(starts),
  };
}

/** The part of the print that is in the text. */
function findTraces(text: string, print: Print, traces: Traces = { runs: new Set(), words: new Set() }): Traces {
  const words = wordsOf(text);
  for (const [i, word] of words.entries()) {
    if (print.words.has(word)) traces.words.add(word);
    if (!print.firsts.has(word)) continue;
    const run = words.slice(i, i + RUN).join(" ");
    if (print.runs.has(run)) traces.runs.add(run);
  }
  return traces;
}

/** Whether most of the words are close together in the text. */
function isTogether(text: string, wanted: ReadonlySet<string>): boolean {
  const hits = [...wordsOf(text).entries()].filter(([, word]) => wanted.has(word));
  const counts = new Map<string, number>();
  let from = 0;
  for (const [at, word] of hits) {
    counts.set(word, (counts.get(word) ?? 0) + 1);
    for (; at - hits[from]![0] > wanted.size * PLACE_FACTOR; from++) {
      const left = hits[from]![1];
      const count = counts.get(left)! - 1;
      if (count === 0) counts.delete(left);
      else counts.set(left, count);
    }
    if (counts.size >= wanted.size * TAKEN_SHARE) return true;
  }
  return false;
}

function isParticular(word: string): boolean {
  return word.length >= 4 && !SCAFFOLD.has(word);
}

/** Words of the form that every memory has. */
const SCAFFOLD: ReadonlySet<string> = new Set(["apply", "user", "when", "this", "that", "with", "from"]);

// --- The words of a text as a reader sees them, past look-alike letters, split words and encodings that hide them from a search.

/** A longer result is a dump; planted text is at its beginning, where it is read. */
const MAX_TEXT_CHARS = 100_000;

/** In a script without spaces, this many characters in a row count as a word. */
const UNSPACED = 6;

function wordsOf(text: string): string[] {
  const shown = joinSplit(foldLooks(text.slice(0, MAX_TEXT_CHARS))).toLowerCase();
  const words = shown.match(/[\p{L}\p{N}]+/gu) ?? [];
  return words.some((word) => CJK.test(word)) ? words.flatMap(cutUnspaced) : words;
}

/** What is written in base64, hexadecimal, percent signs or entities and says something; a model reads that as well. */
function decodeHidden(text: string): string {
  const shown = text.slice(0, MAX_TEXT_CHARS);
  const found: string[] = [];
  // Encoders wrap their lines.
  const unwrapped = shown.replace(/(?<=[A-Za-z0-9+/]{40})\r?\n(?=[A-Za-z0-9+/=]{4})/g, "");
  for (const [run] of unwrapped.matchAll(/[A-Za-z0-9+/_-]{24,8000}/g)) found.push(readBytes(run, "base64"));
  for (const [run] of shown.matchAll(/(?:[0-9a-f]{2}[ :]?){20,4000}/gi))
    found.push(readBytes(run.replace(/[ :]/g, ""), "hex"));
  for (const [run] of shown.matchAll(/(?:[\w.,!~*'()-]|%[0-9a-f]{2}){20,8000}/gi)) {
    if (run.includes("%20")) found.push(run.replaceAll("%20", " "));
  }
  if (/&#x?[0-9a-f]+;/i.test(shown)) found.push(shown.replace(/&#(x?)([0-9a-f]{1,6});/gi, readEntity));
  const told = found.filter((one) => one !== "");
  return told.slice(0, MAX_HIDDEN).join("\n");
}

/** More of them are data. */
const MAX_HIDDEN = 50;

function readBytes(run: string, encoding: "base64" | "hex"): string {
  const text = Buffer.from(run, encoding).toString("utf8");
  const isText = / /.test(text) && /^[\p{L}\p{N}\p{P}\p{S}\p{Z}\s]*$/u.test(text) && !text.includes("\ufffd");
  return isText ? text : "";
}

function readEntity(entity: string, hex: string, digits: string): string {
  const code = Number.parseInt(digits, hex === "" ? 10 : 16);
  return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : entity;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII is meant
const ASCII = /^[\x00-\x7f]*$/;

/** Past accents, widths, invisible signs and letters of other scripts that look like ours. */
function foldLooks(text: string): string {
  if (ASCII.test(text)) return text;
  return text
    .toWellFormed()
    .normalize("NFKD")
    .replace(/[\p{M}\p{Default_Ignorable_Code_Point}]/gu, "")
    .replace(/[\u0370-\u03ff\u0400-\u04ff\u0500-\u058f]/g, (letter) => LOOKS.get(letter.toLowerCase()) ?? letter);
}

/** Each: a letter, then those of the Cyrillic, Greek and Armenian scripts that look like it. */
const LOOKS: ReadonlyMap<string, string> = new Map(
  "aаα cсϲ dԁ eеε hһհ iіι jј kкκ mм nոη oоοօ pрρ rг sѕ tтτ uսυ vνѵ wԝω xхχ yуγ"
    .split(" ")
    .flatMap(([look = "", ...letters]) => letters.map((letter): [string, string] => [letter, look])),
);

/** "al-\nways" and "a l w a y s" are read as one word. */
function joinSplit(text: string): string {
  return text
    .replace(/(?<=\p{L})-[ \t]*\r?\n[ \t>|#*/]*(?=\p{Ll})/gu, "")
    .replace(/(?<![\p{L}\p{N}])(?:\p{L}[ ._-]){3,40}\p{L}(?![\p{L}\p{N}])/gu, (run) => run.replace(/[ ._-]/g, ""));
}

const CJK = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;

function cutUnspaced(word: string): string[] {
  if (!CJK.test(word) || word.length <= UNSPACED) return [word];
  return Array.from({ length: word.length - UNSPACED + 1 }, (_, i) => word.slice(i, i + UNSPACED));
}
