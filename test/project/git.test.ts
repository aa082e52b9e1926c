import { chmodSync, existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readGit, runGit } from "../../src/project/git.ts";
import { makeWorld, type World } from "../world.ts";

function commitFile(world: World, text = "text\n"): void {
  writeFileSync(join(world.project, "a.txt"), text);
  world.git("add", "-A");
  world.git("commit", "-q", "-m", "first");
}

/** Leaves a marker when it runs. */
function makeTrap(world: World, file = join(world.top, "trap.sh")): { program: string; hasRun(): boolean } {
  const marker = join(world.top, "ran");
  writeFileSync(file, `#!/bin/sh\ntouch '${marker}'\nexit 1\n`);
  chmodSync(file, 0o755);
  return { program: file, hasRun: () => existsSync(marker) };
}

describe("running git", () => {
  it("gives the output, the exit code and what was said", async () => {
    const world = makeWorld();
    commitFile(world);
    const git = { root: world.project, env: world.env };
    expect((await readGit(git, ["ls-files"]))?.toString()).toBe("a.txt\n");
    expect(await readGit(git, ["rev-parse", "--verify", "nothing"])).toBeNull();
    const failed = await runGit(git, ["rev-parse", "--verify", "nothing"]);
    expect(failed).toMatchObject({ code: 128, cut: null, said: expect.stringContaining("fatal") });
    const given = await readGit(git, ["cat-file", "--batch-check=%(objecttype)"], { input: "HEAD\nHEAD:a.txt\n" });
    expect(given?.toString()).toBe("commit\nblob\n");
  });

  it("hands on the output as it comes, and stops at the limit", async () => {
    const world = makeWorld();
    commitFile(world, "x".repeat(1 << 20));
    const git = { root: world.project, env: world.env };
    let bytes = 0;
    const take = (chunk: Buffer) => {
      bytes += chunk.length;
    };
    const show = ["cat-file", "blob", "HEAD:a.txt"];
    expect(await runGit(git, show, { take })).toMatchObject({ code: 0, cut: null, output: Buffer.alloc(0) });
    expect(bytes).toBe(1 << 20);
    const cut = await runGit(git, show, { maxBytes: 1000 });
    expect([cut.code, cut.cut, cut.output.length]).toEqual([null, "too much", 1000]);
  });

  it("ends with the time or the signal", async () => {
    const world = makeWorld();
    commitFile(world);
    const git = { root: world.project, env: world.env };
    const ask = ["rev-parse", "HEAD"];
    expect(await runGit({ ...git, signal: AbortSignal.abort() }, ask)).toMatchObject({
      code: null,
      cut: "stopped",
    });
    const slow = join(world.top, "bin");
    mkdirSync(slow);
    writeFileSync(join(slow, "git"), "#!/bin/sh\nexec sleep 60\n", { mode: 0o755 });
    const sleeping = { ...git, env: { ...world.env, PATH: `${slow}:${world.env.PATH}` } };
    expect(await runGit(sleeping, ask, { timeoutMs: 50 })).toMatchObject({ code: null, cut: "timeout" });
    const signal = AbortSignal.timeout(50);
    expect(await runGit({ ...sleeping, signal }, ask)).toMatchObject({ code: null, cut: "stopped" });
  });

  it("says when there is no git or no such folder", async () => {
    const world = makeWorld();
    const ask = (root: string, env = world.env) => runGit({ root, env }, ["rev-parse", "HEAD"]);
    expect(await ask(world.project, { PATH: world.home })).toMatchObject({ code: null, cut: "no git" });
    expect(await ask(join(world.top, "gone"))).toMatchObject({ code: null, cut: "no git" });
    expect(await ask("/a\0b")).toMatchObject({ code: null, cut: "no git" });
  });

  it("is never a program of the project, by PATH, by a link or from a submodule, and starts none", async () => {
    const world = makeWorld();
    commitFile(world);
    const planted = join(world.project, "node_modules", ".bin");
    const inner = join(world.project, "vendor", "inner");
    const own = join(world.top, "own");
    const linked = join(world.top, "linked");
    for (const folder of [planted, own, join(inner, ".git")]) mkdirSync(folder, { recursive: true });
    symlinkSync(planted, linked);
    const trap = makeTrap(world, join(planted, "git"));
    makeTrap(world, join(planted, "helper"));
    const PATH = `${planted}:${linked}:${world.env.PATH}`;
    const ask = (root: string, more: string) =>
      runGit({ root, env: { ...world.env, PATH: `${more}:${PATH}` } }, ["ls-files"]);
    expect((await ask(world.project, linked)).output.toString()).toBe("a.txt\n");
    writeFileSync(join(own, "git"), "#!/bin/sh\nexec helper\n", { mode: 0o755 });
    writeFileSync(join(own, "helper"), "#!/bin/sh\necho own\n", { mode: 0o755 });
    for (const root of [world.project, inner])
      expect((await ask(root, `${planted}:${own}`)).output.toString()).toBe("own\n");
    rmSync(join(own, "git"));
    symlinkSync(trap.program, join(own, "git"));
    expect((await ask(world.project, own)).code).toBe(0);
    expect(trap.hasRun()).toBe(false);
  });

  it("refuses a command that was not checked, and the network for other people's repositories", async () => {
    const world = makeWorld();
    const git = { root: world.project, env: world.env };
    for (const command of ["commit", "checkout", "-c", ""])
      await expect(runGit(git, [command])).rejects.toThrow("checked");
    await expect(runGit({ ...git, protocols: "https" }, ["fetch"])).rejects.toThrow("own repository");
  });

  it("is not led to another repository by variables that git sets for hooks", async () => {
    const [world, other] = [makeWorld(), makeWorld()];
    commitFile(world);
    const env = { ...world.env, GIT_DIR: join(other.project, ".git"), GIT_INDEX_FILE: "/x", GIT_NAMESPACE: "x" };
    expect((await readGit({ root: world.project, env }, ["ls-files"]))?.toString()).toBe("a.txt\n");
  });
});

describe.skipIf(process.platform === "win32")("programs of the repository", () => {
  it("are not run by listing and by doctor", async () => {
    const world = makeWorld({ settings: { team: true } });
    const { program, hasRun } = makeTrap(world);
    mkdirSync(join(world.project, ".claude", "memory"), { recursive: true });
    writeFileSync(join(world.project, ".claude", "memory", "a.md"), "---\nname: a\ntype: project\n---\ntext\n");
    writeFileSync(join(world.project, "CLAUDE.local.md"), "mine");
    commitFile(world);
    world.git("config", "core.fsmonitor", program);
    const memdir = await world.open();
    await memdir.list();
    await memdir.doctor();
    expect(hasRun()).toBe(false);
    world.git("status");
    expect(hasRun(), "git itself runs it").toBe(true);
  });

  it("are not run even when one is called git and `.` is in PATH", async () => {
    const world = makeWorld();
    commitFile(world);
    const { hasRun } = makeTrap(world, join(world.project, "git"));
    const env = { ...world.env, PATH: `.::${world.env.PATH}` };
    expect((await readGit({ root: world.project, env }, ["ls-files"]))?.toString()).toBe("a.txt\n");
    expect(hasRun()).toBe(false);
  });

  it("are not run as filters, even where the user's configuration names them: LFS runs extensions of the repository", async () => {
    const world = makeWorld();
    const { program, hasRun } = makeTrap(world);
    writeFileSync(join(world.home, ".gitconfig"), `[filter "lfs"]\n\tclean = ${program}\n\trequired = true\n`);
    commitFile(world);
    writeFileSync(join(world.project, ".gitattributes"), "* filter=lfs\n");
    writeFileSync(join(world.project, "a.txt"), "text!\n");
    const status = await readGit({ root: world.project, env: world.env }, ["status", "--short"]);
    expect(status?.toString()).toContain(" M a.txt");
    expect(hasRun()).toBe(false);
  });
});
