/** What the console says first: where it is, what is remembered, who answers. */

import type { Memdir } from "../../memdir.ts";
import { openLearning } from "../../open-learn.ts";
import { MEMORY_TYPES } from "../../store/store.ts";
import type { Color, Terminal } from "../command.ts";

export async function greet(memdir: Memdir, model: string, terminal: Terminal): Promise<void> {
  const { bold, dim, yellow } = terminal.color;
  const { rows, skipped } = await memdir.survey();
  const view = await memdir.index();
  const { maxLines, maxChars } = memdir.config.index;
  terminal.print(`${bold("memdir")} on ${memdir.location.project.root}`);
  terminal.print(dim(`  directory  ${memdir.location.dir}`));
  terminal.print(
    dim(`  model      ${model === "" ? "none, so this is the offline console (MEMDIR_MODEL names one)" : model}`),
  );
  if (rows.length === 0) {
    terminal.print("No memories saved yet.");
    terminal.print(`Type ${bold("remember that …")} to save the first one, or ${bold("/help")}.`);
  } else {
    terminal.print(dim(`  memories   ${countByType(rows, terminal.color)}`));
    terminal.print(dim(`  index      ${view.lines} of ${maxLines} lines, ${view.chars} of ${maxChars} characters`));
  }
  const broken = rows.filter((row) => row.problems.length > 0).length;
  if (broken > 0) terminal.print(yellow(`  ${broken} with problems: memdir lint`));
  const odd = skipped.filter(({ isPlain }) => !isPlain).length;
  if (odd > 0) terminal.print(yellow(`  ${odd} ${odd === 1 ? "entry" : "entries"} passed over: memdir doctor`));
  if (view.warning) terminal.print(yellow(`  ${view.warning.message}`));
  const waiting = openLearning(memdir).inbox.list().length;
  if (waiting > 0)
    terminal.print(yellow(`  ${waiting} ${waiting === 1 ? "proposal waits" : "proposals wait"}: /inbox`));
  if (rows.length > 0) terminal.print(dim("  /help lists what you can type"));
}

function countByType(rows: readonly { type: string }[], color: Color): string {
  const parts = MEMORY_TYPES.map((type) => ({ type, count: rows.filter((row) => row.type === type).length }))
    .filter(({ count }) => count > 0)
    .map(({ type, count }) => `${count} ${type}`);
  return `${color.bold(String(rows.length))}: ${parts.join(", ")}`;
}
