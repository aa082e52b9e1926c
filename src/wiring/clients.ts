/** The clients that can be wired: where their files are, which parts of those files are memdir's, and what is left for the user to do. */

import { existsSync } from "node:fs";
import { isAbsolute, join, resolve } from "node:path";
import { findProgram } from "../child-group.ts";
import { attempt, MemdirError } from "../errors.ts";
import { POINTER } from "../prompts/memory.ts";
import { readAt } from "./json-text.ts";
import type { Machine } from "./machine.ts";
import { buildPlugin, PLUGIN_MARK } from "./opencode-plugin.ts";
import type { HookEntry, Part } from "./parts.ts";
import { readTable } from "./toml-table.ts";
import { readPlain } from "./user-file.ts";

type HooksOff = { why: string; fix: string } | null;

export interface Client {
  /** As `--agent` takes it. */
  name: string;
  title: string;
  /** Why it is thought to be on this machine, or null. */
  find(machine: Machine): string | null;
  /** What already does all this, so that nothing must be added; null for nothing. */
  findOther?(machine: Machine): string | null;
  /** From which version on its hooks can call a tool of a server, and the program that says which one it is. */
  calls?: { program: string; since: string };
  /** Where its settings switch memdir's server off, in words; null for nowhere. */
  findDisabled?(machine: Machine): string | null;
  /** Why its settings keep every hook from running, and what to do; null where hooks run. */
  findHooksOff?(machine: Machine): HooksOff;
  /** What belongs in its files. Must not read them, except to choose between names of one file. */
  parts(machine: Machine, form?: HookForm): Part[];
  /** What else the user has to do or know. */
  notes(machine: Machine): string[];
}

/** How a client's events reach memdir. */
export interface HookForm {
  /** It calls the server that it runs; else each event starts a command. */
  byServer: boolean;
  /** There are enforced rules, which must hold even when the server is switched off. */
  hasRules: boolean;
  /** A model searches beside the turn, and what it finds comes after a tool call. */
  prefetches: boolean;
}

export const COMMANDS: HookForm = { byServer: false, hasRules: false, prefetches: false };

const SHOWS = "memories that help are shown with each prompt";
const SHOWS_AND_KEEPS = `${SHOWS}, and what is worth keeping is kept`;
const TOOLS = "tools to recall, save and check memories";

/**
 * In seconds. The hook has a far shorter deadline of its own: this is for a disk that hangs. At the end of a turn or a session
 * more may be written, and the user is not waiting to type.
 */
const CODEX_EVENTS = { SessionStart: 10, UserPromptSubmit: 5, PreToolUse: 5, PostToolUse: 5, Stop: 10, PreCompact: 10 };
const CLAUDE_EVENTS = { ...CODEX_EVENTS, SessionEnd: 10 };
/** In milliseconds. Not PreCompress, which comes before every request. */
const GEMINI_EVENTS = {
  SessionStart: 10_000,
  BeforeAgent: 5_000,
  BeforeTool: 5_000,
  AfterTool: 5_000,
  AfterAgent: 10_000,
  SessionEnd: 10_000,
};

/**
 * What the server is told of an event, by the client's own names. At the start of a session a server may not be connected yet, and at
 * its end it is gone: these stay commands. Codex fails where an event lacks a field that is named.
 */
const EVERY = ["hook_event_name", "session_id", "cwd"];
const CLAUDE_FIELDS: Fields = {
  UserPromptSubmit: [...EVERY, "prompt"],
  PreToolUse: [...EVERY, "tool_name", "tool_input"],
  PostToolUse: EVERY,
  Stop: [...EVERY, "transcript_path", "stop_hook_active", "last_assistant_message", "agent_id"],
};
const CODEX_FIELDS: Fields = {
  UserPromptSubmit: [...EVERY, "turn_id", "prompt"],
  PreToolUse: [...EVERY, "turn_id", "tool_name", "tool_input"],
  PostToolUse: [...EVERY, "turn_id", "tool_name", "tool_input", "tool_response"],
  Stop: [...EVERY, "turn_id", "transcript_path", "stop_hook_active", "last_assistant_message"],
};

type Fields = Readonly<Record<string, readonly string[]>>;

const claudeCode: Client = {
  name: "claude-code",
  title: "Claude Code",
  // Its folder alone says nothing: memories are kept there, too.
  find: (machine) => findTrace(machine, "claude", claudeState(machine), claudeSettings(machine)),
  // Hooks of both would show every memory twice.
  findOther(machine) {
    const plugins = readSetting(claudeSettings(machine), "enabledPlugins");
    const isOn = ([name, on]: [string, unknown]) => name.startsWith("memdir@") && on === true;
    const [found] = Object.entries(plugins ?? {}).find(isOn) ?? [];
    return found === undefined ? null : `its plugin ${found}`;
  },
  calls: { program: "claude", since: "2.1.118" },
  findDisabled(machine) {
    const denied = readSetting(claudeSettings(machine), "deniedMcpServers");
    const isDenied = [denied]
      .flat()
      .some((entry) => (entry as { serverName?: unknown } | null)?.serverName === "memdir");
    if (isDenied) return `${claudeSettings(machine)} (deniedMcpServers)`;
    const projects = Object.entries(readSetting(claudeState(machine), "projects") ?? {});
    const off = projects.filter(
      ([, { disabledMcpServers: names }]) => Array.isArray(names) && names.includes("memdir"),
    );
    return off.length === 0 ? null : `its list of servers (/mcp) for ${off.map(([path]) => path).join(", ")}`;
  },
  findHooksOff: claudeHooksOff,
  parts: (machine, form = COMMANDS) => [
    hooksPart(claudeSettings(machine), SHOWS_AND_KEEPS, machine, {
      events: CLAUDE_EVENTS,
      fields: CLAUDE_FIELDS,
      form,
      without: form.prefetches ? [] : ["PostToolUse"],
    }),
    serverPart(claudeState(machine), "mcpServers", { type: "stdio", ...serverCommand(machine) }),
  ],
  notes: (machine) => [
    "Claude Code: restart open sessions for this to take effect",
    ...noteHooksOff("Claude Code", claudeHooksOff(machine)),
  ],
};

function claudeHooksOff(machine: Machine): HooksOff {
  const file = claudeSettings(machine);
  if (!isStrict(file))
    return { why: `it does not load ${file} because of its comments or trailing commas`, fix: "remove them" };
  if (readSetting(file, "disableAllHooks") !== true) return null;
  return { why: "its settings switch all hooks off (disableAllHooks)", fix: "change that" };
}

function noteHooksOff(title: string, off: HooksOff): string[] {
  return off === null ? [] : [`${title}: ${off.why}: only the tools work until you ${off.fix}`];
}

/** Hooks are in a file of their own; the pointer is needed until the user has trusted them. */
const codex: Client = {
  name: "codex",
  title: "Codex",
  find: (machine) => findTrace(machine, "codex", codexFolder(machine)),
  calls: { program: "codex", since: "0.166.0" },
  findDisabled(machine) {
    const file = join(codexFolder(machine), "config.toml");
    const values = attempt(() => readTable(readPlain(file), ["mcp_servers", "memdir"], file), undefined);
    return String(values?.enabled) === "false" ? `${file} (enabled = false)` : null;
  },
  parts: (machine, form = COMMANDS) => [
    {
      kind: "table",
      file: join(codexFolder(machine), "config.toml"),
      why: TOOLS,
      table: ["mcp_servers", "memdir"],
      values: serverCommand(machine),
    },
    hooksPart(join(codexFolder(machine), "hooks.json"), SHOWS, machine, {
      events: CODEX_EVENTS,
      fields: CODEX_FIELDS,
      form,
      // After a tool call it is shown the instructions of the folders that it worked in.
      without: [],
    }),
    {
      kind: "block",
      file: join(codexFolder(machine), "AGENTS.md"),
      why: "says that the tools are there: hooks run only after you trust them",
      text: POINTER,
    },
  ],
  notes: () => ["Codex: it runs hooks only after you trust them: type /hooks there, review memdir's and trust them"],
};

const gemini: Client = {
  name: "gemini",
  title: "Gemini CLI",
  find: (machine) => findTrace(machine, "gemini", geminiFolder(machine)),
  parts(machine, form = COMMANDS) {
    const file = join(geminiFolder(machine), "settings.json");
    return [
      serverPart(file, "mcpServers", serverCommand(machine)),
      // With a name, which its lists of hooks show.
      hooksPart(file, SHOWS_AND_KEEPS, machine, {
        events: GEMINI_EVENTS,
        fields: {},
        form,
        without: form.prefetches ? [] : ["AfterTool"],
        more: { name: "memdir" },
      }),
    ];
  },
  findHooksOff: geminiHooksOff,
  notes: (machine) => noteHooksOff("Gemini CLI", geminiHooksOff(machine)),
};

function geminiHooksOff(machine: Machine): HooksOff {
  if (readSetting(join(geminiFolder(machine), "settings.json"), "hooksConfig", "enabled") !== false) return null;
  return { why: "its settings switch hooks off (hooksConfig.enabled)", fix: "change that" };
}

/** It has no hooks that start a program, but plugins. */
const opencode: Client = {
  name: "opencode",
  title: "OpenCode",
  find: (machine) => findTrace(machine, "opencode", opencodeFolder(machine), join(machine.home, ".opencode", "bin")),
  parts(machine) {
    const folder = opencodeFolder(machine);
    // It reads and merges both names: the existing one is the one that the user knows.
    const commented = join(folder, "opencode.jsonc");
    const file = existsSync(commented) ? commented : join(folder, "opencode.json");
    const { command, args } = serverCommand(machine);
    return [
      {
        ...serverPart(file, "mcp", { type: "local", command: [command, ...args] }),
        // It would add this by itself, and the file would no longer be as we left it.
        start: { $schema: "https://opencode.ai/config.json" },
      },
      {
        kind: "file",
        file: join(folder, "plugin", "memdir.js"),
        why: SHOWS,
        text: buildPlugin(machine.node, join(machine.dist, "hook.cjs")),
        mark: PLUGIN_MARK,
      },
    ];
  },
  notes: () => [],
};

/** The server alone: its rules for all projects are not in a file. */
const cursor: Client = {
  name: "cursor",
  title: "Cursor",
  find: ({ home, ...machine }) => findTrace(machine, "cursor", join(home, ".cursor")),
  parts: (machine) => [serverPart(join(machine.home, ".cursor", "mcp.json"), "mcpServers", serverCommand(machine))],
  notes: () => [
    "Cursor: allow the server memdir in Settings, MCP; if its model rarely recalls, add an instruction in Settings, Rules, User Rules",
  ],
};

/** Each edition of VS Code keeps a profile of its own. */
const EDITIONS = ["Code", "Code - Insiders", "VSCodium"];
const INSTRUCTIONS_MARK = "<!-- Made by memdir init, removed by memdir uninstall. -->";

/** There are no hooks: instructions point to the server. */
const vscode: Client = {
  name: "vscode",
  title: "VS Code",
  find: (machine) => findTrace(machine, "code", ...EDITIONS.map((edition) => join(profiles(machine), edition))),
  parts(machine) {
    const there = EDITIONS.filter((edition) => existsSync(join(profiles(machine), edition)));
    return (there.length > 0 ? there : ["Code"]).flatMap((edition): Part[] => {
      const folder = join(profiles(machine), edition, "User");
      return [
        serverPart(join(folder, "mcp.json"), "servers", { type: "stdio", ...serverCommand(machine) }),
        {
          kind: "file",
          file: join(folder, "prompts", "memdir.instructions.md"),
          why: "says when to use them",
          text: `---\napplyTo: "**"\n---\n${INSTRUCTIONS_MARK}\n\n${POINTER}\n`,
          mark: INSTRUCTIONS_MARK,
        },
      ];
    });
  },
  notes: () => ["VS Code: it asks once whether the server memdir may be started"],
};

/** In the order in which they are shown. */
export const CLIENTS: readonly Client[] = [claudeCode, codex, gemini, opencode, cursor, vscode];

/** Other names in use. */
const ALIASES: Readonly<Record<string, string>> = { claude: "claude-code", "gemini-cli": "gemini", code: "vscode" };

/** The named ones, whether or not they are found here; without names those that are. Throws `usage` for an unknown name. */
export function chooseClients(machine: Machine, names: readonly string[]): Client[] {
  if (names.length === 0) return CLIENTS.filter((client) => client.find(machine) !== null);
  const wanted = names.map((name) => ALIASES[name] ?? name);
  const unknown = wanted.find((name) => !CLIENTS.some((client) => client.name === name));
  if (unknown !== undefined) {
    const known = CLIENTS.map(({ name }) => name).join(", ");
    throw new MemdirError("usage", `there is no agent "${unknown}" that memdir can wire; it knows ${known}`);
  }
  return CLIENTS.filter(({ name }) => wanted.includes(name));
}

/** `~/.claude`, or where it was moved to. */
export function claudeFolder({ home, env, cwd }: Pick<Machine, "home" | "env" | "cwd">): string {
  return env.CLAUDE_CONFIG_DIR ? resolve(cwd, env.CLAUDE_CONFIG_DIR) : join(home, ".claude");
}

/** The hook for a client that passes the line to the system's shell. */
export function hookCommand({ node, dist, platform }: Pick<Machine, "node" | "dist" | "platform">): string {
  return `${quote(node, platform)} ${quote(join(dist, "hook.cjs"), platform)}`;
}

/**
 * Double quotes mean the same to sh, bash and cmd. What still has a meaning inside them is escaped for the first two; on
 * Windows forward slashes are used, as a client may use either shell there.
 */
function quote(path: string, platform: NodeJS.Platform): string {
  if (platform === "win32") return `"${path.replaceAll("\\", "/")}"`;
  return `"${path.replace(/["$`\\]/g, "\\$&")}"`;
}

function serverCommand({ node, dist }: Machine): { command: string; args: string[] } {
  return { command: node, args: [join(dist, "cli.js"), "mcp"] };
}

function serverPart(file: string, holder: string, value: Record<string, unknown>): Part & { kind: "value" } {
  return { kind: "value", file, why: TOOLS, at: [holder, "memdir"], value };
}

interface Hooked {
  /** Timeouts in the client's unit. */
  events: Readonly<Record<string, number>>;
  /** Of the events that the server may answer. */
  fields: Fields;
  form: HookForm;
  /** Events that have nothing to do in this form. */
  without: readonly string[];
  more?: { name?: string };
}

function hooksPart(file: string, why: string, machine: Machine, { events, fields, form, without, more }: Hooked): Part {
  const wanted = Object.entries(events).filter(([event]) => !without.includes(event));
  const hooks = wanted.map(([event, timeout]): [string, HookEntry] => {
    const named = isByServer(event, form) ? fields[event] : undefined;
    return [event, named ? { ...toolEntry(named), timeout } : { ...more, ...commandEntry(machine), timeout }];
  });
  return { kind: "hooks", file, why, hooks: Object.fromEntries(hooks), without: [...without] };
}

function isByServer(event: string, { byServer, hasRules }: HookForm): boolean {
  return byServer && !(hasRules && event === "PreToolUse");
}

function commandEntry(machine: Machine): HookEntry {
  return { type: "command", command: hookCommand(machine) };
}

function toolEntry(fields: readonly string[]): HookEntry {
  const input = Object.fromEntries(fields.map((name) => [name, `\${${name}}`]));
  return { type: "mcp_tool", server: "memdir", tool: "hook", input };
}

/** The first of the paths that exists, else the program's path, or null. */
function findTrace(machine: Pick<Machine, "env" | "cwd" | "platform">, program: string, ...paths: string[]) {
  return paths.find((path) => existsSync(path)) ?? findClient(machine, program)?.file ?? null;
}

export function findClient({ env, cwd, platform }: Pick<Machine, "env" | "cwd" | "platform">, program: string) {
  const endings = platform === "win32" ? (env.PATHEXT ?? ".EXE;.CMD;.BAT").split(";") : undefined;
  return findProgram(env, program, { cwd, endings });
}

/** Undefined when it is missing or cannot be read, which is reported when the file is changed. */
function readSetting(file: string, ...at: string[]): unknown {
  return attempt(() => readAt(readPlain(file), at, file), undefined);
}

/** Whether a file has neither comments nor trailing commas; Claude Code ignores a settings file that has them. */
function isStrict(file: string): boolean {
  const text = attempt(() => readPlain(file).trim() || "{}", "{}");
  return attempt(() => JSON.parse(text) !== undefined, false);
}

function claudeSettings(machine: Machine): string {
  return join(claudeFolder(machine), "settings.json");
}

export function claudeState(machine: Machine): string {
  return join(machine.env.CLAUDE_CONFIG_DIR ? claudeFolder(machine) : machine.home, ".claude.json");
}

export function codexFolder({ home, env, cwd }: Machine): string {
  return env.CODEX_HOME ? resolve(cwd, env.CODEX_HOME) : join(home, ".codex");
}

export function geminiFolder({ home, env }: Machine): string {
  return join(env.GEMINI_CLI_HOME || home, ".gemini");
}

/** Below `.config` on every system. */
function opencodeFolder(machine: Machine): string {
  return join(configFolder(machine), "opencode");
}

function profiles(machine: Machine): string {
  const { home, env, platform } = machine;
  if (platform === "darwin") return join(home, "Library", "Application Support");
  if (platform === "win32") return env.APPDATA || join(home, "AppData", "Roaming");
  return configFolder(machine);
}

function configFolder({ home, env }: Machine): string {
  return env.XDG_CONFIG_HOME && isAbsolute(env.XDG_CONFIG_HOME) ? env.XDG_CONFIG_HOME : join(home, ".config");
}
