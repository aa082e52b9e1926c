/** `memdir doctor`: the checks of the directory and of the wiring in one answer. */

import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { type Call, runOf } from "../../src/cli/command.ts";
import type { Check } from "../../src/memory/doctor.ts";
import { openLearning } from "../../src/open-learn.ts";
import { slugOf } from "../../src/project/locate.ts";
import { findCollisions } from "../../src/project/owner.ts";
import { makeDoctor, type Prove } from "../../src/verbs/doctor.ts";
import { putFakeClient } from "../model/fake-client.ts";
import { DAY, errorOf, makeWorld, note, type World } from "../world.ts";
import { hearCall } from "./call.ts";

const examine = (call: Call, prove: Prove) => runOf(makeDoctor(prove))(call);

const wired = (ok: boolean): Check => ({
  name: "wiring",
  ok,
  detail: ok ? "Codex: the hook recalls" : "Codex: the hook\ndoes not \x1b[2Jwork",
  fix: ok ? null : "memdir init --agent codex",
});

test("all is well: 0", async () => {
  const { call, printed } = hearCall(makeWorld(), {});
  expect(await examine(call, async () => [wired(true)])).toBe(0);
  expect(printed.at(-2)).toBe("ok  wiring: Codex: the hook recalls");
  expect(printed.at(-1)).toBe("All is well.");
});

test("an agent that does not work: 1, with what to do, on one harmless line", async () => {
  const { call, printed } = hearCall(makeWorld(), {});
  expect(await examine(call, async () => [wired(false)])).toBe(1);
  expect(printed.slice(-3)).toEqual([
    "!!  wiring: Codex: the hook does not work",
    "    memdir init --agent codex",
    "1 problem",
  ]);
});

test("--json has both kinds of checks", async () => {
  const { call, answers } = hearCall(makeWorld(), { json: true });
  await examine(call, async () => [wired(false)]);
  const names = answers[0].checks.map(({ name }: Check) => name);
  expect(names).toContain("settings");
  expect(names.at(-1)).toBe("wiring");
});

const nothing = async () => [];

test("a missing index, and a memory of this minute that it does not list, as health says too", async () => {
  const world = makeWorld();
  const memdir = await world.open();
  await memdir.save(note("tea"));
  const failed = async () =>
    (await memdir.doctor()).filter(({ ok }) => !ok).map(({ name, detail }) => `${name} ${detail}`);
  world.write("fresh.md", "---\nname: fresh\ndescription: d\ntype: user\n---\n\nNew.\n");
  expect(await failed()).toEqual(["index-missing project: no line in the index: fresh.md"]);
  expect((await memdir.measure()).health.counts.unlinked).toBe(1);
  const other = makeWorld();
  other.write("fresh.md", "---\nname: fresh\ndescription: d\ntype: user\n---\n\nNew.\n");
  expect((await (await other.open()).doctor()).filter(({ ok }) => !ok)).toMatchObject([
    { name: "index", detail: "project: MEMORY.md is missing", fix: "memdir index --rebuild" },
  ]);
  expect(other.exists("MEMORY.md")).toBe(false);
  expect(await heal(other)).toMatchObject({ found: ["index"], mended: ["index true"], left: [] });
  expect(other.index()).toContain("fresh.md");
});

test("a secret is named before a rebuild is advised, and no index repeats it", async () => {
  const world = makeWorld();
  const memdir = await world.open();
  await memdir.save(note("tea"));
  const secret = `ghp_${"a1B2c3D4e5F6".repeat(3)}`;
  const fields = `name: Deploy with ${secret}\ndescription: the token is ${secret}`;
  world.write("deploy.md", `---\n${fields}\ntype: reference\n---\n\nBody.\n`);
  const failed = async () => (await memdir.doctor()).flatMap(({ ok, name }) => (ok ? [] : [name]));
  expect(await failed()).toEqual(["secret", "secret", "index-missing"]);
  await memdir.rebuildIndex();
  expect(world.index()).toContain("](deploy.md) — the token is [redacted: github-token]");
  fs.rmSync(world.path("MEMORY.md"));
  expect((await memdir.context([])).memory.index).toContain(
    "[deploy](deploy.md) — the token is [redacted: github-token]",
  );
  expect(world.exists("MEMORY.md")).toBe(true);
  const own = ["deploy.md", ".memdir/rows.bin"].map((file) => path.relative(world.top, world.path(file)));
  expect(world.grep(secret).filter((file) => !own.includes(file))).toEqual([]);
});

test("an index that is not text, which keeps every change from being made, is named", async () => {
  const world = makeWorld();
  const memdir = await world.open();
  await memdir.save(note("tea"));
  fs.appendFileSync(world.path("MEMORY.md"), Buffer.from([0x2d, 0x20, 0xe9, 0x0a]));
  expect((await errorOf(memdir.save(note("rust")))).message).toContain("not UTF-8 text");
  expect((await memdir.doctor()).filter(({ ok }) => !ok)).toMatchObject([{ name: "index", fix: "save it as UTF-8" }]);
});

test("a link that leads nowhere on the way to the directory is named, by a save as well", async () => {
  const world = makeWorld();
  const claude = path.join(world.home, ".claude");
  fs.rmSync(claude, { recursive: true });
  fs.symlinkSync(path.join(world.top, "nowhere"), claude);
  const memdir = await world.open();
  const { message } = await errorOf(memdir.save(note("tea")));
  expect(message).toBe(
    `${claude} is a link to ${path.join(world.top, "nowhere")}, which is not there: make the folder that it leads to, or remove the link`,
  );
  expect((await memdir.doctor()).filter(({ ok }) => !ok)).toMatchObject([
    { name: "link", detail: expect.stringContaining(`${claude} is a link to`) },
  ]);
  fs.mkdirSync(path.join(world.top, "nowhere"));
  await memdir.save(note("tea"));
  expect((await memdir.doctor()).filter(({ ok }) => !ok)).toEqual([]);
});

async function makeHurt(): Promise<World> {
  const world = makeWorld();
  const memdir = await world.open();
  await memdir.save(note("tea"));
  await memdir.save(note("rust"));
  return world;
}

/** Names of what failed, and what --fix said. */
async function heal(world: World) {
  const before = hearCall(world, { json: true });
  await examine(before.call, nothing);
  const fixing = hearCall(world, { json: true, options: { fix: true } });
  const code = await examine(fixing.call, nothing);
  const failed = (checks: Check[]) => checks.filter(({ ok }) => !ok).map(({ name }) => name);
  return {
    found: failed(before.answers[0].checks),
    mended: fixing.answers[0].mended.map(({ name, ok }: Check) => `${name} ${ok}`),
    left: failed(fixing.answers[0].checks),
    code,
  };
}

test("a directory as saves leave it has nothing to mend, and --fix says so", async () => {
  expect(await heal(await makeHurt())).toEqual({ found: [], mended: [], left: [], code: 0 });
});

test("--fix: broken caches go, locks of the dead are freed, leftovers are swept, state is closed to others", async () => {
  const world = await makeHurt();
  const state = (...names: string[]) => world.path(".memdir", ...names);
  fs.writeFileSync(state("verdicts.json"), "{ not json");
  fs.writeFileSync(state("rows.bin"), "short");
  const dead = spawnSync(process.execPath, ["-e", ""]).pid;
  fs.writeFileSync(state("extract-0123456789abcdef"), "");
  fs.writeFileSync(state("extract-0123456789abcdef.pid"), `${dead} kernel x-1\n`);
  fs.writeFileSync(state("surfaced.jsonl.new"), "");
  fs.mkdirSync(state("cursors"), { recursive: true, mode: 0o700 });
  fs.writeFileSync(state("cursors", `.new-${dead}-x-0`), "");
  const old = new Date(world.now.getTime() - DAY);
  for (const names of [["surfaced.jsonl.new"], ["cursors", `.new-${dead}-x-0`]])
    fs.utimesSync(state(...names), old, old);
  const isPosix = process.platform !== "win32";
  if (isPosix) for (const name of ["journal.jsonl", "images", "."]) fs.chmodSync(state(name), 0o755);
  const healed = await heal(world);
  expect(healed.found).toEqual(["stale-locks", "leftovers", "caches", ...(isPosix ? ["permissions"] : [])]);
  expect(healed.mended).toEqual(healed.found.map((name) => `${name} true`));
  expect(healed).toMatchObject({ left: [], code: 0 });
  for (const name of ["verdicts.json", "extract-0123456789abcdef", "extract-0123456789abcdef.pid"])
    expect(fs.existsSync(state(name)), name).toBe(false);
  expect(fs.readdirSync(state("cursors"))).toEqual([]);
  // Made again by the look that follows.
  expect(fs.statSync(state("rows.bin")).size).toBeGreaterThan(4096);
  if (isPosix) expect(fs.statSync(state("journal.jsonl")).mode & 0o777).toBe(0o600);
  expect(world.files()).toContain("user_tea.md");
});

test("a lock whose holder is alive is left alone", async () => {
  const world = await makeHurt();
  fs.writeFileSync(world.path(".memdir", "lock.pid"), `${process.pid} pid x-1\n`, { mode: 0o600 });
  expect(await heal(world)).toMatchObject({ found: [], mended: [] });
  expect(world.exists(".memdir/lock.pid")).toBe(true);
});

test("--fix: a missing line and a dead pointer are mended by one rebuilding; what was written by hand stays", async () => {
  const world = await makeHurt();
  world.write("user_new.md", "---\nname: new\ndescription: newly here\ntype: user\n---\n\nBody.\n", { ageMs: DAY });
  world.write("MEMORY.md", `${world.index()}\nA line by hand.\n- [gone](user_gone.md) — nobody\n`);
  const healed = await heal(world);
  expect(healed.found).toEqual(["index-missing", "index-dangling"]);
  expect(healed.mended).toEqual(["index-missing true"]);
  expect(healed.left).toEqual([]);
  expect(world.index()).toContain("user_new.md");
  expect(world.index()).toContain("A line by hand.");
  expect(world.index()).not.toContain("user_gone.md");
});

test.skipIf(process.platform === "win32")(
  "what is not safe to mend is only told: unreadable files, links, a state folder that is a link",
  async () => {
    const world = await makeHurt();
    fs.symlinkSync("/etc/hostname", world.path("user_link.md"));
    expect(await heal(world)).toMatchObject({ found: ["unreadable"], mended: [], left: ["unreadable"], code: 1 });
    const other = await makeHurt();
    const elsewhere = path.join(other.top, "elsewhere");
    fs.renameSync(other.path(".memdir"), elsewhere);
    fs.symlinkSync(elsewhere, other.path(".memdir"));
    fs.writeFileSync(path.join(elsewhere, "verdicts.json"), "{ not json");
    expect(await heal(other)).toMatchObject({ found: ["state"], mended: [], left: ["state"] });
    expect(fs.existsSync(path.join(elsewhere, "verdicts.json"))).toBe(true);
  },
);

test.skipIf(process.platform === "win32")(
  "a directory that is a link: told, and a fault only when it leads nowhere",
  async () => {
    const world = await makeHurt();
    const real = path.join(world.top, "real");
    fs.renameSync(world.dir, real);
    fs.symlinkSync(real, world.dir);
    const { call, printed } = hearCall(world, {});
    expect(await examine(call, nothing)).toBe(0);
    expect(printed.join("\n")).toContain(`ok  link: project: ${world.dir} is a link to ${real}`);
    fs.rmSync(real, { recursive: true });
    expect((await heal(world)).found).toContain("link");
  },
);

test("two projects whose paths become one folder name are told of one another", async () => {
  const world = await makeHurt();
  const twin = path.join(world.top, "pro.ject");
  const ours = path.join(world.top, "pro-ject");
  for (const folder of [twin, ours]) fs.mkdirSync(folder);
  const folder = path.join(world.home, ".claude", "projects", slugOf(ours));
  fs.mkdirSync(path.join(folder, "memory"), { recursive: true });
  for (const [name, cwd] of Object.entries({ a: twin, b: ours, c: path.join(world.top, "pro_gone") }))
    fs.writeFileSync(
      path.join(folder, `${name}.jsonl`),
      `{"type":"summary"}\n${JSON.stringify({ cwd, type: "user" })}\n`,
    );
  expect(findCollisions(path.join(folder, "memory"))).toEqual([ours, twin]);
  expect(findCollisions(world.dir)).toEqual([]);
});

test("memories of projects that are gone are told, which is no fault", async () => {
  const world = await makeHurt();
  const dir = path.join(world.home, ".claude", "projects", "-gone", "memory");
  fs.mkdirSync(path.join(dir, ".memdir"), { recursive: true });
  fs.writeFileSync(path.join(dir, "user_a.md"), "x");
  const owner = { roots: [path.join(world.top, "gone")], rootCommit: null, remote: null, shared: false, at: "" };
  fs.writeFileSync(path.join(dir, ".memdir", "project.json"), JSON.stringify(owner));
  const { call, printed } = hearCall(world, {});
  expect(await examine(call, nothing)).toBe(0);
  expect(printed.join("\n")).toContain("ok  abandoned: memories of projects that are gone");
});

test("what fails to be mended is told, and looked at again", async () => {
  const world = await makeHurt();
  fs.mkdirSync(world.path(".memdir", "verdicts.json"), { mode: 0o700 });
  const healed = await heal(world);
  expect(healed).toMatchObject({ found: ["caches"], mended: ["caches false"], left: ["caches"], code: 1 });
});

/** With a Claude Code that answers by the script. */
function learnsWith(script: string) {
  const world = makeWorld({ settings: { learn: { model: "claude-code" } } });
  const { PATH } = putFakeClient(world.top, "claude", script);
  world.env = { ...world.env, PATH: `${PATH}${path.delimiter}${world.env.PATH}` };
  return world;
}

async function sayLearning(world: World, options: Record<string, boolean> = {}) {
  const { call, printed } = hearCall(world, { options });
  const code = await examine(call, nothing);
  const at = printed.findIndex((line) => / learning: /.test(line));
  return { code, said: printed.slice(at, at + 2).join("\n") };
}

test("names the model that learning asks, and asks nothing", async () => {
  const world = learnsWith(`seen(1); answer({ result: "ready" });`);
  const { code, said } = await sayLearning(world);
  expect([code, said]).toEqual([
    0,
    expect.stringContaining("ok  learning: asks claude-code/haiku; doctor --model tries it"),
  ]);
  expect(fs.existsSync(path.join(world.top, "told", "run1"))).toBe(false);
});

test("--model proves it with one call, which is in the ledger", async () => {
  const world = learnsWith(`answer({ result: "ready" });`);
  await (await world.open()).save(note("tea"));
  expect((await sayLearning(world, { model: true })).said).toContain(
    "ok  learning: claude-code/haiku answers, for 9 tokens",
  );
  const [entry] = openLearning(await world.open()).ledger.entries();
  expect(entry).toMatchObject({ kind: "check", model: "claude-code/haiku", usage: { input: 7, output: 2 } });
});

test("--model of a client that is logged out: what to do; and after a day that it ended, an answer opens it again", async () => {
  const world = learnsWith(
    `const isIn = fs.existsSync(path.join(process.env.HOME, "in"));
     answer(isIn ? { result: "ready" } : { is_error: true, result: "Not logged in · Please run /login" });`,
  );
  await (await world.open()).save(note("tea"));
  const failed = await sayLearning(world, { model: true });
  expect([failed.code, failed.said]).toEqual([
    1,
    expect.stringMatching(/!! {2}learning: claude-code\/haiku does not answer\n.*run `claude` and log in/),
  ]);
  const { ledger } = openLearning(await world.open());
  ledger.endDay("extraction", "s", "claude-code/haiku", "Claude Code is not logged in");
  expect((await sayLearning(world)).said).toMatch(/is asked nothing more today\n.*not logged in/);
  fs.writeFileSync(path.join(world.home, "in"), "");
  expect((await sayLearning(world, { model: true })).code).toBe(0);
  expect((await sayLearning(world)).said).toContain("ok  learning: asks");
});

test("a folder that git ignores is a problem of memories that others do not see, not of those added by force, and is said once", async () => {
  const world = makeWorld();
  fs.writeFileSync(path.join(world.project, ".gitignore"), ".claude/\n");
  const team = path.join(world.project, ".claude", "memory");
  fs.mkdirSync(team, { recursive: true });
  fs.writeFileSync(path.join(team, "MEMORY.md"), "- [one](one.md) — d\n");
  fs.writeFileSync(path.join(team, "one.md"), "---\nname: one\ndescription: d\n---\n\nOne.\n");
  const ignored = async () => (await (await world.open()).doctor()).filter(({ name }) => name === "ignored");
  // The check of the repository says it, with the rule: test/team/repository.test.ts.
  expect(await ignored()).toEqual([]);
  const own = async () => {
    const memdir = await world.open({ memoryDir: path.join(world.project, ".claude", "notes") });
    return (await memdir.doctor()).filter(({ name }) => name === "ignored");
  };
  fs.mkdirSync(path.join(world.project, ".claude", "notes"));
  fs.writeFileSync(path.join(world.project, ".claude", "notes", "one.md"), "---\nname: one\n---\n\nOne.\n");
  const before = await own();
  world.git("add", "-f", ".claude/notes");
  const after = await own();
  expect([before.length, after.length]).toEqual([1, 0]);
});
