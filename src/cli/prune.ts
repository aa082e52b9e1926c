/** `memdir prune`. */

import { MemdirError } from "../errors.ts";
import { isMemoryType, type MemoryType } from "../memory/type.ts";
import type { Run } from "./command.ts";

const DEFAULT_DAYS = 90;

export const run: Run = async (call) => {
  const days = Number(call.value("older-than") ?? DEFAULT_DAYS);
  if (!Number.isInteger(days) || days < 1)
    throw new MemdirError("usage", "--older-than takes a whole number of days, from 1");
  const type = call.value("type") ?? "project";
  if (!isMemoryType(type) || type === "feedback")
    throw new MemdirError("usage", "--type takes project, reference or user: feedback is never pruned");
  const memdir = await call.open();
  const result = await memdir.prune({ type: type as MemoryType, olderThanDays: days, dryRun: call.flag("suggest") });
  if (call.json) {
    call.terminal.json(result);
    return 0;
  }
  for (const { file, ageDays } of result.memories)
    call.terminal.print(`${call.flag("suggest") ? "would forget" : "forgot"} ${file} (${ageDays} days old)`);
  if (result.memories.length === 0) call.terminal.print(`No ${type} memory is older than ${days} days.`);
  if (result.undo !== null) call.terminal.print(`memdir undo ${result.undo} brings them back`);
  return 0;
};
