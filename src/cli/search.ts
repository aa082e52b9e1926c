/** `memdir search`. */

import type { Run } from "./command.ts";

export const run: Run = async (call) => {
  const memdir = await call.open();
  const hits = await memdir.search(call.args.join(" "));
  if (call.json) {
    call.terminal.json(hits);
    return 0;
  }
  if (hits.length === 0) call.terminal.print("Nothing found.");
  for (const hit of hits) {
    call.terminal.print(`[${hit.type}] ${call.terminal.color.bold(hit.name)} ${call.terminal.color.dim(hit.file)}`);
    call.terminal.print(`    ${hit.line}`);
  }
  return 0;
};
