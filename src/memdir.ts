/** Memdir: every verb on one project's memory. Adapters translate the outside world into calls on it. */

import type { Config } from "./config.ts";
import type { MemoryPromptOptions, StartContext } from "./context/start.ts";
import type { Instructions } from "./instructions/instructions.ts";
import type { ScopeOptions } from "./instructions/scope.ts";
import type { AdoptResult } from "./memory/adopt.ts";
import type { Check } from "./memory/doctor.ts";
import type { Named } from "./memory/find.ts";
import type { LintProblem } from "./memory/lint.ts";
import type { Memories } from "./memory/memories.ts";
import type { Location } from "./project/locate.ts";
import type { Orphan } from "./project/orphans.ts";
import type { Decisions } from "./project/owner.ts";
import type { OlderDirectory } from "./project/scopes.ts";
import type { Prefetch } from "./recall/prefetch.ts";
import type { Recalled } from "./recall/recall.ts";
import type { PrefetchOptions, Recaller } from "./recall/recaller.ts";
import type { SearchHit } from "./recall/search.ts";
import type { Store } from "./store/store.ts";
import type { MeasuredDirectory } from "./truth/health.ts";
import type { Verification, VerifyOptions as VerifyRows } from "./truth/verify.ts";

export type { Named };

/** `addDirs` as with --add-dir, seed 000's switches, and `allAgents` for the files of other agents. */
export type InstructionOptions = Omit<ScopeOptions, "settingSources">;

/** `stamp` says which memories that hold are stamped: by default the user's own, and none that lie in a repository. */
export type VerifyOptions = Omit<VerifyRows, "isAll"> & { signal?: AbortSignal | undefined };

/** Made by `openMemdir`; holds nothing open and needs no closing. */
export interface Memdir extends Memories, Decisions, Pick<Recaller, "recall" | "warm"> {
  readonly location: Location;
  readonly config: Config;
  /** The directories in use; the first is the one that is written to. */
  readonly directories: readonly Store[];
  /** What the user should know before anything else; every command shows it. */
  readonly warnings: readonly string[];

  search(words: string): Promise<SearchHit[]>;
  /** Recall beside the conversation: polled, never awaited. Null when there is nothing to ask for. */
  prefetch(prompt: string, options?: PrefetchOptions): Promise<Prefetch<Recalled> | null>;
  /** What a model is told about its memory. */
  prompt(options?: MemoryPromptOptions): Promise<string>;
  /** What a host loads at start, and what touching these files adds. */
  context(touched: readonly string[], options?: InstructionOptions): Promise<StartContext>;
  /** CLAUDE.md files, rules and imports of this session. */
  instructions(options?: InstructionOptions): Promise<Instructions>;

  /** What memories claim, checked against the code and git; one memory if a name is given. */
  verify(name?: Named, options?: VerifyOptions): Promise<Verification>;
  /** The health of one directory, the first unless told, with what it was measured from. */
  measure(directory?: Store, onProgress?: (done: number, total: number) => void): Promise<MeasuredDirectory>;
  /** Format and wording of every memory, and the index; each with what to do. */
  lint(): Promise<(LintProblem & { scope: string })[]>;
  doctor(): Promise<Check[]>;
  findAdoptable(): Promise<{ orphans: Orphan[]; older: OlderDirectory[]; top: string | null }>;
  adopt(from: string): Promise<AdoptResult>;
}
