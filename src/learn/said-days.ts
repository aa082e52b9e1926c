/** Resolves days that are named by words or by a number without a year, which the finder of relative dates skips. */

const WEEKDAYS = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];
const WEEKDAY = `(${WEEKDAYS.join("|")})`;
const MONTHS = "january february march april may june july august september october november december".split(" ");
const MONTH = `(${MONTHS.map((month) => (month === "may" ? "may" : `${month.slice(0, 3)}(?:${month.slice(3)})?`)).join("|")})`;
const DAY = "(\\d{1,2})(?:st|nd|rd|th)?";
const ORDINAL = "(\\d{1,2})(?:st|nd|rd|th)";
const NO_YEAR = "(?!\\w|[,.]?\\s+\\d{4}|[-/.]\\d)";
const ORDINALS = ["last", "first", "second", "third", "fourth"];
const COUNTS = ["zero", "one", "two", "three", "four"];

type Rule = [pattern: RegExp, write: (now: Date, ...parts: string[]) => string | null];

const rule = (source: string, write: Rule[1]): Rule => [new RegExp(source, "gi"), write];

/** A month without a year is the next such month, or this one; a day without a month the next such day. */
const RULES: readonly Rule[] = [
  rule(
    `\\b(?:on )?(?:the )?(first|second|third|fourth|last) ${WEEKDAY} (?:of|in) (?:(this|the|next|last) month|${MONTH}${NO_YEAR})`,
    (now, which, day, when, month) => {
      const first = monthOf(now, when, month);
      return `on ${nthWeekday(first, ORDINALS.indexOf(which!.toLowerCase()), WEEKDAYS.indexOf(day!.toLowerCase()))}`;
    },
  ),
  rule("\\b(?:on )?(?:the )?day after tomorrow\\b", (now) => `on ${shift(now, 2)}`),
  rule("\\b(?:on )?(?:the )?day before yesterday\\b", (now) => `on ${shift(now, -2)}`),
  rule(
    "\\b(?:(in|of|since|until|by|from|for|early|late|mid) )?(this|next|last) year\\b(?!-)('s)?",
    (now, word, which, own) => {
      const year = now.getFullYear() + (which!.toLowerCase() === "next" ? 1 : which!.toLowerCase() === "last" ? -1 : 0);
      return own ? `${word ? `${word} ` : ""}${year}'s` : `${word ?? "in"} ${year}`;
    },
  ),
  rule(
    `\\b(?:on )?(?:the )?${WEEKDAY} after next\\b`,
    (now, day) => `on ${shift(now, (daysUntil(now, day!) || 7) + 7)}`,
  ),
  rule(
    `\\b(?:on )?(?:a week on ${WEEKDAY}|${WEEKDAY} (?:week(?! of)|in a week))\\b`,
    (now, on, week) => `on ${shift(now, (daysUntil(now, (on ?? week)!) || 7) + 7)}`,
  ),
  rule(`\\b(?:on )?${WEEKDAY} in (two|three|four|[2-4]) weeks\\b`, (now, day, count) => {
    const weeks = Math.max(COUNTS.indexOf(count!.toLowerCase()), Number(count) || 0);
    return `on ${shift(mondayAfter(now, weeks), daysAfterMonday(day!))}`;
  }),
  // "Wednesday deploys are off" is about every Wednesday.
  rule(
    `(?<!\\b(?:on|next|this|last|by|until|till|from|since|the|every|each|before|after) )\\b${WEEKDAY} ([a-z]+s)(?= (?:are|need|go|have|must|should|always|never)\\b)`,
    (_, day, what) => `${what} on ${day}s`,
  ),
  rule(`\\beod (?:on )?${WEEKDAY}\\b`, (_, day) => `on ${day}`),
  rule("\\ba fortnight ago\\b", (now) => `on ${shift(now, -14)}`),
  rule("\\b(?:in )?(this|next|last) (spring|summer|autumn|fall|winter)\\b", (now, which, season) => {
    return `in ${season} ${seasonYear(now, which!.toLowerCase(), season!.toLowerCase())}`;
  }),
  rule("\\b(?:the )?end of next week\\b", (now) => shift(now, ((7 - now.getDay()) % 7) + 7)),
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

/**
 * "On Tuesday we lost two hours of scans" was the last Tuesday, while a weekday elsewhere is one to come. Clause by
 * clause: what happened and what is planned are often in one sentence.
 */
export function writePastWeekdays(line: string, now: Date): string {
  return clausesOf(line)
    .map((clause) => {
      if (!SAID_THEN.test(clause) && (!HAPPENED.test(clause) || PLANNED.test(clause))) return clause;
      const ended = clause.replace(/\bover the weekend\b(?! of)/gi, () => {
        return `over the weekend of ${shift(now, -((7 - daysUntil(now, "saturday")) % 7 || 7))}`;
      });
      return ended.replace(PAST_WEEKDAY, (_, day: string) => `on ${shift(now, -((7 - daysUntil(now, day)) % 7 || 7))}`);
    })
    .join("");
}

/**
 * Whether a weekday may be the last or the next one, because its clause mentions both what happened and what is
 * planned.
 */
export function hasUnsureWeekday(line: string): boolean {
  return clausesOf(line).some(
    (clause) =>
      clause.search(PAST_WEEKDAY) !== -1 && HAPPENED.test(clause) && PLANNED.test(clause) && !SAID_THEN.test(clause),
  );
}

function clausesOf(line: string): string[] {
  return line.split(/(?<=[,;:] )|(?= (?:because|so|but|and|which) )/);
}

/** "Legal decided on Monday that it stays": the day is that of the deciding. */
const SAID_THEN = new RegExp(
  `\\b(?:decided|agreed|voted|told (?:me|us|them)|announced|confirmed|heard|learned|signed|approved) on ${WEEKDAY}\\b`,
  "i",
);
const HAPPENED =
  /\b(?:was|were|lost|had|went|broke|got|did|came|ran|sent|saw|found|told|met|left|took|fell|cut|joined|started|merged|deployed|shipped|released|crashed|failed|happened|deleted|removed|launched|upgraded|migrated|switched|decided|agreed|approved|rejected|signed|cancell?ed|announced|reported|arrived|stopped|wiped|leaked|corrupted|published|pushed|reverted|rolled|(?<!\b(?:the|an?|is|are|be|been|being|gets?|our|their|his|her|my|your|newly|all|to|will|with|by) )(?!(?:speed|breed|bleed|proceed|exceed|succeed|indeed|embed|agreed|scheduled|planned|supposed)\b)[a-z]{3,}ed)\b/i;
const PLANNED =
  /\b(?:will|shall|going to|is|are|must|has to|have to|should|can|may|gets?|scheduled|planned|due|supposed|(?:decided|agreed|told) (?:\S+ )?(?:to|that))\b|['’](?:ll|s|re)\b/i;
const PAST_WEEKDAY = new RegExp(
  `(?<!\\b(?:next|this|coming|every|each|last|to|until|till|by|from|for|since|before|after|of|the|a|and) )(?<![\\w-])(?:on )?${WEEKDAY}\\b(?!s|-|,? (?:the )?\\d{1,2}(?:st|nd|rd|th|\\.| (?:of )?${MONTH}))`,
  "gi",
);

/** The first of the month that is meant. */
function monthOf(now: Date, which: string | undefined, name: string | undefined): Date {
  if (name) {
    const month = MONTHS.findIndex((full) => full.startsWith(name.toLowerCase()));
    return new Date(now.getFullYear() + Number(month < now.getMonth()), month, 1);
  }
  const months = which?.toLowerCase() === "next" ? 1 : which?.toLowerCase() === "last" ? -1 : 0;
  return new Date(now.getFullYear(), now.getMonth() + months, 1);
}

/** The number 0 stands for the last one. */
function nthWeekday(first: Date, number: number, weekday: number): string {
  const day = 1 + ((weekday - first.getDay() + 7) % 7) + 7 * (Math.max(number, 1) - 1);
  if (number > 0) return shift(first, day - 1);
  const days = new Date(first.getFullYear(), first.getMonth() + 1, 0).getDate();
  return shift(first, day + 7 * Math.floor((days - day) / 7) - 1);
}

/** Months in which the seasons begin, in the north. */
const SEASONS: Readonly<Record<string, number>> = { spring: 2, summer: 5, autumn: 8, fall: 8, winter: 11 };

/** "Next spring" is the first that begins after now, "last summer" the last that has begun. */
function seasonYear(now: Date, which: string, season: string): number {
  const begun = now.getMonth() >= SEASONS[season]!;
  if (which === "next") return now.getFullYear() + Number(begun);
  return now.getFullYear() - Number(which === "last" && !begun);
}

function mondayAfter(now: Date, weeks: number): Date {
  return new Date(
    now.getFullYear(),
    now.getMonth(),
    now.getDate() - daysAfterMonday(WEEKDAYS[now.getDay()]!) + 7 * weeks,
  );
}

function daysAfterMonday(weekday: string): number {
  return (WEEKDAYS.indexOf(weekday.toLowerCase()) + 6) % 7;
}

/** The Monday of the week this many weeks ahead (ISO 8601: a week begins on Monday). */
export function mondayOf(now: Date, weeks: number): string {
  return shift(mondayAfter(now, weeks), 0);
}

export function shift(now: Date, days: number): string {
  return iso(new Date(now.getFullYear(), now.getMonth(), now.getDate() + days));
}

export function daysUntil(now: Date, weekday: string): number {
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
