/** Finds dates that are relative to the day they were written, because they mean nothing to a later reader, and writes the day after them. */

import { allRules, englishRules } from "./day-rules.ts";

export interface RelativeDate {
  line: number;
  words: string;
  /** YYYY-MM-DD, YYYY-MM for a month, or the first and the last day of a week or a longer span. */
  date: string;
}

/**
 * Dates in English words ("next Thursday", "in two weeks", "tomorrow", "end of month") with the day they mean when said at `now`, in
 * the local time zone. A bare weekday means the next one.
 *
 * Left out on purpose: code; dates with a calendar day ("March 5", "Thursday, 2026-11-19") and words already followed by one;
 * times of day and spans below a day ("in 5 minutes"); durations and windows ("for two weeks", "within 3 days", "the last 30
 * days"); distances from another event ("two days later"); repetitions ("every Friday", "Monday to Friday"); "today's", which
 * mostly means "current"; names ("Black Friday", `today.md`).
 */
export function findRelativeDates(text: string, now: Date): RelativeDate[] {
  const found: RelativeDate[] = [];
  let line = 1;
  // Paragraph by paragraph: a date never spans a blank line.
  for (const block of blankFences(text).split(/(?<=\n)(?=[ \t]*\r?\n)/)) {
    const paragraph = blankSpans(block);
    const days = HINT.test(paragraph) ? findDays(paragraph, now, { onlyEnglish: true }) : [];
    for (const { start, end, date } of days.filter(({ isRelative }) => isRelative)) {
      const time = TIME.exec(paragraph.slice(end))?.[0] ?? "";
      const words = (paragraph.slice(start, end) + time).replace(/\s+/g, " ");
      found.push({ line: line + countLines(paragraph.slice(0, start)), words, date });
    }
    line += countLines(paragraph);
  }
  return found;
}

/** Enough to see that most texts name no such day. */
const HINT =
  /(?:mon|tues|wednes|thurs|fri|satur|sun|to|yester)day|tonight|mo?rr?ow|tmrw|(?:this|next|last|past|on)\s+[a-z]{3}|(?:day|week|month|quarter|year)s?\s+(?:ago|from)|\bin\s+[^.]{1,30}(?:day|week|month|quarter|year)|\bof\s+[^.]{0,8}(?:week|month|quarter|year)|\beo[dwmqy]\b|fortnight|weekend/i;

const TIME = /^\s+at\s+\d{1,2}(?::\d\d)?(?:\s*(?:am|pm))?\b/i;

/** What people say is shorter. */
const MAX_LINE = 2_000;

/**
 * "Thursday (2026-11-19)": the calendar day after each day that is named relatively or without a year, in every language that is
 * understood. Must be given one line. `isRule`: a weekday alone repeats ("no releases on Friday"), unless something begins or ends on it.
 */
export function writeDates(line: string, now: Date, isRule = false): string {
  if (line.length > MAX_LINE) return line;
  const days = findDays(blankSpans(line), now);
  return days.reduceRight((text, day) => writeDay(text, day, isRule), line);
}

function writeDay(text: string, { start, end, date, isEnglish, isBare }: NamedDay, isRule: boolean): string {
  const [before, words, after] = [text.slice(0, start), text.slice(start, end), text.slice(end)];
  const isRepeated = /day$/i.test(words) && /\b(?:never|always|no|not|don['’]t|avoid|only)\b/i.test(before);
  if (isBare && isRule && (!isEnglish || isRepeated)) return isEnglish ? `${before}${words}s${after}` : text;
  // "the Friday after next (…)" would still be read as the next one.
  const isSplit = isEnglish && /day\b.*\s/i.test(words.replace(/^day\b/i, "")) && !/\bweek$/i.test(words);
  return isSplit ? `${before}${date}${after}` : `${before}${words} (${date})${after}`;
}

/** Whether a text still names a relative day without its date; in a rule a weekday is none. */
export function hasRelativeDate(text: string, now: Date): boolean {
  return findDays(blankSpans(text), now).some(
    ({ isRelative, isBare, isEnglish }) => isRelative && (!isBare || isEnglish),
  );
}
/** Blanks out fenced code and URLs, keeping their length. A fence that is never closed runs to the end. */
function blankFences(text: string): string {
  return text
    .replace(
      /^[ \t>]*(`{3,}|~{3,})[^`\n]*(?:\n[\s\S]*?(?:\n[ \t>]*\1[`~]*[ \t]*\r?(?=\n|$(?![\s\S]))|$(?![\s\S]))|$(?![\s\S]))/gm,
      blank,
    )
    .replace(/\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s)>]+/gi, blank);
}

/** Inline code: from a run of backticks to the next run of the same length. */
function blankSpans(paragraph: string): string {
  const parts = paragraph.split(/(`+)/);
  const last = new Map(parts.map((part, at) => [part, at]));
  for (let at = 1; at < parts.length; at += 2) {
    const run = parts[at]!;
    if (last.get(run) === at) continue;
    const end = parts.indexOf(run, at + 1);
    for (; at < end; at++) parts[at] = blank(parts[at]!);
    parts[end] = blank(run);
  }
  return parts.join("");
}

function blank(code: string): string {
  return code.replace(/[^\r\n]/g, BLANK);
}

// Not a space: "next `x` week" must not become "next week".
const BLANK = "\uFFFC";

function countLines(text: string): number {
  return text.split("\n").length - 1;
}

// --- Which day words mean: "Thursday", "in zwei Wochen", "下周三", counted from the day on which they were said.

/** Words that name a day, a month or a span without saying which. */
export interface NamedDay {
  start: number;
  end: number;
  /** YYYY-MM-DD, YYYY-MM for a month, or the first and the last day of a span. */
  date: string;
  isEnglish: boolean;
  /** Counted from the day on which it was said; else only the year is missing. */
  isRelative: boolean;
  /** A weekday alone, which repeats where a rule is told, unless something ends or begins on it. */
  isBare: boolean;
}

/** In the order of the text; where two overlap, the longer form was tried first. Must be given text without code. */
function findDays(text: string, now: Date, { onlyEnglish = false } = {}): NamedDay[] {
  const found: NamedDay[] = [];
  const taken: [start: number, end: number][] = [];
  for (const { language, kind, pattern, write } of onlyEnglish ? englishRules() : allRules()) {
    const [isEnglish, isRelative] = [language === "en", kind !== "year"];
    for (const match of text.matchAll(pattern)) {
      const [start, end] = [match.index, match.index + match[0].trimEnd().length];
      const [before, after] = [text.slice(Math.max(0, start - 60), start), text.slice(end, end + 60)];
      if (taken.some(([from, to]) => start < to && end > from)) continue;
      // Only a word in lower case is the day: "Morgen" is the morning.
      if (match[0] === "Morgen" || (isEnglish && isRelative && isOther(match[0], before, after))) continue;
      taken.push([start, end]);
      const parts = partsOf(match);
      // "The Friday before" is counted from another day, not from today.
      const isElsewhere = kind === "bare" && COUNTED.test(after);
      const date = isDated(before, after) || isElsewhere ? null : write(now, parts, match);
      const isBare = kind === "bare" && !parts.which && !BOUND_BEFORE.test(before) && !BOUND_AFTER.test(after);
      if (date !== null) found.push({ start, end, date, isEnglish, isRelative, isBare });
    }
  }
  const inOrder = found.sort((a, b) => a.start - b.start);
  return inOrder.filter(({ start, isBare, isEnglish }) => !isBare || !isEnglish || !isRoutine(text, start, inOrder));
}

/** "Cut the branch on Tuesday, tag on Thursday": an order that names several weekdays is about every week. */
function isRoutine(text: string, at: number, days: readonly NamedDay[]): boolean {
  const start = text.slice(0, at).search(/(?<=^|[.!?]\s+|\n\s*)[^.!?\n]*$/);
  const end = at + text.slice(at).search(/[.!?](?:\s|$)|\n|$/);
  const named = days.filter((day) => day.isBare && day.start >= start && day.start < end);
  return named.length > 1 && ORDER.test(text.slice(start, end)) && !ONE_WEEK.test(text.slice(start, end));
}

const ORDER =
  /^(?:[-*+] )?(?:please |always )?(?:branch|build|check|close|cut|deploy|freeze|hold|merge|open|post|publish|push|rebase|rotate|run|send|ship|start|tag|test|update|write)\s+(?!is\b|was\b)/i;
const ONE_WEEK = /\b(?:this|next|last|coming)\b/i;

function partsOf({ groups = {} }: RegExpMatchArray): Record<string, string> {
  const found = Object.entries(groups).filter(([, value]) => value !== undefined);
  return Object.fromEntries(found.map(([name, value]) => [name.replace(/^_+/, ""), value]));
}

const BOUND_BEFORE =
  /(?<!\p{L})(?:until|till|by|from|since|starting|after|before|bis|ab|seit|vor|nach|hasta|desde|a partir|antes|para|jusqu'à|dès|avant|après)(?: (?:zum|dem|el|del?|on|the|le))?\s*$/iu;
const COUNTED = /^ (?:before(?! (?:last|we|you|\d))|davor|vorher|zuvor|anterior|previo|antes)(?!\p{L})/iu;
const BOUND_AFTER = /^(?:之?前|以?后|起|开始|まで|から|까지|부터)/;

function isDated(before: string, after: string): boolean {
  return /^\s*[(（,:=–-]?\s*(?:on\s+)?\d{4}(?:-\d\d|\b)/.test(after) || /\d{4}-\d\d-\d\d\s*[,(（]?\s*$/.test(before);
}

const DAY = "(?:mon|tues|wednes|thurs|fri|satur|sun)day";
const SHORT_MONTH = "(?:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)[a-z]*";

/** What may not come before: any such day, a repetition or a name, a distance, a calendar day, the start of a path or a tag. */
const NOT_BEFORE = [
  /\b(?:every|each|any|an?|other|weekly|monthly|first|second|third|fourth|[1-5](?:st|nd|rd|th))\s+(?:on\s+)?$/i,
  /\b(?:black|good|cyber|patch|casual|easter|whit)\s+$/i,
  new RegExp(`\\b(?:${SHORT_MONTH}\\s+\\d{1,2}|\\d{1,2}\\s+${SHORT_MONTH})(?:,?\\s+\\d{4})?\\s*[,(（]?\\s*$`, "i"),
  /[\w/\\.@#{=$-]$/,
];

/** What may not follow: a repetition, a calendar day, the rest of a path or of a longer word. */
const NOT_AFTER = [
  /^\s+(?:mornings|afternoons|evenings|nights)\b/i,
  /^\s+(?:of|in)\s+(?:the|each|every|a)\s+(?:month|quarter|year|sprint)/i,
  new RegExp(`^,?\\s+(?:the\\s+)?(?:\\d{1,2}(?:st|nd|rd|th)?\\s+(?:of\\s+)?${SHORT_MONTH}|${SHORT_MONTH}\\s+\\d)`, "i"),
  /^[\w/\\@-]|^\.\w/,
];

/** English words that look like a relative day and mean something else. */
function isOther(words: string, before: string, after: string): boolean {
  if (NOT_BEFORE.some((pattern) => pattern.test(before)) || NOT_AFTER.some((pattern) => pattern.test(after)))
    return true;
  // "this may fail", "by today's standards"
  if (/\s(?:may|march)$/.test(words) || (/^today$/i.test(words) && /^['’]s\b/.test(after))) return true;
  // "Monday to Friday" says when something holds every week.
  if (/\b(?:this|next|last|past)\b/i.test(words)) return false;
  const join = "\\s*(?:-|–|—|to|through|thru)\\s*";
  return (
    new RegExp(`^(?:on\\s+)?${DAY}${join}${DAY}\\b`, "i").test(words + after) ||
    (new RegExp(`\\b${DAY}${join}$`, "i").test(before) && new RegExp(`^${DAY}`, "i").test(words))
  );
}
