import { describe, expect, it } from "vitest";
import { hasDate, writeDates } from "../../src/learn/said-dates.ts";

/** A Monday. */
const NOW = new Date("2026-11-16T12:00:00");

describe("writeDates", () => {
  it.each([
    ["we decided it on Thursday", "we decided it on 2026-11-12"],
    ["legal decided on Friday that the chat stays off", "legal decided on 2026-11-13 that the chat stays off"],
    ["on Thursday the cert of the broker expired", "on 2026-11-12 the cert of the broker expired"],
    ["on Friday the renamed package ships", "on 2026-11-20 the renamed package ships"],
    ["on Tuesday we lost two hours of scans", "on 2026-11-10 we lost two hours of scans"],
    ["I joined as an engineer on Friday", "I joined as an engineer on 2026-11-13"],
    ["the demo was moved to Tuesday", "the demo was moved to 2026-11-17"],
    ["we decided to ship on Friday", "we decided to ship on 2026-11-20"],
    ["it broke on Friday, the fix ships on Tuesday", "it broke on 2026-11-13, the fix ships on 2026-11-17"],
    ["down from tomorrow evening until Sunday", "down from 2026-11-17 evening until 2026-11-22"],
    ["due on the last Friday of this month", "due on 2026-11-27"],
    ["live on the second Sunday of March", "live on 2027-03-14"],
    ["the alarm failed over the weekend", "the alarm failed over the weekend of 2026-11-14"],
    ["it moves to the Tuesday after next", "it moves to 2026-11-24"],
    ["it ships Friday in two weeks", "it ships on 2026-12-04"],
    ["it starts next spring", "it starts in spring 2027"],
    ["it broke last summer", "it broke in summer 2026"],
    ["due by the end of next week", "due by 2026-11-29"],
    ["wird in drei Wochen abgeschaltet", "wird am 2026-12-07 abgeschaltet"],
    ["die Abnahme ist bis Freitag verschoben", "die Abnahme ist bis 2026-11-20 verschoben"],
    ["la bascule se fait dans 10 jours", "la bascule se fait le 2026-11-26"],
    ["jeden Montag und montags", "jeden Montag und montags"],
    ["the freeze starts next Monday", "the freeze starts on 2026-11-23"],
    ["from next Monday until the end of the month", "from 2026-11-23 until 2026-11-30"],
    ["away from tomorrow until Friday", "away from 2026-11-17 until 2026-11-20"],
    ["it was moved from Wednesday to the 24th of this month", "it was moved from 2026-11-18 to 2026-11-24"],
    ["Tomorrow we freeze", "On 2026-11-17 we freeze"],
    ["it expires three weeks from today", "it expires on 2026-12-07"],
    ["the day after tomorrow it ships", "on 2026-11-18 it ships"],
    ["a week from Friday it ships", "on 2026-11-27 it ships"],
    ["the release moves to 5 March", "the release moves to 2027-03-05"],
    ["closed from 1 to 5 December", "closed from 2026-12-01 to 2026-12-05"],
    ["until the end of March", "until 2027-03-31"],
    ["on the 3rd of next month", "on 2026-12-03"],
    ["the review is on the 20th", "the review is on 2026-11-20"],
    ["this Thursday at 3pm", "on 2026-11-19 at 3pm"],
    ["it cost us a lot last year", "it cost us a lot in 2025"],
    ["we stay on Postgres 15 this year", "we stay on Postgres 15 in 2026"],
    ["last year's numbers, and since last year", "2025's numbers, and since 2025"],
    ["we ship next week", "we ship in the week of 2026-11-23"],
    ["we ship next quarter", "we ship in Q1 2027"],
    ["red since Friday", "red since 2026-11-13"],
    ["die haben sich letztes Jahr beschwert", "die haben sich 2025 beschwert"],
    ["明天发布", "2026-11-17发布"],
    ["`today` is the name, and today is the day", "`today` is the name, and 2026-11-16 is the day"],
    [
      "every Friday, 30 days, on the 20th floor, 24 December 2026",
      "every Friday, 30 days, on the 20th floor, 24 December 2026",
    ],
    ["31 February is no day", "31 February is no day"],
  ])("%s", async (said, written) => {
    expect(await writeDates(said, NOW)).toBe(written);
  });
});

describe("hasDate", () => {
  it.each([
    ["it starts on Friday", true],
    ["with the February release", true],
    ["it starts on 7 December", true],
    ["from today it is off", true],
    ["it works today", false],
    ["it never works", false],
  ])("%s: %s", async (line, dated) => {
    expect(await hasDate(line, NOW)).toBe(dated);
  });
});
