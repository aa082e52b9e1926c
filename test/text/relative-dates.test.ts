import { afterEach, describe, expect, it } from "vitest";
import { findRelativeDates } from "../../src/text/relative-dates.ts";
import { endsLater } from "../hang.ts";

// A Sunday, by the local clock.
const now = new Date(2026, 10, 15, 12, 0);

const POSITIVES: [text: string, words: string, date: string][] = [
  ["The freeze begins next Thursday.", "next Thursday", "2026-11-19"],
  ["We freeze all merges after Thursday, the mobile team cuts a release.", "Thursday", "2026-11-19"],
  ["Due on Friday.", "on Friday", "2026-11-20"],
  ["Shipped last Tuesday", "last Tuesday", "2026-11-10"],
  ["this Wednesday we decide", "this Wednesday", "2026-11-18"],
  ["The launch is in two weeks.", "in two weeks", "2026-11-29"],
  ["migrate in 3 days", "in 3 days", "2026-11-18"],
  ["rewrite planned in about a month", "in about a month", "2026-12-15"],
  ["Release is tomorrow.", "tomorrow", "2026-11-16"],
  ["Today we chose SQLite.", "Today", "2026-11-15"],
  ["Deploy tonight", "tonight", "2026-11-15"],
  ["It broke yesterday", "yesterday", "2026-11-14"],
  ["It broke last night", "last night", "2026-11-14"],
  ["Decided this morning", "this morning", "2026-11-15"],
  ["Due end of month", "end of month", "2026-11-30"],
  ["Due by the end of the month", "end of the month", "2026-11-30"],
  ["Due by end of next month", "end of next month", "2026-12-31"],
  ["Done by end of week", "end of week", "2026-11-15"],
  ["Done by the end of the quarter", "end of the quarter", "2026-12-31"],
  ["Done by EOY", "EOY", "2026-12-31"],
  ["Budget is cut next month", "next month", "2026-12"],
  ["He joined last week", "last week", "2026-11-02 to 2026-11-08"],
  ["We move next year", "next year", "2027-01 to 2027-12"],
  ["Audit starts next quarter", "next quarter", "2027-01 to 2027-03"],
  ["Upgrade next March", "next March", "2027-03"],
  ["It opens this May", "this May", "2026-05"],
  ["Since last December", "last December", "2025-12"],
  ["Rewritten two months ago", "two months ago", "2026-09-15"],
  ["Broken a few days ago", "a few days ago", "2026-11-12"],
  ["Since half a year ago", "half a year ago", "2026-05-15"],
  ["in a couple of weeks", "in a couple of weeks", "2026-11-29"],
  ["Several weeks ago it worked", "Several weeks ago", "2026-09-27"],
  ["The contract ends 10 days from now", "10 days from now", "2026-11-25"],
  ["Meet tomorrow at 9am in the office", "tomorrow at 9am", "2026-11-16"],
  ["yesterday's deploy failed", "yesterday", "2026-11-14"],
  ["The freeze begins next\nThursday for all", "next Thursday", "2026-11-19"],
  ["(Thursday) is the day", "Thursday", "2026-11-19"],
  ["until next fri.", "next fri.", "2026-11-20"],
  ["Cut the branch on Tuesday", "on Tuesday", "2026-11-17"],
  ["we cut the branch on Tuesday", "on Tuesday", "2026-11-10"],
];

const NEGATIVES: string[] = [
  "",
  "The freeze begins on 2026-03-05.",
  "The freeze begins on March 5 2026.",
  "Released 5 March, in March, since 2024",
  "Thursday, 2026-11-19 and Thursday 19 November 2026",
  "next Thursday (2026-11-19)",
  "2026-11-16 (tomorrow)",
  "This may fail, and the sun sat low.",
  "He last sat down and wed his work",
  "wait a second, just a minute",
  "The second argument is optional; now it works",
  "by today's standards this is slow",
  "It takes 5 minutes; retry in 30 seconds, in 2 hours",
  "kept for two weeks",
  "respond within 3 days",
  "logs of the last 30 days",
  "two days later it broke, one week before the release",
  "Standup every Thursday, retro each Friday",
  "on Mondays and Thursdays",
  "Support is there Monday to Friday, Mon-Fri, Monday–Friday",
  "the first Monday of the month, the last Friday of each month",
  "Black Friday and Patch Tuesday",
  "Friday afternoons are free",
  "read `tomorrow` and `next week` from the config",
  "call ``next `week` `` here",
  "next `x` week",
  "```\ntomorrow\nnext week\n```",
  "~~~text\nnext Thursday\n~~~\n",
  "- item\n  ```ts\n  const today = tomorrow;\n  ```",
  "```\nan open fence until next week",
  "see src/today.ts, notes/tomorrow.md, #yesterday and next-week",
  "https://example.com/tomorrow?day=today",
  "git diff master@{yesterday}, --since=yesterday",
  "what comes next\n\nweek 3",
  "- what comes next\n- week 3",
  "in the day and in the week",
  "the day after, day by day, year over year",
  "version 3.1, 10/12 tests, 12:30",
  "a 2-week sprint, 30-day trial, 90 days",
  "The weekend is free; a weekday is not",
  "Cut the branch on Tuesday, run the smoke tests, tag on Thursday.",
];

describe("findRelativeDates", () => {
  it.each(POSITIVES)("B2.18 finds in %j: %s is %s", async (text, words, date) => {
    expect((await findRelativeDates(text, now)).map((found) => [found.words, found.date])).toEqual([[words, date]]);
  });

  it.each(NEGATIVES)("B2.18 finds nothing in %j", async (text) => {
    expect(await findRelativeDates(text, now)).toEqual([]);
  });

  it("B2.18 names the line of each, in order, also with CRLF and around code", async () => {
    for (const newline of ["\n", "\r\n"]) {
      const lines = [
        "---",
        "name: x",
        "---",
        "",
        "Due tomorrow,",
        "`today` is code, yesterday is not",
        "```",
        "next week",
        "```",
        "",
        "",
        "- next Thursday, or in two weeks",
      ];
      expect(await findRelativeDates(lines.join(newline), now)).toEqual([
        { line: 5, words: "tomorrow", date: "2026-11-16" },
        { line: 6, words: "yesterday", date: "2026-11-14" },
        { line: 12, words: "next Thursday", date: "2026-11-19" },
        { line: 12, words: "in two weeks", date: "2026-11-29" },
      ]);
    }
  });

  it("gives all of the positives at once, each on its line", async () => {
    const text = POSITIVES.map(([line]) => line.replace("\n", " ")).join("\n\n");
    const found = await findRelativeDates(text, now);
    expect(found.map(({ line, date }) => [line, date])).toEqual(POSITIVES.map(([, , date], i) => [2 * i + 1, date]));
  });

  it("a bare weekday said on that day is today", async () => {
    const [found] = await findRelativeDates("Sunday is the day", now);
    expect(found?.date).toBe("2026-11-15");
  });

  it("does not hang on large texts", async () => {
    for (const unit of [
      "tomorrow ",
      "`",
      "``` ",
      "```\n",
      "next ",
      "in 3 ",
      "a",
      "https://a ",
      "Monday to ",
      "12 days ",
    ]) {
      await endsLater(async () => findRelativeDates(unit.repeat(Math.ceil(100_000 / unit.length)), now));
    }
  });
});

describe("time zones", () => {
  const home = process.env.TZ;
  afterEach(() => {
    process.env.TZ = home;
  });

  const zones = ["UTC", "Pacific/Kiritimati", "Pacific/Pago_Pago", "America/New_York", "Asia/Kolkata", "Europe/Oslo"];
  it.each(zones)("B2.18 does not shift the day in %s, at any hour", async (zone) => {
    process.env.TZ = zone;
    for (const hour of [0, 0.5, 1, 6, 12, 18, 23, 23.98]) {
      const at = new Date(2026, 10, 15, Math.floor(hour), Math.round((hour % 1) * 60));
      expect(at.getDate()).toBe(15);
      const text = "today, tomorrow, yesterday, next Thursday, in two weeks, end of month, 3 days ago";
      expect((await findRelativeDates(text, at)).map(({ date }) => date)).toEqual([
        "2026-11-15",
        "2026-11-16",
        "2026-11-14",
        "2026-11-19",
        "2026-11-29",
        "2026-11-30",
        "2026-11-12",
      ]);
    }
  });

  it("crosses the change to winter time, the end of the year and a leap day", async () => {
    process.env.TZ = "America/New_York";
    const dayOf = async (text: string, at: Date) => (await findRelativeDates(text, at))[0]?.date;
    expect(await dayOf("in 2 days", new Date(2026, 9, 31, 23, 30))).toBe("2026-11-02");
    expect(await dayOf("tomorrow", new Date(2026, 11, 31, 23, 59))).toBe("2027-01-01");
    expect(await dayOf("tomorrow", new Date(2028, 1, 28, 0, 1))).toBe("2028-02-29");
    expect(await dayOf("end of month", new Date(2028, 1, 1))).toBe("2028-02-29");
  });
});
