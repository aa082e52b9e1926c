/** The golden file is written anew with `npx vitest run test/prompts -u`. */
import { describe, expect, it } from "vitest";
import {
  buildAgentList,
  buildChange,
  buildNestedInstructions,
  buildSkillList,
  buildWithdrawal,
} from "../../src/prompts/conversation.ts";

const SKILL = {
  name: "pdf-forms",
  description: "Fills in PDF forms",
  path: "/home/ana/.claude/skills/pdf-forms/SKILL.md",
};

describe("attachments", () => {
  it("B10.3 B11.10 read as in the golden file", async () => {
    const texts = [
      buildNestedInstructions("/home/ana/shop/api/CLAUDE.md", "Handlers are thin."),
      buildSkillList([SKILL]),
      buildAgentList([
        { name: "Explore", description: "Looks around, changes nothing" },
        { name: "Plan", description: "" },
      ]),
      buildChange("- Explore"),
      buildWithdrawal("skills", "all"),
    ];
    await expect(texts.join("\n\n---\n\n")).toMatchFileSnapshot("golden/attachments.md");
  });

  it("are nothing when there is nothing to list or say", () => {
    expect([buildSkillList([]), buildAgentList([])]).toEqual(["", ""]);
  });

  it("keep a nested file byte for byte", () => {
    const content = "\uFEFF  $& {{memory}}\r\n\n";
    expect(buildNestedInstructions("/a", content)).toBe(`Contents of /a:\n\n${content}`);
  });

  it("keep each row on its line, and cut what is too long but not its path", () => {
    const rows = buildSkillList([{ ...SKILL, name: "a\n- b", description: `${"x".repeat(298)}🤖 more\nlines` }]).split(
      "\n",
    );
    expect(rows).toHaveLength(3);
    expect(rows[2]).toBe(`- a - b (${SKILL.path}): ${"x".repeat(298)}…`);
  });
});
