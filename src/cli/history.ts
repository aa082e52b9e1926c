/** `memdir history`. */

import type { Run } from "./command.ts";

export const run: Run = async (call) => {
  const memdir = await call.open();
  const entries = await memdir.history(call.args[0]);
  if (call.json) {
    call.terminal.json(
      entries.map(({ id, at, action, files, by, reason, undoes }) => ({
        id,
        at,
        action,
        files: files.map((f) => f.file),
        by,
        reason,
        ...(undoes ? { undoes } : {}),
      })),
    );
    return 0;
  }
  if (entries.length === 0) call.terminal.print("No changes yet.");
  for (const { id, at, action, files, by, reason } of entries) {
    const names =
      files
        .slice(0, 3)
        .map((f) => f.file)
        .join(", ") + (files.length > 3 ? ` and ${files.length - 3} more` : files.length === 0 ? "MEMORY.md" : "");
    call.terminal.print(
      `${id.padStart(5)}  ${at.slice(0, 16).replace("T", " ")}  ${action.padEnd(6)}  ${names}  ${call.terminal.color.dim(`${by}${reason === "" ? "" : `: ${reason}`}`)}`,
    );
  }
  return 0;
};
