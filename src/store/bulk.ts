/** File times that a checkout, a copy or a sync has set: many files within a moment. They say nothing about any one of them. */

export interface Bulk {
  fromMs: number;
  toMs: number;
}

/** A person or an agent saves a few memories at once; a checkout writes them all. */
const MIN_FILES = 8;
/** And it writes a large part of them. */
const MIN_SHARE = 0.5;
/** Between one file and the next; a checkout writes thousands in that time. */
const MAX_GAP_MS = 1_000;

/** Spans of time in which so many files were written that none of them tells its age. */
export function findBulks(timesMs: readonly number[]): Bulk[] {
  const sorted = timesMs.filter(Number.isFinite).sort((a, b) => a - b);
  const least = Math.max(MIN_FILES, sorted.length * MIN_SHARE);
  const bulks: Bulk[] = [];
  for (let start = 0; start < sorted.length; ) {
    let end = start;
    while (end + 1 < sorted.length && (sorted[end + 1] as number) - (sorted[end] as number) <= MAX_GAP_MS) end++;
    if (end - start + 1 >= least) bulks.push({ fromMs: sorted[start] as number, toMs: sorted[end] as number });
    start = end + 1;
  }
  return bulks;
}

export function isBulkTime(bulks: readonly Bulk[], timeMs: number): boolean {
  return bulks.some(({ fromMs, toMs }) => timeMs >= fromMs && timeMs <= toMs);
}
