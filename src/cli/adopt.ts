/** `memdir adopt`. */

import { resolve } from "node:path";
import { MemdirError } from "../errors.ts";
import type { Memdir } from "../memdir.ts";
import type { Run } from "./command.ts";

export const run: Run = async (call) => {
  const ways = (["separate", "share", "keep"] as const).filter((way) => call.flag(way));
  if (ways.length > 1 || (ways.length === 1 && call.args.length > 0)) {
    throw new MemdirError("usage", "give one of --separate, --share, --keep, or a directory");
  }
  const memdir = await call.open();
  const way = ways[0];
  if (way) {
    const settled = await memdir.settle(way);
    if (call.json) call.terminal.json(settled);
    else call.terminal.print(settled.message);
    return 0;
  }
  const named = call.args[0];
  const sources = named === undefined ? await findSources(memdir) : [resolve(call.cwd, named)];
  const results = [];
  for (const source of sources) results.push(await memdir.adopt(source));
  if (call.json) {
    call.terminal.json(results);
    return 0;
  }
  for (const { from, adopted, present, undo, notices } of results) {
    const already = present.length === 0 ? "" : `, ${present.length} were here already`;
    call.terminal.print(
      `took over ${adopted.length} memories from ${from}${already}${undo === null ? "" : `; memdir undo ${undo} takes it back`}`,
    );
    for (const notice of notices) call.terminal.warn(`memdir: note: ${notice}`);
  }
  if (results.length === 0)
    call.terminal.print("There is nothing to adopt: no moved project and no older directory was found.");
  return 0;
};

/** Only what is certain is taken without being named. */
async function findSources(memdir: Memdir): Promise<string[]> {
  const { orphans, older } = await memdir.findAdoptable();
  const unsure = orphans.filter((orphan) => !orphan.sure);
  const sure = [...orphans.filter((orphan) => orphan.sure), ...older].map(({ dir }) => dir);
  if (sure.length === 0 && unsure.length > 0) {
    const list = unsure.map(({ dir, recordedRoot }) => `${dir} (${recordedRoot ?? "unknown project"})`).join(", ");
    throw new MemdirError(
      "ambiguous",
      `only directories that might be this project's were found: ${list}; name the right one: memdir adopt DIR`,
    );
  }
  return sure;
}
