/** Random schedules of three clients, one remote and a bad network, and what must hold when it is quiet again. */

import fs from "node:fs";
import path from "node:path";
import fc from "fast-check";
import { expect } from "vitest";
import { MemdirError } from "../../src/errors.ts";
import { renameMemory } from "../../src/memory/edit.ts";
import { forgetMemory } from "../../src/memory/forget.ts";
import { linkedFiles } from "../../src/store/index-line.ts";
import type { Store } from "../../src/store/store.ts";
import { syncDirectory } from "../../src/team/sync.ts";
import { makeTemporary } from "../temporary.ts";
import { type BadNetwork, type Fate, makeBadNetwork } from "./memory-remote.ts";
import { makePlace, type Place, type PlaceKind } from "./places.ts";
import { type Clock, directoryAt } from "./sync-world.ts";

const CLIENTS = 3;
const FILES = ["project_a.md", "project_b.md", "sub/c.md"];

export type Op =
  | { kind: "edit"; client: number; file: number; section: number }
  | { kind: "rewrite"; client: number; file: number }
  | { kind: "rm"; client: number; file: number }
  | { kind: "forget"; client: number; file: number }
  | { kind: "rename"; client: number; file: number }
  | { kind: "sync"; clients: number[]; fates: Fate[]; kill: number | null; meanwhile: Op[] }
  | { kind: "wait"; seconds: number }
  | { kind: "late" }
  | { kind: "back up" }
  | { kind: "restore" };

const client = fc.nat(CLIENTS - 1);
const file = fc.nat(FILES.length - 1);
const local: fc.Arbitrary<Op> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant("edit" as const), client, file, section: fc.nat(2) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("rewrite" as const), client, file }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("rm" as const), client, file }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("forget" as const), client, file }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("rename" as const), client, file }) },
);
const fate = fc.constantFrom<Fate>("fine", "fine", "fine", "slow", "lost request", "lost answer", "twice", "late");
const sync: fc.Arbitrary<Op> = fc.record({
  kind: fc.constant("sync" as const),
  clients: fc.uniqueArray(client, { minLength: 1, maxLength: CLIENTS }),
  fates: fc.array(fate, { maxLength: 6 }),
  kill: fc.option(fc.nat(12), { freq: 3, nil: null }),
  meanwhile: fc.array(local, { maxLength: 2 }),
});
const faults: fc.Arbitrary<Op> = fc.oneof(
  { weight: 1, arbitrary: fc.constant<Op>({ kind: "back up" }) },
  { weight: 2, arbitrary: fc.constant<Op>({ kind: "restore" }) },
);
const ops: fc.Arbitrary<Op[]> = fc.array(
  fc.oneof(
    { weight: 2, arbitrary: faults },
    { weight: 5, arbitrary: local },
    { weight: 5, arbitrary: sync },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant("wait" as const), seconds: fc.constantFrom(1, 20, 40) }) },
    { weight: 1, arbitrary: fc.constant<Op>({ kind: "late" }) },
  ),
  { minLength: 4, maxLength: 16 },
);

interface Schedule {
  /** Whether all clients begin with the same memories; else each makes its own. */
  shared: boolean;
  ops: Op[];
}

const schedule: fc.Arbitrary<Schedule> = fc.record({ shared: fc.oneof(fc.constant(true), fc.boolean()), ops });

/** Seeds and numbers in one place; fast-check prints seed and path of what failed. */
export async function runSchedules(runs: number, kind: PlaceKind, seed?: number): Promise<Tally> {
  const tally: Tally = { syncs: 0, kills: 0, restores: 0, words: 0 };
  await fc.assert(
    fc.asyncProperty(schedule, (one) => runSchedule(one, kind, tally)),
    { numRuns: runs, ...(seed === undefined ? {} : { seed }), endOnFailure: false },
  );
  return tally;
}

/** What the runs came to. */
export interface Tally {
  syncs: number;
  kills: number;
  restores: number;
  words: number;
}

class Kill extends Error {}

interface Machine {
  directory: Store;
  network: BadNetwork;
  /** What its person wrote last in each file, and did not replace or remove again. */
  wrote: Map<string, string>;
  /** Files that its person made by hand: the index is not sync's to write for those. */
  made: Set<string>;
  /** Copies that sync said it made. */
  copies: Set<string>;
}

async function runSchedule({ shared, ops }: Schedule, kind: PlaceKind, tally: Tally): Promise<void> {
  const top = makeTemporary("schedule", "memory");
  const clock: Clock = { now: new Date("2026-03-10T12:00:00.000Z") };
  const place = await makePlace(kind, top, () => clock.now);
  try {
    const world = makeScheduleWorld(top, place, clock, tally);
    if (shared) await world.begin();
    for (const op of ops) await world.run(op);
    await world.settle();
    await world.check();
  } finally {
    fs.rmSync(top, { recursive: true, force: true });
    place.cleanup();
  }
}

function makeScheduleWorld(top: string, { open, backUp }: Place, clock: Clock, tally: Tally) {
  const acknowledged: { path: string; text: string }[] = [];
  let fates: Fate[] = [];
  const machines: Machine[] = Array.from({ length: CLIENTS }, (_, i) => ({
    directory: directoryAt(path.join(top, `client-${i}`), clock),
    network: makeBadNetwork(
      open(`person-${i}`),
      () => fates.shift() ?? "fine",
      (file, text) => acknowledged.push({ path: file, text }),
    ),
    wrote: new Map(),
    made: new Set(),
    copies: new Set(),
  }));
  let restore = backUp();
  let wasRestored = false;
  let token = 0;
  /** Every word that a person wrote, and those that somebody who had it in front of them took out again. */
  const written = new Set<string>();
  const takenOut = new Set<string>();
  const replaced = (before: string, after: string) => {
    for (const word of wordsIn(before)) if (!after.includes(word)) takenOut.add(word);
    for (const word of wordsIn(after)) written.add(word);
  };

  async function begin(): Promise<void> {
    for (const file of FILES.keys()) byHand({ kind: "rewrite", client: 0, file });
    for (const machine of machines) await syncOne(machine);
  }

  async function run(op: Op): Promise<void> {
    if (op.kind === "wait") clock.now = new Date(clock.now.getTime() + op.seconds * 1000);
    else if (op.kind === "late") for (const { network } of machines) await network.arriveLate();
    else if (op.kind === "back up") restore = backUp();
    else if (op.kind === "restore") goBack();
    else if (op.kind === "sync") await runSync(op);
    else if (op.kind === "forget" || op.kind === "rename") await change(machines[op.client] as Machine, op);
    else byHand(op);
  }

  /** The place is put back to its last backup, as one that has to be stopped for it: nothing is under way any more. */
  function goBack(): void {
    for (const { network } of machines) network.forgetLate();
    restore();
    wasRestored = true;
    tally.restores++;
  }

  /** What a person does with an editor and a shell. */
  function byHand(op: Op): void {
    if (op.kind !== "edit" && op.kind !== "rewrite" && op.kind !== "rm") return;
    const { directory, wrote, made } = machines[op.client] as Machine;
    const name = FILES[op.file] as string;
    const target = path.join(directory.path, name);
    const there = fs.existsSync(target) ? fs.readFileSync(target, "utf8") : "";
    if (op.kind === "rm") {
      fs.rmSync(target, { force: true });
      wrote.delete(name);
      replaced(there, "");
      return;
    }
    const before = there === "" ? textOf(name, "start") : there;
    const word = `token${++token}`;
    const text =
      op.kind === "rewrite"
        ? textOf(name, word)
        : before.replace(new RegExp(`(line ${op.section}):.*`), `$1: ${word}-${op.section};`);
    fs.mkdirSync(path.dirname(target), { recursive: true });
    fs.writeFileSync(target, text);
    wrote.set(name, text);
    made.add(name);
    replaced(there, text);
  }

  /** What a person does with memdir. */
  async function change({ directory, wrote }: Machine, op: Extract<Op, { file: number }>): Promise<void> {
    const name = FILES[op.file] as string;
    if (!fs.existsSync(path.join(directory.path, name))) return;
    const before = fs.readFileSync(path.join(directory.path, name), "utf8");
    if (op.kind === "forget") {
      await forgetMemory(directory, name);
      replaced(before, "");
    } else {
      const renamed = await renameMemory(directory, name, `renamed ${++token}`);
      wrote.set(renamed.file, fs.readFileSync(renamed.path, "utf8"));
    }
    wrote.delete(name);
  }

  async function runSync({ clients, fates: some, kill, meanwhile }: Extract<Op, { kind: "sync" }>): Promise<void> {
    fates = [...some];
    let steps = 0;
    const todo = [...meanwhile];
    const onProgress = () => {
      steps++;
      if (kill !== null && steps === kill) throw new Kill();
      const op = steps % 2 === 0 ? todo.shift() : undefined;
      if (op) byHand(op);
    };
    await Promise.all(clients.map((i) => syncOne(machines[i] as Machine, onProgress)));
    fates = [];
  }

  async function syncOne(machine: Machine, onProgress: () => void = () => {}) {
    const before = wordsIn(Object.values(readAll(machine.directory.path)).join("\n"));
    const result = await tryOne(machine, onProgress);
    tally.syncs++;
    const after = Object.values(readAll(machine.directory.path)).join("\n");
    const gone = before.filter((word) => !takenOut.has(word) && !after.includes(word));
    expect(gone, "words that nobody took out, and that this sync replaced").toEqual([]);
    return result;
  }

  async function tryOne(machine: Machine, onProgress: () => void) {
    try {
      const result = await syncDirectory({
        directory: machine.directory,
        remote: machine.network.remote,
        who: "me",
        onProgress,
        findSecrets: () => [],
      });
      for (const { copy } of result.conflicts) machine.copies.add(copy);
      return result;
    } catch (error) {
      if (error instanceof Kill) tally.kills++;
      if (error instanceof Kill || (error instanceof MemdirError && error.code === "network")) return null;
      throw error;
    }
  }

  /** No faults, and passes until none of them changes anything. */
  async function settle(): Promise<void> {
    for (const { network } of machines) await network.arriveLate();
    for (let quiet = 0, cycle = 0; quiet < 2; cycle++) {
      if (cycle > 40) throw new Error("it does not become quiet");
      clock.now = new Date(clock.now.getTime() + 31_000);
      let changes = 0;
      for (const machine of machines) {
        const result = await syncOne(machine);
        if (!result) throw new Error("a pass failed without a fault");
        changes += result.pulled.length + result.pushed.length + result.merged.length + result.conflicts.length;
        changes += result.removed.here.length + result.removed.there.length + result.waiting.length;
        expect(result.refused).toEqual([]);
      }
      quiet = changes === 0 ? quiet + 1 : 0;
    }
  }

  async function check(): Promise<void> {
    const remote = open("auditor");
    const { entries } = await remote.list();
    const there = Object.fromEntries(await remote.fetch(entries.filter(({ deleted }) => !deleted)));
    for (const { directory } of machines) expect(readAll(directory.path)).toEqual(there);
    const versions = new Map<string, Set<string | null>>();
    for (const { path: name } of entries)
      versions.set(name, new Set((await remote.versions(name)).map(({ text }) => text)));
    tally.words += written.size;
    // A restored place has lost its history; what is in nobody's hands any more is lost with it.
    for (const { path: name, text } of wasRestored ? [] : acknowledged)
      expect(versions.get(name)?.has(text), `${name}: ${text}`).toBe(true);
    const lost = [...written].filter(
      (word) => !takenOut.has(word) && !Object.values(there).some((text) => text.includes(word)),
    );
    expect(lost, "words that nobody took out, and that are nowhere").toEqual([]);
    const kept = new Set([...versions.values()].flatMap((texts) => [...texts]));
    for (const { directory, wrote, made, copies } of machines) {
      for (const copy of copies) expect(versions.has(copy), copy).toBe(true);
      const index = path.join(directory.path, "MEMORY.md");
      const linked = linkedFiles(fs.existsSync(index) ? fs.readFileSync(index, "utf8") : "");
      expect(Object.keys(there).filter((name) => !linked.has(name) && !made.has(name))).toEqual([]);
      const images = new Set(readImages(directory.path));
      for (const [name, text] of wrote) {
        expect(kept.has(text) || images.has(text) || Object.values(there).includes(text), `${name}: ${text}`).toBe(
          true,
        );
      }
    }
  }

  return { begin, run, settle, check };
}

function wordsIn(text: string): string[] {
  return text.match(/token\d+-\d;/g) ?? [];
}

function textOf(name: string, word: string): string {
  const lines = [0, 1, 2].map((i) => `## Part ${i}\n\nline ${i}: ${word}-${i};\n`);
  return `---\nname: ${name.replace(/\W/g, " ")}\ndescription: of ${name}\ntype: project\n---\n\n${lines.join("\n")}`;
}

function readAll(folder: string): Record<string, string> {
  const names = fs.existsSync(folder) ? (fs.readdirSync(folder, { recursive: true }) as string[]) : [];
  return Object.fromEntries(
    names
      .map((name) => name.replaceAll("\\", "/"))
      .filter((name) => name.endsWith(".md") && !name.startsWith(".memdir") && !name.startsWith("MEMORY"))
      .map((name) => [name, fs.readFileSync(path.join(folder, name), "utf8")]),
  );
}

function readImages(folder: string): string[] {
  const images = path.join(folder, ".memdir", "images");
  return fs.existsSync(images)
    ? fs.readdirSync(images).map((name) => fs.readFileSync(path.join(images, name), "utf8"))
    : [];
}
