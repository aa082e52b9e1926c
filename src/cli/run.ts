/** From arguments to an exit code: finds the command, reads its options, runs it, and is the one place that catches. */

import { statSync } from "node:fs";
import { parseArgs } from "node:util";
import { processEnv } from "../config.ts";
import { exitCodeOf, MemdirError } from "../errors.ts";
import { openMemdir } from "../open.ts";
import { sanitiseLine } from "../text/sanitise.ts";
import type { Env } from "../world.ts";
import { type Call, COMMON_OPTIONS, type Command, warning } from "./command.ts";
import { COMMANDS } from "./commands.ts";
import { commandHelp, generalHelp } from "./help.ts";
import { openTerminal, type Terminal } from "./terminal.ts";

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
  const { command, rest } = findCommand(argv);
  if (!command) {
    terminal.print(argv[0] === "--version" ? __MEMDIR_VERSION__ : generalHelp(COMMANDS, terminal.color));
    return 0;
  }
  const { values, positionals } = readOptions(command, rest);
  if (values.help) {
    terminal.print(commandHelp(command, terminal.color));
    return 0;
  }
  const { min, max } = arityOf(command.usage);
  if (positionals.length < min || positionals.length > max) {
    const problem =
      positionals.length < min ? "an argument is missing" : `"${positionals[max]}" is one argument too many`;
    throw new MemdirError(
      "usage",
      `${problem}: the call is \`${`memdir ${command.name} ${command.usage}`.trim()}\`; see memdir ${command.name} --help`,
    );
  }
  return (await command.load())(openCall(values, positionals, env, terminal));
}

/** How many positional arguments a usage allows; options in it are none. */
function arityOf(usage: string): { min: number; max: number } {
  const plain = usage.replace(/--?\w+ [A-Z]+/g, "");
  const most = (text: string) => Math.max(...text.split(" | ").map((part) => part.match(/[^\s[\]]+/g)?.length ?? 0));
  return { min: most(plain.replace(/\[.*\]/, "")), max: plain.includes("…") ? Number.POSITIVE_INFINITY : most(plain) };
}

function openCall(values: Values, args: string[], env: Env, terminal: Terminal): Call {
  const value = (name: string) => (typeof values[name] === "string" ? values[name] : undefined);
  const cwd = resolveCwd(value("cwd"));
  const now = () => new Date();
  const log = (message: string) => {
    if (env.MEMDIR_DEBUG) terminal.warn(`memdir: debug: ${message}`);
  };
  const shown = new Set<string>();
  return {
    args,
    flag: (name) => values[name] === true,
    value,
    values: (name) => (Array.isArray(values[name]) ? (values[name] as string[]) : []),
    json: values.json === true,
    cwd,
    env,
    now,
    log,
    terminal,
    async open({ quiet = false, ...options } = {}) {
      const asked = { memoryDir: value("memory-dir"), scope: value("scope") };
      const memdir = await openMemdir({ cwd, env, now, log, by: "cli", ...asked, ...options });
      const fresh = quiet ? [] : memdir.warnings.filter((one) => !shown.has(one));
      warning({ terminal }, fresh);
      for (const one of fresh) shown.add(one);
      return memdir;
    },
  };
}

/** `memdir` alone, or with options only, is the console. */
function findCommand(argv: string[]): { command: Command | null; rest: string[] } {
  const first = argv[0];
  if (first === "--help" || first === "-h" || first === "--version" || first === "help") {
    const named = COMMANDS.find((c) => c.name === argv[1]);
    if (first === "help" && argv[1] !== undefined && !argv[1].startsWith("-") && !named) throw unknown(argv[1]);
    return { command: first === "help" && named ? named : null, rest: ["--help"] };
  }
  if (first === undefined || first.startsWith("-")) {
    return { command: COMMANDS.find((c) => c.name === "console") ?? null, rest: argv };
  }
  const command = COMMANDS.find((c) => c.name === first);
  if (!command) throw unknown(first);
  return { command, rest: argv.slice(1) };
}

function unknown(word: string): MemdirError {
  return new MemdirError("usage", `there is no command "${word}"${nearest(word)}; memdir --help lists them`);
}

function nearest(word: string): string {
  const close = COMMANDS.find((c) => c.name.startsWith(word.slice(0, 3)) || word.startsWith(c.name));
  return close ? `, did you mean "${close.name}"?` : "";
}

type Values = Record<string, string | boolean | (string | boolean)[] | undefined>;

function readOptions(command: Command, argv: string[]): { values: Values; positionals: string[] } {
  const options = Object.fromEntries(
    Object.entries({ ...command.options, ...COMMON_OPTIONS }).map(([name, { value, multiple, short }]) => [
      name,
      {
        type: value === undefined ? ("boolean" as const) : ("string" as const),
        ...(multiple ? { multiple } : {}),
        ...(short ? { short } : {}),
      },
    ]),
  );
  try {
    return parseArgs({ args: argv, options, allowPositionals: true });
  } catch (error) {
    const message = (error as Error).message.split(". ")[0];
    throw new MemdirError("usage", `${message}; see memdir ${command.name} --help`, { cause: error });
  }
}

function resolveCwd(given: string | undefined): string {
  if (given === undefined) return findCwd();
  if (given === "" || given.includes("\0")) throw new MemdirError("usage", "--cwd needs a directory");
  if (!statSync(given, { throwIfNoEntry: false })?.isDirectory())
    throw new MemdirError("usage", `--cwd ${JSON.stringify(given)}: there is no such directory`);
  return given;
}

function findCwd(): string {
  try {
    return process.cwd();
  } catch (cause) {
    const message = "the current directory is gone: change to one that exists, or give --cwd DIR";
    throw new MemdirError("usage", message, { cause });
  }
}

function report(error: unknown, options: { json: boolean; debug: boolean }, terminal: Terminal): number {
  const known = error instanceof MemdirError;
  const message = known
    ? error.message
    : `unexpected failure: ${(error as Error)?.message ?? error}; run it again with MEMDIR_DEBUG=1 and report it`;
  if (options.json) terminal.warn(JSON.stringify({ error: { code: known ? error.code : "internal", message } }));
  else terminal.warn(`memdir: ${sanitiseLine(message)}`);
  if (options.debug && error instanceof Error) {
    terminal.warn(error.stack ?? "");
    if (error.cause) terminal.warn(`caused by: ${(error.cause as Error).stack ?? error.cause}`);
  }
  return exitCodeOf(error);
}
