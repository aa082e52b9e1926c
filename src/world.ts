/** What is outside of memdir and can differ from one run to the next: functions take `Pick<World, …>` of it, tests pass their own. */

export type Env = Readonly<Record<string, string | undefined>>;

export interface World {
  now: () => Date;
  env: Env;
  log: (message: string) => void;
  /** Between 0 and 1. */
  random: () => number;
  newId: () => string;
  sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  fetch: typeof globalThis.fetch;
}
