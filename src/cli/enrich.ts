/** `memdir enrich`: cues for memories that lack them. */

import { processEnv } from "../config.ts";
import { MemdirError } from "../errors.ts";
import { checkBudget } from "../learn/budget.ts";
import { enrich } from "../learn/enrich.ts";
import type { Memdir } from "../memdir.ts";
import { NO_USAGE } from "../model/ask.ts";
import { openModel } from "../open-agent.ts";
import { openLearning } from "../open-learn.ts";
import type { Row } from "../store/store.ts";
import { addCues } from "../verbs/edit.ts";
import type { Call, Run } from "./command.ts";

export const run: Run = async (call) => {
  const memdir = await call.open();
  const rows = await findPoor(memdir, call.args[0]);
  const env = processEnv();
  if (rows.length === 0 || !env.MEMDIR_MODEL?.trim()) return tell(call, rows);
  const model = openModel(env);
  if ("problem" in model) throw new MemdirError("usage", model.problem);
  const { directory, ledger } = openLearning(memdir);
  const progress = call.terminal.progress("cues");
  const stop = new AbortController();
  const onInterrupt = () => stop.abort();
  process.once("SIGINT", onInterrupt);
  const result = await enrich(
    { log: (message) => call.terminal.warn(`memdir: note: ${message}`) },
    rows.map(({ file }) => file),
    {
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
      onProgress: progress.show,
      signal: stop.signal,
    },
  );
  progress.end();
  process.off("SIGINT", onInterrupt);
  if (call.json)
    call.terminal.json({ enriched: result.enriched, left: result.left, usage: result.usage, stopped: result.stopped });
  else {
    call.terminal.print(`cues added: ${result.enriched.length}; without: ${result.left}`);
    if (result.stopped !== null) call.terminal.warn(`memdir: warning: ${result.stopped}; run it again to go on`);
  }
  return 0;
};

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

/** Nothing to do, or nobody to ask. */
function tell(call: Call, rows: readonly Row[]): number {
  if (call.json) call.terminal.json({ enriched: [], left: rows.length, usage: NO_USAGE });
  else if (rows.length === 0) call.terminal.print("Every memory has cues.");
  else {
    call.terminal.print(`${rows.length} ${rows.length === 1 ? "memory has" : "memories have"} no cues:`);
    for (const { file, name } of rows) call.terminal.print(`    ${name} (${file})`);
    call.terminal.print(
      "With a model (MEMDIR_MODEL) each would get about six, in batches of eight, within the day's budget.",
    );
  }
  return 0;
}
