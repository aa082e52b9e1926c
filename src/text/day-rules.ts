/** The patterns by which a day is named, in the languages in which memdir understands what people say, each with the day it means. */

import { lazily } from "../errors.ts";
import {
  dayIn,
  dayOfMonth,
  daysSince,
  daysUntil,
  easter,
  endOf,
  lastIn,
  monthIn,
  nthWeekday,
  numbered,
  periodOf,
  shift,
  shiftBy,
  type Unit,
  weekday,
  yearOf,
} from "./calendar.ts";

/** The named parts of a pattern. A name may occur only once in it: for the other order of words `day` is called `_day`. */
type Parts = Record<string, string>;
/** Null if there is no such day. */
type Write = (now: Date, parts: Parts, match: RegExpMatchArray) => string | null;
/** `relative` counts from the day on which it was said, `year` only lacks its year, `bare` is a weekday, which may repeat. */
type Kind = "relative" | "year" | "bare";

export type DayRule = ReturnType<ReturnType<typeof makeRule>>;

const makeRule =
  (language: string) =>
  (source: string | RegExp, write: Write, kind: Kind = "relative") => {
    const pattern = typeof source === "string" ? edged(source.replaceAll(" ", "\\s+")) : source;
    return { language, kind, pattern, write };
  };
export const edged = (source: string, flags = "giu") =>
  new RegExp(`(?<![\\p{L}\\p{N}])(?:${source})(?![\\p{L}\\p{N}])`, flags);

/** What the numbers from one on are called. */
const NUMBERS = [
  "a an one ein eine einem einer einen un une una uno 一 한 하루",
  "two couple zwei deux dos 二 两 兩 두 이틀",
  "three few drei trois tres 三 세",
  "four vier quatre cuatro 四 네",
  "five fünf cinq cinco 五",
  "six sechs seis 六",
  "seven several sieben sept siete 七",
  "eight acht huit ocho 八",
  "nine neun neuf nueve 九",
  "ten zehn dix diez 十",
  "eleven elf onze once",
  "twelve zwölf douze doce",
  "thirteen dreizehn treize trece",
  "fourteen vierzehn quatorze catorce",
  "fifteen fünfzehn quinze quince",
];
export const COUNT = `(?<count>\\d{1,4}|a few|a couple of|half an?|${NUMBERS.join(" ").replaceAll(" ", "|")})`;

/** "half a year" is 0.5; vague counts are as vague here. */
export function countOf(text = ""): number {
  if (/^(?:half|半)/i.test(text)) return 0.5;
  const word = text.toLowerCase().replace(/^a\s+(?=few|couple)|\s+of$/g, "");
  // 十二 is 12, 二十 is 20.
  const [, tens = "", ones = ""] = /^(.?)十(.?)$/.exec(word) ?? [];
  if (tens || ones) return 10 * (numberOf(tens) || 1) + numberOf(ones);
  return Number(text) || numberOf(word) || 1;
}

/** 0 for what is no number. */
function numberOf(word: string): number {
  return NUMBERS.findIndex((words) => words.split(" ").includes(word)) + 1;
}

const stepOf = (which = ""): number => ({ next: 1, last: -1, past: -1 })[which.toLowerCase()] ?? 0;
const dayAfter = (now: Date, days: number) => new Date(now.getFullYear(), now.getMonth(), now.getDate() + days);

const DAYS = "sunday|monday|tuesday|wednesday|thursday|friday|saturday";
const MONTHS = "january|february|march|april|may|june|july|august|september|october|november|december";

/** Longer forms come first. */
export const englishRules = lazily((): readonly DayRule[] => {
  const rule = makeRule("en");
  const day = `(?<day>${DAYS})`;
  const month = `(?<month>${MONTHS.replace(/\b([a-z]{3})([a-z]+)/g, "$1(?:$2)?")})`;
  const unit = "(?<unit>day|week|month|quarter|year)s?";
  const [nth, noYear, about] = ["(?:st|nd|rd|th)", "(?![,.]? \\d{4}|[-/.]\\d)", "(?:(?:about|around|roughly|just) )?"];
  const [dayOf, monthOf] = [(name?: string) => findNamed([DAYS], name), (name?: string) => findNamed([MONTHS], name)];
  const unitOf = (name: string | undefined) => name![0]!.toLowerCase() as Unit;
  return [
    // "two days before the meeting on Friday": the date of the deadline, that of the meeting follows.
    rule(
      `${COUNT} ${unit}(?= (?<way>after|before|from) (?:(?:the )?(?:[\\w-]+ ){1,3}(?:on|this) )?(?:(?<soon>tomorrow)|(?:this |on )?${day})\\b)`,
      (now, { count, unit, way, soon, day }) => {
        const from = dayAfter(now, soon ? 1 : daysUntil(now, dayOf(day)) || 7);
        return shiftBy(from, countOf(count) * (way === "before" ? -1 : 1), unitOf(unit));
      },
    ),
    rule(
      `(?:the )?(?<nth>first|second|third|fourth|last) ${day} (?:of|in) (?:(?<which>this|next|last) month|${month}${noYear})`,
      (now, { nth, day, which, month }) => {
        const at = month ? monthOf(month) : now.getMonth() + stepOf(which);
        const first = new Date(month ? yearOf(now, at) : now.getFullYear(), at, 1);
        return nthWeekday(
          first,
          ["last", "first", "second", "third", "fourth"].indexOf(nth!.toLowerCase()),
          dayOf(day),
        );
      },
    ),
    rule("(?:the )?day after tomorrow|overmorrow", (now) => shift(now, 2)),
    rule("(?:the )?day before yesterday", (now) => shift(now, -2)),
    rule(`(?:the )?${day} after next|a week on (?<_day>${DAYS})`, (now, { day }) =>
      shift(now, (daysUntil(now, dayOf(day)) || 7) + 7),
    ),
    rule(`${day} in (?<count>two|three|four|[2-4]) weeks`, (now, { day, count }) =>
      weekday(now, dayOf(day), countOf(count)),
    ),
    rule("(?:the )?week after next", (now) => periodOf(now, 2, "w")),
    rule("over the weekend", (now) => shift(now, -daysSince(now, 6))),
    rule("(?:in a fortnight|a fortnight from now)", (now) => shift(now, 14)),
    rule(`(?:end|last day) of (?:(?<which>the|this|next|last) )?${unit}`, (now, { which, unit }) =>
      endOf(now, stepOf(which), unitOf(unit)),
    ),
    rule("eo(?<unit>[dwmqy])", (now, { unit }) => endOf(now, 0, unitOf(unit))),
    rule(`in (?:exactly )?${about}${COUNT} ${unit}`, (now, { count, unit }) =>
      shiftBy(now, countOf(count), unitOf(unit)),
    ),
    rule(`${about}${COUNT} ${unit} (?<way>ago|from (?:now|today))`, (now, { count, unit, way }) =>
      shiftBy(now, countOf(count) * (/^ago/i.test(way!) ? -1 : 1), unitOf(unit)),
    ),
    rule(
      `(?<first>\\d{1,2})${nth}? ?(?:-|–|to|until|through) ?(?<last>\\d{1,2})${nth}? (?:of )?${month}${noYear}`,
      (now, { first, last, month }) => {
        const [from, to] = [first, last].map((date) => dayIn(now, monthOf(month), Number(date)));
        return from && to ? `${from} to ${to}` : null;
      },
      "year",
    ),
    rule(
      `(?<date>\\d{1,2})${nth}? (?:of )?${month}${noYear}|${month.replace("month", "_month")} (?:the )?(?<_date>\\d{1,2})${nth}?${noYear}(?! ?(?:%|[a-z]+s\\b))`,
      (now, { month, date }) => dayIn(now, monthOf(month), Number(date)),
      "year",
    ),
    rule(`end of ${month}${noYear}`, (now, { month }) => lastIn(now, monthOf(month)), "year"),
    rule(`(?<date>\\d{1,2})${nth}? of (?<which>this|the|next|last) month`, (now, { date, which }) =>
      dayOfMonth(now.getFullYear(), now.getMonth() + stepOf(which), Number(date)),
    ),
    rule(
      `(?:(?:on|by|until|till|from|before|after|to|was|is|for) (?:the )?|${day},? (?:the )?)(?<date>\\d{1,2})${nth}(?=[,.;:!)]|$|\\s+(?:and|or|at|until|to|we|the|because|it|in the)\\b)`,
      (now, { day, date }) => numbered(now, Number(date), day ? dayOf(day) : null),
      "year",
    ),
    rule(
      `(?:until|till|by|before) (?:mid |early |late |the end of )?(?<month>${MONTHS})(?!,? \\d)`,
      (now, { month }) => monthIn(now, monthOf(month)),
      "year",
    ),
    rule("today|tonight|this (?:morning|afternoon|evening)", (now) => shift(now, 0)),
    rule("tomorrow|tmrw", (now) => shift(now, 1)),
    rule("yesterday|last night", (now) => shift(now, -1)),
    // Short names only count after another word, and `sat` and `sun` never do, because they are words of their own.
    rule(
      `(?:on )?(?:(?<which>this|next|last|past) )?${day}(?: (?:of )?(?<week>this|next|last) week)?|(?:on|(?<_which>this|next|last)) (?<_day>tues?|wed|thurs?|fri)\\.?`,
      (now, { which, week, day }, match) => {
        if (week) return weekday(now, dayOf(day), stepOf(week));
        if (stepOf(which) < 0 || (!which && isPast(match))) return shift(now, -daysSince(now, dayOf(day)));
        return shift(now, daysUntil(now, dayOf(day)) + (stepOf(which) > 0 && isNextWeek(now, dayOf(day)) ? 7 : 0));
      },
      "bare",
    ),
    rule("(?<which>this|next|last) weekend", (now, { which }) => {
      return `${weekday(now, 6, stepOf(which))} to ${weekday(now, 7, stepOf(which))}`;
    }),
    rule("(?<which>this|next|last) (?<unit>week|month|quarter|year)", (now, { which, unit }) =>
      periodOf(now, stepOf(which), unitOf(unit)),
    ),
    rule(`(?<which>this|next|last) (?<month>${MONTHS})(?! \\d)`, (now, { which, month }) => {
      const [at, step] = [monthOf(month), stepOf(which)];
      const years = step > 0 ? Number(at <= now.getMonth()) : -Number(step < 0 && at >= now.getMonth());
      return shift(new Date(now.getFullYear() + years, at, 1), 0).slice(0, 7);
    }),
  ];
});

/** "Next Friday" said on Monday is not the one of this week; at the weekend the next week is near. */
function isNextWeek(now: Date, day: number): boolean {
  const today = now.getDay();
  return day === today || !(today === 0 || today === 6 || (day < today && day !== 0));
}

/** "On Tuesday we lost two hours of scans" was the last Tuesday. */
function isPast({ input = "", index = 0 }: RegExpMatchArray): boolean {
  const before = input.slice(Math.max(0, index - 200), index);
  if (/\bsince\s+$/i.test(before)) return true;
  if (/\b(?:to|until|till|by|from|for|before|after)\s+$/i.test(before)) return false;
  const rest = input.slice(index, index + 200);
  const clause = (before.split(CLAUSE).at(-1) ?? "") + rest.split(CLAUSE)[0]!;
  return SAID_THEN.test(clause) || (HAPPENED.test(clause) && !PLANNED.test(clause));
}

const CLAUSE = /[,;:.\n] | (?=(?:because|so|but|and|which) )/;
const SAID_THEN =
  /\b(?:decided|agreed|voted|told (?:me|us|them)|announced|confirmed|heard|learned|signed|approved) on \w+day\b/i;
const HAPPENED =
  /\b(?:was|were|lost|had|went|broke|got|did|came|ran|sent|saw|found|told|met|left|took|fell|(?<=\w )(?<!\b(?:please|then|and|to|always) )cut|someone|(?<!\b(?:the|an?|is|are|be|been|being|gets?) )(?!need)[a-z]{3,}ed)\b/i;
const PLANNED =
  /\b(?:will|shall|going to|is|are|must|has to|have to|should|can|may|gets?|scheduled|planned|due|supposed|moved|postponed|(?:decided|agreed|told) (?:\S+ )?(?:to|that))\b|['’](?:ll|s|re)\b/i;

/** What the other languages with words like ours call things; `letters` are those that day, week, month, quarter and year begin with. */
const WORDS = `
language / de / fr / es
days / sonntag|montag|dienstag|mittwoch|donnerstag|freitag|samstag / dimanche|lundi|mardi|mercredi|jeudi|vendredi|samedi / domingo|lunes|martes|miércoles|jueves|viernes|sábado
months / januar|februar|märz|april|mai|juni|juli|august|september|oktober|november|dezember / janvier|février|mars|avril|mai|juin|juillet|août|septembre|octobre|novembre|décembre / enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre
units / tag(?:e[ns]?|s)?|wochen?|monat(?:e[ns]?|s)?|quartals?|jahr(?:e[ns]?|s|es)? / jours?|semaines?|mois|trimestres?|an(?:s|née)?s? / días?|semanas?|mes(?:es)?|trimestres?|años?
letters / twmqj / jsmta / dsmta
week / woche / semaine / semana
ahead / in(?: genau| etwa| rund)? / dans / dentro de|en
ago / vor / il y a / hace
before / vor / avant / antes
after / nach / après / después
next / (?:über)?nächste[nrsm]?|kommende[nrsm]? / prochaine? / (?:el |la )?próxim[oa]|que viene|siguiente|entrante
last / letzte[nrsm]?|vorige[nrsm]?|vergangene[nrsm]? / dernière? / pasad[oa]
this / diese[nrsm]? / ce(?:tte)? / est[ea]
every / jeden|jedem|jede / chaque|tous les / cada|todos los|los
end / (?:bis )?ende(?: des| der)? / (?:à la )?fin (?:de |du |d')? / (?:a )?(?:fin|final(?:es)?) del?
around / anfang|mitte|seit|bis|im|ab / début|mi|courant / (?:a )?(?:principios|mediados|comienzos) de|en|desde|hasta
on / am|bis|ab|vom|zum|auf|bis zum / d'ici|avant|dès|à partir de|au / hasta el|el|desde el|al|del|para el
`;

function latinRules(words: Parts): DayRule[] {
  const { next, last, units, days, months } = words as { [name: string]: string };
  const rule = makeRule(words.language!);
  const [day, month, unit] = [`(?<day>${days})`, `(?<month>${months})`, `(?<unit>${units})`];
  const any = `${next}|${last}|${words.this}`;
  const [isNext, isLast] = [edged(next!, "iu"), edged(last!, "iu")];
  const step = (which = "") => (/^über/i.test(which) ? 2 : isNext.test(which) ? 1 : isLast.test(which) ? -1 : 0);
  const [dayOf, monthOf] = [(name?: string) => findNamed([days!], name), (name?: string) => findNamed([months!], name)];
  const unitOf = (name?: string) => "dwmqy"[words.letters!.indexOf(name![0]!.toLowerCase())] as Unit;
  const noYear = "(?! (?:del? )?\\d{4})";
  // "Dienstag, dem 10. November": the day of the month says which Tuesday.
  const noDate = `(?!,? (?:(?:de[mn]|el|le) )?\\d{1,2}(?:\\.|er)? (?:de )?(?:${months}))`;
  return [
    rule(
      `${COUNT} ${unit}(?= (?:(?<back>${words.before})|${words.after}) (?:[^\\s,.;]+ ){0,4}?${day})`,
      (now, { count, unit, back, day }) =>
        shiftBy(dayAfter(now, daysUntil(now, dayOf(day)) || 7), countOf(count) * (back ? -1 : 1), unitOf(unit)),
    ),
    // "Mittwoch in drei Wochen"; "el lunes en ocho" are eight days, today being one of them.
    rule(
      `(?:${words.this} )?${day} (?:${words.ahead}) (?:${COUNT} (?:${words.week})n?s?|(?<fixed>ocho|quince)(?! ${units}))`,
      (now, { day, count, fixed }) =>
        fixed
          ? shift(now, daysUntil(now, dayOf(day)) + (fixed === "ocho" ? 7 : 14))
          : weekday(now, dayOf(day), countOf(count)),
    ),
    // "se hace dos semanas antes" is not two weeks ago.
    rule(
      `(?:${words.ahead}|(?<back>(?<!se )(?:${words.ago}))) ${COUNT} ${unit}(?! (?:antes|después))`,
      (now, { back, count, unit }) => shiftBy(now, countOf(count) * (back ? -1 : 1), unitOf(unit)),
    ),
    rule(
      `(?<which>${any}) (?:${words.week}) (?:am )?${day}|(?<_day>${days}) (?:de (?:la )?|in der )?(?:(?<_which>${any}) (?:${words.week})|(?:${words.week}) (?<__which>${any}))`,
      (now, { day, which }) => weekday(now, dayOf(day), step(which)),
    ),
    rule(`(?:${words.end}) (?:(?<which>${any}) )?${unit}(?: (?<_which>${next}))?`, (now, { which, unit }) =>
      endOf(now, step(which), unitOf(unit)),
    ),
    rule(`(?<which>${any}) ${unit}|(?<_unit>${units}) (?<_which>${any})`, (now, { which, unit }) =>
      periodOf(now, step(which), unitOf(unit)),
    ),
    rule(`(?:${words.end}) ${month}${noYear}`, (now, { month }) => lastIn(now, monthOf(month)), "year"),
    rule(`(?:${words.around}) ${month}${noYear}`, (now, { month }) => monthIn(now, monthOf(month)), "year"),
    rule(
      `(?<date>\\d{1,2})\\.?(?:er)? (?:de )?${month}${noYear}`,
      (now, { date, month }) => dayIn(now, monthOf(month), Number(date)),
      "year",
    ),
    rule(
      `(?<!(?:${words.every}) )(?:(?:(?<which>${any})|${words.on}) )?${day}(?: (?<_which>${next}|${last}))?${noDate}`,
      (now, { which, day }) =>
        shift(
          now,
          step(which) < 0
            ? -daysSince(now, dayOf(day))
            : (daysUntil(now, dayOf(day)) || 7) + 7 * Math.max(0, step(which) - 1),
        ),
      "bare",
    ),
  ];
}

/** "am 3.12.", "el 20": a number after one of these words; "der 3. Versuch" and "el 2 no va" count something. */
const writeNumber: Write = (now, { date, month }, { 0: words, index = 0, input = "" }) => {
  if (/^ \p{Lu}/u.test(input.slice(index + words.length))) return null;
  return month ? dayIn(now, Number(month) - 1, Number(date)) : numbered(now, Number(date));
};
const NUMBERED =
  "(?:bis zum|zum|am|ab dem|ab|bis|vom|der|den) (?<date>\\d{1,2})\\.(?:(?<month>\\d{1,2})\\.)?(?! ?(?:\\p{L}+ \\d{4}|\\d))|(?:(?:para|hasta|desde) el|(?:el|al) día|d'ici le|jusqu'au|(?:el|al|le)(?= [\\d/]+(?:[,;.!?)]|$))) (?<_date>\\d{1,2})(?:/(?<_month>\\d{1,2}))?(?! ?(?:de |por |[:/%\\d]|\\.\\d))";

/** The days around today, in the order of their distance from the third. */
const NEAR = [
  "vorgestern|anteayer|avant-hier / 前天|一昨日|그제",
  "gestern|ayer|hier(?= (?:on|le|la|les|nous|il|elle|soir)\\b) / 昨天|昨日|昨晚|어제",
  "heute|aujourd'hui|hoy / 今天|今日|今晚|오늘",
  // Never "la mañana", which is the morning.
  "morgen|demain|(?<!(?:la|cada) )mañana / 明天|明日|明晚|내일",
  "übermorgen|après-demain|pasado mañana / 后天|明後日|모레",
  "überübermorgen / 大后天",
];

const cjkStep = (which = ""): number =>
  /^下下/.test(which) ? 2 : /^[下来다]/.test(which) ? 1 : /^[上先지]/.test(which) ? -1 : 0;
const cjkDay =
  (names: string): Write =>
  (now, { day = "", which }) => {
    const index = names.indexOf(day.replace("天", "日"));
    const isInWeek = which !== undefined && which !== "次" && which !== "다음 ";
    return isInWeek ? weekday(now, index, cjkStep(which)) : shift(now, daysUntil(now, index) || 7);
  };

function cjkRules(): DayRule[] {
  const rule = makeRule("zh");
  const period =
    (unit: Unit): Write =>
    (now, { which }) =>
      periodOf(now, cjkStep(which), unit);
  const units: Record<string, Unit> = { 天: "d", 月: "m", 年: "y" };
  const which = "(?<which>下下|下|上|本|这|這)";
  const of = (source: string, write: Write, kind?: Kind) => rule(new RegExp(source, "gu"), write, kind);
  return [
    of(
      `(?<!每|每[个個])${which}?[个個]?(?:[周週]|星期|[礼禮]拜)(?<day>[一二三四五六日天])(?![月年])`,
      cjkDay("日一二三四五六"),
      "bare",
    ),
    of("(?<!毎週)(?<which>来週|今週|先週|次)?の?(?<day>[日月火水木金土])曜日?", cjkDay("日月火水木金土"), "bare"),
    of(
      "(?<!매주 )(?<which>다음 ?주 |이번 ?주 |지난 ?주 |다음 )?(?<day>[일월화수목금토])요일",
      cjkDay("일월화수목금토"),
      "bare",
    ),
    of(
      "(?<count>\\d{1,3}|[一二两兩三四五六七八十半])\\s?[个個]?(?<unit>天|[周週]|星期|月|年)(?:之|以)?(?<way>[后後]|前)",
      (now, { count, unit, way }) => shiftBy(now, countOf(count) * (way === "前" ? -1 : 1), units[unit!] ?? "w"),
    ),
    of(`${which}?[个個]?月底|月末|월말`, (now, { which }) => endOf(now, cjkStep(which), "m")),
    of(`${which}?[个個]?(?:[周週]|星期)末`, (now, { which }) => weekday(now, 6, cjkStep(which))),
    of("(?:今年)?年底|年末|연말", (now) => endOf(now, 0, "y")),
    of(`${which}[个個]?月\\s?(?<date>\\d{1,2})\\s?[号號日]`, (now, { which, date }) =>
      dayOfMonth(now.getFullYear(), now.getMonth() + cjkStep(which), Number(date)),
    ),
    of(`${which}[个個]?(?:[周週]|星期)|(?<_which>来週|先週|다음 ?주|지난 ?주)`, period("w")),
    of(`${which}[个個]?月|(?<_which>来月|先月|다음 ?달|지난 ?달)`, period("m")),
    of(`${which}[个個]?季度`, period("q")),
    of(
      "(?<![\\d年]|年\\s)(?<month>\\d{1,2})\\s?(?:月|월)\\s?(?<date>\\d{1,2})\\s?(?:[日号號]|일)",
      (now, { month, date }) => dayIn(now, Number(month) - 1, Number(date)),
      "year",
    ),
    of(
      "(?<![月\\d]|월 )(?:(?<date>\\d{1,2})\\s?[号號日](?![間间])|(?<_date>\\d{1,2})일(?=까지|에|부터|이었|$))",
      (now, { date }) => numbered(now, Number(date)),
      "year",
    ),
  ];
}

/** Feasts, each with its day of the year, or how many days it is after Easter. They are dated where something is counted from them. */
const FEASTS: readonly [names: string, month: number | null, day: number][] = [
  ["christmas eve|heiligabend|nochebuena", 11, 24],
  ["christmas(?: day)?|weihnachten|navidad", 11, 25],
  ["new year's eve|silvester|nochevieja", 11, 31],
  ["new year(?:'s(?: day)?)?|neujahr|año nuevo", 0, 1],
  ["good friday|karfreitag|viernes santo", null, -2],
  ["easter monday|ostermontag|lunes de pascua", null, 1],
  ["easter(?: sunday)?|ostern|ostersonntag", null, 0],
  ["whit monday|pfingstmontag", null, 50],
  ["pentecost|pfingsten", null, 49],
];

function feastRules(): DayRule[] {
  const rule = makeRule("other");
  const counted = "(?<=(?:before|after|until|by|vor|nach|bis|antes del?|después del?|hasta) )";
  return FEASTS.map(([names, month, day]) =>
    rule(
      `${counted}(?:${names})`,
      (now) => {
        const of = (year: number) => (month === null ? shift(easter(year), day) : shift(new Date(year, month, day), 0));
        const year = now.getFullYear();
        return of(year) < shift(now, 0) ? of(year + 1) : of(year);
      },
      "year",
    ),
  );
}

/** Each language's column of the table. */
const languages = lazily((): readonly Parts[] => {
  const [names = [], ...rows] = WORDS.trim()
    .split("\n")
    .map((row) => row.split(" / "));
  return names.slice(1).map((language, i) => ({
    language,
    ...Object.fromEntries(rows.map(([key, ...values]) => [key, values[i]!])),
  }));
});

/** Of all languages, a list from Sunday or January on for each, with `|` between the names. */
export const namesOf = (what: "days" | "months"): readonly string[] => [
  what === "days" ? DAYS : MONTHS,
  ...languages().map((words) => words[what]!),
];

/** By its whole name or at least three letters of it; -1 for what no language calls so. */
export function findNamed(lists: readonly string[], name = ""): number {
  const known = lists.map((names) => names.split("|"));
  const wanted = name.toLowerCase();
  const isCalled = [(full: string) => full === wanted, (full: string) => wanted.length > 2 && full.startsWith(wanted)];
  for (const test of isCalled) for (const names of known) if (names.some(test)) return names.findIndex(test);
  return -1;
}

/** Made at the first use: most programs never look for a day. */
export const allRules = lazily((): readonly DayRule[] => {
  const rule = makeRule("other");
  const near = NEAR.flatMap((words, i): DayRule[] => {
    const [spaced = "", unspaced = ""] = words.split(" / ");
    const write: Write = (now) => shift(now, i - 2);
    return [rule(spaced, write), rule(new RegExp(unspaced, "g"), write)];
  });
  // Longer words first: 大后天 holds 后天.
  const all = [
    ...languages().flatMap(latinRules),
    rule(NUMBERED, writeNumber, "year"),
    ...cjkRules(),
    ...near.reverse(),
  ];
  return [...feastRules(), ...englishRules(), ...all];
});
