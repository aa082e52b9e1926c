/** The console, first version: greets with what it found, then takes commands and plain "remember" and "forget". */

import { MemdirError } from "../errors.ts";
import type { Memdir } from "../memdir.ts";
import { MEMORY_TYPES } from "../memory/type.ts";
import type { Color, Run, Terminal } from "./command.ts";
import { answerLine } from "./console-line.ts";

export const run: Run = async (call) => {
  const memdir = await call.open();
  await greet(memdir, call.terminal);
  const interactive = call.terminal.interactive;
  const { createInterface } = await import("node:readline");
  const lines = createInterface({
    input: process.stdin,
    output: interactive ? process.stdout : undefined,
    terminal: interactive,
    prompt: "> ",
  });
  let code = 0;
  // Ctrl-D may close it while a line is still being answered, and newer Nodes refuse to prompt then.
  let open = interactive;
  lines.once("close", () => {
    open = false;
  });
  const prompt = () => {
    if (open) lines.prompt();
  };
  prompt();
  for await (const line of lines) {
    try {
      if ((await answerLine(line, memdir, call.terminal)) === "leave") break;
    } catch (error) {
      // A failed line is said and the console goes on; on a pipe the exit code remembers it.
      if (!(error instanceof MemdirError)) throw error;
      call.terminal.warn(`memdir: ${error.message}`);
      code = interactive ? 0 : 2;
    }
    prompt();
  }
  lines.close();
  if (interactive) call.terminal.print("");
  return code;
};

async function greet(memdir: Memdir, terminal: Terminal): Promise<void> {
  const { bold, dim, yellow } = terminal.color;
  const { rows, skipped } = await memdir.survey();
  const view = await memdir.index();
  const { maxLines, maxChars } = memdir.config.index;
  terminal.print(`${bold("memdir")} on ${memdir.location.project.root}`);
  terminal.print(dim(`  directory  ${memdir.location.dir}`));
  if (rows.length === 0) {
    terminal.print("No memories saved yet.");
    terminal.print(`Type ${bold("remember that …")} to save the first one, or ${bold("/help")}.`);
  } else {
    terminal.print(dim(`  memories   ${countByType(rows, terminal.color)}`));
    terminal.print(dim(`  index      ${view.lines} of ${maxLines} lines, ${view.chars} of ${maxChars} characters`));
  }
  const broken = rows.filter((row) => row.problems.length > 0).length;
  if (broken > 0) terminal.print(yellow(`  ${broken} with problems: memdir lint`));
  if (skipped.length > 0) terminal.print(yellow(`  ${skipped.length} entries passed over: memdir doctor`));
  if (view.warning) terminal.print(yellow(`  ${view.warning.message}`));
  if (rows.length > 0) terminal.print(dim("  /help lists what you can type"));
}

function countByType(rows: readonly { type: string }[], color: Color): string {
  const parts = MEMORY_TYPES.map((type) => ({ type, count: rows.filter((row) => row.type === type).length }))
    .filter(({ count }) => count > 0)
    .map(({ type, count }) => `${count} ${type}`);
  return `${color.bold(String(rows.length))}: ${parts.join(", ")}`;
}
