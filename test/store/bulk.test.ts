/** Bulk file times. */

import { expect, it } from "vitest";
import { findBulks, isBulkTime } from "../../src/store/row-entry.ts";

it("C15 knows a checkout by many files within a moment", () => {
  const checkout = Array.from({ length: 40 }, (_, i) => 1_000_000 + i * 20);
  const bulks = findBulks([...checkout, 5_000_000, 9_000_000]);
  expect(bulks).toEqual([{ fromMs: 1_000_000, toMs: 1_000_780 }]);
  expect(isBulkTime(bulks, 1_000_400)).toBe(true);
  expect(isBulkTime(bulks, 5_000_000)).toBe(false);
});

it("takes a few saves, or many over days, for what they are", () => {
  expect(findBulks([1, 2, 3, 4, 5])).toEqual([]);
  expect(findBulks(Array.from({ length: 50 }, (_, i) => i * 86_400_000))).toEqual([]);
  expect(findBulks([])).toEqual([]);
  expect(findBulks([Number.NaN])).toEqual([]);
});
