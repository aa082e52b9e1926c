/**
 * Syncs a directory with a shared folder, as a program of its own that can be killed: MIRROR FOLDER WHO TIMES. Prints a dot for each
 * sync. With CUT_AT it dies right before that step on the disk.
 */

import { MemdirError } from "../../src/errors.ts";
import { syncDirectory } from "../../src/team/sync.ts";
import { dieBefore } from "../cut.ts";
import { openDiskRemote } from "./disk-remote.ts";
import { directoryAt } from "./sync-world.ts";

const [mirror = "", folder = "", who = "", times = "1"] = process.argv.slice(2);
dieBefore(Number(process.env.CUT_AT));
const clock = { now: new Date() };
try {
  const remote = openDiskRemote({ folder, who, now: () => new Date() });
  for (let i = 0; i < Number(times); i++) {
    await syncDirectory({ directory: directoryAt(mirror, clock), remote, who, findSecrets: () => [] });
    process.stdout.write(".");
  }
} catch (error) {
  process.stderr.write(`${(error as Error).stack}\n`);
  process.exitCode = error instanceof MemdirError && (error.code === "network" || error.code === "lock") ? 3 : 70;
}
