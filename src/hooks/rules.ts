/**
 * Memories that hooks need, read from as little of the row cache as possible; updates of that cache; and which rules of others are in
 * force.
 */

import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "../config.ts";
import { type Project, trustKey } from "../project/locate.ts";
import {
  appendEntries,
  type Directory,
  digestFile,
  type Enforced,
  isExpired,
  isShared,
  meansEveryTool,
  peekForHooks,
  type RowEntry,
  readRowCache,
  rewriteCache,
  scanForHooks,
} from "../store/store.ts";
import { sha256 } from "../text/hash.ts";

export interface Rule extends Enforced {
  /** The path of the memory's file. */
  path: string;
  /** Others write in its directory, too: it is in force once the user has accepted it. */
  isShared: boolean;
}

/** A repository can switch memory off, but not the rules of its user. */
export function isEnforcing({ hooks, disabled, disabledByRepository }: Config): boolean {
  return hooks.enforce && (disabled === null || disabledByRepository);
}

/** Those that have not expired. When `isLate`, no more files are read, and what was found by then counts. Must not throw. */
export function readRules(directories: readonly Directory[], isLate: () => boolean = () => false): Rule[] {
  // An agent's own memories are for that agent, and deny nothing.
  const meant = directories.filter(({ scope }) => !scope.startsWith("agent:"));
  return meant.flatMap((directory) =>
    readForHooks(directory, isLate).flatMap(({ file, details: { rule, header } }) =>
      rule && !isExpired(header, directory.now())
        ? [{ ...rule, path: join(directory.path, file), isShared: isShared(directory) }]
        : [],
    ),
  );
}

/** Those that others may have written. */
export function readSharedRules(directories: readonly Directory[], isLate?: () => boolean): Rule[] {
  return readRules(directories.filter(isShared), isLate);
}

/**
 * Memories with a rule or a date, from the start of the cache as long as no file was added or removed. Files that are known to have
 * one are always compared with the disk; with `windowAt` some of the others too, for callers with time. Must not throw.
 */
export function readForHooks(directory: Directory, isLate: () => boolean, windowAt: number | null = null): RowEntry[] {
  try {
    const peeked = peekForHooks(directory, windowAt);
    if (!peeked) return scanForHooks(directory, isLate);
    const { entries, stale } = peeked;
    const changed = stale.flatMap((known): RowEntry[] => {
      // An outdated rule is better than none.
      const found = isLate() ? "same" : digestFile(directory, known.file, known);
      return found === "same" ? [known] : found ? [found] : [];
    });
    const fresh = changed.filter((entry) => !stale.includes(entry));
    if (fresh.length > 0) keepEntries(directory, fresh);
    return [...entries, ...changed.filter(({ isForHooks }) => isForHooks)];
  } catch {
    return []; // not readable, which `memdir doctor` reports
  }
}

/**
 * A memory that is about to change in place, which does not change its folder's time, is marked as one that the next call compares: it
 * may contain a rule then. New ones are found by the folder's time.
 */
export function expectChange(directory: Directory, file: string): void {
  const known = readRowCache(directory, "rows").entries.get(file);
  if (!known || known.isForHooks) return;
  const { details, ranking } = known;
  keepEntries(directory, [{ ...known, details, ranking, isSettled: false, isForHooks: true }]);
}

/** For the next call. Reading a repository creates no new folder in it. */
function keepEntries(directory: Directory, entries: readonly RowEntry[]): void {
  if (directory.readOnly || (directory.inRepository && !existsSync(join(directory.path, ".memdir")))) return;
  if (appendEntries(directory, entries) === 0) rewriteCache(directory, entries, null);
}

// --- Rules of others: in force once the user has accepted them. Kept by content, so that a rule that changes is asked about again, and in the
// user's own settings, which no repository writes.

/** `void`: it is about every tool, which nobody may forbid to others, accepted or not. */
export type Consent = "own" | "accepted" | "waiting" | "refused" | "void";

export const IN_FORCE: ReadonlySet<Consent> = new Set<Consent>(["own", "accepted"]);

/** Must be quick: every call of a tool asks. */
export function openConsent(
  config: Pick<Config, "acceptedRules" | "refusedRules">,
  project: Project,
): (rule: Rule) => Consent {
  const accepted = listOf(config.acceptedRules, project);
  const refused = listOf(config.refusedRules, project);
  return (rule) => {
    if (!rule.isShared) return "own";
    if (meansEveryTool(rule.tools)) return "void";
    const content = contentOf(rule);
    return accepted.includes(content) ? "accepted" : refused.includes(content) ? "refused" : "waiting";
  };
}

/** All that it matches and says; not its file, which may be renamed. Kept as it is: a hash would take longer to load than to compare. */
export function contentOf({ name, tools, pattern, paths, message }: Enforced): string {
  return JSON.stringify([name, tools, pattern, paths, message]);
}

/** For people to type. */
export function idOf(rule: Enforced): string {
  return sha256(contentOf(rule));
}

function listOf(map: Readonly<Record<string, readonly string[]>>, project: Project): readonly string[] {
  const key = trustKey(project);
  return Object.hasOwn(map, key) ? (map[key] ?? []) : [];
}
