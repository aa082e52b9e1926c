import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import {
  examineInstructions,
  type InstructionFile,
  type InstructionSource,
  LABELS,
  MAX_CHARACTERS,
} from "../../src/instructions/file.ts";
import { makeWorld } from "../world.ts";
import { open, put } from "./open.ts";

function file(content: string, source: InstructionSource = "project", name = "/p/CLAUDE.md"): InstructionFile {
  return { path: name, source, label: LABELS[source], content, size: content.length, importedBy: null };
}

describe("size", () => {
  it("B0.14: 40,000 characters, strictly greater", async () => {
    expect(MAX_CHARACTERS).toBe(40_000);
    const exact = file("x".repeat(40_000));
    const over = file("x".repeat(40_001));
    const problems = await examineInstructions([exact, over]);
    expect(problems).toEqual([
      { path: over.path, rule: "large", message: expect.stringContaining("40001 characters") },
    ]);
  });

  it("B0.15 B0.16 C37: the message names path, limit and size, and advises rules", async () => {
    const world = makeWorld();
    const root = put(world.project, "CLAUDE.md", "x ".repeat(20_001).trim());
    put(world.project, "CLAUDE.local.md", "x".repeat(40_000));
    put(world.project, ".gitignore", "CLAUDE.local.md\n");
    const problems = await open(world).problems();
    expect(problems.map(({ path: name, rule }) => [name, rule])).toEqual([[root, "large"]]);
    for (const part of [root, "40000", "40001", ".claude/rules"]) expect(problems[0]?.message).toContain(part);
  });

  it("B0.14: counted is what is loaded, without frontmatter, comments and blank space around", async () => {
    const world = makeWorld();
    const note = `<!-- ${"n".repeat(50_000)} -->`;
    put(world.project, "CLAUDE.md", `---\na: b\n---\n${note}\n\n${"x".repeat(40_000)}\n\n`);
    expect(await open(world).problems()).toEqual([]);
  });
});

describe("secrets", () => {
  // In parts, so that no scanner takes this file for a leak.
  const token = ["ghp", "_", "a1B2c3D4e5F6g7H8i9J0", "k1L2m3N4o5P6q7R8"].join("");

  it("B0.16: are reported by rule and line, never by value", async () => {
    const world = makeWorld();
    const root = put(world.project, "CLAUDE.md", `first\n\nthe token is ${token}\n`);
    const problems = await open(world).problems();
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatchObject({ path: root, rule: "secret" });
    expect(problems[0]?.message).toContain("github-token");
    expect(problems[0]?.message).toContain("line 3");
    expect(JSON.stringify(problems)).not.toContain(token.slice(4, 16));
  });

  it("B0.16: in imported files and rules, too", async () => {
    const world = makeWorld();
    put(world.project, "CLAUDE.md", "see @more.md");
    const more = put(world.project, "more.md", token);
    const rule = put(world.project, ".claude", "rules", "r.md", token);
    const problems = await open(world).problems();
    expect(problems.map((each) => each.path).sort()).toEqual([rule, more].sort());
  });
});

describe("the private file", () => {
  it("B0.16: CLAUDE.local.md that git does not ignore is reported, an ignored one is not", async () => {
    const world = makeWorld();
    const local = put(world.project, "CLAUDE.local.md", "mine");
    const problems = await open(world).problems();
    expect(problems.map(({ path: name, rule }) => [name, rule])).toEqual([[local, "tracked-local"]]);
    expect(problems[0]?.message).toContain(".gitignore");
    put(world.project, ".gitignore", "CLAUDE.local.md\n");
    expect(await open(world).problems()).toEqual([]);
  });

  it("B0.16: outside git there is nothing to leak into; an import of it is not meant", async () => {
    const world = makeWorld();
    fs.rmSync(path.join(world.project, ".git"), { recursive: true });
    put(world.project, "CLAUDE.local.md", "mine");
    expect(await open(world).problems()).toEqual([]);
    expect(await examineInstructions([file("x", "local", "/nowhere/at/all/CLAUDE.local.md")])).toEqual([]);
    expect(await examineInstructions([file("x", "local", path.join(world.project, "imported.md"))])).toEqual([]);
  });

  it("B0.16: one that is tracked although it is ignored is reported", async () => {
    const world = makeWorld();
    const local = put(world.project, "CLAUDE.local.md", "mine");
    world.git("add", "-f", "CLAUDE.local.md");
    put(world.project, ".gitignore", "CLAUDE.local.md\n");
    expect((await open(world).problems()).map((each) => each.path)).toEqual([local]);
  });
});
