/** Carries out a plan: one journal entry, all of its files or none, reverted by one undo. */

import { MemdirError } from "../errors.ts";
import {
  type Change,
  findName,
  formatIndexLine,
  type Header,
  type MemoryType,
  type Pages,
  parseHeader,
  parseIndexLine,
  readHeader,
  readReferences,
  type Store,
} from "../store/store.ts";
import { splitLines } from "../text/lines.ts";
import { checkPlan, findNamedProblems } from "./dream-check.ts";
import { changesOf, describeOp, type Plan } from "./dream-plan.ts";

/** The journal entry, for undo; null if the plan was empty. Throws `conflict`, with every problem in its details, if the plan no longer fits the directory. */
export async function applyPlan(directory: Store, plan: Plan): Promise<string | null> {
  if (plan.ops.length === 0) return null;
  const refuse = (problems: readonly string[]) => {
    if (problems.length > 0) throw refused(problems);
  };
  refuse(await checkPlan(plan, directory));
  return directory.change((writer) => {
    // The check took a while, and other programs may have written in the meantime.
    refuse(findNamedProblems(plan, writer));
    return writer.apply(changeOf(plan, writer)).entry?.id ?? null;
  });
}

function refused(problems: readonly string[]): MemdirError {
  const some = problems.slice(0, 3).join("; ") + (problems.length > 3 ? ` and ${problems.length - 3} more` : "");
  return new MemdirError("conflict", `the dream's plan was not applied: ${some}; nothing was written, so dream again`, {
    details: problems,
  });
}

function changeOf(plan: Plan, directory: Store): Change {
  const changes = new Map(plan.ops.flatMap((op) => [...changesOf(op)]));
  const reindexes = plan.ops.some(({ kind }) => kind === "reindex");
  return {
    action: "dream",
    trust: "inferred",
    reason: `dream: ${plan.ops.map(describeOp).join("; ")}`,
    writes: new Map([...changes].map(([file, text]) => [file, text === null ? null : Buffer.from(text)])),
    ...(reindexes && {
      plan: ({ index, more }: Pages) => ({
        pages: { index: arrangeIndex(index ?? "", lookupAfter(changes, directory)), more },
      }),
    }),
  };
}

/** Headers as they will be: the new files are not in place yet when the index is written. */
function lookupAfter(changes: ReadonlyMap<string, string | null>, directory: Store) {
  return (file: string): Header | null => {
    const name = changes.has(file) ? file : findName(directory, file);
    const text = name === null ? null : changes.get(name);
    if (typeof text === "string") return parseHeader(file, text);
    return name === null || text === null ? null : readHeader(directory, name);
  };
}

/**
 * The index in order: lines that point to nothing go, and every run of lines in our own words is sorted by what they are worth,
 * as a client that cannot load all of it leaves out the end. What was written by hand stays where it is.
 */
export function arrangeIndex(index: string, findHeader: (file: string) => Header | null): string {
  const lines = splitLines(index).flatMap((line) => {
    const file = parseIndexLine(line)?.file;
    const header = file === undefined ? null : findHeader(file);
    const own = header !== null && formatIndexLine(header) === line.trimEnd() ? header : null;
    return file !== undefined && header === null && isDead(line, findHeader) ? [] : [{ line, own }];
  });
  const arranged: string[] = [];
  for (let at = 0; at < lines.length; ) {
    let end = at;
    while (lines[end]?.own) end++;
    const run = lines.slice(at, end) as { line: string; own: Header }[];
    const sorted = run.map(({ own }) => own).sort(byWorth);
    // Line ends stay in their places: the last line of a file may have none.
    arranged.push(...run.map(({ line }, i) => formatIndexLine(sorted[i]!) + line.slice(line.trimEnd().length)));
    if (end < lines.length) arranged.push(lines[end]!.line);
    at = end + 1;
  }
  return arranged.join("");
}

/** Whether everything it names is gone; the target of a wiki link is not certain. */
export function isDead(line: string, findHeader: (file: string) => Header | null): boolean {
  return readReferences(line).every(({ kind, target }) => kind !== "wiki" && findHeader(target) === null);
}

/** Corrections first: having to repeat one is the most annoying. */
const WORTH: Record<MemoryType, number> = { feedback: 0, user: 1, project: 2, reference: 3 };

function byWorth(a: Header, b: Header): number {
  if (a.pinned !== b.pinned) return a.pinned ? -1 : 1;
  if (a.type !== b.type) return WORTH[a.type] - WORTH[b.type];
  if ((a.modified ?? "") !== (b.modified ?? "")) return (a.modified ?? "") < (b.modified ?? "") ? 1 : -1;
  return a.file < b.file ? -1 : 1;
}
