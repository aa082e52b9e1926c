import { describe, expect, it } from "vitest";
import { addDays, endOf, fillDays, gatherDays, localDay } from "../../../src/web/page/parts/days.ts";

describe("days of a chart", () => {
  it("fills what lies between, over the end of a month and of a leap February", () => {
    const filled = fillDays(
      [
        { day: "2028-02-27", values: [1, 2] },
        { day: "2028-03-01", values: [3, 4] },
      ],
      2,
    );
    expect(filled.map(({ day }) => day)).toEqual(["2028-02-27", "2028-02-28", "2028-02-29", "2028-03-01"]);
    expect(filled[1]?.values).toEqual([0, 0]);
    expect(filled[3]?.values).toEqual([3, 4]);
  });

  it("begins earlier and ends later where it is told to", () => {
    const filled = fillDays([{ day: "2026-11-02", values: [5] }], 1, "2026-11-01", "2026-11-03");
    expect(filled.map(({ values }) => values[0])).toEqual([0, 5, 0]);
  });

  it("does not hang on days that are none, or lie far apart", () => {
    expect(fillDays([{ day: "never", values: [1] }], 1)).toEqual([]);
    expect(fillDays([], 1)).toEqual([]);
    expect(fillDays([{ day: "0001-01-01", values: [1] }], 1, undefined, "9999-01-01").length).toBeLessThan(4000);
  });

  it("joins to weeks only where there are too many, and loses nothing", () => {
    const days = fillDays([{ day: "2026-01-01", values: [1] }], 1, undefined, "2026-03-11").map(({ day }) => ({
      day,
      values: [1],
    }));
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
