import { expect, it } from "vitest";
import {
  type DraftStore,
  dropDraft,
  findDraft,
  keepDraft,
  toField,
  toFile,
} from "../../../src/web/page/views/draft.ts";

const REF = { directory: 0, file: "a.md" };

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
  keepDraft(store, REF, { base: "a", text: "b" });
  expect(findDraft(store, REF)).toEqual({ base: "a", text: "b" });
  expect(findDraft(store, { directory: 1, file: "a.md" })).toBeNull();
  dropDraft(store, REF);
  expect(findDraft(store, REF)).toBeNull();
});

it("a text that is the file's again is no draft", () => {
  const store = openStore();
  keepDraft(store, REF, { base: "a\r\n", text: "b\n" });
  keepDraft(store, REF, { base: "a\r\n", text: "a\n" });
  expect(store.kept.size).toBe(0);
});

it("what is no draft is none, and a full store is no failure", () => {
  const store = openStore();
  for (const text of ["", "{", "null", "[]", "{}", '{"base":1,"text":"x"}']) {
    store.kept.set("memdir-draft 0/a.md", text);
    expect(findDraft(store, REF)).toBeNull();
  }
  const setItem = () => {
    throw new Error("QuotaExceededError");
  };
  expect(() => keepDraft({ ...store, setItem }, REF, { base: "a", text: "b" })).not.toThrow();
});

it("a file of Windows keeps its line ends, one without a change every byte, a mixed one what was typed", () => {
  expect(toField("a\r\nb\rc\n")).toBe("a\nb\nc\n");
  expect(toFile({ base: "a\r\nb\r\n", text: "a\nx\n" })).toBe("a\r\nx\r\n");
  expect(toFile({ base: "a\r\nb\n", text: "a\nb\n" })).toBe("a\r\nb\n");
  expect(toFile({ base: "a\r\nb\n", text: "a\nx\n" })).toBe("a\nx\n");
  expect(toFile({ base: "a\n", text: "a\nb\n" })).toBe("a\nb\n");
});
