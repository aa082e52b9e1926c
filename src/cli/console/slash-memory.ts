/** Slash commands about memories, and saving what was said. */

import { MemdirError } from "../../errors.ts";
import { nameStatement, typeOfStatement } from "../../learn/said-statement.ts";
import { isMemoryType, type MemoryType } from "../../store/store.ts";
import { editByHand } from "../edit.ts";
import { plainRow } from "../list.ts";
import { printSaved } from "../save.ts";
import { printMemory } from "../show.ts";
import { type Desk, type SlashCommand, stay } from "./slash-desk.ts";

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
    run: stay((rest, desk) => saveSaid(rest, desk)),
  },
  { name: "search", usage: "WORDS", help: "finds memories", run: stay(searchMemories) },
  {
    name: "undo",
    usage: "[ID]",
    help: "takes the last change of a memory back",
    run: stay(async (rest, { memdir, terminal }) => {
      const { action, files } = await memdir.undo(rest === "" ? undefined : rest);
      terminal.print(`undid ${action}: ${files.join(", ")}`);
    }),
  },
];

type Verb = (rest: string, desk: Desk) => Promise<void>;

const VERBS: Readonly<Record<string, Verb>> = {
  "": listMemories,
  list: listMemories,
  show: async (name, { memdir, terminal }) => {
    if (name !== "") return printMemory(await memdir.show(name), terminal);
    const { index } = await memdir.index();
    terminal.print(index === "" ? "MEMORY.md is empty." : index);
  },
  save: async (rest, desk) => {
    const [first = "", ...more] = rest.split(/\s+/);
    const body = isMemoryType(first) ? more.join(" ") : rest;
    if (body === "") {
      throw new MemdirError(
        "usage",
        "the call is /memory save TYPE TEXT, such as: /memory save feedback never commit to main",
      );
    }
    await saveText(isMemoryType(first) ? first : typeOfStatement(body), body, desk);
  },
  edit: async (name, { memdir, release, terminal }) => {
    if (name === "") throw new MemdirError("usage", "say which memory to edit; /memory lists them");
    if (!release)
      throw new MemdirError("usage", "an editor needs a terminal: use memdir save, or edit the file itself");
    const result = await release(() => editByHand(memdir, name, { redact: false }));
    printSaved({ json: false, terminal }, result);
  },
  forget: forgetSaid,
  on: async (_, desk) => switchMemory(true, desk),
  off: async (_, desk) => switchMemory(false, desk),
  where: async (_, { memdir, terminal }) => {
    for (const { scope, path, readOnly } of memdir.directories)
      terminal.print(`${scope.padEnd(8)} ${path}${readOnly ? " (only read)" : ""}`);
  },
};

async function answerMemory(rest: string, desk: Desk): Promise<void> {
  const [, verb = "", text = ""] = /^(\S*)\s*([\s\S]*)$/.exec(rest) ?? [];
  if (!Object.hasOwn(VERBS, verb)) {
    const known = Object.keys(VERBS).filter((name) => name !== "" && name !== "list");
    throw new MemdirError("usage", `/memory ${verb} is not known: there are /memory and /memory ${known.join(", ")}`);
  }
  await VERBS[verb]?.(text.trim(), desk);
}

async function listMemories(_: string, { memdir, terminal }: Desk): Promise<void> {
  const rows = await memdir.list();
  if (rows.length === 0) return terminal.print("No memories saved yet.");
  terminal.print([`${rows.length} ${rows.length === 1 ? "memory" : "memories"}:`, ...rows.map(plainRow)].join("\n"));
}

async function searchMemories(rest: string, { memdir, terminal }: Desk): Promise<void> {
  if (rest === "") throw new MemdirError("usage", "say what to search for, such as: /search deploy");
  const hits = await memdir.search(rest);
  if (hits.length === 0) return terminal.print("Nothing found.");
  terminal.print(hits.map((hit) => `    ${hit.name}: ${hit.line}`).join("\n"));
}

function switchMemory(on: boolean, { agent, memdir, terminal }: Desk): void {
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
export async function saveSaid(rest: string, desk: Desk): Promise<void> {
  const said = rest.replace(/^(that|to|:)\s*/i, "").trim();
  if (said === "") {
    throw new MemdirError("usage", "say what to remember, such as: remember that releases are cut on Tuesdays");
  }
  await saveText(typeOfStatement(said), said, desk);
}

export async function saveText(type: MemoryType, text: string, desk: Desk): Promise<void> {
  const { memdir, terminal } = desk;
  const name = nameStatement(text);
  const source = { by: "user", session: null, message: null };
  // A name that says it all needs no description.
  const description = text === name ? "" : text.replace(/\s+/g, " ").slice(0, 140);
  const result = await memdir.save({ type, name, description, body: text, source });
  printSaved({ json: false, terminal }, result);
  terminal.print(terminal.color.dim(`    saved as ${type}; memdir edit ${result.file} changes it`));
}

/** By name first; else the one memory that holds all the words. More than one is never guessed at. */
export async function forgetSaid(rest: string, { memdir, terminal }: Desk): Promise<void> {
  const said = rest.replace(/^(that|about|the memory)\s+/i, "").trim();
  if (said === "") throw new MemdirError("usage", "say which memory to forget; /memory lists them");
  const file = await findForgettable(said, memdir);
  const { undo } = await memdir.forget(file);
  terminal.print(`removed ${file}; /undo brings it back${undo === null ? "" : ` (entry ${undo})`}`);
}

async function findForgettable(said: string, memdir: Desk["memdir"]): Promise<string> {
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
