/** A part of a store as a store of its own: what lies below one folder of it. */

import { MemdirError } from "../errors.ts";
import { findEntryProblem } from "./entry-path.ts";
import type { Store, StoreChange, StoreEntry, StoreOutcome } from "./store.ts";

/** `prefix` ends with `/`. Nothing outside it is listed, and no path leads there. */
export function withPrefix(store: Store, prefix: string): Store {
  const problem = prefix.endsWith("/") ? findEntryProblem(`${prefix}x.md`) : "it does not end with a slash";
  if (problem !== null)
    throw new MemdirError("usage", `the folder ${JSON.stringify(prefix)} of ${store.name} cannot be used: ${problem}`);
  const inside = (entry: StoreEntry): StoreEntry => ({ ...entry, path: entry.path.slice(prefix.length) });
  const outside = <T extends { path: string }>(entry: T): T => ({ ...entry, path: prefix + entry.path });

  return {
    name: `${store.name}/${prefix.slice(0, -1)}`,

    async list(signal) {
      const { id, entries } = await store.list(signal);
      // A name may be a memory's in a folder and an index's at the top of one.
      const own = entries.filter(({ path }) => path.startsWith(prefix)).map(inside);
      return { id: `${id}/${prefix}`, entries: own.filter(({ path }) => findEntryProblem(path) === null) };
    },

    async fetch(entries, signal) {
      const texts = await store.fetch(entries.map(outside), signal);
      return new Map([...texts].map(([path, text]) => [path.slice(prefix.length), text]));
    },

    async apply(changes, signal) {
      const refusals = changes.map((change) => refuse(prefix, change));
      const rest = changes.filter((_, at) => refusals[at] === null);
      const outcomes = (rest.length > 0 ? await store.apply(rest.map(outside), signal) : []).values();
      return changes.map(({ path }, at): StoreOutcome => {
        const outcome = refusals[at] ?? (outcomes.next().value as StoreOutcome);
        if (outcome.kind !== "stale") return { ...outcome, path };
        return { ...outcome, path, current: outcome.current && inside(outcome.current) };
      });
    },

    versions: async (path, signal) => (findEntryProblem(path) === null ? store.versions(prefix + path, signal) : []),
  };
}

function refuse(prefix: string, { path }: StoreChange): StoreOutcome | null {
  const reason = findEntryProblem(path) ?? findEntryProblem(prefix + path);
  return reason === null ? null : { kind: "refused", path, reason };
}
