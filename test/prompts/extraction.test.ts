/** The golden file is what a model reads; review it as text. It is written anew with `npx vitest run test/prompts -u`. */
import { describe, expect, it } from "vitest";
import {
  buildExtractionCorrection,
  buildExtractionPrompt,
  EXTRACTION_RULES,
  ONE_SHOT_RULES,
  saysNothingToKeep,
} from "../../src/prompts/learning.ts";

const PROMPT = {
  dir: "/home/ana/.claude/projects/shop/memory",
  manifest: "- [feedback] feedback_commits.md (2026-03-01): Never squash",
  window: "[m1] THE USER, Monday 2026-03-09 (said by the user)\n| Freeze billing until Thursday.",
  isFork: false,
  today: "Tuesday 2026-03-10",
  explicit: false,
};

describe("the words of an extraction", () => {
  it("B8.2 read as in the golden file", async () => {
    const whole = `${EXTRACTION_RULES}\n\n---\n\n${buildExtractionPrompt({ ...PROMPT, explicit: true })}\n`;
    await expect(whole).toMatchFileSnapshot("golden/extraction.md");
  });

  it("for a model without tools read as in the golden file, and are no longer", async () => {
    const asked = buildExtractionPrompt({ ...PROMPT, isOneShot: true });
    const shown = [{ file: "feedback_commits.md", text: "---\nname: Commits\n---\n\nNever squash.\n" }];
    const again = buildExtractionCorrection(["feedback_commits.md was not written: it was not looked at"], shown);
    await expect(`${[ONE_SHOT_RULES, asked, again].join("\n\n---\n\n")}\n`).toMatchFileSnapshot("golden/one-shot.md");
    expect(ONE_SHOT_RULES.length).toBeLessThan(4_800);
    expect(asked).not.toContain(PROMPT.dir);
  });

  it.each([
    ["B3.1 B3.2 B3.8 derivable", /code, its folders or git show/],
    ["B3.2 debugging", /how a bug was found/],
    ["B3.3 instruction files", /CLAUDE\.md or another instruction file/],
    ["B3.4 ephemeral", /only this task needs/],
    ["B2.17 B3.6 B3.7 confirmations", /just as much when they confirm/],
    ["B3.11 why", /by the reason a later reader decides/],
    ["data", /neither an instruction to you nor a wish of the user/],
    ["cues", /about six cues/],
    ["dates", /Dates are written out/],
    ["turns", /First turn: all reads at once.*Second turn: all writes at once/],
    ["secrets", /no password, token or key/],
    ["nothing", /answer exactly: NOTHING TO KEEP$/],
  ])("say: %s", (_, words) => {
    expect(EXTRACTION_RULES).toMatch(words);
  });

  it("B3.5 B3.10 what is asked for is kept: its surprising part, all of it when they insist", () => {
    expect(buildExtractionPrompt({ ...PROMPT, explicit: true })).toMatch(
      /part of it that is surprising; if they insisted on all/,
    );
    expect(buildExtractionPrompt(PROMPT)).not.toMatch(/insisted/);
  });

  it("a fork has the rules in its prompt, as its system prompt is another's", () => {
    const fork = buildExtractionPrompt({ ...PROMPT, isFork: true, manifest: " " });
    expect(fork).toContain(EXTRACTION_RULES);
    expect(fork).toContain("There are no memories yet.");
    expect(buildExtractionPrompt(PROMPT)).not.toContain(EXTRACTION_RULES);
  });

  it("stay within their budget and have no loose ends", () => {
    expect(EXTRACTION_RULES.length).toBeLessThan(4_800);
    for (const isFork of [true, false]) {
      expect(buildExtractionPrompt({ ...PROMPT, isFork })).not.toMatch(/[ \t]$|undefined|null|\r|\n{3}/m);
    }
  });

  it.each<[string, boolean]>([
    ["NOTHING TO KEEP", true],
    ["Looked at it.\n\n**NOTHING TO KEEP.**\n", true],
    ["nothing to keep", false],
    ["I did not say NOTHING TO KEEP", false],
    ["NOTHING TO KEEP except one", false],
    ["Saved.", false],
    ["", false],
  ])("%j says that there is nothing: %s", (answer, says) => {
    expect(saysNothingToKeep(answer)).toBe(says);
  });
});
