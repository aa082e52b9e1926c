/** Turns at the database: fair between teams and tokens, bounded. */

import { expect, it } from "vitest";
import { makeTurns } from "../../../src/team/server/turns.ts";

const LIMITS = { size: 2, perToken: 1, waitingPerToken: 5, waiting: 20 };

/** Turns that end when they are told to; `order` has who began, in order. */
function stage(limits = LIMITS) {
  const turns = makeTurns(limits);
  const order: string[] = [];
  const ends: (() => void)[] = [];
  const ask = (team: string, token: string) =>
    turns.take(team, token, () => {
      order.push(`${team} ${token}`);
      return new Promise<void>((end) => ends.push(end));
    });
  const settle = () => new Promise((done) => setImmediate(done));
  const end = async () => {
    ends.shift()?.();
    await settle();
  };
  return { turns, order, ask, end, settle };
}

it("takes teams in turn, however many requests of one wait", async () => {
  const { order, ask, end, settle } = stage();
  for (let i = 0; i < 4; i++) void ask("busy", `t${i}`);
  void ask("calm", "x");
  await settle();
  expect(order).toEqual(["busy t0", "busy t1"]);
  await end();
  await end();
  expect(order.slice(2)).toEqual(["busy t2", "calm x"]);
});

it("keeps one token from taking every connection, and serves its next request in turn", async () => {
  const { order, ask, end, settle } = stage();
  for (let i = 0; i < 3; i++) void ask("acme", "greedy");
  void ask("acme", "other");
  await settle();
  expect(order).toEqual(["acme greedy", "acme other"]);
  await end();
  expect(order).toEqual(["acme greedy", "acme other", "acme greedy"]);
});

it("refuses what would wait for too long, and only of that token", async () => {
  const { turns, ask, settle } = stage();
  const waiting = Array.from({ length: 6 }, () => ask("acme", "greedy"));
  await settle();
  expect(turns.waiting()).toBe(5);
  await expect(ask("acme", "greedy")).rejects.toMatchObject({ code: "lock" });
  void ask("acme", "other");
  await settle();
  expect(waiting).toHaveLength(6);
});

it("forgets nobody when work fails, and is empty at the end", async () => {
  const turns = makeTurns(LIMITS);
  const all = Array.from({ length: 5 }, (_, i) =>
    turns.take("acme", "t", async () => {
      if (i % 2 === 0) throw new Error("no");
      return i;
    }),
  );
  const settled = await Promise.allSettled(all);
  expect(settled.map(({ status }) => status)).toEqual(["rejected", "fulfilled", "rejected", "fulfilled", "rejected"]);
  expect(turns.waiting()).toBe(0);
});

it("keeps nothing of those that it refused", async () => {
  const { turns, ask, end, settle } = stage({ ...LIMITS, waiting: 2 });
  void ask("acme", "a");
  void ask("acme", "b");
  void ask("acme", "c");
  void ask("acme", "d");
  await settle();
  for (let i = 0; i < 100; i++) await expect(ask(`stranger ${i}`, "x")).rejects.toThrow("too many requests");
  expect(turns.teams()).toBe(1);
  for (let i = 0; i < 4; i++) await end();
  expect(turns.teams()).toBe(0);
});
