/** Memdir: every verb on one project's memory. Adapters translate the outside world into calls on it. */

import type { Config } from "./config.ts";
import type { MemoryPromptOptions, StartContext } from "./context/start.ts";
import { MemdirError } from "./errors.ts";
import type { Instructions } from "./instructions/instructions.ts";
import type { ScopeOptions } from "./instructions/load.ts";
import type { Proposed } from "./learn/apply.ts";
import type { Wish } from "./learn/proposal.ts";
import type { AdoptResult } from "./memory/adopt.ts";
import type { Check } from "./memory/doctor.ts";
import type { LintProblem } from "./memory/lint.ts";
import type { Memories, Named } from "./memory/memories.ts";
import type { Location } from "./project/locate.ts";
import type { Decisions, Orphan } from "./project/owner.ts";
import type { OlderDirectory } from "./project/scopes.ts";
import type { Prefetch } from "./recall/prefetch.ts";
import type { Recalled } from "./recall/recall.ts";
import type { PrefetchOptions, Recaller } from "./recall/recaller.ts";
import type { SearchHit } from "./recall/search.ts";
import type { Store } from "./store/store.ts";
import type { MeasuredDirectory } from "./truth/health.ts";
import type { Verification, VerifyOptions as VerifyRows } from "./truth/verify.ts";

export type { Named };

/** Which instruction files to load: `addDirs` works like --add-dir, and `allAgents` adds the files of other agents. */
export type InstructionOptions = Omit<ScopeOptions, "settingSources">;

/** How memories are checked. `stamp` says which of the memories that hold get a date: by default the user's own, but none in a repository. */
export type VerifyOptions = Omit<VerifyRows, "isAll"> & { signal?: AbortSignal | undefined };

/** The memory of one project, opened by `openMemdir`. It keeps nothing open and does not need to be closed. */
export interface Memdir extends Memories, Decisions, Pick<Recaller, "recall" | "warm"> {
  /** Which project this is, and where its memories are. */
  readonly location: Location;
  /** The settings in effect, and where each comes from. */
  readonly config: Config;
  /** The directories in use; the first is the one that is written to. */
  readonly directories: readonly Store[];
  /** What the user should know first; every command shows it. */
  readonly warnings: readonly string[];
  /** What tools of an agent may do here without asking, for always. */
  readonly permitted: readonly string[];

  /** Every memory that contains the words, best first. This is for people; use `recall` for a model. */
  search(words: string): Promise<SearchHit[]>;
  /** Recall in the background of a conversation: polled, never awaited. Null if there is nothing to ask for. */
  prefetch(prompt: string, options?: PrefetchOptions): Promise<Prefetch<Recalled> | null>;
  /** What a model is told about its memory. */
  prompt(options?: MemoryPromptOptions): Promise<string>;
  /** What a host loads at startup, and what touching these files adds. */
  context(touched: readonly string[], options?: InstructionOptions): Promise<StartContext>;
  /** CLAUDE.md files, rules and imports of this session. */
  instructions(options?: InstructionOptions): Promise<Instructions>;

  /** Puts a change that a model wants to make to the team's memories into the user's own inbox. `says` is for the model. */
  propose(team: Store, wish: Wish): Promise<Proposed>;
  /** Checks what memories claim against the code and git: one memory if a name is given, else all of them. */
  verify(name?: Named, options?: VerifyOptions): Promise<Verification>;
  /** The health of one directory (the first by default), with what it was measured from. */
  measure(directory?: Store, onProgress?: (done: number, total: number) => void): Promise<MeasuredDirectory>;
  /** Checks the format and wording of every memory, and the index. Each problem says what to do. */
  lint(): Promise<(LintProblem & { scope: string })[]>;
  /** Checks the installation and the stores. Each check says what to do. */
  doctor(): Promise<Check[]>;
  /** Memories that this project may have lost: from a moved or renamed folder (`orphans`), from older layouts, or from the repository's top folder. */
  findAdoptable(): Promise<{ orphans: Orphan[]; older: OlderDirectory[]; top: string | null }>;
  /** Copies the memories of such a directory into this project's. */
  adopt(from: string): Promise<AdoptResult>;
}

/** For programs without types, which forget the `await` now and then. */
export function checkOpened(caller: string, memdir: Memdir): void {
  if (!Array.isArray(memdir?.directories))
    throw new MemdirError("usage", `${caller}: the first argument must be what \`await openMemdir()\` gives`);
}
