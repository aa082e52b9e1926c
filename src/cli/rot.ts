/** `memdir rot`: the health of every memory together, on one screen. */

import type { Measured } from "../truth/rot.ts";
import type { Call, Run } from "./command.ts";
import { measureDirectory } from "./rot-desk.ts";
import { viewRot } from "./rot-view.ts";

export const run: Run = (call) => rot(call, process.stdout.columns);

/** `columns` of the terminal; undefined where there is none. */
export async function rot(call: Call, columns: number | undefined): Promise<number> {
  const memdir = await call.open();
  const measured: Measured[] = [];
  for (const directory of memdir.directories) {
    if (!directory.readOnly || directory === memdir.directories[0])
      measured.push((await measureDirectory(call, memdir, directory)).rot);
  }
  const [main, ...others] = measured as [Measured, ...Measured[]];
  if (call.json) call.terminal.json({ ...main, others });
  else call.terminal.print(viewRot(main, others, { columns, all: call.flag("all"), color: call.terminal.color }));
  return 0;
}
