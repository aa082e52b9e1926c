import { expect, it } from "vitest";
import { readWords } from "../../src/text/secret-values.ts";

it("long words are kept as they are, mixed ones with where they are", () => {
  const text = "the key abc123 and camelCase\nplain-words-with-dashes internationalization ab1";
  const { long, mixed } = readWords(text);
  expect(long).toBe("plain-words-with-dashes\ninternationalization");
  expect(mixed.map(({ start, end }) => text.slice(start, end))).toEqual([
    "abc123",
    "camelCase",
    "plain-words-with-dashes",
  ]);
});

it("an empty text, and one word that is all of it", () => {
  expect(readWords("")).toEqual({ long: "", mixed: [] });
  expect(readWords("a1".repeat(8))).toEqual({ long: "a1".repeat(8), mixed: [{ start: 0, end: 16 }] });
});
