/** Days that are counted from another day in the same text: "the release on 18 September slips by ten days", "drei Arbeitstage vor der Messe", "验收会前一周". */

import { daysSince, shiftBy } from "./calendar.ts";
import { COUNT, countOf, edged, findNamed, namesOf } from "./day-rules.ts";

/**
 * Writes the day after each distance. Calendar days must already be in the text (`writeDates`). `earlier`: the day that it was
 * about before, from which a distance is counted if the text names none. `isOpen`: a distance is named, but no day to count it from.
 */
export function writeDistances(text: string, earlier: string | null = null) {
  const dates = findDates(text);
  const found = findDistances(text);
  const moved = new Set<string>();
  let anchor: Date | null = null;
  let [written, from, next, isOpen] = ["", 0, 0, false];
  for (const { start, end, days, months, isWork, isMove, weekday } of found) {
    while (next < dates.length && dates[next]!.index < start) anchor = dates[next++]!.day;
    // "Two days after the briefing on 12 March", and a day that is named only afterwards.
    const near = dates[next] && dates[next]!.index - end < NEAR && !STOP.test(text.slice(end, dates[next]!.index));
    const given = earlier === null ? null : toDay(earlier);
    const base: Date | null = near || !anchor ? (dates[next]?.day ?? given) : anchor;
    if (near) next++;
    // "Ten days late, so it slips by the same ten days" is one delay.
    const key = `${days} ${months}`;
    if (isMove && moved.has(key)) continue;
    if (base === null) {
      isOpen = true;
      continue;
    }
    const back = weekday === null ? days : -daysSince(base, weekday);
    const date = isWork ? addWorkdays(base, days) : shiftBy(base, back || months, back ? "d" : "m");
    if (isMove || weekday !== null) {
      moved.add(key);
      anchor = toDay(date);
    }
    written += `${text.slice(from, end)} (${date})`;
    from = end;
  }
  return { text: written + text.slice(from), isOpen };
}

/** A day that is near enough to belong to the same clause. */
const NEAR = 60;
const STOP = /[.;:!?,。；：！？，\n]/;
/** "… the 10th instead of the 3rd" is counted from the 10th; and nothing is counted from the day on which it was said. */
const INSTEAD =
  /(?:instead of|rather than|statt|anstatt|en (?:vez|lugar) del?|au lieu d[eu]|而不是|不是)[^,.;，。；(]{0,20}\(?$|(?:yesterday|today|gestern|heute|ayer|hoy|昨天|今天) \($/i;

/** Written ones, and those that people write in full; without those that do not hold any more. */
function findDates(text: string): { index: number; day: Date }[] {
  const written = [...text.matchAll(/(?<!\d)\d{4}-\d\d-\d\d(?!\d| to)/g)].map(({ 0: date, index }) => ({
    index,
    day: toDay(date),
  }));
  const full = [...text.matchAll(FULL)].flatMap(({ index, groups: { date, month, year } = {} }) => {
    const at = findNamed(namesOf("months"), month);
    return at < 0 ? [] : [{ index, day: new Date(Number(year), at, Number(date)) }];
  });
  return [...written, ...full]
    .filter(({ index, day }) => !Number.isNaN(day.getTime()) && !INSTEAD.test(text.slice(0, index)))
    .sort((a, b) => a.index - b.index);
}

const FULL =
  /(?<!\d)(?<date>\d{1,2})(?:st|nd|rd|th|\.)? (?:of |de )?(?<month>\p{L}{3,10})\.?,? (?:del? )?(?<year>20\d\d)(?!\d)/giu;
const UNIT =
  "(?<unit>(?<work>(?:working|business|work) ?days?|arbeitstage?n?|werktage?n?|días (?:hábiles|laborables)|jours ouvr(?:és|ables))|days?|tage?n?|días?|jours?|weeks?|wochen?|semanas?|semaines?|months?|monate?n?|mes(?:es)?|mois)";
const SAME = "(?:the same |another |about |exactly |genau |die gleichen |los mismos )?";
const SOME = "(?:[^\\s.;:!?]+ ){0,4}?";
const WEEKDAYS = namesOf("days");
const AMOUNT = `${SAME}${COUNT} ${UNIT}(?! \\()`;
const CJK =
  "\\s?(?<count>\\d{1,3}|[一二两兩三四五六七八九十]{1,2})\\s?[个個]?(?<unit>(?<work>工作日)|天|日|[周週]|星期|[礼禮]拜|月)";
/** Each: the way that it counts, whether what was on that day moves, and its words. In this order: what is moved by so many days must not be read as a distance from something. */
const SPACED = String.raw`
before moves / (?:brought forward|moved up|pulled (?:in|forward)|advanced|vorgezogen|vorverlegt|adelant\p{L}*|avanc\p{L}*) ${SOME}(?:by |um |de )?${AMOUNT}
before moves / (?:um )?${AMOUNT} (?:early|earlier|sooner|vorgezogen|vorverlegt|nach vorne?|früher|eher|vorlauf|luft|puffer|de (?:margen|antelación|anticipación|adelanto)|(?:of )?(?:lead time|buffer|slack|notice))
before / (?:subtract|minus|rest[aá]\p{L}*) ${AMOUNT}
after moves / (?:slip\p{L}*|slid(?:es?|ing)?(?= by)|push\p{L}*|mov(?:e[sd]?|ing)|delay\p{L}*|postpon\p{L}*|shift\p{L}*|verschieb\p{L}*|verschoben|verlänger\p{L}*|extend\p{L}*|se corr\p{L}+|rutsch\p{L}*|vertag\p{L}*|retras\p{L}*|aplaz\p{L}*|posp[ou]\p{L}*|atras\p{L}*|demor\p{L}*|repouss\p{L}*|reporté\p{L}*|décal\p{L}*) ${SOME}(?:by |um |de |en )?${AMOUNT}
after moves / (?:um )?${AMOUNT} (?:late|later|behind|delayed|overdue|more|verschoben|verlängert|mehr|nach hinten|später|verspätet|im verzug|más tarde|de retraso|plus tard|de retard)
before / ${AMOUNT}(?=,? (?:before|prior to|ahead of|beforehand|earlier than|vor|bevor|davor|vorher|zuvor|antes|avant)(?![\p{L}\p{N}]))
before / (?:the|am|den|el) (?<unit>day|tag|día)(?= (?:before|davor|vorher|zuvor|antes|anterior|previo)(?![\p{L}\p{N}]))
before / (?:the |am |den |el )?(?<day>${WEEKDAYS.join("|")})(?= (?:before|davor|vorher|zuvor|antes|anterior|previo)(?![\p{L}\p{N}]))
after / (?:the|am|den|el) (?<unit>day|tag|día)(?= (?:after|danach|darauf|después|siguiente)(?! (?:tomorrow|mañana))(?![\p{L}\p{N}]))
after / ${AMOUNT}(?= (?:after|following|nach|danach|después|tras|après)(?![\p{L}\p{N}]))
`;
const UNSPACED = String.raw`
before moves / (?:提前|提早|早|往前[挪移推数數]|倒回去|倒推)了?${CJK}
after moves / (?:推[迟遲]|延[后後期]|[顺順]延|推[后後]|延[迟遲]|往[后後][挪移推拖]|晚)了?${CJK}
before / (?<=\p{Script=Han}(?:之|以)?前)的?${CJK}
after / (?<=\p{Script=Han}(?:之|以)?[后後])的?第?${CJK}
`;
const readTable = (table: string, compile: (source: string) => RegExp) =>
  table
    .trim()
    .split("\n")
    .map((row) => {
      const [way = "", source = ""] = row.split(" / ");
      return { pattern: compile(source), sign: way.startsWith("before") ? -1 : 1, isMove: way.endsWith("moves") };
    });
const PATTERNS = [
  ...readTable(SPACED, (source) => edged(source.replaceAll(" ", "\\s+"))),
  ...readTable(UNSPACED, (source) => new RegExp(source, "gu")),
];

function findDistances(text: string) {
  const found: ReturnType<typeof readDistance>[] = [];
  for (const { pattern, sign, isMove } of PATTERNS)
    for (const match of text.matchAll(pattern)) {
      const end = match.index + match[0].length;
      if (found.some((other) => match.index < other.end && end > other.start)) continue;
      // "A few days later" says nothing that can be counted.
      if (/few|couple|several|half/i.test(match.groups?.count ?? "")) continue;
      found.push(readDistance(match, sign, isMove));
    }
  return found.sort((a, b) => a.start - b.start);
}

function readDistance({ 0: words, index: start, groups = {} }: RegExpExecArray, sign: number, isMove: boolean) {
  const { count: number = "", unit = "", day, work } = groups;
  const count = sign * countOf(number);
  const isMonth = /^(?:mo|mes|月)/i.test(unit);
  const isWeek = /^(?:we|wo|sem|[周週]|星期|[礼禮]拜)/i.test(unit) && !work;
  const days = isMonth ? 0 : count * (isWeek ? 7 : 1);
  return {
    ...{ start, end: start + words.length, days, months: isMonth ? count : 0, isWork: work !== undefined },
    /** What was on that day moves; else another day is counted from it. */
    isMove,
    /** "the Friday before" */
    weekday: day === undefined ? null : findNamed(WEEKDAYS, day),
  };
}

function toDay(date: string): Date {
  const [year, month, day] = date.split("-").map(Number);
  return new Date(year!, month! - 1, day);
}

/** Monday to Friday; holidays are not known. */
function addWorkdays(from: Date, count: number): string {
  const day = new Date(from);
  for (let left = Math.abs(count); left > 0; ) {
    day.setDate(day.getDate() + Math.sign(count));
    if (day.getDay() % 6 !== 0) left--;
  }
  return shiftBy(day, 0, "d");
}
