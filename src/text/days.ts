/** Which day words mean: "Thursday", "in zwei Wochen", "下周三", counted from the day on which they were said. */

import { allRules, englishRules } from "./day-rules.ts";

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
export function findDays(text: string, now: Date, { onlyEnglish = false } = {}): NamedDay[] {
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
  return found.sort((a, b) => a.start - b.start);
}

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
