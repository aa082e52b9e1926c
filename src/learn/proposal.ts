/** What learning wants to save: a proposal with its origin, before anything is written. */

import { basename } from "node:path";
import { MemdirError } from "../errors.ts";
import {
  INDEX_FILE,
  leastTrust,
  type MemoryType,
  type Objection,
  OVERFLOW_FILE,
  parseMemory,
  readBytes,
  type Source,
  type Store,
  type Trust,
  trustOf,
} from "../store/store.ts";

export const ACTIONS = ["save", "update", "forget"] as const;
export const ORIGINS = ["extraction", "rules", "dream", "agent", "enrich"] as const;

export interface Proposal {
  id: string;
  /** ISO time. */
  at: string;
  action: (typeof ACTIONS)[number];
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
  from: (typeof ORIGINS)[number];
  /** Whose memories it is for, where they are not those beside the inbox. */
  scope?: "team";
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

/** What the store's gate refuses, in words for a model, which cannot pass options. */
export function describeObjection({ rule, message, details }: Objection): string {
  if (rule !== "secret") return message;
  const found = (details as string[]).join(", ");
  return `it contains a secret (${found}); leave the value out and say only where it is stored`;
}

/** Why a file of this name cannot be a memory. Names are compared in lower case: on many disks `memory.md` is the index. */
export function findFileProblem(file: string): string | null {
  const parts = file.toLowerCase().split("/");
  if (parts.some((part) => part.startsWith("."))) return "hidden files and folders are not memories";
  if (!file.endsWith(".md")) return "the name of a memory must end in .md";
  if ([INDEX_FILE, OVERFLOW_FILE].some((name) => name.toLowerCase() === parts.at(-1)))
    return "the index is updated automatically; write only the memory's own file";
  const isOther = parts.length > 1 && OTHERS.has(parts[0]!);
  return isOther ? `${parts[0]}/ is not for memories; put it next to the others` : null;
}

/** Folders next to the memories that belong to other features. */
const OTHERS: ReadonlySet<string> = new Set(["logs", "agents"]);

// --- What a model wants of the team's memories, before anything is done about it.

/** What of a proposal a model says; `by` is what it calls itself. */
export type Wish = Pick<Proposal, "action" | "file" | "type" | "name" | "description" | "body" | "when"> & {
  reason?: string | undefined;
  by: string;
};

/** A memory's file as a model wrote it whole. Only what it says is proposed: no rule, no mark that only people set. */
export function wishOfText(file: string, text: string, isNew: boolean, by: string): Wish {
  const { type, name, description, body, when, problems, broken } = parseMemory(file, text);
  if (broken) throw new MemdirError("broken", `${basename(file)} was not proposed: ${problems[0]}`);
  const words = { type, name, description, body: body.trim(), when };
  return { action: isNew ? "save" : "update", file: isNew ? null : file, ...words, by };
}

export function wishToForget(team: Store, file: string, by: string): Wish {
  const { type, name } = parseMemory(file, readBytes(team, file));
  return { action: "forget", file, type, name, description: "", body: "", when: [], by };
}
