/** `memdir undo`. */

import type { Run } from "./command.ts";

export const run: Run = async (call) => {
  const memdir = await call.open();
  const result = await memdir.undo(call.args[0]);
  if (call.json) call.terminal.json(result);
  else {
    call.terminal.print(`undid ${result.action} ${result.undone}: ${result.files.join(", ")}`);
    for (const notice of result.notices) call.terminal.warn(`memdir: note: ${notice}`);
  }
  return 0;
};
