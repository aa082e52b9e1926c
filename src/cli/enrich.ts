/** `memdir enrich`: cues for memories that lack them. */

import { checkBudget } from "../learn/budget.ts";
import { enrich as enrichAll } from "../learn/enrich.ts";
import type { Memdir } from "../memdir.ts";
import { NO_USAGE } from "../model/ask.ts";
import { openLearning } from "../open-learn.ts";
import type { Row } from "../store/store.ts";
import { addCues } from "../verbs/edit.ts";
import { configuredModel } from "./agent.ts";
import { answer, type Call, cancellable, note, type Run, warning, withProgress } from "./command.ts";

export const enrich: Run = cancellable(async (call, { signal }) => {
  const memdir = await call.open();
  const rows = await findPoor(memdir, call.args[0]);
  const model = rows.length === 0 ? null : configuredModel(call.env);
  if (!model) return describePoor(call, rows);
  const { directory, ledger } = openLearning(memdir);
  const files = rows.map(({ file }) => file);
  const { enriched, left, usage, stopped } = await withProgress(call, "cues", (onProgress) =>
    enrichAll({ log: (message) => note(call, [message]) }, files, {
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
      onProgress,
      signal,
    }),
  );
  return answer(call, { enriched, left, usage, stopped }, () => {
    call.terminal.print(`cues added: ${enriched.length}; without: ${left}`);
    if (stopped !== null) warning(call, [`${stopped}; run it again to go on`]);
  });
});

/** Of the directory that is written to: others belong to somebody else, or are only read. */
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

/** Nothing to do, or no model is configured. */
function describePoor(call: Call, rows: readonly Row[]): number {
  return answer(call, { enriched: [], left: rows.length, usage: NO_USAGE }, () =>
    rows.length === 0
      ? "Every memory has cues."
      : [
          `${rows.length} ${rows.length === 1 ? "memory has" : "memories have"} no cues:`,
          ...rows.map(({ file, name }) => `    ${name} (${file})`),
          "With a model (MEMDIR_MODEL) each would get about six, in batches of eight, within the day's budget.",
        ],
  );
}
