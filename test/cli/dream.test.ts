/** `memdir dream` through the binary. */

import fs from "node:fs";
import path from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { startModelServer } from "../model-server/model-server.ts";
import { openPty } from "../pty.ts";
import { BINARY, expectError, openSandbox, type Sandbox } from "./run.ts";

const bytes = (box: Sandbox) =>
  Object.fromEntries(
    fs
      .readdirSync(box.dir())
      .filter((name) => name.endsWith(".md"))
      .map((name) => [name, fs.readFileSync(path.join(box.dir(), name), "utf8")]),
  );

it("B9.4 without a model: duplicates are merged by a plan that is shown first, applied as one change, and undone whole", async () => {
  const box = openSandbox();
  const body = "The staging database is reset every night at three; never keep test data there over night.";
  await box.save("staging reset", ["--type", "project"], body);
  await box.save("staging database reset", ["--type", "project"], body);
  await box.save("something else", ["--type", "user"], "Prefers short answers in German.");
  const before = bytes(box);
  const planned = await box.json(["dream", "--plan"]);
  expect(planned).toMatchObject({ applied: false, undo: null });
  expect(planned.plan.map(({ op }: { op: string }) => op)).toContain("merge");
  expect(planned.plan.every(({ reason }: { reason: string }) => reason !== "")).toBe(true);
  expect(bytes(box)).toEqual(before);
  expectError(await box.run(["dream", "--apply"]), 2, /--only STEPS, --skip STEPS and --all/);
  expect(bytes(box)).toEqual(before);
  const done = await box.json(["dream", "--apply", "--skip", "2"]);
  expect(done.applied).toBe(true);
  expect(await box.json(["list"])).toHaveLength(2);
  await box.run(["undo", done.undo]);
  expect(bytes(box)).toEqual(before);
  expect((await box.run(["dream", "--status"])).out).toMatch(/last {6}20\d\d-/);
});

it.each(["escape", "ctrl-c"] as const)("on a terminal, %s at one step ends all of them", async (key) => {
  const box = openSandbox();
  const body = "The staging database is reset every night at three; never keep test data there over night.";
  await box.save("staging reset", ["--type", "project"], body);
  await box.save("staging database reset", ["--type", "project"], body);
  const before = bytes(box);
  const pty = openPty(process.execPath, [BINARY, "dream"], {
    cwd: box.cwd,
    env: { ...box.env, TERM: "xterm-256color" },
    cols: 200,
    rows: 60,
  });
  await pty.waitFor(/Step 1 of 2.*\[y\/N\]/);
  pty.press(key);
  expect(await pty.exit).toBe(0);
  expect(pty.text()).toContain("nothing was changed: you left at step 1 of 2");
  expect(pty.text()).not.toContain("Step 2 of 2");
  expect(bytes(box)).toEqual(before);
});

it("nothing to do is said; options exclude one another; a model that fails changes nothing", async () => {
  const box = openSandbox();
  await box.save("one");
  expect((await box.run(["dream"])).out).toContain("nothing to tidy up");
  expectError(await box.run(["dream", "--plan", "--apply", "--all"]), 2, /use only one of/);
  const server = await startModelServer();
  onTestFinished(() => server.close());
  server.queue({ status: 401 });
  const env = { MEMDIR_MODEL: "anthropic/m", ANTHROPIC_API_KEY: "sk-x", ANTHROPIC_BASE_URL: server.url };
  const failed = await box.run(["dream"], { env });
  expect(failed.code).toBe(3);
  expect(await box.json(["list"])).toHaveLength(1);
});

it("--if-due leaves it alone until a day and five sessions have passed, and that is no failure", async () => {
  const box = openSandbox();
  const body = "The staging database is reset every night at three; never keep test data there over night.";
  await box.save("staging reset", ["--type", "project"], body);
  await box.save("staging database reset", ["--type", "project"], body);
  expectError(await box.run(["dream", "--if-due"]), 2, /--apply --all/);
  expectError(await box.run(["dream", "--apply", "--only", "1", "--if-due"]), 2, /--apply --all/);
  const early = await box.run(["dream", "--apply", "--all", "--if-due"]);
  expect(early).toMatchObject({ code: 0, out: expect.stringContaining("0 other sessions since the last dream") });
  // Looking does not count as counting: asked again it says the same.
  for (const _ of [1, 2]) expect((await box.run(["dream", "--status"])).out).toContain("no: 0 other sessions");
  const sessions = path.dirname(box.dir());
  for (let i = 0; i < 5; i++)
    fs.writeFileSync(path.join(sessions, `0000000${i}-0000-4000-8000-000000000000.jsonl`), "");
  fs.rmSync(path.join(box.dir(), ".memdir", "dream-scan"));
  const due = await box.json(["dream", "--apply", "--all", "--if-due"]);
  expect(due.applied).toBe(true);
  expect(await box.json(["list"])).toHaveLength(1);
  expect((await box.run(["dream", "--apply", "--all", "--if-due"])).out).toContain("24 h must pass");
});
