/**
 * Tells which parts of a memory are records of past work: what was so or was done on a day, in a commit, for a ticket. They were
 * right then and claim nothing about today. What marks them is the same in all languages: days, hashes, running numbers, ticks.
 */

import type { Passage } from "./passages.ts";

interface RecordMark {
  /** In words. */
  reason: string;
  /** It is in the paragraph itself, and not over it. */
  isOwn: boolean;
}

/** The passages that are records. */
export function findRecords(passages: readonly Passage[], written: Date): ReadonlyMap<Passage, RecordMark> {
  const latest = written.getTime() + DAY;
  const isPast = (day: string) => !(Date.parse(day.replace(/[/.年月]/g, "-")) > latest);
  const stamps = findStamps(passages);
  const entries = findEntries(passages);
  const series = findSeries(passages);
  const records = new Map<Passage, RecordMark>();
  /** By paragraph: what its first sentence begins with counts for all of it. */
  const opened = new Map<number, string | null>();
  for (const passage of passages) {
    const { paragraph, over, lead, text } = passage;
    if (!opened.has(paragraph))
      opened.set(paragraph, openingMark(text, series) ?? (LABEL.test(text) ? "of one day" : null));
    const above =
      over.map((each) => openingMark(each, series) ?? headingMark(each)).find((mark) => mark !== null) ??
      (stamps.has(DATE.exec(lead)?.[0] ?? "") ? "under one of several days" : null) ??
      (sectionsOf(passage).some((each) => entries.has(each)) ? "one of several entries with a day" : null);
    const reason = above ?? opened.get(paragraph) ?? eventMark(text, isPast);
    if (reason !== null) records.set(passage, { reason, isOwn: above === null });
  }
  return records;
}

const DAY = 86_400_000;
const MONTH = "(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\\.?";
const DATE = new RegExp(
  [
    "\\b20\\d\\d[-/.年]\\d{1,2}[-/.月]\\d{1,2}(?!\\d)",
    "\\b\\d{1,2}[./]\\d{1,2}[./]20\\d\\d\\b",
    `\\b${MONTH} \\d{1,2}(?:st|nd|rd|th)?,? 20\\d\\d\\b`,
    `\\b\\d{1,2}\\.? ${MONTH} 20\\d\\d\\b`,
  ].join("|"),
  "i",
);
/** Before the first letter there is only what marks a heading, an item, a table's row, or bold text. */
const STARTS = /^[^\p{L}\p{N}#]*(?:#{1,6}\s)?[^\p{L}\p{N}#]*(?:\d{1,3}[.)]\s+)?[^\p{L}\p{N}#]*/u;
const OPENING_DAY = new RegExp(`^(?:${DATE.source})`, "i");
/** `TICKET-0031`, `#12`, `PR #6`, `v1.4.0`, `00517`: what has a number of its own has its day. */
const SERIAL =
  /^(?:([A-Z][A-Z0-9]{1,9})-\d{1,6}\b|(?:[A-Z][A-Za-z]{1,11} )?(#)\d{1,6}\b|(v)\d+\.\d+(?:\.\d+)?\b|0\d{3,5}\b)/;
const DONE = /[✅☑✔]/u;
const TICKED = /^\s*(?:[-*+]|\d+[.)])\s+(?:\*\*)?(?:\[x\]|[✅☑✔])/iu;

/** A list item, row or heading that begins with a day, with one of several running numbers, or with a tick. */
function openingMark(text: string, series: ReadonlySet<string>): string | null {
  const start = STARTS.exec(text)?.[0] ?? "";
  const rest = text.slice(start.length);
  if (OPENING_DAY.test(rest)) return "begins with a day";
  const serial = serialOf(rest);
  if (serial !== null && series.has(serial.prefix)) return `about ${serial.text}`;
  return TICKED.test(text) ? "ticked off" : null;
}

/** `**Update (2026-07-05):** …`, `Day 12 (2026-05-24): …` */
const LABEL = new RegExp(`^[^:\`]{0,60}(?:${DATE.source})[^:：\`]{0,30}[:：]`, "i");

/** What such a heading says without a mark; other words said nothing on real repositories. */
const HISTORY =
  /\b(?:(?:this|the|last|previous|latest) session|session (?:\d|log|notes|summary)|hand-?off|change ?log|(?:work|decision|build|session|progress) log|histor(?:y|ical)|archived?)\b/i;

function headingMark(heading: string): string | null {
  if (DONE.test(heading) && DATE.test(heading)) return "under what was finished on a day";
  return heading.startsWith("#") && HISTORY.test(heading) ? "under history" : eventMark(heading, () => false);
}

/** A hash has letters and digits, and is no colour and no part of a longer id. */
const HASH = /(?<![\w#-])(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}(?![\w-])/;
const EVENT = new RegExp(`(${DATE.source})|${HASH.source}`, "i");

/** A sentence that names a day or a commit before it names anything else says what happened then. */
function eventMark(text: string, isPast: (day: string) => boolean): string | null {
  const bare = text.replace(/[(（][^()（）]*[)）]/g, (inside) => " ".repeat(inside.length));
  const found = EVENT.exec(bare);
  if (!found || /[`/]|\w\.\w/.test(bare.slice(0, found.index).replace(/`$/, ""))) return null;
  if (found[1] === undefined) return `about commit ${found[0]}`;
  return isPast(found[1]) ? `about ${found[1]}` : null;
}

function serialOf(text: string): { text: string; prefix: string; number: number } | null {
  const found = SERIAL.exec(text);
  if (!found) return null;
  const [whole, ...prefixes] = found;
  return { text: whole, prefix: prefixes.find(Boolean) ?? "0", number: Number(whole.replace(/\D/g, "")) };
}

/** More entries than this are not counted out by hand. */
const MAX_COUNTED = 12;

/**
 * Prefixes of running numbers that open several parts: a single `UTF-8` is a name. Rule #1 to rule #5 are a list; tickets have
 * gaps.
 */
function findSeries(passages: readonly Passage[]): Set<string> {
  const seen = new Map<string, Set<number>>();
  for (const { text } of passages) {
    const serial = serialOf(text.slice(STARTS.exec(text)?.[0].length ?? 0));
    if (serial) seen.set(serial.prefix, (seen.get(serial.prefix) ?? new Set()).add(serial.number));
  }
  const isRunning = (numbers: Set<number>) =>
    numbers.size > 1 && (Math.max(...numbers) > numbers.size || numbers.size > MAX_COUNTED);
  return new Set([...seen].filter(([, numbers]) => isRunning(numbers)).map(([prefix]) => prefix));
}

const NONE: ReadonlySet<string> = new Set();

/** Days further in a heading, if there are several: a single one says how old the memory is. */
function findStamps(passages: readonly Passage[]): Set<string> {
  const isStamped = ({ lead }: Passage) => lead.includes("20") && openingMark(lead, NONE) === null;
  const days = new Set(passages.filter(isStamped).flatMap(({ lead }) => DATE.exec(lead)?.[0] ?? []));
  return days.size > 1 ? days : new Set();
}

/** `- **Date:** 2026-03-04` */
const FIELD = new RegExp(`^[^\\p{L}]*\\p{L}[^:：]{0,20}[:：][^\\p{L}\\p{N}]*(?:${DATE.source})[^\\p{L}]*$`, "iu");

/** Sections that have a field with a day, if there are several: a single one dates the memory. */
function findEntries(passages: readonly Passage[]): Set<string> {
  const fields = passages.filter(({ text }) => FIELD.test(text));
  const sections = new Set(fields.flatMap((each) => sectionsOf(each).slice(-1)));
  return sections.size > 1 ? sections : new Set();
}

/** Each with the headings over it. */
function sectionsOf({ over }: Passage): string[] {
  let path = "";
  return over
    .filter((each) => each.startsWith("#"))
    .map((each) => {
      path += `${each}\n`;
      return path;
    });
}

/** Why a file is a record by its name alone. */
export function recordByName(file: string): string | undefined {
  if (/(?:^|[^\d])20\d\d[-_.]?(?:0\d|1[0-2])[-_.]?[0-3]\d(?:[^\d]|$)/.test(file)) return "named for a day";
  return HISTORY.test(file.replace(/[_-]|\.md$/g, " ")) ? "named as history" : undefined;
}
