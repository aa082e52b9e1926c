/** What is kept in the inbox's folder: a JSON file per proposal, and the log of what was rejected. */

import { basename, dirname } from "node:path";
import { isMemoryType, openStateIn, type State, type StateLog, TRUSTS } from "../store/store.ts";
import type { Proposal } from "./proposal.ts";

type Log = (message: string) => void;

/** A memory is a page, not a book. */
export const MAX_BYTES = 64 * 1024;

/** Hexadecimal digits: short enough to type, long enough to tell all apart that one person ever sees. */
export const ID_LENGTH = 12;
const ID = new RegExp(`^[0-9a-f]{${ID_LENGTH}}$`);

export interface InboxFiles {
  /** Oldest first. What is no proposal is passed over with a log. */
  list(): Proposal[];
  read(id: string): Proposal | null;
  write(proposal: Proposal): void;
  remove(id: string): void;
  /** Ids of the content, never the content itself. */
  rejected: StateLog<{ ids: string[] }>;
}

export function openInboxFiles(state: State, log: Log): InboxFiles {
  const recordOf = (id: string) => {
    const parse = (value: unknown) => (isProposal(value) && value.id === id ? value : null);
    return state.record(`inbox/${id}`, parse, { maxBytes: MAX_BYTES, flush: true });
  };
  const read = (id: string) =>
    ID.test(id) ? recordOf(id).read((why) => log(`inbox: ${id}.json is no proposal, passed over: ${why}`)) : null;
  return {
    read,
    list: () =>
      state
        .keys("inbox")
        .flatMap((key) => read(basename(key)) ?? [])
        .sort(oldestFirst),
    write: (proposal) => recordOf(proposal.id).write(proposal),
    remove: (id) => recordOf(id).remove(),
    rejected: state.log("inbox/rejected.jsonl", (value) => {
      const { ids } = value as { ids?: unknown };
      return Array.isArray(ids) ? { ids: ids.filter((id) => typeof id === "string" && ID.test(id)) } : null;
    }),
  };
}

/** For a hook, which knows only the folder. Oldest first. */
export function readProposals(folder: string, log: Log): Proposal[] {
  return openInboxFiles(openStateIn(dirname(folder)), log).list();
}

export function isProposal(value: unknown): value is Proposal {
  if (typeof value !== "object" || value === null) return false;
  const { id, at, action, file, type, name, description, body, when, trust, session, message, reason, from } =
    value as Record<string, unknown>;
  const texts = [id, at, name, description, body, reason];
  return (
    texts.every((text) => typeof text === "string") &&
    [file, session, message].every((text) => text === null || typeof text === "string") &&
    (name as string).trim() !== "" &&
    (action === "forget" || `${body}${description}`.trim() !== "") &&
    isMemoryType(type) &&
    ["save", "update", "forget"].includes(action as string) &&
    ["extraction", "rules", "dream", "agent"].includes(from as string) &&
    TRUSTS.some((known) => known === trust) &&
    Array.isArray(when) &&
    when.every((cue) => typeof cue === "string")
  );
}

export function oldestFirst(a: Proposal, b: Proposal): number {
  return compare(a.at, b.at) || compare(a.id, b.id);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
