/** What is wrong with the memories of a directory, one function for each kind. */

import { openDeadReferences } from "../memory/references.ts";
import { daysOverdue, findDay, isExpired, type Memory } from "../store/store.ts";
import { openLikeness, plain, type TermsOf } from "../text/likeness.ts";
import { type InstructionText, openRestated } from "./restated.ts";

/**
 * How much of a memory's worth is lost: a secret or a false claim does harm, a double costs room. Of several only the
 * worst counts. In the order in which they are shown.
 */
export const WEIGHTS = {
  secret: 1,
  unreadable: 0.9,
  false: 0.8,
  duplicate: 0.6,
  expired: 0.6,
  "near-duplicate": 0.5,
  restated: 0.4,
  oversized: 0.3,
  unlinked: 0.3,
  "dead-link": 0.1,
  "never-recalled": 0.2,
};

export type HealthKind = keyof typeof WEIGHTS;

export const HEALTH_KINDS = Object.keys(WEIGHTS) as HealthKind[];

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
  const { instructions, termsOf, linked, removed = new Set(), verdicts, surfaced, now } = input;
  const readable = input.memories.filter(({ memory }) => !memory.unreadable);
  const restated = openRestated(instructions, termsOf);
  const deadOf = openDeadReferences(
    readable.map(({ memory }) => memory),
    removed,
  );
  const latest = now.getTime() - LOG_DAYS * DAY_MS;
  const isLogged = surfaced !== null && Date.parse(surfaced.since) < latest;
  /** `check`: what is wrong with a memory, in words; null if nothing is. */
  const find = (kind: HealthKind, check: (memory: HealthMemory) => string | null, memories = readable) =>
    memories.flatMap((each) => {
      const detail = check(each);
      return detail === null ? [] : [finding(kind, each.memory.file, detail)];
    });
  return [
    ...find(
      "unreadable",
      ({ memory: { unreadable, broken, problems } }) =>
        unreadable || broken ? (problems[0] ?? "cannot be read") : null,
      [...input.memories],
    ),
    ...find("secret", ({ secrets }) => {
      const where = secrets.slice(0, 3).map(({ rule, line }) => `${rule} on line ${line}`);
      return where.length === 0 ? null : `looks like a secret: ${where.join(", ")}`;
    }),
    ...find("oversized", ({ memory: { body } }) =>
      body.length > MAX_BODY_CHARS ? `${body.length} characters in one memory` : null,
    ),
    ...findDoubles({ memories: readable, termsOf }),
    ...find("expired", ({ memory, modifiedMs }) => {
      const modified = memory.modified ?? memory.created ?? new Date(modifiedMs).toISOString();
      return findExpiry({ ...memory, modified }, now);
    }),
    ...find("restated", ({ memory }) => {
      const found = restated(memory);
      return found && `${found.path}:${found.line} already says it`;
    }),
    ...find("unlinked", ({ memory: { file } }) =>
      linked === null || linked.has(file.normalize("NFC")) ? null : "no line of MEMORY.md points to it",
    ),
    ...find("dead-link", ({ memory }) => {
      const dead = deadOf(memory).slice(0, 3);
      const verb = dead.some((name) => memory.links.includes(name)) ? "links to" : "supersedes";
      return dead.length === 0 ? null : `${verb} ${dead.join(", ")}`;
    }),
    ...find("never-recalled", ({ memory, modifiedMs }) =>
      isLogged && !surfaced.files.has(memory.file) && modifiedMs < latest
        ? `not shown since ${surfaced.since.slice(0, 10)}`
        : null,
    ),
    ...find("false", ({ memory }) => verdicts.get(memory.file) ?? null),
  ];
}

function finding(kind: HealthKind, file: string, detail: string, others: string[] = []): HealthFinding {
  return { kind, file, others, detail };
}

/** The best of them stays; the others refer to it. */
function findDoubles({ memories, termsOf }: Pick<HealthInput, "memories" | "termsOf">): HealthFinding[] {
  const sorted = memories
    .filter(({ memory }) => memory.body.trim() !== "")
    .sort((a, b) => compareWorth(a.memory, b.memory, b.modifiedMs - a.modifiedMs));
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

/** Of two that say the same, which stays: a pinned one, then the newer one, then the longer one. */
export function compareWorth(a: Memory, b: Memory, byAge: number): number {
  if (a.pinned !== b.pinned) return a.pinned ? -1 : 1;
  return byAge || b.body.length - a.body.length || (a.file < b.file ? -1 : 1);
}

/** Why a memory has expired: it says so itself, or the deadline that it is about is well past. Null if it is about none, or was checked since. */
export function findExpiry(memory: Memory, now: Date): string | null {
  if (isExpired(memory, now)) return `it says that it expires on ${memory.metadata.expires}`;
  const date = findDay(memory);
  const days = date === null ? null : daysOverdue(date, memory, now);
  return days === null ? null : `its deadline, ${date}, was ${days} days ago`;
}
