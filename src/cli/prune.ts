/** `memdir prune`: forgets old memories; with --suggest it says what could go and why, and asks. */

import { MemdirError } from "../errors.ts";
import type { Memdir } from "../memdir.ts";
import { isMemoryType, type MemoryType } from "../store/store.ts";
import { type Suggestion, suggestPrune } from "../truth/rot.ts";
import type { PruneResult } from "../verbs/forget.ts";
import { askPerson } from "./ask.ts";
import type { Call, Run } from "./command.ts";
import { sanitiseLine } from "./console/sanitise.ts";
import { measureDirectory } from "./rot-desk.ts";

const DEFAULT_DAYS = 90;

export const run: Run = (call) => prune(call, askPerson);

/** `ask` is only asked on a terminal; true for yes. */
export async function prune(call: Call, ask: (question: string) => Promise<boolean>): Promise<number> {
  const days = Number(call.value("older-than") ?? DEFAULT_DAYS);
  if (!Number.isInteger(days) || days < 1)
    throw new MemdirError("usage", "--older-than takes a whole number of days, from 1");
  const type = call.value("type") ?? "project";
  if (!isMemoryType(type) || type === "feedback")
    throw new MemdirError("usage", "--type takes project, reference or user: feedback is never pruned");
  if (call.flag("apply") && !call.flag("suggest"))
    throw new MemdirError("usage", "--apply belongs to --suggest; without both, old memories are forgotten at once");
  const memdir = await call.open();
  if (call.flag("suggest")) return suggest(call, memdir, { type, days }, ask);
  const result = await memdir.prune({ type: type as MemoryType, olderThanDays: days, dryRun: false });
  if (call.json) call.terminal.json(result);
  else {
    for (const { file, ageDays } of result.memories)
      call.terminal.print(`forgot ${sanitiseLine(file)} (${ageDays} days old)`);
    if (result.memories.length === 0) call.terminal.print(`No ${type} memory is older than ${days} days.`);
    tellUndo(call, result);
  }
  return 0;
}

async function suggest(
  call: Call,
  memdir: Memdir,
  { type, days }: { type: MemoryType; days: number },
  ask: (question: string) => Promise<boolean>,
): Promise<number> {
  const { json, terminal } = call;
  const suggestions = await findSuggestions(call, memdir, { type, days });
  const files = suggestions.filter(({ byHand }) => !byHand);
  if (!json) show(call, suggestions);
  const isAsking = terminal.interactive && !json && !call.flag("apply") && files.length > 0;
  const isMeant = call.flag("apply") || (isAsking && (await ask(`Forget ${count(files.length)}?`)));
  const result = await memdir.prune({ files, dryRun: !isMeant });
  if (json) terminal.json({ ...result, suggestions });
  else if (isMeant) {
    terminal.print(files.length === 0 ? "Nothing was forgotten." : `forgot ${count(result.memories.length)}`);
    tellUndo(call, result);
  } else if (files.length > 0 && !isAsking) terminal.warn("memdir: note: nothing was forgotten; --apply does it");
  return 0;
}

/** What rot found, and what is merely old. */
async function findSuggestions(
  call: Call,
  memdir: Memdir,
  { type, days }: { type: MemoryType; days: number },
): Promise<Suggestion[]> {
  const [main] = memdir.directories;
  if (!main) return [];
  const { rot, memories } = await measureDirectory(call, memdir, main);
  const found = suggestPrune(rot, memories);
  const known = new Set(found.flatMap(({ file, instead }) => [file, ...instead]));
  const old = await memdir.prune({ type, olderThanDays: days, dryRun: true });
  const aged = old.memories
    .filter(({ file }) => !known.has(file))
    .map(({ file, ageDays }) => ({ file, reason: `${ageDays} days old`, byHand: false, instead: [] }));
  return [...found, ...aged].sort((a, b) => (a.file < b.file ? -1 : 1));
}

function show({ terminal }: Call, suggestions: readonly Suggestion[]): void {
  if (suggestions.length === 0) terminal.print("Nothing needs to go.");
  for (const { file, reason, byHand } of suggestions) {
    const what = byHand ? "you may forget" : "would forget";
    terminal.print(`${what} ${sanitiseLine(file)} (${sanitiseLine(reason)})`);
  }
}

function tellUndo({ terminal }: Call, { undo }: PruneResult): void {
  if (undo !== null) terminal.print(`memdir undo ${undo} brings them back`);
}

function count(memories: number): string {
  return memories === 1 ? "1 memory" : `${memories} memories`;
}
