import { describe, expect, it } from "vitest";
import { hasRelativeDate, writeDates } from "../../src/text/relative-dates.ts";

/** A Monday. */
const NOW = new Date("2026-11-16T12:00:00");

describe("writeDates", () => {
  it.each([
    ["we decided it on Thursday", "we decided it on Thursday (2026-11-12)"],
    ["on Friday the renamed package ships", "on Friday (2026-11-20) the renamed package ships"],
    ["on Tuesday we lost two hours of scans", "on Tuesday (2026-11-10) we lost two hours of scans"],
    ["the demo was moved to Tuesday", "the demo was moved to Tuesday (2026-11-17)"],
    [
      "it broke on Friday, the fix ships on Tuesday",
      "it broke on Friday (2026-11-13), the fix ships on Tuesday (2026-11-17)",
    ],
    ["away from tomorrow until Friday", "away from tomorrow (2026-11-17) until Friday (2026-11-20)"],
    ["due on the last Friday of this month", "due on 2026-11-27"],
    [
      "the report is due two days before the meeting on Friday",
      "the report is due two days (2026-11-18) before the meeting on Friday (2026-11-20)",
    ],
    ["a week after Thursday it ships", "a week (2026-11-26) after Thursday (2026-11-19) it ships"],
    ["it moves to the Tuesday after next", "it moves to 2026-11-24"],
    ["it expires three weeks from today", "it expires three weeks from today (2026-12-07)"],
    ["the release moves to 5 March", "the release moves to 5 March (2027-03-05)"],
    ["closed from 1 to 5 December", "closed from 1 to 5 December (2026-12-01 to 2026-12-05)"],
    ["until the end of March", "until the end of March (2027-03-31)"],
    ["the review is on the 20th", "the review is on the 20th (2026-11-20)"],
    ["we ship next week", "we ship next week (2026-11-23 to 2026-11-29)"],
    ["we ship next month", "we ship next month (2026-12)"],
    ["die Abgabe ist nächsten Mittwoch", "die Abgabe ist nächsten Mittwoch (2026-11-18)"],
    ["wird in drei Wochen abgeschaltet", "wird in drei Wochen (2026-12-07) abgeschaltet"],
    ["geplant war der 24.", "geplant war der 24. (2026-11-24)"],
    ["la bascule se fait dans 10 jours", "la bascule se fait dans 10 jours (2026-11-26)"],
    ["la entrega es el próximo jueves", "la entrega es el próximo jueves (2026-11-19)"],
    ["empieza en dos semanas", "empieza en dos semanas (2026-11-30)"],
    ["明天发布", "明天 (2026-11-17)发布"],
    ["下周三开始冻结", "下周三 (2026-11-25)开始冻结"],
    ["来週の水曜から", "来週の水曜 (2026-11-25)から"],
    ["다음 주 수요일부터", "다음 주 수요일 (2026-11-25)부터"],
    ["der Stichtag ist der 3.12.", "der Stichtag ist der 3.12. (2026-12-03)"],
    [
      "die Unterlagen müssen am Mittwoch übernächster Woche da sein",
      "die Unterlagen müssen am Mittwoch übernächster Woche (2026-12-02) da sein",
    ],
    ["die Messe beginnt am Dienstag, dem 8. Dezember", "die Messe beginnt am Dienstag, dem 8. Dezember (2026-12-08)"],
    ["la feria empieza el martes 8 de diciembre", "la feria empieza el martes 8 de diciembre (2026-12-08)"],
    ["die Abnahme ist Montag 10 Uhr", "die Abnahme ist Montag (2026-11-23) 10 Uhr"],
    ["die Abnahme ist Mittwoch nächster Woche", "die Abnahme ist Mittwoch nächster Woche (2026-11-25)"],
    ["eingefroren bis Ende des Monats", "eingefroren bis Ende des Monats (2026-11-30)"],
    ["zwei Tage vor der Sitzung am Freitag", "zwei Tage (2026-11-18) vor der Sitzung am Freitag (2026-11-20)"],
    ["la semana que viene no hay despliegues", "la semana que viene (2026-11-23 to 2026-11-29) no hay despliegues"],
    ["se apaga a finales de mes", "se apaga a finales de mes (2026-11-30)"],
    ["dos días antes de la reunión del viernes", "dos días (2026-11-18) antes de la reunión del viernes (2026-11-20)"],
    ["el viernes que viene", "el viernes que viene (2026-11-20)"],
    ["der 3. Versuch klappte, el 2 no funciona", "der 3. Versuch klappte, el 2 no funciona"],
    ["dura hasta el 20, solo parches", "dura hasta el 20 (2026-11-20), solo parches"],
    ["两周后切换", "两周后 (2026-11-30)切换"],
    ["下个月5号上线", "下个月5号 (2026-12-05)上线"],
    ["月底之前迁移", "月底 (2026-11-30)之前迁移"],
    [
      "`today` is the name, 24 December 2026 the day, every Friday too",
      "`today` is the name, 24 December 2026 the day, every Friday too",
    ],
    ["31 February is no day", "31 February is no day"],
  ])("%s", async (said, written) => {
    expect(writeDates(said, NOW)).toBe(written);
    expect(hasRelativeDate(written, NOW)).toBe(false);
  });

  it("leaves a weekday that repeats in a rule", async () => {
    expect(writeDates("周五不发版", NOW, true)).toBe("周五不发版");
    expect(writeDates("never deploy on Friday", NOW, true)).toBe("never deploy on Fridays");
    expect(writeDates("never deploy on fri", NOW, true)).toBe("never deploy on fri (2026-11-20)");
    expect(writeDates("from Friday use the new one", NOW, true)).toBe("from Friday (2026-11-20) use the new one");
    expect(writeDates("jeden Montag und montags", NOW)).toBe("jeden Montag und montags");
  });
});
