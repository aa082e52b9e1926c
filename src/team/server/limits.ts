/** The server's default limits, and what a caller over the rate is told. */

import { LIMITS } from "../protocol.ts";
import { type Answer, refuse } from "./answer.ts";
import type { ServerLimits } from "./route.ts";

export const SERVER_LIMITS: ServerLimits = {
  memory: LIMITS,
  // Fifty a second, as a first sync is a few thousand writes; in windows so short that a client can wait for the next one.
  rate: { requests: 500, seconds: 10 },
};

/** Windows begin at whole multiples of their length, so the end of this one is known without asking the database. */
export function refuseRate({ requests, seconds }: ServerLimits["rate"], now: Date): Answer {
  const wait = Math.max(1, Math.ceil(seconds - ((now.getTime() / 1000) % seconds)));
  const message = `this token made more than ${requests} requests in ${seconds} seconds: wait ${wait} seconds and go on`;
  return refuse(429, "rate", message, { headers: { "retry-after": String(wait) } });
}

export function refuseSize(what: string, maxBytes: number): Answer {
  const message = `${what} has at most ${maxBytes} bytes: make it smaller, or split it`;
  // What was not read of the request cannot be told from the next one.
  return refuse(413, "too-large", message, { headers: { connection: "close" } });
}
