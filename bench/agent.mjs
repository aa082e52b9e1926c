#!/usr/bin/env node
// The agent's own work per turn against a bare round trip to the model server, and building the context against reading
// its files, as ratios from one run: agent.mjs [--check] [--quick]. Needs dist/ and the packages for tests.
// With --check it ends with 1 when a target is missed.
import { fork } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { inventMemories, inventPrompt, makeRandom } from "./recall-invented.mjs";
import { writeStore } from "./recall-store.mjs";
import { formatTable, takeTurns, timed, timeRow } from "./recall-timing.mjs";

const { values: options } = parseArgs({
  options: { check: { type: "boolean", default: false }, quick: { type: "boolean", default: false } },
});
const MEMORIES = options.quick ? 100 : 1_000;
/** The index holds no more lines than this. */
const INDEXED = 200;
const MESSAGES = options.quick ? 50 : 500;
const ROUNDS = options.quick ? 15 : 60;
const RULES = 40;
const TARGETS = { turn: 10, context: 3 };

const top = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "memdir-bench-agent-")));
const dist = (name) => pathToFileURL(path.resolve(import.meta.dirname, "../dist", name)).href;
const { openMemdir } = await import(dist("index.js"));
const { openAgent, readSession } = await import(dist("agent-kit.js"));

try {
  const server = await startServer();
  try {
    const rows = [...(await measureTurns(server)), ...(await measureContext())];
    const cpu = os.cpus();
    process.stdout.write(
      `${formatTable(rows)}\n\nMedians, in brackets the 10 % quantile; ${ROUNDS} rounds in turn${options.quick ? " (--quick)" : ""}. ` +
        `Node ${process.version}, ${cpu[0]?.model.trim() ?? "unknown CPU"} × ${cpu.length}, ${process.platform}, ${new Date().toISOString().slice(0, 10)}.\n`,
    );
    if (options.check && rows.some(({ isMissed }) => isMissed)) process.exitCode = 1;
  } finally {
    server.stop();
  }
} catch (error) {
  process.stderr.write(`bench: ${error instanceof Error ? error.stack : error}\n`);
  process.exitCode = 3;
} finally {
  fs.rmSync(top, { recursive: true, force: true });
}

/** Our own work is a turn's time without the round trip itself. */
async function measureTurns(server) {
  const random = makeRandom(7);
  const memoryDir = writeStore(top, inventMemories(MEMORIES));
  const { agent } = await open({ memoryDir, url: server.url });

  const say = async () => {
    const { ended, error } = await agent.say(inventPrompt(random));
    if (ended !== "done") throw new Error(error?.message ?? ended);
  };
  for (let messages = 0; messages < MESSAGES; messages += 2) await say();
  const { messages } = await readSession(agent.transcriptPath);
  const long = messages.map(({ role, content }) => ({
    role,
    content: content.map(({ text }) => ({ type: "text", text })),
  }));
  const times = await takeTurns(ROUNDS, {
    short: () => timed(() => askPlainly(server.url, [{ role: "user", content: "hello" }])),
    trip: () => timed(() => askPlainly(server.url, long)),
    turn: () => timed(say),
  });
  const own = times.turn.map((ms, i) => ms - times.trip[i]);
  agent.close();
  const what = `own work of a turn, ${MEMORIES} memories, ${MESSAGES} messages`;
  return [
    timeRow(what, own, "bare round trip with the same messages", times.trip, TARGETS.turn),
    timeRow("the same", own, 'bare round trip with "hello"', times.short),
  ];
}

/** System prompt, instructions, index and environment of a new session, and how many tokens each takes. */
async function measureContext() {
  const project = path.join(top, "context");
  const rules = path.join(project, ".claude", "rules");
  fs.mkdirSync(rules, { recursive: true });
  const words = "Some words about how we work here, and why it came to be so.\n".repeat(80);
  const files = Array.from({ length: RULES }, (_, i) => path.join(rules, `r${i}.md`));
  for (const file of files) fs.writeFileSync(file, `# ${path.basename(file)}\n\n${words}`);
  const memoryDir = writeStore(top, inventMemories(INDEXED));
  const { agent, memdir } = await open({ cwd: project, memoryDir, url: "http://127.0.0.1:9" });
  await memdir.rebuildIndex();
  await agent.window();
  files.push(path.join(memoryDir, "MEMORY.md"));
  const build = async () => {
    await agent.clear();
    return timed(() => agent.window());
  };
  const times = await takeTurns(ROUNDS, {
    read: () => timed(() => Promise.all(files.map((file) => fs.promises.readFile(file, "utf8")))),
    context: build,
  });
  return [
    timeRow(
      `context of a new session, ${RULES} instruction files of 5 KB`,
      times.context,
      "reading its files",
      times.read,
      TARGETS.context,
    ),
  ];
}

async function open({ cwd = top, memoryDir, url }) {
  const env = {
    PATH: process.env.PATH,
    HOME: path.join(top, "home"),
    MEMDIR_MANAGED_DIR: path.join(top, "managed"),
    MEMDIR_MODEL: "anthropic/claude-bench",
    ANTHROPIC_API_KEY: "sk-bench",
    ANTHROPIC_BASE_URL: url,
  };
  const memdir = await openMemdir({ cwd, memoryDir, env, ask: null });
  await memdir.warm();
  return { memdir, agent: await openAgent({ memdir, env }) };
}

async function askPlainly(url, messages) {
  const response = await fetch(`${url}/v1/messages`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": "sk-bench", "anthropic-version": "2023-06-01" },
    body: JSON.stringify({
      model: "claude-bench",
      max_tokens: 100,
      stream: true,
      messages,
    }),
  });
  if (!(await response.text()).includes("message_stop")) throw new Error("the server did not answer");
}

/** The tests' model server, in a process of its own: what it does is not our work. */
async function startServer() {
  const esbuild = await import("esbuild");
  const file = path.join(top, "server.mjs");
  await esbuild.build({
    stdin: {
      contents: `import { startModelServer } from "./model-server.ts";
        const server = await startModelServer();
        for (let i = 0; i < 20000; i++) server.queue({ text: "Noted." });
        process.send(server.url);
        process.on("disconnect", () => process.exit());`,
      resolveDir: path.resolve(import.meta.dirname, "../test/model-server"),
      loader: "ts",
    },
    bundle: true,
    platform: "node",
    format: "esm",
    outfile: file,
  });
  const child = fork(file, { stdio: ["ignore", "inherit", "inherit", "ipc"] });
  const url = await new Promise((resolve, reject) => {
    child.once("message", resolve);
    child.once("exit", () => reject(new Error("the model server did not start")));
  });
  return { url, stop: () => child.kill() };
}
