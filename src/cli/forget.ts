/** `memdir forget`. */

import type { Run } from "./command.ts";

export const run: Run = async (call) => {
  const memdir = await call.open();
  const reason = call.value("reason");
  const result = await memdir.forget(call.args[0] as string, {
    purge: call.flag("purge"),
    ...(reason === undefined ? {} : { reason }),
  });
  const { notices, ...rest } = result;
  if (call.json) call.terminal.json(notices.length > 0 ? result : rest);
  else
    call.terminal.print(
      `removed ${result.file}${result.undo === null ? "" : `; memdir undo ${result.undo} brings it back`}`,
    );
  for (const notice of notices) call.terminal.warn(`memdir: note: ${notice}`);
  return 0;
};
