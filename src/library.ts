/** What a program gets: a Memdir, with every verb of the table as a typed method. */

import { processEnv } from "./config.ts";
import type { Memdir } from "./memdir.ts";
import { type OpenOptions, openMemdir as open } from "./open.ts";
import { bindVerbs, type Verbs } from "./verbs/table.ts";

export interface Library extends Memdir {
  /** `memdir.verbs.check()`: what the command line can do, with the same input and the same result. */
  readonly verbs: Verbs;
}

/** The project is the one of `cwd`: the process's own directory unless stated. */
export async function openMemdir(given: Partial<OpenOptions> = {}): Promise<Library> {
  const options = { cwd: process.cwd(), ...given };
  const memdir = await open(options);
  const { env = processEnv(), now = () => new Date(), log = () => {} } = options;
  const world = { env, now, log, cwd: memdir.location.project.cwd };
  const reopen = (more: Partial<OpenOptions>) => open({ ...options, ...more });
  return { ...memdir, verbs: bindVerbs(memdir, { ...world, open: reopen }) };
}
