/** The table of slash commands, and which one a line means. */

import { MemdirError } from "../../errors.ts";
import { sanitiseLine } from "../../text/sanitise.ts";
import { print } from "../say.ts";
import type { Console, SlashCommand } from "./slash.ts";
import { LEARN_COMMANDS } from "./slash-learn.ts";
import { MEMORY_COMMANDS } from "./slash-memory.ts";
import { SESSION_COMMANDS } from "./slash-session.ts";

const EXIT = { usage: "", help: "leaves; so does Ctrl-D", run: async () => "leave" as const };

const SLASH_COMMANDS: readonly SlashCommand[] = [
  ...MEMORY_COMMANDS,
  ...LEARN_COMMANDS,
  ...SESSION_COMMANDS,
  {
    name: "help",
    usage: "",
    help: "this list",
    run: async (_, console) => {
      print(console.terminal, [{ rows: helpRows(console) }], console.columns());
      return "stay";
    },
  },
  { name: "exit", ...EXIT },
  { name: "quit", ...EXIT },
];

/** Runs the command that a line beginning with / names. What it throws names memories and files: it is harmless to print. */
export async function runSlash(line: string, console: Console): Promise<"stay" | "leave"> {
  const [, name = "", rest = ""] = /^\/(\S*)\s*([\s\S]*)$/.exec(line.trim()) ?? [];
  const command = SLASH_COMMANDS.find((one) => one.name === name.toLowerCase());
  if (command) return harmless(() => command.run(rest.trim(), console));
  const near = SLASH_COMMANDS.find((one) => name !== "" && one.name.startsWith(name.toLowerCase().slice(0, 3)));
  const hint = near ? ` (did you mean /${near.name}?)` : "";
  throw new MemdirError("usage", `there is no /${sanitiseLine(name)} here${hint}; /help lists what you can type`);
}

async function harmless<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof MemdirError)) throw error;
    throw new MemdirError(error.code, sanitiseLine(error.message), { cause: error, details: error.details });
  }
}

interface SlashCompletion {
  text: string;
  help: string;
}

/** What could follow what is typed: commands, then the words that a command takes. */
export function completeSlash(text: string): SlashCompletion[] {
  const typed = /^\/(\S*)$/.exec(text)?.[1];
  if (typed !== undefined) {
    return SLASH_COMMANDS.filter(
      ({ name, isAlias }) => name !== "quit" && !isAlias && name.startsWith(typed.toLowerCase()),
    ).map(({ name, usage, help }) => ({ text: `/${name}${usage === "" ? "" : " "}`, help }));
  }
  const [, name = "", word = ""] = /^\/(\S+)\s+(\S*)$/.exec(text) ?? [];
  const command = SLASH_COMMANDS.find((one) => one.name === name.toLowerCase());
  return (command?.words ?? [])
    .filter((one) => one.startsWith(word))
    .map((one) => ({ text: `/${name} ${one} `, help: "" }));
}

const PLAIN: readonly (readonly [string, string])[] = [
  ["remember TEXT", "saves a memory, the type is guessed"],
  ["forget NAME", "removes a memory"],
  ["#TEXT", "saves TEXT as a memory at once"],
];

function helpRows({ offline }: Console): (readonly string[])[] {
  const slashes = SLASH_COMMANDS.filter(({ name, isAlias }) => name !== "quit" && !isAlias).map(
    ({ name, usage, help }) => [`/${name} ${usage}`.trim(), help] as const,
  );
  return [...(offline ? PLAIN : PLAIN.slice(2)), ...slashes];
}
