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
  await pty.waitFor(/\+ Jobs are retried three times[\s\S]*Keep this\? \(1 of 1\)[\s\S]*q {2}quit/);
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

it.skipIf(process.platform === "win32")(
  "memdir learn: past sessions are read, each proposal is kept, edited or skipped, and it goes on after quitting",
  async () => {
    const box = openSandbox();
    const put = (number: number, said: string) => {
      const sessionId = `55555555-0000-4000-8000-00000000000${number}`;
      const message = { role: "user", content: said };
      const line = {
        type: "user",
        uuid: `u${number}`,
        parentUuid: null,
        sessionId,
        cwd: box.cwd,
        timestamp: `2026-03-10T12:00:0${number}.000Z`,
        message,
      };
      const file = path.join(box.dir(), "..", `${sessionId}.jsonl`);
      fs.mkdirSync(path.dirname(file), { recursive: true });
      fs.writeFileSync(file, `${JSON.stringify(line)}\n`);
    };
    put(1, "remember that releases are cut on Tuesdays");
    put(2, "remember that the staging database is reset every night");
    put(3, "remember that the wiki lives at https://wiki.example/home");
    const editor = path.join(box.cwd, "editor");
    fs.writeFileSync(editor, '#!/bin/sh\nsed -i.bak "s/Tuesdays/Wednesdays/" "$1"\n', { mode: 0o755 });
    const open = () =>
      openPty(process.execPath, [BINARY, "learn", "--since", "30d"], {
        cwd: box.cwd,
        env: { ...box.env, EDITOR: editor },
        ...{ cols: 80, rows: 40 },
      });
    const pty = open();
    await pty.waitFor(/3 sessions of the last 30 days, 3 new messages\. Reading them is free/);
    await pty.waitFor(/Tuesdays[\s\S]*Keep this\? \(1 of 3\) +\[k\] keep +\[e\] edit +\[s\] skip/);
    pty.write("e\r");
    await pty.waitFor(/\+ .*Wednesdays[\s\S]*Keep this\? \(1 of 3\)/);
    pty.write("k\r");
    await pty.waitFor(/Keep this\? \(2 of 3\)/);
    pty.write("skip\r");
    await pty.waitFor(/Keep this\? \(3 of 3\)/);
    pty.write("q\r");
    await pty.waitFor(/Learnt: 1 memory\.[\s\S]*1 proposal skipped; it does not come back\.[\s\S]*1 proposal waits/);
    expect(await pty.exit).toBe(0);
    const again = open();
    await again.waitFor(/Keep this\? \(1 of 1\)/);
    again.write("k\r");
    await again.waitFor(/Learnt: 1 memory\./);
    expect(await again.exit).toBe(0);
    const bodies = (await box.json(["list"])).map(({ description }: { description: string }) => description).join("\n");
    expect(bodies).toMatch(/wiki/);
    expect(await box.json(["list"])).toHaveLength(2);
    expect((await box.run(["learn"])).out).toBe("There is nothing new in the sessions of the last 30 days.\n");
  },
);
