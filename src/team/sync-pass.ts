/** What one pass of sync carries along: the world it was given, what it knows, what came of it. */

import type { Directory } from "../store/store.ts";
import type { Remote } from "./remote.ts";
import type { BaseTexts, SyncState } from "./sync-state.ts";

export interface SyncOptions {
  directory: Directory;
  remote: Remote;
  /** Under which name this machine's person writes in the remote. */
  who: string;
  now: () => Date;
  signal?: AbortSignal | undefined;
  onProgress?: ((progress: SyncProgress) => void) | undefined;
  /** Why a memory of this directory may not be shared, or null. */
  mayTravel?: ((path: string, text: string) => string | null) | undefined;
  findSecrets: (text: string) => readonly { rule: string; line: number }[];
}

export interface SyncProgress {
  phase: "list" | "fetch" | "write" | "push" | "remove" | "save";
  done: number;
  total: number;
}

export interface SyncResult {
  pulled: string[];
  pushed: string[];
  removed: { here: string[]; there: string[] };
  merged: string[];
  conflicts: { path: string; copy: string }[];
  refused: { path: string; reason: string }[];
  waiting: { path: string; until: string }[];
  notices: string[];
}

export interface Pass {
  options: SyncOptions;
  state: SyncState;
  /** The state as it lies on the disk. */
  saved: string;
  texts: BaseTexts;
  result: SyncResult;
  /** Something was overtaken: another round may settle it. */
  again: boolean;
  progress(phase: SyncProgress["phase"], done: number, total: number): void;
  notice(text: string): void;
  /** Writes the state down, if it is another one. */
  save(): void;
  /** Holds a text back until it is another one. */
  refuse(path: string, side: "here" | "there", hash: string, reason: string): void;
}

export function emptyResult(): SyncResult {
  return {
    pulled: [],
    pushed: [],
    removed: { here: [], there: [] },
    merged: [],
    conflicts: [],
    refused: [],
    waiting: [],
    notices: [],
  };
}
