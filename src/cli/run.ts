/** From arguments to an exit code: the table of commands, which one is meant, its options read, run, and the one place that catches. */

import { statSync } from "node:fs";
import { processEnv } from "../config.ts";
import { exitCodeOf, MemdirError } from "../errors.ts";
import { openMemdir } from "../open.ts";
import { distance } from "../text/likeness.ts";
import { sanitiseLine } from "../text/sanitise.ts";
import { choice, type Fields, flag, list, text } from "../verb.ts";
import { VERBS } from "../verbs/table.ts";
import type { Env } from "../world.ts";
import {
  type Call,
  COMMON,
  type CommandRow,
  findArity,
  note,
  type Program,
  type Run,
  readWords,
  runOf,
  usageOf,
  type Words,
  warning,
} from "./command.ts";
import { fold, openTerminal, type Terminal } from "./terminal.ts";

declare const __MEMDIR_VERSION__: string;

export async function runCommandLine(argv: string[]): Promise<number> {
  const env = processEnv();
  const terminal = openTerminal(env);
  const json = argv.includes("--json");
  // A reader that closes early (`memdir list | head -1`) is no error.
  process.stdout.on("error", (error: NodeJS.ErrnoException) => process.exit(error.code === "EPIPE" ? 0 : 3));
  try {
    return await dispatch(argv, env, terminal);
  } catch (error) {
    return report(error, { json, debug: Boolean(env.MEMDIR_DEBUG) }, terminal);
  }
}

async function dispatch(argv: string[], env: Env, terminal: Terminal): Promise<number> {
  const { name, rest } = splitCommand(argv);
  const isAsked = (...options: string[]) => name === undefined && rest.some((word) => options.includes(word));
  if (name === "version" || isAsked("--version", "-v")) {
    terminal.print(__MEMDIR_VERSION__);
    return 0;
  }
  const help = async (words: readonly string[]) => {
    const named = words.find((word) => !word.startsWith("-"));
    const row = named === undefined ? null : findCommand(named);
    return (await import("./help.ts")).printHelp(terminal, env, COMMANDS, row ?? words.includes("--all"));
  };
  if (name === "help" || isAsked("--help", "-h")) return help(rest.filter((word) => !["--help", "-h"].includes(word)));
  const row = findCommand(name ?? "console");
  if (row.formerly === name && name !== undefined && !argv.includes("--json"))
    note({ terminal }, [`\`${name}\` is now \`memdir ${row.name}\``]);
  const loaded = await row.load();
  const dash = row.name === "save" ? "; put -- before a text that begins with a dash" : "";
  const words = readWords({ ...loaded.input, ...COMMON }, rest, `${dash}; see memdir ${row.name} --help`);
  if (words.flag("help")) return help([row.name]);
  const { missing, extra } = findArity(loaded, words.args);
  if (missing !== undefined || extra !== undefined) {
    const problem = missing ? "an argument is missing" : `"${extra}" is one argument too many`;
    const usage = `${problem}: the call is \`${usageOf(row.name, loaded)}\`; see memdir ${row.name} --help`;
    throw new MemdirError("usage", usage);
  }
  return ("start" in loaded ? loaded.start : runOf(loaded))(openCall(words, env, terminal));
}

/** Options that every command takes may stand before it; any other option there belongs to the console. */
function splitCommand(argv: readonly string[]): { name: string | undefined; rest: string[] } {
  let at = 0;
  while (at < argv.length) {
    const word = argv[at] ?? "";
    if (!word.startsWith("-") || word === "-")
      return { name: word, rest: [...argv.slice(0, at), ...argv.slice(at + 1)] };
    const field = (COMMON as Fields)[word.replace(/^--|=.*$/g, "")];
    if (!field && word !== "-h" && word !== "-v" && word !== "--version") break;
    at += field?.value !== undefined && !word.includes("=") ? 2 : 1;
  }
  return { name: undefined, rest: [...argv] };
}

function openCall(words: Words, env: Env, terminal: Terminal): Call {
  const cwd = resolveCwd(words.value("cwd"));
  const now = () => new Date();
  const log = (message: string) => {
    if (env.MEMDIR_DEBUG) terminal.warn(`memdir: debug: ${message}`);
  };
  const shown = new Set<string>();
  return {
    ...words,
    ...{ json: words.flag("json"), cwd, env, now, log, terminal },
    async open({ quiet = false, ...options } = {}) {
      const asked = { memoryDir: words.value("memory-dir"), scope: words.value("scope") };
      const memdir = await openMemdir({ cwd, env, now, log, by: "cli", ...asked, ...options });
      const fresh = quiet ? [] : memdir.warnings.filter((one) => !shown.has(one));
      warning({ terminal }, fresh);
      for (const one of fresh) shown.add(one);
      return memdir;
    },
  };
}

function resolveCwd(given: string | undefined): string {
  try {
    if (given === undefined) return process.cwd();
  } catch (cause) {
    const message = "the current directory is gone: change to one that exists, or give --cwd DIR";
    throw new MemdirError("usage", message, { cause });
  }
  if (given === "" || given.includes("\0")) throw new MemdirError("usage", "--cwd needs a directory");
  if (!statSync(given, { throwIfNoEntry: false })?.isDirectory())
    throw new MemdirError("usage", `--cwd ${JSON.stringify(given)}: there is no such directory`);
  return given;
}

function report(error: unknown, options: { json: boolean; debug: boolean }, terminal: Terminal): number {
  const known = error instanceof MemdirError;
  const message = known
    ? error.message
    : `unexpected failure: ${(error as Error)?.message ?? error}; run it again with MEMDIR_DEBUG=1 and report it`;
  if (options.json) terminal.warn(JSON.stringify({ error: { code: known ? error.code : "internal", message } }));
  else terminal.warn(fold(`memdir: ${sanitiseLine(message)}`, terminal.columns, 4));
  if (options.debug && error instanceof Error) {
    terminal.warn(error.stack ?? "");
    if (error.cause) terminal.warn(`caused by: ${(error.cause as Error).stack ?? error.cause}`);
  }
  return exitCodeOf(error);
}

// --- Every command, verbs and programs, found by any name that people use.

const AGENT = {
  resume: text("continue this session; the beginning of its id is enough", "ID"),
  continue: flag("continue the last session here"),
  allow: list('let tools do this without asking: edit, read, bash, "bash git status" or all', "KIND"),
  "add-dir": list("another directory to work in", "DIR"),
};

/** A module's `start` is loaded when the program is called. */
function program(
  group: CommandRow["group"],
  name: string,
  summary: string,
  load: () => Promise<{ start: Run }>,
  definition: Partial<Program> & Pick<Program, "examples">,
): CommandRow {
  const start: Run = async (call) => (await load()).start(call);
  return { name, group, summary, load: async () => ({ args: [], input: {}, ...definition, start }) };
}

export const COMMANDS: readonly CommandRow[] = [
  ...VERBS,
  program(
    "agents",
    "console",
    "Open the console: an agent if a model is set, else offline",
    async () => ({ start: (await import("./chat.ts")).openConsole }),
    {
      about: "On a pipe, reads prompts line by line.",
      input: AGENT,
      examples: ['echo "remember that releases are cut on Tuesdays" | memdir'],
    },
  ),
  program("agents", "chat", "Send one prompt to the agent and print its answer", () => import("./chat.ts"), {
    usage: "-p TEXT",
    input: { prompt: text("what to say; - for standard input", "TEXT", { short: "p" }), ...AGENT },
    examples: ['chat -p "what did we decide about retries?" --continue'],
  }),
  program("plumbing", "hook", "Answer an agent's hook: JSON in, JSON out", () => import("./run-hook.ts"), {
    args: ["event?"],
    examples: ["hook UserPromptSubmit < /dev/null"],
  }),
  program("agents", "mcp", "Run an MCP server on standard input and output, or HTTP", () => import("./mcp.ts"), {
    input: {
      http: flag("serve over HTTP on 127.0.0.1, with a token that is shown once (or the one in MEMDIR_MCP_TOKEN)"),
      port: text("the port for --http (default: any free port)", "N"),
    },
    examples: ["mcp < /dev/null"],
  }),
  program("agents", "ui", "Open a local web page to browse and curate memories", () => import("./ui.ts"), {
    input: {
      port: text("the port (default: any free port)", "N"),
      "no-open": flag("only print the address"),
      "read-only": flag("disable every change"),
    },
    examples: ["ui --no-open"],
  }),
  program("team", "serve", "Run the team server", () => import("./serve.ts"), {
    about: "Shared memories over HTTP, kept in a folder or in PostgreSQL.",
    input: {
      port: text("the port (default: 7373; 0 for any free port)", "N"),
      host: text("the address (default: 127.0.0.1); any other needs TLS", "H"),
      data: text("folder for the database, its program and token files (default: ~/.memdir-server)", "DIR"),
      database: text(
        "postgres://… without a password; if it has one, use MEMDIR_DATABASE_URL or MEMDIR_DATABASE_URL_FILE instead",
        "URL",
      ),
      pool: text("connections to PostgreSQL (default: 10, plus 2 for search)", "N"),
      oidc: text("settings of an identity provider for signing in (docs/operations.md)", "FILE"),
      "keep-audit": text("days to keep the audit log (default: 400; 0: forever)", "DAYS"),
      "keep-versions": text("days to keep replaced versions (default: as long as they fit)", "DAYS"),
      "keep-tombstones": text("days to keep track of removed memories (default: 400)", "DAYS"),
      drain: text("seconds to keep answering after /ready switches to 503 (default: 0)", "N"),
      team: text("the team; created if it does not exist (default: the existing one, else `default`)", "NAME"),
      admin: text("the first admin of a new team (default: your user name)", "NAME"),
      "tls-cert": text("certificate, with --tls-key", "FILE"),
      "tls-key": text("its private key", "FILE"),
      "behind-tls": flag("a proxy in front handles TLS, and nothing else can reach the port"),
      log: text("one JSON line per request (default: standard error)", "FILE"),
      yes: flag("fetch the embedded database from npm without asking"),
      "issue-token": text("only create a token for this person; an embedded server must be stopped first", "PERSON"),
      "token-file": text("where --issue-token writes it", "FILE"),
    },
    examples: ["serve --help"],
  }),
  program(
    "plumbing",
    "extract-hook",
    "Learn from a session in the background; run by a Stop hook",
    () => import("./extract-hook.ts"),
    {
      input: {
        transcript: text("the session's file", "FILE"),
        mark: text("identifies the host's last message, which may not be in the file yet", "MARK"),
      },
      examples: ["extract-hook --transcript session.jsonl"],
    },
  ),
  program(
    "plumbing",
    "prefetch",
    "Recall in the background, for the session on standard input",
    () => import("./prefetch.ts"),
    {
      examples: ["memdir prefetch < /dev/null"],
    },
  ),
  program("plumbing", "merge-driver", "Merge team memories; called by git", () => import("./merge-driver.ts"), {
    args: ["kind", "base", "ours", "theirs", "path"],
    examples: ["merge-driver memory %O %A %B %P"],
  }),
  program(
    "agents",
    "completion",
    "Print a completion script for bash, zsh or fish",
    async () => ({ start: async (call) => (await import("./completion.ts")).complete(call, COMMANDS) }),
    {
      args: ["shell"],
      input: { shell: choice(["bash", "zsh", "fish"], "", "SHELL") },
      examples: ['eval "$(memdir completion bash)"'],
    },
  ),
];

function findCommand(word: string): CommandRow {
  const row = COMMANDS.find(
    ({ name, aliases, formerly }) => name === word || formerly === word || aliases?.includes(word),
  );
  if (row) return row;
  throw new MemdirError("usage", `there is no command "${word}"${nearest(word)}; \`memdir help --all\` lists them`);
}

function nearest(word: string): string {
  const near = COMMANDS.map(({ name }) => ({ name, steps: distance(word.toLowerCase(), name) }))
    .filter(({ name, steps }) => steps <= Math.max(1, Math.floor(name.length / 3)))
    .sort((a, b) => a.steps - b.steps)[0];
  const begun = near ?? COMMANDS.find(({ name }) => word.length > 2 && name.startsWith(word.slice(0, 3)));
  return begun ? ` (did you mean "${begun.name}"?)` : "";
}
