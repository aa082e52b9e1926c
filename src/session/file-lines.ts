/** Sets of line numbers as sorted ranges, 1-based and inclusive. A line ends with LF, so CRLF counts alike. */

export interface LineRange {
  from: number;
  to: number;
}

/** Lines `from` to `to` of the old text became `into` lines of the new one; `to = from - 1` is an insertion before `from`. */
export interface LineEdit extends LineRange {
  into: number;
}

/** A last line without an end counts; an empty file has none. */
export function countLines(bytes: Uint8Array): number {
  let count = 0;
  for (let at = bytes.indexOf(LF); at >= 0; at = bytes.indexOf(LF, at + 1)) count++;
  return bytes.length > 0 && bytes[bytes.length - 1] !== LF ? count + 1 : count;
}

/** Sorted, joined where they touch, cut to the lines 1 to `total`; what is no range is left out. */
export function mergeRanges(ranges: readonly LineRange[], total: number): LineRange[] {
  const merged: LineRange[] = [];
  const clipped = ranges.map(({ from, to }) => ({ from: Math.max(1, from), to: Math.min(total, to) }));
  for (const { from, to } of clipped.filter((range) => range.from <= range.to).sort((a, b) => a.from - b.from)) {
    const last = merged.at(-1);
    if (last && from <= last.to + 1) last.to = Math.max(last.to, to);
    else merged.push({ from, to });
  }
  return merged;
}

/** The part of `wanted` that is not in `known`, which must be merged. */
export function missingLines(wanted: LineRange, known: readonly LineRange[]): LineRange[] {
  const missing: LineRange[] = [];
  let next = wanted.from;
  for (const { from, to } of known) {
    if (from > wanted.to) break;
    if (from > next) missing.push({ from: next, to: from - 1 });
    next = Math.max(next, to + 1);
  }
  if (next <= wanted.to) missing.push({ from: next, to: wanted.to });
  return missing;
}

/** Where known lines stand after edits, which know the old numbers: those below move along, the new ones are known. */
export function shiftRanges(known: readonly LineRange[], edits: readonly LineEdit[]): LineRange[] {
  const sorted = [...edits].sort((a, b) => a.from - b.from);
  const shifted = known.flatMap((range) => shiftRange(range, sorted));
  let shift = 0;
  for (const { from, to, into } of sorted) {
    shifted.push({ from: from + shift, to: from + shift + into - 1 });
    shift += into - (to - from + 1);
  }
  return shifted;
}

/** "lines 3-9, 12 and 20-31"; long lists end with "and N more". */
export function formatLines(ranges: readonly LineRange[]): string {
  const shown = ranges.slice(0, MAX_SHOWN).map(({ from, to }) => (from === to ? `${from}` : `${from}-${to}`));
  const rest = ranges.length - shown.length;
  const last = rest > 0 ? `${rest} more` : shown.length > 1 ? shown.pop() : undefined;
  const isOne = ranges.length === 1 && ranges[0]?.from === ranges[0]?.to;
  return `${isOne ? "line" : "lines"} ${shown.join(", ")}${last ? ` and ${last}` : ""}`;
}

const LF = 10;

/** A model reads the whole file rather than a longer list of pieces. */
const MAX_SHOWN = 5;

function shiftRange({ from, to }: LineRange, edits: readonly LineEdit[]): LineRange[] {
  const pieces: LineRange[] = [];
  let start = from;
  let shift = 0;
  for (const edit of edits) {
    if (edit.from > to) break;
    if (edit.to >= start) {
      pieces.push({ from: start + shift, to: edit.from - 1 + shift });
      start = edit.to + 1;
    }
    shift += edit.into - (edit.to - edit.from + 1);
  }
  pieces.push({ from: start + shift, to: to + shift });
  return pieces.filter((piece) => piece.from <= piece.to);
}
