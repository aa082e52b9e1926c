import { describe, expect, it } from "vitest";
import { localDay } from "../../../src/text/local-day.ts";
import {
  addDays,
  endOf,
  formatAge,
  formatBytes,
  formatCount,
  gatherDays,
  showName,
} from "../../../src/web/page/parts/format.ts";

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

it.each([
  [-5 * DAY, "just now"],
  [59_999, "just now"],
  [MINUTE, "1 min ago"],
  [59.9 * MINUTE, "59 min ago"],
  [60 * MINUTE, "1 h ago"],
  [DAY, "yesterday"],
  [2 * DAY, "2 days ago"],
  [59 * DAY, "59 days ago"],
  [60 * DAY, "2 months ago"],
  [400 * DAY, "13 months ago"],
  [729 * DAY, "24 months ago"],
  [730 * DAY, "2 years ago"],
])("an age of %d ms is %s", (ms, says) => {
  expect(formatAge(ms)).toBe(says);
});

it("sizes in the unit that a person says", () => {
  expect([0, 999, 1000, 1549, 999_949, 1_000_000].map(formatBytes)).toEqual([
    "0 B",
    "999 B",
    "1.0 KB",
    "1.5 KB",
    "999.9 KB",
    "1.0 MB",
  ]);
});

it("counts with the right word", () => {
  expect([0, 1, 2].map((count) => formatCount(count, "file"))).toEqual(["0 files", "1 file", "2 files"]);
  expect(formatCount(1, "memory", "memories")).toBe("1 memory");
  expect(formatCount(3, "memory", "memories")).toBe("3 memories");
});

it("a name cannot be turned round by marks that nobody sees; letters of the right keep their own way", () => {
  expect(showName("\u202egnp.live\u202c")).toBe("gnp.live");
  expect(showName("\u2066a\u2069 \u202db")).toBe("a b");
  expect(showName("שלום عربي")).toBe("שלום عربي");
});

describe("days of a chart", () => {
  it("joins to weeks only where there are too many, and loses nothing", () => {
    const days = Array.from({ length: 70 }, (_, at) => ({ day: addDays("2026-01-01", at), values: [1] }));
    expect(gatherDays(days, 100)).toEqual({ columns: days, each: 1 });
    const { columns, each } = gatherDays(days, 20);
    expect(each).toBe(7);
    expect(columns.reduce((sum, { values }) => sum + (values[0] ?? 0), 0)).toBe(days.length);
    expect(columns[1]?.day).toBe("2026-01-08");
  });

  it("knows the end of a day by the clock on the wall, and none of what is no day", () => {
    expect(endOf("2026-11-16")).toBe(new Date(2026, 10, 17).toISOString());
    expect(endOf("tomorrow")).toBeNull();
    expect(localDay(new Date(2026, 0, 5, 23, 59))).toBe("2026-01-05");
    expect(addDays("2026-12-31", 1)).toBe("2027-01-01");
    expect(addDays("junk", 1)).toBe("junk");
  });
});
