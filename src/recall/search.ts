/** Every memory that holds the words, best first, each with the line that shows it. */

import { MemdirError } from "../errors.ts";
import type { Directory } from "../memory/directory.ts";
import { listMemories, type Row } from "../memory/list.ts";
import type { Header } from "../memory/memory.ts";
import { type Field, fold, type Searchable, type SearchTexts } from "./search-texts.ts";
import { termsOf } from "./terms.ts";

export type SearchHit = Row & Hit;

/** `texts` keeps what was read: whoever searches while somebody types asks for the same files again and again. */
export async function searchMemories(
  directories: readonly Directory[],
  query: string,
  texts: SearchTexts,
): Promise<SearchHit[]> {
  const words = searchWords(query);
  if (words.length === 0) throw new MemdirError("usage", "give at least one word to search for");
  const found = await Promise.all(
    directories.map(async (directory) => {
      const { rows } = await listMemories(directory);
      return rows.flatMap((row) => {
        const text = row.unreadable ? null : texts.find(directory, row.file);
        const hit = text ? matchMemory(text, words) : null;
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
const WEIGHTS: Record<Field, number> = { name: 3, description: 2, when: 2, file: 1, body: 1 };

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
function matchMemory({ memory, fields }: Searchable, words: readonly string[]): Hit | null {
  let score = 0;
  for (const word of words) {
    const best = Math.max(...fields.map((field) => (holds(field.text, word, field.terms) ? WEIGHTS[field.name] : 0)));
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
