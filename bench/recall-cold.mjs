#!/usr/bin/env node
// What a fresh process takes to open, refresh and rank a large store: recall-cold.mjs [--check] [--quick]. Time of the processor, since
// other work on the machine disturbs it less, as a ratio to a store of 1,000. The memories are invented, and of the large store only
// the cache is there. With --check it ends with 1 when a target is missed.
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { build } from "esbuild";
import { embedInvented, inventMemories, inventPrompt, makeRandom } from "./recall-invented.mjs";
import { writeStore } from "./recall-store.mjs";
import { formatTable, run, takeTurns, timeRow } from "./recall-timing.mjs";

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: { check: { type: "boolean", default: false }, quick: { type: "boolean", default: false } },
});
const SOME = 1_000;
const HUGE = options.quick ? 10_000 : 100_000;
const STARTS = 15;
const PARTS = ["open", "refresh", "rank"];

if (positionals.length > 0) await askOnce(...positionals);
else await measure();

async function measure() {
  const roomy = fs.existsSync("/dev/shm") ? "/dev/shm" : os.tmpdir();
  const top = fs.realpathSync(fs.mkdtempSync(path.join(roomy, "memdir-bench-cold-")));
  try {
    const inside = await bundle(top);
    const entries = await digestSome(top, inside);
    const work = {};
    const parts = {};
    for (const count of [SOME, HUGE]) {
      const dir = writeCache(path.join(top, `cache-${count}`), multiply(entries, count), await import(inside));
      parts[count] = [];
      work[count] = () => {
        const args = [import.meta.filename, inside, dir];
        const found = JSON.parse(run(args, { cwd: top, env: { PATH: process.env.PATH ?? "" } }).output);
        if (found.considered !== count) throw new Error(`a process saw ${found.considered} of ${count} memories`);
        parts[count].push(found);
        return found.all;
      };
    }
    const times = await takeTurns(STARTS, work);
    const row = (what, of, target) =>
      timeRow(`${what}, ${HUGE} memories`, of(HUGE), `${SOME} memories`, of(SOME), target);
    const rows = [
      row("open, refresh and rank in a fresh process", (count) => times[count], options.quick ? null : 3),
      ...PARTS.map((part) => row(part, (count) => parts[count].slice(2).map((found) => found[part]), null)),
    ];
    process.stdout.write(
      `${formatTable(rows)}\n\nMedians of ${STARTS} starts in turn, in brackets the 10 % quantile; time of the processor. Node ${process.version}.\n`,
    );
    if (options.check && rows.some(({ isMissed }) => isMissed)) process.exitCode = 1;
  } finally {
    fs.rmSync(top, { recursive: true, force: true });
  }
}

/** One process's work, in milliseconds of the processor. */
async function askOnce(inside, dir) {
  const { newestOf, openResident, queryTerms, rank, refresh, runAtOnce } = await import(inside);
  const prompt = inventPrompt(makeRandom(5));
  const query = { terms: queryTerms(prompt), meaning: { vector: embedInvented(prompt) }, foreign: 0 };
  const start = process.cpuUsage();
  const ends = [0];
  const end = () => {
    const { user, system } = process.cpuUsage(start);
    ends.push((user + system) / 1000);
  };
  const resident = openResident([directoryAt(dir)]);
  end();
  // The files of the large store are not there.
  runAtOnce(refresh(resident, 0, { digest: () => "same", positions: (owner) => newestOf(resident, owner) }));
  end();
  const { considered } = rank(resident, query, { nowMs: Date.now(), limit: 25 });
  end();
  const parts = PARTS.map((part, i) => [part, ends[i + 1] - ends[i]]);
  process.stdout.write(JSON.stringify({ ...Object.fromEntries(parts), all: ends.at(-1), considered }));
}

async function bundle(top) {
  const from = (name) => JSON.stringify(path.resolve(import.meta.dirname, "../src", name));
  const contents = [
    `export { digestFile } from ${from("store/rows.ts")};`,
    `export { writeInPieces } from ${from("store/row-cache.ts")};`,
    `export { openResident } from ${from("recall/resident.ts")};`,
    `export { newestOf } from ${from("recall/resident-rows.ts")};`,
    `export { refresh } from ${from("recall/refresh.ts")};`,
    `export { rank } from ${from("recall/rank.ts")};`,
    `export { queryTerms } from ${from("recall/score.ts")};`,
    `export { runAtOnce } from ${from("disk/turns.ts")};`,
  ].join("\n");
  const outfile = path.join(top, "inside.mjs");
  await build({
    stdin: { contents, resolveDir: import.meta.dirname, loader: "ts" },
    outfile,
    bundle: true,
    format: "esm",
    platform: "node",
    external: ["fs-native-extensions"],
    logLevel: "silent",
  });
  return pathToFileURL(outfile).href;
}

async function digestSome(top, inside) {
  const { digestFile } = await import(inside);
  const dir = writeStore(top, inventMemories(SOME));
  return fs.readdirSync(dir).map((file) => digestFile(directoryAt(dir), file, null, embedInvented));
}

/** So many from these: the words of one with the vectors of another, turned, so that none is like another. */
function* multiply(entries, count) {
  const random = makeRandom(9);
  const any = () => entries[Math.floor(random() * entries.length)];
  for (let i = 0; i < count; i++) {
    const [entry, { ranking }] = [any(), any()];
    const turn = Math.floor(random() * 384);
    const vectors = entry.ranking.vectors.map(({ values, ...vector }) => {
      return { ...vector, values: Int8Array.from(values, (_, at) => values[(at + turn) % values.length]) };
    });
    yield { ...entry, file: `m${i}.md`, mtimeMs: entry.mtimeMs - i * 60_000, ranking: { ...ranking, vectors } };
  }
}

function writeCache(dir, entries, { runAtOnce, writeInPieces }) {
  fs.mkdirSync(path.join(dir, ".memdir"), { recursive: true, mode: 0o700 });
  const folders = [["", fs.statSync(dir).mtimeMs]];
  const isWritten = runAtOnce(writeInPieces(directoryAt(dir), entries, { folders, commits: "" }, null));
  if (isWritten !== true) throw new Error("the cache was not written");
  return dir;
}

function directoryAt(dir) {
  return {
    ...{ path: dir, scope: "project", inRepository: false, readOnly: false, recursive: true, by: "bench" },
    ...{ limits: { maxLines: 200, maxChars: 25_000 }, ageDays: { recent: 2, stale: 8, old: 31 } },
    now: () => new Date(),
    log: (message) => process.stderr.write(`${message}\n`),
  };
}
