/** Keeps MEMORY.md under the client's cap by moving its least valuable lines to the overflow page. Nothing is lost. */

import { OVERFLOW_FILE } from "./directory.ts";
import { type IndexLimits, type IndexSize, isOver, measureIndex } from "./index-limits.ts";
import { formatIndexLine, parseIndexLine } from "./index-line.ts";
import { splitLines } from "./index-text.ts";
import type { MemoryType } from "./type.ts";

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

  const overflowText = readOverflow();
  const lines = splitLines(text);
  const movable = lines
    .map((line, at) => ({ at, line, file: parseIndexLine(line)?.file ?? "" }))
    .filter(({ file }) => file !== "" && file !== OVERFLOW_FILE)
    .flatMap((entry) => {
      const value = tellValue(entry.file, entry.line.trimEnd());
      return value ? [{ ...entry, rank: rankOf(value, entry.file === saved) }] : [];
    })
    .sort((a, b) => compareRanks(a.rank, b.rank));

  const target = {
    maxLines: Math.floor(limits.maxLines * KEEP_SHARE),
    maxChars: Math.floor(limits.maxChars * KEEP_SHARE),
  };
  const gone = new Set<number>();
  const left: IndexSize = { ...size };
  // The link to the overflow page takes a line itself.
  const link = { lines: 1, chars: 90 };
  for (const { at, line } of movable) {
    if (!isOver({ lines: left.lines + link.lines, chars: left.chars + link.chars }, target)) break;
    gone.add(at);
    left.lines -= 1;
    left.chars -= line.length;
  }
  const movedLines = movable.filter(({ at }) => gone.has(at));
  const moved = movedLines.map(({ file }) => file);
  const overflow = addToOverflow(overflowText, movedLines);
  const kept = lines.filter((_, at) => !gone.has(at)).join("");
  const count = splitLines(overflow).filter((line) => parseIndexLine(line)).length;
  const next = putOverflowLink(kept, count);
  return { text: next, overflow, moved, stillOver: isOver(measureIndex(next), limits) };
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

/** The line that leads to the overflow page; memdir's own, so its number may change. */
export function putOverflowLink(text: string, count: number): string {
  const plural = count === 1 ? "y" : "ies";
  const line = formatIndexLine({
    file: OVERFLOW_FILE,
    name: "More memories",
    description: `${count} further memor${plural}; look here when nothing above fits`,
  });
  const lines = splitLines(text);
  const at = lines.findIndex((l) => parseIndexLine(l)?.file === OVERFLOW_FILE);
  if (count === 0) return lines.filter((_, i) => i !== at).join("");
  if (at >= 0) lines[at] = `${line}\n`;
  else {
    const last = lines.at(-1);
    if (last !== undefined && !last.endsWith("\n")) lines[lines.length - 1] = `${last}\n`;
    lines.push(`${line}\n`);
  }
  return lines.join("");
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
