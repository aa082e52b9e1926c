/** What a slash command works with: the project's memory, its agent, and the person in front of it. */

import type { Agent } from "../../agent/agent.ts";
import type { Env } from "../../config.ts";
import type { Memdir } from "../../memdir.ts";
import type { Terminal } from "../command.ts";
import { wrapText } from "./wrap.ts";

export interface Desk {
  memdir: Memdir;
  agent: Agent;
  /** True without a model: prompts are previewed, not answered. */
  offline: boolean;
  env: Env;
  /** Prints above the input line where there is one. */
  terminal: Terminal;
  columns(): number;
  now: () => Date;
  /** Null where nobody can be asked. */
  choose: ((question: string, choices: readonly Choice[]) => Promise<string | null>) | null;
  /** Gives the terminal to another program, such as an editor, until the work ends; null where there is no terminal. */
  release: (<T>(work: () => Promise<T>) => Promise<T>) | null;
  /** Long work on a terminal: its signal is aborted by Ctrl-C. */
  working<T>(label: string, work: (signal: AbortSignal) => Promise<T>): Promise<T>;
  /** Puts words into the input line, to be changed and sent. */
  suggest(text: string): void;
}

export interface Choice {
  key: string;
  label: string;
}

export interface SlashCommand {
  name: string;
  /** Its arguments, as the help shows them. */
  usage: string;
  help: string;
  /** Words that can follow, for completion. */
  words?: readonly string[];
  run(rest: string, desk: Desk): Promise<"stay" | "leave">;
}

/** A command after which the console goes on. */
export function stay(run: (rest: string, desk: Desk) => Promise<void>): SlashCommand["run"] {
  return async (rest, desk) => {
    await run(rest, desk);
    return "stay";
  };
}

/** Broken at words instead of where the terminal ends. */
export function printFolded({ terminal, columns }: Desk, text: string): void {
  terminal.print(wrapText(text, columns()).join("\n"));
}
