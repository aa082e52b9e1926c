/** Who is next at the database: teams take turns, and in a team its tokens do, so that one client's queue is not everybody's. */

import { MemdirError } from "../../errors.ts";

export interface TurnLimits {
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

export function tooMany(): MemdirError {
  return new MemdirError("lock", "too many requests wait for the database: send fewer at once");
}
