import { expect, it } from "vitest";
import {
  type DraftStore,
  dropDraft,
  findDraft,
  keepDraft,
  layOver,
  toField,
  toFile,
} from "../../../src/web/page/views/draft.ts";

const PLACE = "/shop 0/a.md";

function openStore(): DraftStore & { kept: Map<string, string> } {
  const kept = new Map<string, string>();
  return {
    kept,
    getItem: (key) => kept.get(key) ?? null,
    setItem: (key, value) => void kept.set(key, value),
    removeItem: (key) => void kept.delete(key),
  };
}

it("a draft comes back for its own memory, until it is dropped", () => {
  const store = openStore();
  keepDraft(store, PLACE, { base: "a", text: "b" });
  expect(findDraft(store, PLACE)).toEqual({ base: "a", text: "b" });
  expect(findDraft(store, "/other 0/a.md")).toBeNull();
  dropDraft(store, PLACE);
  expect(findDraft(store, PLACE)).toBeNull();
});

it("a text that is the file's again is no draft", () => {
  const store = openStore();
  keepDraft(store, PLACE, { base: "a\r\n", text: "b\n" });
  keepDraft(store, PLACE, { base: "a\r\n", text: "a\n" });
  expect(store.kept.size).toBe(0);
});

it("what is no draft is none, and a full store is no failure", () => {
  const store = openStore();
  for (const text of ["", "{", "null", "[]", "{}", '{"base":1,"text":"x"}']) {
    store.kept.set(`memdir-draft ${PLACE}`, text);
    expect(findDraft(store, PLACE)).toBeNull();
  }
  const setItem = () => {
    throw new Error("QuotaExceededError");
  };
  expect(() => keepDraft({ ...store, setItem }, PLACE, { base: "a", text: "b" })).not.toThrow();
});

it("a file of Windows keeps its line ends, one without a change every byte, a mixed one what was typed", () => {
  expect(toField("a\r\nb\rc\n")).toBe("a\nb\nc\n");
  expect(toFile({ base: "a\r\nb\r\n", text: "a\nx\n" })).toBe("a\r\nx\r\n");
  expect(toFile({ base: "a\r\nb\n", text: "a\nb\n" })).toBe("a\r\nb\n");
  expect(toFile({ base: "a\r\nb\n", text: "a\nx\n" })).toBe("a\nx\n");
  expect(toFile({ base: "a\n", text: "a\nb\n" })).toBe("a\nb\n");
});

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
