/** `memdir inbox` on real files; its terminal is written into lists. */

import fs from "node:fs";
import path from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { runOf } from "../../src/cli/command.ts";
import { type Inbox, openInbox } from "../../src/learn/inbox.ts";
import type { Proposal } from "../../src/learn/proposal.ts";
import type { Memdir } from "../../src/memdir.ts";
import { inbox as verb } from "../../src/verbs/inbox.ts";
import { propose } from "../learn/proposals.ts";
import { errorOf, mainOf, makeWorld, type World } from "../world.ts";
import { hearCall } from "./call.ts";

const run = runOf(verb);

let world: World;
let memdir: Memdir;
let inbox: Inbox;

beforeEach(async () => {
  world = makeWorld();
  memdir = await world.open();
  inbox = openInbox(mainOf(memdir), mainOf(memdir));
});

afterEach(() => {
  vi.unstubAllEnvs();
});

async function call(args: string[], json = false): Promise<string> {
  const { call: made, printed, warned, answers } = hearCall(world, { args, json });
  expect(await run(made)).toBe(0);
  return [...printed, ...warned, ...answers.map((answer) => JSON.stringify(answer))].join("\n");
}

const json = async (...args: string[]) => JSON.parse(await call(args, true));

async function add(more: Partial<Proposal> = {}): Promise<string> {
  const added = await inbox.add(propose({ reason: "said while the queue was discussed", ...more }));
  if (!("id" in added)) throw new Error(JSON.stringify(added));
  return added.id;
}

function editor(script: string): void {
  const program = path.join(world.top, "editor");
  fs.writeFileSync(program, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  // Copies of what could not be taken stay there.
  vi.stubEnv("TMPDIR", world.top);
  Object.assign(world.env, { EDITOR: program });
}

test("lists what waits, with id, memory, origin and reason", async () => {
  expect(await json()).toEqual([]);
  expect(await call([])).toBe("the inbox is empty");
  const id = await add();
  const [one] = await json();
  expect(one).toMatchObject({
    id,
    from: "extraction",
    reason: "said while the queue was discussed",
    trust: "inferred",
  });
  expect(one.memory).toEqual({
    action: "save",
    file: null,
    type: "project",
    name: "retries",
    description: "How often",
    body: "Jobs are retried three times.",
    when: ["a job fails"],
  });
});

test("people see a diff against the memory that it changes, its trust and its origin", async () => {
  const { file } = await memdir.save({ type: "project", name: "retries", body: "Jobs are retried twice." });
  const id = await add();
  const text = await call([]);
  expect(text).toContain(`${id} change ${file}\n`);
  expect(text).toContain("concluded by an agent, by extraction, 2026-03-10, session s1: said while the queue");
  expect(text).toContain("  - Jobs are retried twice.");
  expect(text).toContain("  + Jobs are retried three times.");
  expect(text).toContain("1 waiting: memdir inbox accept ID");
});

test("new ones, ones that go and ones whose memory is gone are told apart", async () => {
  const { file } = await memdir.save({ type: "user", name: "tabs", body: "Likes tabs." });
  await add();
  await add({ action: "forget", file, name: "tabs", type: "user", body: "" });
  await add({ action: "update", file: "project_gone.md", body: "Other." });
  const text = await call([]);
  expect(text).toMatch(/ new retries\n/);
  expect(text).toMatch(/ forget user_tabs\.md\n/);
  expect(text).toContain("  - Likes tabs.");
  expect(text).toMatch(/ new project_gone\.md \(it is gone\)\n/);
});

test("foreign text cannot play with the terminal", async () => {
  await add({ name: "a\x1b[2Jb", reason: "x\x1b]0;title\x07\ny", body: "One\x1b[31m\rtwo", session: "s\u202e1" });
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
  expect(await call([])).not.toMatch(/[\x1b\x07\r\u202e]/);
});

test("accept writes it and says how to undo it", async () => {
  const id = await add();
  const text = await call(["accept", id.slice(0, 6)]);
  const undo = /^saved project_retries\.md; memdir undo (\S+) reverts it$/.exec(text)?.[1];
  expect(world.read("project_retries.md")).toContain("source: inferred session=s1 message=m1");
  expect(await json()).toEqual([]);
  await memdir.undo(undo as string);
  expect(world.exists("project_retries.md")).toBe(false);
});

test("accept as JSON; what is there already changes nothing", async () => {
  const id = await add();
  const accepted = { id, name: "retries", done: "saved", file: "project_retries.md", undo: expect.any(String) };
  expect(await json("accept", id)).toEqual(accepted);
  const again = await add({ name: "again" });
  expect(await call(["accept", again])).toBe("project_retries.md says it already: nothing was changed");
});

test("reject: it does not come back", async () => {
  const id = await add();
  expect(await call(["reject", id])).toMatch(/^rejected \S+ \(retries\): it will not be proposed again/);
  await expect(add()).rejects.toThrow("rejectedBefore");
  const other = await add({ body: "Other." });
  const rejected = { id: other, name: "retries", done: "rejected", file: null, undo: null };
  expect(await json("reject", other)).toEqual(rejected);
  expect(world.files()).toEqual([]);
});

test("edit: in the editor like a memory, then accepted", async () => {
  const id = await add();
  editor('sed -i.bak "s/three/five/; s/type: project/type: reference/" "$1"');
  expect(await call(["edit", id])).toContain("+ Jobs are retried five times.");
  expect(inbox.find(id)).toMatchObject({ type: "reference", body: "Jobs are retried five times.", trust: "inferred" });
  await call(["accept", id]);
  expect(world.read("reference_retries.md")).toContain("five times");
});

test("edit: what cannot be read, holds a secret or empties it is refused, and the proposal stays", async () => {
  const id = await add();
  editor('echo "no frontmatter" > "$1"');
  expect((await errorOf(call(["edit", id]))).message).toMatch(/^the proposal was not changed: no frontmatter/);
  editor(`printf 'AKIA%s\\n' IOSFODNN7QQQQQQ2 >> "$1"`);
  expect((await errorOf(call(["edit", id]))).code).toBe("secret");
  editor("exit 0");
  await call(["edit", id]);
  expect(inbox.list()).toMatchObject([{ id, body: "Jobs are retried three times." }]);
});

test("calls that are wrong say how it goes", async () => {
  for (const args of [["take", "x"], ["accept"], ["constructor", "x"]])
    expect((await errorOf(call(args))).message).toMatch(/^usage: memdir inbox \[accept ID/);
  expect((await errorOf(call(["accept", "ffff"]))).code).toBe("not-found");
  const id = await add({ action: "forget", file: "project_x.md" });
  expect((await errorOf(call(["edit", id]))).message).toMatch(/is to forget a memory: accept or reject it/);
});
