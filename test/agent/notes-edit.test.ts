import path from "node:path";
import { describe, expect, it } from "vitest";
import { openNotesEdit } from "../../src/agent/notes.ts";
import { openEdit } from "../../src/tools/edit.ts";
import type { Workbench } from "../../src/tools/workbench.ts";

const FILE = path.resolve("/s/summary.md");

function open(text = "# A\n_h_\n\nold\n\n# B\n_i_\n") {
  const draft = { text, edits: 0 };
  const tool = openNotesEdit(FILE, draft);
  const run = (old: string, fresh: unknown, more: object = {}) =>
    tool.run({ file_path: FILE, old_string: old, new_string: fresh, ...more }, { id: "1", signal: neverAborted });
  return { draft, tool, run };
}

const neverAborted = new AbortController().signal;

describe("the Edit tool of session notes", () => {
  it("is declared as the agent's own, so that the provider's cache holds", () => {
    const { name, description, schema } = open().tool;
    const own = openEdit({} as Workbench, (() => {}) as never);
    expect({ name, description, schema }).toEqual({ name: own.name, description: own.description, schema: own.schema });
  });

  it("edits the draft", () => {
    const { draft, run } = open();
    expect(run("old", "new $& {{x}}")).toBe("edited");
    expect(draft).toEqual({ text: "# A\n_h_\n\nnew $& {{x}}\n\n# B\n_i_\n", edits: 1 });
  });

  it("keeps CRLF", () => {
    const { draft, run } = open("# A\r\n_h_\r\nold\r\n");
    run("_h_\nold", "_h_\na\nb");
    expect(draft.text).toBe("# A\r\n_h_\r\na\r\nb\r\n");
  });

  it.each(["/etc/passwd", "summary.md", "../s/summary.md", `${FILE}.md`, path.dirname(FILE), "/s/../x/summary.md"])(
    "B8.8 refuses any other file: %s",
    (file) => {
      const { draft, run } = open();
      expect(() => run("old", "new", { file_path: file })).toThrow(/only .*summary\.md can be edited here/);
      expect(draft.edits).toBe(0);
    },
  );

  it.each([
    ["a heading changed", "# A", "# Z", {}, /heading "# A" is missing/],
    ["a hint changed", "_h_", "_g_", {}, /italics below "# A"/],
    ["a heading added", "old", "old\n\n# C\n", {}, /must stay/],
    ["a text that is not there", "none", "x", {}, /not found/],
    ["a text that is there twice", "\n\n", "\n", {}, /occurs 2 times/],
    ["nothing to look for", "", "x", {}, /old_string is empty/],
    ["no change", "old", "old", {}, /the same/],
    ["a NUL", "old", "a\0b", {}, /NUL/],
    ["half a character", "old", "\ud800", {}, /surrogate/],
    ["no text", "old", 7, {}, /must be a string/],
    ["another input", "old", "new", { content: "x" }, /no input "content"/],
    ["far too much", "old", "x".repeat(70_000), {}, /larger than 65536 bytes/],
  ])("refuses %s, and the draft stays", (_, old, fresh, more, message) => {
    const { draft, run } = open();
    const before = draft.text;
    expect(() => run(old, fresh, more)).toThrow(message);
    expect(draft).toEqual({ text: before, edits: 0 });
  });

  it("B8.8 reminds of a section that has grown too large, and of all of them", () => {
    const { run } = open();
    expect(run("old", "x".repeat(10_000))).toMatch(
      /^edited\n\nThese sections are larger than 2000 tokens.*\n- "A": about 2500/,
    );
    expect(run("_i_\n", `_i_\n${"y".repeat(48_000)}\n`)).toMatch(/must come down to 12000[\s\S]*- "B"[\s\S]*- "A"/);
  });
});
