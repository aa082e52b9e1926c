/** A prompt as the ranker takes it: its terms with their weights. */

import { hashOf } from "../text/hash.ts";
import { termsOf } from "../text/terms.ts";

export interface Term {
  term: string;
  /** As it stood in the prompt. */
  word: string;
  hash: number;
  weight: number;
}

/** What else the conversation tells about what is needed. */
export interface Signals {
  /** Files that were read, written or named lately. */
  files?: readonly string[];
  /** Tools used lately, by name. */
  tools?: readonly string[];
  /** The last messages, newest last. */
  messages?: readonly string[];
}

/** What was said before matters less than what is asked now. */
const FILE_WEIGHT = 0.5;
const TOOL_WEIGHT = 0.3;
const MESSAGE_WEIGHT = 0.2;
/** The newest messages, and the beginning of each. */
const MAX_MESSAGES = 3;
const MAX_MESSAGE_CHARACTERS = 600;
/** A pasted log has thousands of terms; the first ones say what it is about. */
const MAX_TERMS = 256;
const MAX_CHARACTERS = 20_000;

export function queryTerms(prompt: string, signals: Signals = {}): Term[] {
  const terms = new Map<string, Term>();
  const add = (text: string, weight: number) => {
    // No term reaches over a space.
    for (const word of text.slice(0, MAX_CHARACTERS).split(/\s+/)) {
      for (const term of termsOf(word)) {
        if (terms.size >= MAX_TERMS) return;
        if (!terms.has(term)) terms.set(term, { term, word, hash: hashOf(term), weight });
      }
    }
  };
  add(prompt, 1);
  for (const file of signals.files ?? []) add(file, FILE_WEIGHT);
  for (const tool of signals.tools ?? []) add(tool, TOOL_WEIGHT);
  for (const message of (signals.messages ?? []).slice(-MAX_MESSAGES)) {
    add(message.slice(0, MAX_MESSAGE_CHARACTERS), MESSAGE_WEIGHT);
  }
  return [...terms.values()];
}
