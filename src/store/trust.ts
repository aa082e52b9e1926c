/** How far a memory is trusted, by who said it, and what may become of what is trusted less. */

import type { MemoryType, Source } from "./memory.ts";

/** Least trusted first: text of a document, what a tool printed, what an agent concluded, what the user said. */
export const TRUSTS = ["document", "tool", "inferred", "user"] as const;
export type Trust = (typeof TRUSTS)[number];

/**
 * A memory without a source was written by hand or by another program: it counts as the user's, so that nothing less
 * trusted replaces it. An unknown word is no promise: it counts as a conclusion.
 */
export function trustOf(source: Source | null): Trust {
  if (source === null) return "user";
  return TRUSTS.find((trust) => trust === source.by.toLowerCase()) ?? "inferred";
}

/** A memory made of several pieces is trusted no more than the least of them. */
export function leastTrust(trusts: readonly Trust[]): Trust {
  return trusts.reduce((least, trust) => (TRUSTS.indexOf(trust) < TRUSTS.indexOf(least) ? trust : least), "user");
}

export function mayReplace(old: Source | null, fresh: Trust): boolean {
  return TRUSTS.indexOf(fresh) >= TRUSTS.indexOf(trustOf(old));
}

/** What a tool printed or a document says can be noted as a fact; how to work, and who the user is, only they can say. */
export function mayBecome(type: MemoryType, trust: Trust): boolean {
  return trust === "user" || trust === "inferred" || (type !== "feedback" && type !== "user");
}
