/** Every command of the command line for programs: an entry of its own, since most of memdir is behind it. */

import { bindVerbs, type CallOptions, type VerbsOf } from "../verbs/rows.ts";
import { TABLE } from "../verbs/table.ts";
import type { OpenOptions } from "./arguments.ts";
import { openChecked, type Verbs } from "./library.ts";

export type { CallOptions, OpenOptions };

type Bound = VerbsOf<typeof TABLE>;

/** Every command of the command line by its name, typed by its input and result. */
export interface AllVerbs extends Verbs {
  /** Run doctor, lint, verify and health in one report. */
  check: Bound["check"];
  /** Check the installation and every connected agent. */
  doctor: Bound["doctor"];
  /** Learn from past sessions, one proposal at a time. */
  learn: Bound["learn"];
  /** Learn from conversations, with a model or offline. */
  extract: Bound["extract"];
  /** Review proposed memories: accept, edit or reject them. */
  inbox: Bound["inbox"];
  /** Tidy up memories with a plan: merge, rewrite, retire. */
  dream: Bound["dream"];
  /** Add cues to memories that lack them, with a model. */
  enrich: Bound["enrich"];
  /** Add a line to the daily log, or show today's. */
  log: Bound["log"];
  /** Show what background work cost, and what is left today. */
  ledger: Bound["ledger"];
  /** List or search past sessions, including Claude Code's. */
  sessions: Bound["sessions"];
  /** List checkpoints of a session, or go back to one. */
  rewind: Bound["rewind"];
  /** Connect the agents on this machine; shows every change first. */
  init: Bound["init"];
  /** Disconnect the agents; memories stay. */
  uninstall: Bound["uninstall"];
  /** Import memories from other programs. */
  import: Bound["import"];
  /** Export memories as Markdown, JSON or a section of AGENTS.md. */
  export: Bound["export"];
  /** Show what an agent loads at startup, and what it skips. */
  context: Bound["context"];
  /** Show the text about memory that goes to the model. */
  prompt: Bound["prompt"];
  /** Take over the memories of a moved or renamed project. */
  adopt: Bound["adopt"];
  /** Decide what this repository and your team may do here. */
  trust: Bound["trust"];
  /** Move a private memory to the team's. */
  promote: Bound["promote"];
  /** Move a team memory back to your own. */
  demote: Bound["demote"];
  /** Exchange memories with a team server, or through git. */
  sync: Bound["sync"];
  /** Share this project's memories through a team server. */
  join: Bound["join"];
  /** Show who shares memories here; manage people and tokens. */
  team: Bound["team"];
}

/**
 * Opens a project like `openMemdir`, and returns every command of the command line as a function, including learning,
 * import and export, wiring and sharing. They print nothing and ask nothing; they return the result.
 *
 * @example
 * const verbs = await openVerbs();
 * const { health } = await verbs.check();
 */
export async function openVerbs(options: OpenOptions = {}): Promise<AllVerbs> {
  const { memdir, world } = await openChecked(options);
  return bindVerbs(TABLE, memdir, world);
}
