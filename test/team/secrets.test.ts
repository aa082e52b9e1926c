/** How much of what is planted is held back, by a client that pushes and by the server; and how much of what is harmless. */

import fs from "node:fs";
import path from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { SERVER_LIMITS } from "../../src/team/server/route.ts";
import { syncDirectory } from "../../src/team/sync.ts";
import { makeTemporary } from "../temporary.ts";
import { makeMemoryRemote } from "./memory-remote.ts";
import { makeOrdinaryNotes, readSentences } from "./ordinary-notes.ts";
import { KIND_COUNT, plantSecrets } from "./planted-secrets.ts";
import { APP, openDesk } from "./server/desk.ts";
import { openMemoryData } from "./server/memory-data.ts";
import { directoryAt } from "./sync-world.ts";

const SEED = 20_261_116;
const PLANTED = plantSecrets(SEED, 200, readSentences());
const ORDINARY = makeOrdinaryNotes(SEED, 400);
const HELD = 0.95;
const FALSE_ALARMS = 0.01;

const plantedAt = (i: number) => `planted-${i}.md`;
const ordinaryAt = (i: number) => `ordinary-${i}.md`;

/** Judges both shares. `isHeld` by path; what went through is named by its kind, never by its value. */
function judge(who: string, isHeld: (file: string) => boolean): void {
  const missed = PLANTED.flatMap(({ kind }, i) => (isHeld(plantedAt(i)) ? [] : [`${kind} (${i})`]));
  const alarms = ORDINARY.flatMap((text, i) => (isHeld(ordinaryAt(i)) ? [text.split("\n").slice(6).join("\n")] : []));
  const share = (PLANTED.length - missed.length) / PLANTED.length;
  console.info(
    `${who}: ${PLANTED.length - missed.length} of ${PLANTED.length} planted secrets of ${KIND_COUNT} kinds held back (${(share * 100).toFixed(1)} %), ` +
      `${alarms.length} false alarms on ${ORDINARY.length} ordinary notes (${((alarms.length / ORDINARY.length) * 100).toFixed(1)} %)` +
      (missed.length > 0 ? `; not held back: ${missed.join(", ")}` : ""),
  );
  expect(alarms.slice(Math.floor(ORDINARY.length * FALSE_ALARMS))).toEqual([]);
  expect(share).toBeGreaterThanOrEqual(HELD);
}

it("is a fair sample: 200 secrets of at least 30 kinds, no two alike, and at least 300 ordinary notes", () => {
  expect(new Set(PLANTED.map(({ kind }) => kind)).size).toBe(KIND_COUNT);
  expect(KIND_COUNT).toBeGreaterThanOrEqual(30);
  expect(new Set(PLANTED.map(({ value }) => value)).size).toBe(200);
  expect(new Set(ORDINARY).size).toBeGreaterThanOrEqual(300);
});

describe("what leaves", () => {
  const top = makeTemporary("planted", "memory");
  beforeAll(() => {
    for (const [i, { text }] of PLANTED.entries()) fs.writeFileSync(path.join(top, plantedAt(i)), text);
    for (const [i, text] of ORDINARY.entries()) fs.writeFileSync(path.join(top, ordinaryAt(i)), text);
  });

  it("holds back at least 95 % of planted secrets in a push, and at most 1 % of ordinary notes", async () => {
    const clock = { now: new Date("2026-03-10T12:00:00.000Z") };
    const logged: string[] = [];
    const remote = makeMemoryRemote();
    const result = await syncDirectory({
      directory: directoryAt(top, clock, logged),
      remote: remote.open("ann"),
      who: "ann",
    });
    const there = remote.live();
    const refused = new Set(result.refused.map(({ path: file }) => file));
    judge("client", (file) => {
      // Refused and not sent, or sent and not refused.
      expect([file, there.has(file)]).toEqual([file, !refused.has(file)]);
      return refused.has(file);
    });
    const said = JSON.stringify([result, logged]);
    expect(PLANTED.filter(({ value }) => said.includes(value))).toEqual([]);
  });

  it("is refused by the server with 422, rule and line, in the same shares", async () => {
    const clock = { now: new Date("2026-03-10T12:00:00.000Z") };
    const limits = { ...SERVER_LIMITS, rate: { requests: 100_000, seconds: 60 } };
    const desk = await openDesk(
      openMemoryData(() => clock.now),
      clock,
      limits,
    );
    const held = new Set<string>();
    const said: string[] = [];
    for (const file of fs.readdirSync(top).filter((name) => name.endsWith(".md"))) {
      const body = fs.readFileSync(path.join(top, file), "utf8");
      const told = await desk.ask("PUT", `${APP}/memories/${file}`, { headers: { "if-none-match": "*" }, body });
      said.push(told.text);
      if (told.status === 200) continue;
      expect([told.status, told.body.problem]).toEqual([422, "secret"]);
      for (const found of told.body.secrets)
        expect(found).toEqual({ rule: expect.any(String), line: expect.any(Number) });
      held.add(file);
    }
    judge("server", (file) => held.has(file));
    const all = said.join("\n") + desk.logged.join("\n");
    expect(PLANTED.filter(({ value }) => all.includes(value))).toEqual([]);
  });
});
