/** A directory measured before somebody who watches: with a bar while it is read. */

import type { Memdir } from "../memdir.ts";
import type { Directory } from "../store/store.ts";
import type { MeasuredDirectory } from "../truth/rot.ts";
import type { Call } from "./command.ts";

export async function measureDirectory(call: Call, memdir: Memdir, directory: Directory): Promise<MeasuredDirectory> {
  const bar = call.terminal.progress("reading memories");
  try {
    return await memdir.measure(directory, bar.show);
  } finally {
    bar.end();
  }
}
