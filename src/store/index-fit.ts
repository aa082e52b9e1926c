/** Keeps MEMORY.md under the client's cap by moving its least valuable lines to the overflow page. Nothing is lost. */

import { OVERFLOW_FILE } from "./directory.ts";
import { type IndexLimits, type IndexSize, isOver, measureIndex } from "./index-limits.ts";
import { parseIndexLine } from "./index-line.ts";
import { overflowLink, putOverflowLink } from "./index-pages.ts";
import { linkedFiles, splitLines } from "./index-text.ts";
import type { MemoryType } from "./memory.ts";

/** What decides the value of a line. */
export interface LineValue {
  type: MemoryType;
  pinned: boolean;
  ageDays: number;
  /** In memdir's own words: moved before a line that somebody worded. */
  own: boolean;
}

export interface Fitted {
  text: string;
  /** The overflow page's new text, or null when it stays as it is. */
  overflow: string | null;
  moved: string[];
  /** Hand-written text alone is over the cap: nothing that may be moved is left. */
  stillOver: boolean;
}

/** Once the cap is reached, this much is kept: room for the next saves, so that not every one of them has to move a line. */
const KEEP_SHARE = 0.85;

const OVERFLOW_HEAD = `# More memories

Lines that no longer fit into MEMORY.md. The memories themselves are unchanged and recall still finds them.

`;

/** `tellValue` tells about a linked memory, or null if the line links to none. `saved` was just written and moves last. */
export function fitIndex(
  text: string,
  readOverflow: () => string,
  limits: IndexLimits,
  tellValue: (file: string, line: string) => LineValue | null,
  saved: string | null,
): Fitted {
  const size = measureIndex(text);
  if (!isOver(size, limits)) return { text, overflow: null, moved: [], stillOver: false };

  const lines = splitLines(text);
  const movable = lines
    .map((line, at) => ({ at, line, file: parseIndexLine(line)?.file ?? "" }))
    .filter(({ file }) => file !== "" && file !== OVERFLOW_FILE)
    .flatMap((entry) => {
      const value = tellValue(entry.file, entry.line.trimEnd());
      const isGiant = entry.line.length > limits.maxChars * KEEP_SHARE;
      return value ? [{ ...entry, rank: isGiant ? [-1, 0, 0] : rankOf(value, entry.file === saved) }] : [];
    })
    .sort((a, b) => compareRanks(a.rank, b.rank));
  const left = { lines: size.lines + 1, chars: size.chars + overflowLink(99_999).length };
  const room = {
    maxLines: Math.floor(limits.maxLines * KEEP_SHARE),
    maxChars: Math.floor(limits.maxChars * KEEP_SHARE),
  };
  // Where hand-written text fills the index, room cannot be made: then only what must go goes.
  const moving = takeUntil(movable, left, room) ?? takeUntil(movable, left, limits) ?? movable;
  if (moving.length === 0) return { text, overflow: null, moved: [], stillOver: true };

  const gone = new Set(moving.map(({ at }) => at));
  const overflow = addToOverflow(readOverflow(), moving);
  const kept = lines.filter((_, at) => !gone.has(at)).join("");
  const next = putOverflowLink(kept, linkedFiles(overflow).size);
  const moved = moving.map(({ file }) => file);
  return { text: next, overflow, moved, stillOver: isOver(measureIndex(next), limits) };
}

/** The first lines that must go for the rest to keep the limits; null if all of them are not enough. */
function takeUntil<T extends { line: string }>(
  movable: readonly T[],
  size: IndexSize,
  limits: IndexLimits,
): T[] | null {
  const left = { ...size };
  for (const [at, { line }] of movable.entries()) {
    if (!isOver(left, limits)) return movable.slice(0, at);
    left.lines -= 1;
    left.chars -= line.length;
  }
  return isOver(left, limits) ? null : [...movable];
}

function addToOverflow(overflow: string, moved: readonly { line: string; file: string }[]): string {
  const files = new Set(moved.map(({ file }) => file));
  const kept = splitLines(overflow === "" ? OVERFLOW_HEAD : overflow).filter(
    (l) => !files.has(parseIndexLine(l)?.file ?? ""),
  );
  const body = kept.join("");
  const gap = body === "" || body.endsWith("\n") ? "" : "\n";
  return body + gap + moved.map(({ line }) => `${line.trimEnd()}\n`).join("");
}

/** Lower goes first: stale project notes, references, other project notes, the user, corrections, pinned, the one just saved. */
function rankOf(value: LineValue, justSaved: boolean): [number, number, number] {
  const kind = justSaved
    ? 6
    : value.pinned
      ? 5
      : value.type === "project" && value.ageDays <= FRESH_PROJECT_DAYS
        ? 2
        : KINDS[value.type];
  return [kind, value.own ? 0 : 1, -value.ageDays];
}

/** A project note of this week is likelier to matter than an old reference. */
const FRESH_PROJECT_DAYS = 7;

const KINDS: Record<MemoryType, number> = { project: 0, reference: 1, user: 3, feedback: 4 };

function compareRanks(a: readonly number[], b: readonly number[]): number {
  for (let i = 0; i < a.length; i++) {
    const difference = (a[i] as number) - (b[i] as number);
    if (difference !== 0) return difference;
  }
  return 0;
}
