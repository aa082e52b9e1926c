/** From arguments to an exit code: finds the command, reads its options, runs it, and is the one place that catches. */

import { statSync } from "node:fs";
import { processEnv } from "../config.ts";
import { exitCodeOf, MemdirError } from "../errors.ts";
import { openMemdir } from "../open.ts";
import { sanitiseLine } from "../text/sanitise.ts";
import type { Fields } from "../verb.ts";
import type { Env } from "../world.ts";
import { type Call, COMMON, findArity, note, readWords, runOf, type Words, warning } from "./command.ts";
import { findCommand, usageOf } from "./commands.ts";
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
  const help = async (words: readonly string[]) => (await import("./help.ts")).printHelp(terminal, env, words);
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
