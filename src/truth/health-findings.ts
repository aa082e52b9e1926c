/** What is wrong with the memories of a directory, one function for each kind. */

import { openDeadReferences } from "../memory/references.ts";
import { daysOverdue, findDay, isExpired, type Memory } from "../store/store.ts";
import { openLikeness, plain, type TermsOf } from "../text/likeness.ts";
import { type InstructionText, openRestated } from "./restated.ts";

/** Worst first: the order in which they are shown. */
export const HEALTH_KINDS = [
  "secret",
  "unreadable",
  "false",
  "duplicate",
  "expired",
  "near-duplicate",
  "restated",
  "oversized",
  "unlinked",
  "dead-link",
  "never-recalled",
] as const;

export type HealthKind = (typeof HEALTH_KINDS)[number];

export interface HealthFinding {
  kind: HealthKind;
  file: string;
  /** Other memories that it is about. */
  others: string[];
  /** What is wrong, in words. Never a secret's value. */
  detail: string;
}

/** A memory with the facts about its file. */
export interface HealthMemory {
  memory: Memory;
  bytes: number;
  /** When it was last touched. */
  modifiedMs: number;
  /** Kinds of secrets with their lines, found before. */
  secrets: readonly { rule: string; line: number }[];
}

/** Everything is an argument: what was read from disk, the clock, how words become terms. */
export interface HealthInput {
  memories: readonly HealthMemory[];
  now: Date;
  termsOf: TermsOf;
  /** Files that MEMORY.md and its overflow page point to; null where there is no index. */
  linked: ReadonlySet<string> | null;
  /** Memories that are gone by the journal: what supersedes them is right. */
  removed?: ReadonlySet<string>;
  instructions: readonly InstructionText[];
  /** What the last check of claims found wrong, in words: "names src/auth.ts, moved to src/session/auth.ts". */
  verdicts: ReadonlyMap<string, string>;
  /** Files that were shown, and since when that is logged; null if there is no log. */
  surfaced: { since: string; files: ReadonlySet<string> } | null;
}

/** Anything longer is more than one memory; the same limit as in lint. */
const MAX_BODY_CHARS = 8000;
/** A shorter log does not show what is never needed. */
const LOG_DAYS = 30;
const DAY_MS = 86_400_000;

export function findProblems(input: HealthInput): HealthFinding[] {
  const readable = input.memories.filter(({ memory }) => !memory.unreadable);
  const all = { ...input, memories: readable };
  return [
    ...input.memories.flatMap(findUnreadable),
    ...readable.flatMap(findSecretsIn),
    ...readable.flatMap(({ memory }) => findSize(memory)),
    ...findDoubles(all),
    ...findOutdated(all),
    ...findRestated(all),
    ...findUnlinked(all),
    ...findDeadLinks(all),
    ...findUnused(all),
    ...findVerdicts(all),
  ];
}

function finding(kind: HealthKind, file: string, detail: string, others: string[] = []): HealthFinding {
  return { kind, file, others, detail };
}

function findUnreadable({ memory }: HealthMemory): HealthFinding[] {
  if (!memory.unreadable && !memory.broken) return [];
  return [finding("unreadable", memory.file, memory.problems[0] ?? "cannot be read")];
}

function findSecretsIn({ memory, secrets }: HealthMemory): HealthFinding[] {
  if (secrets.length === 0) return [];
  const where = secrets.slice(0, 3).map(({ rule, line }) => `${rule} on line ${line}`);
  return [finding("secret", memory.file, `looks like a secret: ${where.join(", ")}`)];
}

function findSize(memory: Memory): HealthFinding[] {
  const { length } = memory.body;
  return length > MAX_BODY_CHARS ? [finding("oversized", memory.file, `${length} characters in one memory`)] : [];
}

/** The best of them stays; the others refer to it. */
export function findDoubles({ memories, termsOf }: Pick<HealthInput, "memories" | "termsOf">): HealthFinding[] {
  const sorted = memories.filter(({ memory }) => memory.body.trim() !== "").sort(byWorth);
  const likeness = openLikeness<Memory>(
    sorted.map(({ memory }) => memory),
    termsOf,
  );
  return sorted.flatMap(({ memory }) => {
    const kept = likeness.find(memory);
    if (!kept) {
      likeness.add(memory, memory);
      return [];
    }
    const isExact = plain(kept.body) === plain(memory.body);
    const kind = isExact ? "duplicate" : "near-duplicate";
    return [finding(kind, memory.file, `says ${isExact ? "" : "nearly "}the same as ${kept.file}`, [kept.file])];
  });
}

/** Pinned, then the newest, then the longest, as a dream chooses. */
function byWorth(a: HealthMemory, b: HealthMemory): number {
  if (a.memory.pinned !== b.memory.pinned) return a.memory.pinned ? -1 : 1;
  if (a.modifiedMs !== b.modifiedMs) return b.modifiedMs - a.modifiedMs;
  if (a.memory.body.length !== b.memory.body.length) return b.memory.body.length - a.memory.body.length;
  return a.memory.file < b.memory.file ? -1 : 1;
}

function findOutdated({ memories, now }: HealthInput): HealthFinding[] {
  return memories.flatMap(({ memory, modifiedMs }) => {
    const modified = memory.modified ?? memory.created ?? new Date(modifiedMs).toISOString();
    const reason = findExpiry({ ...memory, modified }, now);
    return reason === null ? [] : [finding("expired", memory.file, reason)];
  });
}

function findRestated({ memories, instructions, termsOf }: HealthInput): HealthFinding[] {
  const restated = openRestated(instructions, termsOf);
  return memories.flatMap(({ memory }) => {
    const found = restated(memory);
    return found ? [finding("restated", memory.file, `${found.path}:${found.line} already says it`)] : [];
  });
}

function findUnlinked({ memories, linked }: HealthInput): HealthFinding[] {
  if (linked === null) return [];
  return memories
    .filter(({ memory }) => !linked.has(memory.file.normalize("NFC")))
    .map(({ memory }) => finding("unlinked", memory.file, "no line of MEMORY.md points to it"));
}

function findDeadLinks({ memories, removed = new Set() }: HealthInput): HealthFinding[] {
  const deadOf = openDeadReferences(
    memories.map(({ memory }) => memory),
    removed,
  );
  return memories.flatMap(({ memory }) => {
    const dead = deadOf(memory).slice(0, 3);
    const isLink = dead.some((name) => memory.links.includes(name));
    const verb = isLink ? "links to" : "supersedes";
    return dead.length > 0 ? [finding("dead-link", memory.file, `${verb} ${dead.join(", ")}`)] : [];
  });
}

function findUnused({ memories, surfaced, now }: HealthInput): HealthFinding[] {
  if (!surfaced) return [];
  const sinceMs = Date.parse(surfaced.since);
  if (!(now.getTime() - sinceMs > LOG_DAYS * DAY_MS)) return [];
  return memories
    .filter(
      ({ memory, modifiedMs }) => !surfaced.files.has(memory.file) && modifiedMs < now.getTime() - LOG_DAYS * DAY_MS,
    )
    .map(({ memory }) => finding("never-recalled", memory.file, `not shown since ${surfaced.since.slice(0, 10)}`));
}

function findVerdicts({ memories, verdicts }: HealthInput): HealthFinding[] {
  return memories.flatMap(({ memory }) => {
    const problem = verdicts.get(memory.file);
    return problem === undefined ? [] : [finding("false", memory.file, problem)];
  });
}

/** Why a memory has expired: it says so itself, or the deadline that it is about is well past. Null if it is about none, or was checked since. */
export function findExpiry(memory: Memory, now: Date): string | null {
  if (isExpired(memory, now)) return `it says that it expires on ${memory.metadata.expires}`;
  const date = findDay(memory);
  const days = date === null ? null : daysOverdue(date, memory, now);
  return days === null ? null : `its deadline, ${date}, was ${days} days ago`;
}
