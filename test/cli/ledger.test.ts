import fs from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { runOf } from "../../src/cli/command.ts";
import type { LearnConfig } from "../../src/config.ts";
import type { Spent } from "../../src/learn/ledger.ts";
import { ledger as verb } from "../../src/verbs/ledger.ts";
import { DAY, errorOf, HOUR, makeWorld, START, type World } from "../world.ts";
import { hearCall } from "./call.ts";

const run = runOf(verb);

async function ledger(world: World, options: { days?: string; json?: boolean; learn?: Partial<LearnConfig> } = {}) {
  if (options.learn) {
    fs.writeFileSync(path.join(world.home, ".claude", "memdir.json"), JSON.stringify({ learn: options.learn }));
  }
  const { call, printed, warned, answers } = hearCall(world, {
    options: { days: options.days },
    json: options.json === true,
  });
  const code = await run(call);
  return { code, printed: printed.join("\n").split("\n"), warned, answer: answers[0] };
}

function spent(agoMs: number, more: Partial<Spent> = {}): Spent {
  return {
    at: new Date(Date.parse(START) - agoMs).toISOString(),
    kind: "extraction",
    session: "3f2a9c1e-0000",
    model: "anthropic/m",
    usage: { input: 1000, output: 200, cacheRead: 5000, cacheWrite: 0 },
    produced: "2 saved",
    skipped: null,
    ...more,
  };
}

const skipped = (agoMs: number, reason: string) =>
  spent(agoMs, {
    model: "",
    usage: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
    produced: "",
    skipped: reason,
  });

function furnish(...entries: Spent[]): World {
  const world = makeWorld();
  world.write(".memdir/ledger.jsonl", entries.map((entry) => `${JSON.stringify(entry)}\n`).join(""));
  return world;
}

describe("memdir ledger", () => {
  test("as JSON: today, the budget, and the entries with what each cost", async () => {
    const world = furnish(spent(2 * DAY), spent(HOUR), skipped(0, "nothing new"));
    const { code, answer, warned } = await ledger(world, { json: true });
    expect(code).toBe(0);
    expect(warned).toEqual([]);
    expect(answer).toEqual({
      today: { tokens: 1700, cost: null, calls: 1 },
      budget: { tokensPerDay: 200_000, tokensPerSession: 50_000, left: 198_300 },
      entries: [
        { ...spent(2 * DAY), tokens: 1700, cost: null },
        { ...spent(HOUR), tokens: 1700, cost: null },
        { ...skipped(0, "nothing new"), tokens: 0, cost: 0 },
      ],
    });
  });

  test("--days counts days of the calendar, today among them", async () => {
    const world = furnish(spent(8 * DAY), spent(6 * DAY), spent(13 * HOUR), spent(11 * HOUR));
    const count = async (days?: string) => (await ledger(world, { json: true, days })).answer.entries.length;
    expect(await count("1")).toBe(1);
    expect(await count("2")).toBe(2);
    expect(await count()).toBe(3);
    expect(await count("99999")).toBe(4);
  });

  test.each(["0", "-1", "1.5", "x", "", "1e3", "100000"])("--days %j is refused with a word", async (days) => {
    const error = await errorOf(ledger(furnish(), { days }));
    expect(error.code).toBe("usage");
    expect(error.message).toMatch(/--days must be a whole number/);
  });

  test("B8.7 for people: a table, newest last, skips with their reasons, what is left", async () => {
    const world = furnish(
      spent(2 * HOUR),
      skipped(HOUR, "nothing new"),
      skipped(0, "nothing new"),
      skipped(0, "not alone"),
    );
    const { printed } = await ledger(world);
    expect(printed).toEqual([
      "when              what        session   tokens     cost  outcome",
      "2026-03-10 10:00  extraction  3f2a9c1e   1,700  unknown  2 saved, anthropic/m",
      "2026-03-10 12:00  extraction  3f2a9c1e       -        -  skipped: nothing new (2 times)",
      "2026-03-10 12:00  extraction  3f2a9c1e       -        -  skipped: not alone",
      "Today: 1 call, 1,700 tokens, cost unknown",
      "Left today: 198,300 of 200,000 tokens",
      "A session may take 50,000. Cached input counts a tenth.",
      "No price is known for anthropic/m: set learn.prices in memdir.json.",
    ]);
  });

  test("with the user's limits and prices", async () => {
    const price = { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 };
    const learn = { tokensPerDay: 1500, costPerDay: 1, prices: { "anthropic/*": price } };
    const { printed, warned } = await ledger(furnish(spent(0)), { learn });
    expect(printed.slice(1)).toEqual([
      "2026-03-10 12:00  extraction  3f2a9c1e   1,700  0.0075  2 saved, anthropic/m",
      "Today: 1 call, 1,700 tokens, cost 0.0075",
      "Left today: 0 of 1,500 tokens; background work is stopped until midnight",
      "Cost per day: at most 1",
      "A session may take 50,000. Cached input counts a tenth.",
    ]);
    expect(warned).toEqual([]);
  });

  test("nothing yet, and asking leaves no trace", async () => {
    const world = makeWorld();
    const { printed } = await ledger(world);
    expect(printed[0]).toBe("No background work in the last 7 days.");
    expect(printed[1]).toBe("Today: 0 calls, 0 tokens, cost 0");
    expect((await ledger(world, { days: "1" })).printed[0]).toBe("No background work today.");
    expect(world.exists(".memdir/ledger.jsonl")).toBe(false);
  });

  test("many rows are cut at the start, with a word", async () => {
    const world = furnish(...Array.from({ length: 250 }, (_, n) => spent(250 - n)));
    const { printed } = await ledger(world);
    expect(printed[0]).toBe("50 earlier ones are left out; --json shows all.");
    expect(printed.filter((row) => row.includes("2 saved"))).toHaveLength(200);
  });

  test("what a ledger holds does not steer the terminal", async () => {
    const evil = "\u001b[2J\u0007x\nToday: 0 calls";
    const world = furnish(spent(0, { session: evil, model: evil, produced: evil }), skipped(0, evil));
    const { printed } = await ledger(world);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
    expect(printed.join("")).not.toMatch(/[\u0000-\u001f]/);
    expect(printed.filter((row) => row.startsWith("Today:"))).toHaveLength(1);
  });

  test.skipIf(process.platform === "win32")("a link in the ledger's place is told and not read", async () => {
    const world = furnish(spent(0));
    fs.renameSync(world.path(".memdir/ledger.jsonl"), path.join(world.top, "elsewhere"));
    fs.symlinkSync(path.join(world.top, "elsewhere"), world.path(".memdir/ledger.jsonl"));
    const { answer, warned } = await ledger(world, { json: true });
    expect(answer.entries).toEqual([]);
    expect(warned).toEqual([expect.stringMatching(/ledger\.jsonl is a symbolic link/)]);
  });
});
