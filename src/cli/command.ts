/** What a command is and what it is called with; what commands have in common; a verb as a command; and from arguments to an exit code. */

import { once } from "node:events";
import { statSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { processEnv } from "../config.ts";
import { exitCodeOf, MemdirError } from "../errors.ts";
import type { Memdir } from "../memdir.ts";
import { type OpenOptions, openMemdir } from "../open.ts";
import { MAX_MEMORY_BYTES } from "../store/store.ts";
import { distance } from "../text/likeness.ts";
import { sanitiseLine } from "../text/sanitise.ts";
import {
  type Context,
  type Fields,
  flag,
  fold,
  notes,
  number,
  positionsOf,
  readInput,
  type Said,
  text,
  type Verb,
} from "../verb.ts";
import type { Row } from "../verbs/table.ts";
import type { Env, World } from "../world.ts";
import { openTerminal, print, type Terminal } from "./terminal.ts";

declare const __MEMDIR_VERSION__: string;

/** A command that is not a verb: it has a conversation, a server or a life of its own. */
export interface Program extends Pick<Verb, "args" | "input" | "usage" | "about" | "examples"> {
  start: Run;
}

export interface CommandRow extends Omit<Row, "on" | "load"> {
  load(): Promise<Verb | Program>;
  /** For what must not fail, whatever it is called with. Returns the exit code. */
  failOpen?(error: unknown, call: Pick<Call, "args" | "env" | "terminal">): Promise<number>;
}

/** A module's `start` is loaded when the program is called. */
export function program(
  group: CommandRow["group"],
  name: string,
  summary: string,
  load: () => Promise<{ start: Run }>,
  definition: Partial<Program> & Pick<Program, "examples">,
): CommandRow {
  const start: Run = async (call) => (await load()).start(call);
  return { name, group, summary, load: async () => ({ args: [], input: {}, ...definition, start }) };
}

/** Without what is given by position. */
export function ownOptions(definition: Verb | Program): Fields {
  const positions = new Set(positionsOf(definition).map(({ name }) => name));
  return Object.fromEntries(Object.entries(definition.input).filter(([name]) => !positions.has(name)));
}

/** `memdir rename NAME NEW`. */
export function usageOf(name: string, definition: Verb | Program): string {
  const words = positionsOf(definition).map(({ name, isOptional, isRest }) => {
    const word = `${definition.input[name]?.value ?? name.toUpperCase()}${isRest ? "…" : ""}`;
    return isOptional ? `[${word}]` : word;
  });
  return `${name === "console" ? "memdir" : `memdir ${name}`} ${definition.usage ?? words.join(" ")}`.trim();
}

/** Returns the exit code. */
export type Run = (call: Call) => Promise<number>;

/** What was typed, by position and by name. */
export type Words = ReturnType<typeof readWords>;

export interface Call extends Words, Pick<World, "env" | "now" | "log"> {
  json: boolean;
  cwd: string;
  terminal: Terminal;
  /** Opens the project's memory as the call asks for it, and shows each of its warnings once unless `quiet`. */
  open(options?: Partial<OpenOptions> & { quiet?: boolean }): Promise<Memdir>;
}

/** They are taken before and after the command. */
export const COMMON = {
  cwd: text("the project to work on (default: the current directory)", "DIR"),
  "memory-dir": text("use this memory directory instead of the project's", "DIR"),
  scope: text("user, project, team or agent:NAME (default: all for reading, project for writing)", "SCOPE"),
  json: flag("print one JSON value on standard output, and nothing else"),
  help: flag("show this help", { short: "h" }),
};

/** Throws `usage`, with `hint` behind what is wrong. */
export function readWords(fields: Fields, words: string[], hint = "") {
  const options = Object.entries(fields).map(([name, { value, isList = false, short }]) => [
    name,
    { type: value === undefined ? "boolean" : "string", multiple: isList, ...(short && { short }) } as const,
  ]);
  try {
    const read = parseArgs({
      args: joinNegatives(fields, words),
      options: Object.fromEntries(options),
      allowPositionals: true,
    });
    const values: Record<string, unknown> = read.values;
    return {
      args: read.positionals,
      flag: (name: string) => values[name] === true,
      value: (name: string) => (typeof values[name] === "string" ? values[name] : undefined),
      values: (name: string) => (Array.isArray(values[name]) ? (values[name] as string[]) : []),
    };
  } catch (error) {
    throw new MemdirError("usage", `${describeMistake((error as Error).message, fields)}${hint}`, { cause: error });
  }
}

/** What `parseArgs` says, in our words. */
function describeMistake(message: string, fields: Fields): string {
  const option = /'(?:-\w, )?(--?[^'\s<]+)/.exec(message)?.[1] ?? "";
  if (/does not take an argument/.test(message)) return `${option} takes no value`;
  if (/argument (?:missing|is ambiguous)/.test(message)) return `${option} needs a value`;
  if (!message.startsWith("Unknown option")) return message.split(/\.(?:\s|$)/)[0] as string;
  const near = option.length > 3 && Object.keys(fields).find((name) => `--${name}`.startsWith(option));
  return `there is no option ${option}${near ? ` (did you mean --${near}?)` : ""}`;
}

/** A negative number behind an option is its value, which the check of the option refuses in its own words. */
function joinNegatives(fields: Fields, words: readonly string[]): string[] {
  const joined: string[] = [];
  for (const word of words) {
    const option = joined.at(-1) ?? "";
    const isValue = option.startsWith("--") && fields[option.slice(2)]?.value !== undefined && /^-\d+$/.test(word);
    if (isValue && !joined.includes("--")) joined.push(`${joined.pop()}=${word}`);
    else joined.push(word);
  }
  return joined;
}

/** The name of the argument that is missing, or the word that is one too many. */
export function findArity(definition: Pick<Verb, "args">, args: readonly string[]) {
  const positions = positionsOf(definition);
  const missing = positions.filter(({ isOptional }) => !isOptional)[args.length]?.name;
  const isTooMany = args.length > positions.length && !positions.at(-1)?.isRest;
  return { missing, extra: isTooMany ? args.at(-1) : undefined };
}

/** The `--json` answer, or the same in words. Returns the exit code. */
export function answer({ json, terminal }: Pick<Call, "json" | "terminal">, value: unknown, said: Said, code = 0) {
  if (json) terminal.json(value);
  else print(terminal, said);
  return code;
}

export function note({ terminal }: Pick<Call, "terminal">, notices: readonly string[]): void {
  print(terminal, notes(notices));
}

/** One line, however many there are: doctor has all of them. */
export function warning({ terminal }: Pick<Call, "terminal">, [first, ...others]: readonly string[]): void {
  const more = others.length === 0 ? "" : ` (and ${others.length} more: memdir doctor shows them)`;
  if (first !== undefined) print(terminal, [{ warning: first + more }]);
}

/** As a shell says it of a program that Ctrl-C ended. */
const INTERRUPTED = 130;

/** Work that Ctrl-C cancels instead of killing it. A second signal finds no listener, and ends the process at once. */
export async function cancellable<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const stop = new AbortController();
  const onSignal = () => stop.abort();
  process.once("SIGINT", onSignal);
  try {
    return await work(stop.signal);
  } finally {
    process.off("SIGINT", onSignal);
  }
}

/** For what runs until it is told to end; a second signal ends the process at once here, too. */
export function untilSignal(...more: NodeJS.Signals[]): Promise<unknown> {
  return Promise.race(["SIGINT", "SIGTERM", ...more].map((name) => once(process, name)));
}

export function portOf(call: Call): number | undefined {
  return numberOf(call, "port", { max: 65_535 });
}

/** A whole number that an option of a program gives; as days and as seconds a million is too many. */
export function numberOf(call: Call, name: string, { min = 0, max = 999_999 } = {}): number | undefined {
  return readInput({ [name]: number("", { min, max }) }, { [name]: call.value(name) }, () => `--${name}`)[name];
}

// --- A verb as a command: its input read from the call, run, and its result printed.

/** How a console or a command line differs from the other. */
interface Manner {
  /** Another verb's call, as one would type it here. */
  call(words: string): string;
  /** Cancels it; without one, Ctrl-C does. */
  signal?: AbortSignal | undefined;
  conversation?: Context["conversation"];
}

const ON_COMMAND_LINE: Manner = { call: (words) => `memdir ${words}` };

export function runOf<F extends Fields, R>(verb: Verb<F, R>, manner = ON_COMMAND_LINE): Run {
  return async (call) => {
    const run = (signal: AbortSignal) => runVerb(verb, call, manner, signal);
    return manner.signal ? run(manner.signal) : cancellable(run);
  };
}

function readVerbInput<F extends Fields, R>(verb: Verb<F, R>, call: Call) {
  const given: Record<string, unknown> = {};
  for (const [name, { isList, value }] of Object.entries(verb.input))
    given[name] = isList ? call.values(name) : value === undefined ? call.flag(name) || undefined : call.value(name);
  const positions = positionsOf(verb);
  for (const [at, { name, isRest }] of positions.entries()) {
    const words = isRest ? call.args.slice(at) : call.args.slice(at, at + 1);
    if (words.length > 0) given[name] = words.join(" ");
  }
  const nameOf = (name: string) =>
    positions.some((position) => position.name === name) ? (verb.input[name]?.value ?? name) : `--${name}`;
  return readInput(verb.input, given, nameOf);
}

/** Opens the store, runs the verb and prints what it says. */
async function runVerb<F extends Fields, R>(
  verb: Verb<F, R>,
  call: Call,
  { call: spell, conversation, signal: given }: Manner,
  signal: AbortSignal,
): Promise<number> {
  const input = readVerbInput(verb, call);
  const isCommand = given === undefined;
  const { json, terminal, cwd, env, now, log } = call;
  const { progress } = terminal;
  const show = (said: Said, value?: unknown) => {
    terminal.endProgress();
    if (!json) print(terminal, said);
    else if (value !== undefined) terminal.print(JSON.stringify(value));
    // They are for people beside a JSON answer, too.
    else if (!verb.hasWarnings) print(terminal, said.filter(isWarning));
  };
  try {
    const memdir = await call.open(verb.hasWarnings ? { quiet: true } : undefined);
    signal.throwIfAborted();
    const result = await verb.run(memdir, input, {
      ...{ cwd, env, now, log, show, conversation, scope: call.value("scope"), signal, progress },
      // Asked late: whether somebody is there is known by standard input, and looking at it loads half of Node's streams.
      get ask() {
        return !json && terminal.interactive ? (question: string) => terminal.ask(question) : null;
      },
      get choose() {
        return !json && isCommand && terminal.interactive ? terminal.choose : undefined;
      },
      readInput: () => terminal.readInput({ signal, maxBytes: MAX_MEMORY_BYTES }),
      ruleNotices: () => findRuleNotices({ env, now, log, cwd }),
      open: (options) => call.open({ quiet: true, ...options }),
    });
    show(verb.say(result, { input, call: (words) => spell(thereToo(call, words)), now: now() }));
    const value = verb.json ? verb.json(result) : result;
    if (json && value !== undefined) terminal.json(value);
    // What goes on until it is told to end has ended as it should.
    if (isCommand && signal.aborted && value !== undefined) return INTERRUPTED;
    if (isCommand) await verb.after?.(memdir, input, { progress, signal });
    terminal.endProgress();
    return verb.exitCode?.(result) ?? 0;
  } catch (error) {
    terminal.endProgress();
    // A console goes on, and says what was stopped.
    if (signal.aborted && (isCommand || !(error instanceof MemdirError))) return INTERRUPTED;
    if (!isCommand || !(error instanceof MemdirError)) throw error;
    const { code, message, cause, details } = error;
    const words = message.replace(/(?<=`memdir )[^`]+/g, (words) => thereToo(call, words));
    throw new MemdirError(code, words, { cause, details });
  }
}

/** What is to be typed next must work where this call worked. */
function thereToo(call: Call, words: string): string {
  const where = ["cwd", "memory-dir", "scope"].flatMap((name) => {
    const value = call.value(name);
    return value === undefined ? [] : [`--${name} ${/^[\w./:~-]+$/.test(value) ? value : JSON.stringify(value)}`];
  });
  return [...where, words].join(" ");
}

function isWarning(line: Said[number]): boolean {
  return typeof line === "object" && "warning" in line;
}

/** Loaded here: few memories are rules. */
async function findRuleNotices(given: Pick<Context, "cwd" | "env" | "now" | "log">): Promise<string[]> {
  try {
    const { findRuleGaps } = await import("../wiring/hook-form.ts");
    const { openMachine } = await import("../wiring/machine.ts");
    return findRuleGaps(openMachine(fileURLToPath(import.meta.url), given)).map(
      ({ title }) =>
        `${title} checks rules through memdir's server: \`memdir init\` makes them hold when that is switched off, too`,
    );
  } catch {
    return []; // an incomplete installation, which `memdir doctor` reports
  }
}

// --- From arguments to an exit code.

/** Every command, and what prints their help. */
export interface CommandLine {
  commands: readonly CommandRow[];
  printHelp(
    terminal: Terminal,
    env: Env,
    commands: readonly CommandRow[],
    about: CommandRow | boolean,
  ): Promise<number>;
}

/** Tells which command is meant, reads its options and runs it: the one place that catches. */
export async function runCommandLine(argv: string[], line: CommandLine): Promise<number> {
  const env = processEnv();
  const terminal = openTerminal(env);
  const json = argv.includes("--json");
  const fail = (error: unknown) => report(error, { json, debug: Boolean(env.MEMDIR_DEBUG) }, terminal);
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    // A reader that closes early (`memdir list | head -1`) is no error.
    if (error.code === "EPIPE") process.exit(0);
    process.exit(fail(new MemdirError("disk", `cannot write standard output: ${error.message}`, { cause: error })));
  });
  try {
    return await dispatch(argv, line, env, terminal);
  } catch (error) {
    const { name = "", rest } = splitCommand(argv);
    const failOpen = rowOf(line.commands, name)?.failOpen;
    return failOpen ? failOpen(error, { args: rest, env, terminal }) : fail(error);
  }
}

async function dispatch(
  argv: string[],
  { commands, printHelp }: CommandLine,
  env: Env,
  terminal: Terminal,
): Promise<number> {
  const { name, rest } = splitCommand(argv);
  const isAsked = (...options: string[]) => name === undefined && rest.some((word) => options.includes(word));
  if (name === "version" || isAsked("--version", "-v")) {
    terminal.print(__MEMDIR_VERSION__);
    return 0;
  }
  const help = async (words: readonly string[]) => {
    const named = words.find((word) => !word.startsWith("-"));
    const row = named === undefined ? null : findCommand(commands, named);
    return printHelp(terminal, env, commands, row ?? words.includes("--all"));
  };
  if (name === "help" || isAsked("--help", "-h")) return help(rest.filter((word) => !["--help", "-h"].includes(word)));
  const row = findCommand(commands, name ?? "console");
  if (row.formerly === name && name !== undefined && !argv.includes("--json"))
    note({ terminal }, [`\`${name}\` is now \`memdir ${row.name}\``]);
  const loaded = await row.load();
  const dash = row.name === "save" ? "; put -- before a text that begins with a dash" : "";
  const behind = name === undefined ? rest.find((word) => rowOf(commands, word)) : undefined;
  const order = behind ? `; put the options of ${behind} after it, as in \`memdir ${behind} --…\`` : "";
  const about = behind ? `${behind} ` : name === undefined ? "" : `${row.name} `;
  const hint = `${dash}${order}; see memdir ${about}--help`;
  const words = readWords({ ...loaded.input, ...COMMON }, rest, hint);
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

function rowOf(commands: readonly CommandRow[], word: string): CommandRow | undefined {
  return commands.find(({ name, aliases, formerly }) => name === word || formerly === word || aliases?.includes(word));
}

function findCommand(commands: readonly CommandRow[], word: string): CommandRow {
  const row = rowOf(commands, word);
  if (row) return row;
  throw new MemdirError(
    "usage",
    `there is no command "${word}"${nearest(commands, word)}; \`memdir help --all\` lists them`,
  );
}

function nearest(commands: readonly CommandRow[], word: string): string {
  const near = commands
    .map(({ name }) => ({ name, steps: distance(word.toLowerCase(), name) }))
    .filter(({ name, steps }) => steps <= Math.max(1, Math.floor(name.length / 3)))
    .sort((a, b) => a.steps - b.steps)[0];
  const begun = near ?? commands.find(({ name }) => word.length > 2 && name.startsWith(word.slice(0, 3)));
  return begun ? ` (did you mean "${begun.name}"?)` : "";
}
