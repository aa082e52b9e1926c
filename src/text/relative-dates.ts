/** Finds dates that are relative to the day they were written, because they mean nothing to a later reader. */

import type { Chrono, ParsedResult, Parser } from "chrono-node/en";
import { localDay } from "./local-day.ts";

type ParsingContext = Parameters<Parser["pattern"]>[0];

export interface RelativeDate {
  line: number;
  words: string;
  /** YYYY-MM-DD */
  date: string;
}

/**
 * Dates in words ("next Thursday", "in two weeks", "tomorrow", "end of month") with the day they mean when said at `now`, in the
 * local time zone. English only. A bare weekday means the next one; "next week" means the same day a week later.
 *
 * Left out on purpose: code; dates with a calendar day ("March 5", "Thursday, 2026-11-19") and words already followed by one;
 * times of day and spans below a day ("in 5 minutes"); durations and windows ("for two weeks", "within 3 days", "the last 30
 * days"); distances from another event ("two days later"); repetitions ("every Friday", "Monday to Friday"); "today's", which
 * mostly means "current"; names ("Black Friday", `today.md`).
 */
export async function findRelativeDates(text: string, now: Date): Promise<RelativeDate[]> {
  const found: RelativeDate[] = [];
  let line = 1;
  // Paragraph by paragraph: a date never spans a blank line, and the parser only gets short texts.
  for (const block of blankFences(text).split(/(?<=\n)(?=[ \t]*\r?\n)/)) {
    const paragraph = block.includes("`") ? blankSpans(block) : block;
    if (HINT.test(paragraph)) {
      parser ??= await loadParser();
      for (const result of parser.parse(paragraph, now)) {
        const words = relativeWords(paragraph, result);
        if (!words) continue;
        const at = result.index + result.text.indexOf(words);
        found.push({
          line: line + countLines(paragraph.slice(0, at)),
          words: words.replace(/\s+/g, " "),
          date: isoDay(result, words, now),
        });
      }
    }
    line += countLines(paragraph);
  }
  return found;
}

const WEEKDAY = "(?:mon|tues|wednes|thurs|fri|satur|sun)day";
const MONTH = "(?:january|february|march|april|may|june|july|august|september|october|november|december)";
const UNIT = "(?:day|week|month|quarter|year)s?";
const NUMBERS = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];
const COUNT = `(?:(?:about|around|roughly|approximately|just)\\s+)?(?:\\d{1,4}|${NUMBERS.join("|")}|half\\s+an?|a\\s+few|a\\s+couple\\s+of|several|an?)`;

/** What counts as relative. Applied to chrono's results, which include times, durations and calendar dates. */
const RELATIVE = [
  "today|tonight|tomorrow|tmrw|overmorrow|yesterday|last\\s+night|this\\s+(?:morning|afternoon|evening)",
  `(?:on\\s+)?(?:(?:this|next|last|past)\\s+)?${WEEKDAY}(?:\\s+(?:of\\s+)?(?:this|next|last)\\s+week)?`,
  // Short names only count after another word, and `sat` and `sun` never do, because they are words of their own.
  "(?:on|this|next|last)\\s+(?:tues?|wed|thurs?|fri)\\.?",
  "(?:this|next|last)\\s+(?:week|weekend|month|quarter|year)",
  `(?:this|next|last)\\s+${MONTH}`,
  `in\\s+${COUNT}\\s+${UNIT}`,
  `${COUNT}\\s+${UNIT}\\s+(?:ago|from\\s+now)`,
  "(?:end|last\\s+day)\\s+of\\s+(?:(?:the|this|next|last)\\s+)?(?:week|month|quarter|year)",
  "eod|eow|eom|eoq|eoy",
].join("|");

/** For most texts this is enough, and the parser is never loaded. */
const HINT = new RegExp(`\\b(?:${RELATIVE})`, "i");
const WHOLE = new RegExp(`^(?:${RELATIVE})(?![\\w-])`, "i");
const BARE_WEEKDAY = new RegExp(`^(?:on\\s+)?(?:${WEEKDAY}|tue|wed|thu|fri)`, "i");
const LOWERCASE_MONTH = new RegExp(`\\b${MONTH}$`);

const CALENDAR_DAY = new RegExp(
  `\\d{4}|\\d[/.-]\\d|\\b${MONTH.replace("may|", "")}\\b|\\bmay\\s+\\d|\\b(?:jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\\b`,
  "i",
);

/**
 * What must not come before: any such day, a repetition or a name, a distance, an explicit calendar day, the start of a
 * path or a tag.
 */
const NOT_BEFORE = [
  /\b(?:every|each|any|an?|other|weekly|monthly|first|second|third|fourth|[1-5](?:st|nd|rd|th))\s+(?:on\s+)?$/i,
  // Counted from another day that the text names.
  /\b(?:days?|weeks?|months?)\s+(?:from|after|before)\s+$/i,
  /\b(?:black|good|cyber|patch|casual)\s+$/i,
  /\d{4}-\d\d-\d\d\s*[,(（]?\s*$/,
  /[\w/\\.@#{=$-]$/,
];

/** What may not follow: a repetition, a calendar day, the rest of a path or a longer word. */
const NOT_AFTER = [
  /^\s+(?:mornings|afternoons|evenings|nights)\b/i,
  /^\s+(?:of|in)\s+(?:the|each|every|a)\s+(?:month|quarter|year|sprint)/i,
  /^\s*[,(（:=–-]?\s*(?:on\s+)?\d{4}-\d\d/,
  /^[\w/\\@-]|^\.\w/,
];

/** The words of a result that is a relative date, else null. */
function relativeWords(text: string, result: ParsedResult): string | null {
  // The weekday parser takes punctuation along.
  const words = result.text.replace(/^[\s,(（]+|[\s,)）]+$/g, "");
  const match = WHOLE.exec(words);
  if (!match || CALENDAR_DAY.test(words.slice(match[0].length))) return null;
  if (LOWERCASE_MONTH.test(match[0])) return null; // "this may", "this march"
  // Two lines that do not continue each other: a list, a heading, a table.
  if (/\n[ \t]*(?:[-*+#>|]|\d+[.)])/.test(words)) return null;

  const start = result.index + result.text.indexOf(words);
  const before = text.slice(Math.max(0, start - 40), start);
  const after = text.slice(start + words.length, start + words.length + 40);
  if (NOT_BEFORE.some((pattern) => pattern.test(before)) || NOT_AFTER.some((pattern) => pattern.test(after)))
    return null;
  if (/^today$/i.test(words) && /^['’]s\b/.test(after)) return null;
  return isWeekdayRange(before, words, after) ? null : words;
}

/** "Monday to Friday" says when something holds every week. */
function isWeekdayRange(before: string, words: string, after: string): boolean {
  const day = "(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|satu?r?|sun)(?:day)?";
  const join = "\\s*(?:-|–|—|to|through|thru)\\s*";
  if (/\b(?:this|next|last|past)\b/i.test(words)) return false;
  return (
    new RegExp(`^${day}${join}${day}\\b`, "i").test(words.replace(/^on\s+/i, "") + after) ||
    new RegExp(`\\b${day}${join}$`, "i").test(before)
  );
}

/** Uses the calendar fields, not the instant: converting an instant to a day is how dates shift by one. */
function isoDay({ start }: ParsedResult, words: string, now: Date): string {
  if (BARE_WEEKDAY.test(words) && !/\b(?:this|next|last)\s+week\b/i.test(words)) {
    // chrono takes the nearest such weekday, which may be in the past; notes are about the future.
    const days = ((start.get("weekday") ?? 0) - now.getDay() + 7) % 7;
    return localDay(new Date(now.getFullYear(), now.getMonth(), now.getDate() + days));
  }
  return localDay(new Date(start.get("year") ?? 0, (start.get("month") ?? 1) - 1, start.get("day") ?? 1));
}

let parser: Chrono | undefined;

/**
 * The English parser alone, 22 ms instead of 100 for all languages, with the forms it lacks. Its four parsers of durations are
 * left out: compiling their patterns takes 240 ms at the second use, and what they find besides ours is not wanted here.
 */
async function loadParser(): Promise<Chrono> {
  const { casual, ParsingComponents } = await import("chrono-node/en");
  const extended = casual.clone();
  const context = { option: {} } as ParsingContext;
  extended.parsers = extended.parsers.filter((parser) => !parser.pattern(context).source.includes("several"));
  extended.parsers.unshift(
    {
      pattern: () => new RegExp(`\\b(?:in\\s+${COUNT}\\s+${UNIT}|${COUNT}\\s+${UNIT}\\s+(?:ago|from\\s+now))\\b`, "i"),
      extract: ({ reference }, match) => ParsingComponents.createRelativeFromReference(reference, duration(match[0])),
    },
    {
      pattern: () => /\b(?:end\s+of\s+(?:(?:the|this)\s+)?(week|month|quarter|year)|eo([dwmqy]))\b/i,
      extract: ({ reference }, match) =>
        endOfPeriod(reference.getDateWithAdjustedTimezone(), (match[1] ?? match[2] ?? "")[0]!),
    },
    {
      pattern: () => new RegExp(`\\b(this|next|last)\\s+(${MONTH})\\b(?!\\s+\\d)`, "i"),
      extract: ({ reference }, match) =>
        monthNamed(reference.getDateWithAdjustedTimezone(), match[1] ?? "", match[2] ?? ""),
    },
  );
  return extended;
}

const VAGUE = { half: 0.5, few: 3, couple: 2, several: 7 };

/** "in about two weeks" -> { week: 2 }, "half a year ago" -> { year: -0.5 }; vague counts are as vague here. */
function duration(words: string): Record<string, number> {
  const unit = /\b(day|week|month|quarter|year)s?\b/i.exec(words)?.[1]?.toLowerCase() ?? "day";
  const digits = /\d+/.exec(words)?.[0];
  const named = NUMBERS.findIndex((number) => new RegExp(`\\b${number}\\b`, "i").test(words)) + 1;
  const vague = Object.entries(VAGUE).find(([word]) => words.toLowerCase().includes(word))?.[1] ?? 1;
  const count = digits ? Number(digits) : named || vague;
  return { [unit]: /\bago$/i.test(words) ? -count : count };
}

type Day = { year: number; month: number; day: number };

/** Weeks end on Sunday (ISO 8601). */
function endOfPeriod(from: Date, period: string): Day {
  const [year, month, day] = [from.getFullYear(), from.getMonth(), from.getDate()];
  const ends: Record<string, Date> = {
    w: new Date(year, month, day + ((7 - from.getDay()) % 7)),
    m: new Date(year, month + 1, 0),
    q: new Date(year, month - (month % 3) + 3, 0),
    y: new Date(year, 12, 0),
  };
  const end = ends[period.toLowerCase()] ?? from;
  return { year: end.getFullYear(), month: end.getMonth() + 1, day: end.getDate() };
}

/** The first day of the nearest such month before or after the current one. */
function monthNamed(from: Date, which: string, name: string): Day {
  const month = MONTH.slice(3, -1).split("|").indexOf(name.toLowerCase()) + 1;
  const current = from.getMonth() + 1;
  const shift = /next/i.test(which) ? Number(month <= current) : /last/i.test(which) ? -Number(month >= current) : 0;
  return { year: from.getFullYear() + shift, month, day: 1 };
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
  const runs = [...paragraph.matchAll(/`+/g)].map((run) => ({ start: run.index, end: run.index + run[0].length }));
  const nextOfLength = new Map<number, number>();
  const partners = runs.map(() => -1);
  for (let i = runs.length - 1; i >= 0; i--) {
    const length = runs[i]!.end - runs[i]!.start;
    partners[i] = nextOfLength.get(length) ?? -1;
    nextOfLength.set(length, i);
  }
  let blanked = "";
  let from = 0;
  for (let i = 0; i < runs.length; i++) {
    const partner = partners[i]!;
    if (partner === -1) continue;
    blanked += paragraph.slice(from, runs[i]!.start) + blank(paragraph.slice(runs[i]!.start, runs[partner]!.end));
    from = runs[partner]!.end;
    i = partner;
  }
  return blanked + paragraph.slice(from);
}

function blank(code: string): string {
  return code.replace(/[^\r\n]/g, BLANK);
}

// Not a space: "next `x` week" must not become "next week".
const BLANK = "\uFFFC";

function countLines(text: string): number {
  return text.split("\n").length - 1;
}
