/** A directory for tests of sync, without a project around it. */

import { CLIENT_LIMITS } from "../../src/store/index-line.ts";
import { openStore, type Store } from "../../src/store/store.ts";

export interface Clock {
  now: Date;
}

export function directoryAt(path: string, clock: Clock, logged: string[] = []): Store {
  return openStore({
    path,
    scope: "team",
    inRepository: false,
    readOnly: false,
    recursive: true,
    limits: CLIENT_LIMITS,
    ageDays: { recent: 2, stale: 8, old: 31 },
    now: () => clock.now,
    by: "test",
    log: (message) => logged.push(message),
  });
}
