/** A directory of memories: where it is, whose it is, and the world around it. Made in open.ts, passed to every verb. */

import { lstatSync, mkdirSync, realpathSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PRIVATE_MODE, SHARED_MODE } from "../disk/atomic.ts";
import { diskError, MemdirError } from "../errors.ts";
import type { AgeLimits } from "./age.ts";
import type { IndexLimits } from "./index-limits.ts";

export interface Directory {
  /** Absolute path; it need not exist before the first save. */
  path: string;
  /** `user`, `project`, `team` or `agent:NAME`. */
  scope: string;
  /** Files of a repository: readable for others, and their times come from git, not from the checkout. */
  inRepository: boolean;
  /** A directory of an older layout is only read. */
  readOnly: boolean;
  /** False for layouts where sub-folders belong to something else. */
  recursive: boolean;
  limits: IndexLimits;
  ageDays: AgeLimits;
  now: () => Date;
  /** Who asks, for the journal: `cli`, `library`, later `hook` and `mcp`. */
  by: string;
  log: (message: string) => void;
}

export const INDEX_FILE = "MEMORY.md";
export const OVERFLOW_FILE = "MEMORY.more.md";

export function statePath(directory: Directory, ...names: string[]): string {
  return join(directory.path, ".memdir", ...names);
}

export function fileMode(directory: Directory): number {
  return directory.inRepository ? SHARED_MODE : PRIVATE_MODE;
}

/** Makes the directory and its state folder ready for writing, and refuses when a link was put in their place. */
export function prepareDirectory(directory: Directory): void {
  if (directory.readOnly) {
    throw new MemdirError(
      "usage",
      `${directory.path} is a directory of an older layout and only read: take it over with \`memdir adopt\``,
    );
  }
  const mode = directory.inRepository ? 0o755 : 0o700;
  try {
    mkdirSync(directory.path, { recursive: true, mode });
    for (const folder of [statePath(directory), statePath(directory, "tmp"), statePath(directory, "images")]) {
      if (!statSync(folder, { throwIfNoEntry: false })) mkdirSync(folder, { recursive: true, mode: 0o700 });
    }
  } catch (error) {
    throw diskError(error, "make the directory", directory.path);
  }
  checkState(directory);
  const ignore = statePath(directory, ".gitignore");
  if (!statSync(ignore, { throwIfNoEntry: false })) writeFileSync(ignore, "*\n", { mode: 0o600 });
}

/** The directory itself may be a link, by the user's choice; what memdir made inside it may not. */
export function checkState(directory: Directory): void {
  const real = realpathSync(directory.path);
  for (const folder of [[], ["tmp"], ["images"]]) {
    const path = statePath(directory, ...folder);
    if (lstatSync(path).isSymbolicLink() || realpathSync(path) !== join(real, ".memdir", ...folder)) {
      throw new MemdirError(
        "outside",
        `${path} is a symbolic link: nothing was written; remove the link and run the command again`,
      );
    }
  }
}
