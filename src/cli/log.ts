/** `memdir log`: adds to the daily log, or shows today's. */

import { MemdirError } from "../errors.ts";
import { appendLog, readLogs } from "../learn/daily-log.ts";
import type { Store } from "../store/store.ts";
import { localDay } from "../text/local-day.ts";
import { answer, type Call, type Run } from "./command.ts";

export const log: Run = async (call) => {
  const text = await readText(call);
  const memdir = await call.open();
  const [directory] = memdir.directories as [Store];
  if (text === null) return showToday(call, directory);
  const entry = await appendLog(directory, text, directory);
  return answer(call, entry, () => `logged in ${entry.path}`);
};

/** Null when nothing was given, which is no empty text: `memdir log "$NOTE"` must not pass for a question. */
async function readText({ args, terminal }: Call): Promise<string | null> {
  if (args.length === 0) return null;
  const text = args.length === 1 && args[0] === "-" ? await terminal.readInput() : args.join(" ");
  if (text.trim() === "")
    throw new MemdirError("usage", "there is nothing to log: give a text, as in `memdir log TEXT`");
  return text;
}

function showToday(call: Call, directory: Store): number {
  const today = localDay(directory.now());
  const logs = readLogs(directory, { since: today }).filter(({ day }) => day === today);
  return answer(call, logs, () =>
    logs.length === 0
      ? 'Nothing logged today.\nLog something: memdir log "moved the build to node 22"'
      : logs.flatMap(({ path, text }) => [call.terminal.color.dim(path), text.trimEnd()]),
  );
}
