import { expect, test } from "vitest";
import { writeDistances } from "../../src/text/day-distances.ts";
import { writeDates } from "../../src/text/relative-dates.ts";

/** What is said on a day, and the days that must be written into it. */
const SAID: [day: string, said: string, ...dates: string[]][] = [
  [
    "2026-08-27",
    "the release won't be on 18 September: they are ten days late, so it slides by the same ten days",
    "2026-09-28",
  ],
  [
    "2026-03-03",
    "Regatta week starts two days after the safety briefing on 12 March, until then no deploys",
    "2026-03-14",
  ],
  [
    "2026-10-14",
    "die Messe beginnt am Dienstag, dem 10. November. Der Codefreeze bleibt drei Arbeitstage vor Messebeginn",
    "2026-11-05",
  ],
  ["2026-03-30", "Abnahme ist drei Wochen nach Ostermontag. Der ist am 6. April.", "2026-04-27"],
  [
    "2026-03-25",
    "la demo era el 24 de abril y la adelantaron una semana. Entregamos dos días antes de la demo",
    "2026-04-17",
    "2026-04-15",
  ],
  ["2026-06-02", "验收会从 6 月 25 日推迟五天。初稿仍然是验收会前一周交", "2026-06-30", "2026-06-23"],
  ["2026-05-04", "the audit on 20 May was brought forward by three days", "2026-05-17"],
  ["2026-05-04", "the audit moved to 20 May instead of 6 May, the report is due two working days before", "2026-05-18"],
  ["2026-05-04", "Die Abnahme am 20. Mai wird um eine Woche verschoben", "2026-05-27"],
  ["2026-03-20", "the kiosk rollout begins two weeks after Easter Monday", "2026-04-20"],
  ["2026-08-03", "beam time starts in three weeks, the GUI is frozen on the Wednesday before", "2026-08-19"],
  ["2025-10-29", "recording starts next tuesday, the export has to be done the day before that", "2025-11-03"],
  ["2026-06-23", "reporting starts on 11 September 2026, our dry run is three weeks before that", "2026-08-21"],
  ["2026-05-11", "colloquium is on the 19th of june, slides and repo frozen four days ahead of it", "2026-06-15"],
  ["2025-08-04", "Der Ausschuss tagt am Mittwoch in drei Wochen, die Protokolle fünf Tage vorher", "2025-08-22"],
  ["2026-03-03", "die druckerei will die daten am 27. märz, wir geben fünf tage eher ab", "2026-03-22"],
  [
    "2025-11-11",
    "Stichtag ist der 1. Januar, der Prüfer verlangt das Protokoll mit sechs Wochen Vorlauf",
    "2025-11-20",
  ],
  ["2026-04-27", "La jornada es el 7 de junio y el simulacro se hace dos semanas antes", "2026-05-24"],
  ["2025-11-18", "con cuatro días de anticipación al inventario del 15 de diciembre", "2025-12-11"],
  ["2026-01-06", "省里3月16号来测评，整改比这早两个礼拜收尾", "2026-03-02"],
  ["2025-04-09", "口試是6月13號，論文得在那之前兩個禮拜送到委員手上", "2025-05-30"],
  ["2026-04-15", "旧的 MinIO 在迁移完成后第 20 天关机，迁移预计 5 月 6 号完成", "2026-05-26"],
];

test("a day that is counted from another one in the same text is written after it", () => {
  for (const [day, said, ...dates] of SAID) {
    const { text, isOpen } = writeDistances(writeDates(said, new Date(`${day}T12:00:00`)));
    for (const date of dates) expect(text).toContain(`(${date})`);
    expect(isOpen).toBe(false);
  }
});

test("a day in full is read in every language, and a word that is no month makes none", () => {
  for (const month of ["Aug", "August", "août", "agosto"])
    expect(writeDistances(`12 ${month} 2026, two days before that`).text).toContain("(2026-08-10)");
  for (const month of ["Dez.", "décembre", "dic", "December"])
    expect(writeDistances(`12 ${month} 2026, two days before that`).text).toContain("(2026-12-10)");
  expect(writeDistances("of 12 tests 2026 fail, fixed two days before that").isOpen).toBe(true);
});

test("a text that names no day is counted from the one that was spoken of before", () => {
  expect(writeDistances("the demo is one week earlier", "2026-04-16").text).toContain("(2026-04-09)");
  expect(writeDistances("die Schulung ist zwei Tage danach", "2026-04-22").text).toContain("(2026-04-24)");
});

test("without a day to count from the distance stays open, and a vague one is no distance", () => {
  expect(writeDistances("the freeze is three days before the fair")).toEqual({
    text: "the freeze is three days before the fair",
    isOpen: true,
  });
  expect(writeDistances("it broke a few days later, on 2026-03-04").isOpen).toBe(false);
});
