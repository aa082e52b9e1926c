/** `memdir show`. */

import { ageInWords } from "../memory/age.ts";
import type { ShownMemory } from "../memory/list.ts";
import type { Run, Terminal } from "./command.ts";

export const run: Run = async (call) => {
  const memdir = await call.open();
  const memory = await memdir.show(call.args[0] as string);
  if (call.json) call.terminal.json(memory);
  else printMemory(memory, call.terminal);
  return 0;
};

export function printMemory(memory: ShownMemory, terminal: Terminal): void {
  const { bold, dim, yellow } = terminal.color;
  const type = memory.typeExplicit ? `[${memory.type}] ` : "";
  terminal.print(`${type}${bold(memory.name)}${memory.description === "" ? "" : ` — ${memory.description}`}`);
  terminal.print(dim(`${memory.path}, ${memory.scope}, ${ageInWords(memory.ageDays)}`));
  for (const cue of memory.when) terminal.print(dim(`when: ${cue}`));
  for (const problem of memory.problems) terminal.print(yellow(`problem: ${problem}`));
  terminal.print(`\n${memory.body}`);
}
