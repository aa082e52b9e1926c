/** Paths as the disk sees them: links resolved, also for what does not exist yet. */

import fs from "node:fs";
import path from "node:path";

/** Linux gives up after as many links. */
const MAX_LINKS = 40;

/** The real path of the deepest ancestor that exists, plus the rest as written. A dangling link leads to where it points. */
export function realPath(file: string, links = 0): string {
  const absolute = path.resolve(file);
  const missing: string[] = [];
  for (let at = absolute; ; at = path.dirname(at)) {
    const isThere = exists(at);
    const real = isThere ? attempt(() => resolveLinks(at)) : null;
    if (real !== null) return path.join(real, ...missing);
    const target = isThere && links < MAX_LINKS ? attempt(() => fs.readlinkSync(at)) : null;
    if (target !== null) return path.join(realPath(path.resolve(path.dirname(at), target), links + 1), ...missing);
    if (path.dirname(at) === at) return absolute;
    missing.unshift(path.basename(at));
  }
}

/** Whether a path is a directory or lies below it; both must be absolute and resolved alike. */
export function isWithin(dir: string, file: string): boolean {
  const relative = path.relative(dir, file);
  return relative === "" || (!path.isAbsolute(relative) && relative.split(path.sep)[0] !== "..");
}

/** The system's own answer spells names as the disk does; on Windows it would turn a mapped drive into a network path. */
function resolveLinks(file: string): string {
  return process.platform === "win32" ? fs.realpathSync(file) : fs.realpathSync.native(file);
}

/** Asked first: an error takes far longer to make than an answer. */
function exists(file: string): boolean {
  try {
    return fs.lstatSync(file, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return true;
  }
}

function attempt(read: () => string): string | null {
  try {
    return read();
  } catch {
    return null;
  }
}
