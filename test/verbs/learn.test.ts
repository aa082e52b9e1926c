/** `learn`: what there is to read and what it costs, proposals one by one, and how it goes on when it was left. */

import path from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { runOf } from "../../src/cli/command.ts";
import { findEmbed } from "../../src/meaning/meaning.ts";
import { learn as verb } from "../../src/verbs/learn.ts";
import { type CallOptions, hearCall } from "../cli/call.ts";
import { contextOf } from "../contract/test-verb.ts";
import { startModelServer } from "../model-server/model-server.ts";
import { putRollout } from "../session/rollouts.ts";
import { uuid } from "../session/transcripts.ts";
import { DAY, makeWorld, type World } from "../world.ts";

/** A session of this project, as Claude Code leaves it. */
function putSession(world: World, number: number, ageDays: number, ...said: string[]): void {
  const lines = said.flatMap((text, i) => {
    const more = { sessionId: uuid(number), cwd: world.project, timestamp: `2026-03-0${number}T12:0${i}:00.000Z` };
    const [one, two] = [`u${number}-${i}`, `a${number}-${i}`];
    const message = { id: `m${i}`, role: "assistant", content: [{ type: "text", text: "Noted." }] };
    return [
      {
        type: "user",
        uuid: one,
        parentUuid: i ? `a${number}-${i - 1}` : null,
        ...more,
        message: { role: "user", content: text },
      },
      { type: "assistant", uuid: two, parentUuid: one, ...more, message },
    ];
  });
  const file = path.join(path.dirname(world.dir), `${uuid(number)}.jsonl`);
  putRollout(file, lines, new Date(world.now.getTime() - ageDays * DAY));
}

/** Three sessions; the first is too old for a month. */
function threeSessions(): World {
  const world = makeWorld();
  putSession(world, 1, 60, "remember that the demo is on 2026-05-01");
  putSession(world, 2, 5, "remember that releases are cut on Tuesdays", "fix the failing test please");
  putSession(world, 3, 2, "remember that the staging database is reset every night");
  return world;
}

/** `keys` are what a person presses, in order; null leaves. */
async function learn(world: World, options: CallOptions["options"] = {}, keys: (string | null)[] | null = null) {
  const asked: string[] = [];
  const person: Partial<CallOptions> = keys
    ? {
        ask: async () => true,
        choose: async (question) => {
          asked.push(question);
          return keys.shift() ?? null;
        },
      }
    : {};
  const heard = hearCall(world, { options, ...person });
  const code = await runOf(verb)(heard.call);
  return { code, asked, ...heard, text: heard.printed.join("\n") };
}

const memories = (world: World) => world.files().filter((file) => /^(?:project|reference|feedback|user)_/.test(file));

describe("learn, by rules", () => {
  it("says first how much there is and that it is free; without a terminal proposals wait in the inbox", async () => {
    const world = threeSessions();
    const trial = await learn(world, { "dry-run": true });
    expect(trial.text).toMatch(/2 sessions of the last 30 days, 6 new messages\. Reading them is free/);
    expect(world.files()).toEqual([]);
    const { text, progress } = await learn(world);
    expect(text).toMatch(/2 sessions of the last 30 days[\s\S]*2 proposals wait: memdir inbox lists them/);
    expect(progress).toContain("sessions 1/2");
    expect(memories(world)).toEqual([]);
  });

  it("proposes one by one: keep, skip, quit; what was left comes up the next time, and nothing twice", async () => {
    const world = threeSessions();
    const first = await learn(world, { since: "90d" }, ["k", "s", "q"]);
    expect(first.asked).toEqual(["Keep this? (1 of 3)", "Keep this? (2 of 3)", "Keep this? (3 of 3)"]);
    expect(first.text).toMatch(/Learnt: 1 memory\.[\s\S]*1 proposal skipped[\s\S]*1 proposal waits/);
    expect(memories(world)).toHaveLength(1);
    const second = await learn(world, { since: "90d" }, ["k"]);
    expect(second.asked).toEqual(["Keep this? (1 of 1)"]);
    expect(memories(world)).toHaveLength(2);
    const third = await learn(world, { since: "90d" }, []);
    expect(third).toMatchObject({ asked: [], printed: ["There is nothing new in the sessions of the last 90 days."] });
    expect(memories(world)).toHaveLength(2);
  });

  it.skipIf(findEmbed() === null)("makes the vectors of what was kept, so that the next prompt finds it", async () => {
    const world = threeSessions();
    Object.assign(world.env, { MEMDIR_MEANING: "1" });
    await learn(world, { since: "90d" }, ["a"]);
    expect(await (await world.open()).warm()).toMatchObject({ memories: 3, embedded: 0 });
  });

  it("keeps this and the rest on one key", async () => {
    const world = threeSessions();
    const { asked, text } = await learn(world, { since: "90d" }, ["a"]);
    expect(asked).toHaveLength(1);
    expect(text).toContain("Learnt: 3 memories.");
    expect(memories(world)).toHaveLength(3);
  });

  it("answers programs in the shape of the contract", async () => {
    const world = threeSessions();
    const { call, answers } = hearCall(world, { json: true });
    expect(await runOf(verb)(call)).toBe(0);
    expect(answers[0]).toMatchObject({
      found: { sessions: 2, messages: 6, tokens: 0, model: null },
      saved: [{ action: "inbox" }, { action: "inbox" }],
      skipped: null,
      ...{ rejected: 0, waiting: 2, left: 0, turns: 0 },
      usage: { input: 0 },
    });
  });

  it("does nothing where learning is off, and says so", async () => {
    const world = threeSessions();
    Object.assign(world.env, { MEMDIR_LEARN: "off" });
    const { warned } = await learn(world);
    expect(warned.join("\n")).toContain("learning is off here (learn.mode)");
    expect(world.files()).toEqual([]);
  });

  it("goes on where it was stopped", async () => {
    const world = threeSessions();
    const stop = new AbortController();
    const memdir = await world.open();
    const progress = () => (done: number) => void (done === 1 && stop.abort());
    const run = (signal: AbortSignal) => verb.run(memdir, {}, { ...contextOf(world), progress, signal });
    const first = await run(stop.signal);
    expect(first).toMatchObject({ saved: [{ action: "inbox" }], skipped: expect.stringContaining("interrupted") });
    const second = await run(new AbortController().signal);
    expect(second).toMatchObject({ saved: [{ action: "inbox" }], skipped: null, waiting: 2, left: 0 });
  });
});

describe("learn, with a model", () => {
  it("estimates the tokens, asks before it spends them, and stops at the day's limit", async () => {
    const world = threeSessions();
    const server = await startModelServer();
    onTestFinished(() => server.close());
    const env = { MEMDIR_MODEL: "anthropic/m", ANTHROPIC_API_KEY: "sk-x", ANTHROPIC_BASE_URL: server.url };
    Object.assign(world.env, env);
    const no = hearCall(world, { ask: async () => false });
    await runOf(verb)(no.call);
    expect(no.printed.join("\n")).toMatch(/about 8,\d{3} tokens of anthropic\/m/);
    expect(server.requests).toEqual([]);
    server.queue({ text: "NOTHING TO KEEP" }, { text: "NOTHING TO KEEP", usage: { input: 200_000, output: 1 } });
    const { text } = await learn(world, {}, []);
    expect(text).toContain("Nothing worth keeping in 2 sessions.");
    putSession(world, 4, 1, "remember that the audit is in June");
    const { warned, text: tight } = await learn(world, {}, []);
    expect(tight).toContain("Today's limit leaves 0");
    expect(warned.join("\n")).toMatch(/the daily budget is used up.*run the same again tomorrow/);
    expect(server.requests).toHaveLength(2);
  });
});
