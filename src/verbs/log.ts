/** `log`: a line is added to the daily log, or today's is shown. Apart from `ledger`, which loads all of learning. */

import { MemdirError } from "../errors.ts";
import { appendLog, readLogs } from "../memory/daily-log.ts";
import type { Store } from "../store/store.ts";
import { localDay } from "../text/local-day.ts";
import { block, dim, text, verb } from "../verb.ts";

export const log = verb({
  args: ["text…?"],
  input: { text: text("what happened; - for standard input", "TEXT") },
  about:
    "The daily log is yours: what happened in the project, one line at a time. `memdir dream` reads it. " +
    "See `memdir history` for what memdir changed, and `memdir ledger` for what background work cost.",
  examples: ['log "moved the build to node 22"'],
  writes: ({ text }) => text !== undefined,
  async run({ directories }, { text: given }, { readInput }) {
    const [directory] = directories as [Store];
    if (given === undefined) {
      const today = localDay(directory.now());
      return readLogs(directory, { since: today }).filter(({ day }) => day === today);
    }
    const text = given === "-" && readInput ? await readInput() : given;
    // An empty text is no question: `memdir log "$NOTE"` must not pass for one.
    if (text.trim() === "")
      throw new MemdirError("usage", "there is nothing to log: give a text, as in `memdir log TEXT`");
    return appendLog(directory, text, directory);
  },
  say(result, { call }) {
    if (!Array.isArray(result)) return [`logged in ${result.path}`];
    if (result.length === 0)
      return ["Nothing logged today.", `Log something: ${call('log "moved the build to node 22"')}`];
    return result.flatMap(({ path, text }) => [dim(path), block(text.trimEnd())]);
  },
});
