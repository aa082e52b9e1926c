/** `memdir show`. */

import { ageInWords, type ShownMemory } from "../store/store.ts";
import { findAuthors } from "./authors-view.ts";
import type { Run, Terminal } from "./command.ts";

export const run: Run = async (call) => {
  const memdir = await call.open();
  const memory = await memdir.show(call.args[0] as string);
  const author = (await findAuthors(memdir.directories))(memory);
  if (call.json) call.terminal.json(author === null ? memory : { ...memory, author });
  else printMemory(memory, call.terminal, author);
  return 0;
};

export function printMemory(memory: ShownMemory, terminal: Terminal, author: string | null = null): void {
  const { bold, dim, yellow } = terminal.color;
  const type = memory.typeExplicit ? `[${memory.type}] ` : "";
  terminal.print(`${type}${bold(memory.name)}${memory.description === "" ? "" : ` — ${memory.description}`}`);
  terminal.print(
    dim(`${memory.path}, ${memory.scope}${author === null ? "" : `: ${author}`}, ${ageInWords(memory.ageDays)}`),
  );
  for (const cue of memory.when) terminal.print(dim(`when: ${cue}`));
  for (const problem of memory.problems) terminal.print(yellow(`problem: ${problem}`));
  terminal.print(`\n${memory.body}`);
}
