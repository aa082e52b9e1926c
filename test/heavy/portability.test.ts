/** The built program where something usual is missing: git, `/proc`, the native module, the model of meaning, a home. */

import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { BINARY, openSandbox, type Ran, type Sandbox, start } from "../cli/run.ts";

const ROOT = path.resolve(import.meta.dirname, "../..");
const isRoot = process.getuid?.() === 0;
/** Whether this user may hide `/proc` from a child; containers often forbid it. */
const canMount = isRoot && spawnSync("unshare", ["-m", "mount", "-t", "tmpfs", "none", "/proc"]).status === 0;

type Run = (args: string[]) => Promise<Ran>;

/** What everybody does every day, with an undo and a name in another case. */
async function live(run: Run): Promise<void> {
  const ok = async (...args: string[]) => {
    const ran = await run(args);
    expect([args[0], ran.code, ran.err.replace(/^memdir: note: .*\n/gm, "")]).toEqual([args[0], 0, ""]);
    return ran.out;
  };
  const count = async () => JSON.parse(await ok("list", "--json")).length;
  await ok("save", "--name", "Déploy staging", "Staging is deployed with kubectl, never helm.");
  await ok("save", "--name", "second", "Second.");
  expect(await ok("recall", "how do we deploy to staging")).toContain("kubectl");
  await ok("forget", "second");
  expect(await count()).toBe(1);
  await ok("undo");
  expect(await ok("save", "--name", "SECOND", "In another case.")).toContain("updated");
  expect(await count()).toBe(2);
  await ok("lint");
}

const runWith =
  ({ cwd, env }: Sandbox, program: string, before: string[], more: Record<string, string> = {}): Run =>
  (args) =>
    start(program, [...before, ...args], "", cwd, { ...env, ...more });

it("without git, in a repository", async () => {
  const sandbox = openSandbox();
  fs.mkdirSync(sandbox.at("bin"));
  await live(runWith(sandbox, process.execPath, [BINARY], { PATH: sandbox.at("bin") }));
});

it.runIf(canMount)("without /proc", async () => {
  const script = 'mount -t tmpfs none /proc && exec "$0" "$@"';
  await live(runWith(openSandbox(), "unshare", ["-m", "sh", "-c", script, process.execPath, BINARY]));
});

it("without the native module and without the model of meaning", async () => {
  const sandbox = openSandbox("disk");
  const modules = sandbox.at("lib", "node_modules");
  for (const [from, to] of [
    [path.join(ROOT, "dist"), "memdir/dist"],
    [path.join(ROOT, "package.json"), "memdir/package.json"],
    [path.join(ROOT, "node_modules/valibot"), "valibot"],
  ] as const)
    fs.cpSync(from, path.join(modules, to), { recursive: true });
  const run = runWith(sandbox, process.execPath, [path.join(modules, "memdir/dist/cli.js")], { MEMDIR_MEANING: "1" });
  await live(run);
  const { out } = await run(["doctor"]);
  expect(out).toContain("the native module did not load: slower pid files are used");
  expect(out).toMatch(/recall goes by words only: the package \S+ is not installed/);
});

it.runIf(isRoot)("without a home: the command line says what to do, a hook stays silent", async () => {
  const sandbox = openSandbox();
  const { HOME: _, USERPROFILE: __, ...env } = sandbox.env;
  // A user id that no file knows, as in containers.
  const asStranger = (...args: string[]) =>
    spawnSync(process.execPath, args, { cwd: "/", env, uid: 54_321, gid: 54_321, encoding: "utf8", input: "{}" });
  const listed = asStranger(BINARY, "list");
  expect([listed.status, listed.stderr]).toEqual([
    2,
    "memdir: this user has no home directory; set HOME to a folder for settings and memories\n",
  ]);
  const hook = asStranger(path.join(ROOT, "dist/hook.cjs"));
  expect([hook.status, hook.stdout, hook.stderr]).toEqual([0, "", ""]);
});
