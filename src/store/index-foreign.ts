/** Mends a text of MEMORY.md that another program wrote without knowing what memdir had written meanwhile. */

import { OVERFLOW_FILE } from "./directory.ts";
import type { Base } from "./index-base.ts";
import { formatIndexLine, parseIndexLine } from "./index-line.ts";
import { linkedFiles, restoreRemoved, splitLines } from "./index-text.ts";
import type { Header } from "./memory.ts";

export interface Lookup {
  /** The memory's header, or null when there is no such file. */
  findHeader: (file: string) => Header | null;
  /** Whether the overflow page has its line. */
  isInMore: (file: string) => boolean;
}

/** Lines of `known`, the last text of ours, come back; lines that we retired get their new words; hidden lines reappear. */
export function mendForeign(
  text: string,
  known: string,
  base: Pick<Base, "hidden" | "retired">,
  lookup: Lookup,
): string {
  const current = refreshRetired(text, base.retired, lookup);
  const linked = linkedFiles(current);
  const knownLines = splitLines(known);
  const lost = knownLines.flatMap((line, at) => {
    const file = parseIndexLine(line)?.file;
    if (file === undefined || linked.has(file) || lookup.findHeader(file) === null || lookup.isInMore(file)) return [];
    linked.add(file);
    return [{ text: line, at, after: at === 0 ? null : (knownLines[at - 1] as string).trimEnd() }];
  });
  const restored = restoreRemoved(splitLines(current), lost);
  const there = new Set(splitLines(restored).map((line) => line.trimEnd()));
  return restoreRemoved(
    splitLines(restored),
    base.hidden.filter((line) => !there.has(line.text.trimEnd())),
  );
}

/** A stale editor brings back lines that memdir had already replaced or removed. */
function refreshRetired(text: string, retired: readonly string[], lookup: Lookup): string {
  if (retired.length === 0) return text;
  const old = new Set(retired);
  return splitLines(text)
    .flatMap((line) => {
      const bare = line.trimEnd();
      const file = old.has(bare) ? parseIndexLine(line)?.file : undefined;
      if (file === undefined) return [line];
      const header = lookup.findHeader(file);
      return header ? [formatIndexLine(header) + line.slice(bare.length)] : [];
    })
    .join("");
}

/** `earlier` ones and lines of `before` that `after` does not have: what undo brought back counts again. Not the link to the overflow page, which is counted anew. */
export function retiredLines(before: string, after: string, earlier: readonly string[] = []): string[] {
  const there = new Set(splitLines(after).map((line) => line.trimEnd()));
  return earlier
    .concat(splitLines(before).map((line) => line.trimEnd()))
    .filter((line) => !there.has(line) && (parseIndexLine(line)?.file ?? OVERFLOW_FILE) !== OVERFLOW_FILE);
}

/** Text by hand that stood in `theirs` and was out of sight while `ours` was in its place. */
export function hiddenLines(theirs: string, ours: string, since: number): Base["hidden"] {
  const there = new Set(splitLines(ours).map((line) => line.trimEnd()));
  const lines = splitLines(theirs);
  return lines.flatMap((text, at) => {
    const bare = text.trimEnd();
    if (bare === "" || there.has(bare) || parseIndexLine(text) !== null) return [];
    return [{ text, at, after: at === 0 ? null : (lines[at - 1] as string).trimEnd(), since }];
  });
}
