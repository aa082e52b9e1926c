/** Replaces the relative dates of a statement, in several languages, with calendar days. */

import { findRelativeDates } from "../text/relative-dates.ts";
import { daysUntil, mondayOf, shift, writeCalendarDays, writePastWeekdays } from "./said-days.ts";

/** Must be given one line. The words go, the date stays: "moves to next Monday" -> "moves to 2026-11-23". */
export async function writeDates(line: string, now: Date): Promise<string> {
  return writeRelativeDays(writeDays(line, now), now, MAX_RANGES);
}

/** Whether a statement names a day or a month; "today" alone does not make something worth keeping. */
export async function hasDate(line: string, now: Date): Promise<boolean> {
  if (/\b\d{4}-\d\d(?:-\d\d)?\b|\bQ[1-4]\b/.test(line) || MONTH_NAMED.test(line)) return true;
  if (writeCalendarDays(writePastWeekdays(line, now), now) !== line) return true;
  return (await findRelativeDates(writeDays(line, now), now)).some(
    ({ words }) =>
      !/^(?:today|tonight|this (?:morning|afternoon|evening)|eod)\b/i.test(words) ||
      /\b(?:from|as of|since|until) today\b/i.test(line),
  );
}

/** Whether a text still contains a relative day, even if the finder is not sure. */
export async function hasRelativeDate(text: string, now: Date): Promise<boolean> {
  return (
    LEFT.test(text) || LEFT_OF_WEEK.test(text) || hasForeignDay(text) || (await findRelativeDates(text, now)).length > 0
  );
}

const LEFT =
  /(?<![\w/.-])(?:tomorrow|yesterday|tonight|last night|(?:next|last|this|current) sprint|over the weekend(?! of \d)|(?:two|three|four) (?:mon|tues|wednes|thurs|fri|satur|sun)days (?:from now|ago)|(?:next|last|this) (?:week|weekend|month|quarter|(?:mon|tues|wednes|thurs|fri|satur|sun)day)|(?:until|till|by) (?:mon|tues|wednes|thurs|fri|satur|sun)day(?!s))(?![\w/-]|\.\w)/i;

/** "…in the week of 2026-08-10, from Monday to Thursday": days of that week only. */
const LEFT_OF_WEEK =
  /\bweek of \d{4}-.*\b(?:from|on|to|until|till|through) (?:mon|tues|wednes|thurs|fri|satur|sun)day\b/i;

const MONTH_NAMED =
  /\b(?:in|by|until|before|from|after|since|the|mid|early|late)[ -](?:January|February|March|April|May|June|July|August|September|October|November|December)\b/;

function writeDays(line: string, now: Date): string {
  const plain = line
    .replace(/\b(days?|weeks?|months?|years?) from today\b/gi, "$1 from now")
    .replace(/\bfirst of (this|next|last) month\b/gi, "1st of $1 month")
    .replace(/\b(in (?:\w+ ){1,3}(?:days|weeks|months))['’] time\b/gi, "$1");
  return writeCalendarDays(writePastWeekdays(writeForeignDays(plain, now), now), now)
    .replace(MONTH_ALONE, (found, month: string) => `${found} ${yearOf(month, now)}`)
    .replace(/\bat (?=\d{4}-\d\d-\d\d\b)/g, "on ")
    .replace(/\bon on\b/gi, "on")
    .replace(/\b(by|until|till|from|before|after|to|since) on (?=\d{4}-)/gi, "$1 ");
}

/** A month by its name alone: a year later it is not clear which one. Repeated ones ("in April") stay. */
const MONTH_ALONE =
  /\b(?:until|till|by|before) (?:mid |early |late |the end of )?(January|February|March|April|May|June|July|August|September|October|November|December)\b(?!,? \d)/g;

function yearOf(month: string, now: Date): number {
  return now.getFullYear() + Number(new Date(`${month} 1, 2000`).getMonth() < now.getMonth());
}

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
  if (unit === "week") return `the week of ${mondayOf(now, which === "next" ? 1 : which === "last" ? -1 : 0)}`;
  return date;
}

const MONTH_ONLY =
  /^(?:this|next|last)\s+(?:january|february|march|april|may|june|july|august|september|october|november|december)$/i;

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

/** "in drei Wochen", "dans 2 jours", "vor zwei Tagen". */
const NUMBERS: Readonly<Record<string, number>> = {
  ...{ ein: 1, einem: 1, einer: 1, zwei: 2, drei: 3, vier: 4, fünf: 5, sechs: 6, sieben: 7, acht: 8, zehn: 10 },
  ...{ un: 1, une: 1, deux: 2, trois: 3, quatre: 4, cinq: 5, six: 6, dix: 10 },
  ...{ una: 1, dos: 2, tres: 3, cuatro: 4, cinco: 5, seis: 6, diez: 10 },
};
const SPAN = new RegExp(
  `(?<![\\p{L}\\p{N}])(in|vor|dans|il y a|dentro de|en|hace) (\\d{1,3}|${Object.keys(NUMBERS).join("|")}) (tag|woche|jour|semaine|día|semana)(?:en|n|s)?(?![\\p{L}\\p{N}])`,
  "giu",
);

function writeSpans(line: string, now: Date): string {
  return line.replace(SPAN, (_, way: string, count: string, unit: string) => {
    const days = (Number(count) || NUMBERS[count.toLowerCase()]!) * (/^(?:woche|sem)/i.test(unit) ? 7 : 1);
    const past = /^(?:vor|il y a|hace)$/i.test(way);
    const word = /^(?:in|vor)$/i.test(way) ? "am " : /^(?:dans|il y a)$/i.test(way) ? "le " : "el ";
    return word + shift(now, past ? -days : days);
  });
}

const GERMAN_MONTHS = "januar februar märz april mai juni juli august september oktober november dezember".split(" ");

/** "am 3. März": the next one. */
function writeMonthDays(line: string, now: Date): string {
  const pattern = new RegExp(`(?<!\\d)(\\d{1,2})\\. ?(${GERMAN_MONTHS.join("|")})(?!\\p{L}| \\d{4})`, "giu");
  return line.replace(pattern, (found, day: string, month: string) => {
    const date = new Date(now.getFullYear(), GERMAN_MONTHS.indexOf(month.toLowerCase()), Number(day));
    if (date.getDate() !== Number(day)) return found;
    const isPast = shift(date, 0) < shift(now, 0);
    return shift(new Date(date.getFullYear() + Number(isPast), date.getMonth(), date.getDate()), 0);
  });
}

const WEEKDAYS = {
  de: ["sonntag", "montag", "dienstag", "mittwoch", "donnerstag", "freitag", "samstag"],
  fr: ["dimanche", "lundi", "mardi", "mercredi", "jeudi", "vendredi", "samedi"],
  es: ["domingo", "lunes", "martes", "miércoles", "jueves", "viernes", "sábado"],
};
const ENGLISH = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];

/** Only with a word before or after it that makes it a single day: "montags" and "jeden Montag" repeat. */
const ONE_DAY: readonly [RegExp, readonly string[]][] = [
  [oneOf("(am|bis|ab|(?:am |bis |ab )?(?:nächsten?|kommenden?|diesen?)) ", WEEKDAYS.de, ""), WEEKDAYS.de],
  [oneOf("(d'ici|jusqu'à|dès|avant|ce) ", WEEKDAYS.fr, "(?: prochain)?"), WEEKDAYS.fr],
  [oneOf("(hasta el|antes del?|este|el próximo) ", WEEKDAYS.es, ""), WEEKDAYS.es],
];

function oneOf(before: string, days: readonly string[], after: string): RegExp {
  return new RegExp(`(?<![\\p{L}\\p{N}])${before}(${days.join("|")})${after}(?![\\p{L}\\p{N}])`, "giu");
}

function writeWeekdays(line: string, now: Date): string {
  return ONE_DAY.reduce(
    (text, [pattern, days]) =>
      text.replace(pattern, (_, before: string, day: string) => {
        const distance = daysUntil(now, ENGLISH[days.indexOf(day.toLowerCase())]!) || 7;
        const kept = /^(?:am|bis|ab|d'ici|jusqu'à|dès|avant|hasta el|antes del?)/i.exec(before)?.[0] ?? "am";
        return `${kept} ${shift(now, distance)}`;
      }),
    line,
  );
}

/** Relative days in these languages: a text with one cannot be saved. */
function hasForeignDay(text: string): boolean {
  return FOREIGN_LEFT.test(text);
}

const FOREIGN_LEFT =
  /(?<![\p{L}\p{N}])(?:(?:nächste|kommende|diese|letzte|vorige)[nrsm]? (?:woche|monat|quartal|\p{L}+tag|mittwoch)|(?:in|vor) \p{L}+ (?:tagen|wochen|monaten)|in den nächsten \p{L}+|ende (?:der|dieser|nächster) woche|ende (?:des|dieses|nächsten) (?:monats|jahres|quartals)|(?:monats|jahres)ende|fin (?:du mois|de (?:la )?semaine)|(?:fin|finales) de(?:l)? (?:mes|semana)|(?:la semaine|le mois) (?:prochaine?|derni(?:er|ère))|dans \p{L}+ (?:jours|semaines|mois)|la (?:próxima semana|semana (?:que viene|pasada))|el (?:próximo mes|mes (?:que viene|pasado))|(?:dentro de|hace) \p{L}+ (?:días|semanas|meses))(?![\p{L}\p{N}])|来週|先週|来月|先月|今週|下周|上周|下个月|上个月|本周/iu;

function writeForeignDays(said: string, now: Date): string {
  const line = writeMonthDays(writeWeekdays(writeSpans(said, now), now), now);
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
