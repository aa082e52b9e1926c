// Loading instruction files against reading the same bytes, and a warm second load against stat-ing them: ratios from one run.
// node bench/instructions.mjs [--check]; the library must be built (npm run bench does both).
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";

const FILES = 200;
const ROUNDS = 30;
const TARGETS = { cold: 6, warm: 2 };

const root = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "memdir-bench-")));
const dist = path.resolve(import.meta.dirname, "../dist/index.js");
const { openMemdir } = await import(pathToFileURL(dist).href);

try {
  const files = makeFiles();
  const env = { HOME: path.join(root, "home"), MEMDIR_MANAGED_DIR: path.join(root, "managed") };
  const memdir = await openMemdir({ cwd: path.join(root, "project"), env });
  const kept = await memdir.instructions();
  if ((await kept.load()).length !== FILES) throw new Error(`${(await kept.load()).length} files loaded, not ${FILES}`);

  const times = { read: [], load: [], stat: [], warm: [] };
  for (let round = 0; round < ROUNDS; round++) {
    times.read.push(await time(() => Promise.all(files.map((file) => fs.promises.readFile(file)))));
    times.load.push(await time(async () => (await memdir.instructions()).load()));
    times.stat.push(await time(() => files.map((file) => fs.statSync(file))));
    times.warm.push(await time(() => kept.load()));
  }
  const cold = median(times.load) / median(times.read);
  const warm = median(times.warm) / median(times.stat);
  const row = (what, a, against, b, ratio, target) =>
    `| ${what} | ${median(a).toFixed(2)} ms | ${against} | ${median(b).toFixed(2)} ms | ${ratio.toFixed(2)}× | ≤ ${target}× |`;
  process.stdout.write(
    `${[
      "| what | time | against | time | ratio | target |",
      "| --- | ---: | --- | ---: | ---: | --- |",
      row(
        `load ${FILES} instruction files of 5 KB with imports`,
        times.load,
        "readFile of the same",
        times.read,
        cold,
        TARGETS.cold,
      ),
      row("load them again, warm", times.warm, "stat of the same", times.stat, warm, TARGETS.warm),
      "",
      `${ROUNDS} rounds in turn, medians. Node ${process.version}, ${os.cpus()[0]?.model.trim()} × ${os.cpus().length}, ${process.platform}.`,
    ].join("\n")}\n`,
  );
  if (process.argv.includes("--check") && (cold > TARGETS.cold || warm > TARGETS.warm)) process.exitCode = 1;
} finally {
  fs.rmSync(root, { recursive: true, force: true });
}

/** A CLAUDE.md that imports rules' companions, and rules that import one file each. */
function makeFiles() {
  const project = path.join(root, "project");
  const rules = path.join(project, ".claude", "rules");
  const docs = path.join(project, "docs");
  for (const folder of [rules, docs]) fs.mkdirSync(folder, { recursive: true });
  const text = (head) =>
    `${head}\n\n${"Some words about how we work here, mail a@example.com.\n".repeat(100)}`.slice(0, 5 * 1024);
  const files = [];
  const put = (file, content) => {
    fs.writeFileSync(file, content);
    files.push(file);
  };
  for (let i = 0; i < FILES / 2; i++) {
    put(path.join(docs, `d${i}.md`), text(`# Document ${i}`));
    put(path.join(rules, `r${i}.md`), text(`# Rule ${i}\n\nSee @../../docs/d${i}.md for more.`));
  }
  return files;
}

async function time(work) {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

function median(values) {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
}
