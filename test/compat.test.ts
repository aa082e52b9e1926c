/** The seeds' own function names do what the seeds say. */

import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import * as compat from "../src/compat.ts";

const top = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "memdir-compat-")));
afterAll(() => fs.rmSync(top, { recursive: true, force: true }));

let count = 0;
/** A fresh project with a home of its own. */
function project() {
  const root = path.join(top, String(++count));
  fs.mkdirSync(path.join(root, "project", ".git"), { recursive: true });
  return {
    cwd: path.join(root, "project"),
    env: { HOME: path.join(root, "home"), MEMDIR_MANAGED_DIR: path.join(root, "managed") },
    now: () => new Date("2026-03-05T10:00:00Z"),
  };
}

const entry = (name: string, type: compat.MemoryType = "user") => ({
  name,
  description: `About ${name}`,
  type,
  content: `Body of ${name}.`,
});

describe("where the directory is", () => {
  test("getMemoryDir: / becomes -, under ~/.claude/projects, in memory (B1.3, C1, C3)", () => {
    const env = { HOME: path.join(top, "h") };
    const dir = compat.getMemoryDir("/home/user/project", { env });
    expect(dir).toBe(path.join(top, "h/.claude/projects/-home-user-project/memory"));
    const moved = compat.getMemoryDir("/home/user/project", {
      env: { ...env, CLAUDE_CONFIG_DIR: path.join(top, "c") },
    });
    expect(moved).toBe(path.join(top, "c/projects/-home-user-project/memory"));
  });

  test("getMemoryDir asks the environment first (B1.5, B1.6)", () => {
    const env = { HOME: path.join(top, "h"), CLAUDE_MEMORY_DIR: path.join(top, "mine") };
    expect(compat.getMemoryDir("/home/user/project", { env })).toBe(path.join(top, "mine"));
  });

  test("ensureMemoryDirExists makes it, private, and may be called again (B1.8)", () => {
    const { cwd, env } = project();
    const dir = compat.ensureMemoryDirExists(cwd, { env });
    expect(dir).toBe(compat.getMemoryDir(cwd, { env }));
    expect(fs.statSync(dir).mode & 0o777).toBe(0o700);
    expect(compat.ensureMemoryDirExists(cwd, { env })).toBe(dir);
    expect(compat.getIndexPath(cwd, { env })).toBe(path.join(dir, "MEMORY.md"));
  });

  test("getTeamMemDir and getTeamMemPath; a name cannot lead out (B9.2)", () => {
    expect(compat.getTeamMemDir("/p")).toBe("/p/.claude/memory");
    expect(compat.getTeamMemPath("/p", "project", "architecture")).toBe("/p/.claude/memory/project/architecture.md");
    expect(compat.getTeamMemPath("/p", "project", "architecture.md")).toBe("/p/.claude/memory/project/architecture.md");
    for (const name of ["../x", "a/b", "a\\b", "\0", "", "..", "%2e%2e%2fx", "．．"]) {
      expect(() => compat.getTeamMemPath("/p", "project", name)).toThrow();
      expect(() => compat.getTeamMemPath("/p", name, "x")).toThrow();
    }
  });
});

describe("types and entries", () => {
  test("MemoryType values equal their names in lower case and compare to plain strings (B2.1, B11.2)", () => {
    for (const [name, value] of Object.entries(compat.MemoryType)) expect(value).toBe(name.toLowerCase());
    expect(Object.keys(compat.MemoryType)).toEqual(["USER", "FEEDBACK", "PROJECT", "REFERENCE"]);
    expect(compat.MemoryType.USER === "user").toBe(true);
  });

  test("a file without fields has the defaults: name from the stem, type user (B2.2, B2.3, C8)", async () => {
    const options = project();
    const dir = compat.ensureMemoryDirExists(options.cwd, options);
    fs.writeFileSync(path.join(dir, "user-prefs.md"), "Only text.\n");
    expect(await compat.listMemories(options)).toEqual([
      {
        name: "user-prefs",
        description: "",
        type: "user",
        content: "Only text.\n",
        filename: "user-prefs.md",
        filePath: path.join(dir, "user-prefs.md"),
      },
    ]);
  });
});

describe("frontmatter", () => {
  const SEED = `---
name: test-rules
description: Testing conventions
type: project
---

Always run pytest with -x flag for fail-fast.
`;

  test("parseMemoryFrontmatter gives the seed's three keys and no more (B2.4)", () => {
    expect(compat.parseMemoryFrontmatter(SEED)).toEqual({
      name: "test-rules",
      description: "Testing conventions",
      type: "project",
    });
  });

  test("parseFrontmatter gives meta and a trimmed body (B2.5, B2.9)", () => {
    const { meta, body } = compat.parseFrontmatter(SEED);
    expect(meta.name).toBe("test-rules");
    expect(body).toBe("Always run pytest with -x flag for fail-fast.");
  });

  test.each([
    ["no frontmatter (B2.6)", "just text\n---\n", {}, "just text\n---\n"],
    ["no closing fence (B2.7)", "---\nname: x\ntext\n", {}, "---\nname: x\ntext\n"],
    ["a colon in the value (B2.8)", "---\nurl: http://a\n---\nb", { url: "http://a" }, "b"],
    ["quotes (C39)", '---\nname: "a \\"b\\""\n---\nb', { name: 'a "b"' }, "b"],
    ["a hash (C39)", "---\nname: C# and F#\n---\nb", { name: "C# and F#" }, "b"],
    ["a list (C39)", "---\nwhen:\n  - one\n  - two\n---\nb", { when: "one, two" }, "b"],
    ["CRLF", "---\r\nname: x\r\n---\r\nb\r\n", { name: "x" }, "b"],
    ["a fence with blanks", "--- \nname: x\n---  \nb", { name: "x" }, "b"],
  ])("%s", (_, text, meta, body) => {
    const parsed = compat.parseFrontmatter(text);
    expect(parsed.meta).toEqual(meta);
    expect(parsed.body).toBe(body);
  });

  test("formatFrontmatter round-trips whatever the values hold (B2.11)", () => {
    for (const value of [
      "plain",
      "a: b",
      "# not a comment",
      "[x](y)",
      "- item",
      "yes",
      "0123",
      '"quoted"',
      "two  spaces",
      "—é漢🎉",
    ]) {
      const meta = { name: value, description: `about ${value}`, type: "user" };
      const body = `Line one.\n\n${value}`;
      expect(compat.parseFrontmatter(compat.formatFrontmatter(meta, body))).toEqual({ meta, body });
    }
  });
});

describe("saving and the index", () => {
  test("saveMemory takes an entry without filename and gives {type}_{slug}.md (B4.2, B4.3, B11.8)", async () => {
    const options = project();
    const file = await compat.saveMemory(entry("Don't summarize at the end!", "feedback"), options);
    expect(file).toBe("feedback_don_t_summarize_at_the_end.md");
    const [saved] = await compat.listMemories(options);
    expect(saved).toEqual({
      ...entry("Don't summarize at the end!", "feedback"),
      filename: file,
      filePath: path.join(compat.getMemoryDir(options.cwd, options), file),
    });
    expect(await compat.saveMemory(entry("Don't summarize at the end!", "feedback"), options)).toBe(file);
  });

  test("listMemories leaves the index out; scanMemoryFiles is the same for a root (B4.9, B6.1)", async () => {
    const options = project();
    for (const name of ["one", "two"]) await compat.saveMemory(entry(name), options);
    const all = await compat.listMemories(options);
    expect(all.map((memory) => memory.filename)).toEqual(["user_one.md", "user_two.md"]);
    expect(await compat.scanMemoryFiles(options.cwd, options)).toEqual(all);
  });

  test("listMemories goes on when a file cannot be read or two share a name", async () => {
    const options = project();
    await compat.saveMemory(entry("one"), options);
    const dir = compat.getMemoryDir(options.cwd, options);
    fs.symlinkSync("/etc/hostname", path.join(dir, "user_link.md"));
    fs.mkdirSync(path.join(dir, "sub"));
    fs.writeFileSync(path.join(dir, "sub", "user_one.md"), "---\nname: user_one.md\ntype: user\n---\n\nNested.\n");
    const all = await compat.listMemories(options);
    expect(all.map(({ filename, content }) => [filename, content]).sort()).toEqual([
      ["sub/user_one.md", "Nested."],
      ["user_link.md", ""],
      ["user_one.md", "Body of one."],
    ]);
  });

  test("scanMemoryHeaders reads no bodies and tells the time (B6.2)", async () => {
    const options = project();
    await compat.saveMemory(entry("one"), options);
    const [header] = await compat.scanMemoryHeaders(options);
    expect(header).toMatchObject({ name: "one", description: "About one", filename: "user_one.md" });
    expect(header).not.toHaveProperty("content");
    expect(header?.mtimeMs).toBeGreaterThan(0);
  });

  test("updateMemoryIndex makes the index equal the files, hand-written lines stay (B4.4, C10)", async () => {
    const options = project();
    await compat.saveMemory(entry("one"), options);
    const index = compat.getIndexPath(options.cwd, options);
    fs.writeFileSync(index, "# Mine\n\n- [gone](user_gone.md) — was here\n");
    await compat.updateMemoryIndex(options);
    const text = fs.readFileSync(index, "utf8");
    expect(text).toContain("# Mine\n");
    expect(text).toContain("- [one](user_one.md) — About one\n");
    expect(text).not.toContain("user_gone.md");
  });

  test('loadMemoryIndex: "" if there is none (B4.10)', async () => {
    expect(await compat.loadMemoryIndex(project())).toBe("");
  });

  test("loadMemoryIndex: 200 lines, 25,000 characters, the warning behind (B4.11, B4.12, B4.13, B4.14)", async () => {
    const options = project();
    compat.ensureMemoryDirExists(options.cwd, options);
    const index = compat.getIndexPath(options.cwd, options);
    fs.writeFileSync(index, Array.from({ length: 250 }, (_, i) => `- line ${i + 1}`).join("\n"));
    const many = await compat.loadMemoryIndex(options);
    expect(many.split("\n").slice(0, 200).at(-1)).toBe("- line 200");
    expect(many).not.toContain("\n- line 201");
    expect(many).toMatch(/\n\n> MEMORY\.md has 250 lines \(limit 200\): .*memdir index --rebuild/);
    fs.writeFileSync(index, Array.from({ length: 199 }, (_, i) => `- ${i} ${"x".repeat(990)}`).join("\n"));
    const wide = (await compat.loadMemoryIndex(options)).split("\n\n> ")[0] as string;
    expect(wide.length).toBeLessThanOrEqual(compat.MAX_INDEX_BYTES);
    expect(wide).toMatch(/x{990}$/);
    expect([compat.MAX_INDEX_LINES, compat.MAX_INDEX_BYTES]).toEqual([200, 25_000]);
  });
});

test("memoryAge and memoryAgeDays: whole days, never negative (B7.1, B7.3)", () => {
  const now = new Date("2026-03-05T12:00:00Z");
  const at = (hours: number) => now.getTime() - hours * 3_600_000;
  expect([0, 23.9, 24, 47.9, 48, -5].map((hours) => compat.memoryAgeDays(at(hours), now))).toEqual([0, 0, 1, 1, 2, 0]);
  expect([0, 24, 48].map((hours) => compat.memoryAge(at(hours), now))).toEqual(["today", "yesterday", "2 days ago"]);
});

describe("instruction files by seed 000's names", () => {
  const root = fs.mkdtempSync(path.join(top, "instructions-"));
  const repository = path.join(root, "project");
  const env = { HOME: path.join(root, "home"), MEMDIR_MANAGED_DIR: path.join(root, "managed") };
  const put = (file: string, text: string) => {
    fs.mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
    fs.writeFileSync(path.join(root, file), text);
  };
  put("managed/CLAUDE.md", "MANAGED");
  put("home/.claude/CLAUDE.md", "USER");
  put("project/CLAUDE.md", "PROJECT");
  put("project/.claude/rules/testing.md", "RULE");
  put("project/CLAUDE.local.md", "x".repeat(40_001));
  put("extra/CLAUDE.md", "y".repeat(40_000));

  test("B0.1 B0.8 B0.13 every file with its fields; each switch adds or takes away its own", async () => {
    const all = await compat.getMemoryFiles(repository, { env });
    expect(all.map(({ source, content }) => [source, content.slice(0, 7)])).toEqual([
      ["managed", "MANAGED"],
      ["user", "USER"],
      ["project", "PROJECT"],
      ["project", "RULE"],
      ["local", "xxxxxxx"],
    ]);
    expect(all[2]).toEqual({
      path: path.join(repository, "CLAUDE.md"),
      content: "PROJECT",
      source: "project",
      isRoot: true,
      relativePath: "CLAUDE.md",
      size: 7,
      errors: [],
    });
    const sources = async (options: object) =>
      (await compat.getMemoryFiles(repository, { env, ...options })).map((f) => f.source);
    expect(await sources({ includeManaged: false })).not.toContain("managed");
    expect(await sources({ includeUser: false })).not.toContain("user");
    expect(await sources({ additionalDirs: [path.join(root, "extra")] })).toHaveLength(6);
  });

  test("B0.9 B0.10 B0.11 one text: the preamble once, a header per file, a note only for the user's", async () => {
    const text = compat.buildClaudeMdContext(await compat.getMemoryFiles(repository, { env }));
    const user = path.join(root, "home/.claude/CLAUDE.md");
    expect(text).toContain(`Contents of ${user} (user's private global instructions for all projects):\n\nUSER`);
    expect(text).toContain(`Contents of ${path.join(repository, "CLAUDE.md")}:\n\nPROJECT`);
    expect(text).toContain(`Contents of ${path.join(repository, ".claude/rules/testing.md")}:\n\nRULE`);
    expect(text.indexOf("Follow it exactly")).toBeLessThan(text.indexOf("Contents of"));
    expect(text.split("Follow it exactly")).toHaveLength(2);
    expect(compat.buildClaudeMdContext([])).toBe("");
  });

  test("B0.14 larger than the limit, not as large", async () => {
    const files = await compat.getMemoryFiles(repository, { env, additionalDirs: [path.join(root, "extra")] });
    expect(compat.MAX_MEMORY_CHARACTER_COUNT).toBe(40_000);
    expect(compat.getLargeMemoryFiles(files).map((file) => file.path)).toEqual([
      path.join(repository, "CLAUDE.local.md"),
    ]);
  });
});
