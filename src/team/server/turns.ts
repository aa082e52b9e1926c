/** Fair shares: how often a client may ask, and who is next at the database. */

import { MemdirError } from "../../errors.ts";
import type { World } from "../../world.ts";

interface TurnLimits {
  /** Turns at the same time: as many as there are connections. */
  size: number;
  /** Of these for one token. */
  perToken: number;
  /** How many may wait for one token, and for all. */
  waitingPerToken: number;
  waiting: number;
}

interface Queue {
  waiting: (() => void)[];
  running: number;
}

/** Teams take turns at the database, and in a team its tokens do, so that one client's queue is not everybody's. */
export function makeTurns({ size, perToken, waitingPerToken, waiting: most }: TurnLimits) {
  /** Both maps are in the order of whose turn is next: who was served goes to the end. */
  const teams = new Map<string, Map<string, Queue>>();
  let free = size;
  let waiting = 0;

  /** Null where too many wait already: what is refused must leave nothing behind, or a flood would fill the maps. */
  const queueOf = (team: string, token: string): Queue | null => {
    const tokens = teams.get(team) ?? new Map<string, Queue>();
    const queue = tokens.get(token) ?? { waiting: [], running: 0 };
    if (queue.waiting.length >= waitingPerToken || waiting >= most) return null;
    teams.set(team, tokens.set(token, queue));
    return queue;
  };

  const startNext = (): boolean => {
    for (const [team, tokens] of teams) {
      for (const [token, queue] of tokens) {
        const start = queue.running < perToken ? queue.waiting.shift() : undefined;
        if (!start) continue;
        teams.delete(team);
        teams.set(team, tokens);
        tokens.delete(token);
        tokens.set(token, queue);
        queue.running++;
        free--;
        waiting--;
        start();
        return true;
      }
    }
    return false;
  };

  const end = (team: string, token: string) => {
    const tokens = teams.get(team);
    const queue = tokens?.get(token);
    free++;
    if (tokens && queue) {
      queue.running--;
      if (queue.running === 0 && queue.waiting.length === 0) tokens.delete(token);
      if (tokens.size === 0) teams.delete(team);
    }
    while (free > 0 && startNext());
  };

  return {
    waiting: () => waiting,
    /** Teams that wait or are being served. */
    teams: () => teams.size,
    /** Runs `work` when it is its turn; `lock` where too many wait already. */
    async take<T>(team: string, token: string, work: () => Promise<T>): Promise<T> {
      const queue = queueOf(team, token);
      if (queue === null) throw tooMany();
      waiting++;
      await new Promise<void>((start) => {
        queue.waiting.push(start);
        if (free > 0) startNext();
      });
      try {
        return await work();
      } finally {
        end(team, token);
      }
    },
  };
}

/** About as many as one client with many processes has under way. */
export const WAITING_PER_TOKEN = 200;
export const WAITING = 5_000;

export function tooMany(): MemdirError {
  return new MemdirError("lock", "too many requests wait for the database: send fewer at once");
}

export interface RateLimit {
  requests: number;
  seconds: number;
}

/**
 * Wrong tokens from one address, and from all addresses that sent one, in ten seconds: a person types one or two, a script that
 * guesses sends thousands. An address that sent none is always heard, so that no flood keeps out who comes for the first time.
 */
const WRONG = { requests: 20, seconds: 10 };
const WRONG_IN_ALL = { requests: 200, seconds: 10 };
/** More tokens than a process serves at the same time; who is forgotten starts with a full bucket. */
const MOST = 50_000;
/** Looking for secrets and words in so much takes about as long as a small request does: a large memory counts as many. */
const BYTES_PER_REQUEST = 5_000;

/**
 * What a token may ask for before it costs the database anything: a rate for each token, and a limit on tokens that are wrong.
 * Counted in this process only: reads do not write, and clocks of several servers need not agree.
 */
export function openAdmission<Caller>(limit: RateLimit, now: World["now"]) {
  const known = new Map<string, Caller>();
  const tokens = makeBuckets(limit, now);
  const addresses = makeBuckets(WRONG, now);
  const all = makeBuckets(WRONG_IN_ALL, now);
  return {
    /** Whose it was when it was valid before; null where it has to be looked up first. */
    knownAs: (hash: string): Caller | null => known.get(hash) ?? null,
    /** Seconds to wait, or 0. A token that is not known counts against its address and against all that are wrong. */
    waitFor: (hash: string, address: string, bytes: number): number =>
      known.has(hash)
        ? tokens.take(hash, 1 + Math.floor(bytes / BYTES_PER_REQUEST))
        : addresses.wait(networkOf(address)) || (addresses.isFull(networkOf(address)) ? 0 : all.wait("")),
    /** For what is asked without a token. */
    waitForAddress: (address: string): number => addresses.take(networkOf(address), 1),
    /** What the database said of it. */
    settle(hash: string, address: string, caller: Caller | null): void {
      if (caller === null) {
        known.delete(hash);
        addresses.take(networkOf(address), 1);
        all.take("", 1);
      } else if (!known.has(hash)) {
        if (known.size >= MOST) known.delete(known.keys().next().value ?? "");
        known.set(hash, caller);
        tokens.take(hash, 1);
      }
    },
  };
}

/** What one party has: an address, and in IPv6 the 64 bits that networks are given out in. */
export function networkOf(address: string): string {
  if (!address.includes(":") || address.includes(".")) return address;
  const [head = [], tail] = address.split("::").map((part) => (part === "" ? [] : part.split(":")));
  const zeros = tail === undefined ? 0 : 8 - head.length - tail.length;
  return [...head, ...Array(Math.max(0, zeros)).fill("0"), ...(tail ?? [])].slice(0, 4).join(":");
}

/** Each begins full and is filled steadily. */
function makeBuckets({ requests, seconds }: RateLimit, now: World["now"]) {
  const buckets = new Map<string, { level: number; at: number }>();
  const perMs = requests / seconds / 1000;
  const look = (key: string) => {
    const at = now().getTime();
    const bucket = buckets.get(key) ?? { level: requests, at };
    // A clock that was set back fills nothing and takes nothing.
    bucket.level = Math.min(requests, bucket.level + Math.max(0, at - bucket.at) * perMs);
    bucket.at = at;
    // The least recently used go first.
    buckets.delete(key);
    buckets.set(key, bucket);
    if (buckets.size > MOST) buckets.delete(buckets.keys().next().value ?? "");
    return bucket;
  };
  const waitOf = (level: number, cost: number) =>
    level >= cost ? 0 : Math.max(1, Math.ceil((cost - level) / perMs / 1000));
  return {
    isFull: (key: string) => look(key).level >= requests,
    wait: (key: string) => waitOf(look(key).level, 1),
    /** Seconds to wait; 0 where it was taken. */
    take(key: string, asked: number): number {
      const bucket = look(key);
      const cost = Math.min(asked, requests);
      const wait = waitOf(bucket.level, cost);
      if (wait === 0) bucket.level -= cost;
      return wait;
    },
  };
}
