/** Every memory that holds the words, best first, each with the line that shows it. */

import { MemdirError } from "../errors.ts";
import type { Directory } from "../memory/directory.ts";
import { listMemories, type Row } from "../memory/list.ts";
import { type Header, type Memory, parseMemory } from "../memory/memory.ts";
import { findBytes } from "../memory/read.ts";
import { termsOf } from "./terms.ts";

export type SearchHit = Row & Hit;

export async function searchMemories(directories: readonly Directory[], query: string): Promise<SearchHit[]> {
  const words = searchWords(query);
  if (words.length === 0) throw new MemdirError("usage", "give at least one word to search for");
  const found = await Promise.all(
    directories.map(async (directory) => {
      const { rows } = await listMemories(directory);
      return rows.flatMap((row) => {
        const bytes = row.unreadable ? null : findBytes(directory, row.file);
        const hit = bytes ? matchMemory(parseMemory(row.file, bytes), words) : null;
        return hit ? [{ ...row, ...hit }] : [];
      });
    }),
  );
  return found.flat().sort((a, b) => b.score - a.score || a.ageDays - b.ageDays || (a.file < b.file ? -1 : 1));
}

interface Hit {
  score: number;
  /** The line that matches best, trimmed. */
  line: string;
}

/** A word in the name tells more than one somewhere in the body. */
const WEIGHTS = { name: 3, description: 2, when: 2, file: 1, body: 1 };

/** Words without regard to case, width and accents' composition. */
function searchWords(query: string): string[] {
  return [
    ...new Set(
      fold(query)
        .split(/\s+/)
        .filter((word) => word !== ""),
    ),
  ];
}

/** Null when no word matches. Memories that hold more of the words come first, whatever the counts. */
function matchMemory(memory: Memory, words: readonly string[]): Hit | null {
  const fields: [keyof typeof WEIGHTS, string][] = [
    ["name", fold(memory.name)],
    ["description", fold(memory.description)],
    ["when", fold(memory.when.join("\n"))],
    ["file", fold(memory.file)],
    ["body", fold(memory.body)],
  ];
  let score = 0;
  for (const word of words) {
    const best = Math.max(...fields.map(([field, text]) => (holds(text, word) ? WEIGHTS[field] : 0)));
    // Ten per word: no weight outdoes a further word.
    if (best > 0) score += 10 + best;
  }
  return score === 0 ? null : { score: score / (13 * words.length), line: bestLine(memory, words) };
}

function bestLine(memory: Header & { body: string }, words: readonly string[]): string {
  const lines = [...memory.body.split("\n"), memory.description, ...memory.when, memory.name, memory.file];
  let best = "";
  let most = 0;
  for (const line of lines) {
    const folded = fold(line);
    const hits = words.filter((word) => holds(folded, word)).length;
    if (hits > most) {
      best = line.trim();
      most = hits;
    }
  }
  return best;
}

/** As it stands, or with another ending: who looks for "deploying" means "deploys" too. */
function holds(text: string, word: string): boolean {
  if (text.includes(word)) return true;
  const [term, ...more] = termsOf(word);
  // Only words are inflected; of anything else the very characters are meant.
  if (term === undefined || more.length > 0 || term.length < 3 || !text.includes(term.slice(0, 3))) return false;
  return termsOf(text).includes(term);
}

function fold(text: string): string {
  return text.normalize("NFKC").toLowerCase();
}
