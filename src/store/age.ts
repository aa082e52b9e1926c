/** How old a memory is, in whole days, and what that is called. */

const DAY_MS = 86_400_000;

/** Fresh up to yesterday, then recent, stale, old; the numbers are the first day of each. */
export interface AgeLimits {
  recent: number;
  stale: number;
  old: number;
}

export type Age = "fresh" | "recent" | "stale" | "old";

/** Whole days between; a time in the future (another machine's clock) counts as now. */
export function ageInDays(thenMs: number, nowMs: number): number {
  return Math.max(0, Math.floor((nowMs - thenMs) / DAY_MS));
}

export function ageName(days: number, limits: AgeLimits): Age {
  if (days >= limits.old) return "old";
  if (days >= limits.stale) return "stale";
  return days >= limits.recent ? "recent" : "fresh";
}

export function ageInWords(days: number): string {
  if (days === 0) return "today";
  return days === 1 ? "yesterday" : `${days} days ago`;
}
