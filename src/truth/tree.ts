/** The files of a project as they are now: one listing for all claims. */

import { readdirSync } from "node:fs";
import { join } from "node:path";
import { readRegularText } from "../disk/fence.ts";
import { attempt } from "../errors.ts";
import { type Git, readGit } from "../project/git.ts";

export type Tree = Awaited<ReturnType<typeof readTree>>;

/** Without git: more files than this are a disk, not a project. */
const MAX_WALKED = 50_000;
const MAX_DEPTH = 30;

export async function readTree(git: Git) {
  const { root } = git;
  const listing = await readGit(git, ["ls-files", "-z", "-t", "-c", "-o", "-d", "--exclude-standard"]);
  if (listing !== null) {
    // `R` marks tracked files that no longer exist; a file in conflict is listed several times.
    const entries = listing.toString("utf8").split("\0");
    const missing = new Set(entries.flatMap((entry) => (entry.startsWith("R ") ? [entry.slice(2)] : [])));
    const files = entries.map((entry) => entry.slice(2)).filter((file) => file !== "" && !missing.has(file));
    return { ...indexFiles(new Set(files), readSubmodules(root)), root, isGit: true, missing, notes: [] };
  }
  const files: string[] = [];
  const isWhole = walk(root, "", files, 0);
  const notes = ["this is not a git repository, or git is not installed, so moves and removals are unknown"];
  if (!isWhole) notes.push(`there are more than ${MAX_WALKED} files; the rest was not checked`);
  return { ...indexFiles(new Set(files), []), root, isGit: false, missing: NONE, notes };
}

/** What is tracked, and removed without a commit. */
const NONE: ReadonlySet<string> = new Set();

/** The files are tracked, or new and not ignored; with `/` on every system. */
function indexFiles(files: ReadonlySet<string>, submodules: readonly string[]) {
  const folders = new Set<string>();
  /** By the last part of the path. */
  const byName = new Map<string, string[]>();
  /** Path without its ending -> path. */
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
  return { files, folders, byName, byStem, submodules };
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
  const text = attempt(() => readRegularText(join(root, ".gitmodules"), 1 << 20), null) ?? "";
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
