/** What learning wants to keep: a proposal with where it came from, before anything is written. */

import type { MemoryType, Trust } from "../store/store.ts";

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
