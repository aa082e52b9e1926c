import { expect, it } from "vitest";
import { diffTexts } from "../../src/web/answer.ts";

const marks = { same: " ", added: "+", removed: "-", skipped: "…", file: "" } as const;
const show = (before: string, after: string) =>
  diffTexts(before, after).map(({ kind, text }) => `${marks[kind]}${text}`);

it("shows what changed with three lines around it, and says what is left out", () => {
  const lines = Array.from({ length: 30 }, (_, i) => `line ${i}`);
  const before = lines.join("\n");
  const after = lines.map((line, i) => (i === 10 ? "changed" : i === 25 ? "and this" : line)).join("\n");
  expect(show(before, after)).toEqual([
    "…7 lines",
    " line 7",
    " line 8",
    " line 9",
    "-line 10",
    "+changed",
    " line 11",
    " line 12",
    " line 13",
    "…8 lines",
    " line 22",
    " line 23",
    " line 24",
    "-line 25",
    "+and this",
    " line 26",
    " line 27",
    " line 28",
    " line 29",
  ]);
});

it("is empty for equal texts and whole for new and gone ones", () => {
  expect(diffTexts("a\nb", "a\nb")).toEqual([]);
  expect(show("", "a\nb\n")).toEqual(["+a", "+b"]);
  expect(show("a\nb\n", "")).toEqual(["-a", "-b"]);
});

it("takes names of objects' own fields for lines", () => {
  expect(show("constructor\n__proto__\n", "__proto__\ntoString\n")).toEqual([
    "-constructor",
    " __proto__",
    "+toString",
  ]);
});

it("stays small for texts that have nothing in common", () => {
  const text = (word: string) => Array.from({ length: 20_000 }, (_, i) => `${word} ${i}`).join("\n");
  const lines = diffTexts(text("a"), text("b"));
  expect(lines.length).toBe(1_001);
  expect(lines.at(-1)).toEqual({ kind: "skipped", text: "39000 lines" });
  expect(diffTexts("", "x".repeat(100_000))[0]?.text.length).toBeLessThan(2_100);
});
