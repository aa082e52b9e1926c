/** A place that several machines or people share memories through: a folder, a git branch, a server. Sync knows nothing else of it. */

/** One memory as a remote lists it, without its text. */
export interface RemoteEntry {
  /** Below the remote's root, with `/`; always one that `findEntryProblem` has nothing against. */
  path: string;
  /** sha256 of the text; "" for a tombstone. */
  hash: string;
  /** Opaque: whoever changes the entry must name it. A new text has a new revision. */
  revision: string;
  /** A tombstone: it was there, and somebody removed it. */
  deleted: boolean;
  /** Who wrote it last, and when (ISO); "" where the remote does not know. */
  author: string;
  at: string;
}

export interface RemoteListing {
  /** Which remote this is (server, team and repository; remote and branch; folder): what was noted about another one never counts here. */
  id: string;
  entries: readonly RemoteEntry[];
}

/** `expected` is the revision that the change is based on; null: there must be no such entry (a tombstone counts as none). */
export type RemoteChange =
  | { kind: "put"; path: string; text: string; expected: string | null }
  | { kind: "remove"; path: string; expected: string };

export type RemoteOutcome =
  | { kind: "done"; path: string; revision: string }
  /** Somebody was faster; `current` is what is there now, null for nothing. Nothing was written. */
  | { kind: "stale"; path: string; current: RemoteEntry | null }
  /**
   * The remote does not take this text: a secret, a size, a right. `reason` names rule and line, never the value. `isPassing`: it
   * is not for the text itself, so that the same one may be taken the next time (a right that is given, room that is made).
   */
  | { kind: "refused"; path: string; reason: string; isPassing?: boolean };

export interface RemoteVersion {
  revision: string;
  author: string;
  at: string;
  /** Null for a tombstone and for a version that was redacted. */
  text: string | null;
}

/**
 * Every call may fail with a MemdirError "network": nothing or everything of one change has happened then, and asking
 * again is safe. Putting the text that is there already is "done" with the revision it has, whatever was expected; so is
 * removing what is gone.
 */
export interface Remote {
  /** In messages: "https://memory.example/acme/app". Never holds a credential. */
  readonly name: string;
  list(signal?: AbortSignal): Promise<RemoteListing>;
  /** The texts of these entries at these revisions; one that changed meanwhile is left out. */
  fetch(entries: readonly RemoteEntry[], signal?: AbortSignal): Promise<Map<string, string>>;
  /** One outcome for each change, in order. Changes are independent of one another. */
  apply(changes: readonly RemoteChange[], signal?: AbortSignal): Promise<RemoteOutcome[]>;
  /** Every version that was ever acknowledged, oldest first. */
  versions(path: string, signal?: AbortSignal): Promise<RemoteVersion[]>;
}
