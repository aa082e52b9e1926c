/** A branch as a list of memories: the tree of its last commit with what history says about each path. */

import { isUtf8 } from "node:buffer";
import { sha256 } from "../text/hash.ts";
import { findEntryProblem } from "./entry-path.ts";
import { type History, keepHistory, readHistory, type Touch } from "./git-history.ts";
import { damage, type Repository } from "./git-repository.ts";
import { LIMITS } from "./protocol.ts";
import type { RemoteEntry } from "./remote.ts";

export interface BranchEntry extends RemoteEntry {
  /** "" for a tombstone. */
  blob: string;
}

export interface Branch {
  /** Null while the remote has no such branch. */
  tip: string | null;
  /** Memories and tombstones by path. */
  entries: ReadonlyMap<string, BranchEntry>;
  /** Paths of everything else in the tree: left alone, and in the way of a memory of that name. */
  others: ReadonlySet<string>;
  /** Every folder of the tree: no file can have that name. */
  folders: ReadonlySet<string>;
}

export const NO_BRANCH: Branch = { tip: null, entries: new Map(), others: new Set(), folders: new Set() };

export async function readBranch(repository: Repository, tip: string): Promise<Branch> {
  const files = await readTree(repository, tip);
  const history = await readHistory(repository, tip);
  const hashes = await hashTexts(repository, files, history);
  const entries = new Map<string, BranchEntry>();
  const others = new Set<string>();
  const folders = new Set<string>();
  for (const file of files) {
    for (const folder of foldersOf(file.path)) folders.add(folder);
    const hash = file.isMemory ? hashes.get(file.blob) : "";
    if (!hash) others.add(file.path);
    else entries.set(file.path, liveEntry(file, hash, history.touches.get(file.path)));
  }
  for (const [path, touch] of history.touches)
    if (touch.blob === "" && !entries.has(path) && !others.has(path) && findEntryProblem(path) === null)
      entries.set(path, tombstone(path, touch));
  const isKept = history.isKept && hashes.size === history.hashes.size;
  keepHistory(repository, { ...history, hashes, isKept });
  return { tip, entries, others, folders };
}

/** A text that comes back is a new version: the commit tells them apart. */
export function revisionOf(touch: Pick<Touch, "blob" | "commit">): string {
  return `${touch.blob === "" ? "removed" : touch.blob.slice(0, 20)}-${touch.commit.slice(0, 20)}`;
}

/** `a`, `a/b` for `a/b/c.md`. */
export function foldersOf(path: string): string[] {
  const parts = path.split("/").slice(0, -1);
  return parts.map((_, at) => parts.slice(0, at + 1).join("/"));
}

/** Texts by blob; what is missing or no text is left out. */
export async function readTexts(repository: Repository, blobs: Iterable<string>): Promise<Map<string, string>> {
  const texts = new Map<string, string>();
  await readBlobs(repository, [...new Set(blobs)], (blob, bytes) => {
    if (isUtf8(bytes)) texts.set(blob, bytes.toString("utf8"));
  });
  return texts;
}

function liveEntry({ path, blob }: TreeFile, hash: string, touch: Touch | undefined): BranchEntry {
  // History that is cut off does not know the path, or knows it as it was.
  const known = touch?.blob === blob ? touch : { commit: "", author: "", at: "" };
  const { commit, author, at } = known;
  return { path, hash, revision: revisionOf({ blob, commit }), deleted: false, author, at, blob };
}

function tombstone(path: string, touch: Touch): BranchEntry {
  const { author, at } = touch;
  return { path, hash: "", revision: revisionOf(touch), deleted: true, author, at, blob: "" };
}

interface TreeFile {
  path: string;
  blob: string;
  isMemory: boolean;
}

/** Everything in the tree; links, submodules and what is too large are no memories. */
async function readTree(repository: Repository, tip: string): Promise<TreeFile[]> {
  const output = await repository.local(["ls-tree", "-r", "-z", "--full-tree", "--long", tip]);
  const files: TreeFile[] = [];
  const tooLarge: string[] = [];
  for (let from = 0; from < output.length; ) {
    const end = output.indexOf(0, from);
    if (end < 0) break;
    const line = output.subarray(from, end);
    from = end + 1;
    const row = /^(\d+) (\w+) ([0-9a-f]+) +(\d+|-)\t(.*)$/s.exec(line.toString("utf8"));
    if (!row) throw damage("ls-tree says something else");
    const [, mode = "", , blob = "", size = "", path = ""] = row;
    const isNamed = mode.startsWith("100") && isUtf8(line) && findEntryProblem(path) === null;
    const fits = Number(size) <= LIMITS.memoryBytes;
    if (isNamed && !fits) tooLarge.push(path);
    files.push({ path, blob, isMemory: isNamed && fits });
  }
  if (tooLarge.length > 0)
    repository.log(
      `${tooLarge.length} on ${repository.address.name} over ${LIMITS.memoryBytes} bytes left alone: ${tooLarge.slice(0, 5).join(", ")}`,
    );
  return files;
}

/** Hashes of the memories in the tree: those that are known, and the rest from their texts. */
async function hashTexts(
  repository: Repository,
  files: readonly TreeFile[],
  history: History,
): Promise<Map<string, string>> {
  const hashes = new Map<string, string>();
  const unknown = new Set<string>();
  for (const { blob, isMemory } of files) {
    if (!isMemory) continue;
    const hash = history.hashes.get(blob);
    if (hash === undefined) unknown.add(blob);
    else hashes.set(blob, hash);
  }
  await readBlobs(repository, [...unknown], (blob, bytes) => void hashes.set(blob, isUtf8(bytes) ? sha256(bytes) : ""));
  if (hashes.size < new Set(files.filter((file) => file.isMemory).map((file) => file.blob)).size)
    throw damage("texts are missing");
  return hashes;
}

/** 500 texts of the largest size are 125 MB, below what one call may answer. */
const BATCH = 500;

async function readBlobs(
  repository: Repository,
  blobs: readonly string[],
  take: (blob: string, bytes: Buffer) => void,
): Promise<void> {
  for (let from = 0; from < blobs.length; from += BATCH) {
    const wanted = blobs.slice(from, from + BATCH);
    const output = await repository.local(["cat-file", "--batch"], { input: `${wanted.join("\n")}\n` });
    let at = 0;
    for (const blob of wanted) {
      const end = output.indexOf(10, at);
      if (end < 0) throw damage("cat-file ended early");
      const size = /^[0-9a-f]+ blob (\d+)$/.exec(output.toString("latin1", at, end))?.[1];
      at = end + 1;
      if (size === undefined) continue;
      take(blob, output.subarray(at, at + Number(size)));
      at += Number(size) + 1;
    }
  }
}
