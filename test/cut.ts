/** A process that dies, as by `kill -9`, right before its nth step on the disk. */

import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";

const STEPS = ["renameSync", "linkSync", "rmSync", "unlinkSync", "fsyncSync"] as const;

/** From here on, counted from 1; the function it returns tells how many steps there were so far. */
export function dieBefore(nth: number): () => number {
  let steps = 0;
  for (const name of STEPS) {
    const real = fs[name] as (...args: unknown[]) => void;
    const counted = (...args: unknown[]) => {
      if (++steps === nth) process.kill(process.pid, "SIGKILL");
      real(...args);
    };
    Object.assign(fs, { [name]: counted });
  }
  syncBuiltinESMExports();
  return () => steps;
}
