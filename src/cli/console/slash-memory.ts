/** What a slash command is, and those about memories: the verbs of the table, and `/memory`, which names some of them once more. */

import type { Agent } from "../../agent/agent.ts";
import { MemdirError } from "../../errors.ts";
import type { Memdir } from "../../memdir.ts";
import { cutLine } from "../../text/sanitise.ts";
import { countMemories, positionsOf, type Verb } from "../../verb.ts";
import { titleOf } from "../../verbs/list.ts";
import { type Row, VERBS } from "../../verbs/table.ts";
import { type Call, findArity, readWords, runOf, type Words } from "../command.ts";
import { print } from "../terminal.ts";

/** What is going on, asked for again and again; with the tokens that were written, if they are known. */
export type Status = () => { label: string; tokens: number | null };

/** The project's memory, its agent, and the person in front of it: a call of the command line that goes on. */
export interface Console extends Call {
  memdir: Memdir;
  agent: Agent;
  /** True without a model: prompts are previewed, not answered. */
  offline: boolean;
  /** Gives the terminal to another program, such as an editor, until the work ends; null where there is no terminal. */
  release: (<T>(work: () => Promise<T>) => Promise<T>) | null;
  /** Long work: where there is a terminal, it shows what is going on, and Ctrl-C aborts the signal. */
  working<T>(status: string | Status, work: (signal: AbortSignal) => Promise<T>): Promise<T>;
  /** Puts words into the input line, to be changed and sent. */
  suggest(text: string): void;
}

export interface SlashCommand {
  name: string;
  /** Its arguments, as the help shows them. */
  usage?: string;
  help: string;
  /** Words that can follow, for completion. */
  words?: readonly string[];
  /** Another word for the command before it: it works, and is not listed. */
  isAlias?: boolean;
  /** Memory names can follow. */
  takesName?: boolean | undefined;
  run(rest: string, console: Console): Promise<unknown>;
}

export const MEMORY_COMMAND: SlashCommand = {
  name: "memory",
  usage: "[show|save|edit|forget|on|off|where]",
  help: "List what is remembered; show NAME, save [TYPE] TEXT, edit NAME, forget NAME; on, off, where",
  words: ["list", "show", "save", "edit", "forget", "on", "off", "where"],
  run: answerMemory,
};

async function answerMemory(rest: string, console: Console): Promise<void> {
  const [, word = "", text = ""] = /^(\S*)\s*([\s\S]*)$/.exec(rest) ?? [];
  const name = word === "" ? "list" : word === "show" && text === "" ? "index" : word;
  if (name === "on" || name === "off") return switchMemory(name === "on", console);
  if (name === "where") return showWhere(console);
  if (name === "list") return listMemories(console);
  if (!["index", "show", "save", "edit", "forget"].includes(name))
    throw new MemdirError(
      "usage",
      `/memory ${word} is not known: there are /memory and /memory show, save, edit, forget, on, off, where`,
    );
  const typed = name === "save" ? text.replace(/^(user|feedback|project|reference)\s+/, "--type $1 ") : text;
  await runVerb(name, typed, console);
}

/** Runs a verb of the table on a line as it was typed. */
export async function runVerb(name: string, rest: string, console: Console): Promise<void> {
  const row = VERBS.find((one) => one.name === name) as Row;
  await runLine(row, rest, console);
}

export async function runLine(row: Row, rest: string, console: Console): Promise<void> {
  const verb = await row.load();
  const read = readLine(verb, rest);
  const { missing, extra } = findArity(verb, read.args);
  if (missing !== undefined) {
    const { value = missing, help } = verb.input[missing] ?? {};
    throw new MemdirError("usage", `/${row.name}: ${value} is missing (${help})`);
  }
  if (extra !== undefined) throw new MemdirError("usage", `/${row.name}: "${extra}" is one argument too many`);
  const { memdir, agent } = console;
  const call = {
    ...console,
    ...read,
    // What is said in the console is said by its user.
    value: (name: string) => read.value(name) ?? (name === "source" ? "user" : undefined),
    open: async (options?: object) => (options ? console.open(options) : memdir),
  };
  const model = agent.model();
  const conversation = { session: agent.sessionId, model: model.name === "" ? null : model };
  const run = (signal?: AbortSignal) => runOf(verb, { call: (words) => `/${words}`, signal, conversation })(call);
  if (row.name === "edit" || (row.name === "inbox" && read.args[0] === "edit")) {
    if (!console.release)
      throw new MemdirError("usage", `an editor needs a terminal: run \`memdir ${row.name} ${rest}\` in one`);
    await console.release(() => run());
  } else if (row.isLong) await console.working(row.name, run);
  else await run();
}

/** Without options the whole line is the argument, so that names and sentences need no quotes. */
function readLine(verb: Verb, rest: string): Words {
  const isPlain = positionsOf(verb).length === 1 && !/(?:^|\s)--\w/.test(rest);
  const words = isPlain ? [rest].filter(Boolean) : (rest.match(/"[^"]*"|'[^']*'|\S+/g) ?? []);
  const unquoted = words.map((word) => word.replace(/^(["'])(.*)\1$/s, "$2"));
  return isPlain ? { ...readWords(verb.input, []), args: unquoted } : readWords(verb.input, unquoted);
}

/** A count, then `[type] name — description`: as Claude Code shows it. */
async function listMemories({ memdir, terminal }: Console): Promise<void> {
  const rows = await memdir.list();
  const lines = rows.map((row) => ["    ", ...titleOf(row, (name) => name)]);
  print(terminal, rows.length === 0 ? ["No memories saved yet."] : [`${countMemories(rows.length)}:`, ...lines]);
}

function showWhere({ memdir, terminal }: Console): void {
  for (const { scope, path, readOnly } of memdir.directories)
    terminal.print(`${scope.padEnd(8)} ${path}${readOnly ? " (read-only)" : ""}`);
}

function switchMemory(on: boolean, { agent, memdir, terminal }: Console): void {
  if (on && memdir.config.disabled !== null) {
    throw new MemdirError(
      "usage",
      `memory is switched off for this project: ${memdir.config.disabled}; change it there`,
    );
  }
  agent.memory(on);
  const lasting = "`autoMemoryEnabled` in Claude Code's settings switches it off for good";
  print(terminal, [
    on ? "memory is on in this session" : `memory is off in this session: nothing is recalled; ${lasting}`,
  ]);
}

/** "remember that …", "# …": the user's own words, at once. */
export async function saveSaid(said: string, console: Console): Promise<void> {
  await runVerb("save", said.replace(/^(?:that|to|:)\s+/i, ""), console);
}

/** By name first; else the one memory that contains all the words, if the person says that it is meant. */
export async function forgetSaid(rest: string, console: Console): Promise<void> {
  const said = rest.replace(/^(that|about|the memory)\s+/i, "").trim();
  if (said === "") throw new MemdirError("usage", "say which memory to forget; /memory lists them");
  const file = await findForgettable(said, console);
  if (file !== null) await runVerb("forget", file, console);
}

/** Null when the person does not mean what was found. */
async function findForgettable(said: string, { memdir, terminal }: Console): Promise<string | null> {
  try {
    return (await memdir.show(said)).file;
  } catch (error) {
    if (!(error instanceof MemdirError) || error.code !== "not-found") throw error;
    const hits = await memdir.search(said);
    const [best, ...others] = hits.filter((hit) => hit.score === hits[0]?.score);
    if (!best) throw error;
    if (others.length === 0 && terminal.interactive) {
      const question = `Forget ${best.file}${best.description === "" ? "" : ` (${cutLine(best.description, 80)})`}?`;
      return (await terminal.ask(question)) ? best.file : null;
    }
    const list = [best, ...others.slice(0, 4)].map((hit) => hit.file).join(", ");
    const what =
      others.length === 0 ? "no memory has this name, but these words are in" : "several memories could be meant:";
    throw new MemdirError(
      "ambiguous",
      `${what} ${list}; to forget ${others.length === 0 ? "it" : "one"}, type forget and its name`,
    );
  }
}
