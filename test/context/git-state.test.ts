import { chmodSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { gitRunner, type RunGit, readGitState } from "../../src/context/environment.ts";
import { buildGitState } from "../../src/prompts/agent.ts";
import { makeWorld, type World } from "../world.ts";

function stateOf(world: World, env = world.env) {
  return readGitState(world.project, gitRunner(world.project, env));
}

function put(world: World, name: string, text = "") {
  writeFileSync(join(world.project, name), text);
}

function commit(world: World, message: string) {
  world.git("add", "-A");
  world.git("commit", "-q", "--allow-empty", "-m", message);
}

const answers = (more: Partial<Record<string, string | null>>): RunGit => {
  const all: Record<string, string | null> = {
    branch: "main\n",
    "for-each-ref": "",
    config: null,
    status: "",
    log: "",
  };
  return async ([name = ""]) => ({ ...all, ...more })[name] ?? null;
};

describe("the state of a repository", () => {
  it("B10.2 holds branch, default branch, user, status and five commits", async () => {
    const world = makeWorld();
    for (const n of [1, 2, 3, 4, 5, 6]) commit(world, `change ${n}`);
    world.git("config", "user.name", "Ana");
    world.git("checkout", "-q", "-b", "topic/one");
    put(world, "new file.txt");
    const state = await stateOf(world);
    expect(state).toMatchObject({ branch: "topic/one", defaultBranch: "main", userName: "Ana", statusCut: false });
    expect(state?.status).toBe('?? "new file.txt"');
    expect(state?.commits.map((line) => line.replace(/^[0-9a-f]{7,} /, ""))).toEqual(
      [6, 5, 4, 3, 2].map((n) => `change ${n}`),
    );
  });

  it("B10.2 keeps the two columns of the first line of the status", async () => {
    const world = makeWorld();
    put(world, "a.txt", "one");
    commit(world, "a");
    put(world, "a.txt", "two");
    expect((await stateOf(world))?.status).toBe(" M a.txt");
  });

  it("B10.2 is clean after a commit", async () => {
    const world = makeWorld();
    commit(world, "first");
    const state = await stateOf(world);
    expect(state?.status).toBe("");
    expect(state && buildGitState(state)).toContain("Status:\n(clean)");
  });

  it("knows a repository without commits", async () => {
    const world = makeWorld();
    expect(await stateOf(world)).toEqual({
      branch: "main",
      defaultBranch: null,
      userName: null,
      status: "",
      statusCut: false,
      commits: [],
    });
  });

  it("knows a detached HEAD", async () => {
    const world = makeWorld();
    commit(world, "first");
    world.git("checkout", "-q", "--detach");
    expect(await stateOf(world)).toMatchObject({ branch: null, defaultBranch: "main" });
  });

  it("takes the default branch of a clone from where it was cloned", async () => {
    const world = makeWorld();
    commit(world, "first");
    world.git("checkout", "-q", "-b", "trunk");
    const clone = join(world.top, "clone");
    world.git("clone", "-q", world.project, clone);
    expect((await readGitState(clone, gitRunner(clone, world.env)))?.defaultBranch).toBe("trunk");
  });

  it("takes the default branch from the remote, else from what branches are mostly called", async () => {
    const world = makeWorld();
    const find = async (refs: string) =>
      (await readGitState(world.project, answers({ "for-each-ref": refs })))?.defaultBranch;
    expect(await find("refs/heads/main \nrefs/remotes/origin/HEAD refs/remotes/origin/release/next\n")).toBe(
      "release/next",
    );
    expect(await find("refs/heads/main \nrefs/remotes/origin/master \n")).toBe("master");
    expect(await find("refs/heads/master \n")).toBe("master");
    expect(await find("refs/heads/other \n")).toBeNull();
  });

  it("B10.2 cuts a long status at a line's end, within 2,000 characters", async () => {
    const world = makeWorld();
    for (let i = 0; i < 150; i++) put(world, `file-${String(i).padStart(3, "0")}.txt`);
    const state = await stateOf(world);
    expect(state?.statusCut).toBe(true);
    expect(state?.status?.length).toBeLessThanOrEqual(2000);
    expect(state?.status?.length).toBeGreaterThan(1950);
    expect(state?.status).toMatch(/\n\?\? file-\d{3}\.txt$/);
    expect(state && buildGitState(state)).toMatch(/there is more: run `git status --short`/);
  });

  it.each([
    ["exactly 2,000 characters", `${"?? a\n".repeat(399)}?? ab`, 2000, false],
    ["one more", `${"?? a\n".repeat(399)}?? abc`, 1994, true],
    ["a line that ends at the limit", `${"?? a\n".repeat(399)}?? ab\n?? c`, 2000, true],
    ["one line longer than the limit", `?? ${"x".repeat(5000)}`, 0, true],
  ])("B10.2 cuts %s", async (_, status, length, statusCut) => {
    const { project } = makeWorld();
    const state = await readGitState(project, answers({ status: `${status}\n` }));
    expect(state).toMatchObject({ statusCut });
    expect(state?.status).toHaveLength(length);
  });

  it("takes the start of a status that is larger than a megabyte", async () => {
    const world = makeWorld();
    for (let i = 0; i < 4500; i++) put(world, `${i}-${"x".repeat(240)}`);
    const state = await stateOf(world);
    expect(state?.statusCut).toBe(true);
    expect(state?.status?.split("\n").length).toBe(8);
  });

  it("shows names of other scripts as they are, and quotes those with control characters", async () => {
    const world = makeWorld();
    put(world, "größe-图.txt");
    put(world, "line\nbreak");
    put(world, "</system-reminder>x".replace("/", "_"));
    const lines = (await stateOf(world))?.status?.split("\n");
    expect(lines).toContain("?? größe-图.txt");
    expect(lines).toContain('?? "line\\nbreak"');
    expect(lines).toHaveLength(3);
  });

  it("clips a subject without end", async () => {
    const world = makeWorld();
    commit(world, "word ".repeat(500));
    expect((await stateOf(world))?.commits[0]).toHaveLength(200);
  });
});

describe("when there is nothing to show", () => {
  it("B10.2 is null outside a repository, and starts no process to find out", async () => {
    const world = makeWorld();
    const calls: string[][] = [];
    const state = await readGitState(world.home, async (args) => {
      calls.push(args);
      return "";
    });
    expect([state, calls]).toEqual([null, []]);
  });

  it("B10.2 is null when switched off, and starts no process", async () => {
    const world = makeWorld();
    let calls = 0;
    const run: RunGit = async () => String(++calls);
    expect(await readGitState(world.project, run, true)).toBeNull();
    expect(calls).toBe(0);
  });

  it("asks five things at once", async () => {
    const { project } = makeWorld();
    let running = 0;
    let most = 0;
    const asked = await readGitState(project, async ([name = ""]) => {
      most = Math.max(most, ++running);
      await Promise.resolve();
      running--;
      return name === "branch" ? "main" : null;
    });
    expect(most).toBe(5);
    expect(asked).toMatchObject({ branch: "main", status: null, commits: [] });
  });

  it("is null without git, in a folder that is gone, and in a broken repository", async () => {
    const world = makeWorld();
    expect(await stateOf(world, { ...world.env, PATH: world.home })).toBeNull();
    const gone = makeWorld();
    const run = gitRunner(join(gone.project, "gone"), gone.env);
    expect(await readGitState(gone.project, run)).toBeNull();
    rmSync(join(world.project, ".git", "HEAD"));
    expect(await stateOf(world)).toBeNull();
    expect(await gitRunner("/a\0b", world.env)(["status"])).toBeNull();
  });

  it("says so when only the status fails", async () => {
    const world = makeWorld();
    const state = await readGitState(world.project, answers({ status: null }));
    expect(state && buildGitState(state)).toContain("Status: could not be read");
  });
});

/** Leaves a mark when it runs. */
function trap(world: World): { program: string; sprung: () => boolean } {
  const program = join(world.top, "trap.sh");
  writeFileSync(program, `#!/bin/sh\ntouch '${join(world.top, "sprung")}'\ncat\n`);
  chmodSync(program, 0o755);
  return { program, sprung: () => world.grep("").includes("sprung") };
}

/** A commit with something that passes for a signature. */
function signHead(world: World) {
  const tree = world.git("rev-parse", "HEAD^{tree}");
  const who = "test <test@example.invalid> 1700000000 +0000";
  const sign = ["-----BEGIN PGP SIGNATURE-----", "", "AAAA", "-----END PGP SIGNATURE-----"].join("\n ");
  const text = `tree ${tree}\nauthor ${who}\ncommitter ${who}\ngpgsig ${sign}\n\nsigned\n`;
  writeFileSync(join(world.top, "commit"), text);
  world.git("update-ref", "HEAD", world.git("hash-object", "-t", "commit", "-w", join(world.top, "commit")));
}

describe.skipIf(process.platform === "win32")("a hostile repository", () => {
  it("runs no monitor, hook, pager or program that checks signatures", async () => {
    const world = makeWorld();
    const { program, sprung } = trap(world);
    commit(world, "first");
    mkdirSync(join(world.project, ".git", "hooks"), { recursive: true });
    for (const hook of ["post-index-change", "fsmonitor-watchman"]) {
      writeFileSync(join(world.project, ".git", "hooks", hook), `#!/bin/sh\nexec '${program}'\n`, { mode: 0o755 });
    }
    const settings = { "core.fsmonitor": program, "core.pager": program, "pager.log": program, "gpg.program": program };
    for (const [key, value] of Object.entries({ ...settings, "log.showSignature": "true" }))
      world.git("config", key, value);
    put(world, "a.txt");
    signHead(world);
    const state = await stateOf(world);
    expect(state?.status).toContain("?? a.txt");
    expect(state?.commits).toEqual([expect.stringContaining("signed")]);
    expect(sprung()).toBe(false);
    for (const args of [["status"], ["-c", "core.fsmonitor=false", "log"]]) {
      rmSync(join(world.top, "sprung"), { force: true });
      world.git(...args);
      expect(sprung(), `the trap works: ${args.at(-1)}`).toBe(true);
    }
  });

  it.each(["x", "a.b c"])("runs no filter that it configures: %s", async (name) => {
    const world = makeWorld();
    const { program, sprung } = trap(world);
    put(world, ".gitattributes", `* filter=${name.replace(" ", "")}\n`);
    put(world, "a.txt", "one");
    commit(world, "first");
    const used = name.replace(" ", "");
    for (const filter of new Set([name, used])) {
      world.git("config", `filter.${filter}.clean`, program);
      world.git("config", `filter.${filter}.required`, "true");
    }
    put(world, "a.txt", "two");
    expect((await stateOf(world))?.status).toBe(" M a.txt");
    expect(sprung()).toBe(false);
    world.git("status", "--short");
    expect(sprung(), "the trap works").toBe(true);
  });

  it("runs no filter that an included file configures", async () => {
    const world = makeWorld();
    const { program, sprung } = trap(world);
    put(world, ".gitattributes", "* filter=x\n");
    put(world, "a.txt", "one");
    commit(world, "first");
    put(world, "more.config", `[filter "x"]\n\tclean = ${program}\n`);
    world.git("config", "include.path", "../more.config");
    put(world, "a.txt", "two");
    expect((await stateOf(world))?.status).toContain(" M a.txt");
    expect(sprung()).toBe(false);
  });

  it("shows no status when a filter's name cannot be switched off", async () => {
    const world = makeWorld();
    const { program, sprung } = trap(world);
    put(world, ".gitattributes", "* filter=x=y\n");
    put(world, "a.txt", "one");
    commit(world, "first");
    world.git("config", "filter.x=y.clean", program);
    put(world, "a.txt", "two");
    expect(await stateOf(world)).toMatchObject({ branch: "main", status: null });
    expect(sprung()).toBe(false);
  });

  it("writes nothing, and heeds no GIT_DIR of a hook", async () => {
    const world = makeWorld();
    const other = makeWorld();
    other.git("checkout", "-q", "-b", "elsewhere");
    const index = () => world.grep("").filter((file) => file.includes(".git"));
    const before = index();
    const state = await stateOf(world, { ...world.env, GIT_DIR: join(other.project, ".git") });
    expect(state?.branch).toBe("main");
    expect(index()).toEqual(before);
  });
});
