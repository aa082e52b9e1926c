/** `adopt`: which directory belongs to this project. */

import { resolve } from "node:path";
import { MemdirError } from "../errors.ts";
import type { Memdir } from "../memdir.ts";
import type { AdoptResult } from "../memory/adopt.ts";
import { countMemories, flag, type Line, notes, text, verb } from "../verb.ts";

export const adopt = verb({
  args: ["from?"],
  input: {
    from: text("the directory to take memories from (default: what certainly belongs to this project)", "DIR"),
    separate: flag("if two projects share this directory by accident: give this one its own"),
    share: flag("if two projects share this directory: let them"),
    keep: flag("if the directory's former project is gone: let this one have it"),
  },
  examples: ["adopt"],
  writes: true,
  async run(memdir, { from, ...flags }, { cwd }) {
    const ways = (["separate", "share", "keep"] as const).filter((way) => flags[way]);
    if (ways.length > 1 || (ways.length === 1 && from !== undefined)) {
      throw new MemdirError("usage", "give one of --separate, --share, --keep, or a directory");
    }
    const [way] = ways;
    if (way) return memdir.settle(way);
    const sources = from === undefined ? await findSources(memdir) : [resolve(cwd, from)];
    const results: AdoptResult[] = [];
    for (const source of sources) results.push(await memdir.adopt(source));
    return results;
  },
  say(result, { call }) {
    if (!Array.isArray(result)) return [result.message];
    if (result.length === 0) return ["There is nothing to adopt: no moved project and no older directory was found."];
    return result.flatMap(({ from, adopted, present, undo, notices }): Line[] => {
      const already = present.length === 0 ? "" : `, ${present.length} were here already`;
      const back = undo === null ? "" : `; ${call(`undo ${undo}`)} reverts it`;
      return [`adopted ${countMemories(adopted.length)} from ${from}${already}${back}`, ...notes(notices)];
    });
  },
});

/** Only what is certain is taken without being named. */
async function findSources(memdir: Memdir): Promise<string[]> {
  const { orphans, older } = await memdir.findAdoptable();
  const sure = [...orphans.filter((orphan) => orphan.sure), ...older].map(({ dir }) => dir);
  if (sure.length > 0 || orphans.length === 0) return sure;
  const list = orphans.map(({ dir, recordedRoot }) => `${dir} (${recordedRoot ?? "unknown project"})`).join(", ");
  throw new MemdirError(
    "ambiguous",
    `only directories that might be this project's were found: ${list}; name the right one: memdir adopt DIR`,
  );
}
