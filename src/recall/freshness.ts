/** What the reader of an old memory is told before reading it. */

/** Today's and yesterday's memories speak for themselves; from the second day on everything is said with its age. */
const LAST_FRESH_DAY = 1;

/** How the sentence begins; a memory's own text may not begin a line with it. */
export const FRESHNESS_OPENING = "The memory below is";

export function freshnessWarning(days: number): string {
  if (!(days > LAST_FRESH_DAY)) return "";
  return `${FRESHNESS_OPENING} ${days} days old: a point-in-time observation that may be outdated by now. Verify it against the current code before you state it as fact.`;
}
