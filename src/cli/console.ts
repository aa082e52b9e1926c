/** `memdir` alone: the console, on a terminal or on a pipe. */

import type { Run } from "./command.ts";

export const run: Run = async (call) => {
  const memdir = await call.open();
  if (!call.terminal.interactive) return (await import("./console/agent-piped.ts")).runPiped(call, memdir);
  return (await import("./console/agent-console.ts")).runInteractive(call, memdir);
};
