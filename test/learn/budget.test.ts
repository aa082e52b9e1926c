import fs from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { readConfig } from "../../src/config.ts";
import { checkBudget, type Limits, openLedger, tokensLeft } from "../../src/learn/ledger.ts";
import { endingDay } from "../../src/learn/model-extractor.ts";
import type { AskAnswer, AskError, AskRequest } from "../../src/model/ask.ts";
import type { Prices } from "../../src/model/cost.ts";
import { makeTemporary } from "../temporary.ts";

const { learn: LEARN_DEFAULTS } = readConfig({ cwd: "/", env: { HOME: "/nowhere" }, projectRoot: "/nowhere" });

const NOW = "2026-03-10T12:00:00.000Z";
const NEXT_DAY = "2026-03-11T12:00:00.000Z";
const LIMITS: Limits = { tokensPerDay: 1000, tokensPerSession: 300, costPerDay: null };

function desk(prices: Prices = {}) {
  const dir = makeTemporary("budget", "memory");
  const file = path.join(dir, ".memdir", "ledger.jsonl");
  const world = { now: new Date(NOW) };
  const open = () => openLedger(dir, { now: () => world.now, log: () => {} }, prices);
  const ledger = open();
  const spend = (session: string | null, input: number, more: { cacheRead?: number; model?: string } = {}) =>
    ledger.spend({
      at: world.now.toISOString(),
      kind: "extraction",
      session,
      model: more.model ?? "anthropic/m",
      usage: { input, output: 0, cacheRead: more.cacheRead ?? 0, cacheWrite: 0 },
      produced: "nothing",
      skipped: null,
    });
  return { file, world, ledger, open, spend };
}

describe("the budget", () => {
  test("lets work run while there is some left, and the defaults are modest", () => {
    const { ledger, spend } = desk();
    expect(checkBudget(ledger, LEARN_DEFAULTS, "s1")).toEqual({ ok: true });
    spend("s1", 49_999);
    expect(checkBudget(ledger, LEARN_DEFAULTS, "s1")).toEqual({ ok: true });
    spend("s1", 1);
    expect(checkBudget(ledger, LEARN_DEFAULTS, "s1")).toMatchObject({ ok: false });
  });

  test("stops a session at its limit, on whatever day it was spent, and no other", () => {
    const { ledger, spend, world } = desk();
    spend("s1", 299);
    expect(checkBudget(ledger, LIMITS, "s1").ok).toBe(true);
    spend("s1", 1);
    world.now = new Date(NEXT_DAY);
    expect(checkBudget(ledger, LIMITS, "s1")).toEqual({
      ok: false,
      reason: "the session's budget is used up: 300 of 300 tokens (learn.tokensPerSession)",
    });
    expect(checkBudget(ledger, LIMITS, "s2").ok).toBe(true);
    expect(checkBudget(ledger, LIMITS, null).ok).toBe(true);
  });

  test("stops every session at the day's limit, until midnight, in every process", () => {
    const { ledger, spend, world, open } = desk();
    for (const session of ["a", "b", "c", "d", null]) spend(session, 200);
    for (const session of ["a", "new", null]) {
      expect(checkBudget(open(), LIMITS, session)).toEqual({
        ok: false,
        reason: "the daily budget is used up: 1000 of 1000 tokens (learn.tokensPerDay)",
      });
    }
    expect(tokensLeft(ledger, LIMITS)).toBe(0);
    world.now = new Date(NEXT_DAY);
    expect(checkBudget(ledger, LIMITS, "new")).toEqual({ ok: true });
    expect(tokensLeft(ledger, LIMITS)).toBe(1000);
  });

  test("cached input counts a tenth", () => {
    const { ledger, spend } = desk();
    spend("s1", 0, { cacheRead: 2990 });
    expect(checkBudget(ledger, LIMITS, "s1").ok).toBe(true);
    expect(tokensLeft(ledger, LIMITS)).toBe(701);
    spend("s1", 0, { cacheRead: 10 });
    expect(checkBudget(ledger, LIMITS, "s1").ok).toBe(false);
  });

  test("going over by a call leaves nothing, not less than nothing", () => {
    const { ledger, spend } = desk();
    spend(null, 5000);
    expect(tokensLeft(ledger, LIMITS)).toBe(0);
  });

  test("skips cost nothing", () => {
    const { ledger } = desk();
    for (let n = 0; n < 50; n++) ledger.skip("extraction", "s1", "nothing new");
    expect(checkBudget(ledger, { ...LIMITS, tokensPerDay: 1, tokensPerSession: 1 }, "s1")).toEqual({ ok: true });
  });

  test("a limit of 0 stops all, an infinite one none", () => {
    const { ledger, spend } = desk();
    expect(checkBudget(ledger, { ...LIMITS, tokensPerDay: 0 }, null).ok).toBe(false);
    spend("s1", 1e9);
    const none = {
      tokensPerDay: Number.POSITIVE_INFINITY,
      tokensPerSession: Number.POSITIVE_INFINITY,
      costPerDay: null,
    };
    expect(checkBudget(ledger, none, "s1")).toEqual({ ok: true });
  });
});

describe("a limit of cost", () => {
  const limits = { tokensPerDay: 1e9, tokensPerSession: 1e9, costPerDay: 2 };
  const price = { input: 1, output: 1, cacheRead: 1, cacheWrite: 1 };

  test("stops the day when it is reached", () => {
    const { ledger, spend } = desk({ "anthropic/*": price });
    spend("s1", 1_999_999);
    expect(checkBudget(ledger, limits, "s1")).toEqual({ ok: true });
    spend("s1", 1);
    expect(checkBudget(ledger, limits, "s1")).toEqual({
      ok: false,
      reason: "the daily budget is used up: 2.0000 of 2 spent (learn.costPerDay)",
    });
  });

  test("cannot be held for a model without a price: it stops and says which to set", () => {
    const { ledger, spend } = desk();
    spend("s1", 1);
    expect(checkBudget(ledger, limits, "s1")).toEqual({
      ok: false,
      reason: "the cost per day is limited, but there is no price for anthropic/m: set it in learn.prices",
    });
    expect(checkBudget(ledger, { ...limits, costPerDay: null }, "s1")).toEqual({ ok: true });
  });

  test("is never reached by models that cost nothing", () => {
    const { ledger, spend } = desk();
    spend("s1", 1e8, { model: "ollama/m" });
    expect(checkBudget(ledger, limits, "s1")).toEqual({ ok: true });
  });
});

test("what cannot be counted does not run", () => {
  const { ledger, file } = desk();
  fs.mkdirSync(file, { recursive: true });
  const answer = checkBudget(ledger, LEARN_DEFAULTS, "s1");
  expect(answer).toMatchObject({ ok: false, reason: expect.stringContaining(file) });
});

describe("a client that is logged out or has reached a limit", () => {
  const failing = (kind: AskError["kind"], takesTools: boolean) => ({
    ask: async (_request: AskRequest): Promise<AskAnswer> => ({
      ok: false,
      error: { kind, message: "Codex is not logged in", retriable: false },
    }),
    provider: "codex",
    name: "default",
    maxTokens: 1_000,
    takesTools,
  });
  const question: AskRequest = { system: [], messages: [], maxTokens: 1 };
  const limits = { ...LIMITS, model: "codex" };

  test("ends the day for its models, with the reason, and not the next", async () => {
    const { ledger, world, open } = desk();
    await endingDay(failing("auth", false), ledger, "extraction", "s1").ask(question);
    const reason = checkBudget(open(), limits, "s2");
    expect(reason).toEqual({
      ok: false,
      reason: expect.stringMatching(/^no more .* today: Codex is not logged in; .*tomorrow/),
    });
    expect(checkBudget(ledger, { ...limits, model: "codex/other" }, "s2").ok).toBe(false);
    expect(checkBudget(ledger, { ...limits, model: "claude-code" }, "s2").ok).toBe(true);
    expect(ledger.today()).toMatchObject({ calls: 0, tokens: 0 });
    world.now = new Date(NEXT_DAY);
    expect(checkBudget(ledger, limits, "s2").ok).toBe(true);
  });

  test("goes on when it has answered again; that the call failed is no answer", async () => {
    const { ledger, spend } = desk();
    await endingDay(failing("rate", false), ledger, "extraction", "s1").ask(question);
    spend(null, 0, { model: "codex/default" });
    expect(checkBudget(ledger, limits, "s2").ok).toBe(false);
    spend(null, 5, { model: "codex/default" });
    expect(checkBudget(ledger, limits, "s2").ok).toBe(true);
  });

  test("is another matter than a failure that passes, or a provider's", async () => {
    const { ledger } = desk();
    await endingDay(failing("timeout", false), ledger, "extraction", "s1").ask(question);
    await endingDay(failing("rate", true), ledger, "extraction", "s1").ask(question);
    expect(ledger.entries()).toEqual([]);
  });
});
