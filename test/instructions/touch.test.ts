import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { makeWorld, type World } from "../world.ts";
import { open, put } from "./open.ts";

const texts = (files: { content: string }[]) => files.map(({ content }) => content.trim());

function nested(world: World): string {
  const { project } = world;
  put(project, "CLAUDE.md", "root");
  put(project, "a", "CLAUDE.md", "a");
  put(project, "a", ".claude", "CLAUDE.md", "a dot");
  put(project, "a", ".claude", "rules", "r.md", "a rule");
  put(project, "a", "CLAUDE.local.md", "a local");
  put(project, "a", "b", "CLAUDE.md", "b");
  return put(project, "a", "b", "file.ts", "");
}

const ALL = ["a", "a dot", "a local", "a rule", "b"];

describe("touching a file", () => {
  it("B0.19: attaches what lies between, outermost first, once, and again after clear", async () => {
    const world = makeWorld();
    const file = nested(world);
    const instructions = open(world);
    expect(texts(await instructions.load())).toEqual(["root"]);
    expect(texts(await instructions.touch(file))).toEqual(ALL);
    expect(await instructions.touch(file)).toEqual([]);
    expect(await instructions.touch(path.join(world.project, "a", "other.ts"))).toEqual([]);
    expect(texts(await instructions.load())).toEqual(["root"]);
    instructions.clear();
    expect(texts(await instructions.touch("a/b/file.ts"))).toEqual(ALL);
  });

  it("B0.19: the outer folder first, then only what is new; a file need not exist", async () => {
    const world = makeWorld();
    nested(world);
    const instructions = open(world);
    expect(texts(await instructions.touch("a/new.ts"))).toEqual(ALL.slice(0, 4));
    expect(texts(await instructions.touch("a/b/c/d/new.ts"))).toEqual(["b"]);
  });

  it("B0.19: touches at the same time attach each file once", async () => {
    const world = makeWorld();
    const file = nested(world);
    const instructions = open(world);
    await instructions.load();
    const added = await Promise.all([instructions.touch(file), instructions.touch(file), instructions.touch("a/x")]);
    expect(texts(added.flat()).sort()).toEqual([...ALL].sort());
  });

  it("B0.19: nothing outside the working directory triggers, nor through a linked folder", async () => {
    const world = makeWorld();
    const { project, top } = world;
    put(top, "other", "CLAUDE.md", "other");
    fs.symlinkSync(path.join(top, "other"), path.join(project, "link"));
    const instructions = open(world);
    for (const file of [path.join(top, "other", "x"), "../other/x", "link/x", "/", "", ".", ".."]) {
      expect(await instructions.touch(file)).toEqual([]);
    }
  });

  it("B0.19: reading an instruction file itself makes it known", async () => {
    const world = makeWorld();
    nested(world);
    const instructions = open(world);
    expect(texts(await instructions.touch("a/CLAUDE.md"))).toEqual(["a dot", "a local", "a rule"]);
  });

  it("B0.19: what was attached is not listed as passed over, however often it is touched", async () => {
    const world = makeWorld();
    const file = nested(world);
    put(world.project, "a", ".claude", "rules", "w.md", "---\npaths: '*.py'\n---\npython");
    const instructions = open(world);
    for (let i = 0; i < 3; i++) await instructions.touch(file);
    const skipped = await instructions.skipped();
    expect(skipped.map((each) => path.basename(each.path))).toEqual(["w.md"]);
  });

  it("B0.19: a folder that is linked into itself brings its file once, also when it is touched again", async () => {
    const world = makeWorld();
    put(world.project, "a", "CLAUDE.md", "of a");
    fs.symlinkSync(".", path.join(world.project, "a", "b"));
    const instructions = open(world);
    await instructions.load();
    expect(texts(await instructions.touch("a/b/y.ts"))).toEqual(["of a"]);
    expect(await instructions.touch("a/b/y.ts")).toEqual([]);
  });

  it("B0.5 B0.19: rules with paths load on the first match, once", async () => {
    const world = makeWorld();
    const { home, project } = world;
    put(project, ".claude", "rules", "ts.md", "---\npaths: 'src/**/*.ts'\n---\nproject ts");
    put(home, ".claude", "rules", "ts.md", "---\npaths: '**/*.ts'\n---\nuser ts");
    put(project, "src", ".claude", "rules", "n.md", "---\npaths: 'x.*'\n---\nnested x");
    const instructions = open(world);
    expect(await instructions.load()).toEqual([]);
    expect(await instructions.touch("README.md")).toEqual([]);
    expect(await instructions.touch("src/y.py")).toEqual([]);
    expect(texts(await instructions.touch("src/x.ts"))).toEqual(["user ts", "nested x", "project ts"]);
    expect(await instructions.touch("src/x.ts")).toEqual([]);
    expect(await instructions.skipped()).toEqual([]);
  });

  it("B0.5 B0.18: a waiting rule that imports itself, or is imported by what it imports, still waits", async () => {
    const world = makeWorld();
    const { project } = world;
    put(project, ".claude", "rules", "w.md", "---\npaths: 'src/*'\n---\nwaits @w.md @../../i.md");
    put(project, "i.md", "i @.claude/rules/w.md");
    const instructions = open(world);
    expect(texts(await instructions.load())).toEqual(["i @.claude/rules/w.md"]);
    expect(texts(await instructions.touch("src/x"))).toEqual(["waits @w.md @../../i.md"]);
  });

  it("B0.18 B0.19: nested files bring their imports, under the same limits", async () => {
    const world = makeWorld();
    const { project, top } = world;
    const outside = put(top, "outside.md", "outside");
    put(project, "a", "CLAUDE.md", "a @x.md @../../outside.md");
    put(project, "a", "x.md", "x @CLAUDE.md");
    const instructions = open(world);
    const added = await instructions.touch("a/file");
    expect(added.map((each) => path.relative(project, each.path))).toEqual(["a/CLAUDE.md", "a/x.md"]);
    expect((await instructions.skipped()).find((each) => each.path === outside)?.reason).toContain("approval");
  });

  it("B0.4 B0.19: nested AGENTS.md counts only where the project has no CLAUDE.md", async () => {
    const world = makeWorld();
    put(world.project, "a", "AGENTS.md", "a agents");
    expect(texts(await open(world).touch("a/x"))).toEqual(["a agents"]);
    put(world.project, "CLAUDE.md", "root");
    expect(await open(world).touch("a/x")).toEqual([]);
  });

  it("B0.4 B0.19: allAgents counts for nested folders too", async () => {
    const world = makeWorld();
    put(world.project, "CLAUDE.md", "root");
    put(world.project, "a", "AGENTS.md", "a agents");
    put(world.project, "a", "GEMINI.md", "a gemini");
    expect(texts(await open(world, { allAgents: true }).touch("a/x"))).toEqual(["a agents", "a gemini"]);
  });

  it("B0.8 B0.19: exclusions and setting sources hold for nested files", async () => {
    const world = makeWorld();
    const file = nested(world);
    expect(texts(await open(world, { settingSources: ["local"] }).touch(file))).toEqual(["a local"]);
    put(world.home, ".claude", "settings.json", JSON.stringify({ claudeMdExcludes: ["**/a/CLAUDE.md"] }));
    expect(texts(await open(world).touch(file))).toEqual(ALL.slice(1));
  });

  it.each([
    ["a NUL", "a\0b/c.ts"],
    ["a name too long", `${"x".repeat(300)}/y.ts`],
    ["a path too long", `${"x/".repeat(3000)}y.ts`],
    ["a line break", "a\nb/c.ts"],
    ["a file as a folder", "CLAUDE.md/x/y.ts"],
    ["a lone surrogate", "\ud800/y.ts"],
  ])("B0.19: %s in the name attaches nothing and does not throw", async (_, name) => {
    const world = makeWorld();
    nested(world);
    expect(await open(world).touch(name)).toEqual([]);
  });

  it("B0.13 B0.19: a loop of links below is passed over", async () => {
    const world = makeWorld();
    const { project } = world;
    put(project, "a", "x", "");
    fs.symlinkSync("CLAUDE.md", path.join(project, "a", "CLAUDE.md"));
    fs.symlinkSync("loop", path.join(project, "loop"));
    expect(await open(world).touch("a/x")).toEqual([]);
    expect(await open(world).touch("loop/x")).toEqual([]);
  });
});

describe("a shell command", () => {
  it("B0.19: touches every file that it names, once", async () => {
    const world = makeWorld();
    nested(world);
    put(world.project, "my dir", "CLAUDE.md", "spaced");
    put(world.project, "my dir", "f.txt", "");
    const instructions = open(world);
    expect(await instructions.touchCommand("ls && cat missing.txt")).toEqual([]);
    const command = "cat a/b/file.ts 'my dir/f.txt' | grep -n x a/b/file.ts";
    expect(texts(await instructions.touchCommand(command))).toEqual([...ALL, "spaced"]);
    expect(await instructions.touchCommand(command)).toEqual([]);
    instructions.clear();
    expect(await instructions.touchCommand(command)).toHaveLength(6);
  });
});
