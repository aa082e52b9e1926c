/** Finds days until which something holds, or on which something is due; not days on which something happened. */

import { lazily } from "../errors.ts";

export interface Deadline {
  /** As it is written. */
  text: string;
  at: number;
  /** The last day on which it holds, YYYY-MM-DD. */
  day: string;
}

const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const MONTH =
  "(?<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\\.?";
const DAY = "(?<day>\\d{1,2})(?:st|nd|rd|th)?";
const YEAR = "(?<year>\\d{4})";
/** Compiled at the first use: lists never look for a day. */
const dates = lazily(() =>
  [
    `(?<![\\d-])${YEAR}-(?<number>\\d\\d)-(?<day>\\d\\d)(?![\\d-])`,
    `\\b${MONTH}\\s+${DAY},?\\s+${YEAR}\\b`,
    `\\b${DAY}\\s+(?:of\\s+)?${MONTH},?\\s+${YEAR}\\b`,
    `\\b${MONTH}\\s+${DAY}\\b(?!,?\\s+\\d{4}|[\\d:])`,
    `\\b${DAY}\\s+(?:of\\s+)?${MONTH}\\b(?!,?\\s+\\d{4})`,
    `(?<!\\d(?:st|nd|rd|th)?\\s{1,3}(?:of\\s{1,3})?)\\b${MONTH}\\s+${YEAR}\\b`,
    `\\bQ(?<quarter>[1-4])[\\s/-]*${YEAR}\\b`,
    `\\bend of (?:the year )?${YEAR}\\b`,
  ].map((source) => new RegExp(source, "gi")),
);

/** A year, or a month with a number beside it. */
const HINT = /\b(?:19|20)\d\d\b|\d[\s,]|\s\d/;
/** Each of the forms has one of these. */
const YEAR_OR_MONTH = /\d{4}|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec/i;

/** Right before a day that ends something. */
const UNTIL =
  /\b(?:until|till|til|by|before|through|thru|no later than|not later than|latest)\s+(?:the\s+)?(?:end\s+of\s+|around\s+|about\s+|early\s+|mid-?\s*|late\s+|(?:mon|tues|wednes|thurs|fri|satur|sun)day,?\s+)?$/i;
/** Of things that are distinguished by their age: "orders created before". */
const FILTERS =
  /\b(?:filed|created|opened|written|made|merged|recorded|saved|sent|issued|signed|built|older|newer|dated|data|rows?|records?|orders?|invoices?|commits?|logs?|tickets?|entries|everything|anything|those|accounts?|users?|versions?|customers?|releases?)\s+(?:from\s+)?(?:before|after|until|through|by|till)\s+$/i;
/** Some words before a day on which something ends, or has to be done. */
const ENDS =
  /(?:\b(?:due|deadline|expires?|expiring|expiry|ends?|ending|freeze|scheduled|to be released|releases? (?:on|is|in|date|planned)|launch(?:es)? (?:on|is|in|date|planned)|launching|ships?|shipping|go(?:es)?[- ]live|cut-?over|sunset(?:s|ted)?|eol|end of life|lasts?|goal for|target(?: date)?|milestone|planned|plans? for|will|is going to|closes?|closing|renewal|new date|eta|out of office|(?:remov|delet|expir|stopp|dropp|disabl|switch|shut|turn|unavailab|invalid|gone)\w*\s+(?:off\s+|down\s+)?after)\b)[^.;]{0,40}$/i;
const OLD_PLAN =
  /\b(?:originally|initially|once|had been|was|were)\s+(?:planned|scheduled|due|meant|supposed)\b[^.;]{0,40}$/i;
/** The day is that of something that happened, or from when on something holds. */
const HAPPENED =
  /\b(?:since|as of|from|decided|agreed|was|were|had|happened|occurred|introduced|started|began|launched|released|shipped|merged|deployed|migrated|created|updated|written|noted|reported|met|incident|outage|post-?mortem|on call|said|asked|confirmed|verified|measured|last|dated|effective|moved|slipped|signed|joined|left|hired|fixed|found|completed|finished|done|frozen on|removed on|dropped on|born|founded|version|snapshot|ago)\b[^.;,]{0,30}$/i;
/** The text says that the deadline is over or has moved. */
const OVER =
  /^[^.;]{0,30}\b(?:but (?:slipped|moved|postponed|delayed)|has passed|is over|was met|done|completed|shipped|finished|slipped|postponed|happened)\b/i;

/** `base`: when the text was written, for days without a year. */
export function findDeadlines(text: string, base: Date): Deadline[] {
  if (!HINT.test(text) || !YEAR_OR_MONTH.test(text)) return [];
  const taken: [number, number][] = [];
  const found: Deadline[] = [];
  for (const pattern of dates()) {
    for (const { 0: words, index, groups = {} } of text.matchAll(pattern)) {
      const end = index + words.length;
      if (taken.some(([from, to]) => index < to && end > from)) continue;
      const day = readDay(groups, base);
      taken.push([index, end]);
      if (day === null || !isDeadline(text, index, end)) continue;
      found.push({ text: words, at: index, day });
    }
  }
  return found;
}

/** Of two words before the day, the nearer one decides. */
function isDeadline(text: string, at: number, end: number): boolean {
  const before = text.slice(Math.max(0, at - 90), at);
  if (/--[\w-]+[\s=]+[`"']?$/.test(before) || OVER.test(text.slice(end, end + 60))) return false;
  // The first of two days begins something; a condition holds before and after; an old plan is not a plan.
  if (/^\s*(?:–|—|-|to|until|bis)\s*(?:\p{L}+\s+)?\d/iu.test(text.slice(end, end + 30))) return false;
  if (/\b(?:if|unless|when|whenever)\b[^.;]{0,60}$/i.test(before) || OLD_PLAN.test(before)) return false;
  if (UNTIL.test(before)) return !FILTERS.test(before);
  // The second of two days: "from … to …".
  if (/\d\s*(?:to|–|—|-|until)\s*$/.test(before) && /\b(?:from|between|valid|freeze|leave|sprint)\b/i.test(before))
    return true;
  const ends = lastMatch(before, ENDS);
  const happened = lastMatch(before, HAPPENED);
  if (ends < 0)
    return /^[`"')\s]*(?:is|are) (?:the |our |a )?(?:\w+ )?(?:deadline|due|cut-?off|last day|end of|release|launch|go-live)/i.test(
      text.slice(end, end + 60),
    );
  return ends > happened;
}

/** Where the last word of the pattern begins that reaches the end; -1 for none. */
function lastMatch(text: string, pattern: RegExp): number {
  let found = -1;
  for (let from = 0; from < text.length; ) {
    const match = pattern.exec(text.slice(from));
    if (!match) break;
    found = from + match.index;
    from = found + 1;
  }
  return found;
}

/** Without a day it is the last of the month, quarter or year. */
function readDay({ year, month, number, day, quarter }: Record<string, string>, base: Date): string | null {
  const named = month && MONTHS.indexOf(month.slice(0, 3).toLowerCase()) + 1;
  const at = named || (quarter ? Number(quarter) * 3 : Number(number ?? 12));
  if (day === undefined) return new Date(Date.UTC(Number(year), at, 0)).toISOString().slice(0, 10);
  return year ? dayOf(Number(year), at, Number(day)) : nextDay(base, at, Number(day));
}

function dayOf(year: number, month: number, day: number): string | null {
  const time = Date.UTC(year, month - 1, day);
  const iso = Number.isNaN(time) ? "" : new Date(time).toISOString().slice(0, 10);
  return iso === `${String(year).padStart(4, "0")}-${String(month).padStart(2, "0")}-${String(day).padStart(2, "0")}`
    ? iso
    : null;
}

/** Without a year: the next such day after it was written. */
function nextDay(base: Date, month: number, day: number): string | null {
  const year = base.getUTCFullYear();
  const day1 = dayOf(year, month, day);
  return day1 !== null && day1 >= base.toISOString().slice(0, 10) ? day1 : dayOf(year + 1, month, day);
}
