/** How old a memory is: the one rule for every list, every recall and every hook. */

const DAY_MS = 86_400_000;

/** Fresh up to yesterday, then recent, stale, old; the numbers are the first day of each. */
export interface AgeLimits {
  recent: number;
  stale: number;
  old: number;
}

/** An age as a word. */
export type Age = "fresh" | "recent" | "stale" | "old";

/** What there is to tell a memory's age by; 0 for what is not known. */
export interface Dates {
  mtimeMs: number;
  /** The latest of `modified` and `verified`. */
  saidMs: number;
  createdMs: number;
  commitMs: number;
}

/**
 * The time that the age counts from. A private file counts from its latest stamp, so that `touch` works, unless a copy or a
 * checkout set the times of many files at once: then from what it says of itself. In a repository file times are those of the
 * checkout: there what the file says counts, else its last commit; only a file that is neither dated nor committed has nothing else.
 */
export function countsFrom(dates: Dates, { inRepository, isBulk }: { inRepository: boolean; isBulk: boolean }): number {
  const { mtimeMs, saidMs, createdMs, commitMs } = dates;
  if (inRepository) return saidMs || commitMs || createdMs || mtimeMs;
  return isBulk ? Math.max(saidMs, createdMs) || mtimeMs : Math.max(saidMs, mtimeMs);
}

/** Whole days between two times. A time in the future (another machine's clock) counts as now. */
export function ageInDays(thenMs: number, nowMs: number): number {
  return Math.max(0, Math.floor((nowMs - thenMs) / DAY_MS));
}

/** The word for an age in days. */
export function ageName(days: number, limits: AgeLimits): Age {
  if (days >= limits.old) return "old";
  if (days >= limits.stale) return "stale";
  return days >= limits.recent ? "recent" : "fresh";
}

/** An age as people say it: "today", "3 days ago". */
export function ageInWords(days: number): string {
  if (days === 0) return "today";
  return days === 1 ? "yesterday" : `${days} days ago`;
}

/** A span of file times that a checkout, a copy or a sync has set: many files within a moment. They say nothing about any one of them. */
export interface Bulk {
  fromMs: number;
  toMs: number;
}

/** Between one file and the next; a checkout writes thousands in that time. */
const BULK_GAP_MS = 1_000;

/** So many files in one span are a bulk: a person or an agent saves a few memories at once, a checkout writes a large part of them. */
function isBulkSize(files: number, all: number): boolean {
  return files >= 8 && files >= all * 0.5;
}

export function findBulks(timesMs: readonly number[]): Bulk[] {
  return findBulksIn(Float64Array.from(timesMs.filter(Number.isFinite)).sort());
}

/** Of ascending times. A span of half of them holds the one in the middle, or one of the two. */
export function findBulksIn(sorted: Float64Array): Bulk[] {
  const bulks: Bulk[] = [];
  const last = sorted.length - 1;
  const at = (i: number) => sorted[i] as number;
  for (const middle of new Set([last >> 1, (last + 1) >> 1])) {
    if (last < 0 || isBulkTime(bulks, at(middle))) continue;
    let [from, to] = [middle, middle];
    while (from > 0 && at(from) - at(from - 1) <= BULK_GAP_MS) from--;
    while (to < last && at(to + 1) - at(to) <= BULK_GAP_MS) to++;
    if (isBulkSize(to - from + 1, sorted.length)) bulks.push({ fromMs: at(from), toMs: at(to) });
  }
  return bulks;
}

export function isBulkTime(bulks: readonly Bulk[], timeMs: number): boolean {
  return bulks.some(({ fromMs, toMs }) => timeMs >= fromMs && timeMs <= toMs);
}
