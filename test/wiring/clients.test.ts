/** What each client's files look like before and after, and back again. */

import { parse as parseToml } from "smol-toml";
import { describe, expect, test } from "vitest";
import { POINTER } from "../../src/prompts/memory.ts";
import { CLIENTS, chooseClients, hookCommand } from "../../src/wiring/clients.ts";
import { HOOK, makeMachine, SERVER } from "./machine.ts";

const hook = (timeout: number, more = {}) => [{ hooks: [{ ...more, type: "command", command: HOOK, timeout }] }];

test("Claude Code: six events and a server; other hooks and fields stay", async () => {
  const settings = `{
  // mine
  "model": "opus",
  "hooks": {
    "Stop": [
      {
        "hooks": [
          { "type": "command", "command": "notify" }
        ]
      }
    ]
  }
}
`;
  const state = '{"numStartups":7,"mcpServers":{"x":{"command":"y"}},"oauthAccount":{"a":"b"}}';
  const machine = makeMachine({ ".claude/settings.json": settings, ".claude.json": state });
  const before = machine.picture();
  await machine.init();
  const after = machine.read(".claude/settings.json") as string;
  expect(after.startsWith('{\n  // mine\n  "model": "opus",\n  "hooks": {\n    "Stop": [\n      {\n')).toBe(true);
  expect(JSON.parse(after.replace("// mine", ""))).toEqual({
    model: "opus",
    hooks: {
      SessionStart: hook(10),
      UserPromptSubmit: hook(5),
      PreToolUse: hook(5),
      Stop: [{ hooks: [{ type: "command", command: "notify" }] }, ...hook(10)],
      PreCompact: hook(10),
      SessionEnd: hook(10),
    },
  });
  expect(machine.json(".claude.json")).toEqual({
    ...JSON.parse(state),
    mcpServers: { x: { command: "y" }, memdir: { type: "stdio", ...SERVER } },
  });
  await machine.uninstall();
  expect(machine.picture()).toEqual(before);
});

test.each([
  ["a comment", '{\n  // mine\n  "model": "opus"\n}\n', true],
  ["a trailing comma", '{ "model": "opus", }', true],
  ["neither", '{ "model": "opus" }', false],
  ["nothing", "", false],
])("Claude Code: init says that it does not load settings with %s", (_, settings, isSaid) => {
  const machine = makeMachine({ ".claude/settings.json": settings });
  const notes = chooseClients(machine, ["claude-code"])[0]?.notes(machine) ?? [];
  expect(notes.some((note) => /does not load .*settings\.json .*comments/.test(note))).toBe(isSaid);
});

test("Claude Code: a moved configuration holds the state file, too", async () => {
  const machine = makeMachine({ "conf/settings.json": "{}" }, {});
  machine.env = { ...machine.env, CLAUDE_CONFIG_DIR: machine.at("conf") };
  await machine.init();
  expect(machine.json("conf/.claude.json")).toEqual({ mcpServers: { memdir: { type: "stdio", ...SERVER } } });
  expect(Object.keys(machine.picture())).not.toContain(".claude.json");
  await machine.uninstall();
  expect(machine.picture()).toEqual({ conf: "folder", "conf/settings.json": "644 {}" });
});

test("Claude Code: where the plugin is on, nothing is put in besides; hooks that are switched off are pointed out", async () => {
  const machine = makeMachine({ ".claude/settings.json": '{"enabledPlugins": {"memdir@memdir": true, "x@y": true}}' });
  expect(machine.plan()).toMatchObject([{ changes: [], other: "its plugin memdir@memdir", problem: null }]);
  machine.put(".claude/settings.json", '{"enabledPlugins": {"memdir@memdir": false}, "disableAllHooks": true}');
  machine.put(".gemini/settings.json", '{"hooksConfig": {"enabled": false}}');
  expect(machine.plan().map(({ changes, other }) => [changes.length, other])).toEqual([
    [2, null],
    [1, null],
  ]);
  const notes = machine.plan().flatMap(({ client }) => client.notes(machine));
  expect(notes.join("\n")).toMatch(/disableAllHooks.*\n.*hooksConfig\.enabled/);
  machine.put(".claude/settings.json", "[");
  expect(machine.plan()[0]?.problem?.code).toBe("broken");
});

test("Codex: a table, hooks and a pointer; a note about trust", async () => {
  const config = '# mine\nmodel = "gpt-5" # best\n\n[mcp_servers.x]\ncommand = "y"\n';
  const machine = makeMachine({ ".codex/config.toml": config, ".codex/AGENTS.md": "Be brief.\n" });
  const before = machine.picture();
  await machine.init();
  expect(machine.read(".codex/config.toml")?.startsWith(config)).toBe(true);
  expect(parseToml(machine.read(".codex/config.toml") as string)).toEqual({
    model: "gpt-5",
    mcp_servers: { x: { command: "y" }, memdir: SERVER },
  });
  expect(machine.json(".codex/hooks.json")).toEqual({
    hooks: {
      SessionStart: hook(10),
      UserPromptSubmit: hook(5),
      PreToolUse: hook(5),
      PostToolUse: hook(5),
      Stop: hook(10),
      PreCompact: hook(10),
    },
  });
  expect(machine.read(".codex/AGENTS.md")).toBe(
    `Be brief.\n\n<!-- memdir-init:begin -->\n${POINTER}\n<!-- memdir-init:end -->\n`,
  );
  expect(chooseClients(machine, ["codex"])[0]?.notes(machine)[0]).toMatch(/trust/);
  await machine.uninstall();
  expect(machine.picture()).toEqual(before);
});

test("Gemini CLI: server and named hooks in one file, milliseconds", async () => {
  const machine = makeMachine({ ".gemini/settings.json": '{\n\t"theme": "x"\n}' });
  await machine.init();
  expect(machine.json(".gemini/settings.json")).toEqual({
    theme: "x",
    mcpServers: { memdir: SERVER },
    hooks: {
      SessionStart: hook(10_000, { name: "memdir" }),
      BeforeAgent: hook(5_000, { name: "memdir" }),
      BeforeTool: hook(5_000, { name: "memdir" }),
      AfterAgent: hook(10_000, { name: "memdir" }),
      SessionEnd: hook(10_000, { name: "memdir" }),
    },
  });
  await machine.uninstall();
  expect(machine.read(".gemini/settings.json")).toBe('{\n\t"theme": "x"\n}');
});

test("OpenCode: the configuration that is there, JSONC too, and a plugin", async () => {
  const machine = makeMachine({ ".config/opencode/opencode.jsonc": '{\n  // mine\n  "model": "m",\n}\n' });
  const before = machine.picture();
  await machine.init();
  expect(machine.read(".config/opencode/opencode.jsonc")).toContain(
    '  // mine\n  "model": "m",\n  "mcp": {\n    "memdir"',
  );
  expect(machine.read(".config/opencode/opencode.json")).toBe(undefined);
  expect(machine.read(".config/opencode/plugin/memdir.js")).toContain('const HOOK = "/opt/memdir/dist/hook.cjs";');
  await machine.uninstall();
  expect(machine.picture()).toEqual(before);

  const fresh = makeMachine({ ".config/opencode/x": "" });
  await fresh.init();
  expect(fresh.json(".config/opencode/opencode.json")).toEqual({
    $schema: expect.any(String),
    mcp: { memdir: { type: "local", command: [SERVER.command, ...SERVER.args] } },
  });
  await fresh.uninstall();
  expect(fresh.picture()).toEqual({
    ".config": "folder",
    ".config/opencode": "folder",
    ".config/opencode/x": "644 ",
  });
});

test("Cursor and every edition of VS Code, in the platform's folder", async () => {
  const machine = makeMachine({
    ".cursor/x": "",
    ".config/Code/x": "",
    ".config/VSCodium/User/mcp.json": '{"servers":{}}',
  });
  await machine.init();
  expect(machine.json(".cursor/mcp.json")).toEqual({ mcpServers: { memdir: SERVER } });
  for (const edition of ["Code", "VSCodium"]) {
    expect(machine.json(`.config/${edition}/User/mcp.json`)).toEqual({
      servers: { memdir: { type: "stdio", ...SERVER } },
    });
    expect(machine.read(`.config/${edition}/User/prompts/memdir.instructions.md`)).toMatch(
      /^---\napplyTo: "\*\*"\n---\n/,
    );
  }
  const mac = makeMachine({ "Library/Application Support/Code/x": "" }, { platform: "darwin" });
  expect(mac.plan()[0]?.changes[0]?.file).toBe(mac.at("Library/Application Support/Code/User/mcp.json"));
  const windows = makeMachine({ "Roaming/Code/x": "" }, { platform: "win32" });
  windows.env = { APPDATA: windows.at("Roaming") };
  expect(windows.plan()[0]?.changes[0]?.file).toBe(windows.at("Roaming/Code/User/mcp.json"));
});

describe("finding and choosing", () => {
  test("nothing is found in an empty home, nor in one that only holds memories", () => {
    expect(makeMachine().plan()).toEqual([]);
    expect(makeMachine({ ".claude/projects/x/memory/MEMORY.md": "" }).plan()).toEqual([]);
  });

  test("by a program on the path", () => {
    const machine = makeMachine({ "bin/codex": "" });
    machine.env = { PATH: `/nowhere:${machine.at("bin")}` };
    expect(machine.plan()).toEqual([]);
    machine.put("bin/gemini", "");
    expect(CLIENTS.map(({ find }) => find(machine))).toEqual([null, null, null, null, null, null]);
  });

  test("by name, found or not, other names for them too; unknown ones are refused", () => {
    const machine = makeMachine();
    expect(chooseClients(machine, ["code", "claude"]).map(({ name }) => name)).toEqual(["claude-code", "vscode"]);
    expect(() => chooseClients(machine, ["emacs"])).toThrow(/no agent "emacs".* claude-code, codex, gemini, opencode/);
    expect(() => chooseClients(machine, ["constructor"])).toThrow(/no agent/);
  });
});

describe("the hook's command", () => {
  const of = (platform: NodeJS.Platform, node: string, dist: string) =>
    hookCommand({ ...makeMachine(), platform, node, dist });

  test("survives spaces and what a shell would take for its own", () => {
    expect(of("linux", "/my node/bin/node", "/a b/dist")).toBe('"/my node/bin/node" "/a b/dist/hook.cjs"');
    expect(of("darwin", "/n", '/$HOME/`x`/"y"\\z')).toBe('"/n" "/\\$HOME/\\`x\\`/\\"y\\"\\\\z/hook.cjs"');
    expect(of("win32", "C:\\Program Files\\node.exe", "C:\\x")).toContain('"C:/Program Files/node.exe" "C:/x');
  });
});
