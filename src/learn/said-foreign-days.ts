/** Days that are named in German, French, Spanish, Chinese or Japanese, as calendar days. */

import { daysUntil, shift } from "./said-days.ts";

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

/** Only with a word before or behind it that makes it one day: "montags" and "jeden Montag" come again and again. */
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

/** Words of these languages that still mean another day tomorrow: what holds one cannot be kept. */
export function hasForeignDay(text: string): boolean {
  return LEFT.test(text);
}

const LEFT =
  /(?<![\p{L}\p{N}])(?:(?:nächste|kommende|diese|letzte|vorige)[nrsm]? (?:woche|monat|quartal|\p{L}+tag|mittwoch)|(?:in|vor) \p{L}+ (?:tagen|wochen|monaten)|in den nächsten \p{L}+|ende (?:der|dieser|nächster) woche|ende (?:des|dieses|nächsten) (?:monats|jahres|quartals)|(?:monats|jahres)ende|fin (?:du mois|de (?:la )?semaine)|(?:fin|finales) de(?:l)? (?:mes|semana)|(?:la semaine|le mois) (?:prochaine?|derni(?:er|ère))|dans \p{L}+ (?:jours|semaines|mois)|la (?:próxima semana|semana (?:que viene|pasada))|el (?:próximo mes|mes (?:que viene|pasado))|(?:dentro de|hace) \p{L}+ (?:días|semanas|meses))(?![\p{L}\p{N}])|来週|先週|来月|先月|今週|下周|上周|下个月|上个月|本周/iu;

export function writeForeignDays(said: string, now: Date): string {
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
