/** `memdir lint`. */

import type { Run } from "./command.ts";

export const run: Run = async (call) => {
  const memdir = await call.open();
  const problems = await memdir.lint();
  if (call.json) call.terminal.json({ problems });
  else {
    for (const { file, line, rule, message } of problems)
      call.terminal.print(
        `${file}${line === null ? "" : `:${line}`}: ${message} ${call.terminal.color.dim(`(${rule})`)}`,
      );
    call.terminal.print(problems.length === 0 ? "Nothing to mend." : `${problems.length} to mend`);
  }
  return problems.length === 0 ? 0 : 1;
};
