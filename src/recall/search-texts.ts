/** The texts that searching looks through, kept by a file's times and size for as long as somebody searches. */

import { statSync } from "node:fs";
import { join } from "node:path";
import { type Directory, findBytes, type Memory, parseMemory } from "../store/store.ts";
import { lazily } from "../text/lazy.ts";
import { termsOf } from "../text/terms.ts";

export type Field = "name" | "description" | "when" | "file" | "body";

/** A word in the name tells more than one somewhere in the body. */
const WEIGHTS: Record<Field, number> = { name: 3, description: 2, when: 2, file: 1, body: 1 };

export interface Searchable {
  memory: Memory;
  /** Folded, and their terms for whoever needs them. */
  fields: { name: Field; text: string; terms: () => ReadonlySet<string> }[];
}

export interface SearchTexts {
  /** Null for what cannot be read. */
  find(directory: Directory, file: string): Searchable | null;
}

/** Ten thousand memories of ordinary length; what does not fit is read each time. */
const MAX_KEPT_CHARS = 64_000_000;

export function openSearchTexts(): SearchTexts {
  const kept = new Map<string, { stamp: string; chars: number; text: Searchable }>();
  let chars = 0;
  return {
    find(directory, file) {
      const path = join(directory.path, file);
      const stamp = stampOf(path);
      const known = kept.get(path);
      if (known && stamp !== "" && known.stamp === stamp) return known.text;
      if (known) {
        chars -= known.chars;
        kept.delete(path);
      }
      const bytes = findBytes(directory, file);
      if (!bytes) return null;
      const text = makeSearchable(parseMemory(file, bytes));
      const size = bytes.length;
      if (stamp !== "" && chars + size <= MAX_KEPT_CHARS) {
        kept.set(path, { stamp, chars: size, text });
        chars += size;
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

function stampOf(path: string): string {
  try {
    const { mtimeMs, ctimeMs, size, ino } = statSync(path);
    return `${mtimeMs} ${ctimeMs} ${size} ${ino}`;
  } catch {
    return "";
  }
}
