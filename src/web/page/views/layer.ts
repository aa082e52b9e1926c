/** One person's changes laid over another's: line by line, against the text that both began with. */

export interface Layered {
  text: string;
  /** Places that both have changed: there mine stand, and the review shows what of theirs went. */
  overlaps: number;
}

/** Comparing takes lines times lines: a memory is a page, and for what is far longer mine stand as a whole. */
const MOST_CELLS = 4_000_000;

/** All three with "\n" at the ends of lines only. */
export function layOver(base: string, theirs: string, mine: string): Layered {
  const [from, left, right] = [base, theirs, mine].map((text) => text.split("\n")) as [string[], string[], string[]];
  if (from.length * Math.max(left.length, right.length) > MOST_CELLS) return { text: mine, overlaps: 1 };
  const inLeft = matchLines(from, left);
  const inRight = matchLines(from, right);
  const lines: string[] = [];
  let overlaps = 0;
  let [b, l, r] = [0, 0, 0];
  for (let at = 0; at <= from.length; at++) {
    const isEnd = at === from.length;
    const toLeft = isEnd ? left.length : inLeft[at];
    const toRight = isEnd ? right.length : inRight[at];
    // Only a line that all three have ends a place.
    if (toLeft === undefined || toRight === undefined) continue;
    const chosen = choose(from.slice(b, at), left.slice(l, toLeft), right.slice(r, toRight));
    overlaps += chosen === null ? 1 : 0;
    lines.push(...(chosen ?? right.slice(r, toRight)));
    if (!isEnd) lines.push(from[at] ?? "");
    [b, l, r] = [at + 1, toLeft + 1, toRight + 1];
  }
  return { text: lines.join("\n"), overlaps };
}

/** Null where both differ from the base and from one another. */
function choose(base: string[], theirs: string[], mine: string[]): string[] | null {
  if (isSame(theirs, base) || isSame(theirs, mine)) return mine;
  return isSame(mine, base) ? theirs : null;
}

function isSame(a: string[], b: string[]): boolean {
  return a.length === b.length && a.every((line, at) => line === b[at]);
}

/** For each line of `a` its place in `b`, in rising order, as many as can be; undefined for the others. */
function matchLines(a: string[], b: string[]): (number | undefined)[] {
  const width = b.length + 1;
  // How many lines the rests from here on have in common.
  const common = new Uint32Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      common[i * width + j] =
        a[i] === b[j]
          ? (common[(i + 1) * width + j + 1] ?? 0) + 1
          : Math.max(common[(i + 1) * width + j] ?? 0, common[i * width + j + 1] ?? 0);
  const found = new Array<number | undefined>(a.length);
  let j = 0;
  for (let i = 0; i < a.length && j < b.length; i++) {
    while (j < b.length && a[i] !== b[j] && common[i * width + j] === common[i * width + j + 1]) j++;
    if (a[i] === b[j]) found[i] = j++;
  }
  return found;
}
