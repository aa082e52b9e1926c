// What memdir adds in the real clients: from a prompt's writing, or a tool call's, to the model request that follows it, on loopback.
import { spawn, spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import { findClient } from "../scripts/install-clients.mjs";
import { median, quantile } from "./recall-timing.mjs";

const root = path.resolve(import.meta.dirname, "..");
/** As people write them: 5 to 20 words. */
export const PROMPTS = [
  "why does the nightly build fail on the second runner?",
  "add a retry to the payment webhook, and log each attempt",
  "rename the session cookie in the login handler",
  "what did we decide about the size of the connection pool in src/db/pool.ts?",
  "write a test for the invoice export that covers two currencies",
  "the dashboard shows the wrong week after the clocks change, can you find out why and fix it?",
  "deploy this branch to staging",
  "which queue do we use for emails, and how are failed jobs retried?",
  "clean up the imports in this file",
  "make the search index rebuild in the background so that the upload page does not wait for it",
];
/** A client that has answered still has work to do; the next prompt is not to wait for that. */
const REST_MS = 60;

/**
 * Rounds of one prompt with one tool call in each arm in turn, and a bare `node` between them. `store`: the memories; `only`: a client's name, `arm`: how it is wired, "" for all.
 * @returns {Promise<{ what: string, found: string, target: string, isMissed: boolean }[]>}
 */
export async function measureClients({ top, store, timeNode, rounds, only = "", arm = "" }) {
  const { startModelServer } = await loadModelServer(top);
  const rows = [];
  for (const client of [CLAUDE, CODEX, OPENCODE].filter(({ name }) => only === "" || name === only)) {
    const program = findClient(client.name);
    if (!program) {
      process.stderr.write(`${client.name} is not installed: node scripts/install-clients.mjs\n`);
      continue;
    }
    const server = await startModelServer({ aside: ({ body }) => (body?.tools?.length ? null : { text: "A title" }) });
    const arms = {};
    try {
      const names = client.arms.filter((name) => name === "bare" || arm === "" || name === arm);
      for (const name of names) arms[name] = await openArm({ client, program, arm: name, server, top, store });
      // Two at a time: of three, the one in the middle would never come twice in a row, which is when a client is fastest.
      for (const name of names.slice(1))
        rows.push(...(await takeRounds(client, { bare: arms.bare, [name]: arms[name] }, { server, rounds, timeNode })));
    } finally {
      for (const arm of Object.values(arms)) arm.close();
      await server.close();
    }
  }
  return rows;
}

async function takeRounds(client, arms, { server, rounds, timeNode }) {
  const node = [];
  const times = Object.fromEntries(Object.keys(arms).map((arm) => [arm, { prompt: [], tool: [] }]));
  for (let round = -3; round < rounds; round++) {
    const names = Object.keys(arms);
    if (round >= 0) node.push(timeNode());
    for (const name of round % 2 === 0 ? names : names.reverse()) {
      const { prompt, tool } = await askOnce(client, arms[name], server, PROMPTS[(round + 3) % PROMPTS.length]);
      await new Promise((done) => setTimeout(done, REST_MS));
      if (round < 0) continue;
      times[name].prompt.push(prompt);
      times[name].tool.push(tool);
    }
  }
  const measured = client.rows.filter(([, arm]) => Object.hasOwn(arms, arm));
  return measured.map(([what, arm, kind, target]) => {
    const over = (share) => quantile(times[arm][kind], share) - quantile(times.bare[kind], share);
    const ratio = over(0.5) / median(node);
    return {
      what,
      value: `+${over(0.5).toFixed(1)} (+${over(0.1).toFixed(1)}) ms`,
      against: "node -e 0",
      other: `${median(node).toFixed(1)} (${quantile(node, 0.1).toFixed(1)}) ms`,
      found: `${ratio.toFixed(2)}× (${(over(0.1) / quantile(node, 0.1)).toFixed(2)}×)`,
      target: target === null ? "" : `≤ ${target}×`,
      isMissed: target !== null && ratio > target,
    };
  });
}

/** In milliseconds: from the prompt to the first request, and from the call of a tool to the second. */
async function askOnce(client, arm, server, prompt) {
  const now = () => performance.now();
  let [asked, answered, again] = [0, 0, 0];
  server.queue(
    () => {
      asked = now();
      answered = now();
      return { tools: [client.call] };
    },
    () => {
      again = now();
      return { text: "Done." };
    },
  );
  const started = now();
  await arm.say(prompt);
  return { prompt: asked - started, tool: again - answered };
}

/** The tests' own, which speaks every client's protocol. */
async function loadModelServer(top) {
  const outfile = path.join(top, "model-server.mjs");
  const entryPoints = [path.join(root, "test/model-server/model-server.ts")];
  await build({ entryPoints, outfile, bundle: true, format: "esm", platform: "node", logLevel: "silent" });
  return import(pathToFileURL(outfile).href);
}

/** A home of its own; wired by `memdir init` unless it is bare. */
async function openArm({ client, program, arm, server, top, store }) {
  const home = path.join(top, `${client.name}-${arm}`);
  const project = path.join(home, "project");
  fs.mkdirSync(project, { recursive: true });
  fs.writeFileSync(path.join(project, "a.txt"), "text\n");
  const put = (file, text) => {
    fs.mkdirSync(path.dirname(path.join(home, file)), { recursive: true });
    fs.writeFileSync(path.join(home, file), text);
  };
  const line = [program.program, ...program.args].map((part) => `"${part}"`).join(" ");
  put(`bin/${client.program}`, `#!/bin/sh\nexec ${line} "$@"\n`);
  fs.chmodSync(path.join(home, "bin", client.program), 0o755);
  const PATH = `${path.join(home, "bin")}${path.delimiter}${process.env.PATH}`;
  const env = { PATH, HOME: home, MEMDIR_MEMORY_DIR: store, MEMDIR_LEARN: "off", ...client.env(server) };
  client.prepare(put, server);
  if (arm !== "bare") {
    const args = ["init", "--yes", "--agent", client.agent, ...(arm === "command" ? ["--hooks", "command"] : [])];
    const { status, stderr } = spawnSync(process.execPath, [path.join(root, "dist/cli.js"), ...args], {
      cwd: project,
      env,
      encoding: "utf8",
    });
    if (status !== 0) throw new Error(`memdir init failed for ${client.name}: ${stderr}`);
    if (arm === "instant") {
      const file = path.join(home, client.serverFile);
      const instant = path.join(root, "bench/doors-instant.mjs");
      fs.writeFileSync(file, fs.readFileSync(file, "utf8").replace(path.join(root, "dist/cli.js"), instant));
    }
  }
  return client.open(program, { cwd: project, env });
}

/** A client's process with lines of JSON on its streams. */
function talk({ program, args }, more, { cwd, env }, onMessage) {
  const child = spawn(program, [...args, ...more], { cwd, env, stdio: ["pipe", "pipe", "ignore"] });
  createInterface({ input: child.stdout }).on("line", (line) => {
    try {
      onMessage(JSON.parse(line));
    } catch {
      // Not every line is a message.
    }
  });
  return { send: (message) => child.stdin.write(`${JSON.stringify(message)}\n`), close: () => child.kill("SIGKILL") };
}

const CLAUDE = {
  name: "claude-code",
  agent: "claude-code",
  program: "claude",
  serverFile: ".claude.json",
  arms: ["bare", "instant", "server", "command"],
  rows: [
    ["Claude Code: a prompt, a server that answers nothing at once", "instant", "prompt", null],
    ["Claude Code: a prompt through the server", "server", "prompt", 0.5],
    ["Claude Code: a tool call through the server", "server", "tool", 0.4],
    ["Claude Code: a prompt by a command", "command", "prompt", null],
    ["Claude Code: a tool call by a command", "command", "tool", null],
  ],
  call: { name: "Read", input: { file_path: "a.txt" } },
  env: (server) => ({
    ANTHROPIC_BASE_URL: server.url,
    ANTHROPIC_API_KEY: "sk-bench",
    DISABLE_TELEMETRY: "1",
    DISABLE_AUTOUPDATER: "1",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    IS_SANDBOX: "1",
  }),
  prepare: () => {},
  open(program, place) {
    let onResult = () => {};
    const flags = ["--input-format", "stream-json", "--output-format", "stream-json", "--verbose"];
    const args = ["-p", ...flags, "--dangerously-skip-permissions"];
    const client = talk(program, args, place, ({ type }) => type === "result" && onResult());
    return {
      close: client.close,
      say: (content) =>
        new Promise((done) => {
          onResult = done;
          client.send({ type: "user", message: { role: "user", content } });
        }),
    };
  },
};

const CODEX = {
  name: "codex",
  agent: "codex",
  program: "codex",
  serverFile: ".codex/config.toml",
  arms: ["bare", "instant", "server", "command"],
  rows: [
    ["Codex: a prompt, a server that answers nothing at once", "instant", "prompt", null],
    ["Codex: a prompt through the server", "server", "prompt", 0.5],
    ["Codex: a tool call through the server, before and after it", "server", "tool", 0.4],
    ["Codex: a prompt by a command", "command", "prompt", null],
    ["Codex: a tool call by commands", "command", "tool", null],
  ],
  call: { name: "exec_command", input: { cmd: "true" } },
  env: () => ({ FAKE_KEY: "sk-bench" }),
  prepare: (put, { openaiUrl }) =>
    put(
      ".codex/config.toml",
      `model = "fake-model"\nmodel_provider = "fake"\n\n[model_providers.fake]\nname = "fake"\nbase_url = "${openaiUrl}"\nenv_key = "FAKE_KEY"\nwire_api = "responses"\nrequest_max_retries = 0\nstream_max_retries = 0\n`,
    ),
  async open(program, place) {
    const first = await this.connect(program, place);
    const { data } = await first.ask("hooks/list", { cwds: [place.cwd] });
    first.close();
    // As a user does in its menu, in a home that is the benchmark's own: it runs no hook that it was not told to trust.
    const trusted = data[0].hooks.map(
      ({ key, currentHash }) =>
        `\n[hooks.state.${JSON.stringify(key)}]\ntrusted_hash = ${JSON.stringify(currentHash)}\n`,
    );
    fs.appendFileSync(path.join(place.env.HOME, ".codex", "config.toml"), trusted.join(""));
    const client = await this.connect(program, place);
    const policy = { approvalPolicy: "never", sandbox: "danger-full-access" };
    const { thread } = await client.ask("thread/start", { cwd: place.cwd, ...policy });
    return {
      close: client.close,
      say: (text) =>
        new Promise((done) => {
          client.onEnd = done;
          client.ask("turn/start", { threadId: thread.id, input: [{ type: "text", text, text_elements: [] }] });
        }),
    };
  },
  async connect(program, place) {
    const waiting = new Map();
    let id = 0;
    const { send, close } = talk(program, ["app-server"], place, (message) => {
      if (message.method === "turn/completed") client.onEnd();
      waiting.get(message.id)?.(message.result);
    });
    const ask = (method, params) =>
      new Promise((done) => {
        waiting.set(++id, done);
        send({ id, method, params });
      });
    const client = { ask, close, onEnd: () => {} };
    await ask("initialize", { clientInfo: { name: "bench", title: "bench", version: "1" }, capabilities: null });
    send({ method: "initialized" });
    return client;
  },
};

const OPENCODE = {
  name: "opencode",
  agent: "opencode",
  program: "opencode",
  arms: ["bare", "plugin"],
  rows: [["OpenCode: a prompt in the plugin", "plugin", "prompt", 0.4]],
  call: { name: "read", input: { filePath: "a.txt" } },
  env: () => ({
    OPENCODE_DISABLE_AUTOUPDATE: "1",
    OPENCODE_DISABLE_MODELS_FETCH: "1",
    OPENCODE_DISABLE_DEFAULT_PLUGINS: "1",
    npm_config_offline: "true",
  }),
  prepare: (put, { openaiUrl }) =>
    put(
      ".config/opencode/opencode.json",
      JSON.stringify({
        provider: {
          fake: {
            npm: "@ai-sdk/openai-compatible",
            options: { baseURL: openaiUrl, apiKey: "sk-bench" },
            models: { "fake-model": { name: "fake", tool_call: true } },
          },
        },
      }),
    ),
  async open({ program, args }, { cwd, env }) {
    const child = spawn(program, [...args, "serve", "--port", "0", "--hostname", "127.0.0.1"], { cwd, env });
    const url = await new Promise((done) => {
      for (const stream of [child.stdout, child.stderr])
        createInterface({ input: stream }).on("line", (line) => {
          const found = /https?:\/\/127\.0\.0\.1:\d+/.exec(line)?.[0];
          if (found) done(found);
        });
    });
    const post = async (way, body) => {
      const headers = { "content-type": "application/json" };
      const response = await fetch(url + way, { method: "POST", headers, body: JSON.stringify(body) });
      return response.json();
    };
    const { id } = await post("/session", {});
    const model = { providerID: "fake", modelID: "fake-model" };
    return {
      close: () => child.kill("SIGKILL"),
      say: (text) => post(`/session/${id}/message`, { model, parts: [{ type: "text", text }] }),
    };
  },
};
