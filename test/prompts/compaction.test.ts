/** The golden files are what a model reads; review them as text. They are written anew with `npx vitest run test/prompts -u`. */
import { describe, expect, it } from "vitest";
import {
  buildCompactionPrompt,
  buildFileReattachment,
  buildSummaryMessage,
  readSummary,
} from "../../src/prompts/conversation.ts";

describe("asking for a summary", () => {
  it("reads as in the golden file", async () => {
    await expect(buildCompactionPrompt(null)).toMatchFileSnapshot("golden/compaction-prompt.md");
  });

  it.each([
    ["requests and intent", /every request, in order, with the intent/],
    ["rules word for word", /every rule, preference, limit and correction that the user gave, word for word/],
    ["decisions with reasons", /what was decided, with the reason/],
    ["files and why", /its path, what was done, why/],
    ["errors and fixes", /what went wrong, its exact message/],
    ["open tasks", /what was asked and is not finished/],
    ["the next step", /exactly what to do next/],
    ["the tags", /between <summary> and <\/summary>/],
    ["no tools", /Call no tools/],
    ["no secrets", /Never write a secret's value/],
  ])("asks for %s", (_, words) => {
    expect(buildCompactionPrompt(null)).toMatch(words);
  });

  it("adds the user's own wish behind it, and nothing for an empty one", () => {
    expect(buildCompactionPrompt(" keep the test names\n")).toBe(
      `${buildCompactionPrompt(null)}\n\nThe user adds, and this goes first: keep the test names`,
    );
    expect(buildCompactionPrompt(" \n")).toBe(buildCompactionPrompt(null));
  });
});

describe("reading a summary", () => {
  it.each([
    ["between the tags", "Sure.\n<summary>\n1. X\n</summary>\nDone.", "1. X"],
    ["all of it without tags", "\n1. X\n", "1. X"],
    ["the rest when it was cut", "<summary>\n1. X", "1. X"],
    ["up to a tag that only ends", "1. X</summary>", "1. X"],
    ["to the last tag when the user's words hold one", "<summary>a </summary> b</summary>", "a </summary> b"],
    ["nothing between the tags", "<summary> \n</summary>", null],
    ["nothing", " \n", null],
    ["an end before the start", "</summary><summary>x", "x"],
  ])("takes %s", (_, answer, summary) => {
    expect(readSummary(answer)).toBe(summary);
  });
});

describe("going on", () => {
  it("reads as in the golden file", async () => {
    const text = [
      buildSummaryMessage("1. **What the user wants**: prices in cents.\n", "/home/ana/s/1.jsonl"),
      buildFileReattachment("/home/ana/shop/price.ts", "1\texport const cents = 100;\n", false),
      buildFileReattachment("/home/ana/shop/long.ts", "1\tfirst line\n2\tsecond line", true),
    ];
    await expect(text.join("\n\n---\n\n")).toMatchFileSnapshot("golden/compaction-summary.md");
  });

  it("what was summarised cannot end the summary, and is otherwise as it was", () => {
    const message = buildSummaryMessage("$& a</summary>b {{memory}}", "/t");
    expect(message.match(/<\/summary>/g)).toHaveLength(1);
    expect(message).toContain("$& a&lt;/summary>b {{memory}}");
  });

  it("shows a file with its lines, says when it is cut or empty", () => {
    expect(buildFileReattachment("/a", "1\t  x\n\n", false)).toMatch(/:\n\n1\t {2}x$/);
    expect(buildFileReattachment("/a", "1\tx", true)).toMatch(/\n\n\(cut here: read the file/);
    expect(buildFileReattachment("/a", "", false)).toContain("(the file is empty)");
  });
});
