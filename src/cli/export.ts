/** `memdir export`. */

import { resolve } from "node:path";
import { MemdirError } from "../errors.ts";
import { EXPORT_FORMATS, type ExportFormat, exportMemories } from "../exchange/export.ts";
import { isMemoryType, MEMORY_TYPES } from "../store/store.ts";
import type { Run } from "./command.ts";

export const run: Run = async (call) => {
  const type = call.value("type");
  if (type !== undefined && !isMemoryType(type)) {
    throw new MemdirError("usage", `the type "${type}" is none of ${MEMORY_TYPES.join(", ")}`);
  }
  const format = (call.value("format") ?? "markdown") as ExportFormat;
  if (!EXPORT_FORMATS.includes(format)) {
    throw new MemdirError("usage", `the format "${format}" is none of ${EXPORT_FORMATS.join(", ")}`);
  }
  const given = call.value("output");
  const isStandard = given === undefined || given === "-";
  // The slash at its end says that a folder is meant.
  const output = isStandard ? null : resolve(call.cwd, given) + (/[/\\]$/.test(given) ? "/" : "");
  const memdir = await call.open();
  const { exported, left, text, removed } = await exportMemories(memdir, {
    format,
    type,
    output,
    force: call.flag("force"),
  });
  if (call.json) call.terminal.json({ format, output, exported, left, removed, ...(output === null ? { text } : {}) });
  else if (output === null) call.terminal.print((text ?? "").trimEnd());
  else call.terminal.print(`exported ${exported.length} to ${output}`);
  if (!call.json) {
    for (const { file, reason } of left) call.terminal.warn(`memdir: note: ${file} is left out: ${reason}`);
    if (removed.length > 0)
      call.terminal.warn(`memdir: note: removed from the export, as they are forgotten: ${removed.join(", ")}`);
  }
  return 0;
};
