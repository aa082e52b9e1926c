/** What lies in the inbox's folder: a JSON file per proposal, and the list of what was rejected. */

import { closeSync, constants, fstatSync, openSync, readdirSync, writeSync } from "node:fs";
import { basename, join } from "node:path";
import { moveInto, PRIVATE_MODE, writeTemporary } from "../disk/atomic.ts";
import { readRegular, readTail } from "../disk/regular.ts";
import { MemdirError } from "../errors.ts";
import { isMemoryType } from "../store/store.ts";
import { type Proposal, TRUSTS } from "./proposal.ts";

type Log = (message: string) => void;

/** A memory is a page, not a book. */
export const MAX_BYTES = 64 * 1024;

/** Hexadecimal digits: short enough to type, long enough to tell all apart that one person ever sees. */
export const ID_LENGTH = 12;
const ID = new RegExp(`^[0-9a-f]{${ID_LENGTH}}$`);

const REJECTED = "rejected.jsonl";

/** Some ten thousand rejections; older ones may be proposed again. */
const MAX_REJECTED_BYTES = 1024 * 1024;

export function writeProposal(folder: string, temporaries: string, proposal: Proposal): void {
  moveInto(writeTemporary(temporaries, formatProposal(proposal), PRIVATE_MODE), join(folder, `${proposal.id}.json`));
}

export function formatProposal(proposal: Proposal): string {
  return `${JSON.stringify(proposal, null, 2)}\n`;
}

/** Oldest first. */
export function readProposals(folder: string, log: Log): Proposal[] {
  let names: string[];
  try {
    names = readdirSync(folder);
  } catch {
    // Removed just now.
    return [];
  }
  return names
    .flatMap((name) => (name.endsWith(".json") ? (readProposal(folder, basename(name, ".json"), log) ?? []) : []))
    .sort(oldestFirst);
}

/** Null for anything that is no proposal; links are not followed. */
export function readProposal(folder: string, id: string, log: Log): Proposal | null {
  if (!ID.test(id)) return null;
  try {
    const data = readRegular(join(folder, `${id}.json`), { maxBytes: MAX_BYTES });
    if (!data) return null;
    const value: unknown = JSON.parse(data.toString("utf8"));
    if (isProposal(value) && value.id === id) return value;
    log(`inbox: ${id}.json is no proposal, passed over`);
  } catch (error) {
    log(`inbox: ${id}.json cannot be read, passed over (${(error as NodeJS.ErrnoException).code ?? "no JSON"})`);
  }
  return null;
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

/** A line for each: ids of the content, never the content itself. */
export function appendRejected(folder: string, entry: { ids: string[]; at: string }): void {
  const fd = openSync(join(folder, REJECTED), APPEND, PRIVATE_MODE);
  try {
    if (!fstatSync(fd).isFile()) throw new MemdirError("disk", `${REJECTED} in the inbox is no file: remove it`);
    // The break in front keeps this line whole when an earlier writer died in the middle of its own.
    writeSync(fd, `\n${JSON.stringify(entry)}\n`);
  } finally {
    closeSync(fd);
  }
}

/** Links are not followed, and a fifo does not hold us up. */
const APPEND =
  constants.O_WRONLY |
  constants.O_APPEND |
  constants.O_CREAT |
  (constants.O_NOFOLLOW ?? 0) |
  (constants.O_NONBLOCK ?? 0);

/** Lines that cannot be read are passed over. */
export function readRejected(folder: string, log: Log): Set<string> {
  const ids = new Set<string>();
  try {
    for (const line of readTail(join(folder, REJECTED), MAX_REJECTED_BYTES).split("\n"))
      for (const id of idsOf(line)) ids.add(id);
  } catch (error) {
    log(`inbox: ${REJECTED} cannot be read (${(error as NodeJS.ErrnoException).code})`);
  }
  return ids;
}

function idsOf(line: string): string[] {
  if (line === "") return [];
  try {
    const { ids } = JSON.parse(line) as { ids?: unknown };
    return Array.isArray(ids) ? ids.filter((id): id is string => typeof id === "string" && ID.test(id)) : [];
  } catch {
    return [];
  }
}
