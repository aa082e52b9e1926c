/** Every memory that holds the words, best first, each with the line that shows it. */

import { join } from "node:path";
import { openBreath } from "../disk/turns.ts";
import { lazily, MemdirError } from "../errors.ts";
import { type Directory, findBytes, type Memory, parseMemory, type Row, readRows } from "../store/store.ts";
import { termsOf } from "../text/terms.ts";

/** A memory that a search found. The best have the highest `score`; `line` is the line that matches best, trimmed. */
export type SearchHit = Row & { score: number; line: string };

/** `texts` keeps what was read: whoever searches while somebody types asks for the same files again and again. */
export async function searchMemories(
  directories: readonly Directory[],
  query: string,
  texts: SearchTexts,
): Promise<SearchHit[]> {
  const words = searchWords(query).map(openWord);
  if (words.length === 0) throw new MemdirError("usage", "give at least one word to search for");
  const breathe = openBreath();
  const hits: SearchHit[] = [];
  for (const directory of directories) {
    const { rows } = await readRows(directory);
    for (const { header: _, mtimeMs, rule: __, day: ___, ...row } of rows) {
      const turn = breathe();
      if (turn) await turn;
      const text = row.unreadable ? null : texts.find(directory, { file: row.file, mtimeMs, bytes: row.bytes });
      const score = text ? scoreFields(text.fields, words, ({ text }, isIn) => isIn(text)) : 0;
      if (text && score > 0) hits.push({ ...row, score, line: bestLine(text, words) });
    }
  }
  return hits.sort((a, b) => b.score - a.score || a.ageDays - b.ageDays || (a.file < b.file ? -1 : 1));
}

/** The line of a memory that holds the most of the words; "" for none. */
export function findLine(memory: Memory, query: string): string {
  return bestLine(makeSearchable(memory), searchWords(query).map(openWord));
}

/** The first of those that hold the most. */
function bestLine({ memory, lines }: Searchable, words: readonly Word[]): string {
  let best = -1;
  let most = 0;
  for (const [at, line] of lines().entries()) {
    const held = words.filter((isIn) => isIn(line)).length;
    if (held > most) [best, most] = [at, held];
    if (most === words.length) break;
  }
  return linesOf(memory)[best]?.trim() ?? "";
}

/** Whether a folded text holds it. */
type Word = (text: string) => boolean;

/** As it stands, or with another ending: who looks for "deploying" means "deploys" too. */
function openWord(word: string): Word {
  const [term, ...more] = termsOf(word);
  // Only words are inflected; of anything else the very characters are meant.
  if (term === undefined || more.length > 0 || term.length < 3) return (text) => text.includes(word);
  const start = term.slice(0, 3);
  /** The same few words come again and again. */
  const known = new Map<string, boolean>();
  const isInflected = (near: string): boolean => {
    const found = known.get(near) ?? termsOf(near).includes(term);
    known.set(near, found);
    return found;
  };
  return (text) => {
    if (text.includes(word)) return true;
    for (let at = text.indexOf(start); at >= 0; ) {
      const end = spaceFrom(text, at);
      if (isInflected(text.slice(text.lastIndexOf(" ", at) + 1, end))) return true;
      at = text.indexOf(start, end);
    }
    return false;
  };
}

function spaceFrom(text: string, at: number): number {
  const end = text.indexOf(" ", at);
  return end < 0 ? text.length : end;
}

export type Field = "name" | "description" | "when" | "file" | "body";

/** A word in the name tells more than one somewhere in the body. */
const WEIGHTS: Record<Field, number> = { name: 3, description: 2, when: 2, file: 1, body: 1 };

export interface Searchable {
  memory: Memory;
  /** Folded. */
  fields: { name: Field; text: string }[];
  /** The same as lines, in the order in which one is looked for that is shown. */
  lines: () => readonly string[];
}

export type SearchTexts = ReturnType<typeof openSearchTexts>;

type Stamped = { file: string; mtimeMs: number; bytes: number };

/** Ten thousand memories of ordinary length; what does not fit is read each time. */
const MAX_KEPT_CHARS = 64_000_000;

export function openSearchTexts() {
  const kept = new Map<string, Stamped & { text: Searchable }>();
  let size = 0;
  return {
    /** Null for what cannot be read. A text is read again when the row's time or size has changed. */
    find(directory: Directory, { file, mtimeMs, bytes }: Stamped): Searchable | null {
      const path = join(directory.path, file);
      const known = kept.get(path);
      if (known && known.mtimeMs === mtimeMs && known.bytes === bytes) return known.text;
      if (known) size -= known.bytes;
      kept.delete(path);
      const data = findBytes(directory, file);
      if (!data) return null;
      const text = makeSearchable(parseMemory(file, data));
      if (size + bytes <= MAX_KEPT_CHARS) {
        kept.set(path, { file, mtimeMs, bytes, text });
        size += bytes;
      }
      return text;
    },
  };
}

/** What is looked for, each word once. */
export function searchWords(query: string): string[] {
  return [...new Set(fold(query).split(/\s+/))].filter((word) => word !== "");
}

/** 0 for none of the words, at most 1. Who holds more of them comes first, wherever they stand. */
export function scoreFields<W>(
  fields: Searchable["fields"],
  words: readonly W[],
  holds: (field: Searchable["fields"][0], word: W) => boolean,
): number {
  let score = 0;
  for (const word of words) {
    let best = 0;
    for (const field of fields) if (WEIGHTS[field.name] > best && holds(field, word)) best = WEIGHTS[field.name];
    // Ten per word: no weight outdoes a further word.
    if (best > 0) score += 10 + best;
  }
  return score / (13 * words.length);
}

/** Without regard to case, width and accents' composition. */
export function fold(text: string): string {
  return text.normalize("NFKC").toLowerCase();
}

function makeSearchable(memory: Memory): Searchable {
  const texts: [Field, string][] = [
    ["name", memory.name],
    ["description", memory.description],
    ["when", memory.when.join("\n")],
    ["file", memory.file],
    ["body", memory.body],
  ];
  return {
    memory,
    fields: texts.map(([name, text]) => ({ name, text: fold(text) })),
    lines: lazily(() => linesOf(memory).map(fold)),
  };
}

function linesOf({ body, description, when, name, file }: Memory): string[] {
  return [...body.split("\n"), description, ...when, name, file];
}
