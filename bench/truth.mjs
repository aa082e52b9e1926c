#!/usr/bin/env node
// Verdicts on claims: right and found, by kind, on the labelled memories; and the time of 500 memories with 2,000 claims
// against a made repository of 5,000 files, as a ratio to one `git grep` plus one `git log --name-status`: truth.mjs [--check] [--quick].
// Needs the packages for tests. With --check it ends with 1 when a target is missed.
import { execFileSync, spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import * as esbuild from "esbuild";
import { makeRandom } from "./recall-invented.mjs";
import { formatTable, takeTurns, timeRow } from "./recall-timing.mjs";

const { values: options } = parseArgs({
  options: {
    check: { type: "boolean", default: false },
    quick: { type: "boolean", default: false },
    /** Used by itself: one run in a process of its own. */
    run: { type: "string" },
  },
});
const FILES = options.quick ? 1_000 : 5_000;
const COMMITS = options.quick ? 200 : 2_500;
const MEMORIES = options.quick ? 100 : 500;
const CLAIMS_EACH = 4;
const ROUNDS = options.quick ? 3 : 7;
const TARGETS = { precision: 0.95, recall: 0.85, ratio: 5, megabytes: 300 };
const SETS = ["own", "more", "hard", "blind"];
const DAY = "2026-04-15";

if (options.run !== undefined) await runOnce(options.run);
else await main();

async function main() {
  const top = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "memdir-bench-truth-")));
  try {
    const isLabelledGood = await measureLabelled(top);
    const isQuickEnough = await measureSpeed(top);
    if (options.check && !(isLabelledGood && isQuickEnough)) process.exitCode = 1;
  } catch (error) {
    process.stderr.write(`bench: ${error instanceof Error ? error.stack : error}\n`);
    process.exitCode = 3;
  } finally {
    fs.rmSync(top, { recursive: true, force: true });
  }
}

/** The sources as one file that Node can run. */
async function load(top, entry) {
  const outfile = path.join(top, `${path.basename(entry, ".ts")}.mjs`);
  const root = path.resolve(import.meta.dirname, "..");
  const define = { "import.meta.dirname": JSON.stringify(path.dirname(path.join(root, entry))) };
  await esbuild.build({
    entryPoints: [path.join(root, entry)],
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    packages: "external",
    define,
    logLevel: "error",
  });
  return outfile;
}

async function measureLabelled(top) {
  const { measureCorpus, readCorpus } = await import(
    pathToFileURL(await load(top, "test/truth/corpus/measure.ts")).href
  );
  let isGood = true;
  for (const set of [...SETS, "all"]) {
    const memories = readCorpus(...(set === "all" ? SETS : [set]));
    const { claims, precision, recall, kinds, wrong, missed } = await measureCorpus(path.join(top, set), memories);
    isGood &&= precision >= TARGETS.precision && recall >= TARGETS.recall;
    print(
      `${set}: ${memories.length} memories, ${claims} labelled claims: precision ${precision.toFixed(3)}, recall ${recall.toFixed(3)}`,
    );
    for (const line of [...wrong.map((each) => `wrong  ${each}`), ...missed.map((each) => `missed ${each}`)])
      if (set !== "all") print(`    ${line}`);
    if (set !== "all") continue;
    print("\n| kind | right | wrong | missed | precision | recall |\n| --- | ---: | ---: | ---: | ---: | ---: |");
    for (const [kind, { right, wrong, missed }] of Object.entries(kinds)) {
      const share = (part, whole) => (whole === 0 ? "–" : (part / whole).toFixed(2));
      print(
        `| ${kind} | ${right} | ${wrong} | ${missed} | ${share(right, right + wrong)} | ${share(right, right + missed)} |`,
      );
    }
  }
  print(`\nTargets: precision ≥ ${TARGETS.precision}, recall ≥ ${TARGETS.recall}${isGood ? "" : " **missed**"}.\n`);
  return isGood;
}

async function measureSpeed(top) {
  const repository = path.join(top, "repository");
  const { symbols, paths, flags } = makeRepository(repository);
  const memories = inventMemories({ symbols, paths, flags });
  const bundle = await load(top, "src/truth/examination.ts");
  const keep = (name, texts) => {
    const file = path.join(top, name);
    fs.writeFileSync(file, JSON.stringify({ bundle, repository, memories: texts }));
    return file;
  };
  const input = keep("input.json", memories);
  // Of such a name, only the texts of all changes together can tell whether it was ever there.
  const unseen = keep("unseen.json", [`${memories[0]}Use \`neverThere\`.\n`, ...memories.slice(1)]);
  const sizes = [];
  let counted = "";
  const verify = (file) => {
    const ran = spawnSync(process.execPath, [import.meta.filename, "--run", file], { encoding: "utf8" });
    if (ran.status !== 0) throw new Error(ran.stderr);
    const { ms, megabytes, claims, problems } = JSON.parse(ran.stdout);
    sizes.push(megabytes);
    if (file === input) counted = `${claims} claims, ${problems} problems`;
    return ms;
  };
  const git = (...args) =>
    execFileSync("git", args, { cwd: repository, stdio: ["ignore", "pipe", "ignore"], maxBuffer: 1 << 30 });
  const times = await takeTurns(
    ROUNDS,
    {
      git: () =>
        timed(() => {
          git("grep", "-I", "-n", "-w", "makeThing17");
          git("log", "--name-status");
        }),
      verify: () => verify(input),
      unseen: () => verify(unseen),
    },
    { warming: 1 },
  );
  const what = `${MEMORIES} memories, ${FILES} files, ${COMMITS} commits`;
  const against = "git grep + git log --name-status";
  const row = timeRow(what, times.verify, against, times.git, TARGETS.ratio);
  const worst = timeRow("the same, and a name that was never there", times.unseen, against, times.git, TARGETS.ratio);
  const most = Math.max(...sizes);
  print(
    `${formatTable([row, worst])}\n\n${counted}; at most ${most.toFixed(0)} MB (target < ${TARGETS.megabytes} MB${most < TARGETS.megabytes ? "" : " **missed**"}), process and Node included.`,
  );
  print(
    `Medians, in brackets the 10 % quantile; ${ROUNDS} rounds in turn${options.quick ? " (--quick)" : ""}. Node ${process.version}, ${os.cpus()[0]?.model.trim()} × ${os.cpus().length}.`,
  );
  return !row.isMissed && !worst.isMissed && most < TARGETS.megabytes;
}

async function runOnce(file) {
  const { bundle, repository, memories } = JSON.parse(fs.readFileSync(file, "utf8"));
  const { examine } = await import(pathToFileURL(bundle).href);
  const subjects = memories.map((text, i) => ({ file: `m${i}.md`, text, written: new Date(DAY) }));
  let examination;
  const ms = await timedLater(async () => {
    examination = await examine({ root: repository, env: process.env }, subjects, { names: new Set(), today: DAY });
  });
  const findings = examination.memories.flatMap((memory) => memory.findings);
  const problems = findings.filter(({ verdict }) => verdict !== "holds" && verdict !== "unknown").length;
  print(JSON.stringify({ ms, megabytes: process.resourceUsage().maxRSS / 1024, claims: findings.length, problems }));
}

/** Through fast-import: thousands of files and commits within a second. */
function makeRepository(folder) {
  const random = makeRandom(11);
  const pick = (list) => list[Math.floor(random() * list.length)];
  const folders = Array.from({ length: 60 }, (_, i) => `src/${pick(["core", "api", "web", "jobs", "tools"])}/part${i}`);
  const files = Array.from({ length: FILES }, (_, i) => ({
    path: `${folders[i % folders.length]}/thing${i}.ts`,
    n: i,
  }));
  const text = (n, turn) =>
    [
      `// Thing ${n}, turn ${turn}.`,
      `export function makeThing${n}(flag) {`,
      `  if (flag === "--option-${n}") return ${turn};`,
      ...Array.from({ length: 120 }, (_, k) => `  step(${n}, ${k}, "some text of line ${k}");`),
      "}",
      "",
    ].join("\n");
  const stream = [];
  const commit = (at, changes) => {
    const data = `turn ${at}`;
    stream.push(
      `commit refs/heads/main\ncommitter t <t@example.invalid> ${1_700_000_000 + at * 3600} +0000\ndata ${data.length}\n${data}\n${changes.join("")}\n`,
    );
  };
  const put = (file, content) => `M 100644 inline ${file}\ndata ${Buffer.byteLength(content)}\n${content}\n`;
  commit(
    0,
    files.map(({ path: file, n }) => put(file, text(n, 0))),
  );
  for (let turn = 1; turn < COMMITS; turn++) {
    const changes = Array.from({ length: 4 }, () => pick(files)).map(({ path: file, n }) => put(file, text(n, turn)));
    const [gone] = turn % 10 === 0 ? files.splice(Math.floor(random() * files.length), 1) : [];
    if (gone) changes.push(`D ${gone.path}\n`);
    const moved = turn % 10 === 5 ? pick(files) : null;
    if (moved) {
      const from = moved.path;
      moved.path = from.replace("/thing", `/moved${turn}-thing`);
      commit(turn, [`R ${from} ${moved.path}\n`]);
    } else commit(turn, changes);
  }
  fs.mkdirSync(folder, { recursive: true });
  const git = (args, input) => execFileSync("git", args, { cwd: folder, input, stdio: ["pipe", "pipe", "ignore"] });
  git(["init", "-q", "-b", "main"]);
  git(["fast-import", "--quiet"], stream.join(""));
  git(["checkout", "-q", "-f", "main"]);
  const all = Array.from({ length: FILES }, (_, i) => i);
  return {
    symbols: all.map((i) => `makeThing${i}`),
    paths: all.map((i) => `${folders[i % folders.length]}/thing${i}.ts`),
    flags: all.map((i) => `--option-${i}`),
  };
}

/** Of things that were there at the first commit: some have gone or moved since. */
function inventMemories({ symbols, paths, flags }) {
  const random = makeRandom(5);
  const pick = (list) => list[Math.floor(random() * list.length)];
  return Array.from({ length: MEMORIES }, (_, i) => {
    const lines = Array.from(
      { length: CLAIMS_EACH },
      (_, k) =>
        [
          `Look at ${pick(paths)} first.`,
          `\`${pick(symbols)}\` must not be called twice.`,
          `Run the exporter with \`${pick(flags)}\`.`,
        ][(i + k) % 3],
    );
    return `---\nname: m${i}\ndescription: what to know about ${i}\ntype: project\n---\n\n${lines.join("\n")}\n`;
  });
}

function timed(work) {
  const start = performance.now();
  work();
  return performance.now() - start;
}

async function timedLater(work) {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

function print(text) {
  process.stdout.write(`${text}\n`);
}
