/** Days that are named by words or by a number without a year, which the finder of relative dates leaves alone, as calendar days. */

const WEEKDAYS = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];
const WEEKDAY = `(${WEEKDAYS.join("|")})`;
const MONTHS = "january february march april may june july august september october november december".split(" ");
const MONTH = `(${MONTHS.map((month) => (month === "may" ? "may" : `${month.slice(0, 3)}(?:${month.slice(3)})?`)).join("|")})`;
const DAY = "(\\d{1,2})(?:st|nd|rd|th)?";
const ORDINAL = "(\\d{1,2})(?:st|nd|rd|th)";
const NO_YEAR = "(?!\\w|[,.]?\\s+\\d{4}|[-/.]\\d)";
const COUNTS = ["zero", "one", "two", "three", "four"];

type Rule = [pattern: RegExp, write: (now: Date, ...parts: string[]) => string | null];

const rule = (source: string, write: Rule[1]): Rule => [new RegExp(source, "gi"), write];

/** A month without a year is the next such month, or this one; a day without a month the next such day. */
const RULES: readonly Rule[] = [
  rule("\\b(?:on )?(?:the )?day after tomorrow\\b", (now) => `on ${shift(now, 2)}`),
  rule("\\b(?:on )?(?:the )?day before yesterday\\b", (now) => `on ${shift(now, -2)}`),
  rule(
    "\\b(?:(in|of|since|until|by|from|for|early|late|mid) )?(this|next|last) year\\b(?!-)('s)?",
    (now, word, which, own) => {
      const year = now.getFullYear() + (which!.toLowerCase() === "next" ? 1 : which!.toLowerCase() === "last" ? -1 : 0);
      return own ? `${word ? `${word} ` : ""}${year}'s` : `${word ?? "in"} ${year}`;
    },
  ),
  rule("\\b(?:in )?the week after next\\b", (now) => `in the week of ${mondayOf(now, 2)}`),
  rule("\\bin a fortnight\\b|\\ba fortnight from now\\b", (now) => `on ${shift(now, 14)}`),
  rule(`\\b(a|one|two|three|four|[1-4]) weeks? from ${WEEKDAY}\\b`, (now, count, day) => {
    const weeks = count === "a" ? 1 : Math.max(COUNTS.indexOf(count!.toLowerCase()), Number(count) || 0);
    return `on ${shift(now, daysUntil(now, day!) + 7 * weeks)}`;
  }),
  rule(`\\b(?:on )?(?:this |the )?coming ${WEEKDAY}\\b`, (now, day) => `on ${shift(now, daysUntil(now, day!) || 7)}`),
  rule(`\\bsince (?:last )?${WEEKDAY}\\b`, (now, day) => `since ${shift(now, -((7 - daysUntil(now, day!)) % 7 || 7))}`),
  rule(
    `\\b${DAY}\\s*(?:-|–|to|until|through)\\s*${DAY}\\s+(?:of\\s+)?${MONTH}${NO_YEAR}`,
    (now, first, last, month) => {
      const days = [dayOf(now, month!, Number(first)), dayOf(now, month!, Number(last))];
      return days[0] && days[1] ? `${days[0]} to ${days[1]}` : null;
    },
  ),
  rule(`\\b(?:the\\s+)?${DAY}\\s+(?:of\\s+)?${MONTH}${NO_YEAR}`, (now, day, month) => dayOf(now, month!, Number(day))),
  rule(`\\b${MONTH}\\s+(?:the\\s+)?${DAY}${NO_YEAR}(?!\\s*(?:%|[a-z]+s\\b))`, (now, month, day) =>
    dayOf(now, month!, Number(day)),
  ),
  rule(`\\b(?:the\\s+)?end\\s+of\\s+${MONTH}${NO_YEAR}`, (now, month) => dayOf(now, month!, 0)),
  rule(`\\b(?:the\\s+)?${DAY}\\s+of\\s+(this|the|next|last)\\s+month\\b`, (now, day, which) => {
    const months = which!.toLowerCase() === "next" ? 1 : which!.toLowerCase() === "last" ? -1 : 0;
    return inMonth(now.getFullYear(), now.getMonth() + months, Number(day));
  }),
  rule(`\\b(?:on\\s+)?${WEEKDAY},?\\s+(?:the\\s+)?${ORDINAL}(?![\\w-])`, (now, _, day) => {
    const date = nextNumbered(now, Number(day));
    return date && `on ${date}`;
  }),
  rule(
    `\\b(on|by|until|till|from|before|after|to)\\s+the\\s+${ORDINAL}(?=[,.;:!)]|$|\\s+(?:and|or|at|until|to|we|the|because|it|in the)\\b)`,
    (now, word, day) => {
      const date = nextNumbered(now, Number(day));
      return date && `${word} ${date}`;
    },
  ),
];

export function writeCalendarDays(line: string, now: Date): string {
  return RULES.reduce(
    (text, [pattern, write]) => text.replace(pattern, (found, ...parts: string[]) => write(now, ...parts) ?? found),
    line,
  );
}

/** The commonest words of the languages in which a request is understood: how many days from now, or which year. */
const FOREIGN: readonly [RegExp, number | "last year" | "next year"][] = [
  [/(?<![\p{L}\p{N}])(?:heute|aujourd'hui|hoy)(?![\p{L}\p{N}])|今天|今日/giu, 0],
  [/(?<![\p{L}\p{N}])(?:übermorgen|après-demain|pasado mañana)(?![\p{L}\p{N}])|后天|明後日/giu, 2],
  // Lower case only in German, and never "la mañana": both also mean the morning.
  [/(?<![\p{L}\p{N}])(?:morgen|demain|(?<!la )mañana)(?![\p{L}\p{N}])|明天|明日/gu, 1],
  [/(?<![\p{L}\p{N}])(?:gestern|ayer|(?<=[ ,])hier)(?![\p{L}\p{N}])|昨天|昨日/gu, -1],
  [
    /(?<![\p{L}\p{N}])(?:(?:letzte|vorige)[sn]? Jahr|l'an(?:née)? derni(?:er|ère)|el año pasado)(?![\p{L}\p{N}])|去年|昨年/giu,
    "last year",
  ],
  [
    /(?<![\p{L}\p{N}])(?:(?:nächste|kommende)[sn]? Jahr|l'an(?:née)? prochaine?|el (?:próximo año|año que viene))(?![\p{L}\p{N}])|明年|来年/giu,
    "next year",
  ],
];

export function writeForeignDays(line: string, now: Date): string {
  // "hier" is German for "here": it counts only in what looks French.
  const french = /\b(?:le|la|les|une?|des|que|est|pas|nous)\b/i.test(line);
  return FOREIGN.reduce(
    (text, [pattern, distance]) =>
      text.replace(pattern, (found) => {
        if (/^hier$/i.test(found) && !french) return found;
        if (typeof distance === "number") return shift(now, distance);
        return String(now.getFullYear() + (distance === "last year" ? -1 : 1));
      }),
    line,
  );
}

/** The Monday of the week that is so many weeks ahead (ISO 8601: a week begins on Monday). */
export function mondayOf(now: Date, weeks: number): string {
  return shift(now, -((now.getDay() + 6) % 7) + 7 * weeks);
}

function shift(now: Date, days: number): string {
  return iso(new Date(now.getFullYear(), now.getMonth(), now.getDate() + days));
}

function daysUntil(now: Date, weekday: string): number {
  return (WEEKDAYS.indexOf(weekday.toLowerCase()) - now.getDay() + 7) % 7;
}

/** Day 0 is the month's last. */
function dayOf(now: Date, name: string, day: number): string | null {
  const month = MONTHS.findIndex((full) => full.startsWith(name.toLowerCase()));
  const year = now.getFullYear() + Number(month < now.getMonth());
  return day === 0 ? iso(new Date(year, month + 1, 0)) : inMonth(year, month, day);
}

function nextNumbered(now: Date, day: number): string | null {
  return inMonth(now.getFullYear(), now.getMonth() + Number(day < now.getDate()), day);
}

function inMonth(year: number, month: number, day: number): string | null {
  const date = new Date(year, month, day);
  return day > 0 && date.getDate() === day ? iso(date) : null;
}

function iso(date: Date): string {
  const two = (value: number) => String(value).padStart(2, "0");
  return `${String(date.getFullYear()).padStart(4, "0")}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}
