/** What may not be read is a problem with a name, not the end of a report, and never "no memories". */

import { execFile, execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { BINARY, openSandbox } from "./run.ts";

/** Root may read everything: then the program is run as nobody. */
const NOBODY = 65_534;
const isRoot = process.getuid?.() === 0;

test.skipIf(process.platform === "win32")("a directory or an index without permission", async () => {
  const sandbox = openSandbox();
  await sandbox.save("one");
  if (isRoot) execFileSync("chown", ["-R", `${NOBODY}:${NOBODY}`, sandbox.top]);
  const who = isRoot ? { uid: NOBODY, gid: NOBODY } : {};
  const run = (...args: string[]) =>
    new Promise<{ code: unknown; out: string }>((resolve) => {
      const options = { cwd: sandbox.cwd, env: sandbox.env, ...who };
      execFile(process.execPath, [BINARY, ...args], options, (error, out, err) =>
        resolve({ code: error?.code ?? 0, out: out + err }),
      );
    });
  const index = path.join(sandbox.dir(), "MEMORY.md");
  fs.chmodSync(index, 0o000);
  const broken = await run("doctor");
  expect(broken.out).toMatch(/^!! {2}index: project: cannot read .*MEMORY\.md \(EACCES\)/m);
  expect(broken.out).toMatch(/^ok {2}wiring: /m);
  expect(broken).toMatchObject({ code: 1, out: expect.stringContaining("1 to look at") });
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
