/** The files of a project as they are now: one listing for all claims. */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { attempt } from "../errors.ts";
import { type Git, readGit } from "../project/git.ts";

export interface Tree {
  root: string;
  isGit: boolean;
  /** Tracked, or new and not ignored; with `/` on every system. */
  files: ReadonlySet<string>;
  folders: ReadonlySet<string>;
  /** By the last part of the path. */
  byName: ReadonlyMap<string, readonly string[]>;
  /** Path without its ending -> path. */
  byStem: ReadonlyMap<string, string>;
  submodules: readonly string[];
  /** Tracked, and removed without a commit. */
  missing: ReadonlySet<string>;
  /** What could not be checked, in words. */
  notes: string[];
}

/** Without git: more files than this are a disk, not a project. */
const MAX_WALKED = 50_000;
const MAX_DEPTH = 30;

export async function readTree(git: Git): Promise<Tree> {
  const listing = await readGit(git, ["ls-files", "-z", "-t", "-c", "-o", "-d", "--exclude-standard"]);
  if (listing !== null) {
    const { present, removed } = listedFiles(listing.toString("utf8"));
    return { ...treeOf(git.root, true, present, readSubmodules(git.root), []), missing: removed };
  }
  const files: string[] = [];
  const isWhole = walk(git.root, "", files, 0);
  const notes = ["this is not a git repository, or git is not installed, so moves and removals are unknown"];
  if (!isWhole) notes.push(`there are more than ${MAX_WALKED} files; the rest was not checked`);
  return treeOf(git.root, false, files, [], notes);
}

/** `R` marks tracked files that no longer exist; a file in conflict is listed several times. */
function listedFiles(listing: string): { present: string[]; removed: Set<string> } {
  const present = new Set<string>();
  const removed = new Set<string>();
  for (const entry of listing.split("\0")) {
    const file = entry.slice(2);
    if (file === "") continue;
    if (entry.startsWith("R ")) removed.add(file);
    else present.add(file);
  }
  for (const file of removed) present.delete(file);
  return { present: [...present], removed };
}

function treeOf(root: string, isGit: boolean, files: readonly string[], submodules: string[], notes: string[]): Tree {
  const folders = new Set<string>();
  const byName = new Map<string, string[]>();
  const byStem = new Map<string, string>();
  for (const listed of files) {
    const file = listed.replace(/\/$/, "");
    const slash = file.lastIndexOf("/");
    for (let at = slash; at > 0; at = file.lastIndexOf("/", at - 1)) {
      const folder = file.slice(0, at);
      if (folders.has(folder)) break;
      folders.add(folder);
    }
    const name = file.slice(slash + 1);
    addTo(byName, name, file);
    const dot = name.lastIndexOf(".");
    if (dot > 0) byStem.set(file.slice(0, slash + 1 + dot), file);
  }
  for (const each of submodules) folders.add(each);
  const missing = new Set<string>();
  return { root, isGit, files: new Set(files), folders, byName, byStem, submodules, missing, notes };
}

/** Folders, and files without their ending, by their last part. */
export const shortNamesOf = once((tree: Tree): ReadonlyMap<string, readonly string[]> => {
  const names = new Map<string, string[]>();
  for (const path of [...tree.folders, ...tree.byStem.keys()])
    addTo(names, path.slice(path.lastIndexOf("/") + 1), path);
  return names;
});

/** Made when it is first asked for. */
export function once<Of extends object, Made>(make: (of: Of) => Made): (of: Of) => Made {
  const known = new WeakMap<Of, Made>();
  return (of) => {
    const made = known.get(of) ?? make(of);
    known.set(of, made);
    return made;
  };
}

export function addTo<Key, Value>(map: Map<Key, Value[]>, key: Key, value: Value): void {
  const known = map.get(key);
  if (known) known.push(value);
  else map.set(key, [value]);
}

function readSubmodules(root: string): string[] {
  const text = attempt(() => readFileSync(join(root, ".gitmodules"), "utf8").slice(0, 1 << 20), "");
  return [...text.matchAll(/^\s*path\s*=\s*(.+?)\s*$/gm)].map(([, path = ""]) => path.replace(/\/$/, ""));
}

const NOT_WALKED = new Set([".git", "node_modules", ".memdir", ".venv", "venv", "target", "__pycache__", ".cache"]);

/** Links are not followed. False when it is cut short. */
function walk(root: string, below: string, files: string[], depth: number): boolean {
  if (depth > MAX_DEPTH) return true;
  for (const entry of attempt(() => readdirSync(join(root, below), { withFileTypes: true }), [])) {
    const path = below === "" ? entry.name : `${below}/${entry.name}`;
    if (files.length >= MAX_WALKED) return false;
    if (entry.isFile()) files.push(path);
    else if (entry.isDirectory() && !NOT_WALKED.has(entry.name) && !walk(root, path, files, depth + 1)) return false;
  }
  return true;
}
