/** Work on hostile input: it may take as long as the machine needs, and fails only when it would never end. */

import vm from "node:vm";
import { Worker } from "node:worker_threads";
import { expect } from "vitest";

/** Thousands of times what the work takes, and nothing against what an expression that runs away would take. */
const HANG_MS = 240_000;

const box = vm.createContext({ work: null });
const script = new vm.Script("work()");

/** Also stops a regular expression in its middle; then it throws. */
export function ends<T>(work: () => T): T {
  box.work = work;
  return script.runInContext(box, { timeout: HANG_MS });
}

/** For work that awaits: nothing can stop its middle but the end of this process, and that says which test it was. */
export async function endsLater<T>(work: () => Promise<T>, ms = HANG_MS): Promise<T> {
  const words = `\n${expect.getState().testPath}: "${expect.getState().currentTestName}" hangs\n`;
  const guard = new Worker(
    `const { workerData: { words, ms } } = require("node:worker_threads");
     setTimeout(() => { require("node:fs").writeSync(2, words); process.kill(process.pid, "SIGKILL"); }, ms);`,
    { eval: true, workerData: { words, ms } },
  );
  guard.unref();
  try {
    return await work();
  } finally {
    await guard.terminate();
  }
}
