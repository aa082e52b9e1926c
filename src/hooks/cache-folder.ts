/** The folder in the user's home for what belongs to no project. */

import { existsSync, mkdirSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";
import type { Env } from "../config.ts";

/** The user's own, as nobody else may say what is run: a relative path would lead into the project. */
export function cacheFolder({ XDG_CACHE_HOME = "", HOME = "" }: Env): string {
  if (isAbsolute(XDG_CACHE_HOME)) return join(XDG_CACHE_HOME, "memdir");
  return join(isAbsolute(HOME) ? HOME : homedir(), ".cache", "memdir");
}

/** One by one: a home that is not there is not made, and Node's own `recursive` never ends under an automounter. */
export function makeCacheFolder(folder: string): void {
  for (const each of [dirname(folder), folder]) if (!existsSync(each)) mkdirSync(each, { mode: 0o700 });
}
