/** A part of a remote as a remote of its own: what lies below one folder of it. */

import { MemdirError } from "../errors.ts";
import { findEntryProblem } from "./entry-path.ts";
import type { Remote, RemoteChange, RemoteEntry, RemoteOutcome } from "./remote.ts";

/** `prefix` ends with `/`. Nothing outside it is listed, and no path leads there. */
export function withPrefix(remote: Remote, prefix: string): Remote {
  const problem = prefix.endsWith("/") ? findEntryProblem(`${prefix}x.md`) : "it does not end with a slash";
  if (problem !== null)
    throw new MemdirError("usage", `the folder ${JSON.stringify(prefix)} of ${remote.name} cannot be used: ${problem}`);
  const inside = (entry: RemoteEntry): RemoteEntry => ({ ...entry, path: entry.path.slice(prefix.length) });
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

    async apply(changes, signal) {
      const refusals = changes.map((change) => refuse(prefix, change));
      const rest = changes.filter((_, at) => refusals[at] === null);
      const outcomes = (rest.length > 0 ? await remote.apply(rest.map(outside), signal) : []).values();
      return changes.map(({ path }, at): RemoteOutcome => {
        const outcome = refusals[at] ?? (outcomes.next().value as RemoteOutcome);
        if (outcome.kind !== "stale") return { ...outcome, path };
        return { ...outcome, path, current: outcome.current && inside(outcome.current) };
      });
    },

    versions: async (path, signal) => (findEntryProblem(path) === null ? remote.versions(prefix + path, signal) : []),
  };
}

function refuse(prefix: string, { path }: RemoteChange): RemoteOutcome | null {
  const reason = findEntryProblem(path) ?? findEntryProblem(prefix + path);
  return reason === null ? null : { kind: "refused", path, reason };
}
