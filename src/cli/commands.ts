/** Every command of the command line, verbs and programs, found by any name that people use. */

import { MemdirError } from "../errors.ts";
import { distance } from "../text/distance.ts";
import { positionsOf, type Verb } from "../verb.ts";
import { VERBS } from "../verbs/table.ts";
import type { CommandRow, Program } from "./command.ts";
import { PROGRAMS } from "./programs.ts";

export const COMMANDS: readonly CommandRow[] = [
  ...VERBS,
  ...PROGRAMS.map(({ name, group, summary, load, ...program }) => ({
    ...{ name, group, summary },
    load: async () => ({ args: [], input: {}, examples: [], ...program, start: await load() }),
  })),
  {
    name: "completion",
    group: "agents",
    summary: "Print a completion script for bash, zsh or fish",
    load: async () => ({
      args: ["shell"],
      input: {},
      examples: ['eval "$(memdir completion bash)"'],
      start: (await import("./completion.ts")).completeFor(COMMANDS),
    }),
  },
];

export interface Command {
  row: CommandRow;
  /** It was asked for by a name that it had before. */
  isFormer: boolean;
  load(): Promise<Verb | Program>;
}

export function findCommand(word: string): Command {
  const row = COMMANDS.find(
    ({ name, aliases, formerly }) => name === word || formerly === word || aliases?.includes(word),
  );
  if (!row)
    throw new MemdirError("usage", `there is no command "${word}"${nearest(word)}; \`memdir help --all\` lists them`);
  return { row, isFormer: row.formerly === word, load: row.load };
}

function nearest(word: string): string {
  const near = COMMANDS.map(({ name }) => ({ name, steps: distance(word.toLowerCase(), name) }))
    .filter(({ name, steps }) => steps <= Math.max(1, Math.floor(name.length / 3)))
    .sort((a, b) => a.steps - b.steps)[0];
  const begun = near ?? COMMANDS.find(({ name }) => word.length > 2 && name.startsWith(word.slice(0, 3)));
  return begun ? ` (did you mean "${begun.name}"?)` : "";
}

/** `memdir rename NAME NEW`. */
export function usageOf(name: string, definition: Verb | Program): string {
  const words = positionsOf(definition).map(({ name, isOptional, isRest }) => {
    const word = `${definition.input[name]?.value ?? name.toUpperCase()}${isRest ? "…" : ""}`;
    return isOptional ? `[${word}]` : word;
  });
  const usage = "usage" in definition && definition.usage !== undefined ? definition.usage : words.join(" ");
  return `${name === "console" ? "memdir" : `memdir ${name}`} ${usage}`.trim();
}
