/** What an importer brings home: memories of another program in one shape, and what was left behind, with reasons. */

import { describeStatement, nameStatement } from "../learn/said-statement.ts";
import type { MemoryType, Trust } from "../store/store.ts";

export interface Imported {
  name: string;
  description: string;
  /** Null where the source does not say: it is then told by the words. */
  type: MemoryType | null;
  body: string;
  /** Cues: situations in which it should come to mind. */
  when: string[];
  /** ISO time of its last change at the source. */
  at: string | null;
  origin: Origin;
  /** How far its words may be trusted: what a document says is data, not a wish of the user's. */
  trust: Trust;
  /** The source's file where it is a memory in our own format: kept as it is. */
  text?: string;
  /** The name that file had. */
  file?: string;
}

/** Kept in the memory as `importedFrom: from#id`, so that a second import knows it. */
interface Origin {
  from: string;
  id: string;
}

export interface Harvest {
  found: Imported[];
  problems: string[];
}

/** More than any store that people keep; what lies beyond is said to be left out. */
export const MAX_MEMORIES = 10_000;

/** A text of this size is no note, and JSON of more than this would not fit beside what is made of it. */
export const MAX_FILE_BYTES = 10 * 1024 * 1024;

/** Of a line only so much is looked at: a hostile one may be as long as its file. */
const MAX_LINE = 2000;

/** The first line that says something, fit for the index. */
export function describeBody(body: string): string {
  for (const whole of body.split("\n")) {
    const line = whole.slice(0, MAX_LINE).trim();
    if (!/[\p{L}\p{N}]/u.test(line) || /^(?:```|~~~|<!--)/.test(line)) continue;
    const words = line.replace(/^[\s>#*+-]+(?:\[[ x]\]\s+)?|^\d+[.)]\s+/i, "").replace(/\*\*|__|`/g, "");
    return describeStatement(words);
  }
  return "";
}

/** A name for what has none, of its first line. */
export function nameBody(body: string): string {
  return nameStatement((body.split("\n", 1)[0] as string).slice(0, MAX_LINE));
}

/** An ISO time of what sources write: ISO text, seconds or milliseconds. Null for anything else. */
export function timeOf(value: unknown): string | null {
  const number = typeof value === "bigint" ? Number(value) : value;
  if (typeof number === "number" && Number.isFinite(number)) return isoOf(number < SECONDS ? number * 1000 : number);
  return typeof number === "string" && /^\d{4}-\d\d/.test(number.trim()) ? isoOf(Date.parse(number)) : null;
}

/** As milliseconds this would be January 1970, as seconds it is far in the future. */
const SECONDS = 100_000_000_000;

function isoOf(ms: number): string | null {
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? null : date.toISOString();
}

export function textOf(value: unknown): string {
  return typeof value === "string" ? value.trim() : "";
}

/** What a list in JSON holds of texts. */
export function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.flatMap((each) => textOf(each) || []) : [];
}
