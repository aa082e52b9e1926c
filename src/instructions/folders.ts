/** The folders on the way to a file. */

import { join, relative, sep } from "node:path";

/** Those below `top` down to `folder`, outermost first; `top` itself is loaded at start. `folder` must lie within `top`. */
export function foldersBetween(top: string, folder: string): string[] {
  const parts = relative(top, folder)
    .split(sep)
    .filter((part) => part !== "");
  return parts.map((_, i) => join(top, ...parts.slice(0, i + 1)));
}
