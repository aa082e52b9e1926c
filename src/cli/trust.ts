/** `memdir trust`. */

import type { Run } from "./command.ts";

export const run: Run = async (call) => {
  const memdir = await call.open();
  const result = memdir.trust({ revoke: call.flag("revoke") });
  if (call.json) call.terminal.json(result);
  else call.terminal.print(result.message);
  return 0;
};
