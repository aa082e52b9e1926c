/** Where our own installed files are: clients are told to start them. */

import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { MemdirError } from "../errors.ts";

/** From a source two folders down to the package; further up it is somebody else's. */
const MAX_LEVELS = 3;

/** The folder that holds `hook.cjs` and `cli.js`, seen from a file of the program. Throws `broken` for half an installation. */
export function findInstallation(from: string): string {
  for (let folder = dirname(from), level = 0; level < MAX_LEVELS; folder = dirname(folder), level++) {
    for (const candidate of [folder, join(folder, "dist")]) {
      if (["hook.cjs", "cli.js"].every((name) => existsSync(join(candidate, name)))) return candidate;
    }
  }
  throw new MemdirError("broken", "memdir's own files hook.cjs and cli.js were not found; install it again");
}

/** Where npx, pnpm dlx, yarn dlx and bunx put what they run once. */
const PASSING = /[\\/](?:_npx|dlx|dlx-[^\\/]+|xfs-[^\\/]+|bunx-[^\\/]+)[\\/]/;

/** Why clients should not be told to start this one, or null. */
export function findPassing(dist: string): string | null {
  if (!PASSING.test(dist)) return null;
  return "memdir runs from a cache that is emptied at times: npm install -g memdir, then memdir init again";
}
