/** `verifyMemories` on real repositories: what it reports, writes and keeps, and what it does where it cannot see. */

import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import type { Memdir } from "../../src/memdir.ts";
import { groupByCause } from "../../src/truth/problems.ts";
import { findVerdict, formatVerdict, readVerdicts } from "../../src/truth/verdicts.ts";
import { type VerifyOptions, verifyMemories } from "../../src/truth/verify.ts";
import { DAY, errorOf, makeWorld, START, type World } from "../world.ts";

const put = (world: World, files: Record<string, string | null>) => {
  for (const [file, text] of Object.entries(files)) {
    const at = path.join(world.project, file);
    fs.mkdirSync(path.dirname(at), { recursive: true });
    if (text === null) fs.rmSync(at);
    else fs.writeFileSync(at, text);
  }
};
const commit = (world: World, message = "change") => {
  world.git("add", "-A");
  world.git("commit", "-q", "-m", message);
};
/** A memory that is older than the last change of `movedWorld`, and younger than what that changed. */
const remember = (world: World, file: string, text: string, ageMs = 5 * DAY) => world.write(file, text, { ageMs });
const memory = (body: string, more = "") => `---\nname: m\ndescription: d\ntype: project\n${more}---\n\n${body}\n`;
const verify = async (world: World, options: VerifyOptions = {}, memdir?: Memdir, root = world.project) => {
  const opened = memdir ?? (await world.open());
  const { directories } = opened;
  const git = { root, env: world.env };
  return verifyMemories({ now: () => world.now }, git, directories, await opened.list(), { isAll: true, ...options });
};
const short = ({ problems }: Awaited<ReturnType<typeof verify>>) =>
  problems.map(({ claim, verdict }) => `${claim} ${verdict}`);

/** One file moved, one deleted, one that stays: made ten days ago, changed today. */
function movedWorld(): World {
  const world = makeWorld();
  world.now = new Date(Date.parse(START) - 10 * DAY);
  put(world, {
    "src/auth.ts": "export function parseToken() {\n  return 1;\n}\n",
    "src/old.ts": "export const oldThing = 1;\n",
    "src/main.ts": "parseToken();\n",
  });
  commit(world);
  world.now = new Date(START);
  fs.mkdirSync(path.join(world.project, "src/session"));
  fs.renameSync(path.join(world.project, "src/auth.ts"), path.join(world.project, "src/session/auth.ts"));
  put(world, { "src/old.ts": null });
  commit(world);
  return world;
}

describe("verifyMemories", () => {
  it("C35 reports file, line, claim, verdict and evidence", async () => {
    const world = movedWorld();
    remember(world, "a.md", memory("Parsing is in `src/auth.ts`.\n\n`oldThing` is in src/old.ts."));
    const { checked, problems, notes } = await verify(world, { all: true });
    const head = world.git("rev-parse", "--short=10", "HEAD");
    expect(checked).toBe(1);
    expect(problems).toMatchObject([
      {
        file: "a.md",
        line: 7,
        claim: "src/auth.ts",
        kind: "path",
        verdict: "moved",
        to: "src/session/auth.ts",
        evidence: `moved to src/session/auth.ts by ${head} on 2026-03-10, after this was written on 2026-03-05`,
        confidence: 0.9,
        written: "2026-03-05",
        changed: "2026-03-10",
        order: "after",
      },
      {
        file: "a.md",
        line: 9,
        claim: "src/old.ts",
        kind: "path",
        verdict: "gone",
        evidence: `deleted by ${head} on 2026-03-10, after this was written on 2026-03-05`,
      },
      { file: "a.md", line: 9, claim: "oldThing", kind: "symbol", verdict: "gone" },
    ]);
    expect(notes).toEqual([]);
  });

  it("knows what one commit removed from a section as one thing to fix", async () => {
    const world = movedWorld();
    const parts =
      "# Parsing\n\n- `src/auth.ts`\n- `src/old.ts`\n- `oldThing`\n\n# Storage\n\n- `src/main.ts`, `oldThing()`";
    remember(world, "a.md", memory(parts));
    remember(world, "b.md", memory("See `src/old.ts`."));
    const { problems, hidden } = await verify(world);
    expect(problems).toHaveLength(4);
    expect(hidden).toBe(0);
    const groups = groupByCause(problems).map((group) => group.map(({ file, claim, line }) => [file, claim, line]));
    // Programs may group by it alone.
    expect(new Set(problems.map(({ cause }) => cause)).size).toBe(3);
    expect(groups).toEqual([
      [["a.md", "src/auth.ts", 9]],
      [
        ["a.md", "src/old.ts", 10],
        ["a.md", "oldThing", 11],
      ],
      [["b.md", "src/old.ts", 7]],
    ]);
  });

  it("C14 C15 stamps what holds, keeps the file's times, and an old memory that holds is fresh", async () => {
    const world = movedWorld();
    world.write("good.md", memory("`parseToken` is in src/session/auth.ts."), { ageMs: 90 * DAY });
    remember(world, "bad.md", memory("`parseToken` is in src/auth.ts."));
    remember(world, "nothing.md", memory("The user likes tea."));
    const before = fs.statSync(world.path("good.md")).mtimeMs;
    const { stamped, undo, memories } = await verify(world, { stamp: true });
    expect(memories.map(({ file, verdict }) => [file, verdict])).toEqual([
      ["bad.md", "doubtful"],
      ["good.md", "holds"],
      ["nothing.md", "unchecked"],
    ]);
    expect(stamped).toBe(1);
    expect(world.read("good.md")).toContain(`verified: ${world.now.toISOString()}`);
    expect(world.read("bad.md")).not.toContain("verified");
    expect(fs.statSync(world.path("good.md")).mtimeMs).toBe(before);
    const memdir = await world.open();
    expect((await memdir.list()).find(({ file }) => file === "good.md")?.ageDays).toBe(0);
    expect((await verify(world, { stamp: true })).stamped).toBe(0);
    await memdir.undo(undo[0]);
    expect(world.read("good.md")).not.toContain("verified");
  });

  it("stamps nothing unless it is told to, and never files without frontmatter", async () => {
    const world = movedWorld();
    remember(world, "good.md", memory("See src/main.ts."));
    world.write("plain.md", "See src/main.ts.\n");
    expect((await verify(world)).stamped).toBe(0);
    expect(world.read("good.md")).not.toContain("verified");
    expect((await verify(world, { stamp: true })).stamped).toBe(1);
    expect(world.read("plain.md")).toBe("See src/main.ts.\n");
  });

  it("fixes what moved, everywhere it is claimed, as one entry that undo takes back", async () => {
    const world = movedWorld();
    const text = memory("See `src/auth.ts`, again src/auth.ts. We moved it from src/auth.ts.\r\n\r\nAnd src/old.ts.");
    remember(world, "a.md", text);
    remember(world, "b.md", memory("Only src/auth.ts:1."));
    const result = await verify(world, { fix: true });
    expect(result.fixed.map(({ file, to }) => [file, to])).toEqual([
      ["a.md", "src/session/auth.ts"],
      ["b.md", "src/session/auth.ts"],
    ]);
    expect(short(result)).toEqual(["src/old.ts gone"]);
    expect(world.read("a.md")).toBe(
      text.replace("`src/auth.ts`, again src/auth.ts", "`src/session/auth.ts`, again src/session/auth.ts"),
    );
    expect(world.read("b.md")).toContain("Only src/session/auth.ts:1.");
    await (await world.open()).undo(result.undo[0]);
    expect(world.read("a.md")).toBe(text);
    expect(world.read("b.md")).toContain("Only src/auth.ts:1.");
  });

  it("keeps verdicts that recall can show without looking", async () => {
    const world = movedWorld();
    remember(world, "good.md", memory("See src/main.ts."));
    remember(world, "two.md", memory("See src/main.ts and src/session/auth.ts."));
    remember(world, "nothing.md", memory("The user likes tea."));
    remember(world, "bad.md", memory("See src/auth.ts."));
    await verify(world);
    const shown = (file: string) => {
      const { size, mtimeMs } = fs.statSync(world.path(file));
      return formatVerdict(findVerdict(readVerdicts(world.dir), file, { bytes: size, mtimeMs }));
    };
    expect(shown("good.md")).toBe("the one thing it names still exists (checked 2026-03-10)");
    expect(shown("two.md")).toBe("the 2 things it names still exist (checked 2026-03-10)");
    expect(shown("nothing.md")).toBe("");
    expect(shown("bad.md")).toBe("names src/auth.ts, moved to src/session/auth.ts (checked 2026-03-10)");
    remember(world, "good.md", memory("See src/main.ts and more."));
    expect(shown("good.md")).toBe("");
  });

  it.each(["", "{", "[]", '{"version":1,"memories":{"a.md":{"verdict":"x"}}}', '{"version":9}'])(
    "takes a spoilt file of verdicts for none: %s",
    (text) => {
      const world = makeWorld();
      world.write(".memdir/verdicts.json", text);
      expect(readVerdicts(world.dir).size).toBe(0);
    },
  );

  it("reads a store once that lies in the folder it is given", async () => {
    const world = movedWorld();
    put(world, { ".claude/agent-memory/reviewer/a.md": memory("Parsing is in `src/auth.ts`.") });
    const memdir = await world.open({ memoryDir: path.join(world.project, ".claude/agent-memory") });
    const { checked, problems, memories } = await verify(world, { all: true }, memdir);
    expect(checked).toBe(1);
    expect(memories).toMatchObject([{ file: "reviewer/a.md", scope: "project" }]);
    expect(problems).toMatchObject([{ file: "reviewer/a.md", claim: "src/auth.ts" }]);
  });

  it("looks only at memories that speak of what changed", async () => {
    const world = movedWorld();
    remember(world, "auth.md", memory("See src/session/auth.ts."));
    remember(world, "main.md", memory("See src/main.ts."));
    remember(world, "name.md", memory("Call `parseToken`."));
    put(world, { "src/session/auth.ts": "export function parseToken() {\n  return 2;\n}\n" });
    commit(world);
    const { memories } = await verify(world, { changedSince: "HEAD~1" });
    expect(memories.map(({ file }) => file)).toEqual(["auth.md", "name.md"]);
    expect((await errorOf(verify(world, { changedSince: "nowhere" }))).message).toMatch(/the commit does not exist/);
    expect((await errorOf(verify(world, { changedSince: "--output=x" }))).code).toBe("usage");
  });

  it("B7 tells a deadline that has passed, and not one to come", async () => {
    const world = makeWorld();
    remember(world, "a.md", memory("Freeze until 2026-03-09. Launch planned for 2026-03-10. Shipping by 2026-03-04."));
    expect(short(await verify(world))).toEqual([]);
    expect(short(await verify(world, { all: true }))).toEqual(["2026-03-09 expired", "2026-03-04 expired"]);
  });

  it("takes declared claims at their word and leaves silenced ones alone", async () => {
    const world = movedWorld();
    remember(
      world,
      "a.md",
      memory("Text.", 'claims:\n  - "symbol: neverThere in src/main.ts"\n  - "path: src/main.ts"\n'),
    );
    remember(world, "b.md", memory("See src/old.ts.", 'unchecked:\n  - "src/old.ts: as history"\n'));
    expect(short(await verify(world))).toEqual(["neverThere gone"]);
  });

  it("looks up only days and links in the user's own scope", async () => {
    const world = movedWorld();
    remember(world, "a.md", memory("See src/old.ts."));
    const memdir = await world.open();
    const directories = memdir.directories.map((directory) => ({ ...directory, scope: "user" }));
    const rows = (await memdir.list()).map((row) => ({ ...row, scope: "user" }));
    const result = await verifyMemories(
      { now: () => world.now },
      { root: world.project, env: world.env },
      directories,
      rows,
      { all: true },
    );
    expect(result.problems).toEqual([]);
  });
});

describe("where little can be seen", () => {
  it("says so outside a repository, and still knows what is there", async () => {
    const world = makeWorld();
    fs.rmSync(path.join(world.project, ".git"), { recursive: true });
    put(world, { "src/a.ts": "export const here = 1;\n" });
    remember(world, "a.md", memory("See src/a.ts and other/b.ts, `hereNot` and `here`."));
    const memdir = await world.open({ memoryDir: world.dir });
    const { problems, notes } = await verify(world, { all: true }, memdir);
    expect(problems).toEqual([]);
    expect(notes[0]).toMatch(/not a git repository/);
  });

  it("goes on without git", async () => {
    const world = movedWorld();
    remember(world, "a.md", memory("See src/main.ts and lib/auth.ts."));
    const memdir = await world.open();
    const { directories } = memdir;
    const env = { ...world.env, PATH: path.join(world.top, "nothing") };
    const result = await verifyMemories(
      { now: () => world.now },
      { root: world.project, env },
      directories,
      await memdir.list(),
      { all: true },
    );
    expect(result.problems).toEqual([]);
    expect(result.notes[0]).toMatch(/git is not installed/);
  });

  it("calls nothing gone that a shallow clone cannot know", async () => {
    const world = movedWorld();
    commitMore(world);
    const clone = path.join(world.top, "clone");
    execFileSync("git", ["clone", "-q", "--depth", "1", `file://${world.project}`, clone], {
      env: { ...world.env, GIT_ALLOW_PROTOCOL: "file" },
      stdio: "ignore",
    });
    remember(world, "a.md", memory("See src/auth.ts, `oldThing`, src/never.ts, the `gone` branch, commit 1a2b3c4d."));
    const { problems, notes } = await verify(world, { all: true }, undefined, clone);
    expect(problems).toEqual([]);
    expect(notes).toContainEqual(expect.stringMatching(/shallow/));
  });

  it("says when the history is longer than it looks", async () => {
    const world = movedWorld();
    commitMore(world);
    remember(world, "a.md", memory("See src/auth.ts."));
    const { problems, notes } = await verify(world, { maxCommits: 1, all: true });
    expect(problems).toEqual([]);
    expect(notes).toContainEqual(expect.stringMatching(/^only the newest 1 commits were checked, back to 2026-03-10$/));
  });

  it("knows files of a submodule, and not those that are missing there", async () => {
    const world = movedWorld();
    put(world, { ".gitmodules": '[submodule "lib"]\n\tpath = lib\n\turl = ../lib\n', "lib/there.c": "int x;\n" });
    remember(world, "a.md", memory("See lib/there.c and lib/sub/missing.c."));
    expect(short(await verify(world, { all: true }))).toEqual([]);
  });

  it("tells a file that is deleted and not committed", async () => {
    const world = movedWorld();
    put(world, { "src/main.ts": null });
    remember(world, "a.md", memory("See src/main.ts."));
    expect(short(await verify(world))).toEqual(["src/main.ts gone"]);
  });

  it("works in a linked worktree and in an empty repository", async () => {
    const world = movedWorld();
    remember(world, "a.md", memory("See src/auth.ts."));
    const tree = path.join(world.top, "tree");
    world.git("worktree", "add", "-q", tree);
    expect(short(await verify(world, {}, undefined, tree))).toEqual(["src/auth.ts moved"]);
    const empty = makeWorld();
    empty.write("a.md", memory("See src/auth.ts and `parseToken`."));
    expect(short(await verify(empty, { all: true }))).toEqual([]);
  });
});

describe("hostile projects", () => {
  it.runIf(process.platform !== "win32")("waits for no pipe in the place of a list of submodules", async () => {
    const world = movedWorld();
    execFileSync("mkfifo", [path.join(world.project, ".gitmodules")]);
    remember(world, "a.md", memory("See src/auth.ts."));
    expect(short(await verify(world))).toEqual(["src/auth.ts moved"]);
  });

  it("runs nothing that the repository's configuration names", async () => {
    const world = movedWorld();
    const mark = path.join(world.top, "ran");
    const program = path.join(world.top, "evil.sh");
    fs.writeFileSync(program, `#!/bin/sh\ntouch ${mark}\ncat\n`, { mode: 0o755 });
    for (const key of [
      "core.fsmonitor",
      "diff.external",
      "diff.x.textconv",
      "diff.x.command",
      "filter.x.clean",
      "filter.x.smudge",
      "core.pager",
      "log.showSignature",
      "gpg.program",
      "core.sshCommand",
    ])
      world.git("config", key, key === "log.showSignature" ? "true" : program);
    put(world, { ".gitattributes": "* diff=x filter=x\n", "src/main.ts": "changed();\n" });
    remember(world, "a.md", memory("See src/auth.ts, `oldThing`, the `x` branch, commit 1a2b3c4d, npm run none."));
    await verify(world);
    await verify(world, { all: true });
    await verify(world, { changedSince: "HEAD" });
    expect(fs.existsSync(mark)).toBe(false);
  });

  it("is not held up by odd files: fifo, link out, binary, huge, odd names", async () => {
    const world = movedWorld();
    const outside = path.join(world.top, "secret.ts");
    fs.writeFileSync(outside, "export const linkedName = 1;\n");
    put(world, {
      "src/bin.ts": "export const binName = 1;\0\0",
      "src/big.ts": `export const bigName = 1;\n${"x".repeat(2 << 20)}`,
    });
    if (process.platform !== "win32") {
      put(world, { "src/new\nline.ts": "export const oddName = 1;\n", "src/ -rf '\".ts": "x\n" });
      fs.symlinkSync(outside, path.join(world.project, "src/link.ts"));
      execFileSync("mkfifo", [path.join(world.project, "src/pipe.ts")]);
    }
    remember(world, "a.md", memory("See `binName`, `bigName`, `linkedName`, `oddName`, src/new and src/link.ts."));
    const { problems, memories } = await verify(world, { all: true });
    expect(problems).toEqual([]);
    expect(memories[0]?.verdict).toBe("unchecked");
  });

  it("reads a package file that stands on one line", async () => {
    const world = movedWorld();
    put(world, { "package.json": '{"scripts":{"deploy:staging":"x"},"devDependencies":{"vitest":"4.1.12"}}' });
    commit(world, "one line");
    remember(world, "a.md", memory("Run `npm run deploy:staging`; tests run in the package `vitest`."));
    const { memories, problems } = await verify(world);
    expect(problems).toEqual([]);
    expect(memories[0]?.verdict).toBe("holds");
  });

  it("takes a package file whose values refuse to become texts", async () => {
    const world = movedWorld();
    put(world, { "fixture/package.json": '{"scripts":{"x":{"toString":1}}}' });
    commit(world, "a hostile fixture");
    remember(world, "a.md", memory("Run `npm run deploy:staging`; see src/old.ts."));
    const { memories } = await verify(world);
    expect(memories).toHaveLength(1);
  });

  it("that is stopped writes nothing down: what was found before stays", async () => {
    const world = movedWorld();
    remember(world, "a.md", memory("See src/old.ts."));
    const memdir = await world.open();
    await memdir.verify();
    const before = world.read(".memdir/verdicts.json");
    const stopped = await errorOf(memdir.verify(undefined, { signal: AbortSignal.abort() }));
    expect(stopped.message).toContain("nothing was written");
    expect(world.read(".memdir/verdicts.json")).toBe(before);
  });

  it("takes 10,000 claims in one memory, and memories that are broken or binary", async () => {
    const world = movedWorld();
    world.write(
      "many.md",
      memory(Array.from({ length: 5_000 }, (_, i) => `\`src/f${i}.ts\` and \`name${i}Of()\``).join("\n")),
    );
    world.write("broken.md", "---\nname: x\nSee src/old.ts.\n");
    world.write("binary.md", new Uint8Array([0xff, 0xfe, 0, 1]));
    const { problems, checked } = await verify(world, { all: true });
    expect(checked).toBe(3);
    expect(problems.filter(({ file }) => file === "many.md")).toHaveLength(5_000);
    expect(world.read("broken.md")).toBe("---\nname: x\nSee src/old.ts.\n");
  });
});

function commitMore(world: World): void {
  put(world, { "src/main.ts": "parseToken();\nparseToken();\n" });
  commit(world, "more");
}
