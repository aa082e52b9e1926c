/** When the lines of memories were written: git's history for a store in a repository, the journal for a private one. */

import { relative, sep } from "node:path";
import { isWithin, realPath } from "../disk/fence.ts";
import { attempt } from "../errors.ts";
import { type Git, readGit, runGit } from "../project/git.ts";
import { findText, findUndone, readImage, type Store } from "../store/store.ts";
import { diffLines } from "../text/diff.ts";
import { openParts } from "./history.ts";

/** When the line with this text was written, in seconds since 1970; null if that is not known. */
export type Written = (file: string, line: string) => number | null;

/** Memories are small; a folder with more history than this is a repository of its own. */
const LIMITS = { timeoutMs: 15_000, maxBytes: 128 << 20 };

/** `git` runs at the top of the checkout. */
export async function readWritten(git: Git, directory: Store): Promise<Written> {
  const inside = placeInside(git.root, directory.path);
  const committed = inside === null ? null : await readCommitted(git, inside);
  const journal = openJournal(directory);
  return (file, line) => {
    const { first, time } = journal(file, line);
    return committed?.get(first) ?? time ?? committed?.get(line.trim()) ?? null;
  };
}

/** The folders between the top of the checkout and the stores in it, without the top: `app/.claude/memory`, `app/.claude`, `app`. */
export function homesOf(root: string, stores: readonly Store[]): string[] {
  const homes = new Set<string>();
  for (const { path } of stores) {
    const parts = placeInside(root, path)?.split("/") ?? [];
    for (let length = parts.length; length > 0; length--) homes.add(parts.slice(0, length).join("/"));
  }
  homes.delete(".");
  return [...homes];
}

/** `.` for the top itself; null for a folder outside. */
function placeInside(root: string, path: string): string | null {
  const [top, folder] = [realPath(root), realPath(path)];
  return isWithin(top, folder) ? relative(top, folder).split(sep).join("/") || "." : null;
}

/** A store that moved more often than this is as old as its third move back. */
const MAX_MOVES = 3;

/**
 * By the text alone, so that a memory keeps its dates when it is renamed or its lines are moved to another one; and as far as
 * the places that files of the store came from.
 */
async function readCommitted(git: Git, folder: string): Promise<ReadonlyMap<string, number>> {
  const times = new Map<string, number>();
  let paths = [folder];
  for (let moves = 0; moves <= MAX_MOVES && paths.length > 0; moves++) {
    const births = await readLines(git, paths, times);
    paths = folder === "." || births.length === 0 ? [] : await findOrigins(git, births, paths);
  }
  return times;
}

/** Adds when the lines of these paths were written, and returns the commits that added files. */
async function readLines(git: Git, paths: readonly string[], times: Map<string, number>): Promise<string[]> {
  const form = ["log", "-p", "-U0", "--no-renames", "--format=%x01%H %ct", "--no-color", "--ignore-submodules=all"];
  const births = new Set<string>();
  let [hash, time, inHunk] = ["", 0, false];
  const take = openParts(10, (line) => {
    if (line.startsWith("\x01")) {
      const blank = line.indexOf(" ");
      [hash, time, inHunk] = [line.slice(1, blank), Number(line.slice(blank)), false];
    } else if (line.startsWith("@@")) inHunk = true;
    else if (line.startsWith("diff ")) inHunk = false;
    else if (!inHunk && line.startsWith("new file mode")) births.add(hash);
    else if (inHunk && line.startsWith("+")) {
      const key = line.slice(1).trim();
      times.set(key, Math.min(time, times.get(key) ?? time));
    }
  });
  await runGit(git, [...form, "HEAD", "--", ...paths], { ...LIMITS, take });
  return [...births];
}

/** Files elsewhere that these commits renamed into one of the paths. */
async function findOrigins(git: Git, commits: readonly string[], paths: readonly string[]): Promise<string[]> {
  const isInside = (file: string) => paths.some((path) => file === path || file.startsWith(`${path}/`));
  const form = ["--no-walk", "-z", "--name-status", "-M", "-l200", "--diff-filter=R", "--format="];
  const listing = await readGit(git, ["log", ...form, ...commits, "--"]);
  const parts = listing?.toString("utf8").split("\0") ?? [];
  const origins = new Set<string>();
  for (let i = 0; i + 2 < parts.length; i += 3) {
    const [from = "", to = ""] = parts.slice(i + 1, i + 3);
    if (isInside(to) && !isInside(from)) origins.add(from);
  }
  return [...origins];
}

interface Step {
  at: string;
  /** What the file held before, by hash; null where it was new. */
  before: string | null;
  keepsTimes: boolean;
  earlier: Step | null;
}

/**
 * When the file got the line, also under an earlier name, and the line as it was first: what memdir itself wrote in it, such as
 * a new path, does not make the rest of it new.
 */
function openJournal(directory: Store) {
  const steps = new Map<string, Step>();
  // A journal that cannot be read is named by doctor: then the memory's own dates count.
  const all = attempt(() => directory.history(), []);
  const undone = findUndone(all);
  for (const { id, at, files, undoes, renames, keepsTimes = false } of all) {
    // What was undone never happened: its lines are as old as they were before.
    if (undone.has(id) || undoes) continue;
    const befores = new Map(files.map(({ file, before }) => [file, before]));
    const former = new Map(renames?.map(([from, to]) => [to, from]));
    for (const { file } of files) {
      const from = former.get(file) ?? file;
      steps.set(file, { at, before: befores.get(from) ?? null, keepsTimes, earlier: steps.get(from) ?? null });
    }
  }
  const texts = new Map<string, string>();
  const keep = (key: string, read: () => string) => {
    const text = texts.get(key) ?? read();
    texts.set(key, text);
    return text;
  };
  return (file: string, line: string): { first: string; time: number | null } => {
    let first = line.trim();
    let later: string | null = null;
    for (let step = steps.get(file) ?? null; step; step = step.earlier) {
      const { before: hash, keepsTimes } = step;
      const before = hash === null ? null : keep(hash, () => readImage(directory, hash)?.toString("utf8") ?? "");
      if (!before?.includes(first)) {
        later ??= keep(file, () => findText(directory, file) ?? "");
        const former = before !== null && keepsTimes ? findFormer(before, later, first) : null;
        if (former === null) return { first, time: Date.parse(step.at) / 1000 };
        first = former;
      }
      later = before;
    }
    return { first, time: null };
  };
}

/** The line in whose place this one stands; null unless every new line stands for one that went. */
function findFormer(before: string, after: string, line: string): string | null {
  const changes = diffLines(before.split("\n"), after.split("\n"));
  const [gone, fresh] = ["removed", "added"].map((wanted) =>
    changes.flatMap(({ kind, text }) => (kind === wanted ? [text.trim()] : [])),
  ) as [string[], string[]];
  return gone.length === fresh.length ? (gone[fresh.indexOf(line)] ?? null) : null;
}
