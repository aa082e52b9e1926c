/** A Store that lives in the test's memory, and one that lies behind a bad network. */

import { MemdirError } from "../../src/errors.ts";
import { findEntryProblem } from "../../src/team/entry-path.ts";
import type { Store, StoreChange, StoreEntry, StoreOutcome, StoreVersion } from "../../src/team/store.ts";
import { sha256 } from "../../src/text/hash.ts";

export interface MemoryStore {
  open(who: string): Store;
  /** What is there now, tombstones left out. */
  live(): Map<string, string>;
  /** Takes an entry out without a tombstone, as a store that lost it. */
  lose(path: string): void;
  id: string;
  calls: string[];
}

export function makeMemoryStore(now: () => Date = () => new Date(0)): MemoryStore {
  const log = new Map<string, StoreVersion[]>();
  let last = 0;
  const entryOf = (path: string): StoreEntry | null => {
    const version = log.get(path)?.at(-1);
    if (!version) return null;
    const { text, revision, author, at } = version;
    return { path, hash: text === null ? "" : sha256(text), revision, deleted: text === null, author, at };
  };
  const change = (one: StoreChange, author: string): StoreOutcome => {
    const { path, expected } = one;
    const problem = findEntryProblem(path);
    if (problem) return { kind: "refused", path, reason: problem };
    const current = entryOf(path);
    const live = current?.deleted === false ? current : null;
    if (one.kind === "put" && live?.hash === sha256(one.text)) return { kind: "done", path, revision: live.revision };
    if (one.kind === "remove" && !live) return { kind: "done", path, revision: current?.revision ?? "" };
    if ((live?.revision ?? null) !== expected) return { kind: "stale", path, current };
    const revision = `r${++last}`;
    const text = one.kind === "put" ? one.text : null;
    log.set(path, [...(log.get(path) ?? []), { revision, author, at: now().toISOString(), text }]);
    return { kind: "done", path, revision };
  };
  const made: MemoryStore = {
    id: "memory",
    calls: [],
    live: () =>
      new Map(
        [...log].flatMap(([path, versions]) => {
          const text = versions.at(-1)?.text ?? null;
          return text === null ? [] : [[path, text] as const];
        }),
      ),
    lose: (path) => log.delete(path),
    open: (who) => ({
      name: "memory",
      list: async (signal) => {
        signal?.throwIfAborted();
        made.calls.push("list");
        return { id: made.id, entries: [...log.keys()].flatMap((path) => entryOf(path) ?? []) };
      },
      fetch: async (entries, signal) => {
        signal?.throwIfAborted();
        made.calls.push(`fetch ${entries.length}`);
        return new Map(
          entries.flatMap(({ path, revision }) => {
            const version = log.get(path)?.at(-1);
            return version?.revision === revision && version.text !== null ? [[path, version.text] as const] : [];
          }),
        );
      },
      apply: async (changes, signal) => {
        signal?.throwIfAborted();
        made.calls.push(`apply ${changes.length}`);
        return changes.map((one) => change(one, who));
      },
      versions: async (path, signal) => {
        signal?.throwIfAborted();
        return [...(log.get(path) ?? [])];
      },
    }),
  };
  return made;
}

/** What a network does to one call. */
export type Fate = "fine" | "lost request" | "lost answer" | "twice" | "late" | "slow";

export interface BadNetwork {
  store: Store;
  /** Requests that were given up and have yet to arrive. */
  arriveLate(): Promise<void>;
}

/** `acknowledged` is told of every text that the store said it has. */
export function makeBadNetwork(
  store: Store,
  nextFate: () => Fate,
  acknowledged: (path: string, text: string) => void,
): BadNetwork {
  const late: (() => Promise<unknown>)[] = [];
  const down = () => new MemdirError("network", "the network is down");
  async function send<T>(call: () => Promise<T>): Promise<T> {
    const fate = nextFate();
    if (fate === "slow") for (let i = 0; i < 5; i++) await new Promise((done) => setImmediate(done));
    if (fate === "lost request") throw down();
    if (fate === "late") {
      late.push(call);
      throw down();
    }
    const answer = await call();
    if (fate === "lost answer") throw down();
    return fate === "twice" ? call() : answer;
  }
  return {
    store: {
      name: store.name,
      list: (signal) => send(() => store.list(signal)),
      fetch: (entries, signal) => send(() => store.fetch(entries, signal)),
      versions: (path, signal) => send(() => store.versions(path, signal)),
      apply: async (changes, signal) => {
        const outcomes = await send(() => store.apply(changes, signal));
        for (const [i, one] of changes.entries()) {
          if (one.kind === "put" && outcomes[i]?.kind === "done") acknowledged(one.path, one.text);
        }
        return outcomes;
      },
    },
    arriveLate: async () => {
      // In another order than they were sent.
      for (const call of late.splice(0).reverse()) await call();
    },
  };
}
