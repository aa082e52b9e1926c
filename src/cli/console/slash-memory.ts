/** Slash commands about memories, and saving what was said. */

import { MemdirError } from "../../errors.ts";
import { nameStatement, typeOfStatement } from "../../learn/said-statement.ts";
import { isMemoryType, type MemoryType } from "../../store/store.ts";
import { editByHand, printSaved, undo } from "../changes.ts";
import { countMemories } from "../command.ts";
import { plainRow, search, show } from "../memories.ts";
import { type Console, type SlashCommand, stay } from "./slash.ts";

export const MEMORY_COMMANDS: readonly SlashCommand[] = [
  {
    name: "memory",
    usage: "[show|save|edit|forget|on|off|where]",
    help: "lists what is remembered; show NAME, save TYPE TEXT, edit NAME, forget NAME, on, off, where",
    words: ["list", "show", "save", "edit", "forget", "on", "off", "where"],
    run: stay(answerMemory),
  },
  {
    name: "remember",
    usage: "TEXT",
    help: "saves a memory, the type is guessed",
    run: stay((rest, console) => saveSaid(rest, console)),
  },
  { name: "search", usage: "WORDS", help: "finds memories", run: stay(searchMemories) },
  {
    name: "undo",
    usage: "[ID]",
    help: "takes the last change of a memory back",
    run: stay(async (rest, console) => void (await undo({ ...console, args: rest === "" ? [] : [rest] }))),
  },
];

type Verb = (rest: string, console: Console) => Promise<void>;

const VERBS: Readonly<Record<string, Verb>> = {
  "": listMemories,
  list: listMemories,
  show: async (name, console) => {
    if (name !== "") return void (await show({ ...console, args: [name] }));
    const { index } = await console.memdir.index();
    console.terminal.print(index === "" ? "MEMORY.md is empty." : index);
  },
  save: async (rest, console) => {
    const [first = "", ...more] = rest.split(/\s+/);
    const body = isMemoryType(first) ? more.join(" ") : rest;
    if (body === "") {
      throw new MemdirError(
        "usage",
        "the call is /memory save TYPE TEXT, such as: /memory save feedback never commit to main",
      );
    }
    await saveText(isMemoryType(first) ? first : typeOfStatement(body), body, console);
  },
  edit: async (name, console) => {
    const { release } = console;
    if (name === "") throw new MemdirError("usage", "say which memory to edit; /memory lists them");
    if (!release)
      throw new MemdirError("usage", "an editor needs a terminal: use memdir save, or edit the file itself");
    const { memdir, env } = console;
    printSaved(console, await release(() => editByHand(memdir, name, { redact: false, env })));
  },
  forget: forgetSaid,
  on: async (_, console) => switchMemory(true, console),
  off: async (_, console) => switchMemory(false, console),
  where: async (_, { memdir, terminal }) => {
    for (const { scope, path, readOnly } of memdir.directories)
      terminal.print(`${scope.padEnd(8)} ${path}${readOnly ? " (only read)" : ""}`);
  },
};

async function answerMemory(rest: string, console: Console): Promise<void> {
  const [, verb = "", text = ""] = /^(\S*)\s*([\s\S]*)$/.exec(rest) ?? [];
  if (!Object.hasOwn(VERBS, verb)) {
    const known = Object.keys(VERBS).filter((name) => name !== "" && name !== "list");
    throw new MemdirError("usage", `/memory ${verb} is not known: there are /memory and /memory ${known.join(", ")}`);
  }
  await VERBS[verb]?.(text.trim(), console);
}

async function listMemories(_: string, { memdir, terminal }: Console): Promise<void> {
  const rows = await memdir.list();
  if (rows.length === 0) return terminal.print("No memories saved yet.");
  terminal.print([`${countMemories(rows.length)}:`, ...rows.map(plainRow)].join("\n"));
}

async function searchMemories(rest: string, console: Console): Promise<void> {
  if (rest === "") throw new MemdirError("usage", "say what to search for, such as: /search deploy");
  await search({ ...console, args: [rest] });
}

function switchMemory(on: boolean, { agent, memdir, terminal }: Console): void {
  if (on && memdir.config.disabled !== null) {
    throw new MemdirError(
      "usage",
      `memory is switched off for this project: ${memdir.config.disabled}; change it there`,
    );
  }
  agent.memory(on);
  const lasting = "`autoMemoryEnabled` in Claude Code's settings does it for good";
  terminal.print(
    on ? "memory is on in this session" : `memory is off in this session: nothing is recalled; ${lasting}`,
  );
}

/** "remember that …", "# …": the user's own words, at once. */
export async function saveSaid(rest: string, console: Console): Promise<void> {
  const said = rest.replace(/^(that|to|:)\s*/i, "").trim();
  if (said === "") {
    throw new MemdirError("usage", "say what to remember, such as: remember that releases are cut on Tuesdays");
  }
  await saveText(typeOfStatement(said), said, console);
}

export async function saveText(type: MemoryType, text: string, console: Console): Promise<void> {
  const { memdir, terminal } = console;
  const name = nameStatement(text);
  const source = { by: "user", session: null, message: null };
  // A name that says it all needs no description.
  const description = text === name ? "" : text.replace(/\s+/g, " ").slice(0, 140);
  const result = await memdir.save({ type, name, description, body: text, source });
  printSaved(console, result);
  terminal.print(terminal.color.dim(`    saved as ${type}; memdir edit ${result.file} changes it`));
}

/** By name first; else the one memory that holds all the words. More than one is never guessed at. */
export async function forgetSaid(rest: string, { memdir, terminal }: Console): Promise<void> {
  const said = rest.replace(/^(that|about|the memory)\s+/i, "").trim();
  if (said === "") throw new MemdirError("usage", "say which memory to forget; /memory lists them");
  const file = await findForgettable(said, memdir);
  const { undo } = await memdir.forget(file);
  terminal.print(`removed ${file}; /undo brings it back${undo === null ? "" : ` (entry ${undo})`}`);
}

async function findForgettable(said: string, memdir: Console["memdir"]): Promise<string> {
  try {
    return (await memdir.show(said)).file;
  } catch (error) {
    if (!(error instanceof MemdirError) || error.code !== "not-found") throw error;
    const hits = await memdir.search(said);
    const best = hits.filter((hit) => hit.score === hits[0]?.score);
    if (best.length === 1 && best[0]) return best[0].file;
    if (best.length === 0) throw error;
    const list = best
      .slice(0, 5)
      .map((hit) => hit.file)
      .join(", ");
    throw new MemdirError("ambiguous", `several memories could be meant: ${list}; say forget and one of these names`);
  }
}
