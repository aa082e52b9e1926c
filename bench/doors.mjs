#!/usr/bin/env node
// What the adapters cost: doors.mjs [--check] [--quick] [--sizes] [--only clients|server|processes] [--client codex] [--arm server] [--memories 100]. Needs dist/.
// Events in the real clients, interleaved with a bare client; the warm server's own time; each hook in a fresh process: all as ratios
// to a bare `node`. With --sizes what an installation takes on disk (installs the packed package into a temporary folder). With
// --check it ends with 1 when a target is missed.
import { spawn, spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { measureClients, PROMPTS } from "./doors-clients.mjs";
import { embedInvented, inventMemories, inventPrompt, makeRandom } from "./recall-invented.mjs";
import { openStore, writeStore } from "./recall-store.mjs";
import { formatTable, run, takeTurns, timeRow } from "./recall-timing.mjs";

const { values: options } = parseArgs({
  options: {
    check: { type: "boolean", default: false },
    quick: { type: "boolean", default: false },
    sizes: { type: "boolean", default: false },
    only: { type: "string", default: "" },
    client: { type: "string", default: "" },
    arm: { type: "string", default: "" },
    memories: { type: "string" },
  },
});
const MEMORIES = Number(options.memories ?? (options.quick ? 100 : 1_000));
const SIZES = options.quick ? [100, 1_000, 10_000] : [100, 10_000, 100_000];
const SERVED = options.quick ? [100, 1_000] : [100, 1_000, 10_000];
const STARTS = options.quick ? 11 : 41;
const root = path.resolve(import.meta.dirname, "..");
const dist = path.join(root, "dist");
const top = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "memdir-bench-doors-")));
/** A hundred thousand files are written in seconds where they stay in memory. */
const roomy = fs.existsSync("/dev/shm") ? fs.mkdtempSync("/dev/shm/memdir-bench-doors-") : top;
const home = path.join(top, "home");
fs.mkdirSync(home);
// Nothing that a person's shell adds: NODE_EXTRA_CA_CERTS alone costs Node 20 some 50 ms.
const BARE_ENV = { PATH: process.env.PATH ?? "", HOME: home };
const timeNode = () => run(["-e", "0"], { cwd: top, env: BARE_ENV, input: "{}" }).ms;

try {
  const rows = await measure();
  const cpu = os.cpus();
  process.stdout.write(
    `${formatTable(rows)}\n\nMedians, in brackets the 10 % quantile; ${STARTS} starts each, in turn, ${MEMORIES} memories. ` +
      `Node ${process.version}, ${cpu[0]?.model.trim() ?? "unknown CPU"} × ${cpu.length}, ${process.platform}, ${new Date().toISOString().slice(0, 10)}.\n`,
  );
  if (options.sizes) process.stdout.write(`\n${measureSizes()}\n`);
  if (options.check && rows.some(({ isMissed }) => isMissed)) process.exitCode = 1;
} catch (error) {
  process.stderr.write(`bench: ${error instanceof Error ? error.stack : error}\n`);
  process.exitCode = 3;
} finally {
  for (const folder of [top, roomy]) fs.rmSync(folder, { recursive: true, force: true });
}

async function measure() {
  const wants = (part) => options.only === "" || options.only === part;
  return [
    ...(wants("clients") ? await measureInClients() : []),
    ...(wants("server") ? await measureServer() : []),
    ...(wants("processes") ? await measureProcesses() : []),
  ];
}

/** Memories whose vectors are there, so that no prompt waits for them. */
async function seed(count) {
  const { openMemdir } = await import(pathToFileURL(path.join(dist, "index.js")).href);
  const dir = writeStore(roomy, inventMemories(count));
  for (let i = 0; i < 2; i++) await openStore({ root: top, openMemdir }, dir, { embed: embedInvented });
  return dir;
}

async function measureInClients() {
  const { client: only, arm } = options;
  return measureClients({ top, store: await seed(MEMORIES), timeNode, rounds: STARTS, only, arm });
}

/** The server's hook, asked as a client asks it, with everything loaded. */
async function measureServer() {
  const servers = [];
  const work = { node: timeNode, "node cpu": timeNodeCpu };
  const cpu = Object.fromEntries(SERVED.map((count) => [count, []]));
  try {
    for (const count of SERVED) {
      const server = openServer({ ...BARE_ENV, MEMDIR_MEMORY_DIR: await seed(count) });
      servers.push(server);
      const ask = async (fields) => {
        const start = process.hrtime.bigint();
        await server.call({ cwd: top, ...fields });
        return Number(process.hrtime.bigint() - start) / 1e6;
      };
      const call = { tool_name: "Bash", tool_input: '{"command":"npm test"}' };
      work[`prompt ${count}`] = async (round) => {
        const before = cpuOf(server.pid);
        const ms = await ask({
          hook_event_name: "UserPromptSubmit",
          session_id: `s${round}`,
          prompt: PROMPTS.at(round % PROMPTS.length),
        });
        if (round >= 0) cpu[count].push(cpuOf(server.pid) - before);
        return ms;
      };
      work[`tool ${count}`] = () => ask({ hook_event_name: "PreToolUse", session_id: "t", ...call });
    }
    const { node, "node cpu": nodeCpu, ...times } = await takeTurns(STARTS, work);
    return SERVED.flatMap((count) => [
      timeRow(
        `the server's answer to a prompt, ${count} memories`,
        times[`prompt ${count}`],
        "node -e 0",
        node,
        count === 1_000 ? 0.3 : null,
      ),
      ...(cpu[count].some(Number.isNaN)
        ? []
        : [timeRow("the same, time of the processor", cpu[count], "node", nodeCpu)]),
      timeRow(`the server's answer before a tool call, ${count} memories`, times[`tool ${count}`], "node -e 0", node),
    ]);
  } finally {
    for (const server of servers) server.close();
  }
}

function openServer(env) {
  const child = spawn(process.execPath, [path.join(dist, "cli.js"), "mcp"], { cwd: top, env });
  const waiting = new Map();
  createInterface({ input: child.stdout }).on("line", (line) => {
    const { id } = JSON.parse(line);
    waiting.get(id)?.();
  });
  let id = 0;
  const call = (given) =>
    new Promise((done) => {
      waiting.set(++id, done);
      const params = { name: "hook", arguments: given };
      child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params })}\n`);
    });
  return { call, pid: child.pid, close: () => child.kill() };
}

/** What a bare node says of itself at its end, in milliseconds. */
function timeNodeCpu() {
  const sum = "process.cpuUsage().user + process.cpuUsage().system";
  return Number(run(["-p", sum], { cwd: top, env: BARE_ENV }).output) / 1000;
}

/** All threads of a process, in milliseconds; only Linux says. */
function cpuOf(pid) {
  try {
    const tasks = fs.readdirSync(`/proc/${pid}/task`);
    const times = tasks.map((task) => fs.readFileSync(`/proc/${pid}/task/${task}/schedstat`, "utf8").split(" ")[0]);
    return times.reduce((sum, ns) => sum + Number(ns) / 1e6, 0);
  } catch {
    return Number.NaN;
  }
}

async function measureProcesses() {
  const memory = await seed(MEMORIES);
  const env = { ...BARE_ENV, MEMDIR_MEMORY_DIR: memory };
  const random = makeRandom(7);
  const prompts = Array.from({ length: STARTS + 8 }, () => inventPrompt(random));
  const hook = (input) =>
    run([path.join(dist, "hook.cjs")], { cwd: top, env, input: JSON.stringify({ cwd: top, ...input }) });
  const call = { hook_event_name: "PreToolUse", tool_name: "Bash", tool_input: { command: "npm test" } };
  const work = {
    node: timeNode,
    // A session of its own each time: what was shown once is not shown again.
    prompt: (round) =>
      hook({ hook_event_name: "UserPromptSubmit", session_id: `s${round}`, prompt: prompts[round + 4] }).ms,
    tool: () => hook({ ...call, session_id: "t" }).ms,
    start: () => hook({ hook_event_name: "SessionStart", source: "startup", session_id: "u" }).ms,
    initialize: () => serve(env, false),
    recall: () => serve(env, true),
  };
  const { node, ...times } = await takeTurns(STARTS, work);
  const row = (what, name, target) => timeRow(what, times[name], "node -e 0", node, target);
  const sized = await measureSizedStores(env);
  return [
    row("UserPromptSubmit as a command (Gemini CLI, older clients)", "prompt", null),
    row("PreToolUse, no rule", "tool", null),
    row("SessionStart, nothing to say", "start", null),
    row("MCP: start to the answer of initialize", "initialize", null),
    row("MCP: start to the first recall's answer", "recall", null),
    ...sized,
  ];
}

/** What hooks must not pay for: how many memories there are. */
async function measureSizedStores(env) {
  const work = {};
  for (const count of SIZES) {
    const memory = writeStore(roomy, inventMemories(count));
    const own = { ...env, MEMDIR_MEMORY_DIR: memory, MEMDIR_MEANING: "off" };
    // A cache covers all files when its folder has been still for a moment.
    for (let i = 0; i < 3; i++) {
      await new Promise((done) => setTimeout(done, 100));
      run([path.join(dist, "cli.js"), "list", "--json"], { cwd: top, env: own });
    }
    const hook = (input) =>
      run([path.join(dist, "hook.cjs")], { cwd: top, env: own, input: JSON.stringify({ cwd: top, ...input }) }).ms;
    const call = { hook_event_name: "PreToolUse", tool_name: "Bash", tool_input: { command: "npm test" } };
    work[`tool ${count}`] = () => hook({ ...call, session_id: "t" });
    work[`start ${count}`] = () => hook({ hook_event_name: "SessionStart", source: "startup", session_id: "u" });
  }
  const times = await takeTurns(STARTS, work);
  const [few, many, huge] = SIZES;
  const row = (what, name, count, target) =>
    timeRow(
      `${what}, ${count} memories`,
      times[`${name} ${count}`],
      `${few} memories`,
      times[`${name} ${few}`],
      target,
    );
  return [
    row("PreToolUse, no rule", "tool", many, null),
    row("PreToolUse, no rule", "tool", huge, 1.2),
    row("SessionStart", "start", many, 1.5),
  ];
}

/** From the start of the process to the last answer, in milliseconds. */
async function serve(env, recalls) {
  const start = process.hrtime.bigint();
  const child = spawn(process.execPath, [path.join(dist, "cli.js"), "mcp"], { cwd: top, env });
  const send = (message) => child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  const clientInfo = { name: "bench", version: "1" };
  send({ id: 1, method: "initialize", params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo } });
  if (recalls) {
    send({ method: "notifications/initialized" });
    send({ id: 2, method: "tools/call", params: { name: "recall", arguments: { prompt: "how do we deploy?" } } });
  }
  for await (const line of createInterface({ input: child.stdout })) {
    const { id, error, result } = JSON.parse(line);
    if (error || result?.isError) throw new Error(`the server answered ${line.slice(0, 300)}`);
    if (id === (recalls ? 2 : 1)) break;
  }
  const ms = Number(process.hrtime.bigint() - start) / 1e6;
  child.kill();
  return ms;
}

function measureSizes() {
  const npm = (args, cwd) => {
    const { status, stdout, stderr } = spawnSync("npm", args, {
      cwd,
      encoding: "utf8",
      shell: process.platform === "win32",
    });
    if (status !== 0) throw new Error(`npm ${args.join(" ")} failed: ${stderr}`);
    return stdout.trim();
  };
  const tarball = path.join(top, npm(["pack", "--pack-destination", top, "--silent"], root).split("\n").at(-1));
  const size = (name, more) => {
    const folder = path.join(top, name);
    fs.mkdirSync(folder);
    npm(["install", "--prefix", folder, "--prefer-offline", "--no-audit", "--no-fund", ...more, tarball], folder);
    const files = fs.readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    const bytes = files.reduce(
      (sum, { parentPath, name: file }) => sum + fs.statSync(path.join(parentPath, file)).size,
      0,
    );
    return (bytes / 1e6).toFixed(1);
  };
  return `Installed: ${size("without", ["--omit=optional"])} MB without the embedding weights (aim 15), ${size("with", [])} MB with them (aim 65).`;
}
