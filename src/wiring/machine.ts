/** The machine that clients are wired on: where its user's files are, and how memdir is installed on it. */

import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { homeOf } from "../config.ts";
import { MemdirError } from "../errors.ts";
import type { World } from "../world.ts";

export interface Machine extends Pick<World, "env" | "now" | "log"> {
  home: string;
  cwd: string;
  platform: NodeJS.Platform;
  /** The Node that clients start memdir with. */
  node: string;
  /** The folder of memdir's installed files. */
  dist: string;
}

/** This machine, seen from any file of the running program. Throws `broken` for an incomplete installation. */
export function openMachine(program: string, given: Pick<Machine, "cwd" | "env" | "now" | "log">): Machine {
  const home = homeOf(given.env);
  return { ...given, home, platform: process.platform, node: findNode(), dist: findInstallation(program) };
}

/** Homebrew removes the path that Node knows itself by with every update; its `opt` stays. */
function findNode(): string {
  const lasting = process.execPath.replace(/[/]Cellar[/](node(?:@\d+)?)[/][^/]+[/]bin[/]node$/, "/opt/$1/bin/node");
  return existsSync(lasting) ? lasting : process.execPath;
}

/** From a source two folders down to the package; further up it is another program's. */
const MAX_LEVELS = 3;

/** The folder that holds `hook.cjs` and `cli.js`, seen from a file of the program. Throws `broken` for an incomplete installation. */
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

/** Why clients should not be told to start this installation, or null. */
export function findPassing(dist: string): string | null {
  if (!PASSING.test(dist)) return null;
  return "memdir runs from a cache that is emptied at times: npm install -g memdir, then memdir init again";
}
