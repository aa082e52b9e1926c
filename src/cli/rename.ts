/** `memdir rename`. */

import type { Run } from "./command.ts";
import { printSaved } from "./save.ts";

export const run: Run = async (call) => {
  const memdir = await call.open();
  printSaved(call, await memdir.rename(call.args[0] as string, call.args[1] as string));
  return 0;
};
