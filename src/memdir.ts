/** Memdir: every verb on one project's memory. Adapters translate the outside world into calls on it. */

import type { Config } from "./config.ts";
import type { MemoryPromptOptions, StartContext } from "./context/start.ts";
import type { Instructions } from "./instructions/instructions.ts";
import type { ScopeOptions } from "./instructions/scope.ts";
import type { AdoptResult } from "./memory/adopt.ts";
import type { Check } from "./memory/doctor.ts";
import type { RebuiltIndex } from "./memory/edit.ts";
import type { MemoryRef } from "./memory/find.ts";
import type { ForgetResult, PruneRequest, PruneResult } from "./memory/forget.ts";
import type { LintProblem } from "./memory/lint.ts";
import type { MergeRequest } from "./memory/merge.ts";
import type { SaveRequest, SaveResult } from "./memory/save.ts";
import type { Location } from "./project/locate.ts";
import type { OlderDirectory, Orphan } from "./project/older.ts";
import type { Prefetch } from "./recall/prefetch.ts";
import type { Recalled, RecallOptions, RecallResult } from "./recall/recall.ts";
import type { PrefetchOptions, WarmOptions } from "./recall/recaller.ts";
import type { SearchHit } from "./recall/search.ts";
import type {
  Entry,
  IndexView,
  Listing,
  MemoryType,
  Row,
  ShownMemory,
  Store,
  Trust,
  UndoResult,
} from "./store/store.ts";
import type { MeasuredDirectory } from "./truth/rot.ts";
import type { Verification, VerifyOptions as VerifyRows } from "./truth/verify.ts";

/** `addDirs` as with --add-dir, seed 000's switches, and `allAgents` for the files of other agents. */
export type InstructionOptions = Omit<ScopeOptions, "settingSources">;

/** `stamp` says which memories that hold are stamped: by default the user's own, and none that lie in a repository. */
export type VerifyOptions = Omit<VerifyRows, "isAll"> & { signal?: AbortSignal | undefined };

/** What a person calls a memory, or its exact place. */
export type Named = string | MemoryRef;

/** Made by `openMemdir`; holds nothing open and needs no closing. */
export interface Memdir {
  readonly location: Location;
  readonly config: Config;
  /** The directories in use; the first is the one that is written to. */
  readonly directories: readonly Store[];
  /** What the user should know before anything else; every command shows it. */
  readonly warnings: readonly string[];

  save(request: SaveRequest): Promise<SaveResult>;
  list(filter?: { type?: MemoryType | undefined }): Promise<Row[]>;
  /** As `list`, with what was passed over and why. */
  survey(): Promise<Listing>;
  show(name: Named): Promise<ShownMemory>;
  /** The file's whole text, for an editor; it goes back to `edit` as `base`. */
  text(name: Named): Promise<{ file: string; path: string; text: string }>;
  edit(name: Named, base: string, text: string, options?: { redact?: boolean }): Promise<SaveResult>;
  /** A file of a memory directory as an agent's tools write it: checked, journalled and indexed like every save. `base` is what it held, null for nothing; `trust` says how far whoever writes is trusted. */
  put(path: string, text: string, base: string | null, options?: { trust?: Trust }): Promise<SaveResult>;
  forget(name: Named, options?: { reason?: string; purge?: boolean; trust?: Trust }): Promise<ForgetResult>;
  rename(name: Named, newName: string): Promise<SaveResult>;
  /** Two memories of one directory become one: `text` replaces the first, the second is forgotten, in one change. */
  merge(keep: Named, other: Named, request: MergeRequest): Promise<SaveResult>;
  search(words: string): Promise<SearchHit[]>;
  /** The few memories that help with a prompt. Never throws. */
  recall(prompt: string, options?: RecallOptions): Promise<RecallResult>;
  /** The same beside the conversation: polled, never awaited. Null when there is nothing to ask for. */
  prefetch(prompt: string, options?: PrefetchOptions): Promise<Prefetch<Recalled> | null>;
  /** Makes the recall cache whole, meaning included: long work, with progress. */
  warm(options?: WarmOptions): Promise<{ memories: number; embedded: number; left: number }>;
  /** What a model is told about its memory. */
  prompt(options?: MemoryPromptOptions): Promise<string>;
  history(name?: string): Promise<Entry[]>;
  undo(id?: string): Promise<UndoResult>;
  prune(request: PruneRequest): Promise<PruneResult>;

  /** MEMORY.md as the model sees it; generated as the client does when it is missing. */
  index(): Promise<IndexView>;
  rebuildIndex(): Promise<IndexView & RebuiltIndex>;
  /** What a host loads at start, and what touching these files adds. */
  context(touched: readonly string[], options?: InstructionOptions): Promise<StartContext>;
  /** CLAUDE.md files, rules and imports of this session. */
  instructions(options?: InstructionOptions): Promise<Instructions>;
  /** Allows instruction files of this project to import from outside the working directory. */
  approveImports(): { root: string; message: string };

  /** What tools of an agent may do here without asking, for always. */
  readonly permitted: readonly string[];
  /** Adds to it, in the user's own file. */
  permit(kind: string): void;

  /** What memories claim, checked against the code and git; one memory if a name is given. */
  verify(name?: string, options?: VerifyOptions): Promise<Verification>;
  /** The health of one directory, the first unless told, with what it was measured from. */
  measure(directory?: Store, onProgress?: (done: number, total: number) => void): Promise<MeasuredDirectory>;
  /** Format and wording of every memory, and the index; each with what to do. */
  lint(): Promise<(LintProblem & { scope: string })[]>;
  doctor(): Promise<Check[]>;
  findAdoptable(): Promise<{ orphans: Orphan[]; older: OlderDirectory[] }>;
  adopt(from: string): Promise<AdoptResult>;
  /** Settles to whom a directory belongs that two projects' paths lead to. */
  settle(way: "separate" | "share" | "keep"): Promise<{ dir: string; message: string }>;
  /** Allows the repository's settings to use the directory outside it that they ask for. */
  trust(options: { revoke: boolean }): { dir: string | null; message: string };
}
