/** What is written into a memory about where it came from. */

import { leastTrust, type Source, trustOf } from "../store/store.ts";
import type { Proposal } from "./proposal.ts";

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
