/** `memdir log`. */

import { MemdirError } from "../errors.ts";
import { appendLog, readLogs } from "../learn/daily-log.ts";
import type { Directory } from "../store/store.ts";
import { localDay } from "../text/local-day.ts";
import type { Call, Run } from "./command.ts";

export const run: Run = async (call) => {
  const text = await readText(call);
  const memdir = await call.open();
  const [directory] = memdir.directories as [Directory];
  if (text === null) {
    showToday(call, directory);
    return 0;
  }
  const entry = await appendLog(directory, text, directory);
  if (call.json) call.terminal.json(entry);
  else call.terminal.print(`logged in ${entry.path}`);
  return 0;
};

/** Null when nothing was given, which is no empty text: `memdir log "$NOTE"` must not pass for a question. */
async function readText({ args, terminal }: Call): Promise<string | null> {
  if (args.length === 0) return null;
  const text = args.length === 1 && args[0] === "-" ? await terminal.readInput() : args.join(" ");
  if (text.trim() === "")
    throw new MemdirError("usage", "there is nothing to log: give a text, as in `memdir log TEXT`");
  return text;
}

function showToday({ json, terminal }: Call, directory: Directory): void {
  const today = localDay(directory.now());
  const logs = readLogs(directory, { since: today }).filter(({ day }) => day === today);
  if (json) {
    terminal.json(logs);
    return;
  }
  if (logs.length === 0)
    terminal.print('Nothing logged today.\nLog something: memdir log "moved the build to node 22"');
  for (const { path, text } of logs) {
    terminal.print(terminal.color.dim(path));
    terminal.print(text.trimEnd());
  }
}
