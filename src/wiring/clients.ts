/** The clients that can be wired: where their files are, which parts of those files are memdir's, and what is left for the user to do. */

import { accessSync, constants, existsSync } from "node:fs";
import { delimiter, isAbsolute, join, resolve } from "node:path";
import { MemdirError } from "../errors.ts";
import { POINTER } from "../prompts/memory.ts";
import { readAt } from "./json-text.ts";
import type { Machine } from "./machine.ts";
import { buildPlugin, PLUGIN_MARK } from "./opencode-plugin.ts";
import type { Part } from "./parts.ts";
import { readPlain } from "./user-file.ts";

export interface Client {
  /** As `--agent` takes it. */
  name: string;
  title: string;
  /** Why it is thought to be on this machine, or null. */
  find(machine: Machine): string | null;
  /** What already does all this, so that nothing must be added; null for nothing. */
  findOther?(machine: Machine): string | null;
  /** What belongs in its files. Must not read them, except to choose between names of one file. */
  parts(machine: Machine): Part[];
  /** What else the user has to do or know. */
  notes(machine: Machine): string[];
}

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
  parts: (machine) => [
    hooksPart(claudeSettings(machine), SHOWS_AND_KEEPS, CLAUDE_EVENTS, machine),
    serverPart(claudeState(machine), "mcpServers", { type: "stdio", ...serverCommand(machine) }),
  ],
  notes: (machine) => [
    "Claude Code: restart open sessions for this to take effect",
    ...(readSetting(claudeSettings(machine), "disableAllHooks") === true
      ? ["Claude Code: its settings switch all hooks off (disableAllHooks): only the tools work until you change that"]
      : []),
    ...(isStrict(claudeSettings(machine))
      ? []
      : [
          `Claude Code: it does not load ${claudeSettings(machine)} because of its comments or trailing commas: only the tools work until you remove them`,
        ]),
  ],
};

/** Hooks are in a file of their own; the pointer is needed until the user has trusted them. */
const codex: Client = {
  name: "codex",
  title: "Codex",
  find: (machine) => findTrace(machine, "codex", codexFolder(machine)),
  parts: (machine) => [
    {
      kind: "table",
      file: join(codexFolder(machine), "config.toml"),
      why: TOOLS,
      table: ["mcp_servers", "memdir"],
      values: serverCommand(machine),
    },
    hooksPart(join(codexFolder(machine), "hooks.json"), SHOWS, CODEX_EVENTS, machine),
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
  parts(machine) {
    const file = join(geminiFolder(machine), "settings.json");
    return [
      serverPart(file, "mcpServers", serverCommand(machine)),
      // With a name, which its lists of hooks show.
      hooksPart(file, SHOWS_AND_KEEPS, GEMINI_EVENTS, machine, { name: "memdir" }),
    ];
  },
  notes: (machine) =>
    readSetting(join(geminiFolder(machine), "settings.json"), "hooksConfig", "enabled") === false
      ? ["Gemini CLI: its settings switch hooks off (hooksConfig.enabled): only the tools work until you change that"]
      : [],
};

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
    "Cursor: allow the server memdir in Settings, MCP; if its model seldom recalls, say so in Settings, Rules, User Rules",
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

/** The hook for each event, with the event's timeout in the client's unit. */
function hooksPart(
  file: string,
  why: string,
  events: Readonly<Record<string, number>>,
  machine: Machine,
  more: { name?: string } = {},
): Part {
  const entry = { ...more, type: "command", command: hookCommand(machine) };
  const hooks = Object.entries(events).map(([event, timeout]) => [event, { ...entry, timeout }]);
  return { kind: "hooks", file, why, hooks: Object.fromEntries(hooks) };
}

/** The first of the paths that exists, else the program's path, or null. */
function findTrace({ env, platform }: Pick<Machine, "env" | "platform">, program: string, ...paths: string[]) {
  const there = paths.find((path) => existsSync(path));
  if (there !== undefined) return there;
  const isWindows = platform === "win32";
  const endings = isWindows ? (env.PATHEXT ?? ".EXE;.CMD;.BAT").split(";") : [""];
  const folders = (env.PATH ?? env.Path ?? "").split(isWindows ? ";" : delimiter).filter((folder) => folder !== "");
  const files = folders.flatMap((folder) => endings.map((ending) => join(folder, `${program}${ending}`)));
  return files.find(isExecutable) ?? null;
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Undefined when it is missing or cannot be read, which is reported when the file is changed. */
function readSetting(file: string, ...at: string[]): unknown {
  try {
    return readAt(readPlain(file), at, file);
  } catch {
    return undefined;
  }
}

/** Whether a file has neither comments nor trailing commas; Claude Code ignores a settings file that has them. */
function isStrict(file: string): boolean {
  try {
    JSON.parse(readPlain(file).trim() || "{}");
    return true;
  } catch (error) {
    return !(error instanceof SyntaxError);
  }
}

function claudeSettings(machine: Machine): string {
  return join(claudeFolder(machine), "settings.json");
}

function claudeState(machine: Machine): string {
  return join(machine.env.CLAUDE_CONFIG_DIR ? claudeFolder(machine) : machine.home, ".claude.json");
}

function codexFolder({ home, env, cwd }: Machine): string {
  return env.CODEX_HOME ? resolve(cwd, env.CODEX_HOME) : join(home, ".codex");
}

function geminiFolder({ home, env }: Machine): string {
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
