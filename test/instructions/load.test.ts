import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { makeWorld, type World } from "../world.ts";
import { open, put } from "./open.ts";

const texts = (files: { content: string }[]) => files.map(({ content }) => content);

async function reasonOf(instructions: ReturnType<typeof open>, file: string): Promise<string> {
  const reasons = (await instructions.skipped()).filter((each) => each.path === file).map(({ reason }) => reason);
  return reasons.join("; ");
}

/** One file of every kind, each holding its own name. */
function fill(world: World): string {
  const { home, project, top } = world;
  put(top, "managed", "CLAUDE.md", "managed");
  put(top, "managed", ".claude", "rules", "m.md", "managed rule");
  put(home, ".claude", "CLAUDE.md", "user");
  put(home, ".claude", "rules", "u.md", "user rule");
  put(top, "CLAUDE.md", "above git");
  put(top, "CLAUDE.local.md", "above git local");
  put(project, "CLAUDE.md", "root");
  put(project, ".claude", "CLAUDE.md", "root dot");
  put(project, ".claude", "rules", "b.md", "rule b");
  put(project, ".claude", "rules", "a", "z.md", "rule a/z");
  put(project, ".claude", "rules", "B.md", "rule B");
  put(project, "CLAUDE.local.md", "root local");
  put(project, "sub", "CLAUDE.md", "sub");
  put(project, "sub", "CLAUDE.local.md", "sub local");
  return path.join(project, "sub");
}

const MANAGED = ["managed", "managed rule"];
const USER = ["user", "user rule"];
const SHARED = ["above git", "root", "root dot", "rule B", "rule a/z", "rule b", "sub"];
const CHAIN = [
  "above git",
  "above git local",
  "root",
  "root dot",
  "rule B",
  "rule a/z",
  "rule b",
  "root local",
  "sub",
  "sub local",
];

describe("what is loaded at start, and in which order", () => {
  it("B0.2 B0.3 B0.4 B0.5 B0.6 B0.7 B0.22 C20: managed, user, then outermost to nearest, rules sorted by path", async () => {
    const world = makeWorld();
    const sub = fill(world);
    const files = await open(world, {}, sub).load();
    expect(texts(files)).toEqual([...MANAGED, ...USER, ...CHAIN]);
    expect(files.map(({ source }) => source)).toEqual([
      ...["managed", "managed", "user", "user"],
      ...CHAIN.map((text) => (text.endsWith("local") ? "local" : "project")),
    ]);
    expect(files.every(({ content, size, importedBy }) => size === content.length && importedBy === null)).toBe(true);
  });

  it("B0.8: includeManaged and includeUser take their files away, and say so", async () => {
    const world = makeWorld();
    const sub = fill(world);
    expect(texts(await open(world, { includeManaged: false }, sub).load())).toEqual([...USER, ...CHAIN]);
    expect(texts(await open(world, { includeUser: false }, sub).load())).toEqual([...MANAGED, ...CHAIN]);
    const neither = open(world, { includeManaged: false, includeUser: false }, sub);
    expect(texts(await neither.load())).toEqual(CHAIN);
    expect(await reasonOf(neither, path.join(world.home, ".claude", "CLAUDE.md"))).toContain("setting sources");
    expect(await reasonOf(neither, path.join(world.top, "managed", "CLAUDE.md"))).toContain("setting sources");
  });

  it("B0.8: setting sources leave out the others, never managed files", async () => {
    const world = makeWorld();
    const sub = fill(world);
    expect(texts(await open(world, { settingSources: ["project"] }, sub).load())).toEqual([...MANAGED, ...SHARED]);
    expect(texts(await open(world, { settingSources: [] }, sub).load())).toEqual(MANAGED);
    const local = open(world, { settingSources: ["local"] }, sub);
    expect(texts(await local.load())).toEqual([...MANAGED, "above git local", "root local", "sub local"]);
    expect(await reasonOf(local, path.join(sub, "CLAUDE.md"))).toBe("project files are not among the setting sources");
    expect(await reasonOf(local, path.join(world.project, ".claude", "rules", "b.md"))).toContain("setting sources");
  });

  it("B0.8: added directories come last, and only with their switch", async () => {
    const world = makeWorld({ env: { CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD: "1" } });
    put(world.project, "CLAUDE.md", "root");
    const added = path.join(world.top, "added");
    put(added, "CLAUDE.md", "added");
    put(added, ".claude", "rules", "r.md", "added rule");
    put(added, "CLAUDE.local.md", "added local");
    expect(texts(await open(world).load())).toEqual(["root"]);
    expect(texts(await open(world, { addDirs: [added] }).load())).toEqual([
      "root",
      "added",
      "added rule",
      "added local",
    ]);
    expect(
      texts(
        await open(
          { ...world, env: { ...world.env, CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD: "0" } },
          { addDirs: [added] },
        ).load(),
      ),
    ).toEqual(["root"]);
  });

  it("B0.2 C20: claudeMdExcludes takes user and project files away, managed ones never", async () => {
    const world = makeWorld();
    const sub = fill(world);
    put(world.home, ".claude", "settings.json", JSON.stringify({ claudeMdExcludes: ["**/CLAUDE.md", "**/rules/**"] }));
    const instructions = open(world, {}, sub);
    expect(texts(await instructions.load())).toEqual([...MANAGED, "above git local", "root local", "sub local"]);
    for (const file of ["CLAUDE.md", ".claude/CLAUDE.md", ".claude/rules/b.md", "sub/CLAUDE.md"]) {
      expect(await reasonOf(instructions, path.join(world.project, file))).toBe("excluded by claudeMdExcludes");
    }
  });

  it("B0.22: no file at all is no error", async () => {
    const instructions = open(makeWorld());
    expect(await instructions.load()).toEqual([]);
    expect(await instructions.skipped()).toEqual([]);
    expect(await instructions.problems()).toEqual([]);
  });
});

describe("agents' other files", () => {
  it("B0.4: AGENTS.md counts where the project has no CLAUDE.md; else it is named as shadowed", async () => {
    const world = makeWorld();
    const agents = put(world.project, "AGENTS.md", "agents");
    put(world.home, ".claude", "CLAUDE.md", "user");
    expect(texts(await open(world).load())).toEqual(["user", "agents"]);
    put(world.project, "CLAUDE.md", "root");
    const both = open(world);
    expect(texts(await both.load())).toEqual(["user", "root"]);
    expect(await reasonOf(both, agents)).toContain("CLAUDE.md");
  });

  it("B0.4: AGENTS.md switched off in the settings is named", async () => {
    const world = makeWorld();
    const agents = put(world.project, "AGENTS.md", "agents");
    const enabledPlugins = { "cc-plugin-agents-md@builtin": false };
    put(world.home, ".claude", "settings.json", JSON.stringify({ enabledPlugins }));
    const off = open(world);
    expect(await off.load()).toEqual([]);
    expect(await reasonOf(off, agents)).toContain("switched off");
  });

  it("B0.4 B0.8: allAgents loads AGENTS.md beside CLAUDE.md, then GEMINI.md, Copilot's and Cursor's", async () => {
    const world = makeWorld();
    const { project } = world;
    put(project, "CLAUDE.md", "root");
    put(project, "AGENTS.md", "agents");
    put(project, "GEMINI.md", "gemini");
    put(project, ".github", "copilot-instructions.md", "copilot");
    put(project, ".cursor", "rules", "b.mdc", "---\nalwaysApply: true\n---\ncursor b");
    put(project, ".cursor", "rules", "a.mdc", "cursor a");
    put(project, ".cursor", "rules", "c.md", "not for Cursor");
    expect(texts(await open(world).load())).toEqual(["root"]);
    const all = open(world, { allAgents: true });
    expect(texts(await all.load())).toEqual(["root", "agents", "gemini", "copilot", "cursor a", "cursor b"]);
    expect(await all.skipped()).toEqual([]);
  });
});

describe("imports", () => {
  it("B0.18 C38: follow right behind the importing file, four hops deep, the fifth is named", async () => {
    const world = makeWorld();
    const { project } = world;
    put(project, "CLAUDE.md", "zero @one.md");
    for (const [name, next] of [
      ["one", "two"],
      ["two", "three"],
      ["three", "four"],
      ["four", "five"],
      ["five", "six"],
    ]) {
      put(project, `${name}.md`, `${name} @${next}.md`);
    }
    put(project, "CLAUDE.local.md", "local");
    const instructions = open(world);
    const files = await instructions.load();
    expect(files.map(({ path: file }) => path.basename(file))).toEqual([
      ...["CLAUDE.md", "one.md", "two.md", "three.md", "four.md", "CLAUDE.local.md"],
    ]);
    expect(files[4]?.importedBy).toBe(path.join(project, "three.md"));
    expect(await reasonOf(instructions, path.join(project, "five.md"))).toBe("more than 4 imports deep");
  });

  it("B0.18 C38: cycles and repeated imports load each file once", async () => {
    const world = makeWorld();
    const { project } = world;
    put(project, "CLAUDE.md", "root @CLAUDE.md @a.md @b.md");
    put(project, "a.md", "a @b.md @a.md @CLAUDE.md");
    put(project, "b.md", "b @a.md");
    const files = await open(world).load();
    expect(files.map(({ path: file }) => path.basename(file))).toEqual(["CLAUDE.md", "a.md", "b.md"]);
  });

  it("B0.18 C38: missing targets, folders and URLs are named with the reason", async () => {
    const world = makeWorld();
    const { project } = world;
    const root = put(project, "CLAUDE.md", "root @gone.md @folder @https://example.invalid/a.md @pic.png");
    put(project, "folder", "x.md", "x");
    put(project, "pic.png", "png");
    const instructions = open(world);
    expect(await instructions.load()).toHaveLength(1);
    expect(await reasonOf(instructions, path.join(project, "gone.md"))).toBe(`imported by ${root}, but missing`);
    expect(await reasonOf(instructions, path.join(project, "folder"))).toBe("not a file");
    const refused = (await instructions.skipped()).filter((each) => each.path.startsWith("@"));
    expect(refused.map((each) => each.path)).toEqual(["@https://example.invalid/a.md", "@pic.png"]);
    expect(refused.every(({ reason }) => reason.startsWith(`not imported by ${root}: `))).toBe(true);
  });

  it("B0.18 C38: an import from outside waits for approval in memdir.json, which a repository cannot give itself", async () => {
    const world = makeWorld();
    const { home, project, top } = world;
    const outside = put(top, "outside.md", "outside");
    put(project, "CLAUDE.md", `root @${outside}`);
    put(project, ".claude", "memdir.json", JSON.stringify({ approvedImports: { [project]: "2026-01-01" } }));
    const before = open(world);
    expect(await before.load()).toHaveLength(1);
    expect(await reasonOf(before, outside)).toContain("needs your approval");
    put(home, ".claude", "memdir.json", JSON.stringify({ approvedImports: { [project]: "2026-01-01" } }));
    const after = open(world);
    expect(texts(await after.load())).toEqual([`root @${outside}`, "outside"]);
    expect(await after.skipped()).toEqual([]);
  });

  it("B0.18 C38: the approval in ~/.claude.json counts too, for this project only", async () => {
    const world = makeWorld();
    const { home, project, top } = world;
    put(top, "outside.md", "outside");
    put(project, "CLAUDE.md", "root @../outside.md");
    const approve = (root: string) =>
      put(
        home,
        ".claude.json",
        JSON.stringify({ projects: { [root]: { hasClaudeMdExternalIncludesApproved: true } } }),
      );
    approve(path.join(top, "another"));
    expect(await open(world).load()).toHaveLength(1);
    approve(project);
    expect(await open(world).load()).toHaveLength(2);
    put(home, ".claude.json", "{ broken");
    expect(await open(world).load()).toHaveLength(1);
  });

  it("B0.18 C38: the user's own file may import from anywhere; an import through a link that leads out may not", async () => {
    const world = makeWorld();
    const { home, project, top } = world;
    put(top, "outside.md", "outside");
    put(home, "notes.md", "notes");
    put(home, ".claude", "CLAUDE.md", "user @~/notes.md");
    fs.symlinkSync(path.join(top, "outside.md"), path.join(project, "inside.md"));
    put(project, "CLAUDE.md", "root @inside.md");
    const instructions = open(world);
    expect(texts(await instructions.load())).toEqual(["user @~/notes.md", "notes", "root @inside.md"]);
    expect(await reasonOf(instructions, path.join(project, "inside.md"))).toContain("needs your approval");
  });

  it("B0.18 C38: a name too long for the disk is no reason to fail", async () => {
    const world = makeWorld();
    put(world.project, "CLAUDE.md", `root @${"x".repeat(300)}.md and @${"d/".repeat(3000)}e.md`);
    const instructions = open(world);
    expect(await instructions.load()).toHaveLength(1);
    expect(await instructions.skipped()).toHaveLength(2);
  });
});

describe("candidates that are not loaded", () => {
  it("C-17: a CLAUDE.md that is a directory", async () => {
    const world = makeWorld();
    const folder = path.join(world.project, "CLAUDE.md");
    fs.mkdirSync(folder);
    put(world.project, "CLAUDE.local.md", "local");
    const instructions = open(world);
    expect(texts(await instructions.load())).toEqual(["local"]);
    expect(await reasonOf(instructions, folder)).toBe("not a file");
  });

  it("C-15: the same file under two names, by a symbolic link", async () => {
    const world = makeWorld();
    const { project } = world;
    const root = put(project, "CLAUDE.md", "root");
    fs.mkdirSync(path.join(project, ".claude"));
    const soft = path.join(project, ".claude", "CLAUDE.md");
    fs.symlinkSync(root, soft);
    const instructions = open(world);
    expect(texts(await instructions.load())).toEqual(["root"]);
    expect(await reasonOf(instructions, soft)).toContain("loaded already");
  });

  it("C-15: the same inode under two names, by a hard link", async () => {
    const world = makeWorld();
    const { project } = world;
    const root = put(project, "CLAUDE.md", "root");
    fs.mkdirSync(path.join(project, ".claude"));
    const hard = path.join(project, ".claude", "CLAUDE.md");
    fs.linkSync(root, hard);
    const instructions = open(world);
    expect(texts(await instructions.load())).toEqual(["root"]);
    expect(await reasonOf(instructions, hard)).toContain("loaded already");
  });

  it("C37: over 4 MiB is passed over with its size; exactly 4 MiB is not", async () => {
    const world = makeWorld();
    const limit = 4 * 1024 * 1024;
    const root = put(world.project, "CLAUDE.md", "a".repeat(limit + 1));
    put(world.project, "CLAUDE.local.md", `${"a ".repeat(limit / 2 - 1)}b\n`);
    const instructions = open(world);
    expect((await instructions.load()).map(({ source }) => source)).toEqual(["local"]);
    expect(await reasonOf(instructions, root)).toBe(`too large (${limit + 1} bytes, the limit is ${limit})`);
  });

  it.skipIf(process.getuid?.() === 0)("B0.13: a file that cannot be read", async () => {
    const world = makeWorld();
    const root = put(world.project, "CLAUDE.md", "root");
    fs.chmodSync(root, 0);
    const instructions = open(world);
    expect(await instructions.load()).toEqual([]);
    expect(await reasonOf(instructions, root)).toContain("cannot be read (EACCES)");
  });

  it("B0.13: links that lead nowhere or to themselves", async () => {
    const world = makeWorld();
    const { project } = world;
    fs.symlinkSync("CLAUDE.md", path.join(project, "CLAUDE.md"));
    fs.mkdirSync(path.join(project, ".claude", "rules"), { recursive: true });
    fs.symlinkSync("gone.md", path.join(project, ".claude", "CLAUDE.md"));
    fs.symlinkSync("loop.md", path.join(project, ".claude", "rules", "loop.md"));
    fs.symlinkSync("gone.md", path.join(project, ".claude", "rules", "dangling.md"));
    fs.symlinkSync("..", path.join(project, ".claude", "rules", "up"));
    put(project, ".claude", "rules", "r.md", "rule");
    put(project, "CLAUDE.local.md", "local");
    expect(texts(await open(world).load())).toEqual(["rule", "local"]);
  });

  it("B0.13: files where folders should be", async () => {
    const world = makeWorld();
    const { home, project, top } = world;
    fs.rmSync(path.join(home, ".claude"), { recursive: true });
    for (const folder of [path.join(home, ".claude"), path.join(top, "managed"), path.join(project, ".claude")]) {
      put(folder, "a file");
    }
    put(project, ".github", "a file");
    put(project, ".cursor", "a file");
    put(project, "CLAUDE.md", "root @.github/x.md");
    const instructions = open(world, { allAgents: true });
    expect(texts(await instructions.load())).toEqual(["root @.github/x.md"]);
  });

  it("B0.5: a waiting rule names its patterns, a broken one its fault, an empty file that it is empty", async () => {
    const world = makeWorld();
    const rules = path.join(world.project, ".claude", "rules");
    const waiting = put(rules, "w.md", "---\npaths: src/**, lib/*.ts\n---\nwaits");
    const broken = put(rules, "x.md", "---\npaths: [unclosed\n---\nbroken");
    const empty = put(world.project, "CLAUDE.md", "---\na: b\n---\n<!-- only a note -->\n");
    const instructions = open(world);
    expect(await instructions.load()).toEqual([]);
    expect(await reasonOf(instructions, waiting)).toBe("a rule that waits for a file matching src/**, lib/*.ts");
    expect(await reasonOf(instructions, broken)).not.toBe("");
    expect(await reasonOf(instructions, empty)).toBe("empty");
  });

  it("B0.5: a rule linked from outside waits for approval", async () => {
    const world = makeWorld();
    const outside = put(world.top, "shared", "rule.md", "shared rule");
    const rules = path.join(world.project, ".claude", "rules");
    fs.mkdirSync(rules, { recursive: true });
    fs.symlinkSync(outside, path.join(rules, "rule.md"));
    const instructions = open(world);
    expect(await instructions.load()).toEqual([]);
    expect(await reasonOf(instructions, outside)).toContain("needs your approval");
    put(world.home, ".claude", "memdir.json", JSON.stringify({ approvedImports: { [world.project]: "x" } }));
    expect(texts(await open(world).load())).toEqual(["shared rule"]);
  });

  it("B0.2: managed rules load when the managed folder is reached through a link", async () => {
    const world = makeWorld();
    put(world.top, "private", "etc", "CLAUDE.md", "managed");
    put(world.top, "private", "etc", ".claude", "rules", "m.md", "managed rule");
    fs.symlinkSync(path.join(world.top, "private", "etc"), path.join(world.top, "managed"));
    expect(texts(await open(world).load())).toEqual(["managed", "managed rule"]);
  });
});
