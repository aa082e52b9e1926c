/** What may not be read is a problem with a name, not the end of a report, and never "no memories". */

import { execFile, execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { BINARY, openSandbox } from "./run.ts";

/** Root may read everything: then the program is run as nobody. */
const NOBODY = 65_534;
const isRoot = process.getuid?.() === 0;

/** With one memory, run by a user who has no rights but their own. */
async function openAsUser() {
  const sandbox = openSandbox();
  await sandbox.save("one");
  if (isRoot) execFileSync("chown", ["-R", `${NOBODY}:${NOBODY}`, sandbox.top]);
  const who = isRoot ? { uid: NOBODY, gid: NOBODY } : {};
  const run = (...args: string[]) =>
    new Promise<{ code: unknown; out: string }>((resolve) => {
      const options = { cwd: sandbox.cwd, env: sandbox.env, timeout: 60_000, ...who };
      execFile(process.execPath, [BINARY, ...args], options, (error, out, err) =>
        resolve({ code: error?.code ?? 0, out: out + err }),
      );
    });
  return { sandbox, run };
}

test.skipIf(process.platform === "win32")("state that may not be written", async () => {
  const { sandbox, run } = await openAsUser();
  for (const [name, mode] of [
    ["", 0o500],
    ["/tmp", 0o500],
    ["/journal.jsonl", 0o400],
  ] as const) {
    const file = `${path.join(sandbox.dir(), ".memdir")}${name}`;
    const before = fs.statSync(file).mode;
    fs.chmodSync(file, mode);
    expect(await run("save", "two")).toMatchObject({ code: 3, out: expect.stringContaining("(EACCES)") });
    const { code, out } = await run("doctor");
    expect(code).toBe(1);
    expect(out).toMatch(
      new RegExp(`^!! {2}state: project: \\.memdir${name} cannot be written: changes are refused$`, "m"),
    );
    fs.chmodSync(file, before);
  }
  fs.chmodSync(sandbox.dir(), 0o500);
  const inside = await run("doctor", "--memory-dir", path.join(sandbox.dir(), "new", "memory"));
  expect(inside.out).toMatch(/^!! {2}directory: project: .* cannot be written$/m);
  fs.chmodSync(sandbox.dir(), 0o700);
});

test.skipIf(!fs.existsSync("/proc/self"))(
  "a directory that cannot be made, where the system says nothing is there",
  async () => {
    const { run } = await openAsUser();
    const { code, out } = await run("save", "two", "--memory-dir", "/proc/none/memory");
    expect(code).toBe(3);
    expect(out).toContain(
      "cannot make the directory /proc/none/memory (ENOENT): it was removed meanwhile, or cannot be",
    );
  },
);

test.skipIf(process.platform === "win32")(
  "state that may not be read is a finding, and no end of a report",
  async () => {
    const { sandbox, run } = await openAsUser();
    const state = path.join(sandbox.dir(), ".memdir");
    fs.chmodSync(state, 0o000);
    for (const name of ["doctor", "check"]) {
      const { code, out } = await run(name);
      expect(code).toBe(1);
      expect(out).toMatch(/^!! {2}state: project: cannot read .*\.memdir \(EACCES\): no permission; check its owner/m);
    }
    for (const name of ["lint", "verify", "health"]) {
      const { code, out } = await run(name);
      expect(code).toBeLessThan(2);
      expect(out).not.toContain("EACCES");
    }
    fs.chmodSync(state, 0o700);
  },
);

test.skipIf(process.platform === "win32")(
  "a memory that its owner has closed is forgotten, and comes back",
  async () => {
    const { sandbox, run } = await openAsUser();
    const file = path.join(sandbox.dir(), "user_one.md");
    const text = fs.readFileSync(file, "utf8");
    fs.chmodSync(file, 0o000);
    expect(await run("forget", "user_one")).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^removed user_one\.md/m),
    });
    expect(fs.existsSync(file)).toBe(false);
    expect(await run("undo")).toMatchObject({ code: 0 });
    expect(fs.readFileSync(file, "utf8")).toBe(text);
  },
);

test.skipIf(process.platform === "win32")("a directory or an index without permission", async () => {
  const { sandbox, run } = await openAsUser();
  const index = path.join(sandbox.dir(), "MEMORY.md");
  fs.chmodSync(index, 0o000);
  const broken = await run("doctor");
  expect(broken.out).toMatch(/^!! {2}index: project: cannot read .*MEMORY\.md \(EACCES\)/m);
  expect(broken.out).toMatch(/^ok {2}wiring: /m);
  expect(broken).toMatchObject({ code: 1, out: expect.stringContaining("1 problem") });
  fs.chmodSync(index, 0o600);
  fs.chmodSync(sandbox.dir(), 0o000);
  const closed = await run("doctor");
  expect(closed.out).toMatch(/^!! {2}directory: project: .* cannot be read$/m);
  expect(closed.out).toMatch(/^ok {2}wiring: /m);
  expect(closed.code).toBe(1);
  const listed = await run("list");
  expect(listed).toEqual({ code: 1, out: expect.stringContaining(`${sandbox.dir()} is skipped: cannot be read`) });
  expect(listed.out).not.toContain("No memories");
  for (const args of [["index"], ["health"], ["context"], ["prompt", "--section", "index"]]) {
    const { code, out } = await run(...args);
    expect(code, args.join(" ")).toBe(3);
    expect(out).toMatch(/cannot read .*MEMORY\.md \(EACCES\): no permission; check its owner and mode/);
  }
  fs.chmodSync(sandbox.dir(), 0o700);
});
