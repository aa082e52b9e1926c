/** `dist/hook.cjs`: a command that clients start for an event, and a module for plugins that answer events in the client's own process. */

import { writeSync } from "node:fs";
import { processEnv } from "../config.ts";
import { type HooksOptions, openHooks } from "./hooks.ts";
import { readInput } from "./input.ts";

if (require.main === module) {
  // A regular shutdown of the engine takes more than a millisecond, and nothing is left to do.
  run().finally(() => process.exit(0));
} else {
  module.exports = {
    openHooks: (options: Partial<HooksOptions> = {}) => openHooks({ env: processEnv(), dist: __dirname, ...options }),
  };
}

async function run(): Promise<void> {
  const answer = openHooks({ env: processEnv(), dist: __dirname });
  const input = read();
  if (input === undefined) return;
  const { out, after } = await answer(input);
  try {
    writeAll(1, out);
  } catch {
    // The client closed the pipe without reading.
  }
  await after();
}

/** The error when it is not JSON. */
function read(): unknown {
  try {
    return readInput(0);
  } catch (error) {
    return error;
  }
}

/** Not through process.stdout: opening it loads Node's streams, which takes longer than most hooks. */
function writeAll(fd: number, text: string): void {
  const bytes = Buffer.from(text);
  for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done);
}
