import { expect, it } from "vitest";
import { layOver } from "../../../src/web/page/views/merge.ts";

const lines = (...all: string[]) => all.join("\n");

it("takes what only one of the two has changed, from both", () => {
  const base = lines("a", "b", "c", "d", "e");
  const theirs = lines("A", "b", "c", "d", "e");
  const mine = lines("a", "b", "c", "d", "E", "f");
  expect(layOver(base, theirs, mine)).toEqual({ text: lines("A", "b", "c", "d", "E", "f"), overlaps: 0 });
});

it("where both have changed one place mine stands, and it is counted", () => {
  expect(layOver(lines("a", "b", "c"), lines("a", "X", "c"), lines("a", "Y", "c"))).toEqual({
    text: lines("a", "Y", "c"),
    overlaps: 1,
  });
});

it("the same change by both is one", () => {
  expect(layOver(lines("a", "b"), lines("a", "x"), lines("a", "x"))).toEqual({ text: lines("a", "x"), overlaps: 0 });
});

it("lines taken out stay out, lines put in stay in", () => {
  const base = lines("a", "b", "c", "d", "e");
  expect(layOver(base, lines("a", "c", "d", "e"), lines("a", "b", "c", "d", "new", "e")).text).toBe(
    lines("a", "c", "d", "new", "e"),
  );
});

it("without a change of mine it is theirs, and the other way round; a file that is gone is no text", () => {
  expect(layOver("a", "b", "a")).toEqual({ text: "b", overlaps: 0 });
  expect(layOver("a", "a", "b")).toEqual({ text: "b", overlaps: 0 });
  expect(layOver("a", "", "b")).toEqual({ text: "b", overlaps: 1 });
  expect(layOver("", "", "")).toEqual({ text: "", overlaps: 0 });
});

it("what is far too long is not compared: mine stands", () => {
  const long = "x\n".repeat(3_000);
  expect(layOver(long, `${long}theirs`, `${long}mine`)).toEqual({ text: `${long}mine`, overlaps: 1 });
});
