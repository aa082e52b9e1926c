import { expect, it } from "vitest";
import { TOOL_WORDS } from "../../src/prompts/tool-descriptions.ts";
import { sha256 } from "../../src/text/hash.ts";

it.each(Object.entries(TOOL_WORDS))("%s has words for itself and for each input", (_, { description, inputs }) => {
  expect(description.length).toBeGreaterThan(100);
  // Sent with every request: short, and readable as plain text.
  expect(description.length).toBeLessThan(1500);
  for (const line of description.split("\n")) expect(line).toBe(line.trimEnd());
  for (const words of Object.values(inputs)) expect(words).toMatch(/^\S.*[^\s.]$/);
});

it("says what a model must know to be let through", () => {
  expect(TOOL_WORDS.Edit.description).toMatch(/Read the file first/);
  expect(TOOL_WORDS.Edit.description).toMatch(/only once/);
  expect(TOOL_WORDS.Write.description).toMatch(/read it again/);
  expect(TOOL_WORDS.Grep.description).toMatch(/rather than grep/);
  for (const name of ["Write", "Edit", "Bash"] as const) expect(TOOL_WORDS[name].description).toMatch(/permission/);
});

it("holds nothing of a machine or a moment", () => {
  const all = JSON.stringify(TOOL_WORDS);
  expect(all).not.toMatch(/\/(?:home|Users|tmp|work)\b|\b20\d\d-\d\d/);
  expect(sha256(all)).toBe(sha256(JSON.stringify(TOOL_WORDS)));
});
