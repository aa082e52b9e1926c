/** Replaces the days of a statement that are relative, or lack a year, with calendar days; in several languages. */

import { localDay } from "../text/local-day.ts";
import { findRelativeDates } from "../text/relative-dates.ts";

/** Must be given one line. The words go, the date stays: "moves to next Monday" -> "moves to 2026-11-23". */
export async function writeDates(line: string, now: Date): Promise<string> {
  return writeRelativeDays(writeDays(line, now), now, MAX_RANGES);
}

/** Whether a statement names a day or a month; "today" alone does not make something worth keeping. */
export async function hasDate(line: string, now: Date): Promise<boolean> {
  if (/\b\d{4}-\d\d(?:-\d\d)?\b|\bQ[1-4]\b/.test(line) || MONTH_NAMED.test(line)) return true;
  if (rewrite(CALENDAR_DAYS, writePastWeekdays(line, now), now) !== line) return true;
  return (await findRelativeDates(writeDays(line, now), now)).some(
    ({ words }) =>
      !/^(?:today|tonight|this (?:morning|afternoon|evening)|eod)\b/i.test(words) ||
      /\b(?:from|as of|since|until) today\b/i.test(line),
  );
}

/** Whether a text still contains a relative day, even if the finder is not sure. */
export async function hasRelativeDate(text: string, now: Date): Promise<boolean> {
  return LEFT.some((left) => left.test(text)) || (await findRelativeDates(text, now)).length > 0;
}

const LEFT = [
  /(?<![\w/.-])(?:tomorrow|yesterday|tonight|last night|(?:next|last|this|current) sprint|over the weekend(?! of \d)|(?:two|three|four) (?:mon|tues|wednes|thurs|fri|satur|sun)days (?:from now|ago)|(?:next|last|this) (?:week|weekend|month|quarter|(?:mon|tues|wednes|thurs|fri|satur|sun)day)|(?:until|till|by) (?:mon|tues|wednes|thurs|fri|satur|sun)day(?!s))(?![\w/-]|\.\w)/i,
  // "…in the week of 2026-08-10, from Monday to Thursday": days of that week only.
  /\bweek of \d{4}-.*\b(?:from|on|to|until|till|through) (?:mon|tues|wednes|thurs|fri|satur|sun)day\b/i,
  /(?<![\p{L}\p{N}])(?:(?:nächste|kommende|diese|letzte|vorige)[nrsm]? (?:woche|monat|quartal|\p{L}+tag|mittwoch)|(?:in|vor) \p{L}+ (?:tagen|wochen|monaten)|in den nächsten \p{L}+|ende (?:der|dieser|nächster) woche|ende (?:des|dieses|nächsten) (?:monats|jahres|quartals)|(?:monats|jahres)ende|fin (?:du mois|de (?:la )?semaine)|(?:fin|finales) de(?:l)? (?:mes|semana)|(?:la semaine|le mois) (?:prochaine?|derni(?:er|ère))|dans \p{L}+ (?:jours|semaines|mois)|la (?:próxima semana|semana (?:que viene|pasada))|el (?:próximo mes|mes (?:que viene|pasado))|(?:dentro de|hace) \p{L}+ (?:días|semanas|meses))(?![\p{L}\p{N}])|来週|先週|来月|先月|今週|下周|上周|下个月|上个月|本周/iu,
];

const MONTH_NAMED =
  /\b(?:in|by|until|before|from|after|since|the|mid|early|late)[ -](?:January|February|March|April|May|June|July|August|September|October|November|December)\b/;

function writeDays(line: string, now: Date): string {
  const plain = line
    .replace(/\b(days?|weeks?|months?|years?) from today\b/gi, "$1 from now")
    .replace(/\bfirst of (this|next|last) month\b/gi, "1st of $1 month")
    .replace(/\b(in (?:\w+ ){1,3}(?:days|weeks|months))['’] time\b/gi, "$1");
  return rewrite(CALENDAR_DAYS, writePastWeekdays(rewrite(FOREIGN_DAYS, plain, now), now), now)
    .replace(MONTH_ALONE, (found, month: string) => `${found} ${yearOf(now, new Date(`${month} 1, 2000`).getMonth())}`)
    .replace(/\bat (?=\d{4}-\d\d-\d\d\b)/g, "on ")
    .replace(/\bon on\b/gi, "on")
    .replace(/\b(by|until|till|from|before|after|to|since) on (?=\d{4}-)/gi, "$1 ");
}

/** A month by its name alone: a year later it is not clear which one. Repeated ones ("in April") stay. */
const MONTH_ALONE =
  /\b(?:until|till|by|before) (?:mid |early |late |the end of )?(January|February|March|April|May|June|July|August|September|October|November|December)\b(?!,? \d)/g;

/** Each range ("tomorrow until Friday", which is found as one date) costs another look at the rest of the line. */
const MAX_RANGES = 5;

async function writeRelativeDays(line: string, now: Date, ranges: number): Promise<string> {
  let written = "";
  let from = 0;
  // "from Wednesday to 2026-11-24": next to a full date the weekday would be taken as part of it.
  const seen = line.replace(/(?<=\b(?:to|until|till|through|and) )\d{4}-\d\d-\d\d/g, "\uFFFC".repeat(10));
  for (const { words, date } of await findRelativeDates(seen, now)) {
    const at = findOutsideCode(line, words, from);
    if (at === -1) continue;
    const range = /\s(?:until|till|til|to|through|thru|and|-|–|—)\s/i.exec(words);
    const ranged = range !== null && ranges > 0;
    const said = (ranged ? words.slice(0, range.index) : words).replace(TIME, "");
    const before = written + line.slice(from, at);
    from = at + said.length;
    written = joinDate(before, said, date, line.slice(from), now);
    // "tomorrow evening until Sunday": the evening is not part of the next search.
    if (ranged) {
      const rest = line.slice(at + range.index);
      return `${written}${words.slice(said.length, range.index)}${await writeRelativeDays(rest, now, ranges - 1)}`;
    }
  }
  return written + line.slice(from);
}

/** A time of day stays as it was said. */
const TIME =
  /\s+(?:at\s.*|@.*|\d{1,2}(?::\d\d|\s*(?:am|pm)\b).*|(?<!this )(?:morning|afternoon|evening|noon|night).*)$/i;

/** Words of a finding are normalised to single spaces, as the line is. Inline code is not looked into. */
function findOutsideCode(line: string, words: string, from: number): number {
  const blanked = line.replace(/`[^`]*`/g, (code) => "\uFFFC".repeat(code.length));
  return blanked.indexOf(words, from);
}

const PREPOSITION =
  /(?:^|\s)(?:on|by|until|till|til|from|since|before|after|to|for|of|through|between|and|or|the|this|our|is|was|due|starting|beginning|around|about|in|into|at|as of|than|mid|early|late|=|-|–|\()\s*$|[(:,–-]\s*$/i;

/** The day with the preposition that the words had in them or now lack. */
function joinDate(before: string, words: string, date: string, after: string, now: Date): string {
  const said = words.replace(/^on\s+/i, "");
  const value = periodOf(said, date, now);
  const head = /\b(?:end|last day) of/i.test(said) ? before.replace(/\bthe\s+$/i, "") : before;
  const bare = words === said && (PREPOSITION.test(head) || /^['’]s\b/.test(after));
  if (bare) return head + value;
  const preposition = /^\d{4}-\d\d-\d\d$/.test(value) ? "on" : "in";
  const opening = head.trim() === "" && /^[A-Z]/.test(words);
  return `${head}${opening ? preposition[0]!.toUpperCase() + preposition.slice(1) : preposition} ${value}`;
}

/** "last year" is a year and not a day of it: an exact day would be invented. */
function periodOf(said: string, date: string, now: Date): string {
  const [, which = "", unit = ""] = /^(this|next|last)\s+(week|month|quarter|year)$/i.exec(said.toLowerCase()) ?? [];
  if (unit === "year") return date.slice(0, 4);
  if (unit === "month" || MONTH_ONLY.test(said)) return date.slice(0, 7);
  if (unit === "quarter") return `Q${Math.ceil(Number(date.slice(5, 7)) / 3)} ${date.slice(0, 4)}`;
  return unit === "week" ? `the week of ${weekday(now, MONDAY, stepOf(which))}` : date;
}

const MONTH_ONLY =
  /^(?:this|next|last)\s+(?:january|february|march|april|may|june|july|august|september|october|november|december)$/i;

/** Null: it stays as it was said. */
type Rule = [pattern: RegExp, write: (now: Date, ...parts: string[]) => string | null];

function rewrite(rules: readonly Rule[], line: string, now: Date): string {
  return rules.reduce(
    (text, [pattern, write]) => text.replace(pattern, (found, ...parts: string[]) => write(now, ...parts) ?? found),
    line,
  );
}

const [EDGE, END] = ["(?<![\\p{L}\\p{N}])", "(?![\\p{L}\\p{N}])"];

/** "in drei Wochen", "dans 2 jours", "vor zwei Tagen". */
const FOREIGN_NUMBERS: Readonly<Record<string, number>> = {
  ...{ ein: 1, einem: 1, einer: 1, zwei: 2, drei: 3, vier: 4, fünf: 5, sechs: 6, sieben: 7, acht: 8, zehn: 10 },
  ...{ un: 1, une: 1, deux: 2, trois: 3, quatre: 4, cinq: 5, six: 6, dix: 10 },
  ...{ una: 1, dos: 2, tres: 3, cuatro: 4, cinco: 5, seis: 6, diez: 10 },
};

const GERMAN_MONTHS = "januar februar märz april mai juni juli august september oktober november dezember".split(" ");

/** Words of a day, also in a script without spaces, where they need no edges. */
function foreign(words: string, unspaced: string, flags: string, write: Rule[1]): Rule {
  return [new RegExp(`${EDGE}(?:${words})${END}|${unspaced}`, flags), write];
}

/** Only with a word before or after it that makes it a single day: "montags" and "jeden Montag" repeat. */
function foreignWeekday(before: string, names: string, after = ""): Rule {
  const days = names.split("|");
  return [
    new RegExp(`${EDGE}(${before}) (${names})${after}${END}`, "giu"),
    (now, word, day) => {
      const kept = /^(?:am|bis|ab|d'ici|jusqu'à|dès|avant|hasta el|antes del?)/i.exec(word!)?.[0] ?? "am";
      return `${kept} ${shift(now, daysUntil(now, days.indexOf(day!.toLowerCase())) || 7)}`;
    },
  ];
}

/** The commonest words of the languages in which a request is understood. */
const FOREIGN_DAYS: readonly Rule[] = [
  [
    new RegExp(
      `${EDGE}(in|vor|dans|il y a|dentro de|en|hace) (\\d{1,3}|${Object.keys(FOREIGN_NUMBERS).join("|")}) (tag|woche|jour|semaine|día|semana)(?:en|n|s)?${END}`,
      "giu",
    ),
    (now, way, count, unit) => {
      const days = (Number(count) || FOREIGN_NUMBERS[count!.toLowerCase()]!) * (/^(?:woche|sem)/i.test(unit!) ? 7 : 1);
      const word = /^(?:in|vor)$/i.test(way!) ? "am" : /^(?:dans|il y a)$/i.test(way!) ? "le" : "el";
      return `${word} ${shift(now, /^(?:vor|il y a|hace)$/i.test(way!) ? -days : days)}`;
    },
  ],
  foreignWeekday(
    "am|bis|ab|(?:am |bis |ab )?(?:nächsten?|kommenden?|diesen?)",
    "sonntag|montag|dienstag|mittwoch|donnerstag|freitag|samstag",
  ),
  foreignWeekday("d'ici|jusqu'à|dès|avant|ce", "dimanche|lundi|mardi|mercredi|jeudi|vendredi|samedi", "(?: prochain)?"),
  foreignWeekday("hasta el|antes del?|este|el próximo", "domingo|lunes|martes|miércoles|jueves|viernes|sábado"),
  // "am 3. März": the next one.
  [
    new RegExp(`(?<!\\d)(\\d{1,2})\\. ?(${GERMAN_MONTHS.join("|")})(?!\\p{L}| \\d{4})`, "giu"),
    (now, day, name) => {
      const month = GERMAN_MONTHS.indexOf(name!.toLowerCase());
      const date = inMonth(now.getFullYear(), month, Number(day));
      return date && date < localDay(now) ? localDay(new Date(now.getFullYear() + 1, month, Number(day))) : date;
    },
  ],
  foreign("heute|aujourd'hui|hoy", "今天|今日", "giu", (now) => localDay(now)),
  foreign("übermorgen|après-demain|pasado mañana", "后天|明後日", "giu", (now) => shift(now, 2)),
  // Lower case only in German, and never "la mañana": both also mean the morning.
  foreign("morgen|demain|(?<!la )mañana", "明天|明日", "gu", (now) => shift(now, 1)),
  foreign("gestern|ayer", "昨天|昨日", "gu", (now) => shift(now, -1)),
  // Also German for "here": it counts only in what looks French.
  [
    new RegExp(`(?<=[ ,])hier${END}`, "gu"),
    (now, _, line) => (/\b(?:le|la|les|une?|des|que|est|pas|nous)\b/i.test(line!) ? shift(now, -1) : null),
  ],
  foreign("(?:letzte|vorige)[sn]? Jahr|l'an(?:née)? derni(?:er|ère)|el año pasado", "去年|昨年", "giu", (now) =>
    String(now.getFullYear() - 1),
  ),
  foreign(
    "(?:nächste|kommende)[sn]? Jahr|l'an(?:née)? prochaine?|el (?:próximo año|año que viene)",
    "明年|来年",
    "giu",
    (now) => String(now.getFullYear() + 1),
  ),
];

const WEEKDAYS = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];
const [MONDAY, SATURDAY] = [1, 6];
const WEEKDAY = `(${WEEKDAYS.join("|")})`;
const MONTHS = "january february march april may june july august september october november december".split(" ");
const MONTH = `(${MONTHS.map((month) => (month === "may" ? "may" : `${month.slice(0, 3)}(?:${month.slice(3)})?`)).join("|")})`;
const DAY = "(\\d{1,2})(?:st|nd|rd|th)?";
const ORDINAL = "(\\d{1,2})(?:st|nd|rd|th)";
const NO_YEAR = "(?!\\w|[,.]?\\s+\\d{4}|[-/.]\\d)";
const ORDINALS = ["last", "first", "second", "third", "fourth"];
const COUNTS: Readonly<Record<string, number>> = { a: 1, one: 1, two: 2, three: 3, four: 4 };

const rule = (source: string, write: Rule[1]): Rule => [new RegExp(source, "gi"), write];

/** Named by words or by a number without a year. A month without a year is the next such month, or this one; a day without a month the next such day. */
const CALENDAR_DAYS: readonly Rule[] = [
  rule(
    `\\b(?:on )?(?:the )?(first|second|third|fourth|last) ${WEEKDAY} (?:of|in) (?:(this|the|next|last) month|${MONTH}${NO_YEAR})`,
    (now, which, day, when, month) =>
      `on ${nthWeekday(firstOf(now, when, month), ORDINALS.indexOf(which!.toLowerCase()), weekdayOf(day!))}`,
  ),
  rule("\\b(?:on )?(?:the )?day after tomorrow\\b", (now) => `on ${shift(now, 2)}`),
  rule("\\b(?:on )?(?:the )?day before yesterday\\b", (now) => `on ${shift(now, -2)}`),
  rule(
    "\\b(?:(in|of|since|until|by|from|for|early|late|mid) )?(this|next|last) year\\b(?!-)('s)?",
    (now, word, which, own) => {
      const year = now.getFullYear() + stepOf(which);
      return own ? `${word ? `${word} ` : ""}${year}'s` : `${word ?? "in"} ${year}`;
    },
  ),
  rule(`\\b(?:on )?(?:the )?${WEEKDAY} after next\\b`, (now, day) => `on ${nextDay(now, day!, 7)}`),
  rule(
    `\\b(?:on )?(?:a week on ${WEEKDAY}|${WEEKDAY} (?:week(?! of)|in a week))\\b`,
    (now, on, week) => `on ${nextDay(now, (on ?? week)!, 7)}`,
  ),
  rule(
    `\\b(?:on )?${WEEKDAY} in (two|three|four|[2-4]) weeks\\b`,
    (now, day, count) => `on ${weekday(now, weekdayOf(day!), countOf(count!))}`,
  ),
  // "Wednesday deploys are off" is about every Wednesday.
  rule(
    `(?<!\\b(?:on|next|this|last|by|until|till|from|since|the|every|each|before|after) )\\b${WEEKDAY} ([a-z]+s)(?= (?:are|need|go|have|must|should|always|never)\\b)`,
    (_, day, what) => `${what} on ${day}s`,
  ),
  rule(`\\beod (?:on )?${WEEKDAY}\\b`, (_, day) => `on ${day}`),
  rule("\\ba fortnight ago\\b", (now) => `on ${shift(now, -14)}`),
  rule(
    "\\b(?:in )?(this|next|last) (spring|summer|autumn|fall|winter)\\b",
    (now, which, season) => `in ${season} ${seasonYear(now, stepOf(which), season!.toLowerCase())}`,
  ),
  rule("\\b(?:the )?end of next week\\b", (now) => shift(now, ((7 - now.getDay()) % 7) + 7)),
  rule("\\b(?:in )?the week after next\\b", (now) => `in the week of ${weekday(now, MONDAY, 2)}`),
  rule("\\bin a fortnight\\b|\\ba fortnight from now\\b", (now) => `on ${shift(now, 14)}`),
  rule(
    `\\b(a|one|two|three|four|[1-4]) weeks? from ${WEEKDAY}\\b`,
    (now, count, day) => `on ${shift(now, daysUntil(now, weekdayOf(day!)) + 7 * countOf(count!))}`,
  ),
  rule(`\\b(?:on )?(?:this |the )?coming ${WEEKDAY}\\b`, (now, day) => `on ${nextDay(now, day!)}`),
  rule(`\\bsince (?:last )?${WEEKDAY}\\b`, (now, day) => `since ${lastDay(now, weekdayOf(day!))}`),
  rule(
    `\\b${DAY}\\s*(?:-|–|to|until|through)\\s*${DAY}\\s+(?:of\\s+)?${MONTH}${NO_YEAR}`,
    (now, first, last, month) => {
      const days = [dayOf(now, month!, first!), dayOf(now, month!, last!)];
      return days.includes(null) ? null : days.join(" to ");
    },
  ),
  rule(`\\b(?:the\\s+)?${DAY}\\s+(?:of\\s+)?${MONTH}${NO_YEAR}`, (now, day, month) => dayOf(now, month!, day!)),
  rule(`\\b${MONTH}\\s+(?:the\\s+)?${DAY}${NO_YEAR}(?!\\s*(?:%|[a-z]+s\\b))`, (now, month, day) =>
    dayOf(now, month!, day!),
  ),
  rule(`\\b(?:the\\s+)?end\\s+of\\s+${MONTH}${NO_YEAR}`, (now, month) => dayOf(now, month!, "0")),
  rule(`\\b(?:the\\s+)?${DAY}\\s+of\\s+(this|the|next|last)\\s+month\\b`, (now, day, which) =>
    inMonth(now.getFullYear(), now.getMonth() + stepOf(which), Number(day)),
  ),
  rule(`\\b(?:on\\s+)?${WEEKDAY},?\\s+(?:the\\s+)?${ORDINAL}(?![\\w-])`, (now, _, day) =>
    nextNumbered(now, "on", day!),
  ),
  rule(
    `\\b(on|by|until|till|from|before|after|to)\\s+the\\s+${ORDINAL}(?=[,.;:!)]|$|\\s+(?:and|or|at|until|to|we|the|because|it|in the)\\b)`,
    (now, word, day) => nextNumbered(now, word!, day!),
  ),
];

/**
 * "On Tuesday we lost two hours of scans" was the last Tuesday, while a weekday elsewhere is one to come. Clause by
 * clause: what happened and what is planned are often in one sentence.
 */
function writePastWeekdays(line: string, now: Date): string {
  return clausesOf(line)
    .map((clause) => {
      if (!SAID_THEN.test(clause) && (!HAPPENED.test(clause) || PLANNED.test(clause))) return clause;
      return clause
        .replace(/\bover the weekend\b(?! of)/gi, () => `over the weekend of ${lastDay(now, SATURDAY)}`)
        .replace(PAST_WEEKDAY, (_, day: string) => `on ${lastDay(now, weekdayOf(day))}`);
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
function firstOf(now: Date, which: string | undefined, name: string | undefined): Date {
  if (!name) return new Date(now.getFullYear(), now.getMonth() + stepOf(which), 1);
  const month = monthOf(name);
  return new Date(yearOf(now, month), month, 1);
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
function seasonYear(now: Date, step: number, season: string): number {
  const begun = now.getMonth() >= SEASONS[season]!;
  if (step === 1) return now.getFullYear() + Number(begun);
  return now.getFullYear() - Number(step === -1 && !begun);
}

const stepOf = (which: string | undefined): number => ({ next: 1, last: -1 })[which?.toLowerCase() ?? ""] ?? 0;

const countOf = (count: string): number => COUNTS[count.toLowerCase()] ?? Number(count);

const weekdayOf = (name: string): number => WEEKDAYS.indexOf(name.toLowerCase());

const monthOf = (name: string): number => MONTHS.findIndex((full) => full.startsWith(name.toLowerCase()));

/** Of the next such month, or this one. */
const yearOf = (now: Date, month: number): number => now.getFullYear() + Number(month < now.getMonth());

const shift = (now: Date, days: number): string =>
  localDay(new Date(now.getFullYear(), now.getMonth(), now.getDate() + days));

const daysUntil = (now: Date, weekday: number): number => (weekday - now.getDay() + 7) % 7;

const nextDay = (now: Date, name: string, more = 0): string =>
  shift(now, (daysUntil(now, weekdayOf(name)) || 7) + more);

const lastDay = (now: Date, weekday: number): string => shift(now, -((7 - daysUntil(now, weekday)) % 7 || 7));

/** That of the week this many weeks ahead (ISO 8601: a week begins on Monday). */
const weekday = (now: Date, day: number, weeks: number): string =>
  shift(now, ((day + 6) % 7) - ((now.getDay() + 6) % 7) + 7 * weeks);

/** Day 0 is the month's last. */
function dayOf(now: Date, name: string, day: string): string | null {
  const month = monthOf(name);
  const year = yearOf(now, month);
  return Number(day) === 0 ? localDay(new Date(year, month + 1, 0)) : inMonth(year, month, Number(day));
}

function nextNumbered(now: Date, word: string, day: string): string | null {
  const date = inMonth(now.getFullYear(), now.getMonth() + Number(Number(day) < now.getDate()), Number(day));
  return date && `${word} ${date}`;
}

function inMonth(year: number, month: number, day: number): string | null {
  const date = new Date(year, month, day);
  return day > 0 && date.getDate() === day ? localDay(date) : null;
}
