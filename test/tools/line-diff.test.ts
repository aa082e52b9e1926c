import { expect, it } from "vitest";
import { diffLines } from "../../src/tools/write.ts";

const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => String(from + i));

it("lines between two changes are not repeated", () => {
  const head = ["---", "name: a", "type: user", "---"];
  const before = [...head, "", "one", "two"].join("\n");
  const after = [...head.with(1, "name: b"), "", "one", "three"].join("\n");
  expect(diffLines(before, after)).toBe(" ---\n-name: a\n+name: b\n type: user\n ---\n \n one\n-two\n+three");
});

it("of many unchanged lines only those beside a change are shown", () => {
  const before = numbers(1, 30).join("\n");
  const after = before.replace("\n10\n", "\nten\n").replace("\n20\n", "\n");
  expect(diffLines(before, after)).toBe(" 7\n 8\n 9\n-10\n+ten\n 11\n 12\n 13\n…\n 17\n 18\n 19\n-20\n 21\n 22\n 23");
});

it("a long diff is cut, with the number of lines left out", () => {
  expect(diffLines("", numbers(1, 203).join("\n"))).toMatch(/\n\+200\n… and 3 more lines$/);
  expect(diffLines("same", "same")).toBe("");
});
