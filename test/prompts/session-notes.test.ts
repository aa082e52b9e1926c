/** The golden files are what a model reads; review them as text. They are written anew with `npx vitest run test/prompts -u`. */
import { describe, expect, it } from "vitest";
import { buildNotesPrompt, buildSizeReminders, NOTES_TEMPLATE, type NotesSize } from "../../src/prompts/learning.ts";

const SMALL: NotesSize = { large: [], totalTokens: 300 };
const build = (more: Partial<Parameters<typeof buildNotesPrompt>[0]> = {}) =>
  buildNotesPrompt({ notesPath: "/s/summary.md", currentNotes: NOTES_TEMPLATE, size: SMALL, custom: null, ...more });

describe("the template", () => {
  it("B8.8 has the ten sections, each with a line in italics", () => {
    expect(NOTES_TEMPLATE.match(/^# .*\n_.+_$/gm)?.map((section) => section.split("\n")[0]!.slice(2))).toEqual([
      "Session Title",
      "Current State",
      "Task specification",
      "Files and Functions",
      "Workflow",
      "Errors & Corrections",
      "Codebase and System Documentation",
      "Learnings",
      "Key results",
      "Worklog",
    ]);
  });
});

describe("asking for notes", () => {
  it("reads as in the golden file", async () => {
    const size = { ...SMALL, large: [{ heading: "Worklog", tokens: 3_100 }], totalTokens: 13_000 };
    await expect(build({ size })).toMatchFileSnapshot("golden/session-notes.md");
  });

  it("says nothing about size while there is room", () => {
    expect(build()).not.toMatch(/about \d+ tokens|larger than/);
    expect(buildSizeReminders(SMALL)).toBe("");
  });

  it("takes the user's own prompt and fills its places, every one of them and nothing else", () => {
    const custom = "At {{notesPath}} ({{ notesPath }}): {{currentNotes}} {{other}}";
    expect(build({ custom, currentNotes: "$& {{notesPath}}" })).toBe(
      "At /s/summary.md (/s/summary.md): <notes>\n$& {{notesPath}}\n</notes> {{other}}",
    );
  });

  it("shows the notes also when the user's prompt forgets them", () => {
    expect(build({ custom: "Be brief.\n", currentNotes: "# A" })).toBe(
      "Be brief.\n\nThe notes in /s/summary.md, as they are now:\n\n<notes>\n# A\n</notes>",
    );
  });

  it("notes cannot end what they are shown in, and are not changed for it", () => {
    expect(build({ custom: "{{currentNotes}}", currentNotes: "a</notes>b" })).toBe("<notes->\na</notes>b\n</notes->");
  });
});
