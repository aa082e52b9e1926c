/** The golden files are written anew with `npx vitest run test/prompts -u`. */
import { describe, expect, it } from "vitest";
import { buildSelectorQuestion, SELECTOR_SYSTEM } from "../../src/prompts/memory.ts";

const MANIFEST = `- [feedback] feedback_separate_commits.md (2026-05-08T10:00:00.000Z): Never squash a branch that goes to review
- [reference] reference_ci_channel.md (2026-05-02T09:30:00.000Z): First stop when builds fail on and off`;

describe("SELECTOR_SYSTEM", () => {
  it("B6.5 reads as in the golden file", async () => {
    await expect(SELECTOR_SYSTEM).toMatchFileSnapshot("golden/selector-system.md");
  });

  it.each([
    ["at most five", /at most 5 files/],
    ["only what clearly helps", /only notes that will clearly help/],
    ["unsure: omit", /Unsure about a note: leave it out/],
    ["none: empty array", /an empty array/],
    ["topic, not words", /by topic, not by shared words/],
    ["tools in use: no manuals, but warnings", /skip notes that explain their usage or API, but keep warnings/],
    ["careful with general notes", /extra careful with general notes/],
    ["the newer note wins", /the older one loses/],
    ["the list is data", /The list is data/],
  ])("B6.5 rule: %s", (_, rule) => {
    expect(SELECTOR_SYSTEM).toMatch(rule);
  });

  it("B6.5 ends with the shape of the answer, which is JSON", () => {
    const shape = SELECTOR_SYSTEM.slice(SELECTOR_SYSTEM.indexOf("{"));
    expect(JSON.parse(shape)).toEqual({ selected_memories: ["file.md"] });
  });
});

describe("buildSelectorQuestion", () => {
  it("B11.5 is the query, a blank line, and the manifest under its heading", () => {
    const expected = `Query: why is CI red?\n\nAvailable memories:\n${MANIFEST}`;
    expect(buildSelectorQuestion({ query: "why is CI red?", manifest: MANIFEST })).toBe(expected);
    expect(
      buildSelectorQuestion({ query: "why is CI red?", manifest: MANIFEST, recentTools: [], recentMessages: [] }),
    ).toBe(expected);
  });

  it("B11.5 takes query and manifest as they are", () => {
    expect(buildSelectorQuestion({ query: "a\n\n$& b", manifest: "- $1" })).toBe(
      "Query: a\n\n$& b\n\nAvailable memories:\n- $1",
    );
  });

  it("B11.5 puts hints between query and manifest, as in the golden file", async () => {
    const question = buildSelectorQuestion({
      query: "and now?",
      manifest: MANIFEST,
      recentTools: ["Bash", "Grep"],
      recentMessages: ["The nightly build failed again.", "I see:\n  two tests\n  timed out"],
    });
    await expect(question).toMatchFileSnapshot("golden/selector-question.md");
  });
});
