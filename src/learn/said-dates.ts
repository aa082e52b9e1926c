/** Writes the calendar day after each day that is named relatively or without a year: "Thursday (2026-11-19)"; in seven languages. */

import { localDay } from "../text/local-day.ts";
import { findRelativeDates } from "../text/relative-dates.ts";

interface Found {
  start: number;
  end: number;
  /** What is written in brackets. */
  date: string;
}

/**
 * Must be given one line. `isRule`: a weekday alone repeats ("no releases on Friday" in German or Chinese); else it is the
 * next one.
 */
export async function writeDates(line: string, now: Date, isRule = false): Promise<string> {
  if (line.length > MAX_LINE) return line;
  const first = collect(line);
  for (const [pattern, write, isBare] of [...ENGLISH, ...FOREIGN]) {
    if (isBare && isRule) continue;
    for (const match of line.matchAll(pattern)) {
      const date = write(now, match);
      if (date !== null) first.add({ start: match.index, end: match.index + match[0].trimEnd().length, date });
    }
  }
  await addRelative(line, now, first.add);
  // What hung on another word before ("a week after Thursday") is found in the second round.
  const second = collect(first.write());
  await addRelative(first.write(), now, second.add);
  return second.write();
}

/** Days of one line that do not overlap and are not dated yet. */
function collect(line: string): { add: (one: Found) => void; write: () => string } {
  const found: Found[] = [];
  return {
    add(one) {
      const isFree = found.every(({ start, end }) => one.end <= start || one.start >= end);
      const isDated =
        /^\s*[(（,]?\s*\d{4}/.test(line.slice(one.end)) || /\d{4}-\d\d-\d\d\W{0,3}$/.test(line.slice(0, one.start));
      if (isFree && !isDated && !isCode(line, one.start)) found.push(one);
    },
    write: () => found.toSorted((a, b) => b.start - a.start).reduce(insert, line),
  };
}

function insert(text: string, { start, end, date }: Found): string {
  // "the Friday after next (…)" would still be read as the next one.
  const isSplit = /\w+day\b(?=.+$)/i.test(text.slice(start, end)) && !/\w+day$/i.test(text.slice(start, end));
  return `${isSplit ? text.slice(0, start) + date : `${text.slice(0, end)} (${date})`}${text.slice(end)}`;
}

/** What people say is shorter. */
const MAX_LINE = 2_000;

/** Whether a text still contains a relative day that was not dated. */
export async function hasRelativeDate(text: string, now: Date): Promise<boolean> {
  return LEFT.test(text) || (await findRelativeDates(text, now)).length > 0;
}

const LEFT =
  /(?<![\p{L}\p{N}/.-])(?:tomorrow|yesterday|tonight|last night|(?:next|last|this) (?:sprint|week|weekend|month|quarter)|\w+ from today|morgen(?= (?:früh|abend))|übermorgen|gestern|(?:nächste|kommende|letzte|vorige)[nrsm]? (?:woche|monat|quartal)|demain|(?:la semaine|le mois) (?:prochaine?|dernière?)|la (?:próxima semana|semana (?:que viene|pasada)))(?![\p{L}\p{N}/-]|\.\w| ?\()|(?:明天|后天|昨天|下周|上周|来週|先週|明日|昨日|내일|어제|다음 주|지난주)(?!.{0,6}\()/iu;

function isCode(line: string, at: number): boolean {
  return (line.slice(0, at).match(/`/g)?.length ?? 0) % 2 === 1;
}

/** English, by the finder that the lint uses. */
async function addRelative(line: string, now: Date, add: (one: Found) => void, ranges = MAX_RANGES): Promise<void> {
  let from = 0;
  // Next to a full date the weekday would be taken as part of it.
  const seen = line.replace(/(?<=\b(?:to|until|till|through|and) )\d{4}-\d\d-\d\d/g, "\uFFFC".repeat(10));
  for (const { words, date } of await findRelativeDates(seen, now)) {
    const range = ranges > 0 ? /\s(?:until|till|til|to|through|thru|and|-|–|—)\s/i.exec(words) : null;
    const said = (range ? words.slice(0, range.index) : words).replace(TIME, "");
    const at = line.indexOf(said, from);
    if (at === -1) continue;
    from = at + said.length;
    add({ start: at, end: from, date: periodOf(said, pastOf(line, at, said, now) ?? date, now) });
    if (!range) continue;
    const rest = at + range.index + range[0].length;
    const addRest = ({ start, end, date }: Found) => add({ start: start + rest, end: end + rest, date });
    return addRelative(line.slice(rest), now, addRest, ranges - 1);
  }
}

/** Each range ("tomorrow until Friday", which is found as one date) costs another look at the rest of the line. */
const MAX_RANGES = 5;

const TIME =
  /\s+(?:at\s.*|@.*|\d{1,2}(?::\d\d|\s*(?:am|pm)\b).*|(?<!this )(?:morning|afternoon|evening|noon|night).*)$/i;

/** "On Tuesday we lost two hours of scans" was the last Tuesday, while a weekday elsewhere is one to come. */
function pastOf(line: string, at: number, said: string, now: Date): string | null {
  const day = new RegExp(`^(?:on )?(${DAYS.en.join("|")})$`, "i").exec(said)?.[1];
  if (!day || /\b(?:to|until|till|by|from|for|before|after)\s+$/i.test(line.slice(0, at))) return null;
  if (/\bsince\s+$/i.test(line.slice(0, at))) return shift(now, -daysSince(now, DAYS.en.indexOf(day.toLowerCase())));
  const clauses = line.split(/(?<=[,;:] )|(?= (?:because|so|but|and|which) )/);
  const ends = clauses.map((_, i) => clauses.slice(0, i + 1).join("").length);
  const clause = clauses[ends.findIndex((end) => end > at)] ?? line;
  const isPast = SAID_THEN.test(clause) || (HAPPENED.test(clause) && !PLANNED.test(clause));
  return isPast ? shift(now, -daysSince(now, DAYS.en.indexOf(day.toLowerCase()))) : null;
}

const SAID_THEN =
  /\b(?:decided|agreed|voted|told (?:me|us|them)|announced|confirmed|heard|learned|signed|approved) on \w+day\b/i;
const HAPPENED =
  /\b(?:was|were|lost|had|went|broke|got|did|came|ran|sent|saw|found|told|met|left|took|fell|cut|someone|(?<!\b(?:the|an?|is|are|be|been|being|gets?) )(?!need)[a-z]{3,}ed)\b/i;
const PLANNED =
  /\b(?:will|shall|going to|is|are|must|has to|have to|should|can|may|gets?|scheduled|planned|due|supposed|moved|postponed|(?:decided|agreed|told) (?:\S+ )?(?:to|that))\b|['’](?:ll|s|re)\b/i;

/** "next month" is no single day: an exact one would be invented. */
function periodOf(said: string, date: string, now: Date): string {
  const [, which = "", unit = ""] = /^(this|next|last)\s+(week|month|quarter|year)$/i.exec(said.toLowerCase()) ?? [];
  const step = { next: 1, last: -1 }[which] ?? 0;
  if (unit === "week") return weekOf(now, step);
  if (
    unit === "month" ||
    (/^(?:this|next|last)\s+(?!week)\p{L}{3,}$/iu.test(said) && date.endsWith("-01") && !/day$/i.test(said))
  )
    return date.slice(0, 7);
  if (unit === "quarter") return quarterOf(now, step);
  return unit === "year" ? yearOf(now, step) : date;
}

const weekOf = (now: Date, step: number) => `${weekday(now, 1, step)} to ${weekday(now, 7, step)}`;
const monthOf = (now: Date, step: number) =>
  localDay(new Date(now.getFullYear(), now.getMonth() + step, 1)).slice(0, 7);
const yearOf = (now: Date, step: number) => `${now.getFullYear() + step}-01 to ${now.getFullYear() + step}-12`;
function quarterOf(now: Date, step: number): string {
  const first = now.getMonth() - (now.getMonth() % 3) + 3 * step - now.getMonth();
  return `${monthOf(now, first)} to ${monthOf(now, first + 2)}`;
}

/** Its third: a weekday alone, which repeats where a rule is told. */
type Rule = [pattern: RegExp, write: (now: Date, match: RegExpMatchArray) => string | null, isBare?: boolean];

const DAYS = {
  en: "sunday|monday|tuesday|wednesday|thursday|friday|saturday".split("|"),
  de: "sonntag|montag|dienstag|mittwoch|donnerstag|freitag|samstag".split("|"),
  fr: "dimanche|lundi|mardi|mercredi|jeudi|vendredi|samedi".split("|"),
  es: "domingo|lunes|martes|miércoles|jueves|viernes|sábado".split("|"),
};
const MONTHS = {
  en: "january|february|march|april|may|june|july|august|september|october|november|december".split("|"),
  de: "januar|februar|märz|april|mai|juni|juli|august|september|oktober|november|dezember".split("|"),
  fr: "janvier|février|mars|avril|mai|juin|juillet|août|septembre|octobre|novembre|décembre".split("|"),
  es: "enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre".split("|"),
};
const NUMBERS: Readonly<Record<string, number>> = {
  ...{ a: 1, an: 1, one: 1, two: 2, three: 3, four: 4, five: 5, six: 6, seven: 7, eight: 8, nine: 9, ten: 10 },
  ...{
    ein: 1,
    eine: 1,
    einem: 1,
    einer: 1,
    zwei: 2,
    drei: 3,
    vier: 4,
    fünf: 5,
    sechs: 6,
    sieben: 7,
    acht: 8,
    zehn: 10,
  },
  ...{
    un: 1,
    une: 1,
    deux: 2,
    trois: 3,
    quatre: 4,
    cinq: 5,
    dix: 10,
    una: 1,
    dos: 2,
    tres: 3,
    cuatro: 4,
    cinco: 5,
    seis: 6,
    diez: 10,
  },
  ...{
    一: 1,
    二: 2,
    两: 2,
    三: 3,
    四: 4,
    五: 5,
    六: 6,
    七: 7,
    八: 8,
    十: 10,
    이틀: 2,
    하루: 1,
    일: 1,
    이: 2,
    두: 2,
    한: 1,
    세: 3,
  },
};
const COUNT = `\\d{1,3}|${Object.keys(NUMBERS).join("|")}`;
const countOf = (text: string): number => Number(text) || (NUMBERS[text.toLowerCase()] ?? 1);
const [EDGE, END] = ["(?<![\\p{L}\\p{N}])", "(?![\\p{L}\\p{N}])"];
const words = (source: string) => new RegExp(`${EDGE}(?:${source})${END}`, "giu");
const EN_DAY = `(${DAYS.en.join("|")})`;
const EN_MONTH = `(${MONTHS.en.map((month) => (month === "may" ? month : `${month.slice(0, 3)}(?:${month.slice(3)})?`)).join("|")})`;
const NO_YEAR = "(?!\\w|[,.]?\\s+\\d{4}|[-/.]\\d)";
const en = (source: string, write: Rule[1]): Rule => [new RegExp(`\\b${source}`, "gi"), write];
const enDay = (name: string) => DAYS.en.indexOf(name.toLowerCase());
const enMonth = (name: string) => MONTHS.en.findIndex((full) => full.startsWith(name.toLowerCase().slice(0, 3)));

const ENGLISH: readonly Rule[] = [
  // "two days before the meeting on Friday": the date of the deadline, that of the meeting follows.
  en(
    `(${COUNT}) (day|week)s?(?= (after|before|from) (?:(?:the )?(?:[\\w-]+ ){1,3}(?:on|this) )?(?:(tomorrow)|(?:this |on )?${EN_DAY})\\b)`,
    (now, [, count, unit, way, soon, day]) => {
      const days = countOf(count!) * (unit!.toLowerCase() === "week" ? 7 : 1);
      return shift(now, (soon ? 1 : daysUntil(now, enDay(day!)) || 7) + (way === "before" ? -days : days));
    },
  ),
  en(
    `(?:the )?(first|second|third|fourth|last) ${EN_DAY} (?:of|in) (?:(this|the|next|last) month|${EN_MONTH}${NO_YEAR})`,
    (now, [, nth, day, when, month]) =>
      nthWeekday(
        month
          ? new Date(nextYear(now, enMonth(month)), enMonth(month), 1)
          : new Date(now.getFullYear(), now.getMonth() + ({ next: 1, last: -1 }[when!.toLowerCase()] ?? 0), 1),
        ["last", "first", "second", "third", "fourth"].indexOf(nth!.toLowerCase()),
        enDay(day!),
      ),
  ),
  en(`(${COUNT}) (day|week|month)s? from (?:today|now)\\b`, (now, [, count, unit]) =>
    unit!.toLowerCase() === "month"
      ? localDay(new Date(now.getFullYear(), now.getMonth() + countOf(count!), now.getDate()))
      : shift(now, countOf(count!) * (unit!.toLowerCase() === "week" ? 7 : 1)),
  ),
  en("(?:the )?end of next month\\b", (now) => localDay(new Date(now.getFullYear(), now.getMonth() + 2, 0))),
  en("day after tomorrow\\b", (now) => shift(now, 2)),
  en("day before yesterday\\b", (now) => shift(now, -2)),
  en(`(?:the )?${EN_DAY} after next\\b|a week on ${EN_DAY}\\b|${EN_DAY} week(?! of)\\b`, (now, [, a, b, c]) =>
    shift(now, (daysUntil(now, enDay((a ?? b ?? c)!)) || 7) + 7),
  ),
  en(`${EN_DAY} in (two|three|four|[2-4]) weeks\\b`, (now, [, day, count]) =>
    weekday(now, enDay(day!) || 7, countOf(count!)),
  ),
  en("(?:the )?end of next week\\b", (now) => weekday(now, 7, 1)),
  en("(?:the )?week after next\\b", (now) => weekOf(now, 2)),
  en("over the weekend\\b", (now) => shift(now, -daysSince(now, 6))),
  en("(?:in a fortnight|a fortnight from now)\\b", (now) => shift(now, 14)),
  en(
    `(\\d{1,2})(?:st|nd|rd|th)?\\s*(?:-|–|to|until|through)\\s*(\\d{1,2})(?:st|nd|rd|th)?\\s+(?:of\\s+)?${EN_MONTH}${NO_YEAR}`,
    (now, [, first, last, month]) =>
      range(dayIn(now, enMonth(month!), Number(first)), dayIn(now, enMonth(month!), Number(last))),
  ),
  en(`(\\d{1,2})(?:st|nd|rd|th)?\\s+(?:of\\s+)?${EN_MONTH}${NO_YEAR}`, (now, [, day, month]) =>
    dayIn(now, enMonth(month!), Number(day)),
  ),
  en(`${EN_MONTH}\\s+(?:the\\s+)?(\\d{1,2})(?:st|nd|rd|th)?${NO_YEAR}(?!\\s*(?:%|[a-z]+s\\b))`, (now, [, month, day]) =>
    dayIn(now, enMonth(month!), Number(day)),
  ),
  en(`end\\s+of\\s+${EN_MONTH}${NO_YEAR}`, (now, [, month]) => dayIn(now, enMonth(month!) + 1, 0)),
  en("(\\d{1,2})(?:st|nd|rd|th)?\\s+of\\s+(this|the|next|last)\\s+month\\b", (now, [, day, which]) =>
    dayOfMonth(now.getFullYear(), now.getMonth() + ({ next: 1, last: -1 }[which!.toLowerCase()] ?? 0), Number(day)),
  ),
  en(
    `(?:(?:on|by|until|till|from|before|after|to|was|is|for)\\s+(?:the\\s+)?|${EN_DAY},?\\s+(?:the\\s+)?)(\\d{1,2})(?:st|nd|rd|th)(?=[,.;:!)]|$|\\s+(?:and|or|at|until|to|we|the|because|it|in the)\\b)`,
    (now, [, , day]) => numbered(now, Number(day)),
  ),
  en(
    `(?:until|till|by|before) (?:mid |early |late |the end of )?(${MONTHS.en.join("|")})\\b(?!,? \\d)`,
    (now, [, month]) => `${nextYear(now, enMonth(month!))}-${String(enMonth(month!) + 1).padStart(2, "0")}`,
  ),
];

/** German, French and Spanish: which weekday, month and week is meant. */
function latin(
  key: "de" | "fr" | "es",
  { before, next, last, every, day, week, month, ago, ahead }: Record<string, string>,
): Rule[] {
  const names = DAYS[key];
  const index = (name: string) => names.indexOf(name.toLowerCase());
  const isNext = words(next!);
  return [
    [
      words(`(${before}) (${COUNT}) (${day}|${week})(?:e?[sn])?`),
      (now, [, way, count, unit]) =>
        shift(
          now,
          (new RegExp(ago!, "iu").test(way!) ? -1 : 1) *
            countOf(count!) *
            (new RegExp(`^(?:${week})`, "iu").test(unit!) ? 7 : 1),
        ),
    ],
    [
      words(`(${last}) (${names.join("|")})|(${names.join("|")}) (${last})`),
      (now, m) => shift(now, -daysSince(now, index((m[2] ?? m[3])!))),
    ],
    [
      words(`(?<!(?:${every}) )(?:(?:${next}|${ahead}) )?(${names.join("|")})(?: (?:${next}))?`),
      (now, m) => {
        const isOther = m[0].match(isNext) !== null && /\bsiguiente|qui suit|darauf/i.test(m[0]);
        return shift(now, (daysUntil(now, index(m[1]!)) || 7) + (isOther ? 7 : 0));
      },
      true,
    ],
    [words(`(?:${next}) (?:${week})|(?:${week}) (?:${next})`), (now) => weekOf(now, 1)],
    [words(`(?:${last}) (?:${week})|(?:${week}) (?:${last})`), (now) => weekOf(now, -1)],
    [words(`(?:${next}) (?:${month})|(?:${month}) (?:${next})`), (now) => monthOf(now, 1)],
    [
      words(`(\\d{1,2})\\.?(?:er)? (?:de )?(${MONTHS[key].join("|")})(?! (?:de )?\\d{4})`),
      (now, [, number, name]) => dayIn(now, MONTHS[key].indexOf(name!.toLowerCase()), Number(number)),
    ],
  ];
}

const cjkDay = (text: string): number => "日一二三四五六".indexOf(text.replace("天", "日"));
const jaDay = (text: string): number => "日月火水木金土".indexOf(text);
const koDay = (text: string): number => "일월화수목금토".indexOf(text);

/** The commonest words of the languages in which a request is understood. */
const FOREIGN: readonly Rule[] = [
  ...latin("de", {
    before: "in|vor",
    ago: "vor",
    day: "tag",
    week: "woche",
    month: "monat",
    next: "nächste[nrs]?|kommende[nrs]?",
    last: "letzte[nrs]?|vorige[nrs]?|vergangene[nrs]?",
    every: "jeden|jedem",
    ahead: "diesen|am|bis|ab|vom|zum|auf",
  }),
  ...latin("fr", {
    before: "dans|il y a",
    ago: "il y a",
    day: "jour",
    week: "semaine",
    month: "mois",
    next: "prochaine?",
    last: "dernière?",
    every: "chaque|tous les",
    ahead: "ce|d'ici|avant|dès|à partir de",
  }),
  ...latin("es", {
    before: "dentro de|en|hace",
    ago: "hace",
    day: "día",
    week: "semana",
    month: "mes",
    next: "(?:el |la )?próxim[oa]|que viene|siguiente",
    last: "pasad[oa]",
    every: "cada|todos los|los",
    ahead: "este|hasta el|el|desde el|al|del|para el",
  }),
  [
    words("(?:bis zum|zum|am|ab dem|vom|der|den) (\\d{1,2})\\.(?! ?(?:\\p{L}+ \\d{4}|\\d))"),
    (now, [, day]) => numbered(now, Number(day)),
  ],
  [
    words("(?:el|para el|hasta el|le|d'ici le|jusqu'au) (\\d{1,2})(?! ?(?:de|[.:/%\\d]|\\p{L}))"),
    (now, [, day]) => numbered(now, Number(day)),
  ],
  [words("heute|aujourd'hui|hoy"), (now) => localDay(now)],
  [words("übermorgen|après-demain|pasado mañana"), (now) => shift(now, 2)],
  // Lower case only in German, and never "la mañana": both also mean the morning.
  [new RegExp(`${EDGE}(?:morgen|demain|(?<!la )mañana)${END}`, "gu"), (now) => shift(now, 1)],
  [words("gestern|ayer|hier(?= (?:on|le|la|les|nous|il|elle|soir)\\b)"), (now) => shift(now, -1)],
  [words("vorgestern|anteayer|avant-hier"), (now) => shift(now, -2)],
  [
    /(?<!每)(下|本|这|上)?个?(?:周|星期|礼拜)([一二三四五六日天])(?![月年])/g,
    (now, [, which, day]) =>
      which === undefined
        ? shift(now, daysUntil(now, cjkDay(day!)) || 7)
        : weekday(now, cjkDay(day!) || 7, { 下: 1, 上: -1 }[which] ?? 0),
    true,
  ],
  [
    /(来週|今週|先週)の?([日月火水木金土])曜日?/g,
    (now, [, which, day]) => weekday(now, jaDay(day!) || 7, { 来週: 1, 先週: -1 }[which!] ?? 0),
  ],
  [/(?<!毎週)(次の)?([日月火水木金土])曜日?/g, (now, [, , day]) => shift(now, daysUntil(now, jaDay(day!)) || 7), true],
  [
    /(다음 ?주|이번 ?주|지난 ?주) ([일월화수목금토])요일/g,
    (now, [, which, day]) =>
      weekday(now, koDay(day!) || 7, which!.startsWith("다") ? 1 : which!.startsWith("지") ? -1 : 0),
  ],
  [/(?<!매주 )(다음 )?([일월화수목금토])요일/g, (now, [, , day]) => shift(now, daysUntil(now, koDay(day!)) || 7), true],
  [/下个?(?:周|星期)(?![一二三四五六日天])|来週|다음 ?주/g, (now) => weekOf(now, 1)],
  [/上个?(?:周|星期)(?![一二三四五六日天])|先週|지난 ?주/g, (now) => weekOf(now, -1)],
  [/下个?月|来月|다음 ?달/g, (now) => monthOf(now, 1)],
  [
    /(\d{1,2})\s?(?:月|월)\s?(\d{1,2})\s?(?:[日号]|일)/g,
    (now, [, month, day]) => dayIn(now, Number(month) - 1, Number(day)),
  ],
  [
    /(?<![月\d])(\d{1,2})[号日](?![間间])|(?<![월\d] ?)(\d{1,2})일(?=까지|에|부터|이었|$)/g,
    (now, [, a, b]) => numbered(now, Number(a ?? b)),
  ],
  [/后天|明後日|모레/g, (now) => shift(now, 2)],
  [/明天|明日|내일/g, (now) => shift(now, 1)],
  [/昨天|(?<!一)昨日|어제/g, (now) => shift(now, -1)],
  [/前天|一昨日|그제/g, (now) => shift(now, -2)],
  [/今天|今日|오늘/g, (now) => localDay(now)],
  [
    /(\d{1,2}|[一二两三四五六七八十])(天|周|个星期)(?:之?后|以后)/g,
    (now, [, count, unit]) => shift(now, countOf(count!) * (unit === "天" ? 1 : 7)),
  ],
];

const shift = (now: Date, days: number): string =>
  localDay(new Date(now.getFullYear(), now.getMonth(), now.getDate() + days));
const daysUntil = (now: Date, day: number): number => (day - now.getDay() + 7) % 7;
const daysSince = (now: Date, day: number): number => (now.getDay() - day + 7) % 7 || 7;
/** That of the week this many weeks ahead: a week begins on Monday (1) and ends on Sunday (7). */
const weekday = (now: Date, day: number, weeks: number): string => shift(now, day - (now.getDay() || 7) + 7 * weeks);
/** Of the next such month, or this one. */
const nextYear = (now: Date, month: number): number => now.getFullYear() + Number(month < now.getMonth());
const dayIn = (now: Date, month: number, day: number): string | null =>
  day === 0 ? localDay(new Date(nextYear(now, month - 1), month, 0)) : dayOfMonth(nextYear(now, month), month, day);
const numbered = (now: Date, day: number): string | null =>
  dayOfMonth(now.getFullYear(), now.getMonth() + Number(day < now.getDate()), day);
const range = (first: string | null, last: string | null): string | null => first && last && `${first} to ${last}`;

function dayOfMonth(year: number, month: number, day: number): string | null {
  const date = new Date(year, month, day);
  return day > 0 && date.getDate() === day ? localDay(date) : null;
}

/** The number 0 stands for the last one. */
function nthWeekday(first: Date, number: number, day: number): string {
  const start = 1 + ((day - first.getDay() + 7) % 7) + 7 * (Math.max(number, 1) - 1);
  if (number > 0) return shift(first, start - 1);
  const days = new Date(first.getFullYear(), first.getMonth() + 1, 0).getDate();
  return shift(first, start + 7 * Math.floor((days - start) / 7) - 1);
}
