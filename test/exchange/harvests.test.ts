/** Every importer on a small example of what its source writes, and on what it should not stumble over. */

import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { MAX_FILE_BYTES, MAX_WALKED, timeOf } from "../../src/exchange/imported.ts";
import { readMem0, readMemdirJson, readServerMemory } from "../../src/exchange/json-sources.ts";
import {
  readBasicMemory,
  readClaudeCode,
  readCodex,
  readCursor,
  readGemini,
  readMarkdown,
  splitItems,
  splitSections,
} from "../../src/exchange/markdown-sources.ts";
import { slugOf } from "../../src/project/locate.ts";
import { makeTemporary } from "../temporary.ts";

const fixture = (name: string) => fileURLToPath(new URL(`fixtures/${name}`, import.meta.url));

/** A folder with these files. */
function folder(files: Record<string, string | Uint8Array>): string {
  const top = makeTemporary("exchange", "memory");
  for (const [name, content] of Object.entries(files)) {
    fs.mkdirSync(path.dirname(path.join(top, name)), { recursive: true });
    fs.writeFileSync(path.join(top, name), content);
  }
  return top;
}

describe("Codex", () => {
  it("makes a memory of each section of the handbook and the summary, and passes over raw material", () => {
    const top = folder({
      "MEMORY.md": fs.readFileSync(fixture("codex-memory.md")),
      "memory_summary.md": fs.readFileSync(fixture("codex-summary.md")),
      "raw_memories.md": "# Raw\n\nthings",
      "rollout_summaries/a.md": "# Not this one\n\ntext",
    });
    const { found, problems } = readCodex(top);
    expect(found.map(({ name }) => name)).toEqual([
      "Task Group: payments service",
      "Task Group: payments service: Reusable knowledge",
      "Task Group: payments service: Failures and how to do differently",
      "User preferences",
      "User Profile",
      "General Tips",
    ]);
    expect(found[1]).toMatchObject({
      description: "The integration tests need a running Postgres on port 5433.",
      trust: "inferred",
      origin: { from: "codex", id: "MEMORY.md/Task Group: payments service/Reusable knowledge" },
    });
    expect(found[1]?.body).toContain("# not a heading");
    expect(problems).toEqual(["raw_memories.md is skipped: the other files were made of it"]);
  });

  it("reads a single file", () => {
    expect(readCodex(fixture("codex-summary.md")).found).toHaveLength(2);
  });
});

describe("Gemini", () => {
  it("takes the items of its own section and nothing else of the file", () => {
    const { found, problems } = readGemini(fixture("gemini.md"));
    expect(problems).toEqual([]);
    expect(found.map(({ body }) => body)).toEqual([
      "The user prefers tabs in Go files.",
      "Always run the linter before a commit:\n`make lint`, and mend what it says.",
      "我更喜欢中文回复。",
    ]);
    expect(found[0]).toMatchObject({ trust: "user", name: "The user prefers tabs in Go files" });
    expect(new Set(found.map(({ origin }) => origin.id)).size).toBe(3);
  });

  it("finds the file in a folder, and says when there is no such section", () => {
    const top = folder({ "GEMINI.md": "# Rules\n\n```\n## Gemini Added Memories\n- in code\n```\n" });
    expect(readGemini(top)).toMatchObject({ found: [], problems: [expect.stringContaining("no section")] });
  });
});

describe("Cursor", () => {
  const rule =
    "---\ndescription: How we write TypeScript\nglobs: src/**/*.{ts,tsx}, *.cts\nalwaysApply: false\n---\n\n# TypeScript\n\nNever use `any`.\n";

  it("reads rules in all folders, the older file, and the globs as cues; all of it is a document", () => {
    const top = folder({
      ".cursor/rules/type-script.mdc": rule,
      ".cursor/rules/deep/er/naming.mdc": "Names are nouns.\n",
      ".cursor/rules/readme.md": "not a rule",
      ".cursorrules": "Answer in one sentence.\n",
      "elsewhere.mdc": "not in the folder",
    });
    const { found, problems } = readCursor(top);
    expect(problems).toEqual([]);
    expect(found.map(({ name, origin }) => [name, origin.id])).toEqual([
      ["naming", "deep/er/naming.mdc"],
      ["type script", "type-script.mdc"],
      ["cursor rules", ".cursorrules"],
    ]);
    expect(found[1]).toMatchObject({
      description: "How we write TypeScript",
      when: ["working on src/**/*.{ts,tsx}", "working on *.cts"],
      trust: "document",
      type: null,
    });
    expect(readCursor(path.join(top, ".cursor", "rules")).found).toHaveLength(2);
    expect(readCursor(path.join(top, ".cursor", "rules", "type-script.mdc")).found).toHaveLength(1);
  });

  it.skipIf(process.platform === "win32")("follows no link", () => {
    const top = folder({ ".cursor/rules/a.mdc": "text", "secret.txt": "outside" });
    fs.symlinkSync(path.join(top, "secret.txt"), path.join(top, ".cursor", "rules", "b.mdc"));
    const { found, problems } = readCursor(top);
    expect(found.map(({ name }) => name)).toEqual(["a"]);
    expect(problems).toEqual(["b.mdc is a symbolic link: skipped"]);
  });
});

describe("server-memory", () => {
  it("makes a memory of each entity with its relations, and counts what it cannot use", () => {
    const { found, problems } = readServerMemory(fixture("server-memory.jsonl"));
    expect(found.map(({ name }) => name)).toEqual(["default_user", "Anthropic_Deploy"]);
    expect(found[0]).toMatchObject({
      type: "user",
      description: "person: Speaks fluent Spanish",
      body: "- Speaks fluent Spanish\n- Prefers morning meetings\n\n- approves [[Anthropic_Deploy]]",
      trust: "inferred",
    });
    expect(problems).toEqual([
      "skipped 1 line: neither an entity nor a relation",
      "skipped 1 relation: the entity that it starts from is missing",
    ]);
  });

  it("survives lines of any JSON", () => {
    const top = folder({
      "m.jsonl": '1\nnull\n[]\n"x"\n{"type":"entity","name":7}\n{"type":"entity","name":"a","observations":"no"}\n',
    });
    expect(readServerMemory(path.join(top, "m.jsonl")).found).toEqual([]);
  });
});

describe("mem0", () => {
  it("reads results with their times and categories", () => {
    const { found, problems } = readMem0(fixture("mem0.json"));
    expect(found.map(({ at, origin }) => [origin.id.slice(0, 8), at])).toEqual([
      ["6d1f3a3e", "2025-03-04T16:00:00.000Z"],
      ["b", "2025-02-19T21:20:00.000Z"],
    ]);
    expect(found[0]?.body).toBe("Prefers morning meetings and asynchronous communication\n\nTags: work, habits");
    expect(problems).toEqual(["skipped 1 entry without text"]);
  });

  it.each([
    ['[{"id":"1","memory":"Likes tea"}]', 1],
    ['{"memories":[{"id":"1","content":"Likes tea"}]}', 1],
    ['{"data":[{"text":"Likes tea"}]}', 1],
    ['["Likes tea", "Likes rain"]', 2],
    ['{"memory":"Likes tea"}\n{"memory":"Likes rain"}\n', 2],
    ['{"anything":"else"}', 0],
    ["no JSON at all", 0],
    ["null", 0],
    ["", 0],
  ])("reads %s", (text, count) => {
    const top = folder({ "export.json": text });
    const { found, problems } = readMem0(path.join(top, "export.json"));
    expect(found).toHaveLength(count);
    if (count === 0) expect(problems).toHaveLength(1);
  });
});

describe("Markdown", () => {
  it("names a note by its frontmatter, its heading or its file, and keeps tags and dates", () => {
    const top = folder({
      "a.md": "---\ntitle: From the field\ntags: [x, '#y']\nupdated: 2024-05-06\n---\n\nText of it.\n",
      "sub/b.md": "# From the heading\n\nFirst words.\n\n# Another\n\nMore.\n",
      "c d.md": "\uFEFFPlain words.\r\nMore of them.\r\n",
      "MEMORY.md": "an index is no note",
      ".obsidian/app.md": "hidden",
      "empty.md": "\n",
      "image.png": "no",
    });
    const { found, problems } = readMarkdown(top);
    expect(found.map(({ name }) => name)).toEqual(["From the field", "c d", "From the heading"]);
    expect(found[0]).toMatchObject({
      at: "2024-05-06T00:00:00.000Z",
      body: "Text of it.\n\nTags: x, y",
      trust: "document",
    });
    expect(found[1]).toMatchObject({ body: "Plain words.\nMore of them.", description: "Plain words." });
    expect(found[2]?.body).toBe("First words.\n\n# Another\n\nMore.");
    expect(problems).toEqual(["empty.md is empty: skipped"]);
  });

  it("passes over what is no text, too large, unreadable or a link, and says so", () => {
    const top = folder({
      "binary.md": Buffer.from([0xff, 0xfe, 0, 1]),
      "broken.md": "---\ntitle: never closed\n\nText.\n",
      "good.md": "Good.",
    });
    fs.truncateSync(path.join(top, "good.md"), 0);
    fs.writeFileSync(path.join(top, "good.md"), "Good.");
    fs.writeFileSync(path.join(top, "large.md"), "");
    fs.truncateSync(path.join(top, "large.md"), MAX_FILE_BYTES + 1);
    if (process.platform !== "win32") fs.symlinkSync("/etc/hostname", path.join(top, "link.md"));
    const { found, problems } = readMarkdown(top);
    expect(found.map(({ name }) => name)).toEqual(["broken", "good"]);
    expect(problems.join("\n")).toContain("binary.md is not valid UTF-8");
    expect(problems.join("\n")).toContain("large.md has 10485761 bytes");
    if (process.platform !== "win32") expect(problems.join("\n")).toContain("link.md is a symbolic link");
  });

  it("knows basic-memory's notes by their permalink and keeps observations and relations", () => {
    const { found } = readBasicMemory(fixture("basic-memory.md"));
    expect(found).toHaveLength(1);
    expect(found[0]).toMatchObject({
      name: "Authentication Design",
      origin: { from: "basic-memory", id: "designs/authentication-design" },
      type: null,
      trust: "inferred",
    });
    expect(found[0]?.body).toMatch(
      /^## Observations\n- \[decision\][\s\S]*depends_on \[\[User Schema\]\]\n\nTags: auth, backend$/,
    );
  });
});

describe("Claude Code", () => {
  const memory =
    "---\nname: use-pnpm\ndescription: Package manager\nmetadata:\n  type: feedback\n  node_type: memory\n---\n\nUse pnpm, never npm.\n";

  it("reads a folder of memories from the folder, the project's folder around it, or the project's path", () => {
    const top = folder({ [`projects/${slugOf("/work/shop")}/memory/use-pnpm.md`]: memory });
    const around = path.join(top, "projects", slugOf("/work/shop"));
    for (const given of [path.join(around, "memory"), around, "/work/shop"]) {
      const { found } = readClaudeCode(given, top);
      expect(found).toHaveLength(1);
      expect(found[0]).toMatchObject({
        name: "use-pnpm",
        type: "feedback",
        text: memory,
        file: "use-pnpm.md",
        origin: { from: "claude-code", id: `${slugOf("/work/shop")}/use-pnpm.md` },
      });
    }
  });

  it("reads a flat folder beside transcripts without the folders of sessions", () => {
    const top = folder({
      "one.md": "Words of one.",
      "abc.jsonl": "{}",
      "abc/tool-results/output.md": "no memory",
    });
    expect(readClaudeCode(top, "/nowhere").found.map(({ name }) => name)).toEqual(["one"]);
  });

  it("takes notes that stand in MEMORY.md itself, and the index's words for files without a description", () => {
    const top = folder({
      "MEMORY.md":
        "# Memory\n\n## Testing\n- Run one worker\n- Seed first\n\n## Files\n- [One](one.md) — about the one\n",
      "one.md": "---\nname: one\ntype: user\n---\n\nBody.\n",
    });
    const { found } = readClaudeCode(top, "/nowhere");
    expect(found.map(({ name, description }) => [name, description])).toEqual([
      ["one", "about the one"],
      ["Testing", "Run one worker"],
    ]);
    expect(found[1]?.body).toBe("- Run one worker\n- Seed first");
  });

  it("finds nothing in a folder that is empty or missing", () => {
    expect(readClaudeCode(folder({}), "/nowhere")).toEqual({ found: [], problems: [] });
    expect(readClaudeCode("/nowhere/at/all", "/nowhere")).toEqual({ found: [], problems: [] });
  });
});

it("does not walk through a whole disk, and says how to go on", () => {
  const top = folder({ "deep/one.md": "# One\n\nA note.\n" });
  for (let at = 0; at < MAX_WALKED; at++) fs.mkdirSync(path.join(top, `folder ${at}`));
  const refusal = new RegExp(`has more than ${MAX_WALKED} files and folders: name a folder within it`);
  expect(() => readClaudeCode(top, "/nowhere")).toThrow(refusal);
  expect(() => readMarkdown(top)).toThrow(refusal);
  expect(readMarkdown(path.join(top, "deep")).found).toHaveLength(1);
});

it("reads memdir's JSON leniently, and trusts fields without their file less", () => {
  const top = folder({
    "a.json": JSON.stringify({ memories: [{ name: "a", type: "feedback", body: "Do it." }, {}, null, 7, { text: 5 }] }),
    "b.json": "[1, 2",
  });
  const { found, problems } = readMemdirJson(path.join(top, "a.json"));
  expect(found).toMatchObject([{ name: "a", type: "feedback", trust: "inferred" }]);
  expect(problems).toEqual(["skipped 4 entries without name and text"]);
  expect(readMemdirJson(path.join(top, "b.json")).problems).toHaveLength(1);
});

it.skipIf(process.platform === "win32" || process.getuid?.() === 0)("names a file that may not be read", () => {
  const top = folder({ "a.json": "[]" });
  fs.chmodSync(path.join(top, "a.json"), 0);
  expect(readMem0(path.join(top, "a.json")).problems).toEqual(["a.json cannot be read (EACCES): skipped"]);
});

it("takes a document apart without being fooled by code", () => {
  expect(splitSections("before\n# A\n~~~\n# no\n~~~\n## B ##\nb\n### C\nc\n# D\n")).toEqual([
    { path: [], body: "before" },
    { path: ["A"], body: "~~~\n# no\n~~~" },
    { path: ["A", "B"], body: "b\n### C\nc" },
  ]);
  expect(splitItems("- one\n  - inner\n\n* two\n1. three\n```\n- no\n```\n")).toEqual([
    "one\n- inner",
    "two",
    "three\n```\n- no\n```",
  ]);
});

it("takes no longer for lines as long as a file", () => {
  const long = `${" ".repeat(400_000)}x`;
  const top = folder({
    "a.md": `# a${long}\n\n${long}\n`,
    "b.md": `---\nglobs: ${",".repeat(400_000)}\n---\n\n## b${long}\n\n- ${long}\n`,
    "GEMINI.md": `## Gemini Added Memories\n- ${"a ".repeat(200_000)}\n- ${"#".repeat(400_000)}\n`,
    "m.json": JSON.stringify([{ memory: "n't".repeat(200_000) }, { memory: "语".repeat(200_000) }]),
  });
  expect(readMarkdown(top).found).toHaveLength(3);
  expect(readCursor(path.join(top, "b.md")).found).toHaveLength(1);
  expect(readGemini(top).found).toHaveLength(2);
  expect(readMem0(path.join(top, "m.json")).found).toHaveLength(2);
});

it.skipIf(process.platform === "win32")("is not held up by a pipe", () => {
  const top = folder({});
  execFileSync("mkfifo", [path.join(top, "pipe.md")]);
  expect(readMarkdown(top)).toEqual({ found: [], problems: ["pipe.md is skipped: not a regular file"] });
  expect(readMem0(path.join(top, "pipe.md")).problems).toEqual([
    "pipe.md is missing, a link or not a regular file: skipped",
  ]);
});

it("reads times as sources write them", () => {
  expect(timeOf(1_740_000_000)).toBe("2025-02-19T21:20:00.000Z");
  expect(timeOf(1_740_000_000_000n)).toBe("2025-02-19T21:20:00.000Z");
  for (const none of ["soon", "", null, Number.NaN, 1e300, {}, "2025-99-99"]) expect(timeOf(none)).toBeNull();
});
