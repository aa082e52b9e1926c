/** `enrich`: cues for memories that lack them. */

import { checkBudget } from "../learn/budget.ts";
import { enrich as enrichAll } from "../learn/enrich.ts";
import type { Memdir } from "../memdir.ts";
import { addCues } from "../memory/edit.ts";
import { NO_USAGE } from "../model/ask.ts";
import { openLearning } from "../open-learn.ts";
import type { Row } from "../store/store.ts";
import { verb } from "../verb.ts";
import { NAME } from "./common.ts";
import { modelFor } from "./model.ts";

export const enrich = verb({
  args: ["name?"],
  input: { name: NAME },
  examples: ["enrich"],
  writes: true,
  async run(memdir, { name }, context) {
    const rows = await findPoor(memdir, name);
    const model = rows.length === 0 ? null : modelFor(context);
    if (!model) return { enriched: [], left: rows.length, usage: NO_USAGE, poor: rows };
    const { directory, ledger } = openLearning(memdir);
    const files = rows.map(({ file }) => file);
    return enrichAll({ log: (warning) => context.show([{ warning }]) }, files, {
      ask: model.ask,
      read: async (file) => {
        const { name, description, body } = await memdir.show(file);
        return { ...(await memdir.text(file)), name, description, body };
      },
      write: async (file, base, cues) => void (await addCues(directory, file, base, cues)),
      budget: () => checkBudget(ledger, memdir.config.learn, null),
      spent: (usage, produced) =>
        ledger.spend({
          at: directory.now().toISOString(),
          kind: "enrich",
          session: null,
          model: `${model.provider}/${model.name}`,
          usage,
          produced: `${produced} enriched`,
          skipped: null,
        }),
      onProgress: context.progress("cues"),
      signal: context.signal,
    });
  },
  json(result) {
    const { poor: _, ...rest } = { poor: [], ...result };
    return rest;
  },
  say(result) {
    if (!("poor" in result)) {
      const { enriched, left, stopped } = result;
      const warning = stopped === null ? [] : [{ warning: `${stopped}; run it again to go on` }];
      return [`cues added: ${enriched.length}; without: ${left}`, ...warning];
    }
    const { poor } = result;
    if (poor.length === 0) return ["Every memory has cues."];
    return [
      `${poor.length} ${poor.length === 1 ? "memory has" : "memories have"} no cues:`,
      ...poor.map(({ file, name }) => `    ${name} (${file})`),
      "With a model (MEMDIR_MODEL) each would get about six, in batches of eight, within the day's budget.",
    ];
  },
});

/** Of the directory that is written to: others are somebody else's, or are only read. */
async function findPoor(memdir: Memdir, name: string | undefined): Promise<Row[]> {
  const scope = memdir.directories[0]?.scope;
  const wanted = name === undefined ? null : (await memdir.show(name)).file;
  const rows = await memdir.list();
  return rows.filter(
    (row) =>
      row.scope === scope &&
      (wanted === null ? row.when.length === 0 : row.file === wanted) &&
      row.problems.length === 0,
  );
}
