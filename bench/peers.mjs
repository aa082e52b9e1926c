// memdir beside server-memory, mem0ai and qmd on the same memories and prompts: npm run bench:peers [-- --set FILE] [-- --json].
// They are installed from npm into a cache outside the repository (MEMDIR_PEERS_CACHE, else ~/.cache/memdir-peers), at these versions.
// No network but the registry is used. mem0ai gets its vectors from a server on loopback with the plain MiniLM that memdir's own is
// made from, and no language model (infer: false); qmd searches by words, since its models are downloads of gigabytes.
import { spawn, spawnSync } from "node:child_process";
import fs from "node:fs";
import http from "node:http";
import os from "node:os";
import path from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";

const SELF = fileURLToPath(import.meta.url);
const ROOT = path.resolve(path.dirname(SELF), "..");
const CACHE = process.env.MEMDIR_PEERS_CACHE || path.join(os.homedir(), ".cache", "memdir-peers");
const PEERS = {
  memdir: null,
  "server-memory": "@modelcontextprotocol/server-memory@2026.8.31",
  mem0ai: "mem0ai@3.3.1",
  qmd: "@tobilu/qmd@2.8.3",
};
/** qmd does not run on Node 20. */
const NEWER_NODE = "node@22.23.3";
/** What a host would show at most. */
const MOST = 5;
/** Of each of two processes that save into one store at the same time. */
const WRITES = 50;
const ROUNDS = 5;
/** A cache that does not grow for this long is complete. */
const SETTLED_MS = 3000;
/** mem0 and qmd want a name for what belongs together. */
const OWNER = "bench";

const { values } = parseArgs({
  options: {
    set: { type: "string", default: path.join(path.dirname(SELF), "peers-set.json") },
    only: { type: "string", multiple: true },
    json: { type: "boolean", default: false },
    // What a process of one peer is told by the process that measures.
    peer: { type: "string" },
    phase: { type: "string" },
    store: { type: "string" },
    writer: { type: "string", default: "0" },
    vectors: { type: "string", default: "" },
  },
});

// --- The process that measures.

async function compare() {
  const top = fs.mkdtempSync(path.join(os.tmpdir(), "memdir-peers-"));
  const { url, close } = await serveVectors();
  const rows = {};
  try {
    const node = await install("node", NEWER_NODE);
    for (const peer of values.only ?? Object.keys(PEERS)) {
      try {
        rows[peer] = await measure(peer, path.join(top, peer), url, node);
      } catch (error) {
        rows[peer] = { problem: String(error.message).split("\n").slice(0, 3).join(" ") };
      }
      process.stderr.write(`${peer}: ${rows[peer].problem ?? "measured"}\n`);
    }
  } finally {
    close();
    fs.rmSync(top, { recursive: true, force: true });
  }
  process.stdout.write(values.json ? `${JSON.stringify(rows, null, 2)}\n` : `${tableOf(rows).join("\n")}\n`);
}

async function measure(peer, store, vectors, node) {
  const folder = await install(peer, PEERS[peer]);
  const program = peer === "qmd" ? path.join(node, "node_modules", ".bin", "node") : process.execPath;
  fs.mkdirSync(store, { recursive: true });
  const run = (phase, more = []) =>
    runWorker(program, ["--peer", peer, "--phase", phase, "--store", store, "--vectors", vectors, ...more]);
  const { saveMs } = await run("save");
  const { recallMs, answers } = await run("recall");
  const firsts = [];
  for (let round = 0; round < ROUNDS; round++) firsts.push(await run("first"));
  const again = path.join(path.dirname(store), `${peer}-two`);
  fs.mkdirSync(again);
  const two = ["0", "1"].map((writer) => run("write", ["--store", again, "--writer", writer]));
  const ended = await Promise.allSettled(two);
  const { kept } = await run("count", ["--store", again]);
  const refused = ended.reduce((sum, each) => sum + (each.value?.refused ?? WRITES), 0);
  return {
    size: sizeOf(path.join(folder, "node_modules")) / 2 ** 20,
    ...{ saveMs, recallMs, startMs: median(firsts.map(({ ms }) => ms)), mb: median(firsts.map(({ mb }) => mb)) },
    ...judge(answers),
    lost: { kept, refused, of: 2 * WRITES },
  };
}

/** From the cache where it is there. memdir itself is packed and installed each time. */
async function install(name, what) {
  const folder = path.join(CACHE, `${name}-${what ? what.split("@").at(-1) : "here"}`);
  if (what && fs.existsSync(path.join(folder, "complete"))) return folder;
  fs.rmSync(folder, { recursive: true, force: true });
  fs.mkdirSync(folder, { recursive: true });
  fs.writeFileSync(path.join(folder, "package.json"), '{ "private": true }\n');
  let wanted = what;
  if (!what) {
    const packed = spawnSync("npm", ["pack", "--silent", "--pack-destination", folder], {
      cwd: ROOT,
      encoding: "utf8",
    });
    wanted = path.join(folder, packed.stdout.trim().split("\n").at(-1));
  }
  const flags = ["--no-audit", "--no-fund", "--prefer-offline", "--loglevel=error"];
  const ran = spawnSync("npm", ["install", ...flags, wanted], { cwd: folder, encoding: "utf8" });
  if (ran.status !== 0) throw new Error(`cannot be installed: ${ran.stderr.trim()}`);
  fs.writeFileSync(path.join(folder, "complete"), "");
  return folder;
}

function runWorker(program, args) {
  const home = path.join(args[args.indexOf("--store") + 1], "home");
  const env = {
    ...process.env,
    MEMDIR_PEERS_CACHE: CACHE,
    HOME: home,
    XDG_CACHE_HOME: "",
    MEM0_TELEMETRY: "false",
    OPENAI_API_KEY: "none",
  };
  const child = spawn(program, [SELF, "--set", path.resolve(values.set), ...args], {
    ...{ env, stdio: ["ignore", "pipe", "pipe"] },
  });
  const [out, err] = [[], []];
  child.stdout.on("data", (data) => out.push(data));
  child.stderr.on("data", (data) => err.push(data));
  return new Promise((resolve, reject) => {
    child.on("close", (code) => {
      const last = Buffer.concat(out).toString().trim().split("\n").at(-1);
      if (code === 0 && last?.startsWith("{")) resolve(JSON.parse(last));
      else
        reject(new Error(Buffer.concat(err).toString().trim().split("\n").slice(-8).join("\n") || `exit code ${code}`));
    });
  });
}

/** Embeddings in OpenAI's form: the public MiniLM, without memdir's tuning. */
async function serveVectors() {
  const { build } = await import("esbuild");
  const outfile = path.join(ROOT, "node_modules", ".cache", "peers-minilm.mjs");
  const contents =
    'export { openMiniLm } from "./src/meaning/minilm.ts"; export { findModelDir } from "./src/meaning/meaning.ts";';
  await build({
    ...{ stdin: { contents, resolveDir: ROOT }, outfile, bundle: true, format: "esm", platform: "node" },
    logLevel: "silent",
  });
  const { openMiniLm, findModelDir } = await import(pathToFileURL(outfile).href);
  const embed = openMiniLm(findModelDir());
  const server = http.createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const { input, encoding_format: form } = JSON.parse(Buffer.concat(chunks).toString());
    const data = [input].flat().map((text, index) => {
      const vector = Float32Array.from(embed(text));
      const bytes = Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength);
      return { object: "embedding", index, embedding: form === "base64" ? bytes.toString("base64") : [...vector] };
    });
    response.setHeader("content-type", "application/json");
    response.end(
      JSON.stringify({ object: "list", model: "minilm", data, usage: { prompt_tokens: 1, total_tokens: 1 } }),
    );
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${server.address().port}/v1`, close: () => server.close() };
}

/** The setting that is best for the peer on these very prompts: how many are shown, and from which score on. */
function judge(answers) {
  const { prompts } = readSet();
  const scores = [...new Set(answers.flat().map(({ score }) => score))].sort((a, b) => a - b);
  const step = Math.max(1, Math.floor(scores.length / 200));
  const bars = [Number.NEGATIVE_INFINITY, ...scores.filter((_, index) => index % step === 0)];
  const settings = bars.flatMap((bar) => [1, 3, MOST].map((most) => ({ bar, most })));
  const results = settings.map(({ bar, most }) => {
    let [right, shown, wanted, silent, idle] = [0, 0, 0, 0, 0];
    for (const [index, { relevant }] of prompts.entries()) {
      const names = answers[index]
        .filter(({ score }) => score >= bar)
        .slice(0, most)
        .map(({ name }) => name);
      right += names.filter((name) => relevant.includes(name)).length;
      shown += names.length;
      wanted += relevant.length;
      idle += relevant.length === 0 ? 1 : 0;
      silent += relevant.length === 0 && names.length === 0 ? 1 : 0;
    }
    const [found, precise] = [right / wanted, shown === 0 ? 0 : right / shown];
    return {
      found,
      precise,
      quiet: silent / idle,
      f1: found + precise === 0 ? 0 : (2 * found * precise) / (found + precise),
    };
  });
  const best = results.reduce((a, b) => (b.f1 > a.f1 ? b : a));
  return { found: best.found, precise: best.precise, quiet: best.quiet };
}

function tableOf(rows) {
  const peers = Object.keys(rows);
  const percent = (value) => `${Math.round(value * 100)} %`;
  const lines = [
    ["installed", ({ size }) => `${Math.round(size)} MB`],
    ["process start to the first answer", ({ startMs }) => `${Math.round(startMs)} ms`],
    ["memory of that process", ({ mb }) => `${Math.round(mb)} MB`],
    ["one save", ({ saveMs }) => `${saveMs.toFixed(1)} ms`],
    ["one recall", ({ recallMs }) => `${recallMs.toFixed(1)} ms`],
    ["right memories found", ({ found }) => percent(found)],
    ["of what is shown, right", ({ precise }) => percent(precise)],
    ["prompts that need nothing get nothing", ({ quiet }) => percent(quiet)],
    [
      "two processes saving at once",
      ({ lost: { kept, refused, of } }) =>
        `${kept} of ${of} kept${refused > 0 ? `, ${refused} refused with an error` : ""}`,
    ],
  ];
  const cell = (row, say) => (row.problem ? "—" : say(row));
  const { memories, prompts } = readSet();
  return [
    `| | ${peers.map((peer) => (PEERS[peer] ? `${peer} ${PEERS[peer].split("@").at(-1)}` : peer)).join(" | ")} |`,
    `|---|${peers.map(() => "---:|").join("")}`,
    ...lines.map(([title, say]) => `| ${title} | ${peers.map((peer) => cell(rows[peer], say)).join(" | ")} |`),
    "",
    `${memories.length} memories, ${prompts.length} prompts. Node ${process.version}, ${os.cpus().length} × ${os.cpus()[0].model}.`,
    ...peers.flatMap((peer) =>
      rows[peer].problem ? ["", `${peer} could not be measured: ${rows[peer].problem}`] : [],
    ),
  ];
}

function sizeOf(folder) {
  const entries = fs.readdirSync(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return files.reduce((sum, { parentPath, name }) => sum + fs.statSync(path.join(parentPath, name)).size, 0);
}

function median(numbers) {
  return numbers.toSorted((a, b) => a - b)[numbers.length >> 1];
}

// --- The process of one peer.

async function work() {
  const { peer, phase, store } = values;
  fs.mkdirSync(path.join(store, "home"), { recursive: true });
  const { memories, prompts } = readSet();
  const desk = await OPEN[peer](store);
  const say = (result) => process.stdout.write(`${JSON.stringify(result)}\n`);
  if (phase === "save") {
    const started = performance.now();
    for (const memory of memories) await desk.save(memory);
    const saveMs = (performance.now() - started) / memories.length;
    await desk.settle?.();
    say({ saveMs });
  } else if (phase === "recall") {
    await desk.recall("to be warm");
    const answers = [];
    const started = performance.now();
    for (const { prompt } of prompts) answers.push(await desk.recall(prompt));
    say({ recallMs: (performance.now() - started) / prompts.length, answers });
  } else if (phase === "first") {
    await desk.recall(prompts[0].prompt);
    // Since the process was started, with everything that it loaded.
    say({ ms: performance.now(), mb: desk.mb?.() ?? process.resourceUsage().maxRSS / 1024 });
  } else if (phase === "write") {
    let refused = 0;
    for (let index = 0; index < WRITES; index++) {
      const name = `Writer ${values.writer} note ${index}`;
      await desk.save({ name, type: "project", body: `${name} says ${index * 7}.` }).catch(() => refused++);
    }
    say({ refused });
  } else say({ kept: await desk.count() });
  await desk.close?.();
  process.exit(0);
}

function readSet() {
  const { memories, prompts, queries } = JSON.parse(fs.readFileSync(values.set, "utf8"));
  if (prompts) return { memories, prompts };
  // The form of the development sets of recall: known by file name, with a description of their own.
  return {
    memories: memories.map(({ filename, type, name, description, body }) => ({
      ...{ name: filename, type, title: name, description, body },
    })),
    prompts: queries.map(({ q, relevant }) => ({ prompt: q, relevant })),
  };
}

function textOf({ title, name, description, body }) {
  return [title ?? name, description, body].filter(Boolean).join("\n");
}

/** What a careful user would search for where every word must occur: the prompt's words without the small ones. */
const SMALL = new Set(
  "the and for that this with are was you can how what why where which when does from have has not but all any our out get put use into than then there here they them will would could should shall maybe again".split(
    " ",
  ),
);

function wordsOf(prompt) {
  const words = prompt.toLowerCase().match(/[\p{L}\p{N}_.-]{3,}/gu) ?? [];
  return [...new Set(words.map((word) => word.replace(/^[.-]+|[.-]+$/g, "")))].filter(
    (word) => word && !SMALL.has(word),
  );
}

/** One search for each word, added up: better than one for the whole prompt wherever that must match as a whole. */
async function byWords(prompt, search) {
  const sums = new Map();
  for (const word of wordsOf(prompt))
    for (const { name, score } of await search(word)) sums.set(name, (sums.get(name) ?? 0) + score);
  const all = [...sums].map(([name, score]) => ({ name, score }));
  return all.sort((a, b) => b.score - a.score).slice(0, MOST);
}

function moduleOf(peer, file) {
  const folder = fs.readdirSync(CACHE).find((name) => name.startsWith(`${peer}-`));
  return pathToFileURL(path.join(CACHE, folder, "node_modules", file)).href;
}

const OPEN = {
  async memdir(store) {
    const { openMemdir } = await import(moduleOf("memdir", "memdir/dist/index.js"));
    const memdir = await openMemdir({ cwd: store, memoryDir: path.join(store, "memories") });
    const names = new Map((await memdir.list()).map(({ file, name }) => [file, name]));
    return {
      save: ({ name, type, title, description, body }) =>
        memdir.save({ type, name, description: description ?? title ?? name, body }),
      async recall(prompt) {
        const { memories } = await memdir.recall(prompt);
        // What it would not show is not in its answer: there is nothing to choose a setting from.
        return memories.map(({ file, name }) => ({ name: name ?? names.get(file), score: 1 }));
      },
      count: async () => (await memdir.list()).length,
      // Vectors are made after a save has returned; until then recall goes by words.
      async settle() {
        const size = () =>
          fs.statSync(path.join(store, "memories", ".memdir", "rows.bin"), { throwIfNoEntry: false })?.size;
        for (let before = -1; before !== size(); ) {
          before = size();
          await new Promise((resolve) => setTimeout(resolve, SETTLED_MS));
        }
      },
    };
  },

  async "server-memory"(store) {
    const program = fileURLToPath(moduleOf("server-memory", "@modelcontextprotocol/server-memory/dist/index.js"));
    const env = { ...process.env, MEMORY_FILE_PATH: path.join(store, "memory.jsonl") };
    const child = spawn(process.execPath, [program], { env, stdio: ["pipe", "pipe", "ignore"] });
    const waiting = new Map();
    createInterface({ input: child.stdout }).on("line", (line) => {
      const { id, result, error } = JSON.parse(line);
      const { resolve, reject } = waiting.get(id) ?? {};
      if (error || result?.isError) reject?.(new Error(JSON.stringify(error ?? result.content)));
      else resolve?.(result);
    });
    let last = 0;
    const send = (message) => child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
    const ask = (method, params) =>
      new Promise((resolve, reject) => {
        waiting.set(++last, { resolve, reject });
        send({ id: last, method, params });
      });
    const call = async (name, input) => (await ask("tools/call", { name, arguments: input })).structuredContent;
    const clientInfo = { name: "bench", version: "1" };
    await ask("initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo });
    send({ method: "notifications/initialized" });
    return {
      save: ({ name, type, title, description, body }) =>
        call("create_entities", {
          entities: [{ name, entityType: type, observations: [title, description, body].filter(Boolean) }],
        }),
      recall: (prompt) =>
        byWords(prompt, async (query) =>
          (await call("search_nodes", { query })).entities.map(({ name }) => ({ name, score: 1 })),
        ),
      count: async () => (await call("read_graph", {})).entities.length,
      mb: () => Number(/VmHWM:\s+(\d+)/.exec(fs.readFileSync(`/proc/${child.pid}/status`, "utf8"))?.[1]) / 1024,
      close: () => child.kill(),
    };
  },

  async mem0ai(store) {
    const { Memory } = await import(moduleOf("mem0ai", "mem0ai/dist/oss/index.mjs"));
    const openai = { apiKey: "none", baseURL: values.vectors };
    const memory = new Memory({
      embedder: { provider: "openai", config: { ...openai, model: "minilm", embeddingDims: 384 } },
      vectorStore: {
        provider: "memory",
        config: { collectionName: "bench", dimension: 384, dbPath: path.join(store, "vectors.db") },
      },
      llm: { provider: "openai", config: { ...openai, model: "none" } },
      historyDbPath: path.join(store, "history.db"),
    });
    const filters = { user_id: OWNER };
    return {
      save: (each) => memory.add(textOf(each), { userId: OWNER, infer: false, metadata: { name: each.name } }),
      async recall(prompt) {
        const { results } = await memory.search(prompt, { filters, topK: MOST, threshold: 0 });
        return results.map(({ metadata, score }) => ({ name: metadata?.name, score: score ?? 0 }));
      },
      count: async () => (await memory.getAll({ filters, topK: 1000 })).results.length,
    };
  },

  async qmd(store) {
    const { createStore } = await import(moduleOf("qmd", "@tobilu/qmd/dist/index.js"));
    const folder = path.join(store, "notes");
    fs.mkdirSync(folder, { recursive: true });
    const config = { collections: { notes: { path: folder, pattern: "**/*.md" } } };
    const qmd = await createStore({ dbPath: path.join(store, "index.sqlite"), config });
    const fileOf = (name) => `${name.replace(/\.md$/, "").replace(/\W+/g, "-").toLowerCase()}.md`;
    const nameOf = new Map(readSet().memories.map(({ name }) => [fileOf(name), name]));
    return {
      async save(each) {
        fs.writeFileSync(path.join(folder, fileOf(each.name)), `# ${each.title ?? each.name}\n\n${textOf(each)}\n`);
        await qmd.update();
      },
      async recall(prompt) {
        const found = await byWords(prompt, async (word) =>
          (await qmd.searchLex(word, { limit: MOST * 2 })).map((hit) => ({
            name: hit.displayPath ?? hit.filepath,
            score: hit.score,
          })),
        );
        return found.map(({ name, score }) => ({ name: nameOf.get(path.basename(name).replaceAll("_", "-")), score }));
      },
      count: async () => (await qmd.getStatus()).totalDocuments,
      close: () => qmd.close(),
    };
  },
};

if (values.peer) await work();
else await compare();
