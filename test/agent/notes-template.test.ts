import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { findDamage, MAX_NOTES_BYTES, measureNotes, parseSections, readNotesForm } from "../../src/agent/notes.ts";
import { NOTES_TEMPLATE } from "../../src/prompts/learning.ts";
import { makeTemporary } from "../temporary.ts";

const TWO = "# One\n_first hint_\n\nbody\n\n# Two\n*second hint*\n";

describe("parseSections", () => {
  it("finds headings, hints and bodies", () => {
    expect(parseSections(TWO)).toEqual([
      { heading: "One", hint: "_first hint_", body: "body" },
      { heading: "Two", hint: "*second hint*", body: "" },
    ]);
    expect(parseSections(TWO.replaceAll("\n", "\r\n"))).toEqual(parseSections(TWO));
  });

  it.each([
    ["nothing", "", []],
    ["a heading of another level", "## x\n#y\n", []],
    ["a comment in a fenced block", "# A\n```sh\n# no\n```\n# B\n", ["A", "B"]],
    ["a longer fence around a shorter one", "# A\n````\n```\n# no\n````\n# B\n", ["A", "B"]],
    ["another kind of fence inside", "# A\n~~~\n```\n~~~\n# B", ["A", "B"]],
    ["a fence that is never closed", "# A\n```\n# no\n", ["A"]],
    ["a line with words behind a fence", "# A\n```\n``` not closed\n# no\n```\n# B\n", ["A", "B"]],
  ])("%s", (_, text, headings) => {
    expect(parseSections(text).map(({ heading }) => heading)).toEqual(headings);
  });

  it("bold is no hint, and neither is a later line", () => {
    expect(parseSections("# A\n**x**\n\n# B\nx\n_y_\n").map(({ hint }) => hint)).toEqual([null, null]);
  });
});

describe("findDamage", () => {
  it.each([
    ["a new body", TWO.replace("body", "other\n## sub\n- x"), null],
    ["a fenced comment", TWO.replace("body", "```\n# x\n```"), null],
    ["a heading renamed", TWO.replace("# Two", "# Tow"), /"# Two" is missing/],
    ["a heading removed", TWO.replace("# One\n", ""), /"# One" is missing/],
    ["a heading demoted", TWO.replace("# Two", "## Two"), /"# Two" is missing/],
    ["sections swapped", "# Two\n*second hint*\n# One\n_first hint_\n", /"# One" has moved/],
    ["a hint changed", TWO.replace("first", "1st"), /italics below "# One"/],
    ["a hint removed", TWO.replace("*second hint*\n", ""), /italics below "# Two"/],
    ["a hint pushed down", TWO.replace("# One\n", "# One\nbody\n"), /italics below "# One"/],
    ["a section added at the end", `${TWO}# Three\n`, /"# Three" is new/],
    ["a section added between", TWO.replace("body", "# Mid\n"), /"# Two" has moved/],
    ["a heading twice", TWO.replace("body", "# One\n"), /"# Two" has moved/],
    ["a fence that swallows the rest", TWO.replace("body", "```"), /"# Two" is missing/],
    ["everything gone", "", /"# One" is missing/],
  ])("%s", (_, after, damage) => {
    if (damage === null) expect(findDamage(TWO, after)).toBeNull();
    else expect(findDamage(TWO, after)).toMatch(damage);
  });

  it("a section without a hint may begin with words in italics", () => {
    expect(findDamage("# A\n", "# A\n_new_\n")).toBeNull();
  });
});

describe("measureNotes", () => {
  it("B8.8 names sections above 2,000 tokens, largest first, and the sum", () => {
    const text = `# A\n_h_\n${"a".repeat(4 * 2_001)}\n# B\n${"b".repeat(4 * 3_000)}\n# C\n${"c".repeat(4 * 2_000)}`;
    const size = measureNotes(text);
    expect(size.large).toEqual([
      { heading: "B", tokens: 3_000 },
      { heading: "A", tokens: 2_001 },
    ]);
    expect(size).toMatchObject({
      totalTokens: Math.ceil(text.length / 4),
    });
  });
});

describe("the user's own template and prompt", () => {
  const read = (files: Record<string, string | Uint8Array>) => {
    const dir = makeTemporary("notes-config");
    for (const [name, text] of Object.entries(files)) fs.writeFileSync(path.join(dir, name), text);
    const logged: string[] = [];
    return { dir, logged, form: () => readNotesForm(dir, (message) => logged.push(message)) };
  };

  it("are not needed", () => {
    const { dir, logged } = read({});
    const missing = path.join(dir, "no", "such");
    expect(readNotesForm(missing, (m) => logged.push(m))).toEqual({ template: NOTES_TEMPLATE, prompt: null });
    expect(logged).toEqual([]);
  });

  it("B8.8 are used when they are there, a link and a byte order mark included", () => {
    const { dir, form } = read({ "elsewhere.md": "\ufeff# Mine\n_x_\n", "prompt.md": "Note it: {{currentNotes}}" });
    fs.symlinkSync(path.join(dir, "elsewhere.md"), path.join(dir, "template.md"));
    expect(form()).toEqual({ template: "# Mine\n_x_\n", prompt: "Note it: {{currentNotes}}" });
  });

  it.each([
    ["empty", " \n", /^$/],
    ["without a heading", "just words", /has no line that begins with "# "/],
    ["huge", "# x\n".repeat(MAX_NOTES_BYTES), /larger than 65536 bytes/],
  ])("%s: ours is used", (_, text, message) => {
    const { form, logged } = read({ "template.md": text });
    expect(form().template).toBe(NOTES_TEMPLATE);
    expect(logged.join()).toMatch(message);
  });

  it("a folder in its place, a dangling link: ours is used, with a word in the log", () => {
    const { dir, form, logged } = read({});
    fs.mkdirSync(path.join(dir, "template.md"));
    fs.symlinkSync("nowhere", path.join(dir, "prompt.md"));
    expect(form()).toEqual({ template: NOTES_TEMPLATE, prompt: null });
    expect(logged).toHaveLength(2);
  });
});
