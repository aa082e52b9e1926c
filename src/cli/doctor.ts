/** `memdir doctor`. */

import type { Run } from "./command.ts";

export const run: Run = async (call) => {
  const memdir = await call.open();
  const checks = await memdir.doctor();
  const failed = checks.filter((check) => !check.ok);
  if (call.json) call.terminal.json({ checks });
  else {
    const { green, yellow, dim } = call.terminal.color;
    for (const { name, ok, detail, fix } of checks) {
      call.terminal.print(`${ok ? green("ok ") : yellow("!! ")} ${name}: ${detail}`);
      if (fix) call.terminal.print(dim(`    ${fix}`));
    }
    call.terminal.print(failed.length === 0 ? "All is well." : `${failed.length} to look at`);
  }
  return failed.length === 0 ? 0 : 1;
};
