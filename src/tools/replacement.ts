/** A file's new content put in the place of the old one: whole or not at all, and never over what somebody else just wrote. */

import { accessSync, chmodSync, constants, linkSync, lstatSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { moveInto, removeQuietly, syncDirectory, writeTemporary } from "../disk/atomic.ts";
import { readRegular } from "../disk/fence.ts";
import { type FileContent, openFolderAt } from "./file.ts";

/** `base` is what the file must still hold; null: nothing may be there. Synchronous, so that nothing of ours comes between. */
export function replaceFile(real: string, bytes: Uint8Array, base: FileContent | null): void {
  const folder = openFolderAt(dirname(real), { make: base === null });
  try {
    const target = join(folder.path, basename(real));
    // A rename needs no permission on the file itself, but whoever made it read-only meant it.
    if (base) accessSync(target, constants.W_OK);
    // Without a base the mode is the one that the user's mask makes of it.
    const temporary = writeTemporary(folder.path, bytes, base?.mode ?? 0o666, ".memdir-write");
    try {
      if (base) chmodSync(temporary, base.mode);
      if (base === null) putNew(temporary, target);
      else putOver(temporary, target, base.bytes);
    } catch (error) {
      removeQuietly(temporary);
      throw error;
    }
  } finally {
    folder.close();
  }
}

function putOver(temporary: string, target: string, base: Uint8Array): void {
  const now = readRegular(target);
  if (!now?.equals(base)) throw new Error("it changed just now; nothing was written. Read it again");
  moveInto(temporary, target);
}

/** A hard link, unlike a rename, fails when something is there. */
function putNew(temporary: string, target: string): void {
  try {
    linkSync(temporary, target);
    removeQuietly(temporary);
    syncDirectory(dirname(target));
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? "";
    if (code !== "EEXIST" && NO_LINKS.has(code) && !lstatSync(target, { throwIfNoEntry: false })) {
      moveInto(temporary, target);
      return;
    }
    if (code === "EEXIST" || NO_LINKS.has(code))
      throw new Error("it was made just now by somebody else. Read it first");
    throw error;
  }
}

/** File systems without hard links answer so. */
const NO_LINKS: ReadonlySet<string> = new Set([
  "EPERM",
  "ENOTSUP",
  "EOPNOTSUPP",
  "EXDEV",
  "EMLINK",
  "ENOSYS",
  "EINVAL",
]);
