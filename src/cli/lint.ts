/** `memdir lint`: format and wording of every memory and of the index, each with what to do. */

import type { Run } from "./command.ts";
import { sanitiseLine } from "./console/sanitise.ts";

export const run: Run = async (call) => {
  const problems = await (await call.open()).lint();
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
