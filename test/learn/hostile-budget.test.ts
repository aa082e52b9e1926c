/** Budgets and secrets under bad luck: nothing runs uncounted, nothing of the user's own stops, and no credential stays anywhere. */

import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { enrich } from "../../src/learn/enrich.ts";
import { type Ask, NO_USAGE, type Usage } from "../../src/model/ask.ts";
import { countAnswers } from "../../src/model/cost.ts";
import { openLearner, openLearning } from "../../src/open-learn.ts";
import { calls, type OpenOptions, openDesk } from "../agent/desk.ts";
import { DAY, mainOf, makeWorld } from "../world.ts";
import { DONE, NOTHING, note, write } from "./extraction-desk.ts";

const SQUASH = "Please never squash my commits, the reviewers read them one by one.";

async function openLearningDesk(settings: object = {}) {
  const desk = await openDesk();
  fs.writeFileSync(path.join(desk.world.home, ".claude", "memdir.json"), JSON.stringify({ learn: settings }));
  const memdir = await desk.world.open();
  const state = path.join(desk.world.dir, ".memdir");
  fs.mkdirSync(state, { recursive: true });
  const open = (more: OpenOptions = {}) => desk.open({ openLearner: openLearner(memdir), ...more });
  return { desk, memdir, open, state, ledger: openLearning(memdir).ledger };
}

const spent = (at: Date, usage: Partial<Usage>) => ({
  ...{ at: at.toISOString(), kind: "dream" as const, session: null, model: "m", produced: "", skipped: null },
  usage: { ...NO_USAGE, ...usage },
});

describe("a ledger that cannot be written", () => {
  it.each<[string, (file: string) => void]>([
    ["is a link", (file) => fs.symlinkSync(path.join(path.dirname(file), "elsewhere"), file)],
    ["is a folder", (file) => fs.mkdirSync(file)],
    ["is a fifo", (file) => void execFileSync("mkfifo", [file])],
    [
      "lies in a linked folder",
      (file) => {
        fs.rmdirSync(path.dirname(file));
        fs.mkdirSync(`${path.dirname(file)}-elsewhere`);
        fs.symlinkSync(`${path.dirname(file)}-elsewhere`, path.dirname(file));
      },
    ],
  ])("because it %s stops what is learnt by itself and nothing else", async (_, spoil) => {
    const { desk, open, state } = await openLearningDesk();
    spoil(path.join(state, "ledger.jsonl"));
    desk.server.queue({ text: "Understood." }, { text: "Again." });
    const agent = await open();
    expect(await agent.say(SQUASH)).toMatchObject({ ended: "done" });
    await agent.drain();
    expect(await agent.say("What else is there?")).toMatchObject({ text: "Again." });
    await agent.drain();
    expect(desk.server.requests).toHaveLength(2);
    expect(desk.world.logged.join("\n")).toMatch(/extraction skipped: .*(?:ledger|\.memdir)/);
  });
});

describe("what was spent", () => {
  it("counts through damage, a hundred thousand lines, and a clock that goes back and forth over midnight", async () => {
    const { desk, ledger, state } = await openLearningDesk();
    const file = path.join(state, "ledger.jsonl");
    const skip = JSON.stringify({ ...spent(desk.world.now, {}), skipped: "nothing is new since the last time" });
    const now = desk.world.now;
    ledger.spend(spent(now, { input: 100 }));
    fs.appendFileSync(file, `${`${skip}\n`.repeat(100_000)}{"at":"20\0\0`);
    ledger.spend(spent(now, { input: 10 }));
    expect(ledger.today().tokens).toBe(110);
    desk.world.now = new Date(now.getTime() + DAY);
    expect(ledger.today().tokens).toBe(0);
    ledger.spend(spent(desk.world.now, { output: 7 }));
    desk.world.now = now;
    ledger.spend(spent(now, { output: 1 }));
    expect(ledger.today().tokens).toBe(111);
    desk.world.now = new Date(now.getTime() + DAY);
    expect(ledger.today().tokens).toBe(7);
  });

  it.each<[string, Usage]>([
    ["nothing", NO_USAGE],
    ["less than nothing", { ...NO_USAGE, input: -1_000_000, output: 5 }],
    ["no number", { ...NO_USAGE, input: Number.NaN, output: 5 }],
  ])("is guessed when the provider says %s", async (_, usage) => {
    const ask: Ask = async () => ({ ok: true, stop: "end", usage, content: [{ type: "text", text: "x".repeat(400) }] });
    const said = { role: "user" as const, content: [{ type: "text" as const, text: "y".repeat(4_000) }] };
    const answer = await countAnswers(ask)({ system: [], messages: [said], maxTokens: 1 });
    expect(answer.ok && answer.usage.input).toBeGreaterThan(1_000);
    expect(answer.ok && answer.usage.output).toBeGreaterThan(100);
  });

  it("reaches a limit also with a provider that counts nothing", async () => {
    const { desk, open, ledger } = await openLearningDesk({ tokensPerSession: 1_000 });
    const usage = { input: 0, output: 0 };
    desk.server.queue({ text: "One." }, { ...NOTHING, usage }, { text: "Two." });
    const agent = await open();
    await agent.say(SQUASH);
    await agent.drain();
    await agent.say("What else is there?");
    await agent.drain();
    expect(desk.server.requests).toHaveLength(3);
    expect(ledger.entries().map(({ skipped }) => skipped)).toEqual([null, expect.stringContaining("session's budget")]);
  });

  it("by cues counts as well", async () => {
    const all: Usage[] = [];
    const ask: Ask = async () => ({ ok: true, stop: "end", usage: NO_USAGE, content: [{ type: "text", text: "[]" }] });
    const world = makeWorld();
    const directory = mainOf(await world.open());
    world.write("user_a.md", "---\nname: a\ndescription: a\ntype: user\n---\n\na\n");
    const ledger = { spend: ({ usage }: { usage: Usage }) => void all.push(usage) };
    const enriching = { directory, ledger, budget: () => ({ ok: true as const }), inbox: null };
    await enrich(enriching, { ask, provider: "p", name: "m", maxTokens: 1_000 }, ["user_a.md"]);
    expect(all[0]?.input).toBeGreaterThan(10);
  });
});

describe("a credential", () => {
  const KEY = ["ghp_", "16C7e42F292c6912E7710c838347Ae178B4a"].join("");

  it("that is in a prompt, a result, a draft and the provider's complaint is in no file of memory and in no log", async () => {
    const { desk, open, memdir } = await openLearningDesk();
    desk.put("env.txt", `TOKEN=${KEY}\n`);
    const read = calls({ name: "Read", input: { file_path: path.join(desk.world.project, "env.txt") } });
    desk.server.queue(
      read,
      { text: `It is ${KEY}.` },
      write("feedback_a.md", note({ body: `Never squash commits; the token is ${KEY}.` })),
      write("feedback_b.md", note({ name: "B", description: `"Never squash ${KEY}"` })),
      write(`feedback_${KEY}.md`, note({ body: " " })),
      { status: 400, message: `invalid request for the key ${KEY}` },
    );
    const agent = await open();
    await agent.say(`${SQUASH} My token is ${KEY}, what is in env.txt?`, { onEvent: desk.onEvent });
    await agent.drain();
    expect(desk.server.requests).toHaveLength(6);
    expect(await memdir.list()).toEqual([]);
    expect(desk.world.grep(KEY).filter((file) => file.includes("/memory/"))).toEqual([]);
    expect(desk.world.logged.join("\n")).not.toContain(KEY);
    expect(JSON.stringify(desk.events.filter(({ type }) => type === "learnt"))).not.toContain(KEY);
  });

  it("that is remembered explicitly without a budget is not kept, and neither is it in the inbox", async () => {
    for (const mode of ["auto", "inbox"]) {
      const { desk, open } = await openLearningDesk({ tokensPerDay: 0, mode });
      desk.server.queue({ text: "No." });
      const agent = await open();
      await agent.say(`Remember that the deploy token is ${KEY}.`, { onEvent: desk.onEvent });
      await agent.drain();
      expect(desk.world.grep(KEY).filter((file) => file.includes("/memory/"))).toEqual([]);
      expect(desk.world.logged.join("\n")).not.toContain(KEY);
    }
  });

  it("in a note that an agent takes is masked, and its complaint is not quoted in the ledger", async () => {
    const { desk, open, ledger } = await openLearningDesk({ everyTurns: 99, notes: false });
    const agent = await open();
    const file = path.join(path.dirname(agent.transcriptPath), agent.sessionId, "session-memory", "summary.md");
    const edit = { tools: [{ name: "Edit", input: { file_path: file, old_string: "x", new_string: "y" } }] };
    desk.server.queue({ text: "Hi." }, edit, { status: 400, message: `the key ${KEY} is not valid` });
    await agent.say("hello you there");
    await agent.takeNotes();
    expect(ledger.entries().map(({ kind }) => kind)).toContain("notes");
    expect(desk.world.grep(KEY)).toEqual([]);
    expect(desk.world.logged.join("\n")).not.toContain(KEY);
  });
});

it("what one session costs does not stop another, and neither stops the user", async () => {
  const { desk, open } = await openLearningDesk({ tokensPerSession: 10 });
  desk.server.queue({ text: "One." }, { ...NOTHING, usage: { input: 50 } }, { text: "Two." });
  const agent = await open();
  await agent.say(SQUASH);
  await agent.drain();
  await agent.say("And now?");
  await agent.drain();
  await agent.clear();
  desk.server.queue({ text: "Three." }, write("a.md"), DONE);
  expect(await agent.say(SQUASH)).toMatchObject({ text: "Three." });
  await agent.drain();
  expect(desk.server.requests).toHaveLength(6);
});
