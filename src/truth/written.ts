/** When the lines of memories were written: git's history for a store in a repository, the journal for a private one. */

import { relative, sep } from "node:path";
import { isWithin, realPath } from "../disk/fence.ts";
import { type Git, runGit } from "../project/git.ts";
import { type Entry, readImage, type Store } from "../store/store.ts";

/** When the line with this text was written, in seconds since 1970; null if that is not known. */
export type Written = (file: string, line: string) => number | null;

/** Memories are small; a folder with more history than this is a repository of its own. */
const LIMITS = { timeoutMs: 15_000, maxBytes: 128 << 20 };

/** `git` runs at the top of the checkout. */
export async function readWritten(git: Git, directory: Store): Promise<Written> {
  const inside = placeInside(git.root, directory.path);
  const committed = inside === null ? null : await readCommitted(git, inside);
  const journal = openJournal(directory);
  return (file, line) => committed?.get(keyOf(line)) ?? journal(file, line);
}

/** `.` for the top itself; null for a folder outside. */
function placeInside(root: string, path: string): string | null {
  const [top, folder] = [realPath(root), realPath(path)];
  return isWithin(top, folder) ? relative(top, folder).split(sep).join("/") || "." : null;
}

/** By the text alone, so that a memory keeps its dates when it is renamed or its lines are moved to another one. */
async function readCommitted(git: Git, folder: string): Promise<ReadonlyMap<string, number>> {
  const times = new Map<string, number>();
  const form = ["log", "-p", "-U0", "--no-renames", "--format=%x01%ct", "--no-color", "--ignore-submodules=all"];
  let [rest, time, inHunk] = ["", 0, false];
  const takeLine = (line: string) => {
    if (line.startsWith("\x01")) [time, inHunk] = [Number(line.slice(1)), false];
    else if (line.startsWith("@@")) inHunk = true;
    else if (line.startsWith("diff ")) inHunk = false;
    // The newest commit comes first: what counts is the oldest.
    else if (inHunk && line.startsWith("+")) times.set(keyOf(line.slice(1)), time);
  };
  const decoder = new TextDecoder();
  const take = (chunk: Buffer) => {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() as string;
    lines.forEach(takeLine);
  };
  await runGit(git, [...form, "HEAD", "--", folder], { ...LIMITS, take });
  return times;
}

function keyOf(line: string): string {
  return line.trim();
}

/** The entry before which the file did not hold the line. */
function openJournal(directory: Store): Written {
  const entries = new Map<string, Entry[]>();
  for (const entry of directory.history()) {
    for (const { file } of entry.files) entries.set(file, [...(entries.get(file) ?? []), entry]);
  }
  const images = new Map<string, string>();
  const textOf = (hash: string) => {
    const known = images.get(hash) ?? readImage(directory, hash)?.toString("utf8") ?? "";
    images.set(hash, known);
    return known;
  };
  return (file, line) => {
    const own = entries.get(file) ?? [];
    for (const { at, files } of own.toReversed()) {
      const before = files.find((each) => each.file === file)?.before ?? null;
      if (before === null || !textOf(before).includes(line.trim())) return Date.parse(at) / 1000;
    }
    return null;
  };
}
