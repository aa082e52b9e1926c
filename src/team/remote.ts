/** What several machines or people share memories through: a git branch, a server. Sync knows nothing else about it. */

import { findEntryProblem, findTextProblem, type RemoteEntry, type Version } from "./protocol.ts";

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
  /** Another change was faster. Nothing was written. */
  | { kind: "stale"; path: string }
  /**
   * The remote does not take this text: a secret, a size, a right. `reason` names rule and line, never the value. `isPassing`: it
   * is not for the text itself, so that the same one may be taken the next time (a right that is given, room that is made).
   */
  | { kind: "refused"; path: string; reason: string; isPassing?: boolean };

/** A version of a memory that the remote once listed or acknowledged. */
export type Had = Pick<RemoteEntry, "path" | "revision" | "hash">;

/** Text null: a tombstone, or a version that was redacted. */
export type RemoteVersion = Pick<Version, "revision" | "author" | "at" | "text">;

/** How many changes are done. */
type Progress = (done: number) => void;

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
  apply(changes: readonly RemoteChange[], signal?: AbortSignal, onProgress?: Progress): Promise<RemoteOutcome[]>;
  /**
   * The paths of those that are not in the remote's history any more: it was restored from a backup or rewound, or took over without
   * its last writes. What it lists for them now is not newer.
   */
  findLost(had: readonly Had[], signal?: AbortSignal): Promise<ReadonlySet<string>>;
  /** Every version that was ever acknowledged and is kept, oldest first. With `hash` those with this text are enough. */
  versions(path: string, signal?: AbortSignal, hash?: string): Promise<RemoteVersion[]>;
}

/** The answer to what no remote takes, whatever it holds; else null. */
export function refuseChange(change: RemoteChange, maxBytes?: number): RemoteOutcome | null {
  const { path } = change;
  const reason = findEntryProblem(path) ?? (change.kind === "put" ? findTextProblem(change.text, maxBytes) : null);
  return reason === null ? null : { kind: "refused", path, reason };
}

/** `prefix` ends with `/`. Nothing outside it is listed, and no path leads there. */
export function withPrefix(remote: Remote, prefix: string): Remote {
  const inside = <T extends { path: string }>(entry: T): T => ({ ...entry, path: entry.path.slice(prefix.length) });
  const outside = <T extends { path: string }>(entry: T): T => ({ ...entry, path: prefix + entry.path });

  return {
    name: `${remote.name}/${prefix.slice(0, -1)}`,

    async list(signal) {
      const { id, entries } = await remote.list(signal);
      // A name may be a memory's in a folder and an index's at the top of one.
      const own = entries.filter(({ path }) => path.startsWith(prefix)).map(inside);
      return { id: `${id}/${prefix}`, entries: own.filter(({ path }) => findEntryProblem(path) === null) };
    },

    async fetch(entries, signal) {
      const texts = await remote.fetch(entries.map(outside), signal);
      return new Map([...texts].map(([path, text]) => [path.slice(prefix.length), text]));
    },

    async apply(changes, signal, onProgress) {
      const outcomes = await remote.apply(changes.map(outside), signal, onProgress);
      return outcomes.map(inside);
    },

    findLost: async (had, signal) => {
      const lost = await remote.findLost(had.map(outside), signal);
      return new Set([...lost].map((path) => path.slice(prefix.length)));
    },

    versions: (path, signal, hash) => remote.versions(prefix + path, signal, hash),
  };
}
