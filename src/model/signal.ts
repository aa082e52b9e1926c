/** A signal that many may listen to. */

import { setMaxListeners } from "node:events";

/** Aborted with the given one. Node warns on standard error from the eleventh listener on, and a dozen tools at once is nothing unusual. */
export function shareSignal(signal: AbortSignal | undefined): AbortSignal {
  const shared = AbortSignal.any(signal ? [signal] : []);
  setMaxListeners(0, shared);
  return shared;
}
