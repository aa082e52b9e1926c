/** Git's merge driver for memories and their index: `memdir merge-driver memory|index %O %A %B %P`. */

import { isUtf8 } from "node:buffer";
import { lstatSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { makeFolders, moveInto, readRegular, resolveInside, SHARED_MODE, writeTemporary } from "../disk/fence.ts";
import { type Git, runGit } from "../project/git.ts";
import { parseIndexLine } from "../store/store.ts";
import { pickChanged } from "../text/diff.ts";
import { splitLines } from "../text/lines.ts";
import { joinKeys, makeConflictCopy, mergeMemory, ofEach } from "./merge.ts";

export interface MergeCall {
  kind: "memory" | "index";
  /** Files with the common ancestor (empty for none), ours, which takes the result, and theirs; git makes them. */
  base: string;
  ours: string;
  theirs: string;
  /** The memory itself, below the top of the checkout. */
  path: string;
}

/** `code` is git's: 0 for merged, 1 for a conflict; `message` is for standard error, "" for nothing to say. */
type MergeEnd = { code: 0 | 1; message: string };

/** Two texts of this size are compared in less than a second. */
const MAX_BYTES = 1 << 20;

/** `git.root` is the top of the checkout, where git starts drivers. Must not throw: whatever fails of ours, git's own merge of lines takes its place, and no side is lost. */
export async function driveMerge(call: MergeCall, git: Git): Promise<MergeEnd> {
  try {
    // Git's own files are at the top of the checkout. Nothing else is read or written.
    for (const file of [call.base, call.ours, call.theirs]) resolveInside(git.root, file);
  } catch (error) {
    return { code: 1, message: `memdir: ${call.path} is not merged: ${(error as Error).message}` };
  }
  try {
    const [base, ours, theirs] = ofEach([call.base, call.ours, call.theirs], (file) => readSide(git, file));
    const merged = (call.kind === "index" ? mergeIndex : mergeMemory)(base, ours, theirs);
    if (merged === null) return keepBoth(call, git, theirs);
    writeResult(git, call.ours, merged);
    return { code: 0, message: "" };
  } catch (error) {
    return mergeByLines(call, git, (error as Error).message);
  }
}

/** Ours stays a whole memory without markers; theirs is beside it as one of its own. */
function keepBoth({ path }: MergeCall, git: Git, theirs: string): MergeEnd {
  const copy = writeCopy(git, path, theirs);
  return {
    code: 1,
    message: `memdir: ${path} was changed in the same place on both sides; the other side's text is in ${copy}: bring them together in ${path}, remove ${copy}, then git add ${path}`,
  };
}

const TEAM_FOLDER = ".claude/memory/";

/** The path of the copy, below the checkout. The same text is written once, however often the merge is tried. */
function writeCopy({ root }: Git, path: string, text: string): string {
  const folder = path.startsWith(TEAM_FOLDER) ? TEAM_FOLDER : path.slice(0, path.lastIndexOf("/") + 1);
  const place = (copy: { path: string }) => resolveInside(root, folder + copy.path);
  const copy = makeConflictCopy(path.slice(folder.length), text, (copy) => {
    const file = place(copy);
    return lstatSync(file, { throwIfNoEntry: false }) !== undefined && readText(file) !== copy.text;
  });
  const file = place(copy);
  if (readText(file) === null) {
    // In the middle of a rebase the folder may not be there; git makes it for the memory, too.
    makeFolders(dirname(file));
    moveInto(writeTemporary(dirname(file), copy.text, SHARED_MODE, ".memdir"), file);
  }
  return folder + copy.path;
}

/** As git does it without us: what cannot be merged is marked, except in an index, where both sides' lines stay. */
async function mergeByLines(call: MergeCall, { root, env }: Git, why: string): Promise<MergeEnd> {
  const union = call.kind === "index" ? ["--union"] : [];
  const labels = ["-L", "ours", "-L", "base", "-L", "theirs"];
  const files = [call.ours, call.base, call.theirs].map((file) => resolve(root, file));
  const { code } = await runGit({ root, env }, ["merge-file", "-q", ...union, ...labels, "--", ...files]);
  const message = `memdir: ${call.path} was merged line by line by git (${why})`;
  // More than 127 is a failure: both sides are still in git's index, and ours in the checkout.
  return { code: code === 0 ? 0 : 1, message };
}

function readSide({ root }: Git, file: string): string {
  const bytes = readRegular(resolve(root, file), { maxBytes: MAX_BYTES });
  if (bytes === null) throw new Error("a side is not a regular file, or is too large");
  if (!isUtf8(bytes)) throw new Error("a side is not UTF-8 text");
  return bytes.toString("utf8");
}

function readText(file: string): string | null {
  return readRegular(file)?.toString("utf8") ?? null;
}

function writeResult({ root }: Git, file: string, text: string): void {
  const target = resolve(root, file);
  const mode = lstatSync(target).mode & 0o777;
  moveInto(writeTemporary(dirname(target), text, mode, ".memdir"), target);
}

interface Item {
  line: string;
  /** Blank lines behind it. */
  blanks: number;
}

/**
 * Lines that either side removed go, lines that either side added come, behind the line that they followed. Of two
 * wordings of one line the longer one stays. What was written by hand keeps its order.
 */
export function mergeIndex(base: string, ours: string, theirs: string): string {
  const simple = pickChanged(base, ours, theirs);
  if (simple !== null) return simple;
  const [before, our, their] = ofEach([base, ours, theirs], itemsOf);
  const merged: Item[] = [];
  for (const key of joinKeys(their, our)) {
    const [b, o, t] = [before.get(key), our.get(key), their.get(key)];
    if (b && (!o || !t)) continue;
    const [one, two] = [o ?? t, t ?? o] as [Item, Item];
    merged.push({
      line: pickChanged(b?.line ?? "", one.line, two.line) ?? preferred(one.line, two.line),
      blanks: pickChanged(b?.blanks ?? -1, one.blanks, two.blanks) ?? Math.max(one.blanks, two.blanks),
    });
  }
  const eol = theirs.includes("\r\n") ? "\r\n" : "\n";
  return merged.map(({ line, blanks }, i) => (i === 0 && line === "" ? "" : line + eol) + eol.repeat(blanks)).join("");
}

type Items = ReadonlyMap<string, Item>;

/** The first item is what is above the first line: nothing, or blank lines. */
function itemsOf(text: string): Items {
  const top: Item = { line: "", blanks: 0 };
  const items = new Map<string, Item>([["", top]]);
  let last = top;
  for (const raw of splitLines(text)) {
    const line = raw.trimEnd();
    if (line.trim() === "") {
      last.blanks++;
      continue;
    }
    const file = parseIndexLine(line)?.file;
    const name = file === undefined ? `text ${line}` : `file ${file}`;
    let key = name;
    for (let number = 2; items.has(key); number++) key = `${name}\n${number}`;
    last = { line, blanks: 0 };
    items.set(key, last);
  }
  return items;
}

function preferred(a: string, b: string): string {
  if (a.length !== b.length) return a.length > b.length ? a : b;
  return a > b ? a : b;
}
