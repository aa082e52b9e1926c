/** Doctor's round trips: the real hook, the real plugin, a server that speaks the protocol, and everything that can be wrong. */

import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { beforeEach, describe, expect, test } from "vitest";
import { askHook, askServer, proveWiring } from "../../src/wiring/proof.ts";
import { PATIENCE_MS, until } from "../until.ts";
import { makeMachine, type TestMachine } from "./machine.ts";

const DIST = fileURLToPath(new URL("../../dist", import.meta.url));

/** Answers like memdir's own: what the memory directory of its environment holds, or what the test asks for. */
const SERVER = `
const fs = require("node:fs"), path = require("node:path");
let text = "";
process.stdin.on("data", (bytes) => {
  text += bytes;
  for (let at; (at = text.indexOf("\\n")) >= 0; text = text.slice(at + 1)) answer(JSON.parse(text.slice(0, at)));
});
function answer({ id, method, params }) {
  const send = (result) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, result }) + "\\n");
  if (method === "initialize") send({ protocolVersion: params.protocolVersion, capabilities: {}, serverInfo: {} });
  if (method !== "tools/call") return;
  const dir = process.env.MEMDIR_MEMORY_DIR;
  const found = fs.readdirSync(dir).filter((name) => name.startsWith("reference_"));
  send({ content: found.map((name) => ({ type: "text", text: fs.readFileSync(path.join(dir, name), "utf8") })) });
}`;

let machine: TestMachine;

/** An installation in a folder with a space: the real hook, and a stand-in for the server. */
function install(name: string): string {
  const dist = machine.at(path.join(name, "dist"));
  fs.mkdirSync(dist, { recursive: true });
  for (const file of fs.readdirSync(DIST).filter((entry) => /^hook.*\.cjs$/.test(entry))) {
    fs.copyFileSync(path.join(DIST, file), path.join(dist, file));
  }
  fs.writeFileSync(path.join(dist, "cli.js"), SERVER);
  return dist;
}

beforeEach(() => {
  machine = makeMachine({ tmp: "" });
  fs.rmSync(machine.at("tmp"));
  fs.mkdirSync(machine.at("tmp"));
  machine.env = { HOME: machine.home, PATH: process.env.PATH, MEMDIR_MEANING: "0" };
  machine.node = process.execPath;
  machine.platform = process.platform;
  machine.dist = install("my installation");
  machine.put(".claude/memdir.json", JSON.stringify({ hooks: { deadlineMs: PATIENCE_MS } }));
});

const prove = (deadlineMs = PATIENCE_MS) =>
  proveWiring(machine, { temporary: machine.at("tmp"), wish: machine.wish, deadlineMs });

test("nothing is wired: that is well, and says what to do", async () => {
  machine.env = { HOME: machine.home, PATH: "" };
  expect(await prove()).toEqual([
    { name: "wiring", ok: true, detail: "no agent is connected; memdir init connects them", fix: null },
  ]);
});

test("every door of every client recalls the probe, and nothing of it is left", async () => {
  const all = ["claude-code", "codex", "gemini", "opencode", "cursor", "vscode"];
  await machine.init(...all);
  const before = machine.picture();
  const checks = await prove();
  expect(checks.filter(({ ok }) => !ok)).toEqual([]);
  expect(checks.map(({ detail }) => detail.replace(/ in \S+/, "")).sort()).toEqual([
    "Claude Code: the hook works",
    "Claude Code: the server works",
    "Codex: the hook works",
    "Codex: the server works",
    "Cursor: the server works",
    "Gemini CLI: the hook works",
    "Gemini CLI: the server works",
    "OpenCode: the plugin works",
    "OpenCode: the server works",
    "VS Code: the server works",
  ]);
  expect(machine.picture()).toEqual(before);
});

test("what is gone from a file, and an installation that is gone, is named with its remedy", async () => {
  await machine.init("gemini", "cursor");
  machine.put(".cursor/mcp.json", "{}");
  fs.rmSync(path.join(machine.dist, "hook.cjs"));
  fs.rmSync(path.join(machine.dist, "cli.js"));
  const checks = await prove();
  expect(checks.every(({ ok }) => !ok)).toBe(true);
  expect(checks.map(({ detail, fix }) => `${detail} | ${fix}`)).toEqual([
    expect.stringMatching(
      /^Gemini CLI: the server in .* does not work: it ended with code 1.* \| memdir init --agent gemini$/,
    ),
    expect.stringMatching(/^Gemini CLI: the hook in .* does not work: it ended with code 1/),
    expect.stringMatching(/^Cursor: .*mcp\.json lacks memdir's part .* \| memdir init --agent cursor$/),
  ]);
});

test("a node that is gone, a broken file, and memory that is switched off", async () => {
  machine.node = "/gone/node";
  await machine.init("gemini", "cursor", "codex");
  machine.put(".codex/hooks.json", "{ broken");
  const details = (await prove()).map(({ detail }) => detail).join("\n");
  expect(details).toMatch(/Cursor: the server .* does not work: it cannot be started: spawn \/gone\/node ENOENT/);
  expect(details).toMatch(/Gemini CLI: the hook .* does not work: it ended with code 127/);
  expect(details).toMatch(/Codex: .*hooks\.json:1:3 is not valid JSON/);
  machine.node = process.execPath;
  await machine.init("gemini");
  machine.env = { ...machine.env, CLAUDE_CODE_DISABLE_AUTO_MEMORY: "1" };
  expect((await prove()).map(({ detail }) => detail).join("\n")).toMatch(/the hook .* it answered, but said nothing/);
});

test("a plugin besides the hooks would show everything twice", async () => {
  await machine.init("claude-code");
  const settings = machine.json(".claude/settings.json") as object;
  machine.put(".claude/settings.json", JSON.stringify({ ...settings, enabledPlugins: { "memdir@memdir": true } }));
  expect((await prove()).filter(({ ok }) => !ok)).toEqual([
    {
      name: "wiring",
      ok: false,
      detail: "Claude Code: its plugin memdir@memdir does the same again",
      fix: "memdir uninstall --agent claude-code",
    },
  ]);
});

test("hooks that the client does not run are not said to work", async () => {
  await machine.init("claude-code", "gemini");
  machine.put(".claude/settings.json", `// mine\n${machine.read(".claude/settings.json")}`);
  const gemini = machine.read(".gemini/settings.json")?.replace("{", '{ "hooksConfig": { "enabled": false },') ?? "";
  machine.put(".gemini/settings.json", gemini);
  const checks = await prove();
  expect(checks.filter(({ ok }) => !ok)).toMatchObject([
    {
      detail: expect.stringMatching(/^Claude Code: its hooks do not run: it does not load .*settings\.json/),
      fix: "remove them",
    },
    { detail: expect.stringMatching(/^Gemini CLI: its hooks do not run: .*hooksConfig/), fix: "change that" },
  ]);
  expect(checks.filter(({ ok }) => ok).map(({ detail }) => detail.replace(/ in \S+/, ""))).toEqual([
    "Claude Code: the server works",
    "Gemini CLI: the server works",
  ]);
});

test("a folder for temporary files that is not there", async () => {
  await machine.init("cursor");
  fs.rmdirSync(machine.at("tmp"));
  expect((await prove())[0]).toMatchObject({ ok: false, detail: expect.stringMatching(/could not be tried/) });
});

describe("doors that misbehave", () => {
  const asked = () => ({
    prompt: "p",
    session: "s",
    word: "quokka",
    cwd: machine.home,
    env: machine.env,
    deadlineMs: PATIENCE_MS,
  });
  const node = JSON.stringify(process.execPath);

  test("one that hangs is ended in time, with what it started", async () => {
    const file = machine.at("alive");
    const hang = `${node} -e "require('fs').writeFileSync('${file}', String(process.pid)); setInterval(() => {}, 1e6)"; true`;
    // A slow machine gets more time, until there is something to be ended.
    for (let seconds = 1; !fs.existsSync(file) && seconds < 100; seconds *= 4) {
      const said = await askHook(hang, "UserPromptSubmit", { ...asked(), deadlineMs: seconds * 1000 });
      expect(said).toBe(`it did not answer within ${seconds} s`);
    }
    const pid = Number(fs.readFileSync(file, "utf8"));
    await until(() => !isAlive(pid));
  });

  test("answers that are not the probe, no answer, a closed input, noise", async () => {
    const say = (code: string) => askHook(`${node} -e "${code}"`, "UserPromptSubmit", asked());
    expect(await say("console.log('other')")).toBe("it answered, but not with the probe");
    expect(await say("")).toBe("it answered, but said nothing");
    expect(await say("process.stdin.destroy(); console.log('quokka')")).toBe(null);
    const server = (code: string) => askServer({ command: process.execPath, args: ["-e", code] }, asked());
    expect(await server("")).toBe("it ended before it said hello");
    expect(await server("process.exit(3)")).toBe("it ended with code 3");
    const hello = "console.log('noise');console.log(JSON.stringify({id:1,result:{}}));";
    expect(await server(`${hello}process.stdin.once('data', () => process.exit(0))`)).toMatch(/^it ended before/);
    const refuse = `${hello}setTimeout(() => console.log(JSON.stringify({id:2,error:{message:'no'}})), 20);setInterval(()=>{},1e6)`;
    expect(await server(refuse)).toBe("it answered, but not with the probe");
  });
});

function isAlive(pid: number): boolean {
  try {
    // A zombie that nobody has collected yet has ended, too.
    const stat = fs.readFileSync(`/proc/${pid}/stat`, "utf8");
    return !/\) Z /.test(stat);
  } catch {
    return false;
  }
}
