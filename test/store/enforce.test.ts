import { describe, expect, it } from "vitest";
import { compilePattern, findEnforced, lintEnforce } from "../../src/store/admit.ts";
import { parseMemory } from "../../src/store/memory.ts";

const HEAD = "name: No force push\ndescription: Never force-push here\ntype: feedback";
const memory = (block: string, head = HEAD) => `---\n${head}\n${block}\n---\n\nBody.\n`;
const find = (block: string, head?: string) => findEnforced("rule.md", memory(block, head));
const lint = (block: string, head?: string) => {
  const text = memory(block, head);
  return lintEnforce(parseMemory("rule.md", text), text);
};

const WHOLE = `enforce:
  tool: Bash            # a tool's name
  pattern: git push (-f|--force)     # on the command
  message: Never force-push; see #12.`;

const RULE = {
  name: "No force push",
  file: "rule.md",
  tools: ["Bash"],
  pattern: "git push (-f|--force)",
  paths: [],
  message: "Never force-push; see #12.",
};

describe("the enforce block", () => {
  it("is read with its remarks left out", () => {
    expect(find(WHOLE)).toEqual(RULE);
    expect(findEnforced("rule.md", Buffer.from(memory(WHOLE)))).toEqual(RULE);
    expect(findEnforced("rule.md", `\uFEFF${memory(WHOLE).replaceAll("\n", "\r\n")}`)).toEqual(RULE);
    expect(lint(WHOLE)).toEqual([]);
  });

  it("is found under metadata, where Claude Code moves it", () => {
    const moved = `metadata:\n  node_type: memory\n  type: feedback\n${WHOLE.replace(/^/gm, "  ")}\n  modified: 2026-03-01`;
    expect(find(moved, "name: No force push\ndescription: d")).toEqual(RULE);
    expect(find("metadata:\n  type: feedback\n  enforce: x", "name: a")).toBeNull();
  });

  it("has all tools, no message and several paths where it says so", () => {
    expect(find("enforce:\n  path: src/generated/**")).toMatchObject({
      tools: ["*"],
      pattern: null,
      paths: ["src/generated/**"],
      message: "Never force-push here",
    });
    expect(find("enforce: {tool: 'Write | Edit', path: [a/**, 'b c/*']}")).toMatchObject({ tools: ["Write", "Edit"] });
    expect(find("enforce:\n  tool: Write|Edit\n  path:\n    - a/**\n    - b/*")).toMatchObject({
      tools: ["Write", "Edit"],
      paths: ["a/**", "b/*"],
    });
    expect(find("enforce:\n  pattern: 'a # b'")).toMatchObject({ pattern: "a # b" });
    expect(find("enforce:\n  pattern: 'x'", "name: only a name\ntype: feedback")).toMatchObject({
      message: "only a name",
    });
  });

  it.each([
    ["none", "other: x"],
    ["the word in the text", "x: enforce"],
    ["nothing in it", "enforce:"],
    ["a text in its place", "enforce: git push"],
    ["a list in its place", "enforce:\n  - tool: Bash\n    pattern: a"],
    ["neither pattern nor path", "enforce:\n  tool: Bash\n  message: x"],
    ["an expression that is none", "enforce:\n  pattern: git (push"],
    ["a list for a pattern", "enforce:\n  pattern: [abc]"],
    ["a backspace for a word's edge", 'enforce:\n  pattern: "\\bgit"'],
  ])("with %s forbids nothing", (_, block) => {
    expect(find(block)).toBeNull();
  });

  it("of a memory that is no correction, or that nobody said, forbids nothing", () => {
    for (const type of ["user", "project", "reference", "other", ""]) {
      expect(find(WHOLE, `name: a\ntype: ${type}`)).toBeNull();
    }
    for (const source of ["inferred session=1", "tool", "document", "import", "someone"]) {
      expect(find(WHOLE, `${HEAD}\nsource: ${source}`)).toBeNull();
      expect(find(WHOLE, `${HEAD}\nsource:\n  by: ${source}`)).toBeNull();
    }
    for (const source of ["user", "User session=1 message=2"]) {
      expect(find(WHOLE, `${HEAD}\nsource: ${source}`)).toEqual(RULE);
    }
  });

  it("survives what is no memory at all", () => {
    for (const text of [
      "",
      "enforce:",
      "---\nenforce:\n",
      "---\nenforce:\n  pattern: a",
      "\0enforce:",
      "---\n---\nenforce:",
    ]) {
      expect(findEnforced("x.md", text)).toBeNull();
    }
    expect(findEnforced("x.md", Buffer.from([0xff, 0xfe, 0, ...Buffer.from("enforce:")]))).toBeNull();
    expect(findEnforced("x.md", `---\nenforce:\n  pattern: \ud800\n  x${" ".repeat(100_000)}\n---\n`)).toBeNull();
  });

  it("is linted: what cannot be used, and why it is not enforced", () => {
    expect(lint("enforce:\n  tool: Bash\n  patern: a")).toEqual([
      expect.stringContaining('does not know "patern"'),
      expect.stringContaining("neither a pattern nor a path"),
    ]);
    expect(lint("enforce:\n  pattern: git (push")).toEqual([
      expect.stringMatching(/not a regular expression: Unterminated group$/),
    ]);
    expect(lint("enforce:\n  pattern: [abc]")[0]).toContain("put it in quotes");
    expect(lint('enforce:\n  pattern: "\\bgit"')[0]).toContain("backslash must be doubled");
    expect(lint("enforce: git push")[0]).toContain("must hold lines");
    expect(lint(WHOLE, "name: a\ntype: project")).toEqual([expect.stringContaining("only memories of type feedback")]);
    expect(lint(WHOLE, `${HEAD}\nsource: inferred`)).toEqual([expect.stringContaining('source is "inferred"')]);
    expect(lint("other: x")).toEqual([]);
  });
});

describe("a pattern", () => {
  it("sees every line of a command, and letters of any case when it asks for it", () => {
    expect(compilePattern("^git push")?.test("cd x\ngit push")).toBe(true);
    expect(compilePattern("(?i)drop table")?.test("DROP TABLE x")).toBe(true);
    expect(compilePattern("drop table")?.test("DROP TABLE x")).toBe(false);
    expect(compilePattern("(")).toBeNull();
    expect(compilePattern("(?i)(")).toBeNull();
  });
});
