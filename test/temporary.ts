/** Folders that tests make, removed when the file that made them is done (test/setup.ts): modules are shared between files. */

import fs from "node:fs";
import os from "node:os";
import path from "node:path";

const made: string[] = [];

/** The real path of a fresh folder. `base`: memory where there is some, for tests that write much and look at no disk. */
export function makeTemporary(prefix: string, base: "disk" | "memory" = "disk"): string {
  const parent = base === "memory" ? memory() : os.tmpdir();
  const folder = fs.realpathSync(fs.mkdtempSync(path.join(parent, `memdir-${prefix}-`)));
  made.push(folder);
  return folder;
}

/** A process that a test started, and waited for only until its work was visible, may write its last file meanwhile: then it is tried again. */
export function removeTemporary(): void {
  for (const folder of made.splice(0)) remove(folder, 40);
}

/** Each time from the start: Node's own retries do not look for files that are new. */
function remove(folder: string, tries: number): void {
  try {
    fs.rmSync(folder, { recursive: true, force: true });
  } catch (error) {
    if (tries === 0) throw error;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
    remove(folder, tries - 1);
  }
}

function memory(): string {
  try {
    fs.accessSync("/dev/shm", fs.constants.W_OK | fs.constants.X_OK);
    const { bavail, bsize } = fs.statfsSync("/dev/shm");
    return bavail * bsize > 256 << 20 ? "/dev/shm" : os.tmpdir();
  } catch {
    return os.tmpdir();
  }
}
