/** What is outside of memdir, as an argument: functions take the part of it that they need, `Pick<World, "now" | "log">`. */

import type { Env } from "./config.ts";

export interface World {
  now: () => Date;
  env: Env;
  log: (message: string) => void;
  random: () => number;
  newId: () => string;
  sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
}
