/** A Remote that lives in the test's memory, and one that lies behind a bad network. */

import { MemdirError } from "../../src/errors.ts";
import { findEntryProblem, type RemoteEntry } from "../../src/team/protocol.ts";
import type { Had, Remote, RemoteChange, RemoteOutcome, RemoteVersion } from "../../src/team/remote.ts";
import { sha256 } from "../../src/text/hash.ts";

export interface MemoryRemote {
  open(who: string): Remote;
  /** What is there now, tombstones left out. */
  live(): Map<string, string>;
  /** Takes an entry out without a tombstone, as a remote that lost it. */
  lose(path: string): void;
  /** A copy of all of it; what it returns puts that in the place of what is there by then. */
  backUp(): () => void;
  id: string;
  calls: string[];
}

export function makeMemoryRemote(now: () => Date = () => new Date(0)): MemoryRemote {
  const log = new Map<string, RemoteVersion[]>();
  let last = 0;
  const entryOf = (path: string): RemoteEntry | null => {
    const version = log.get(path)?.at(-1);
    if (!version) return null;
    const { text, revision, author, at } = version;
    return { path, hash: text === null ? "" : sha256(text), revision, deleted: text === null, author, at };
  };
  const change = (one: RemoteChange, author: string): RemoteOutcome => {
    const { path, expected } = one;
    const problem = findEntryProblem(path);
    if (problem) return { kind: "refused", path, reason: problem };
    const current = entryOf(path);
    const live = current?.deleted === false ? current : null;
    if (one.kind === "put" && live?.hash === sha256(one.text)) return { kind: "done", path, revision: live.revision };
    if (one.kind === "remove" && !live) return { kind: "done", path, revision: current?.revision ?? "" };
    if ((live?.revision ?? null) !== expected) return { kind: "stale", path };
    const revision = `r${++last}`;
    const text = one.kind === "put" ? one.text : null;
    log.set(path, [...(log.get(path) ?? []), { revision, author, at: now().toISOString(), text }]);
    return { kind: "done", path, revision };
  };
  const made: MemoryRemote = {
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
    backUp() {
      const kept = [...log];
      const at = last;
      return () => {
        log.clear();
        for (const [path, versions] of kept) log.set(path, versions);
        // Numbers are given again, to other texts.
        last = at;
      };
    },
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
      findLost: async (had) => findLostIn(had, (path) => log.get(path) ?? []),
      versions: async (path, signal) => {
        signal?.throwIfAborted();
        return [...(log.get(path) ?? [])];
      },
    }),
  };
  return made;
}

/** Those whose version is not among the remote's. */
export function findLostIn(had: readonly Had[], versionsOf: (path: string) => readonly RemoteVersion[]): Set<string> {
  const isKept = ({ path, revision, hash }: Had) =>
    versionsOf(path).some((one) => one.revision === revision && one.text !== null && sha256(one.text) === hash);
  return new Set(had.filter((one) => !isKept(one)).map(({ path }) => path));
}

/** What a network does to one call. */
export type Fate = "fine" | "lost request" | "lost answer" | "twice" | "late" | "slow";

export interface BadNetwork {
  remote: Remote;
  /** Requests that were given up and have yet to arrive. */
  arriveLate(): Promise<void>;
  /** They never do. */
  forgetLate(): void;
}

/** `acknowledged` is told of every text that the remote said it has. */
export function makeBadNetwork(
  remote: Remote,
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
    remote: {
      name: remote.name,
      list: (signal) => send(() => remote.list(signal)),
      fetch: (entries, signal) => send(() => remote.fetch(entries, signal)),
      findLost: (had, signal) => send(() => remote.findLost(had, signal)),
      versions: (path, signal) => send(() => remote.versions(path, signal)),
      apply: async (changes, signal) => {
        const outcomes = await send(() => remote.apply(changes, signal));
        for (const [i, one] of changes.entries()) {
          if (one.kind === "put" && outcomes[i]?.kind === "done") acknowledged(one.path, one.text);
        }
        return outcomes;
      },
    },
    forgetLate: () => void late.splice(0),
    arriveLate: async () => {
      // In another order than they were sent.
      for (const call of late.splice(0).reverse()) await call();
    },
  };
}
