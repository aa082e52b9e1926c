/** From arguments to an exit code: finds the command, reads its options, runs it, and is the one place that catches. */

import { statSync } from "node:fs";
import { parseArgs } from "node:util";
import { processEnv } from "../config.ts";
import { exitCodeOf, MemdirError } from "../errors.ts";
import { openMemdir } from "../open.ts";
import { sanitiseLine } from "../text/sanitise.ts";
import { type Fields, positionsOf, type Verb } from "../verb.ts";
import type { Env } from "../world.ts";
import { type Call, COMMON, type Program, warning } from "./command.ts";
import { type Command, findCommand, usageOf } from "./commands.ts";
import { optionsFor, runOf } from "./run-verb.ts";
import { fold } from "./say.ts";
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
  const { name, rest } = splitCommand(argv);
  if (name === "version" || (name === undefined && rest.some((word) => word === "--version" || word === "-v"))) {
    terminal.print(__MEMDIR_VERSION__);
    return 0;
  }
  if (name === "help" || (name === undefined && rest.some((word) => word === "--help" || word === "-h"))) {
    const { printHelp } = await import("./help.ts");
    return printHelp(
      terminal,
      env,
      rest.filter((word) => word !== "--help" && word !== "-h"),
    );
  }
  const command = findCommand(name ?? "console");
  if (command.isFormer && !argv.includes("--json"))
    terminal.warn(`memdir: note: \`${name}\` is now \`memdir ${command.row.name}\``);
  const loaded = await command.load();
  const { values, positionals } = readOptions(command, loaded, rest);
  if (values.help) {
    const { printHelp } = await import("./help.ts");
    return printHelp(terminal, env, [command.row.name]);
  }
  checkArity(command, loaded, positionals);
  const call = openCall(values, positionals, env, terminal);
  return ("start" in loaded ? loaded.start : runOf(loaded))(call);
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

function checkArity({ row }: Command, loaded: Verb | Program, given: readonly string[]): void {
  const { length } = given;
  const positions = positionsOf(loaded);
  const missing = positions.filter(({ isOptional }) => !isOptional)[length];
  const isTooMany = length > positions.length && !positions.at(-1)?.isRest;
  if (!missing && !isTooMany) return;
  const problem = missing ? "an argument is missing" : `"${given.at(-1)}" is one argument too many`;
  throw new MemdirError(
    "usage",
    `${problem}: the call is \`${usageOf(row.name, loaded)}\`; see memdir ${row.name} --help`,
  );
}

type Values = Record<string, string | boolean | (string | boolean)[] | undefined>;

function readOptions(
  { row }: Command,
  { input }: Verb | Program,
  argv: string[],
): { values: Values; positionals: string[] } {
  try {
    return parseArgs({ args: argv, options: optionsFor({ ...input, ...COMMON }), allowPositionals: true });
  } catch (error) {
    const message = (error as Error).message.split(/\.(?:\s|$)/)[0];
    const dash = row.name === "save" ? "; put -- before a text that begins with a dash" : "";
    throw new MemdirError("usage", `${message}${dash}; see memdir ${row.name} --help`, { cause: error });
  }
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
  else terminal.warn(fold(`memdir: ${sanitiseLine(message)}`, terminal.columns, 4));
  if (options.debug && error instanceof Error) {
    terminal.warn(error.stack ?? "");
    if (error.cause) terminal.warn(`caused by: ${(error.cause as Error).stack ?? error.cause}`);
  }
  return exitCodeOf(error);
}
