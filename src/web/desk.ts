/** What every answer of the page is made from: an open Memdir and the world around it. */

import type { Env } from "../config.ts";
import { MemdirError } from "../errors.ts";
import type { Plan } from "../learn/dream-plan.ts";
import type { Memdir } from "../memdir.ts";
import type { Searchable, SearchTexts } from "../recall/search.ts";
import { type Directory, scan, stemOf } from "../store/store.ts";
import { findByRef } from "../verbs/find.ts";
import type { MemoryTitle, Ref, RotView } from "./api.ts";

export interface Desk {
  memdir: Memdir;
  env: Env;
  now: () => Date;
  log: (message: string) => void;
  /** Nothing may be changed through this page. */
  readOnly: boolean;
  version: string;
  /** What lasts from one request to the next. */
  kept: Kept;
}

export interface Kept {
  /** Grows with every change in the directories; null where nobody watches them, so that nothing of theirs may be kept. */
  version: number | null;
  /** The plan of a dream that waits for a person. */
  plan: WaitingPlan | null;
  /** The health of all memories as it was measured last, and what it was measured from: reading every one takes long. */
  rot?: { of: string; rot: RotView };
  /** What a search looks through, as it was at a version. */
  texts?: { version: number | null; all: Promise<readonly KeptText[]> };
  /** Files that were read, by their times. */
  read?: SearchTexts;
}

export interface KeptText extends Ref {
  mtimeMs: number;
  fields: Searchable["fields"];
}

export interface WaitingPlan {
  id: string;
  /** ISO. */
  made: string;
  plan: Plan;
}

export type DeskOptions = Omit<Desk, "kept">;

export function openDesk(options: DeskOptions): Desk {
  return { ...options, kept: { plan: null, version: null } };
}

/** The first directory: the one that new memories go to. */
export function mainOf({ memdir }: Desk): Directory {
  const [main] = memdir.directories;
  if (!main) throw new MemdirError("not-found", "there is no memory directory here");
  return main;
}

/** Where a memory lies, if the listing shows it; else an error that says so. */
export function placeOf({ memdir }: Desk, ref: Ref): { directory: Directory; file: string } {
  return findByRef(memdir.directories, ref);
}

/** Before every change: clear words in place of an error from the depths. */
export function refuseReadOnly(desk: Desk, ref?: Pick<Ref, "directory">): void {
  if (desk.readOnly) {
    throw new MemdirError("usage", "this page only looks: start `memdir ui` without --read-only to change memories");
  }
  const directory = ref && desk.memdir.directories[ref.directory];
  if (directory?.readOnly) {
    throw new MemdirError(
      "usage",
      `${directory.path} is of an older layout and only read: take it over with \`memdir adopt\``,
    );
  }
}

/** The number of the directory that a scope means; of several the one that is written to. */
export function numberOfScope({ memdir }: Desk, scope: string): number | null {
  const at = memdir.directories.findIndex((directory) => directory.scope === scope);
  return at < 0 ? null : at;
}

/** Memories by their names; one that is gone is called by its file. */
export function openTitles({ memdir }: Desk): (directory: number, file: string) => MemoryTitle {
  const names = memdir.directories.map(
    (directory) => new Map(scan(directory).memories.map(({ header }) => [header.file, header.name])),
  );
  return (directory, file) => ({ directory, file, name: names[directory]?.get(file) ?? stemOf(file) });
}
