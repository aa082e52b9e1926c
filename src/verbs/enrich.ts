/** `enrich`: cues for memories that lack them. */

import { checkBudget } from "../learn/budget.ts";
import { enrich as enrichAll, findPoor } from "../learn/enrich.ts";
import { NO_USAGE } from "../model/ask.ts";
import { openLearning } from "../open-learn.ts";
import { count, verb } from "../verb.ts";
import { NAME } from "./common.ts";
import { modelFor } from "./model.ts";

export const enrich = verb({
  args: ["name?"],
  input: { name: NAME },
  examples: ["enrich"],
  writes: true,
  async run(memdir, { name }, context) {
    const { directory, ledger } = openLearning(memdir);
    const wanted = name === undefined ? null : (await memdir.show(name)).file;
    const poor = (await findPoor(directory)).filter(({ file }) => wanted === null || file === wanted);
    const files = wanted === null ? poor.map(({ file }) => file) : [wanted];
    const model = files.length === 0 ? null : modelFor(context);
    if (!model) return { enriched: [], left: poor.length, usage: NO_USAGE, stopped: null, poor };
    const budget = () => checkBudget(ledger, memdir.config.learn, null);
    const log = (warning: string) => context.show([{ warning }]);
    const onProgress = context.progress("cues");
    const { signal } = context;
    return enrichAll({ directory, ledger, budget, inbox: null, log, onProgress, signal }, model, files);
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
      "With a model each would get about six, in batches of twenty, within the day's budget.",
      "Set MEMDIR_MODEL, or let memdir ask the agent you have: memdir init --learn-with claude-code",
    ];
  },
});
