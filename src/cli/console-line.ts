/** What a line typed into the console does. */

import { MemdirError } from "../errors.ts";
import type { Memdir } from "../memdir.ts";
import { isMemoryType, MEMORY_TYPES, type MemoryType } from "../memory/type.ts";
import type { Terminal } from "./command.ts";
import { plainRow } from "./list.ts";
import { printSaved } from "./save.ts";
import { printMemory } from "./show.ts";

const HELP = `/memory                   lists what is remembered
/memory show [NAME]       one memory, or MEMORY.md as the model sees it
/memory save TYPE TEXT    saves a memory (${MEMORY_TYPES.join(", ")})
remember TEXT             saves a memory, the type is guessed
forget NAME               removes a memory
/search WORDS             finds memories
/undo                     takes the last change back
/exit                     leaves; so does Ctrl-D`;

export async function answerLine(line: string, memdir: Memdir, terminal: Terminal): Promise<"leave" | "stay"> {
  const text = line.trim();
  const [, command = "", rest = ""] = /^(\/?\S+)\s*([\s\S]*)$/.exec(text) ?? [];
  if (text === "") return "stay";
  if (/^\/(exit|quit)$/.test(command)) return "leave";
  const answer = ANSWERS[command.toLowerCase().replace(/:$/, "")];
  if (answer) await answer(rest.trim(), memdir, terminal);
  else if (command.startsWith("/"))
    throw new MemdirError("usage", `there is no ${command} here; /help lists what you can type`);
  else terminal.print("This console only keeps memories for now: type remember …, forget … or /help.");
  return "stay";
}

type Answer = (rest: string, memdir: Memdir, terminal: Terminal) => Promise<void>;

const ANSWERS: Record<string, Answer> = {
  "/help": async (_, __, terminal) => terminal.print(HELP),
  "/memory": answerMemory,
  "/search": async (rest, memdir, terminal) => {
    const hits = await memdir.search(rest);
    for (const hit of hits) terminal.print(`    ${hit.name}: ${hit.line}`);
    if (hits.length === 0) terminal.print("Nothing found.");
  },
  "/undo": async (rest, memdir, terminal) => {
    const { action, files } = await memdir.undo(rest === "" ? undefined : rest);
    terminal.print(`undid ${action}: ${files.join(", ")}`);
  },
  remember: async (rest, memdir, terminal) => {
    const said = rest.replace(/^(that|to|:)\s*/i, "").trim();
    if (said === "")
      throw new MemdirError("usage", "say what to remember, such as: remember that releases are cut on Tuesdays");
    await saveText(guessType(said), said, memdir, terminal);
  },
  forget: answerForget,
};

async function answerMemory(rest: string, memdir: Memdir, terminal: Terminal): Promise<void> {
  const [verb = "", ...words] = rest.split(/\s+/);
  if (verb === "") return listMemories(memdir, terminal);
  const text = words.join(" ");
  if (verb === "list") return listMemories(memdir, terminal);
  if (verb === "show" && text === "") {
    const { index } = await memdir.index();
    terminal.print(index === "" ? "MEMORY.md is empty." : index);
  } else if (verb === "show") printMemory(await memdir.show(text), terminal);
  else if (verb === "save") {
    const [first = "", ...more] = words;
    const named = isMemoryType(first);
    const body = named ? more.join(" ") : text;
    if (body === "")
      throw new MemdirError(
        "usage",
        "the call is /memory save TYPE TEXT, such as: /memory save feedback never commit to main",
      );
    await saveText(named ? first : guessType(body), body, memdir, terminal);
  } else
    throw new MemdirError("usage", `/memory ${verb} is not known: there are /memory, /memory show and /memory save`);
}

async function listMemories(memdir: Memdir, terminal: Terminal): Promise<void> {
  const rows = await memdir.list();
  if (rows.length === 0) {
    terminal.print("No memories saved yet.");
    return;
  }
  terminal.print(`${rows.length} ${rows.length === 1 ? "memory" : "memories"}:`);
  for (const row of rows) terminal.print(plainRow(row));
}

async function saveText(type: MemoryType, text: string, memdir: Memdir, terminal: Terminal): Promise<void> {
  const name = text
    .split(/\s+/)
    .slice(0, 8)
    .join(" ")
    .replace(/[.,;:!?]+$/, "")
    .slice(0, 80);
  const source = { by: "user", session: null, message: null };
  // A name that says it all needs no description.
  const description = text === name ? "" : text.slice(0, 140);
  const result = await memdir.save({ type, name, description, body: text, source });
  printSaved({ json: false, terminal }, result);
  terminal.print(terminal.color.dim(`    saved as ${type}; memdir edit ${result.file} changes it`));
}

/** By name first; else the one memory that holds all the words. More than one is never guessed at. */
async function answerForget(rest: string, memdir: Memdir, terminal: Terminal): Promise<void> {
  const said = rest.replace(/^(that|about|the memory)\s+/i, "").trim();
  if (said === "") throw new MemdirError("usage", "say which memory to forget; /memory lists them");
  const file = await findForgettable(said, memdir);
  const { undo } = await memdir.forget(file);
  terminal.print(`removed ${file}; /undo brings it back${undo === null ? "" : ` (entry ${undo})`}`);
}

async function findForgettable(said: string, memdir: Memdir): Promise<string> {
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

/** A guess that the user sees and can change: about the person, a rule for the agent, where something is, else the project. */
export function guessType(text: string): MemoryType {
  if (
    /https?:\/\/|\b(tracked|documented|found|lives?|dashboards?|runbooks?|wiki|channel)\b.*\b(in|at|on)\b/i.test(text)
  )
    return "reference";
  if (/\b(never|always|don'?t|do not|stop|avoid|prefer to|use\b.*\b(instead|not)|instead of|must|should)\b/i.test(text))
    return "feedback";
  if (/^(i\b|i'm|my\b|me\b|we call me|the user\b)/i.test(text)) return "user";
  return "project";
}
