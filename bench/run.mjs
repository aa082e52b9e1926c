#!/usr/bin/env node
// Prints a Markdown table of ratios, all from one run: run.mjs [--quick] [--check]. Progress goes to standard error.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

const quick = process.argv.includes("--quick");
const check = process.argv.includes("--check");
const SAVES = quick ? 40 : 200;
const LISTS = quick ? 5 : 15;
const STARTS = quick ? 8 : 30;
const MANY = 10_000;
const TURNS = quick ? 20 : 100;
const VECTOR_ROUNDS = quick ? 3 : 9;
const FEW = 100;

const dist = path.join(path.dirname(fileURLToPath(import.meta.url)), "..", "dist");
const binary = path.join(dist, "cli.js");
const top = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "memdir-bench-")));
process.on("exit", () => fs.rmSync(top, { recursive: true, force: true }));
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit(130));

const home = path.join(top, "home");
// Everything a person's shell may add is left out: NODE_EXTRA_CA_CERTS alone costs Node 20 some 50 ms.
const env = { PATH: process.env.PATH ?? "", HOME: home, USERPROFILE: home, NO_COLOR: "1" };

try {
  const rows = await measure();
  print(rows);
  if (check && rows.some((row) => row.target !== null && row.ratio > row.target)) process.exitCode = 1;
} catch (error) {
  process.stderr.write(`bench: ${error instanceof Error ? error.stack : error}\n`);
  process.exitCode = 3;
}

/** @typedef {{ what: string, against: string, ms: number, againstMs: number, ratio: number, target: number | null }} Row */

/** @returns {Promise<Row[]>} */
async function measure() {
  const { openMemdir } = await import(path.join(dist, "index.js"));
  fs.mkdirSync(home);
  say(`seeding ${FEW} and ${MANY} memories`);
  const few = await seed(openMemdir, "few", FEW);
  const many = await seed(openMemdir, "many", MANY);
  return [
    ...(await measureSaves(openMemdir, few, many)),
    ...(await measureLists(openMemdir, many)),
    ...measureStarts(few),
    ...(await measureTurns(openMemdir)),
    ...measureVectors(),
  ];
}

/** Awaited verbs at 1,000 memories, none of which may go by without the host's timer of 1 ms having fired. */
async function measureTurns(openMemdir) {
  const { cwd } = await seed(openMemdir, "some", 1_000);
  const memdir = await openMemdir({ cwd, env: { ...env, MEMDIR_MEANING: "0" } });
  const verbs = {
    recall: (i) => memdir.recall(`what to know about part ${i} of the system`, { model: false }),
    save: (i) => memdir.save({ type: "project", name: `turn ${i}`, description: "d", body: bodyOf(i) }),
    list: () => memdir.list(),
    search: () => memdir.search("part"),
    show: (i) => memdir.show(`project_turn_${i}`),
    forget: (i) => memdir.forget(`project_turn_${i}`),
  };
  await memdir.recall("warm", { model: false });
  let fired = 0;
  const timer = setInterval(() => fired++, 1);
  const rows = [];
  for (const [name, verb] of Object.entries(verbs)) {
    say(`timers during ${name}`);
    let silent = 0;
    let total = 0;
    for (let i = 0; i < TURNS; i++) {
      fired = 0;
      const { ms } = await timed(() => verb(i));
      // A timer of 1 ms cannot fire in less.
      if (fired === 0 && ms > 1) silent++;
      total += ms;
    }
    const what = `calls of ${name} during which a timer of 1 ms never fired (${TURNS} calls)`;
    rows.push({ ...ratio(what, "calls", silent, TURNS, 0), ms: total / TURNS, againstMs: 1 });
  }
  clearInterval(timer);
  return rows;
}

/** Whole processes that save a hundred memories: vectors are made when they are over, by whoever comes next. */
function measureVectors() {
  const script = `
    const { openMemdir } = await import(${JSON.stringify(path.join(dist, "index.js"))});
    const memdir = await openMemdir({ cwd: process.argv[1] });
    for (let i = 0; i < 100; i++)
      await memdir.save({ type: "project", name: "saved " + i, description: "d", body: "Part " + i + " is built on its own." });`;
  const times = { minilm: [], off: [] };
  for (let i = -1; i < VECTOR_ROUNDS; i++) {
    for (const kind of alternate(i, ["minilm", "off"])) {
      say(`100 saves, ${kind}`);
      const cwd = path.join(top, `vectors-${kind}-${i}`);
      fs.mkdirSync(path.join(cwd, ".git"), { recursive: true });
      const before = process.hrtime.bigint();
      const result = spawnSync(process.execPath, ["--input-type=module", "-e", script, cwd], {
        env: { ...env, MEMDIR_MEANING: kind },
      });
      if (result.status !== 0) throw new Error(`saving failed: ${result.stderr}`);
      if (i >= 0) times[kind].push(Number(process.hrtime.bigint() - before) / 1e6);
    }
  }
  return [ratio("100 saves of one process with MiniLM", "meaning off", median(times.minilm), median(times.off), 1.5)];
}

/** New memories, each forgotten again outside the clock so that the sizes stay; then updates of one that is there. */
async function measureSaves(openMemdir, few, many) {
  const memdirs = { few: await openMemdir({ cwd: few.cwd, env }), many: await openMemdir({ cwd: many.cwd, env }) };
  const created = { few: [], many: [] };
  const updated = { few: [], many: [] };
  for (let i = -5; i < SAVES; i++) {
    if (i % 20 === 0) say(`save ${i} of ${SAVES}`);
    for (const size of alternate(i, ["few", "many"])) {
      const memdir = memdirs[size];
      const name = `bench note ${i + 5}`;
      const request = { type: "project", name, description: `Release ${i + 5} goes out by hand`, body: bodyOf(i + 5) };
      const fresh = await timed(() => memdir.save(request));
      const again = await timed(() => memdir.save({ ...request, body: `${bodyOf(i + 5)} Changed once.` }));
      if (fresh.value.action !== "created" || again.value.action !== "updated") throw new Error("the saves went wrong");
      await memdir.forget(fresh.value.file);
      // The first rounds load code and fill caches.
      if (i >= 0) {
        created[size].push(fresh.ms);
        updated[size].push(again.ms);
      }
    }
  }
  const row = (what, times, of, target) =>
    ratio(`${what} at ${MANY} memories (${of.name})`, `at ${FEW}`, of(times.many), of(times.few), target);
  return [
    row("save, new", created, median, 1.5),
    row("save, new", created, mean, null),
    row("save, update", updated, median, 1.5),
    row("save, update", updated, mean, null),
  ];
}

async function measureLists(openMemdir, many) {
  // A cache row is only kept for files that have been still for a moment.
  await new Promise((done) => setTimeout(done, 200));
  await (await openMemdir({ cwd: many.cwd, env })).list();
  const inside = { list: [], stat: [] };
  for (let i = -2; i < LISTS; i++) {
    say(`list ${i} of ${LISTS}`);
    for (const kind of alternate(i, ["list", "stat"])) {
      const { ms, value } = await timed(async () =>
        kind === "list" ? (await openMemdir({ cwd: many.cwd, env })).list() : statAll(many.dir),
      );
      if (value.length < MANY) throw new Error(`${kind} saw ${value.length} of ${MANY}`);
      if (i >= 0) inside[kind].push(ms);
    }
  }
  const script = `(${statAll})(${JSON.stringify(many.dir)})`
    .replaceAll("fs.", "require('fs').")
    .replaceAll("path.", "require('path').");
  const outside = interleave(LISTS, {
    list: [binary, "list", "--cwd", many.cwd],
    json: [binary, "list", "--json", "--cwd", many.cwd],
    stat: ["-e", script],
  });
  const against = `readdir and stat of ${MANY}`;
  return [
    ratio(`list of ${MANY}, warm, in process`, against, median(inside.list), median(inside.stat), 3),
    ratio(`memdir list of ${MANY}, whole process`, against, median(outside.list), median(outside.stat), 3),
    ratio(`memdir list --json of ${MANY}, whole process`, against, median(outside.json), median(outside.stat), 3),
  ];
}

function measureStarts(few) {
  const times = interleave(STARTS, {
    node: ["-e", "0"],
    version: [binary, "--version"],
    list: [binary, "list", "--cwd", few.cwd],
  });
  return [
    ratio("memdir --version, whole process", "node -e 0", median(times.version), median(times.node), 1.5),
    ratio(`memdir list of ${FEW}, whole process`, "node -e 0", median(times.list), median(times.node), 2.5),
  ];
}

/** Whole processes, one after the other in turn, so that a busy moment hits all of them. */
function interleave(rounds, calls) {
  const times = Object.fromEntries(Object.keys(calls).map((name) => [name, []]));
  for (let i = -2; i < rounds; i++) {
    if (i % 10 === 0) say(`processes ${i} of ${rounds}: ${Object.keys(calls).join(", ")}`);
    for (const name of alternate(i, Object.keys(calls))) {
      const start = process.hrtime.bigint();
      const result = spawnSync(process.execPath, calls[name], { cwd: top, env, stdio: ["ignore", "ignore", "pipe"] });
      const ms = Number(process.hrtime.bigint() - start) / 1e6;
      if (result.status !== 0) throw new Error(`${name} failed: ${result.stderr}`);
      if (i >= 0) times[name].push(ms);
    }
  }
  return times;
}

/** A project whose directory looks as if every memory had been saved by itself: files, index, journal, header cache. */
async function seed(openMemdir, name, count) {
  const cwd = path.join(top, name);
  fs.mkdirSync(path.join(cwd, ".git"), { recursive: true });
  const memdir = await openMemdir({ cwd, env });
  const dir = memdir.location.dir;
  await memdir.save({ type: "user", name: "the first", description: "Makes the directory", body: "First." });
  const journal = [];
  const at = new Date(Date.now() - 10 * 86_400_000);
  const types = ["user", "feedback", "project", "reference"];
  for (let i = 1; i < count; i++) {
    const type = types[i % types.length];
    const file = `${type}_seed_note_${i}.md`;
    const description = `What to know about part ${i} of the system`;
    const stamp = at.toISOString();
    const text = `---\nname: seed note ${i}\ndescription: ${description}\ntype: ${type}\ncreated: ${stamp}\nmodified: ${stamp}\n---\n\n${bodyOf(i)}\n`;
    fs.writeFileSync(path.join(dir, file), text, { mode: 0o600 });
    fs.utimesSync(path.join(dir, file), at, at);
    const after = createHash("sha256").update(text).digest("hex");
    const id = String(i + 1);
    const files = [{ file, before: null, after }];
    journal.push(JSON.stringify({ id, at: stamp, by: "cli", action: "save", reason: "", files }));
    journal.push(JSON.stringify({ id, end: "done" }));
  }
  fs.appendFileSync(path.join(dir, ".memdir", "journal.jsonl"), `${journal.join("\n")}\n`);
  await memdir.rebuildIndex();
  if ((await memdir.list()).length !== count) throw new Error(`seeding gave other than ${count} memories`);
  return { cwd, dir };
}

function bodyOf(i) {
  return `Part ${i} is built on its own and shipped with the others.\n\n**Why:** it was late twice.\n**How to apply:** ask before changing part ${i}.`;
}

/** The yardstick: what any program pays that looks at every file. */
function statAll(dir) {
  return fs.readdirSync(dir).map((name) => fs.statSync(path.join(dir, name)));
}

async function timed(work) {
  const start = process.hrtime.bigint();
  const value = await work();
  return { value, ms: Number(process.hrtime.bigint() - start) / 1e6 };
}

/** Who goes first changes from round to round. */
function alternate(round, names) {
  return round % 2 === 0 ? names : [...names].reverse();
}

function median(times) {
  const sorted = [...times].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  return sorted.length % 2 === 1 ? sorted[Math.floor(middle)] : (sorted[middle - 1] + sorted[middle]) / 2;
}

function mean(times) {
  return times.reduce((sum, ms) => sum + ms, 0) / times.length;
}

/** @returns {Row} */
function ratio(what, against, ms, againstMs, target) {
  return { what, against, ms, againstMs, ratio: ms / againstMs, target };
}

/** @param {Row[]} rows */
function print(rows) {
  const cells = rows.map(({ what, against, ms, againstMs, ratio: value, target }) => {
    const verdict = target === null ? "" : value <= target ? `≤ ${target}×` : `≤ ${target}× **missed**`;
    return [what, `${ms.toFixed(2)} ms`, against, `${againstMs.toFixed(2)} ms`, `${value.toFixed(2)}×`, verdict];
  });
  const lines = [
    ["what", "time", "against", "time", "ratio", "target"],
    ["---", "---:", "---", "---:", "---:", "---"],
    ...cells,
  ];
  const cpu = os.cpus();
  process.stdout.write(`${lines.map((line) => `| ${line.join(" | ")} |`).join("\n")}\n\n`);
  process.stdout.write(
    `${SAVES} saves, ${LISTS} lists and ${STARTS} starts each, in turn${quick ? " (--quick)" : ""}; medians where nothing else is said. ` +
      `Node ${process.version}, ${cpu[0]?.model.trim() ?? "unknown CPU"} × ${cpu.length}, ${process.platform}, ${new Date().toISOString().slice(0, 10)}.\n`,
  );
}

function say(text) {
  process.stderr.write(process.stderr.isTTY ? `\r\x1b[K${text}` : `${text}\n`);
}
