/** Learning in the console of the built binary, on a real terminal of 40 columns. */

import fs from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { openInbox } from "../../src/learn/inbox.ts";
import { openMemdir } from "../../src/open.ts";
import { propose } from "../learn/proposals.ts";
import { openPty, type Pty } from "../pty.ts";
import { mainOf } from "../world.ts";
import { BINARY, openSandbox, type Sandbox } from "./run.ts";

const terminal = (box: Sandbox, env: Record<string, string> = {}): Pty =>
  openPty(process.execPath, [BINARY], {
    cwd: box.cwd,
    env: { ...box.env, TERM: "xterm-256color", ...env },
    cols: 40,
    rows: 30,
  });

it.skipIf(process.platform === "win32")("/inbox: edited in the editor, accepted and taken back by undo", async () => {
  const box = openSandbox();
  const directory = mainOf(await openMemdir({ cwd: box.cwd, env: box.env }));
  await openInbox(directory, directory).add(propose({ reason: "\x1b[2Jsaid" }));
  const editor = path.join(box.cwd, "editor");
  fs.writeFileSync(editor, '#!/bin/sh\nsed -i.bak "s/three/five/" "$1"\n', { mode: 0o755 });
  const pty = terminal(box, { EDITOR: editor });
  await pty.waitFor(/1 proposal waits: \/inbox/);
  await pty.waitFor(/say something/);
  pty.write("/inbox\r");
  await pty.waitFor(/\+ Jobs are retried three times[\s\S]*Keep this\? \(1 of 1\)[\s\S]*stop here/);
  pty.write("e");
  await pty.waitFor(/\+ Jobs are retried five times[\s\S]*Keep this\?/);
  for (const line of pty.screen()) expect([...line].length).toBeLessThanOrEqual(40);
  pty.write("a");
  await pty.waitFor(/saved project_retries\.md; \/undo/);
  await pty.waitFor(/the inbox is empty/);
  const file = path.join(box.dir(), "project_retries.md");
  expect(fs.readFileSync(file, "utf8")).toContain("five times");
  pty.write("/undo\r");
  await pty.waitFor(/undid/);
  expect(fs.existsSync(file)).toBe(false);
  pty.press("ctrl-d");
  expect(await pty.exit).toBe(0);
});

it("B9.4 /dream: the plan is seen, applied with a key, and /cost tells what is left", async () => {
  const box = openSandbox();
  const body = "The staging database is reset every night at three; never keep test data there over night.";
  await box.save("staging reset", ["--type", "project"], body);
  await box.save("staging database reset", ["--type", "project"], body);
  const pty = terminal(box);
  await pty.waitFor(/say something/);
  pty.write("/dream\r");
  await pty.waitFor(/Step 1 of 2, merge/);
  expect(await box.json(["list"])).toHaveLength(2);
  pty.write("y");
  await pty.waitFor(/Step 2 of 2, reindex/);
  pty.write("y");
  await pty.waitFor(/\/undo \d+ reverts/);
  expect(await box.json(["list"])).toHaveLength(1);
  pty.write("/cost\r");
  await pty.waitFor(/Left today: 200,000 of 200,000/);
  pty.press("ctrl-d");
  expect(await pty.exit).toBe(0);
});
