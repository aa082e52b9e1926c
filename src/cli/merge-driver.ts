/** `memdir merge-driver`: started by git, never by a person; set up by `memdir init --team`. */

import { MemdirError } from "../errors.ts";
import { driveMerge } from "../team/merge-driver.ts";
import { sanitiseLine } from "../text/sanitise.ts";
import type { Run } from "./command.ts";

export const start: Run = async (call) => {
  const [kind, base, ours, theirs, path] = call.args as [string, string, string, string, string];
  if (kind !== "memory" && kind !== "index")
    throw new MemdirError("usage", `"${kind}" is neither memory nor index; git calls this, see memdir init --team`);
  const { code, message } = await driveMerge({ kind, base, ours, theirs, path }, { root: call.cwd, env: call.env });
  if (message !== "") call.terminal.warn(sanitiseLine(message));
  return code;
};
