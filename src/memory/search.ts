/** Every memory that holds the words, best first, each with the line that shows it. */

import type { Header, Memory } from "./memory.ts";

export interface Hit {
  score: number;
  /** The line that matches best, trimmed. */
  line: string;
}

/** A word in the name tells more than one somewhere in the body. */
const WEIGHTS = { name: 3, description: 2, when: 2, file: 1, body: 1 };

/** Words without regard to case, width and accents' composition. */
export function searchWords(query: string): string[] {
  return [
    ...new Set(
      fold(query)
        .split(/\s+/)
        .filter((word) => word !== ""),
    ),
  ];
}

/** Null when no word matches. Memories that hold more of the words come first, whatever the counts. */
export function matchMemory(memory: Memory, words: readonly string[]): Hit | null {
  const fields: [keyof typeof WEIGHTS, string][] = [
    ["name", fold(memory.name)],
    ["description", fold(memory.description)],
    ["when", fold(memory.when.join("\n"))],
    ["file", fold(memory.file)],
    ["body", fold(memory.body)],
  ];
  let score = 0;
  for (const word of words) {
    const best = Math.max(...fields.map(([field, text]) => (text.includes(word) ? WEIGHTS[field] : 0)));
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
    const hits = words.filter((word) => folded.includes(word)).length;
    if (hits > most) {
      best = line.trim();
      most = hits;
    }
  }
  return best;
}

function fold(text: string): string {
  return text.normalize("NFKC").toLowerCase();
}
