/** `kill -9` at random moments while memories are created, updated, renamed and forgotten. A failure names its seed. */

import { mkdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import {
  dist,
  type HeavyWorld,
  indexProblems,
  leftovers,
  loadLibrary,
  makeRandom,
  makeWorld,
  memdir,
  memoryFiles,
  readIndex,
  removeWorlds,
  sleep,
  start,
} from "./fixtures/heavy.ts";

afterEach(removeWorlds);

const SEED = Number(process.env.HEAVY_SEED ?? Math.floor(Math.random() * 1e9));

interface Try {
  try: "create" | "update" | "rename" | "forget";
  name: string;
  to?: string;
  version: number;
}

/** What a slot's acknowledged saves left, by name. */
type Model = Map<string, number>;

interface Run {
  pending: Try | null;
  firstMs: number | null;
  acks: number;
}

const bodyOf = (name: string, version: number) =>
  `${`line of ${name} version ${version}\n`.repeat(1 + (version % 40))}END ${name} ${version}`;

/** One child until it is killed; the model takes over what it acknowledged. */
async function runAndKill(
  world: HeavyWorld,
  model: Model,
  job: { slot: number; run: number; seed: number; delay: number },
): Promise<Run> {
  const alive = [...model].map(([name, version]) => ({ name, version }));
  const program = start(world, "victim.mjs", [dist, world.memory, { ...job, alive }]);
  const result: Run = { pending: null, firstMs: null, acks: 0 };
  program.onLine = (line) => {
    const said = JSON.parse(line);
    if (said.ready) {
      result.firstMs = said.ms;
      setTimeout(() => program.child.kill("SIGKILL"), job.delay);
    }
    if (said.try) result.pending = said;
    else if (said.ack) {
      result.acks++;
      applyTry(model, result.pending as Try);
      result.pending = null;
    }
  };
  const { signal } = await program.ended;
  expect(program.err()).toBe("");
  expect(signal).toBe("SIGKILL");
  return result;
}

function applyTry(model: Model, { try: action, name, to, version }: Try): void {
  if (action === "create" || action === "update") model.set(name, version);
  if (action === "rename") model.set(to as string, model.get(name) as number);
  if (action === "rename" || action === "forget") model.delete(name);
}

/** The memories on disk by name; anything that is not whole is a problem. */
async function readDisk(
  world: HeavyWorld,
  problems: string[],
): Promise<Map<string, { file: string; body: string; description: string }>> {
  const { parseMemory } = await loadLibrary();
  const disk = new Map();
  for (const file of memoryFiles(world.memory)) {
    const memory = parseMemory(file, readFileSync(path.join(world.memory, file)));
    if (!/\nEND .+ \d+\s*$/.test(memory.body) || memory.problems.length > 0)
      problems.push(`${file} is half: ${memory.body.slice(-60)}`);
    if (disk.has(memory.name)) problems.push(`two files are called ${memory.name}`);
    disk.set(memory.name, { file, body: memory.body.trim(), description: memory.description });
  }
  return disk;
}

/** What was acknowledged is there; what was only tried is there whole or not at all, and the model learns which. */
async function settle(
  world: HeavyWorld,
  slots: { model: Model; pending: Try | null }[],
  problems: string[],
): Promise<void> {
  const disk = await readDisk(world, problems);
  // After a rename the body still carries the name under which it was written.
  const versionOnDisk = (name: string) => {
    const found = disk.get(name);
    return found ? Number(/ (\d+)$/.exec(found.body)?.[1]) : undefined;
  };
  for (const { model, pending } of slots) {
    if (pending) {
      const { try: action, name, to, version } = pending;
      const now = versionOnDisk(name);
      if (action === "create" || action === "update") {
        if (now === version) model.set(name, version);
      } else if (action === "forget") {
        if (now === undefined) model.delete(name);
      } else {
        const there = versionOnDisk(to as string) !== undefined;
        if (there && now !== undefined) problems.push(`rename was cut in half: both ${name} and ${to} exist`);
        if (there) applyTry(model, pending);
        if (there && now !== undefined) model.set(name, now);
      }
    }
    for (const [name, version] of model) {
      const found = disk.get(name);
      if (!found) problems.push(`acknowledged ${name} at ${version} is gone`);
      else {
        const written = /\nEND (.+) (\d+)$/.exec(`\n${found.body}`);
        if (Number(written?.[2]) !== version || found.body !== bodyOf(written?.[1] as string, version))
          problems.push(`${name} should be at ${version}: ${found.body.slice(-60)}`);
      }
      disk.delete(name);
    }
  }
  for (const name of disk.keys())
    if (name.startsWith("slot ")) problems.push(`${name} is there, but was forgotten or never saved`);
}

/** Lines in memdir's own words must say what their memory says now. */
async function staleLines(world: HeavyWorld): Promise<string[]> {
  const disk = await readDisk(world, []);
  const lines = new Set([...readIndex(world.memory).index, ...readIndex(world.memory).more]);
  return [...disk]
    .map(([name, { file, description }]) => `- [${name}](${file}) — ${description}`)
    .filter((line) => !lines.has(line))
    .map((line) => `not in the index: ${line}`);
}

async function fill(world: HeavyWorld, count: number): Promise<void> {
  const { openMemdir } = await loadLibrary();
  const memory = await openMemdir({
    cwd: world.project,
    memoryDir: world.memory,
    env: world.env as Record<string, string>,
  });
  for (let i = 0; i < count; i++) {
    const name = `settled ${i}`;
    await memory.save({ type: "reference", name, description: `${name} end.`, body: bodyOf(name, i) });
  }
}

async function open(world: HeavyWorld): Promise<void> {
  const { openMemdir } = await loadLibrary();
  await openMemdir({ cwd: world.project, memoryDir: world.memory, env: world.env as Record<string, string> });
}

async function killMany(options: { kills: number; slots: number; settled: number; seed: number }) {
  const world = makeWorld();
  const random = makeRandom(options.seed);
  const models: Model[] = Array.from({ length: options.slots }, () => new Map());
  await fill(world, options.settled);
  const problems: string[] = [];
  const seen = new Set<string>();
  const waits: number[] = [];
  let acks = 0;
  let cut = 0;
  const rounds = options.kills / options.slots;
  for (let round = 0; round < rounds; round++) {
    const runs = await Promise.all(
      models.map((model, slot) =>
        runAndKill(world, model, { slot, run: round + 1, seed: Math.floor(random() * 2 ** 32), delay: random() * 60 }),
      ),
    );
    for (const run of runs) {
      acks += run.acks;
      if (run.pending) cut++;
      if (run.firstMs !== null) waits.push(run.firstMs);
    }
    const found: string[] = [];
    // Before anybody opens the directory again: only whole files.
    await readDisk(world, found);
    await open(world);
    await settle(
      world,
      models.map((model, slot) => ({ model, pending: (runs[slot] as Run).pending })),
      found,
    );
    found.push(...indexProblems(world.memory), ...(await staleLines(world)));
    found.push(...leftovers(world.memory).map((f) => `left behind: ${f}`));
    // Each problem once, in the round that made it.
    const fresh = found.filter((p) => !seen.has(p));
    for (const p of fresh) seen.add(p);
    problems.push(...fresh.map((p) => `round ${round} (${runs.map((r) => r.pending?.try ?? "-").join()}): ${p}`));
    if (problems.length > 40) break;
  }
  const longest = Math.max(...waits);
  console.log(
    `${rounds * options.slots} kills, ${acks} acknowledged changes, ${cut} cut short, longest first save ${longest.toFixed(0)} ms, seed ${options.seed}`,
  );
  expect(problems.slice(0, 40), `HEAVY_SEED=${SEED}`).toEqual([]);
  expect(cut).toBeGreaterThan(options.kills / 10);
}

describe("kill -9", () => {
  test("140 times, one writer, a small directory", () => killMany({ kills: 140, slots: 1, settled: 10, seed: SEED }));

  test("100 times, one writer, an index at its cap", () =>
    killMany({ kills: 100, slots: 1, settled: 215, seed: SEED + 1 }));

  test("60 times, four writers at once, an index at its cap", () =>
    killMany({ kills: 60, slots: 4, settled: 190, seed: SEED + 2 }));

  test("temporary files of the dead are swept, also those of an earlier process with the same number", async () => {
    const world = makeWorld();
    await fill(world, 2);
    const tmp = path.join(world.memory, ".memdir", "tmp");
    mkdirSync(tmp, { recursive: true });
    // Longer than this process may have been running.
    const long = new Date(Date.now() - 24 * 3_600_000);
    // Number 1 is always alive; this process's own number is what a restarted container gives its next writer.
    for (const name of [
      "file-999999999-a-0",
      "file-1-b-0",
      `file-${process.pid}-c-0`,
      "index-999999999-d-0",
      "strange",
    ]) {
      writeFileSync(path.join(tmp, name), "half a mem");
      utimesSync(path.join(tmp, name), long, long);
    }
    await open(world);
    await fill(world, 3);
    expect(leftovers(world.memory)).toEqual([]);
    // Swept temporary files that are no index leave nothing in the index, whatever they held.
    expect(indexProblems(world.memory)).toEqual([]);
  });

  test("words that another program put into MEMORY.md survive a writer killed between swapping and looking", async () => {
    const world = makeWorld();
    await fill(world, 3);
    const index = readFileSync(path.join(world.memory, "MEMORY.md"), "utf8");
    const reworded = index.replace(
      "- [settled 1](reference_settled_1.md) — settled 1 end.",
      "- [Number one](reference_settled_1.md) — in my own words",
    );
    expect(reworded).not.toBe(index);
    // The state right after the swap: ours is in place, theirs lies in tmp/ under the dead writer's number.
    writeFileSync(path.join(world.memory, ".memdir", "tmp", "index-999999999-a-0"), `${reworded}A line by hand.\n`);
    expect((await memdir(world, ["index"])).code).toBe(0);
    const after = readFileSync(path.join(world.memory, "MEMORY.md"), "utf8");
    expect(after).toContain("A line by hand.\n");
    expect(after).toContain("- [Number one](reference_settled_1.md) — in my own words\n");
    expect(indexProblems(world.memory)).toEqual([]);
  });

  test("the next writer takes the lock of a killed one", async () => {
    const world = makeWorld();
    await fill(world, 2);
    for (const holder of ["999999999 kernel\n", `${process.pid} kernel\n`, "999999999 pid\n", "", "garbage"]) {
      writeFileSync(path.join(world.memory, ".memdir", "lock.pid"), holder);
      const { openMemdir } = await loadLibrary();
      const memory = await openMemdir({
        cwd: world.project,
        memoryDir: world.memory,
        env: world.env as Record<string, string>,
      });
      // One that did not would fail after half a minute.
      await memory.save({
        type: "user",
        name: `after ${JSON.stringify(holder)}`,
        description: "x end.",
        body: "END x 1",
      });
    }
    await sleep(0);
  });
});
