/** What learning wants to save: a proposal with its origin, before anything is written. */

import { leastTrust, type MemoryType, type Source, type Trust, trustOf } from "../store/store.ts";

export interface Proposal {
  id: string;
  /** ISO time. */
  at: string;
  action: "save" | "update" | "forget";
  /** The memory that it changes; null for a new one. */
  file: string | null;
  type: MemoryType;
  name: string;
  description: string;
  body: string;
  when: string[];
  trust: Trust;
  session: string | null;
  message: string | null;
  reason: string;
  from: "extraction" | "rules" | "dream" | "agent" | "enrich";
  /** The extractor is not sure that it is worth keeping: it waits in the inbox. */
  isUnsure?: boolean;
}

/** It adds cues to a memory, and nothing else of it changes. */
export function isOnlyCues({ action, description, body, when }: Proposal): boolean {
  return action === "update" && description === "" && body === "" && when.length > 0;
}

export type { LearnMode } from "../config.ts";

/** `old` is the source of the memory that is changed, undefined for a new one: the least trusted of both decides. */
export function sourceFor(proposal: Pick<Proposal, "trust" | "session" | "message">, old?: Source | null): Source {
  return {
    by: old === undefined ? proposal.trust : leastTrust([trustOf(old), proposal.trust]),
    session: plainId(proposal.session),
    message: plainId(proposal.message),
  };
}

/** The source is one line of words: an id with anything else in it could pass for another field. */
function plainId(id: string | null): string | null {
  return id !== null && /^[\w.:-]{1,128}$/.test(id) ? id : null;
}
