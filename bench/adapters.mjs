#!/usr/bin/env node
// Whether every adapter shows the same memories: adapters.mjs DATA MIRROR [--only WORD] [--list]. Needs dist/.
// DATA holds prompts.json ([{ repo, prompts: [{ prompt }] }]) and repos.json ([{ repo, commit, memory }]); MIRROR a git directory for
// each repository, at owner+name or in a folder there. Each prompt goes through the hook (the server's and the command's), the command
// line, MCP's recall, the page and the library; then again in one session per store, with those that know sessions. The library's
// answer is what the others are compared with. Nothing of the repositories is printed. Ends with 1 where two differ.
import { execFileSync, spawn, spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: { only: { type: "string", default: "" }, list: { type: "boolean", default: false } },
});
const [data, mirror] = positionals;
/** What the hook may add, as in src/config.ts. */
const HOOK_BYTES = 9_500;
const dist = path.resolve(import.meta.dirname, "../dist");
const top = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "memdir-bench-adapters-")));
const home = path.join(top, "home");

if (!data || !mirror) {
  process.stderr.write(
    "adapters.mjs DATA MIRROR: a folder with prompts.json and repos.json, and one with git directories\n",
  );
  process.exit(2);
}
try {
  // A busy machine must not make a hook say nothing.
  fs.mkdirSync(path.join(home, ".claude"), { recursive: true });
  fs.writeFileSync(path.join(home, ".claude", "memdir.json"), JSON.stringify({ hooks: { deadlineMs: 600_000 } }));
  const runs = [];
  for (const { repo, prompts, ...place } of readStores()) {
    const folder = checkOut(repo, place.commit, place.memory);
    if (!folder) {
      process.stderr.write(`${repo} is not in ${mirror}\n`);
      continue;
    }
    const own = await compareStore(folder, path.join(folder, place.memory), prompts);
    process.stderr.write(`${repo}: ${own.filter(({ differ }) => differ.length === 0).length} of ${own.length} agree\n`);
    runs.push(...own);
  }
  report(runs);
} finally {
  fs.rmSync(top, { recursive: true, force: true });
}

function readStores() {
  const read = (name) => JSON.parse(fs.readFileSync(path.join(data, name), "utf8"));
  const places = new Map(read("repos.json").map((place) => [place.repo, place]));
  const stores = read("prompts.json").filter(({ repo }) => repo.includes(options.only) && places.has(repo));
  return stores.map((store) => ({ ...places.get(store.repo), ...store }));
}

/** The memories as they were at the commit, in a repository; null without a mirror. */
function checkOut(repo, commit, memory) {
  const base = path.join(mirror, repo.replace("/", "+"));
  const folders = fs.existsSync(base) ? [base, ...fs.readdirSync(base).map((name) => path.join(base, name))] : [];
  const bare = folders.find((folder) => fs.existsSync(path.join(folder, "HEAD")));
  if (!bare) return null;
  const folder = path.join(top, repo.replace("/", "+"));
  const git = (...args) => execFileSync("git", ["-c", "core.hooksPath=/dev/null", ...args], { stdio: "ignore" });
  git("clone", "-q", "--shared", "--no-checkout", bare, folder);
  git("-C", folder, "update-ref", "--no-deref", "HEAD", commit);
  git("-C", folder, "checkout", "-q", "-f", commit, "--", memory);
  return folder;
}

/** For each prompt what each adapter showed: without a session, and in one. */
async function compareStore(cwd, memory, prompts) {
  const env = { PATH: process.env.PATH ?? "", HOME: home, MEMDIR_MEMORY_DIR: memory, MEMDIR_LEARN: "off" };
  const { openMemdir, openRecallSession } = await import(pathToFileURL(path.join(dist, "index.js")).href);
  const memdir = await openMemdir({ cwd, memoryDir: memory, env });
  await memdir.warm();
  const server = openServer(cwd, env);
  const page = await openPage(cwd, env);
  const runs = [];
  try {
    for (const { prompt } of prompts) {
      const library = await memdir.recall(prompt, { model: false, maxBytes: HOOK_BYTES });
      const whole = await memdir.recall(prompt, { model: false });
      const event = { hook_event_name: "UserPromptSubmit", cwd, prompt };
      const shown = {
        "hook, server": await server.hook(event),
        "hook, command": runHook(cwd, env, event),
        "command line": runCli(cwd, env, prompt),
        page: await page.inspect(prompt),
      };
      const listed = { "MCP recall": await server.recall(prompt) };
      runs.push({
        kind: "without a session",
        prompt,
        isShown: library.text !== "",
        differ: differing({ shown, listed }, library, whole),
      });
    }
    const session = openRecallSession();
    for (const { prompt } of prompts) {
      const before = [...session.surfaced];
      const library = await memdir.recall(prompt, { model: false, maxBytes: HOOK_BYTES, session });
      session.surface(library.memories);
      const event = { hook_event_name: "UserPromptSubmit", cwd, prompt };
      const shown = {
        "hook, server": await server.hook({ ...event, session_id: "server" }),
        "hook, command": runHook(cwd, env, { ...event, session_id: "command" }),
        "command line": runCli(cwd, env, prompt, before),
      };
      runs.push({
        kind: "in a session",
        prompt,
        isShown: library.text !== "",
        differ: differing({ shown, listed: {} }, library, library),
      });
    }
  } finally {
    server.close();
    page.close();
  }
  return runs;
}

/** The names of those whose text, or whose list of files, is another one than the library's. */
function differing({ shown, listed }, library, whole) {
  const files = whole.memories.map(({ file }) => file).join("\n");
  return [
    ...Object.entries(shown).filter(([, text]) => text !== library.text),
    ...Object.entries(listed).filter(([, list]) => list.join("\n") !== files),
  ].map(([name]) => name);
}

function runHook(cwd, env, event) {
  const out = run([path.join(dist, "hook.cjs")], cwd, env, JSON.stringify(event));
  return out.trim() === "" ? "" : textOf(out);
}

function runCli(cwd, env, prompt, exclude = []) {
  const more = exclude.flatMap((file) => ["--exclude", file]);
  const args = [
    "recall",
    "--json",
    "--no-model",
    "--no-wait",
    "--max-bytes",
    String(HOOK_BYTES),
    ...more,
    "--",
    prompt,
  ];
  return JSON.parse(run([path.join(dist, "cli.js"), ...args], cwd, env)).text;
}

function run(args, cwd, env, input = "") {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd, env, input, encoding: "utf8" });
  if (status !== 0) throw new Error(`${path.basename(args[0])} failed: ${stderr}`);
  return stdout;
}

function textOf(out) {
  return JSON.parse(out).hookSpecificOutput?.additionalContext ?? "";
}

function openServer(cwd, env) {
  const child = spawn(process.execPath, [path.join(dist, "cli.js"), "mcp"], {
    cwd,
    env,
    stdio: ["pipe", "pipe", "ignore"],
  });
  const waiting = new Map();
  createInterface({ input: child.stdout }).on("line", (line) => {
    const { id, result, error } = JSON.parse(line);
    waiting.get(id)?.(error ? Promise.reject(new Error(error.message)) : result);
  });
  let id = 0;
  const call = (name, given) =>
    new Promise((done) => {
      waiting.set(++id, done);
      const params = { name, arguments: given };
      child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params })}\n`);
    });
  return {
    hook: async (event) => textOf((await call("hook", event)).content[0].text),
    recall: async (prompt) => filesIn((await call("recall", { prompt })).content[0].text, env.MEMDIR_MEMORY_DIR),
    close: () => child.kill(),
  };
}

/** As the headers name them: MCP's recall answers in text. */
function filesIn(text, memory) {
  const paths = [...text.matchAll(/^Memory(?: \(.*\))?: (.+):$/gm)].map(([, file]) => file);
  return paths.map((file) => path.relative(memory, file));
}

async function openPage(cwd, env) {
  const args = [path.join(dist, "cli.js"), "ui", "--json", "--no-open"];
  const child = spawn(process.execPath, args, { cwd, env, stdio: ["pipe", "pipe", "inherit"] });
  let said = "";
  const { url, address } = await new Promise((done) => {
    child.stdout.on("data", (chunk) => {
      said += chunk;
      try {
        done(JSON.parse(said));
      } catch {
        // The rest is still to come.
      }
    });
  });
  const { headers } = await fetch(address, { redirect: "manual" });
  const cookie = headers
    .getSetCookie()
    .map((line) => line.split(";")[0])
    .join("; ");
  const inspect = async (prompt) => {
    const body = JSON.stringify({ prompt, adapter: "hook" });
    const sent = { cookie, "content-type": "application/json", "x-memdir": "1" };
    const post = () => fetch(`${url}/api/inspect`, { method: "POST", headers: sent, body });
    // A connection that has been idle may be closed at the moment it is used again.
    const response = await post().catch(post);
    if (!response.ok) throw new Error(`the page answered ${response.status}`);
    return (await response.json()).text;
  };
  return { inspect, close: () => child.kill() };
}

function report(runs) {
  const lines = ["| | runs | shown something | all agree | who differs |", "| --- | ---: | ---: | ---: | --- |"];
  for (const kind of new Set(runs.map((each) => each.kind))) {
    const own = runs.filter((each) => each.kind === kind);
    const counts = new Map();
    for (const name of own.flatMap(({ differ }) => differ)) counts.set(name, (counts.get(name) ?? 0) + 1);
    const names = [...counts].map(([name, count]) => `${name} ${count}`).join(", ");
    const [shown, agree] = [own.filter(({ isShown }) => isShown), own.filter(({ differ }) => differ.length === 0)];
    lines.push(`| ${kind} | ${own.length} | ${shown.length} | ${agree.length} | ${names} |`);
  }
  process.stdout.write(`${lines.join("\n")}\n`);
  const different = runs.filter(({ differ }) => differ.length > 0);
  if (options.list)
    for (const { kind, prompt, differ } of different) process.stdout.write(`${kind}: ${prompt} (${differ})\n`);
  process.exitCode = different.length > 0 ? 1 : 0;
}
