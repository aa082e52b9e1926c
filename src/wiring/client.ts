/** What a client is to the wiring: where its files lie, which parts of them are ours, and what a person must do besides. */

import { accessSync, constants, existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import type { Part } from "./part.ts";
import type { WiringWorld } from "./world.ts";

export interface Client {
  /** As `--agent` takes it. */
  name: string;
  /** As people call it. */
  title: string;
  /** Why it is thought to be on this machine, or null. */
  find(world: WiringWorld): string | null;
  /** What already does all this, so that nothing may be put in besides; null for nothing. */
  findOther?(world: WiringWorld): string | null;
  /** What belongs into its files. Must not read them, except to choose between names of one file. */
  parts(world: WiringWorld): Part[];
  /** What a person has to do or to know besides. */
  notes(world: WiringWorld): string[];
}

/** The program's path, or null. */
function findProgram({ env, platform }: WiringWorld, name: string): string | null {
  const isWindows = platform === "win32";
  const endings = isWindows ? (env.PATHEXT ?? ".EXE;.CMD;.BAT").split(";") : [""];
  for (const folder of (env.PATH ?? env.Path ?? "").split(isWindows ? ";" : delimiter)) {
    if (folder === "") continue;
    for (const ending of endings) {
      const file = join(folder, `${name}${ending}`);
      if (isExecutable(file)) return file;
    }
  }
  return null;
}

/** The first of the paths that exists, else the program's path. */
export function findTrace(world: WiringWorld, program: string, ...paths: string[]): string | null {
  return paths.find((path) => existsSync(path)) ?? findProgram(world, program);
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
