/** The golden file is written anew with `npx vitest run test/prompts -u`. */
import { describe, expect, it } from "vitest";
import { buildResultClearingSection, SUMMARIZE_TOOL_RESULTS_SECTION } from "../../src/prompts/agent.ts";

describe("tool results", () => {
  it("B5.10 B11.11 both sections read as in the golden file", async () => {
    const both = `${buildResultClearingSection(3)}\n\n${SUMMARIZE_TOOL_RESULTS_SECTION}`;
    await expect(both).toMatchFileSnapshot("golden/tool-results.md");
  });

  it.each([
    [0, "None is certain to stay."],
    [1, "Only the newest one is sure to stay."],
    [3, "Only the newest 3 are sure to stay."],
  ])("B11.11 says what stays when %i are kept", (keepRecent, words) => {
    expect(buildResultClearingSection(keepRecent)).toContain(words);
  });

  it("B5.10 asks to write down what is needed later", () => {
    expect(SUMMARIZE_TOOL_RESULTS_SECTION).toContain("write it down in your answer");
    expect(SUMMARIZE_TOOL_RESULTS_SECTION).toContain("state the gist");
  });
});
