/** `enrich`: cues for memories that lack them. */

import { checkBudget } from "../learn/budget.ts";
import { enrich as enrichAll } from "../learn/enrich.ts";
import type { Memdir } from "../memdir.ts";
import { addCues } from "../memory/edit.ts";
import { NO_USAGE } from "../model/ask.ts";
import { openLearning } from "../open-learn.ts";
import type { Row } from "../store/store.ts";
import { count, verb } from "../verb.ts";
import { NAME } from "./common.ts";
import { modelFor } from "./model.ts";

export const enrich = verb({
  args: ["name?"],
  input: { name: NAME },
  examples: ["enrich"],
  writes: true,
  async run(memdir, { name }, context) {
    const poor = await findPoor(memdir, name);
    const model = poor.length === 0 ? null : modelFor(context);
    if (!model) return { enriched: [], left: poor.length, usage: NO_USAGE, stopped: null, poor };
    const { directory, ledger } = openLearning(memdir);
    const files = poor.map(({ file }) => file);
    return enrichAll({ log: (warning) => context.show([{ warning }]) }, files, {
      ask: model.ask,
      read: async (file) => ({ ...(await memdir.show(file)), ...(await memdir.text(file)) }),
      write: async (file, base, cues) => void (await addCues(directory, file, base, cues)),
      budget: () => checkBudget(ledger, memdir.config.learn, null),
      spent: (usage, produced) =>
        ledger.spend({
          ...{ at: directory.now().toISOString(), kind: "enrich", session: null, skipped: null, usage },
          ...{ model: `${model.provider}/${model.name}`, produced: `${produced} enriched` },
        }),
      onProgress: context.progress("cues"),
      signal: context.signal,
    });
  },
  say(result) {
    const { enriched, left, stopped } = result;
    if (!("poor" in result)) {
      const warning = stopped === null ? [] : [{ warning: `${stopped}; run it again to go on` }];
      return [`cues added: ${enriched.length}; without: ${left}`, ...warning];
    }
    if (left === 0) return ["Every memory has cues."];
    return [
      `${count(left, "memory has", "memories have")} no cues:`,
      ...result.poor.map(({ file, name }) => `    ${name} (${file})`),
      "With a model (MEMDIR_MODEL) each would get about six, in batches of eight, within the day's budget.",
    ];
  },
});

/** Of the directory that is written to: others are somebody else's, or are only read. */
async function findPoor(memdir: Memdir, name: string | undefined): Promise<Row[]> {
  const scope = memdir.directories[0]?.scope;
  const wanted = name === undefined ? null : (await memdir.show(name)).file;
  const isPoor = ({ file, when }: Row) => (wanted === null ? when.length === 0 : file === wanted);
  return (await memdir.list()).filter((row) => row.scope === scope && row.problems.length === 0 && isPoor(row));
}
