/** The memory that a person means by a name: its file name, its stem or its name. */

import { isAbsolute, relative, sep } from "node:path";
import { findNameProblem, realPath, resolveInside } from "../disk/fence.ts";
import { MemdirError } from "../errors.ts";
import { checkGiven, type Header, oneLine, type Store, scan, scanInPieces, stemOf } from "../store/store.ts";

export interface Found {
  directory: Store;
  file: string;
}

/** A memory by its place: the number of its directory among those in use, and the file in it. */
export interface MemoryRef {
  /** Index in `directories`, from 0. */
  directory: number;
  /** Path below that directory, with `/` on every system. */
  file: string;
}

/** A memory by the name that a person uses for it, or by its exact place. */
export type Named = string | MemoryRef;

export async function findNamed(directories: readonly Store[], name: Named): Promise<Found> {
  return typeof name === "string" ? findMemory(directories, name) : findByRef(directories, name);
}

/** Whose file a path is. Only Markdown outside hidden folders is a memory. */
export function findByPath(directories: readonly Store[], path: string): Found {
  const real = realPath(path);
  // A team's mirror is inside the project's directory: the innermost one is meant.
  for (const directory of directories.toSorted((a, b) => b.path.length - a.path.length)) {
    const file = relative(realPath(directory.path), real).split(sep).join("/");
    if (directory.readOnly || file === "" || file.startsWith("../") || isAbsolute(file)) continue;
    resolveInside(directory.path, file);
    if (/\.md$/i.test(file) && !/(^|\/)\./.test(file)) return { directory, file };
    throw new MemdirError(
      "usage",
      `${file} is not a memory: a memory is a .md file, and folders that start with a dot are memdir's own`,
    );
  }
  throw new MemdirError("outside", `${path} is in none of the memory directories`);
}

/** Only what the listing shows can be meant: whatever else a path leads to is not found, or refused as such. */
export function findByRef(directories: readonly Store[], ref: MemoryRef): Found {
  const { directory: at, file } = ref ?? {};
  if (typeof at !== "number") checkGiven(ref, "name of a memory");
  checkGiven(file, "file of a memory");
  const directory = directories[at];
  if (!directory) throw new MemdirError("not-found", `there is no memory directory with the number ${at}`);
  if (scan(directory).memories.some(({ header }) => header.file === file)) return { directory, file };
  const problem = findNameProblem(file);
  const shown = JSON.stringify(file.slice(0, 80));
  if (problem) throw new MemdirError("outside", `the file ${shown} is refused: ${problem}`);
  throw new MemdirError("not-found", `${shown} is not a memory of ${directory.path}: was it renamed or forgotten?`);
}

/** Exactly one memory of the given directories, or an error that says what there is. Bodies are never read. */
export async function findMemory(directories: readonly Store[], name: string): Promise<Found> {
  const wanted = oneLine(name);
  if (wanted === "") throw new MemdirError("usage", "give the name of a memory; `memdir list` shows them");
  // A path that leads elsewhere is refused as such, not reported as missing.
  const problem =
    /[/\\\0%]|^\.\.?$/.test(wanted) || wanted.normalize("NFKC") !== wanted ? findNameProblem(wanted) : null;
  const all: { directory: Store; header: Header }[] = [];
  for (const directory of directories)
    for (const { header } of (await scanInPieces(directory)).memories) all.push({ directory, header });
  for (const rule of RULES) {
    const found = all.filter(({ header }) => rule(header, wanted));
    if (found.length === 1) return toFound(found[0] as (typeof found)[0]);
    if (found.length > 1) throw ambiguous(wanted, found);
  }
  if (problem)
    throw new MemdirError("outside", `the name ${JSON.stringify(wanted.slice(0, 80))} is refused: ${problem}`);
  throw missing(wanted, all);
}

/** From the most to the least exact; the first rule that matches anything decides. */
const RULES: readonly ((header: Header, wanted: string) => boolean)[] = [
  (header, wanted) => header.file.normalize("NFC") === wanted,
  (header, wanted) => header.file.replace(/\.md$/, "").normalize("NFC") === wanted || oneLine(header.name) === wanted,
  (header, wanted) => stemOf(header.file).normalize("NFC") === wanted,
  (header, wanted) => oneLine(header.name).toLowerCase() === wanted.toLowerCase(),
  (header, wanted) => stemOf(header.file).toLowerCase() === wanted.toLowerCase(),
];

function toFound({ directory, header }: { directory: Store; header: Header }): Found {
  return { directory, file: header.file };
}

function ambiguous(name: string, found: readonly { directory: Store; header: Header }[]): MemdirError {
  const list = found
    .slice(0, 6)
    .map(({ directory, header }) => `${header.file} (${directory.scope})`)
    .join(", ");
  return new MemdirError(
    "ambiguous",
    `"${name}" is the name of ${found.length} memories: ${list}; give the file name, or --scope`,
  );
}

function missing(name: string, all: readonly { header: Header }[]): MemdirError {
  const words = name
    .toLowerCase()
    .split(/[\s_.-]+/)
    .filter((w) => w.length > 2);
  const near = all
    .map(({ header }) => ({
      header,
      hits: words.filter((w) => `${header.name} ${header.file}`.toLowerCase().includes(w)).length,
    }))
    .filter(({ hits }) => hits > 0)
    .sort((a, b) => b.hits - a.hits)
    .slice(0, 3)
    .map(({ header }) => header.file);
  const some = [near.slice(0, -1).join(", "), near.at(-1)].filter(Boolean).join(" or ");
  const hint = near.length > 0 ? `did you mean ${some}?` : "`memdir list` shows what there is";
  return new MemdirError("not-found", `no memory is called "${name.slice(0, 80)}": ${hint}`);
}
