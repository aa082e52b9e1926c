/** Learning beside a session that is left, switched, stopped and disturbed at bad moments. */

import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { openSessionLearner } from "../../src/agent/learner.ts";
import type { AgentModel } from "../../src/agent/state.ts";
import type { Memories } from "../../src/learn/apply.ts";
import { readCursor } from "../../src/learn/extraction-gates.ts";
import { openAskedExtractor } from "../../src/learn/rules.ts";
import type { Conversation } from "../../src/model/agent-loop.ts";
import type { Ask } from "../../src/model/ask.ts";
import { openLearner, openLearning } from "../../src/open-learn.ts";
import { readSession } from "../../src/session/session-reader.ts";
import { DONE, NOTHING, note, openExtractionDesk, SESSION, TALK, write } from "../learn/extraction-desk.ts";
import { PATIENT } from "../until.ts";
import { type OpenOptions, openDesk } from "./desk.ts";

const SQUASH = "Please never squash my commits, the reviewers read them one by one.";
const EMPTY: Conversation = { system: [], tools: [], messages: [], sent: 0 };
const soon = (isDone: () => boolean) => expect.poll(isDone, PATIENT).toBe(true);

async function openLearningDesk(settings: object = {}) {
  const desk = await openDesk();
  fs.writeFileSync(path.join(desk.world.home, ".claude", "memdir.json"), JSON.stringify({ learn: settings }));
  const memdir = await desk.world.open();
  const open = (more: OpenOptions = {}) => desk.open({ openLearner: openLearner(memdir), ...more });
  return { desk, memdir, open, entries: () => openLearning(memdir).ledger.entries() };
}

/** A learner by itself, with a model that is never asked unless a test says so. */
async function openBareLearner(more: Partial<Memories> = {}) {
  const desk = await openExtractionDesk();
  const sessionsDir = path.join(desk.disk.top, "sessions");
  desk.learning.store = { ...desk.learning.store, ...more };
  const configDir = path.join(desk.disk.top, "config");
  const notes = { model: () => desk.model, sessionsDir, session: SESSION, configDir };
  const extractor = { ...desk.extractor, asked: openAskedExtractor(desk.learning) };
  const learner = openSessionLearner(desk.learning, extractor, {
    notes,
    takesNotes: true,
    tell: () => {},
  });
  return { desk, learner };
}

const TURN = {
  messages: TALK,
  conversation: EMPTY,
  prompt: { id: "u1", text: `Remember: ${SQUASH}`, at: "2026-03-09T12:00:00.000Z" },
  memoryWritten: false,
};

describe("at the end of a session", () => {
  it("who leaves does not wait for a disk that somebody else holds", async () => {
    const { desk, learner } = await openBareLearner({ list: () => new Promise(() => {}) });
    desk.learning.gates = () => ({ enabled: true, everyTurns: 1, budget: { ok: false, reason: "spent" } });
    learner.ended(TURN);
    await learner.drain(20);
    await learner.drain(0);
  });

  it("what was only just being looked at asks no model afterwards, and says so", async () => {
    let release = () => {};
    const held = new Promise<[]>((resolve) => {
      release = () => resolve([]);
    });
    const { desk, learner } = await openBareLearner({
      list: () => held,
      save: () => Promise.reject(new Error("full")),
    });
    let isSpent = true;
    desk.learning.gates = () => ({
      ...{ enabled: true, everyTurns: 1 },
      budget: isSpent ? { ok: false, reason: "spent" } : { ok: true },
    });
    learner.ended(TURN);
    await learner.drain(20);
    isSpent = false;
    release();
    await soon(() => desk.skips.length > 0);
    expect(desk.skips).toEqual(["Please never squash my commits: full"]);
    expect(desk.server.requests).toEqual([]);
    expect(learner.isBusy()).toBe(false);
  });

  it("draining twice, and at once, is no harm", async () => {
    const { desk, open } = await openLearningDesk();
    desk.server.queue({ text: "Understood." }, { text: "I am", fault: "hang" });
    const agent = await open();
    await agent.say(SQUASH);
    await soon(() => desk.server.requests.length === 2);
    await Promise.all([agent.drain({ ms: 20 }), agent.drain({ ms: 10 }), agent.drain({ ms: 0 })]);
    await agent.drain({ ms: 0 });
    expect(agent.isLearning()).toBe(false);
  });
});

describe("in the middle of a session", () => {
  it("a conversation that could not be captured once does not end the notes for good", async () => {
    const { desk, learner } = await openBareLearner();
    const answer = { contextTokens: 20_000, toolCalls: 0 };
    learner.answered(answer, () => Promise.reject(new Error("the disk is gone")));
    await soon(() => !learner.isBusy());
    expect(desk.disk.logged.join()).toContain("the disk is gone");
    desk.server.queue({ text: "no edit" });
    learner.answered({ ...answer, contextTokens: 30_000 }, async () => EMPTY);
    await soon(() => !learner.isBusy());
    expect(desk.server.requests.length + desk.disk.logged.length).toBeGreaterThan(1);
    expect(desk.disk.logged.join()).toContain("session notes:");
  });

  it("a turn is done although nothing can be learnt from it", async () => {
    const { desk, open } = await openLearningDesk();
    desk.server.queue({ text: "Understood." });
    const openBroken: OpenOptions["openLearner"] = () => {
      const fail = () => {
        throw new Error("the learner is broken");
      };
      return { answered: fail, ended: fail, takeNotes: fail, isBusy: () => false, drain: async () => {} };
    };
    const agent = await open({ openLearner: openBroken });
    expect(await agent.say(SQUASH)).toMatchObject({ text: "Understood.", ended: "done" });
    expect(desk.world.logged.join()).toContain("the learner is broken");
  });

  it("another model from the next turn on: the ledger names the one that was asked", async () => {
    const { desk, open, entries } = await openLearningDesk();
    desk.server.queue({ text: "Understood." }, { ...write("a.md"), delayMs: 30 }, DONE);
    const agent = await open();
    await agent.say(SQUASH);
    await soon(() => desk.server.requests.length === 2);
    const asked: string[] = [];
    const other: Ask = async () => {
      asked.push("other");
      return { ok: false, error: { kind: "auth", message: "not this one", retriable: false } };
    };
    agent.model({ ...agent.model(), ask: other, name: "other", provider: "openai" } satisfies AgentModel);
    await agent.drain();
    expect(asked).toEqual([]);
    expect(entries()).toMatchObject([{ model: "anthropic/claude-test", produced: "1 saved" }]);
  });

  it("going back while words are looked at: what is said instead is looked at, too", async () => {
    const { desk, memdir, open } = await openLearningDesk();
    desk.server.queue({ text: "Understood." }, { ...NOTHING, delayMs: 40 });
    const agent = await open();
    await agent.say("Please always squash my commits before a review.");
    await soon(() => desk.server.requests.length === 2);
    await agent.rewind(agent.prompts()[0]!.id, "conversation");
    desk.server.queue({ text: "Understood." }, write("a.md"), DONE);
    await agent.say(SQUASH);
    await agent.drain();
    expect((await memdir.list()).map(({ name }) => name)).toEqual(["Keep commits separate"]);
    expect(readCursor(desk.world.dir, agent.sessionId)?.message).toBe(`${agent.prompts()[0]!.id}.1`);
    expect(JSON.stringify(desk.server.requests.at(-1)?.body)).not.toContain("always squash");
  });

  it("a session of another client that is gone on with: its skills and summaries are not the user's word", async () => {
    const { desk, memdir, open } = await openLearningDesk();
    const first = await open();
    const line = (uuid: string, parentUuid: string | null, type: string, text: string, more = {}) => ({
      ...{ type, uuid, parentUuid, sessionId: SESSION, timestamp: "2026-03-09T12:00:00.000Z", ...more },
      message: { role: type, content: [{ type: "text", text }], ...(type === "assistant" && { id: uuid }) },
    });
    const lines = [
      line("u0", null, "user", `The session so far: ${SQUASH}`, { isCompactSummary: true }),
      line("u1", "u0", "user", "Which commits do the reviewers read?"),
      line("a1", "u1", "assistant", "All."),
      line("u2", "a1", "user", `# Review skill\n${SQUASH}`, { isMeta: true }),
      line("a2", "u2", "assistant", "Done."),
    ];
    const file = path.join(path.dirname(first.transcriptPath), `${SESSION}.jsonl`);
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, `${lines.map((one) => JSON.stringify(one)).join("\n")}\n`);
    const agent = await open({ from: await readSession(file) });
    const claims = ["m1", "m2", "m4", "m2, m4"].map((source) => write("a.md", note({ source })));
    desk.server.queue({ text: "Yes." }, ...claims, NOTHING);
    await agent.say("And who are they?");
    await agent.drain();
    expect(desk.server.requests).toHaveLength(6);
    expect(await memdir.list()).toEqual([]);
  });

  it("two agents in one session: one looks, the other says why it did not", async () => {
    const { desk, memdir, open, entries } = await openLearningDesk();
    desk.server.queue({ text: "Understood." }, NOTHING);
    const first = await open();
    await first.say("What is in this folder?");
    await first.drain();
    const second = await open({ from: await desk.read(first) });
    desk.server.queue({ text: "One." }, { ...write("a.md"), delayMs: 40 }, { text: "Two." }, DONE);
    await first.say(SQUASH);
    await soon(() => desk.server.requests.length === 4);
    await second.say("And what is in that one?");
    await second.drain();
    await first.drain();
    expect(entries().flatMap(({ skipped }) => skipped ?? [])).toEqual([
      "another process is extracting from this session",
    ]);
    expect(await memdir.list()).toHaveLength(1);
  });

  it("a memory that is written in a turn does not make up for earlier turns that nobody looked at", async () => {
    const { desk, memdir, open } = await openLearningDesk({ everyTurns: 3 });
    const content = "---\nname: tabs\ndescription: Tabs\ntype: feedback\n---\n\nUse tabs.\n";
    const saved = { tools: [{ name: "Write", input: { file_path: desk.world.path("feedback_tabs.md"), content } }] };
    desk.server.queue({ text: "Understood." }, saved, { text: "Saved." }, { text: "Fine." }, write("a.md"), DONE);
    const agent = await open();
    for (const words of [SQUASH, "Remember that I want tabs.", "What is in this folder?"]) {
      await agent.say(words);
      await agent.drain();
    }
    expect((await memdir.list()).map(({ name }) => name).sort()).toEqual(["Keep commits separate", "tabs"]);
  });

  it("memory that is switched off while words are looked at is not written any more", async () => {
    const { desk, memdir, open, entries } = await openLearningDesk();
    desk.server.queue({ text: "Understood." }, { ...write("a.md"), delayMs: 30 }, DONE);
    const agent = await open();
    await agent.say(SQUASH);
    await soon(() => desk.server.requests.length === 2);
    agent.memory(false);
    await agent.drain();
    expect(await memdir.list()).toEqual([]);
    expect(entries().length).toBeGreaterThan(0);
  });
});
