/** In which form hooks are wired: through the server where the client can, as commands elsewhere, and back. */

import fs from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { chooseClients } from "../../src/wiring/clients.ts";
import { findRuleGaps, findVersion, hasRules } from "../../src/wiring/hook-form.ts";
import { proveWiring } from "../../src/wiring/proof.ts";
import { readReceipt } from "../../src/wiring/receipt.ts";
import { applyChanges } from "../../src/wiring/wiring.ts";
import { directoryAt } from "../recall/store.ts";
import { PATIENCE_MS } from "../until.ts";
import { COMMANDS, HOOK, makeMachine, type TestMachine } from "./machine.ts";

const SETTINGS = ".claude/settings.json";
const SERVER = { ...COMMANDS, hooks: "server" } as const;
const RULE = "---\nname: r\ntype: feedback\nenforce:\n  tool: Bash\n  pattern: rm\n  message: m\n---\n\nNever.\n";

/** A client's program that only says its version. */
function installClient(machine: TestMachine, program: string, says: string, folder = "bin"): void {
  machine.put(`${folder}/${program}`, `#!/bin/sh\n${says.startsWith("exec") ? says : `echo "${says}"`}\n`);
  fs.chmodSync(machine.at(`${folder}/${program}`), 0o755);
  machine.env = { ...machine.env, PATH: `${machine.at(folder)}:/usr/bin:/bin` };
}

function makeClaude(version: string, settings = "{}"): TestMachine {
  const machine = makeMachine({ [SETTINGS]: settings });
  machine.wish = SERVER;
  installClient(machine, "claude", version);
  return machine;
}

type Entry = { type: string; command?: string; input?: Record<string, string>; timeout?: number };

const entriesOf = (machine: TestMachine, file = SETTINGS): Record<string, Entry[]> => {
  const { hooks = {} } = machine.json(file) as { hooks?: Record<string, { hooks: Entry[] }[]> };
  const events = Object.entries(hooks).map(([event, groups]) => [event, groups.flatMap((group) => group.hooks)]);
  return Object.fromEntries(events);
};
const formsOf = (machine: TestMachine, file = SETTINGS): Record<string, string> =>
  Object.fromEntries(Object.entries(entriesOf(machine, file)).map(([event, [entry]]) => [event, entry?.type ?? ""]));

const BY_SERVER = {
  SessionStart: "command",
  UserPromptSubmit: "mcp_tool",
  PreToolUse: "mcp_tool",
  Stop: "mcp_tool",
  PreCompact: "command",
  SessionEnd: "command",
};
const BY_COMMAND = Object.fromEntries(Object.keys(BY_SERVER).map((event) => [event, "command"]));

describe.runIf(process.platform !== "win32")("Claude Code's hooks", () => {
  test.each([
    ["2.1.118 (Claude Code)", BY_SERVER],
    ["2.2.0 (Claude Code)", BY_SERVER],
    ["10.0.1", BY_SERVER],
    ["2.1.117 (Claude Code)", BY_COMMAND],
    ["2.0.999", BY_COMMAND],
    ["nonsense", BY_COMMAND],
    ["exec false", BY_COMMAND],
  ])("of a client that says %s", async (version, forms) => {
    const machine = makeClaude(version);
    await machine.init("claude-code");
    expect(formsOf(machine)).toEqual(forms);
    expect(machine.plan("claude-code")[0]?.changes).toEqual([]);
    await machine.uninstall();
    expect(machine.read(SETTINGS)).toBe("{}");
  });

  test("name the server, its tool and the fields of the event", async () => {
    const machine = makeClaude("2.1.325 (Claude Code)");
    await machine.init("claude-code");
    const fields = ["hook_event_name", "session_id", "cwd", "prompt"];
    const input = Object.fromEntries(fields.map((name) => [name, `\${${name}}`]));
    expect(entriesOf(machine).UserPromptSubmit).toEqual([
      { type: "mcp_tool", server: "memdir", tool: "hook", input, timeout: 5 },
    ]);
  });

  test("change their form in place with the client, with what the user chose, and go to the byte", async () => {
    const own = '{ "type": "command", "command": "notify" }';
    const settings = `{\n  "hooks": {\n    "Stop": [\n      { "hooks": [${own}] }\n    ]\n  },\n  "model": "opus"\n}\n`;
    const machine = makeClaude("2.1.100", settings);
    const before = machine.picture();
    await machine.init("claude-code");
    const byCommand = machine.read(SETTINGS);
    installClient(machine, "claude", "2.1.325");
    await machine.init("claude-code");
    expect(formsOf(machine)).toEqual({ ...BY_SERVER, Stop: "command" });
    expect(entriesOf(machine).Stop?.map(({ type }) => type)).toEqual(["command", "mcp_tool"]);
    expect(machine.read(SETTINGS)).not.toContain("PostToolUse");
    const upgraded = machine.read(SETTINGS) as string;
    installClient(machine, "claude", "2.1.100");
    await machine.init("claude-code");
    expect(JSON.parse(machine.read(SETTINGS) as string)).toEqual(JSON.parse(byCommand as string));
    installClient(machine, "claude", "2.1.325");
    await machine.init("claude-code");
    expect(JSON.parse(machine.read(SETTINGS) as string)).toEqual(JSON.parse(upgraded));
    fs.rmSync(machine.at("bin"), { recursive: true });
    await machine.uninstall();
    machine.put("bin/claude", '#!/bin/sh\necho "2.1.100"\n');
    fs.chmodSync(machine.at("bin/claude"), 0o755);
    expect(machine.picture()).toEqual(before);
  });

  test("keep a timeout that the user chose, and lose what an earlier version wired for nothing", async () => {
    const old = { type: "command", command: HOOK, timeout: 33 };
    const events = ["UserPromptSubmit", "PostToolUse"].map((event) => [event, [{ hooks: [old] }]]);
    const machine = makeClaude("2.1.325", JSON.stringify({ hooks: Object.fromEntries(events) }));
    await machine.init("claude-code");
    expect(entriesOf(machine).UserPromptSubmit).toMatchObject([{ type: "mcp_tool", timeout: 33 }]);
    // The list was not made by us.
    expect(entriesOf(machine).PostToolUse).toEqual([]);
    machine.wish = { ...SERVER, prefetches: true };
    await machine.init("claude-code");
    expect(formsOf(machine)).toEqual({ ...BY_SERVER, PostToolUse: "mcp_tool" });
  });

  test("that enforce rules stay a command, which does not need the server", async () => {
    const machine = makeClaude("2.1.325");
    machine.wish = { ...SERVER, hasRules: true };
    await machine.init("claude-code");
    expect(formsOf(machine)).toEqual({ ...BY_SERVER, PreToolUse: "command" });
    expect(findRuleGaps(machine)).toEqual([]);
    machine.wish = SERVER;
    await machine.init("claude-code");
    expect(findRuleGaps(machine).map(({ name }) => name)).toEqual(["claude-code"]);
  });

  test("are commands where the user said so, also the next time", async () => {
    const machine = makeClaude("2.1.325");
    await machine.init("claude-code");
    machine.wish = COMMANDS;
    for (const { changes } of machine.plan("claude-code")) await applyChanges(machine, changes, "command");
    expect(formsOf(machine)).toEqual(BY_COMMAND);
    expect(readReceipt(machine).hooks).toBe("command");
    await applyChanges(machine, [], "server");
    expect(readReceipt(machine).hooks).toBe("server");
  });
});

describe.runIf(process.platform !== "win32")("a client's version", () => {
  const [claude] = chooseClients(makeMachine(), ["claude-code"]);

  test("is asked of no program of the project, wherever PATH leads", () => {
    const machine = makeMachine();
    const project = path.join(path.dirname(machine.home), "project");
    fs.mkdirSync(path.join(project, "bin"), { recursive: true });
    const program = path.join(project, "bin", "claude");
    fs.writeFileSync(program, `#!/bin/sh\ntouch ${project}/ran\necho 2.1.325\n`, { mode: 0o755 });
    machine.cwd = project;
    for (const PATH of [path.join(project, "bin"), "bin", "./bin", "."]) {
      machine.env = { ...machine.env, PATH };
      expect(findVersion(machine, claude!)).toBeNull();
    }
    fs.symlinkSync(program, machine.at("claude"));
    machine.env = { ...machine.env, PATH: machine.home };
    expect(findVersion(machine, claude!)).toBeNull();
    expect(fs.existsSync(path.join(project, "ran"))).toBe(false);
  });

  test("is not waited for when the client ignores that its time is over", () => {
    const machine = makeMachine();
    const loop = "n=0; while [ $n -lt 60 ]; do sleep 0.1; n=$((n + 1)); done";
    machine.put("bin/claude", `#!/bin/sh\ntrap "" TERM\n${loop}\ntouch '${machine.at("ended")}'\n`);
    fs.chmodSync(machine.at("bin/claude"), 0o755);
    machine.env = { ...machine.env, PATH: `${machine.at("bin")}:/usr/bin:/bin` };
    expect(findVersion(machine, claude!)).toBeNull();
    expect(fs.existsSync(machine.at("ended"))).toBe(false);
  });

  test("is asked of the user's own program, also when memdir is run in the home", () => {
    const machine = makeMachine();
    installClient(machine, "claude", "2.1.325 (Claude Code)");
    expect(findVersion(machine, claude!)).toBe("2.1.325");
  });
});

test.runIf(process.platform !== "win32")("Codex: all its events of a turn, with the fields that it has", async () => {
  const machine = makeMachine({ ".codex/config.toml": "" });
  machine.wish = SERVER;
  installClient(machine, "codex", "codex-cli 0.166.0");
  await machine.init("codex");
  const forms = { ...BY_SERVER, PostToolUse: "mcp_tool" } as Record<string, string>;
  delete forms.SessionEnd;
  expect(formsOf(machine, ".codex/hooks.json")).toEqual(forms);
  const { Stop } = entriesOf(machine, ".codex/hooks.json");
  expect(Object.keys(Stop?.[0]?.input ?? {})).not.toContain("agent_id");
  await machine.uninstall();
  expect(machine.read(".codex/hooks.json")).toBeUndefined();
});

test("rules are found in the user's own store, in any project's and in those given", () => {
  const machine = makeMachine();
  const here = directoryAt(machine.at("elsewhere"));
  expect(hasRules(machine, [here])).toBe(false);
  for (const file of [".claude/memory/r.md", ".claude/projects/a/memory/r.md", "elsewhere/r.md"]) {
    machine.put(file, RULE);
    expect([file, hasRules(machine, [here])]).toEqual([file, true]);
    fs.rmSync(machine.at(file));
  }
  machine.put(".claude/projects/a/memory/plain.md", RULE.replace("enforce:", "other:"));
  const before = machine.picture();
  expect(hasRules(machine, [here])).toBe(false);
  expect(machine.picture()).toEqual(before);
});

describe.runIf(process.platform !== "win32")("doctor", () => {
  async function wired(version = "2.1.325"): Promise<TestMachine> {
    const machine = makeClaude(version);
    await machine.init("claude-code");
    return machine;
  }
  /** The installation is none: only what is said of the form is looked at. */
  const examine = async (machine: TestMachine) => {
    fs.mkdirSync(machine.at("tmp"), { recursive: true });
    const asked = { temporary: machine.at("tmp"), wish: machine.wish, deadlineMs: PATIENCE_MS };
    const checks = await proveWiring(machine, asked);
    return checks
      .filter(({ detail }) => !detail.includes("does not work"))
      .map(({ detail, fix }) => `${detail} | ${fix}`);
  };
  const AGAIN = "memdir init --agent claude-code";

  test("finds nothing to say about the form that would be wired now", async () => {
    expect(await examine(await wired())).toEqual([]);
    const commands = await wired("2.1.1");
    expect(await examine(commands)).toEqual([]);
  });

  test("finds a client that is too old for its settings, and one that could do better", async () => {
    const machine = await wired();
    installClient(machine, "claude", "2.1.110");
    expect(await examine(machine)).toEqual([
      `Claude Code: version 2.1.110 ignores every hook of its settings: its entries of type mcp_tool need 2.1.118 | ${AGAIN}`,
    ]);
    installClient(machine, "claude", "nonsense");
    expect(await examine(machine)).toEqual([]);
    const old = await wired("2.1.1");
    installClient(old, "claude", "2.1.325");
    expect(await examine(old)).toEqual([
      `Claude Code: its hooks are in another form than memdir would wire now | ${AGAIN}`,
    ]);
  });

  test("finds a server that is switched off or missing, and rules that depend on it", async () => {
    const machine = await wired();
    const state = machine.json(".claude.json") as object;
    machine.put(".claude.json", JSON.stringify({ ...state, projects: { "/p": { disabledMcpServers: ["memdir"] } } }));
    expect(await examine(machine)).toEqual([
      `Claude Code: its hooks call memdir's server, which is switched off in its list of servers (/mcp) for /p | switch it on there, or ${AGAIN} --hooks command`,
    ]);
    machine.put(".claude.json", JSON.stringify(state));
    machine.wish = { ...SERVER, hasRules: true };
    expect(await examine(machine)).toEqual([
      `Claude Code: enforced rules do not hold when memdir's server is switched off | ${AGAIN}`,
    ]);
    machine.wish = SERVER;
    machine.put(".claude.json", "{}");
    expect(await examine(machine)).toEqual([expect.stringMatching(/\.claude\.json lacks memdir's part/)]);
  });
});
