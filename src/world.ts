/** What is outside of memdir and can differ from one run to the next: functions take `Pick<World, …>` of it, tests pass their own. */

/** Environment variables by name. */
export type Env = Readonly<Record<string, string | undefined>>;

/** Set for what a client starts while it is memdir's model: no hook of ours answers there, or it would ask the model again. */
export const CHILD_VARIABLE = "MEMDIR_CHILD";

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
