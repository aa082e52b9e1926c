/**
 * The two eras of the protocol. Up to 2025-11-25 a handshake opens a session; from 2026-07-28 on every request says for itself
 * which revision it speaks and who sends it.
 */

import { isObject, type Params, ProtocolError } from "./message.ts";

export const MODERN_VERSION = "2026-07-28";
const VERSION_KEY = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities";
const CLIENT_KEY = "io.modelcontextprotocol/clientInfo";
const SERVER_KEY = "io.modelcontextprotocol/serverInfo";

/** The newest first: it is offered to who asks for one that nobody knows. */
export const LEGACY_VERSIONS = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"] as const;

export interface Caller {
  era: "legacy" | "modern";
  /** As a modern request gives it; of others the handshake tells. */
  name: string | undefined;
}

/** Whether a request claims to be of the later era. */
export function isModern(params: Params | undefined): boolean {
  return isObject(params?._meta) && VERSION_KEY in params._meta;
}

/** Throws for a claim that does not hold. */
export function readCaller(params: Params | undefined): Caller {
  if (!isModern(params)) return { era: "legacy", name: undefined };
  const meta = params?._meta as Record<string, unknown>;
  const requested = meta[VERSION_KEY];
  if (typeof requested !== "string") throw new ProtocolError("badParams", `_meta: ${VERSION_KEY} is a text`);
  if (requested !== MODERN_VERSION) {
    const data = { supported: [MODERN_VERSION], requested };
    throw new ProtocolError("badVersion", `protocol version ${requested.slice(0, 40)} is not spoken here`, data);
  }
  if (!isObject(meta[CAPABILITIES_KEY])) {
    throw new ProtocolError("badParams", `_meta: ${CAPABILITIES_KEY} is missing or no object`);
  }
  return { era: "modern", name: nameOf(meta[CLIENT_KEY]) };
}

export function nameOf(info: unknown): string | undefined {
  return isObject(info) && typeof info.name === "string" ? info.name : undefined;
}

/** Methods whose results a client may keep; ours may change any moment. */
const CACHEABLE = /^(?:server\/discover|(?:tools|prompts|resources|resources\/templates)\/list|resources\/read)$/;

/** Results of the later era say that they are whole, how long they hold and who made them. */
export function dressResult({ era }: Caller, method: string, result: object, server: object): object {
  if (era === "legacy") return result;
  return {
    ...result,
    resultType: "complete",
    ...(CACHEABLE.test(method) && { ttlMs: 0, cacheScope: "private" }),
    _meta: { [SERVER_KEY]: server },
  };
}
