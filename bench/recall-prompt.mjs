#!/usr/bin/env node
// What a prompt costs a process that lives on, in time of the processor: recall-prompt.mjs [--prompts 200] [--pause MS] [DIST…]. Each build answers the
// same prompts in a process of its own, in turn with the others, so that two versions can be compared on a busy machine. Needs dist/.
import { fork } from "node:child_process";
import fs from "node:fs";
import { createRequire } from "node:module";
import os from "node:os";
import path from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { embedInvented, inventMemories } from "./recall-invented.mjs";
import { openStore, writeStore } from "./recall-store.mjs";
import { quantile } from "./recall-timing.mjs";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { prompts: { type: "string", default: "200" }, pause: { type: "string", default: "0" } },
});
const MEMORIES = 1_000;
/** Until everything is compiled. */
const FIRST = 30;

if (process.send) answerPrompts(positionals[0]);
else await measure(positionals.length > 0 ? positionals : [path.resolve(import.meta.dirname, "../dist")]);

async function measure(dists) {
  const top = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "memdir-bench-prompt-")));
  const { PROMPTS } = await import("./doors-clients.mjs");
  const { openMemdir } = await import(pathToFileURL(path.resolve(dists[0], "index.js")).href);
  const store = writeStore(top, inventMemories(MEMORIES));
  for (let i = 0; i < 2; i++) await openStore({ root: top, openMemdir }, store, { embed: embedInvented });
  const env = { PATH: process.env.PATH ?? "", HOME: top, MEMDIR_MEMORY_DIR: store };
  const children = dists.map((dist) => fork(import.meta.filename, [path.resolve(dist)], { cwd: top, env }));
  const ask = (child, event) =>
    new Promise((done) => {
      child.once("message", done);
      child.send({ cwd: top, ...event });
    });
  try {
    for (const child of children) await ask(child, { hook_event_name: "Connect" });
    const taken = dists.map(() => []);
    for (let i = 0; i < FIRST + Number(values.prompts); i++) {
      for (const [k] of children.entries()) {
        const at = (i + k) % children.length;
        const prompt = PROMPTS[i % PROMPTS.length];
        const cpu = await ask(children[at], { hook_event_name: "UserPromptSubmit", session_id: `s${i}`, prompt });
        if (i >= FIRST) taken[at].push({ ...cpu, prompt });
        await new Promise((done) => setTimeout(done, Number(values.pause)));
      }
    }
    // Prompts differ in length: the mean over them of each one's quantile.
    const cell = (answers, part) =>
      [0.5, 0.1].map((share) => {
        const each = PROMPTS.map((prompt) =>
          quantile(answers.filter((answer) => answer.prompt === prompt).map(part), share),
        );
        return (each.reduce((sum, ms) => sum + ms, 0) / each.length).toFixed(2);
      });
    process.stdout.write("| build | main thread | all threads |\n| --- | ---: | ---: |\n");
    for (const [at, dist] of dists.entries()) {
      const cells = [({ main }) => main, ({ all }) => all].map((part) => cell(taken[at], part));
      process.stdout.write(`| ${dist} | ${cells.map(([median, tenth]) => `${median} (${tenth}) ms`).join(" | ")} |\n`);
    }
  } finally {
    for (const child of children) child.kill();
    fs.rmSync(top, { recursive: true, force: true });
  }
}

/** Only Linux says how long each thread has run. */
function answerPrompts(dist) {
  const { openHooks } = createRequire(import.meta.url)(path.join(dist, "hook.cjs"));
  const hooks = openHooks();
  const msOf = (task) => Number(fs.readFileSync(`/proc/self/task/${task}/schedstat`, "utf8").split(" ")[0]) / 1e6;
  const look = () => {
    const all = fs.readdirSync("/proc/self/task").reduce((sum, task) => sum + msOf(task), 0);
    return { main: msOf(process.pid), all };
  };
  process.on("message", async (event) => {
    const before = look();
    const { after } = await hooks(event);
    const now = look();
    await after();
    process.send({ main: now.main - before.main, all: now.all - before.all });
  });
}
