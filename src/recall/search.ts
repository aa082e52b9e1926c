/** Every memory that holds the words, best first, each with the line that shows it. */

import { MemdirError } from "../errors.ts";
import { type Directory, type Header, listMemories, type Row } from "../store/store.ts";
import { fold, type Searchable, type SearchTexts, scoreFields, searchWords } from "./search-texts.ts";
import { termsOf } from "../text/terms.ts";

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

/** Null when no word matches. */
function matchMemory({ memory, fields }: Searchable, words: readonly string[]): Hit | null {
  const score = scoreFields(fields, words, ({ text, terms }, word) => holds(text, word, terms));
  return score === 0 ? null : { score, line: bestLine(memory, words) };
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
