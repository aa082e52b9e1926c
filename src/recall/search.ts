/** Every memory that holds the words, best first, each with the line that shows it. */

import { join } from "node:path";
import { openBreath } from "../disk/breathe.ts";
import { MemdirError } from "../errors.ts";
import {
  type Directory,
  findBytes,
  type Header,
  type Memory,
  parseMemory,
  type Row,
  readRows,
} from "../store/store.ts";
import { lazily } from "../text/lazy.ts";
import { termsOf } from "../text/terms.ts";

/** `line`: the one that matches best, trimmed. */
export type SearchHit = Row & { score: number; line: string };

/** `texts` keeps what was read: whoever searches while somebody types asks for the same files again and again. */
export async function searchMemories(
  directories: readonly Directory[],
  query: string,
  texts: SearchTexts,
): Promise<SearchHit[]> {
  const words = searchWords(query);
  if (words.length === 0) throw new MemdirError("usage", "give at least one word to search for");
  const breathe = openBreath();
  const hits: SearchHit[] = [];
  for (const directory of directories) {
    const { rows } = await readRows(directory);
    for (const { header: _, mtimeMs, rule: __, day: ___, ...row } of rows) {
      const turn = breathe();
      if (turn) await turn;
      const text = row.unreadable ? null : texts.find(directory, { file: row.file, mtimeMs, bytes: row.bytes });
      const score = text ? scoreFields(text.fields, words, ({ text, terms }, word) => holds(text, word, terms)) : 0;
      if (text && score > 0) hits.push({ ...row, score, line: bestLine(text.memory, words) });
    }
  }
  return hits.sort((a, b) => b.score - a.score || a.ageDays - b.ageDays || (a.file < b.file ? -1 : 1));
}

function bestLine(memory: Header & { body: string }, words: readonly string[]): string {
  const lines = [...memory.body.split("\n"), memory.description, ...memory.when, memory.name, memory.file];
  let best = "";
  let most = 0;
  for (const line of lines) {
    const folded = fold(line);
    const hits = words.filter((word) => holds(folded, word, () => new Set(termsOf(folded)))).length;
    if (hits > most) {
      best = line.trim();
      most = hits;
    }
  }
  return best;
}

/** As it stands, or with another ending: who looks for "deploying" means "deploys" too. */
function holds(text: string, word: string, terms: () => ReadonlySet<string>): boolean {
  if (text.includes(word)) return true;
  const [term, ...more] = termsOf(word);
  // Only words are inflected; of anything else the very characters are meant.
  if (term === undefined || more.length > 0 || term.length < 3 || !text.includes(term.slice(0, 3))) return false;
  return terms().has(term);
}

export type Field = "name" | "description" | "when" | "file" | "body";

/** A word in the name tells more than one somewhere in the body. */
const WEIGHTS: Record<Field, number> = { name: 3, description: 2, when: 2, file: 1, body: 1 };

export interface Searchable {
  memory: Memory;
  /** Folded, and their terms for whoever needs them. */
  fields: { name: Field; text: string; terms: () => ReadonlySet<string> }[];
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
export function scoreFields(
  fields: Searchable["fields"],
  words: readonly string[],
  holds: (field: Searchable["fields"][0], word: string) => boolean,
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
    fields: texts.map(([name, raw]) => {
      const text = fold(raw);
      return { name, text, terms: lazily(() => new Set(termsOf(text))) };
    }),
  };
}
