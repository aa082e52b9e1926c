import { describe, expect, it } from "vitest";
import { type Ask, type AskAnswer, type AskError, NO_USAGE, type Retry } from "../../src/model/ask.ts";
import { withRetries } from "../../src/model/choose.ts";
import { bad, good, request, useTalk } from "./talk.ts";

const talk = useTalk();

/** A world whose clock moves only by sleeping. */
function stillWorld(random = 0) {
  const slept: number[] = [];
  let now = 1000;
  const sleep = async (ms: number) => {
    slept.push(ms);
    now += ms;
  };
  return { slept, now: () => new Date(now), sleep, random: () => random };
}

function failing(error: Partial<AskError>): Ask & { calls: () => number } {
  let calls = 0;
  const ask = async (): Promise<AskAnswer> => {
    calls++;
    return { ok: false, error: { kind: "overloaded", message: "no", retriable: true, ...error } };
  };
  return Object.assign(ask, { calls: () => calls });
}

describe("withRetries", () => {
  it("gets through after five times 529, each wait twice the last", async () => {
    for (let i = 0; i < 5; i++) talk.server.queue({ status: 529 });
    talk.server.queue({ text: "at last" });
    const world = stillWorld();
    const retries: Retry[] = [];
    const answer = await withRetries(talk.anthropic, world)(request({ onRetry: (retry) => retries.push(retry) }));
    expect(good(answer).content).toEqual([{ type: "text", text: "at last" }]);
    expect(world.slept).toEqual([250, 500, 1000, 2000, 4000]);
    expect(retries.map(({ attempt, waitMs, error }) => [attempt, waitMs, error.kind])).toEqual(
      world.slept.map((ms, i) => [i + 1, ms, "overloaded"]),
    );
  });

  it("tries again after a stream that was dropped", async () => {
    talk.server.queue({ text: "ha", fault: "drop" }, { text: "half and whole" });
    const answer = good(await withRetries(talk.openai, stillWorld())(request()));
    expect(answer.content).toEqual([{ type: "text", text: "half and whole" }]);
  });

  it("waits as long as the provider asks", async () => {
    talk.server.queue({ status: 429, headers: { "retry-after": "9" } }, { text: "ok" });
    const world = stillWorld(0.5);
    good(await withRetries(talk.anthropic, world)(request()));
    expect(world.slept).toEqual([9000]);
  });

  it("leaves half of each wait to chance, and none is longer than 20 s", async () => {
    const budget = { attempts: 9, totalMs: 1e9 };
    const full = stillWorld(1);
    await withRetries(failing({}), full, budget)(request());
    expect(full.slept).toEqual([500, 1000, 2000, 4000, 8000, 16_000, 20_000, 20_000]);
    const half = stillWorld(0.5);
    await withRetries(failing({}), half, budget)(request());
    expect(half.slept.slice(0, 3)).toEqual([375, 750, 1500]);
  });

  it("gives up when the attempts are spent", async () => {
    const ask = failing({});
    const { error } = bad(await withRetries(ask, stillWorld(), { attempts: 3, totalMs: 1e9 })(request()));
    expect(ask.calls()).toBe(3);
    expect(error).toMatchObject({ kind: "overloaded", message: "no (tried 3 times)" });
  });

  it("gives up when the time is spent", async () => {
    const ask = failing({});
    const world = stillWorld();
    await withRetries(ask, world, { attempts: 99, totalMs: 2000 })(request());
    expect(world.slept).toEqual([250, 500, 1000]);
    expect(ask.calls()).toBe(4);
  });

  it("does not wait for longer than the budget, and says how long it would be", async () => {
    const world = stillWorld();
    const { error } = bad(await withRetries(failing({ retryAfterMs: 3_600_000 }), world)(request()));
    expect(world.slept).toEqual([]);
    expect(error.message).toContain("3600 s");
  });

  it("does not repeat what will not pass", async () => {
    const ask = failing({ kind: "auth", retriable: false });
    bad(await withRetries(ask, stillWorld())(request()));
    expect(ask.calls()).toBe(1);
  });

  it("stops waiting when it is told to", async () => {
    const ask = failing({});
    const controller = new AbortController();
    const world = { ...stillWorld(), sleep: async () => controller.abort() };
    const { error } = bad(await withRetries(ask, world)(request({ signal: controller.signal })));
    expect(error).toMatchObject({ kind: "aborted", retriable: false });
    expect(ask.calls()).toBe(1);
  });

  it("leaves a good answer alone", async () => {
    const answer: AskAnswer = { ok: true, content: [], stop: "end", usage: NO_USAGE };
    expect(await withRetries(async () => answer, stillWorld())(request())).toBe(answer);
  });
});
