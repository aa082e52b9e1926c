/** A path as the model gives it, `/memories/…`, and the file or folder of the memory directory that it names. */

import { lstatSync, type Stats } from "node:fs";
import { isAbsolute, join, relative, sep } from "node:path";
import { findInside, findNameProblem, realPath } from "../disk/fence.ts";
import { MemdirError } from "../errors.ts";
import { MAX_DEPTH, type Store } from "../store/store.ts";

/** The model's name for the memory directory. */
export const ROOT = "/memories";

/** The folders, beyond which memdir does not look for memories, and the file itself. */
const MAX_PARTS = MAX_DEPTH + 1;

export interface Item {
  /** As the model knows it, without `//`, `/./` and a slash at its end. */
  shown: string;
  /** Below the directory, with `/`, as the disk spells it; "" for the directory itself. */
  file: string;
  path: string;
  /** What exists at this path, or null. Hidden items count as missing. */
  kind: "file" | "folder" | "other" | null;
  /** Whether a part of it begins with a dot: the model cannot access such files. */
  hidden: boolean;
  bytes: number;
}

/** Throws for a path that leads or might lead out of the directory, in the words of the reference. */
export function findItem(directory: Store, given: unknown, field = "path"): Item {
  const parts = parsePath(given, field);
  if (parts.length === 0) return atRoot(directory);
  const shown = [ROOT, ...parts].join("/");
  const asked = parts.join("/");
  const nothing: Item = { shown, file: asked, path: join(directory.path, asked), kind: null, hidden: false, bytes: 0 };
  if (isHidden(asked)) return { ...nothing, hidden: true };
  if (isAlias(asked)) return nothing;
  // One name, two spellings: systems differ in how they write an accent.
  const spellings = [asked, asked.normalize("NFC"), asked.normalize("NFD")];
  const there = spellings.find((spelling) => statInside(directory, spelling));
  const file = spell(directory, there ?? asked);
  if (isHidden(file)) return { ...nothing, hidden: true };
  const stat = there === undefined ? null : statInside(directory, there);
  return { ...nothing, file, path: join(directory.path, file), kind: kindOf(stat), bytes: stat?.size ?? 0 };
}

/** The same for something new: nothing may exist there yet, and the name must be valid on every system. */
export function findFreeItem(directory: Store, given: unknown, field = "path"): Item {
  const item = findItem(directory, given, field);
  if (item.hidden) {
    throw new MemdirError("usage", `Cannot write ${cut(item.shown)}: names in ${ROOT} must not begin with a dot`);
  }
  if (item.kind !== null) return item;
  const parts = item.file.split("/");
  const unfit = parts.map(findUnfitness).find(Boolean) ?? (parts.length > MAX_PARTS ? "it is nested too deeply" : null);
  if (unfit) throw new MemdirError("usage", `Cannot write ${cut(item.shown)}: ${unfit}`);
  for (let depth = 1; depth < parts.length; depth++) {
    const stat = lstatSync(join(directory.path, ...parts.slice(0, depth)), { throwIfNoEntry: false });
    if (!stat) break;
    if (!stat.isDirectory())
      throw new MemdirError("usage", `The path ${ROOT}/${parts.slice(0, depth).join("/")} is not a directory.`);
  }
  return item;
}

export function missing(shown: string, advice = ""): MemdirError {
  return new MemdirError("not-found", `The path ${cut(shown)} does not exist${advice}`);
}

/** The parts below the root. `//`, `/./` and a last slash mean nothing and are left out. */
function parsePath(given: unknown, field: string): string[] {
  if (typeof given !== "string")
    throw new MemdirError("usage", `\`${field}\` must be a string such as ${ROOT}/notes.md`);
  const path = given.toWellFormed();
  if (path !== ROOT && !path.startsWith(`${ROOT}/`))
    throw new MemdirError("outside", `Path must start with ${ROOT}, got: ${cut(path)}`);
  const parts = path
    .slice(ROOT.length)
    .split("/")
    .filter((part) => part !== "" && part !== ".");
  const problem = parts.length === 0 ? null : findNameProblem(parts.join("/"));
  if (problem) throw new MemdirError("outside", `Path ${cut(path)} would escape ${ROOT} directory: ${problem}`);
  return parts;
}

/** A directory without memories counts as empty, not missing. */
function atRoot(directory: Store): Item {
  const stat = lstatSync(realPath(directory.path), { throwIfNoEntry: false });
  const kind = stat && !stat.isDirectory() ? "other" : "folder";
  return { shown: ROOT, file: "", path: directory.path, kind, hidden: false, bytes: 0 };
}

function isHidden(file: string): boolean {
  return /(^|\/)\./.test(file);
}

/** On Windows a short name such as `MEMDIR~1`, a stream, or a dot or space at the end is an alias of another file. */
function isAlias(file: string): boolean {
  return process.platform === "win32" && /~\d|:|[. ](\/|$)/.test(file);
}

/** Null when nothing is there; throws when it is a link, or one on the way leads out. */
function statInside(directory: Store, file: string): Stats | null {
  try {
    return findInside(directory.path, file).stat ?? null;
  } catch (error) {
    const code = ((error as Error).cause as NodeJS.ErrnoException | undefined)?.code ?? "";
    // A file is where a folder would be, or the name is longer than any can be.
    if (code === "ENOTDIR" || code === "ENAMETOOLONG") return null;
    if (!(error instanceof MemdirError)) throw error;
    throw new MemdirError("outside", `Path would escape ${ROOT} directory via symlink: ${cut(`${ROOT}/${file}`)}`);
  }
}

/** As the disk spells it: a folder on the way may be a link to another one in here, and capitals may not count. */
function spell(directory: Store, file: string): string {
  const real = relative(realPath(directory.path), realPath(join(directory.path, file)));
  if (isAbsolute(real) || real.split(sep)[0] === "..")
    throw new MemdirError("outside", `Path would escape ${ROOT} directory via symlink`);
  return real.split(sep).join("/");
}

function kindOf(stat: Stats | null): Item["kind"] {
  if (!stat) return null;
  if (stat.isFile()) return "file";
  return stat.isDirectory() ? "folder" : "other";
}

/** The longest name that every common file system accepts. */
const MAX_NAME_BYTES = 255;

/** Devices on Windows, whatever their extension. */
const RESERVED = /^(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])\s*(\.|$)/i;

/** What Windows makes of a long name, such as `MEMDIR~1` of `.memdir`. */
const SHORT = /^[^.~]{1,6}~\d/;

/** Why a file of this name could not be shared with every machine, or null. */
function findUnfitness(name: string): string | null {
  if (Buffer.byteLength(name) > MAX_NAME_BYTES) return `a name is longer than ${MAX_NAME_BYTES} bytes`;
  if (RESERVED.test(name)) return `"${name}" is the name of a device on Windows, choose another`;
  if (SHORT.test(name)) return `"${name}" may be the short name of another file on Windows, choose another`;
  if (/[. ]$/.test(name)) return "a name ends in a dot or a space";
  if (/[<>:"|?*\p{Cc}]/u.test(name)) return 'a name holds one of < > : " | ? * or a control character';
  if (/^memory(\.more)?\.md$/i.test(name) && !/^MEMORY(\.more)?\.md$/.test(name))
    return `"${name}" differs from ${name.length > 9 ? "MEMORY.more.md" : "MEMORY.md"} only in its capitals, choose another name`;
  return null;
}

/** Enough to recognise it. */
const MAX_SHOWN = 300;

function cut(text: string): string {
  const shown = text.replace(/\p{Cc}/gu, "\uFFFD");
  return shown.length > MAX_SHOWN ? `${shown.slice(0, MAX_SHOWN).toWellFormed()}…` : shown;
}
