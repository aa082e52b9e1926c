#!/usr/bin/env node
// Fifty projects open in one process, 500 saves and 500 recalls at once: is the host's event loop free meanwhile, and is memory bounded?
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import process from "node:process";
import { openMemdir } from "../dist/index.js";

const PROJECTS = 50;
const EACH = 10;
/** As a server notices it: a timer of 10 ms, and how late it comes. */
const TICK_MS = 10;
/** Above this at the 99th percentile a host's other requests are felt to wait. */
const MOST_MS = 50;

const top = fs.mkdtempSync(path.join(os.tmpdir(), "memdir-bench-library-"));
const env = { ...process.env, HOME: path.join(top, "home") };
const lags = [];
/** Since the projects are opened. */
const every = [];
let last = performance.now();
const timer = setInterval(() => {
  const now = performance.now();
  lags.push(now - last);
  every.push(now - last);
  last = now;
}, TICK_MS);

// Beside the others: on a shared machine even an idle process's timer is late.
await phase("nothing", () => new Promise((done) => setTimeout(done, 3000)));
every.length = 0;
const began = performance.now();
const memdirs = await phase("open", async () => {
  const opened = [];
  for (let i = 0; i < PROJECTS; i++) {
    const cwd = path.join(top, `project-${i}`);
    fs.mkdirSync(path.join(cwd, ".git"), { recursive: true });
    opened.push(await openMemdir({ cwd, env }));
  }
  return opened;
});
const all = (work) =>
  Promise.all(memdirs.flatMap((memdir, p) => Array.from({ length: EACH }, (_, i) => work(memdir, p, i))));
await phase("500 saves", () =>
  all((memdir, p, i) =>
    memdir.save({
      type: "project",
      name: `decision ${i}`,
      description: `What project ${p} decided about topic ${i}`,
      body: `Topic ${i} of project ${p}: we deploy with kubectl on day ${i}, and the pool holds ${p} connections.`,
      when: [`rolling out topic ${i}`],
    }),
  ),
);
await phase("500 recalls", () => all((memdir, _, i) => memdir.recall(`how do we deploy topic ${i} with kubectl?`)));
await phase("vectors", () => Promise.all(memdirs.map((memdir) => memdir.warm())));
await phase("500 recalls with meaning", () =>
  all((memdir, _, i) => memdir.recall(`how do we deploy topic ${i} with kubectl?`)),
);
const before = process.memoryUsage().rss;
await phase("500 recalls again", () => all((memdir, _, i) => memdir.recall(`rolling out topic ${i}`)));
const grown = Math.round((process.memoryUsage().rss - before) / 2 ** 20);
process.stdout.write(`memory grown by the last 500 recalls: ${grown} MB\n`);
say("all of it", every, performance.now() - began);
clearInterval(timer);
fs.rmSync(top, { recursive: true, force: true });

async function phase(name, work) {
  await new Promise((done) => setTimeout(done, 3 * TICK_MS));
  lags.length = 0;
  const started = performance.now();
  const result = await work();
  await new Promise((done) => setTimeout(done, 3 * TICK_MS));
  say(name, lags, performance.now() - started);
  return result;
}

function say(name, late, tookMs) {
  const sorted = late.toSorted((a, b) => a - b);
  const at = (share) => (sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0).toFixed(0);
  const rss = Math.round(process.memoryUsage().rss / 2 ** 20);
  const verdict = Number(at(0.99)) <= MOST_MS ? "" : `  (over ${MOST_MS} ms)`;
  process.stdout.write(
    `${name}: ${Math.round(tookMs)} ms; timer p50 ${at(0.5)}, p99 ${at(0.99)}, worst ${at(1)} ms; ${rss} MB${verdict}\n`,
  );
}
