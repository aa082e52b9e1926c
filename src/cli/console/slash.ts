/** What a slash command is, and the console that it runs in. */

import type { Agent } from "../../agent/agent.ts";
import type { Memdir } from "../../memdir.ts";
import type { Choice } from "../../verb.ts";
import type { Call } from "../command.ts";

/** The project's memory, its agent, and the person in front of it: a call of the command line that goes on. */
export interface Console extends Call {
  memdir: Memdir;
  agent: Agent;
  /** True without a model: prompts are previewed, not answered. */
  offline: boolean;
  columns(): number;
  /** Null where nobody can be asked. */
  choose: ((question: string, choices: readonly Choice[]) => Promise<string | null>) | null;
  /** Gives the terminal to another program, such as an editor, until the work ends; null where there is no terminal. */
  release: (<T>(work: () => Promise<T>) => Promise<T>) | null;
  /** Long work on a terminal: its signal is aborted by Ctrl-C. */
  working<T>(label: string, work: (signal: AbortSignal) => Promise<T>): Promise<T>;
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
