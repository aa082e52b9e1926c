/** Everything the wiring knows of the machine: passed in, so that a test is a machine of its own. */

import { existsSync } from "node:fs";
import { homedir } from "node:os";
import type { Env } from "../config.ts";
import { findInstallation } from "./installation.ts";

export interface WiringWorld {
  home: string;
  env: Env;
  cwd: string;
  platform: NodeJS.Platform;
  /** The Node that clients shall start us with. */
  node: string;
  /** The folder of our installed files. */
  dist: string;
  now: () => Date;
  log: (message: string) => void;
}

interface WorldOptions {
  cwd: string;
  env: Env;
  /** The path of any file of the running program. */
  program: string;
  now: () => Date;
  log: (message: string) => void;
}

/** The real machine. Throws `broken` for half an installation. */
export function openWiringWorld({ program, ...given }: WorldOptions): WiringWorld {
  const { env } = given;
  const home = env.HOME || env.USERPROFILE || homedir();
  return { ...given, home, platform: process.platform, node: findNode(), dist: findInstallation(program) };
}

/** Homebrew removes the path that Node knows itself by with every update; its `opt` stays. */
function findNode(): string {
  const lasting = process.execPath.replace(/[/]Cellar[/](node(?:@\d+)?)[/][^/]+[/]bin[/]node$/, "/opt/$1/bin/node");
  return existsSync(lasting) ? lasting : process.execPath;
}
