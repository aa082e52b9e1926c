/** How far a memory that exists is trusted, what may replace it, and what is written into it about where it came from. */

import type { Source } from "../store/store.ts";
import { leastTrust, type Proposal, TRUSTS, type Trust } from "./proposal.ts";

/**
 * A memory that does not say where it came from was written by hand or by another program: it counts as the user's, so that
 * nothing less trusted replaces it. A word that we do not know is no promise: it counts as a conclusion.
 */
export function trustOf(source: Source | null): Trust {
  if (source === null) return "user";
  return TRUSTS.find((trust) => trust === source.by.toLowerCase()) ?? "inferred";
}

export function mayReplace(old: Source | null, fresh: Trust): boolean {
  return TRUSTS.indexOf(fresh) >= TRUSTS.indexOf(trustOf(old));
}

/** `old` is the source of the memory that is changed, undefined for a new one: the least trusted of both decides. */
export function sourceFor(proposal: Pick<Proposal, "trust" | "session" | "message">, old?: Source | null): Source {
  return {
    by: old === undefined ? proposal.trust : leastTrust([trustOf(old), proposal.trust]),
    session: plainId(proposal.session),
    message: plainId(proposal.message),
  };
}

/** The source is one line of words: an id with anything else in it could pose as another field. */
function plainId(id: string | null): string | null {
  return id !== null && /^[\w.:-]{1,128}$/.test(id) ? id : null;
}
