/** `memdir index`. */

import type { Run } from "./command.ts";

export const run: Run = async (call) => {
  const memdir = await call.open();
  const rebuilt = call.flag("rebuild") ? await memdir.rebuildIndex() : null;
  const view = rebuilt ?? (await memdir.index());
  if (call.json) {
    call.terminal.json(view);
    return 0;
  }
  const { maxLines, maxChars } = memdir.config.index;
  call.terminal.print(view.index === "" ? "MEMORY.md is empty." : view.index);
  if (view.warning) call.terminal.print(`\n> ${view.warning.message}`);
  const overflow = view.overflow.length === 0 ? "" : `, ${view.overflow.length} more on the overflow page`;
  call.terminal.warn(
    call.terminal.color.dim(`${view.lines} of ${maxLines} lines, ${view.chars} of ${maxChars} characters${overflow}`),
  );
  for (const notice of rebuilt?.notices ?? []) call.terminal.warn(`memdir: note: ${notice}`);
  if (rebuilt?.undo) call.terminal.warn(call.terminal.color.dim(`memdir undo ${rebuilt.undo} reverts this`));
  return 0;
};
