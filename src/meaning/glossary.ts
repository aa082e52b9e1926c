/**
 * What words of other languages mean, as mixtures of the model's own English words: the model itself reads English only. The file was
 * learnt from translated messages of free software (`training/glossary.py`).
 */

import { readFileSync } from "node:fs";
import { lazily } from "../errors.ts";

export interface Gloss {
  word: string;
  /** Between 0 and 1. */
  share: number;
}

export interface Glossary {
  /** Null for a word that is not in it; [] for one that says nothing by itself, such as an article. */
  find(word: string): readonly Gloss[] | null;
  /** Whether words in Latin letters are to be looked up: an English text would only lose by it. */
  isEnglish(text: string, words: readonly string[]): boolean;
}

/** The language shows within the first lines. */
const HEAD_WORDS = 100;
const HEAD_CHARACTERS = 600;
/** The commonest words of English prompts. Those of other languages are in the file's first line. */
const ENGLISH = new Set(
  "the a an of to in is are be and or it this that with for on as at by from was not do does can will you your i we they my me our if then but so how what when where why who which".split(
    " ",
  ),
);
const FOREIGN_LETTERS = /[\u00aa\u00b5\u00ba\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f]/g;
const [NEWLINE, TAB] = [0x0a, 0x09];

/** @param file its first line lists words that tell a language from English; the others are `word TAB gloss:share gloss:share`, sorted by bytes. */
export function openGlossary(file: string): Glossary {
  const bytes = readFileSync(file);
  const first = bytes.indexOf(NEWLINE);
  const markers = new Set(bytes.toString("utf8", 0, first).split(" "));
  const lines = lazily(() => listLines(bytes, first + 1));
  return {
    find(word) {
      const line = findLine(bytes, lines(), Buffer.from(word));
      return line === null ? null : line.split(" ").flatMap(parseGloss);
    },
    isEnglish(text, words) {
      const head = words.slice(0, HEAD_WORDS);
      const letters = text.slice(0, HEAD_CHARACTERS).match(FOREIGN_LETTERS)?.length ?? 0;
      const foreign = letters + head.filter((word) => markers.has(word)).length;
      return foreign <= head.filter((word) => ENGLISH.has(word)).length;
    },
  };
}

function parseGloss(text: string): Gloss[] {
  const at = text.lastIndexOf(":");
  return at < 0 ? [] : [{ word: text.slice(0, at), share: Number(text.slice(at + 1)) }];
}

/** Where each line begins, and behind the last one where it ends. */
function listLines(bytes: Buffer, from: number): number[] {
  const starts = [from];
  for (let at = bytes.indexOf(NEWLINE, from); at >= 0; at = bytes.indexOf(NEWLINE, at + 1)) starts.push(at + 1);
  return starts;
}

/** What stands behind the word. */
function findLine(bytes: Buffer, starts: readonly number[], word: Buffer): string | null {
  let [low, high] = [0, starts.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    const from = starts[middle] as number;
    const tab = bytes.indexOf(TAB, from);
    const order = bytes.compare(word, 0, word.length, from, tab);
    if (order === 0) return bytes.toString("utf8", tab + 1, (starts[middle + 1] as number) - 1);
    if (order > 0) high = middle;
    else low = middle + 1;
  }
  return null;
}
