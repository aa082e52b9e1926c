#!/usr/bin/env node
// What learning costs beside another agent's turns: learn.mjs [--check] [--quick]. Needs dist/ and the packages for tests.
// What the offline extractor keeps of labelled conversations: learn.mjs --set FILE [--talk FILE], see learn-set.mjs.
// A stop without extraction in a fresh hook process, as a ratio to a bare `node`; and the tokens of one extraction.
// With --check it ends with 1 when a target is missed.
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { measureSets } from "./learn-set.mjs";
import { inventMemories, inventPrompt, makeRandom } from "./recall-invented.mjs";
import { writeStore } from "./recall-store.mjs";
import { formatTable, run, takeTurns, timeRow } from "./recall-timing.mjs";

const { values: options } = parseArgs({
  options: {
    check: { type: "boolean", default: false },
    quick: { type: "boolean", default: false },
    set: { type: "string", multiple: true },
    talk: { type: "string", multiple: true },
  },
});
if (options.set || options.talk) {
  process.stdout.write(`${await measureSets(options)}\n`);
  process.exit(0);
}
const MEMORIES = options.quick ? 100 : 1_000;
const STARTS = options.quick ? 11 : 41;
const TRANSCRIPT_BYTES = options.quick ? 500_000 : 5_000_000;
const MANIFEST_MEMORIES = 100;
const MESSAGES = 50;
const TARGET = 1.4;
/** As the budget counts it. */
const CACHED_SHARE = 0.1;

const dist = path.resolve(import.meta.dirname, "../dist");
const top = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "memdir-bench-learn-")));
fs.mkdirSync(path.join(top, "home"));

try {
  const rows = await measureStops();
  const cpu = os.cpus();
  process.stdout.write(
    `${formatTable(rows)}\n\nMedians, in brackets the 10 % quantile; ${STARTS} starts each, in turn${options.quick ? " (--quick)" : ""}. ` +
      `Node ${process.version}, ${cpu[0]?.model.trim() ?? "unknown CPU"} × ${cpu.length}, ${process.platform}, ${new Date().toISOString().slice(0, 10)}.\n\n` +
      `${await measureTokens()}\n`,
  );
  if (options.check && rows.some(({ isMissed }) => isMissed)) process.exitCode = 1;
} catch (error) {
  process.stderr.write(`bench: ${error instanceof Error ? error.stack : error}\n`);
  process.exitCode = 3;
} finally {
  fs.rmSync(top, { recursive: true, force: true });
}

/** The gates only: no process is started by any of them. */
async function measureStops() {
  const memory = writeStore(top, inventMemories(MEMORIES));
  const plain = writeTranscript("plain", []);
  const written = writeTranscript("written", [path.join(memory, "one.md")]);
  const idle = { cwd: top, env: hookEnv(memory), input: "{}" };
  const work = {
    node: () => run(["-e", "0"], idle).ms,
    "nothing new": () => {
      putCursor(memory, plain, plain.last);
      return stop(memory, plain, "nothing is new");
    },
    "a memory was written in the turn": () => {
      putCursor(memory, written, null);
      return stop(memory, written, "a memory was written");
    },
    "the daily budget is used up": () => {
      putCursor(memory, plain, null);
      spend(memory);
      return stop(memory, plain, "budget", { MEMDIR_MODEL: "anthropic/none" }, { tokensPerDay: 1 });
    },
    "learning is off": () => stop(memory, plain, null, { MEMDIR_LEARN: "off" }),
  };
  const { node, ...times } = await takeTurns(STARTS, work);
  const size = `${MEMORIES} memories, a transcript of ${(plain.bytes / 1e6).toFixed(1)} MB`;
  return Object.entries(times).map(([what, ms]) => timeRow(`a stop, ${what}; ${size}`, ms, "node -e 0", node, TARGET));
}

/** Must have come to that reason: another gate would be another time. */
function stop(memory, { file }, reason, more = {}, learn = {}) {
  fs.mkdirSync(path.join(top, "home", ".claude"), { recursive: true });
  fs.writeFileSync(path.join(top, "home", ".claude", "memdir.json"), JSON.stringify({ learn }));
  const ledger = path.join(memory, ".memdir", "ledger.jsonl");
  const input = JSON.stringify({ hook_event_name: "Stop", session_id: "x", transcript_path: file, cwd: top });
  const { ms, output } = run([path.join(dist, "hook.cjs")], { cwd: top, env: { ...hookEnv(memory), ...more }, input });
  const lines = fs.existsSync(ledger) ? fs.readFileSync(ledger, "utf8").trim().split("\n") : [];
  const skipped = JSON.parse(lines.at(-1) ?? "{}").skipped ?? "nothing";
  if (output !== "" || (reason !== null && !skipped.includes(reason))) throw new Error(`skipped because ${skipped}`);
  // A ledger that grows would be another measurement at the end than at the start.
  if (lines.length > 50) fs.rmSync(ledger);
  return ms;
}

/** Nothing that a person's shell adds: NODE_EXTRA_CA_CERTS alone costs Node 20 some 50 ms. */
function hookEnv(memory) {
  return { PATH: process.env.PATH ?? "", HOME: path.join(top, "home"), MEMDIR_MEMORY_DIR: memory };
}

function spend(memory) {
  const usage = { input: 9, output: 9, cacheRead: 0, cacheWrite: 0 };
  const call = { at: new Date().toISOString(), kind: "extraction", session: null, model: "m", usage, produced: "" };
  fs.appendFileSync(path.join(memory, ".memdir", "ledger.jsonl"), `${JSON.stringify({ ...call, skipped: null })}\n`);
}

function putCursor(memory, { session }, message) {
  const folder = path.join(memory, ".memdir", "cursors");
  fs.mkdirSync(folder, { recursive: true });
  const file = path.join(folder, `${session}.json`);
  if (message === null) fs.rmSync(file, { force: true });
  else fs.writeFileSync(file, JSON.stringify({ message, at: new Date().toISOString() }));
}

/** As Claude Code leaves it: prompts, calls with long results, answers; the last turn's calls write `files`. */
function writeTranscript(name, files) {
  const session = `bench-session-${name}`;
  const file = path.join(top, `${session}.jsonl`);
  const lines = [];
  let bytes = 0;
  let count = 0;
  let prompt = "";
  const add = (type, content) => {
    const uuid = `00000000-0000-4000-8000-${String(++count).padStart(12, "0")}`;
    const parentUuid = count === 1 ? null : `00000000-0000-4000-8000-${String(count - 1).padStart(12, "0")}`;
    const message = { role: type, content, ...(type === "assistant" && { id: `msg_${count}`, model: "m" }) };
    const timestamp = new Date(Date.UTC(2026, 2, 10) + count * 1000).toISOString();
    const line = JSON.stringify({ type, uuid, parentUuid, isSidechain: false, timestamp, sessionId: session, message });
    lines.push(line);
    bytes += line.length;
    return uuid;
  };
  const random = makeRandom(5);
  const takeTurn = (calls) => {
    prompt = add("user", inventPrompt(random));
    for (const [i, input] of calls.entries()) {
      const id = `toolu_${count}_${i}`;
      add("assistant", [{ type: "tool_use", id, name: input.content ? "Write" : "Read", input }]);
      add("user", [{ type: "tool_result", tool_use_id: id, content: "A line of a file that was read.\n".repeat(120) }]);
    }
    add("assistant", [{ type: "text", text: "That is done." }]);
  };
  while (bytes < TRANSCRIPT_BYTES) takeTurn(Array.from({ length: 8 }, (_, i) => ({ file_path: `/src/file-${i}.ts` })));
  takeTurn([
    ...Array.from({ length: 8 }, (_, i) => ({ file_path: `/src/file-${i}.ts` })),
    ...files.map((file_path) => ({ file_path, content: "text" })),
  ]);
  fs.writeFileSync(file, `${lines.join("\n")}\n`);
  return { file, session, bytes, last: `${prompt}.${(8 + files.length) * 2 + 1}` };
}

/** One extraction that reads a memory, writes two and ends, of the same conversation in both ways. */
async function measureTokens() {
  const kit = await bundleKit();
  const rows = [];
  for (const way of ["the forked conversation", "the transcript as text"]) {
    rows.push({ way, ...(await extractOnce(kit, way === "the forked conversation")) });
  }
  const number = (value) => Math.round(value).toLocaleString("en-US");
  return [
    `One extraction from ${MESSAGES} messages with a manifest of ${MANIFEST_MEMORIES} memories, ${rows[0].requests} requests:`,
    "",
    "| what the model is shown | request bytes | tokens sent | of them cached | tokens as the budget counts them |",
    "| --- | ---: | ---: | ---: | ---: |",
    ...rows.map(
      ({ way, bytes, tokens, cached }) =>
        `| ${way} | ${number(bytes)} | ${number(tokens)} | ${number(cached)} | ${number(tokens - cached + cached * CACHED_SHARE)} |`,
    ),
    "",
    "Bytes as the model server received them; tokens by our own approximation. Cached: what an earlier request began with.",
  ].join("\n");
}

async function extractOnce(kit, asFork) {
  const server = await kit.startModelServer();
  try {
    const memory = writeStore(top, inventMemories(MANIFEST_MEMORIES));
    const env = {
      ...hookEnv(memory),
      MEMDIR_MEANING: "0",
      MEMDIR_MODEL: "anthropic/claude-bench",
      ANTHROPIC_API_KEY: "sk-bench",
      ANTHROPIC_BASE_URL: server.url,
    };
    const memdir = await kit.openMemdir({ cwd: top, env, ask: null });
    const model = kit.openModel(env);
    const session = await talk(kit, { memdir, env, server, memory });
    const earlier = asFork ? [server.requests.at(-1)] : [];
    const before = server.requests.length;
    const names = fs.readdirSync(memory).filter((name) => name.endsWith(".md") && name !== "MEMORY.md");
    const write = (n) => ({
      name: "Write",
      input: { file_path: path.join(memory, `new_${n}.md`), content: noteOf(n) },
    });
    server.queue(
      { tools: [{ name: "Read", input: { file_path: path.join(memory, names[0]) } }] },
      { tools: [write(1), write(2)] },
      { text: "Kept two memories." },
    );
    const messages = kit.hearMessages(session.messages, session.prompts);
    const learning = kit.openLearning(memdir);
    const extractor = kit.openExtractor(learning, () => model);
    const { conversation } = session;
    const request = { session: session.id, messages, ...(asFork && { conversation }) };
    const result = await kit.learn(learning, extractor, request);
    if (result.saved.length !== 2) throw new Error(`kept ${result.saved.length}: ${JSON.stringify(result)}`);
    return count(kit, server.requests.slice(before), earlier);
  } finally {
    await server.close();
  }
}

/** An agent's session of so many messages, and the conversation as it was sent last. */
async function talk(kit, { memdir, env, server }) {
  const model = kit.openModel(env);
  let sent = null;
  const ask = (request) => {
    sent = request;
    return model.ask(request);
  };
  const agent = await kit.openAgent({ memdir, env, model: { ...model, ask }, learn: false });
  const random = makeRandom(3);
  for (let i = 0; i < MESSAGES; i += 2) {
    server.queue({ text: `${inventPrompt(random)}. `.repeat(12) });
    const { ended, error } = await agent.say(`${inventPrompt(random)}; never do it the other way. `.repeat(2));
    if (ended !== "done") throw new Error(error?.message ?? ended);
  }
  const session = await kit.readSession(agent.transcriptPath);
  await agent.close();
  const { system, tools, messages } = sent;
  const conversation = { system, tools, messages: [...messages, session.messages.at(-1)], sent: messages.length };
  return { ...session, conversation };
}

function noteOf(n) {
  const cues = [1, 2, 3, 4, 5, 6].map((cue) => `  - a situation number ${cue} in other words`).join("\n");
  const body = `Rule ${n}.\n\n**Why:** it was said so.\n**How to apply:** before every release.`;
  return `---\nname: rule ${n}\ndescription: What holds for case ${n}\ntype: project\nwhen:\n${cues}\nsource: m1\n---\n\n${body}\n`;
}

/** @param {any[]} requests @param {any[]} earlier */
function count(kit, requests, earlier) {
  const seen = earlier.map(textOf);
  const sum = { requests: requests.length, bytes: 0, tokens: 0, cached: 0 };
  for (const request of requests) {
    const text = textOf(request);
    const shared = Math.max(0, ...seen.map((other) => sharedLength(text, other)));
    sum.bytes += Buffer.byteLength(request.raw);
    sum.tokens += kit.approximateTokens(text);
    sum.cached += kit.approximateTokens(text.slice(0, shared));
    seen.push(text);
  }
  return sum;
}

/** In the order in which a provider caches it. Marks for its cache are no part of it. */
function textOf({ body: { tools = [], system = [], messages } }) {
  return JSON.stringify([tools, system, messages], (key, value) => (key === "cache_control" ? undefined : value));
}

function sharedLength(a, b) {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length++;
  return length;
}

/** Parts of the program that are no part of its public face, and the tests' model server. */
async function bundleKit() {
  const esbuild = await import("esbuild");
  const file = path.join(top, "kit.mjs");
  fs.symlinkSync(path.resolve(import.meta.dirname, "../node_modules"), path.join(top, "node_modules"));
  await esbuild.build({
    stdin: {
      contents: `export { startModelServer } from "./test/model-server/model-server.ts";
        export { approximateTokens } from "./src/model/cost.ts";
        export { learn } from "./src/learn/learn.ts";
        export { hearMessages } from "./src/session/heard.ts";
        export { openMemdir } from "./src/open.ts";
        export { openAgent, openModel } from "./src/open-agent.ts";
        export { openExtractor, openLearning } from "./src/open-learn.ts";
        export { readSession } from "./src/session/session-reader.ts";`,
      resolveDir: path.resolve(import.meta.dirname, ".."),
      loader: "ts",
    },
    bundle: true,
    packages: "external",
    platform: "node",
    format: "esm",
    outfile: file,
  });
  return import(pathToFileURL(file).href);
}
