/** What is refused is refused in our words, one line says that there are several, and counts are right. */

import fs from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { expectError, openSandbox } from "./run.ts";

test("numbers below what an option takes, negative ones too", async () => {
  const sandbox = openSandbox();
  await sandbox.save("tea");
  expectError(await sandbox.run(["recall", "tea", "--limit", "0"]), 2, /--limit must be a whole number, 1 or more/);
  expectError(
    await sandbox.run(["recall", "tea", "--limit", "-3"]),
    2,
    /--limit must be a whole number, 1 or more, not "-3"/,
  );
  expectError(await sandbox.run(["sessions", "--limit", "0"]), 2, /--limit must be a whole number, 1 or more, not "0"/);
  expectError(await sandbox.run(["prune", "--older-than", "-1"]), 2, /--older-than must be a whole number, 1 or more/);
  expectError(await sandbox.run(["mcp", "--http", "--port", "-1"]), 2, /--port must be a whole number from 0 to 65535/);
});

test("what does not fit was found", async () => {
  const sandbox = openSandbox();
  await sandbox.save("tea", [], "Tea is made with boiling water.");
  const { out } = await sandbox.run(["recall", "how is tea made with boiling water", "--max-bytes", "1"]);
  expect(out).toContain("Did not fit: ");
  expect(out).toContain("None of them fits, of 1 memory");
  expect(out).not.toContain("Nothing that clearly helps");
});

test("several warnings are one line, and doctor and check have each once", async () => {
  const sandbox = openSandbox();
  const values = { model: "x", teams: {}, trusted: {}, bogus: 1, other: 2 };
  fs.mkdirSync(path.join(sandbox.cwd, ".claude"));
  fs.writeFileSync(path.join(sandbox.cwd, ".claude", "memdir.json"), JSON.stringify(values));
  const { err } = await sandbox.run(["list"]);
  expect(err).toMatch(/^memdir: warning: [^\n]+ \(and \d+ more: memdir doctor shows them\)\n$/);
  for (const command of ["doctor", "check"]) {
    const ran = await sandbox.run([command]);
    expect(ran.err).toBe("");
    const lines = ran.out.split("\n").filter((line) => line.startsWith("!!  settings: "));
    expect(lines.length).toBeGreaterThan(1);
    expect(new Set(lines).size).toBe(lines.length);
    expect(ran.out).not.toContain("follow the advice");
  }
});

test("an editor that a signal ended", async () => {
  const sandbox = openSandbox();
  await sandbox.save("tea");
  const editor = sandbox.put("editor.sh", "#!/bin/sh\nkill -TERM $$\n");
  fs.chmodSync(editor, 0o755);
  expectError(await sandbox.run(["edit", "tea"], { env: { EDITOR: editor } }), 2, /the editor was ended by SIGTERM/);
});

test("one is one, and what was done is said as done", async () => {
  const sandbox = openSandbox();
  await sandbox.save("tea");
  expect((await sandbox.run(["context"])).out).toContain("MEMORY.md: 1 line\n");
  expect((await sandbox.run(["doctor"])).out).toContain("cues: 1 of 1 memory has none");
  const old = "---\nname: old\ndescription: d\ntype: project\nmodified: 2020-01-01T00:00:00.000Z\n---\n\nOld.\n";
  fs.writeFileSync(path.join(sandbox.dir(), "old.md"), old);
  fs.utimesSync(path.join(sandbox.dir(), "old.md"), new Date("2020-01-01"), new Date("2020-01-01"));
  const { out } = await sandbox.run(["prune", "--suggest", "--apply"]);
  expect(out).toMatch(/^forgot old\.md \(/m);
  expect(out).toMatch(/brings it back/);
  expect(out).not.toContain("would forget");
});
