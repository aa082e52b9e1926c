#!/usr/bin/env node
// Plays the first day of a new user in an empty home, with the packed tarball, the real Claude Code and Codex, and chromium:
// first-day.mjs [--keep FOLDER] [--picture FILE.svg]. Each step is timed, its screen is kept, and what it must show is checked.
// The clients talk to a model server on loopback (test/model-server): what is shown of a model is what that server was asked.
import { spawn, spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import process from "node:process";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { spawn as spawnPty } from "@lydell/node-pty";
import { build } from "esbuild";
import { chromium } from "playwright-core";
import { findClient } from "./install-clients.mjs";

const ROOT = fileURLToPath(new URL("../", import.meta.url));
const CHROMIUM = process.env.MEMDIR_CHROMIUM ?? "/usr/bin/chromium";
/** Far more than the slowest step takes on a busy machine. */
const STEP_MS = 180_000;
const COLUMNS = 96;
/** A prompt that is sent with the start of the client may come before its servers are connected; a person types later. */
const MAX_ATTEMPTS = 5;

const TAUGHT = "We use pnpm here, never npm: the lockfile is pnpm's. Remember that.";
const ASKED = "Add zod to this repository with npm.";

const { values } = parseArgs({ options: { keep: { type: "string" }, picture: { type: "string" } } });
const missing = [
  ...["claude-code", "codex"].filter((name) => !findClient(name)),
  ...(fs.existsSync(CHROMIUM) ? [] : [CHROMIUM]),
];
if (missing.length > 0) {
  console.log(`not played: ${missing.join(", ")} missing; node scripts/install-clients.mjs installs the clients`);
  process.exit(0);
}

const top = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "memdir-first-day-")));
const home = path.join(top, "home", "ada");
const project = path.join(home, "shop");
const keep = path.resolve(values.keep ?? path.join(top, "screens"));
const steps = [];

try {
  await play();
  console.log(
    `the first day took ${(steps.reduce((sum, { ms }) => sum + ms, 0) / 1000).toFixed(1)} s in ${steps.length} steps`,
  );
} catch (error) {
  console.error(`first-day: ${error.message}`);
  process.exitCode = 1;
} finally {
  fs.mkdirSync(keep, { recursive: true });
  const times = steps.map(({ name, ms }) => ({ name, ms: Math.round(ms) }));
  fs.writeFileSync(path.join(keep, "steps.json"), `${JSON.stringify(times, null, 2)}\n`);
  if (values.keep) console.log(`screens and times are in ${keep}`);
  fs.rmSync(top, { recursive: true, force: true });
}

async function play() {
  for (const folder of [project, path.join(top, "bin"), path.join(home, ".codex"), keep])
    fs.mkdirSync(folder, { recursive: true });
  const model = await startModel();
  const env = openEnvironment(model);
  // Learning after a turn outlives the client, and would write while the last step removes.
  const agent = (name, args) => run(path.join(top, "bin", name), args, { ...env, MEMDIR_LEARN: "off" });
  const memdir = (args, answers) => onTerminal(path.join(top, "global", "bin", "memdir"), args, env, answers);
  try {
    check(run("git", ["init", "-q", "-b", "main"], env));
    fs.writeFileSync(path.join(project, "package.json"), '{ "name": "shop" }\n');

    await step("yesterday, without memdir: a session in Claude Code", () => {
      model.queue({ text: "Understood: pnpm, never npm." });
      return agent("claude", ["-p", TAUGHT]);
    });
    await step("npm install -g memdir", () => install(env));
    await step("memdir init", () =>
      memdir(
        ["init"],
        [
          [/Connect [\w ]+\?.*$/, "y\r"],
          [/May background learning.*$/, "n\r"],
        ],
      ),
    );
    await step("memdir doctor", async () => {
      const screen = await memdir(["doctor"], []);
      expect(/All is well/.test(screen), "doctor finds nothing wrong", screen);
      return screen;
    });
    await step("memdir learn --since 30d", async () => {
      const screen = await memdir(
        ["learn", "--since", "30d"],
        [
          [/Keep this\?.*$/, "k\r"],
          [/\? \[?[yY].*$/, "y\r"],
        ],
      );
      expect(/pnpm/.test(screen) && (await list(env)).length > 0, "a memory is kept from yesterday's session", screen);
      return screen;
    });
    for (const [title, name, args] of [
      ["Claude Code", "claude", ["-p", ASKED]],
      ["Codex", "codex", ["exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust", ASKED]],
    ]) {
      await step(`a prompt in ${title}, helped by the memory`, async () => {
        // A hook that is late is skipped, so that no prompt waits for it: on a busy machine that can be the first one.
        for (let attempt = 1; ; attempt++) {
          model.queue({ text: "I used pnpm instead of npm, as you asked for here: pnpm add zod." });
          const before = model.requests.length;
          const screen = await agent(name, args);
          const own = model.requests
            .slice(before)
            .filter(({ body, raw }) => body?.tools?.length > 0 && raw.includes(ASKED));
          const shown = own.map(findShown).find(Boolean);
          if (own[0]) fs.writeFileSync(path.join(keep, `request-${name}.json`), own[0].raw);
          if (shown)
            return `${screen}\n--- what memdir showed the model with the prompt, attempt ${attempt} ---\n${shown}`;
          expect(attempt < MAX_ATTEMPTS, "the model was shown the memory", screen);
        }
      });
    }
    await step("memdir ui, opened in chromium", () => openPage(env));
    await step("memdir uninstall --purge", () => memdir(["uninstall", "--purge"], [[/It cannot be undone.*$/, "y\r"]]));
    await step("what is left", () => {
      const left = fs.readdirSync(home, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
      const files = left.map(({ parentPath, name }) => path.join(parentPath, name));
      // Clients log what they ran: a session's transcript may name a tool that was there.
      const isLog = (file) =>
        /\.cache\/claude|\.claude\/(?:projects\/[^/]+\/[^/]+\.jsonl|backups|debug|sessions)|\.codex\/(?:sessions|log|.*\.sqlite|tmp)/.test(
          file,
        );
      const naming = files.filter((file) => !isLog(file) && /memdir/.test(fs.readFileSync(file, "latin1")));
      expect(
        naming.every((file) => file.endsWith(".md")),
        "no file but memories names memdir",
        naming.join("\n"),
      );
      const memories = files.filter((file) => /\/memory\/.*\.md$/.test(file));
      expect(memories.length >= 2, "the memory and its index are still there", files.join("\n"));
      return memories.map((file) => `~/${path.relative(home, file)}\n${fs.readFileSync(file, "utf8")}`).join("\n");
    });
    if (values.picture) fs.writeFileSync(values.picture, draw());
  } finally {
    await model.close();
  }
}

/** The model server of the tests, which is TypeScript. */
async function startModel() {
  const outfile = path.join(top, "model-server.mjs");
  const entry = path.join(ROOT, "test/model-server/model-server.ts");
  await build({ entryPoints: [entry], outfile, bundle: true, format: "esm", platform: "node", logLevel: "silent" });
  const { startModelServer } = await import(pathToFileURL(outfile).href);
  // A request without tools is for a title.
  return startModelServer({ aside: ({ body }) => (body?.tools?.length ? null : { text: "A title" }) });
}

function openEnvironment(model) {
  for (const [name, client] of [
    ["claude", "claude-code"],
    ["codex", "codex"],
  ]) {
    const { program, args } = findClient(client);
    const line = [program, ...args].map((part) => `'${part}'`).join(" ");
    fs.writeFileSync(path.join(top, "bin", name), `#!/bin/sh\nexec ${line} "$@"\n`, { mode: 0o755 });
  }
  const provider = `name = "loopback"\nbase_url = "${model.openaiUrl}"\nenv_key = "LOOPBACK_KEY"\nwire_api = "responses"\n`;
  const config = `model = "loopback"\nmodel_provider = "loopback"\n\n[model_providers.loopback]\n${provider}`;
  fs.writeFileSync(path.join(home, ".codex", "config.toml"), config);
  return {
    ...{ HOME: home, USER: "ada", TERM: "xterm-256color", LANG: "C.UTF-8" },
    PATH: [path.join(top, "bin"), path.join(top, "global", "bin"), process.env.PATH].join(path.delimiter),
    ...{ ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: "sk-test", LOOPBACK_KEY: "sk-test", IS_SANDBOX: "1" },
    ...{ DISABLE_TELEMETRY: "1", DISABLE_AUTOUPDATER: "1", CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1" },
    ...{ GIT_CONFIG_NOSYSTEM: "1" },
  };
}

async function step(name, work) {
  const started = performance.now();
  const screen = await work();
  const ms = performance.now() - started;
  steps.push({ name, ms, screen });
  const number = String(steps.length).padStart(2, "0");
  fs.writeFileSync(path.join(keep, `${number}-${name.replace(/[^\w]+/g, "-")}.txt`), `${plain(screen)}\n`);
  console.log(`${(ms / 1000).toFixed(1).padStart(6)} s  ${name}`);
}

function expect(holds, what, seen) {
  if (!holds) throw new Error(`not so: ${what}\n${plain(seen).slice(-3000)}`);
}

function check({ status, stdout, stderr, error }) {
  if (error || status !== 0) throw new Error(error?.message ?? `exit code ${status}\n${stdout}${stderr}`);
  return stdout;
}

/** Not spawnSync: the model server answers in this process. */
function run(program, args, env) {
  if (program === "git" || program === "npm")
    return spawnSync(program, args, { cwd: project, env, encoding: "utf8", timeout: STEP_MS });
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd: project, env, stdio: ["ignore", "pipe", "pipe"], timeout: STEP_MS });
    let screen = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (data) => (screen += data));
    child.on("error", reject);
    child.on("close", (code) =>
      code === 0 ? resolve(screen) : reject(new Error(`${path.basename(program)} ended with ${code}\n${screen}`)),
    );
  });
}

/** The user's npm settings and cache are kept: they say where packages come from. */
function install(env) {
  const own = (name) => check(spawnSync("npm", ["config", "get", name], { encoding: "utf8" })).trim();
  // How this machine reaches the registry: certificates, proxies.
  const network = Object.entries(process.env).filter(([name]) =>
    /^(?:npm_config_|NODE_EXTRA_CA_CERTS$|SSL_CERT_|(?:https?|no|all)_proxy$)/i.test(name),
  );
  const settings = {
    ...Object.fromEntries(network),
    npm_config_userconfig: own("userconfig"),
    npm_config_cache: own("cache"),
    npm_config_update_notifier: "false",
  };
  const packed = spawnSync("npm", ["pack", "--silent", "--pack-destination", top], { cwd: ROOT, encoding: "utf8" });
  const tarball = path.join(top, check(packed).trim().split("\n").at(-1));
  const flags = ["--global", "--prefix", path.join(top, "global"), "--prefer-offline", "--no-audit", "--no-fund"];
  return check(run("npm", ["install", ...flags, tarball], { ...env, ...settings }));
}

/** A program as a person uses it: `answers` are typed whenever what is on the screen since the last answer ends with the pattern. */
function onTerminal(program, args, env, answers) {
  const child = spawnPty(program, args, { name: env.TERM, cols: COLUMNS, rows: 40, cwd: project, env });
  let screen = "";
  let answered = 0;
  child.onData((data) => {
    screen += data;
    const recent = plain(screen.slice(answered)).trimEnd();
    const answer = answers.find(([pattern]) => pattern.test(recent));
    if (!answer) return;
    answered = screen.length;
    child.write(answer[1]);
  });
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      child.kill("SIGKILL");
      reject(new Error(`memdir ${args.join(" ")} waits for something\n${plain(screen).slice(-2000)}`));
    }, STEP_MS);
    child.onExit(({ exitCode }) => {
      clearTimeout(timer);
      if (exitCode === 0) resolve(screen);
      else reject(new Error(`memdir ${args.join(" ")} ended with ${exitCode}\n${plain(screen)}`));
    });
  });
}

async function list(env) {
  return JSON.parse(await run(path.join(top, "global", "bin", "memdir"), ["list", "--json"], env));
}

/** The memory that memdir recalled for the prompt, from either protocol; not the index, which every session is given. */
function findShown({ body }) {
  const texts = [];
  const visit = (value) => {
    if (typeof value === "string") texts.push(value);
    else if (value && typeof value === "object") for (const each of Object.values(value)) visit(each);
  };
  visit(body.messages ?? body.input);
  // A memory is shown whole: the index has one line of it, without its frontmatter.
  const shown = texts.find((text) => /^type: feedback$/m.test(text) && text.includes("pnpm"));
  return shown?.slice(shown.search(/^---\nname:/m)).split(/(?:<|&lt;)\/system-reminder>/)[0];
}

async function openPage(env) {
  const program = path.join(top, "global", "bin", "memdir");
  const child = spawn(program, ["ui", "--no-open"], { cwd: project, env, stdio: ["ignore", "pipe", "inherit"] });
  let screen = "";
  const address = await new Promise((resolve, reject) => {
    child.on("exit", () => reject(new Error(`memdir ui ended\n${screen}`)));
    child.stdout.on("data", (data) => {
      screen += data;
      const found = /http:\/\/\S+/.exec(screen)?.[0];
      if (found) resolve(found);
    });
  });
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"] });
  try {
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
    await page.goto(address);
    await page.getByText(/pnpm/).first().waitFor({ timeout: STEP_MS });
    await page.screenshot({ path: path.join(keep, "ui.png") });
    return `${screen.replace(/token=\S+/, "token=…")}\n${await page.locator("main").first().textContent()}`;
  } finally {
    await browser.close();
    child.removeAllListeners("exit");
    child.kill("SIGINT");
  }
}

/** Without sequences, and every line as it was left. */
function plain(screen) {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what a terminal is sent
  const text = String(screen).replace(/\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07]*\x07/g, "");
  const lines = text.replace(/\r+\n/g, "\n").split("\n");
  return lines
    .map((line) => line.slice(line.lastIndexOf("\r") + 1).trimEnd())
    .join("\n")
    .replaceAll(home, "~");
}

/** The part of the day that explains memdir, as one picture: text only, so that it stays small and can be read by machines. */
function draw() {
  const screenOf = (name) => plain(steps.find((each) => each.name.startsWith(name)).screen).split("\n");
  const shown = screenOf("a prompt in Claude Code")
    .join("\n")
    .split(/attempt \d ---\n/)[1]
    .trim()
    .split("\n");
  // Broken between words, as far as there are any.
  const fold = (lines) =>
    lines
      .filter((line) => line.trim() !== "")
      .flatMap((line) => line.match(new RegExp(`.{1,${COLUMNS}}(?=\\s|$)|\\S{1,${COLUMNS}}`, "g")));
  const lines = [
    ["$ memdir init", screenOf("memdir init").filter((line) => /^\S/.test(line))],
    ["$ memdir learn --since 30d", screenOf("memdir learn")],
    [`$ claude -p "${ASKED}"`, []],
    ["# and memdir shows the model, with that prompt:", shown],
  ].flatMap(([command, output]) => ["", command, ...fold(output)]);
  const escaped = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(" ", "\u00a0");
  const [height, width] = [lines.length * 19 + 30, COLUMNS * 8.2 + 40];
  const rows = lines.map((line, index) => {
    const kind = line.startsWith("$") ? "command" : line.startsWith("#") ? "note" : "output";
    return `<text x="20" y="${index * 19 + 24}" class="${kind}">${escaped(line)}</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img">
<title>A terminal: memdir is connected, learns from yesterday's session, and the next prompt is helped by what it learned</title>
<style>
rect { fill: #14181d } text { font: 13.5px ui-monospace, Menlo, Consolas, monospace; fill: #c9d1d9 }
.command { fill: #7ee787; font-weight: 600 } .note { fill: #8b949e }
</style>
<rect width="100%" height="100%" rx="8"/>
${rows.join("\n")}
</svg>
`;
}
