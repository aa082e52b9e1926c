/** A sentence as words, each with the code span that it stands in. */

import type { Passage } from "./passages.ts";

export interface Token {
  text: string;
  /** Offset in the passage. */
  at: number;
  /** In backticks, or on a command line. */
  code: boolean;
  /** The whole span: `npm run build` for each of its words. */
  span: string;
  /** Which word of its span it is. */
  nth: number;
}

/** A name has less; a longer run of letters is data. */
const MAX_TOKEN = 300;
const SPAN = /(`+)([^`]{1,400}?)\1/g;

export function findTokens({ text, command }: Passage): Token[] {
  if (command) return wordsOf(text, 0, true, text.trim());
  const tokens: Token[] = [];
  let from = 0;
  for (const { index, 0: whole, 1: ticks = "", 2: code = "" } of text.matchAll(SPAN)) {
    tokens.push(...wordsOf(text.slice(from, index), from, false, ""));
    tokens.push(...wordsOf(code, index + ticks.length, true, code.trim()));
    from = index + whole.length;
  }
  tokens.push(...wordsOf(text.slice(from), from, false, ""));
  return tokens;
}

/** Nothing to take off. */
const WORD = /^\w+$/;
const LEADING = /^[([{"'*<,;:!?=|“‘«]+/;
const TRAILING = /(?:[\]}"'*>,;:!?|”’»…]|\.(?=$)|['’]s$)+$/;

function wordsOf(text: string, offset: number, code: boolean, span: string): Token[] {
  const tokens: Token[] = [];
  let nth = 0;
  for (const { 0: raw, index } of text.matchAll(/[^\s`→⇒]+/g)) {
    if (raw.length > MAX_TOKEN) continue;
    if (WORD.test(raw)) {
      tokens.push({ text: raw, at: offset + index, code, span, nth: nth++ });
      continue;
    }
    const lead = LEADING.exec(raw)?.[0].length ?? 0;
    const word = balance(strip(raw.slice(lead)));
    if (word !== "") tokens.push({ text: word, at: offset + index + lead, code, span, nth });
    nth++;
  }
  return tokens;
}

function strip(word: string): string {
  let out = word.replace(/['’]s(?=[),.;:]*$)/, "");
  for (let last = ""; last !== out; ) {
    last = out;
    out = balance(out.replace(TRAILING, ""));
  }
  return out;
}

/** A closing bracket stays only with its opening one: `run()` but `src/a.ts)`. */
function balance(word: string): string {
  if (!word.endsWith(")")) return word;
  const open = word.split("(").length;
  return word.split(")").length > open ? word.slice(0, -1) : word;
}
