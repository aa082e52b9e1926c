/** What learning wants to keep: a proposal with where it came from, before anything is written. */

import type { MemoryType } from "../store/store.ts";

/** Least trusted first: text of a document, what a tool printed, what an agent concluded, what the user said. */
export const TRUSTS = ["document", "tool", "inferred", "user"] as const;
export type Trust = (typeof TRUSTS)[number];

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
  from: "extraction" | "rules" | "dream" | "agent";
}

export { LEARN_MODES, type LearnMode } from "../learn-config.ts";

/** A memory made of several pieces is trusted no more than the least of them. */
export function leastTrust(trusts: readonly Trust[]): Trust {
  return trusts.reduce((least, trust) => (TRUSTS.indexOf(trust) < TRUSTS.indexOf(least) ? trust : least), "user");
}

/** What a tool printed or a document says can be noted as a fact; how to work, and who the user is, only they can say. */
export function mayBecome(type: MemoryType, trust: Trust): boolean {
  return trust === "user" || trust === "inferred" || (type !== "feedback" && type !== "user");
}
