/** `memdir lint`: format and wording of every memory and of the index, each with what to do. */

import { termsOf } from "../recall/terms.ts";
import { lintStore } from "../truth/lint.ts";
import type { Run } from "./command.ts";
import { sanitiseLine } from "./console/sanitise.ts";
import { readInstructions } from "./rot-desk.ts";

export const run: Run = async (call) => {
  const memdir = await call.open();
  const world = { termsOf, instructions: await readInstructions(memdir) };
  const problems = (
    await Promise.all(
      memdir.directories.map(async (directory) =>
        (await lintStore(directory, world)).map((problem) => ({ ...problem, scope: directory.scope })),
      ),
    )
  ).flat();
  if (call.json) call.terminal.json({ problems });
  else {
    for (const { file, line, rule, message } of problems)
      call.terminal.print(
        `${sanitiseLine(file)}${line === null ? "" : `:${line}`}: ${sanitiseLine(message)} ${call.terminal.color.dim(`(${rule})`)}`,
      );
    call.terminal.print(problems.length === 0 ? "Nothing to mend." : `${problems.length} to mend`);
  }
  return problems.length === 0 ? 0 : 1;
};
