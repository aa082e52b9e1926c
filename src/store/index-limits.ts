/** How much of MEMORY.md the client loads, counted as it counts. */

import { stripForClient } from "../text/client-markdown.ts";

export interface IndexLimits {
  maxLines: number;
  maxChars: number;
}

/** What Claude Code 2.1 was observed to load: lines, and UTF-16 units, after frontmatter and block comments are gone. */
export const CLIENT_LIMITS: IndexLimits = { maxLines: 200, maxChars: 25_000 };

export interface IndexSize {
  lines: number;
  chars: number;
}

export function measureIndex(text: string): IndexSize {
  const seen = stripForClient(text).trim();
  return { lines: seen === "" ? 0 : seen.split("\n").length, chars: seen.length };
}

export function isOver(size: IndexSize, limits: IndexLimits): boolean {
  return size.lines > limits.maxLines || size.chars > limits.maxChars;
}
