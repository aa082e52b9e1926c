/** Writing an export: aside and renamed, and never over a file that is not an earlier export unless that is wanted. */

import { isUtf8 } from "node:buffer";
import { existsSync, lstatSync, mkdirSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { moveInto, SHARED_MODE, writeTemporary } from "../disk/atomic.ts";
import { isWithin, readRegular, realPath, resolveInside, statOrNull } from "../disk/fence.ts";
import { diskError, MemdirError } from "../errors.ts";
import { sha256 } from "../text/hash.ts";

/** One file; `own` recognises an earlier export by its text. */
export function writeFile(path: string, text: string, own: RegExp, force: boolean): void {
  const before = readThere(path);
  if (before === text) return;
  if (before !== null && !force && !own.test(before)) {
    const message = `${path} exists and is not an export of memdir: choose another --output, or --force`;
    throw new MemdirError("conflict", message);
  }
  replace(path, text);
}

/** A file of the user's in which only a part is ours: `edit` makes the new text of the old one. */
export function editFile(path: string, edit: (text: string) => string): void {
  const before = readThere(path) ?? "";
  const after = edit(before);
  if (after !== before) replace(path, after);
}

/** What the last export into a folder wrote: by it the next one knows what may be replaced. */
const RECEIPT = ".memdir-export.json";

/**
 * A folder with a file for each memory. Files that the last export wrote and that did not change since are replaced, and removed
 * when their memory is gone; every other file stays, and one in the way is a conflict before anything is written.
 */
export function writeFolder(dir: string, files: ReadonlyMap<string, string>, force: boolean): { removed: string[] } {
  if (statOrNull(dir)?.isFile()) throw new MemdirError("conflict", `${dir} is a file: give a folder with --output`);
  const receipt = readReceipt(join(dir, RECEIPT));
  const isOurs = (file: string, text: string) => receipt.get(file) === sha256(text);
  const foreign = [...files].flatMap(([file, text]) => {
    const there = readThere(resolveInside(dir, file));
    return there === null || there === text || force || isOurs(file, there) ? [] : [file];
  });
  if (foreign.length > 0) {
    const some = foreign.slice(0, 3).join(", ") + (foreign.length > 3 ? ` and ${foreign.length - 3} more` : "");
    const message = `in ${dir} other files are in the way (${some}): nothing was written; --force replaces them`;
    throw new MemdirError("conflict", message);
  }
  for (const [file, text] of files) {
    const path = resolveInside(dir, file);
    if (readThere(path) !== text) replace(path, text);
  }
  const removed = [...receipt.keys()].filter((file) => !files.has(file) && removeOwn(dir, file, isOurs));
  const hashes = Object.fromEntries([...files].map(([file, text]) => [file, sha256(text)]));
  replace(join(dir, RECEIPT), `${JSON.stringify({ memdir: 1, files: hashes }, null, 2)}\n`);
  return { removed };
}

function removeOwn(dir: string, file: string, isOurs: (file: string, text: string) => boolean): boolean {
  try {
    const path = resolveInside(dir, file);
    const there = readThere(path);
    if (there === null || !isOurs(file, there)) return false;
    rmSync(path);
    return true;
  } catch {
    return false; // a link or something else took its place: it is not ours any more
  }
}

function readReceipt(path: string): Map<string, string> {
  try {
    const value = JSON.parse(readThere(path) ?? "{}") as { files?: Record<string, unknown> };
    return new Map(
      Object.entries(value.files ?? {}).flatMap(([file, hash]) => (typeof hash === "string" ? [[file, hash]] : [])),
    );
  } catch {
    return new Map();
  }
}

/** Null when there is nothing. Throws for a directory or a pipe in the file's place. */
function readThere(path: string): string | null {
  try {
    const data = readRegular(path, { follow: true });
    if (data && isUtf8(data)) return data.toString("utf8");
    if (data)
      throw new MemdirError("conflict", `${path} is not valid UTF-8 and would not survive it: nothing was written`);
  } catch (error) {
    throw diskError(error, "read", path);
  }
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return null;
  throw new MemdirError("conflict", `${path} is not a regular file: choose another --output`);
}

/** A link stays, and the file beside it that it leads to is written, as with an AGENTS.md that is a link to CLAUDE.md. */
function replace(path: string, text: string): void {
  const target = realPath(path);
  if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() && !isWithin(realPath(dirname(path)), target))
    throw new MemdirError(
      "outside",
      `${path} is a link to ${target}, outside its folder: give that file with --output`,
    );
  try {
    if (!existsSync(dirname(target))) mkdirSync(dirname(target), { recursive: true });
    const mode = statOrNull(target)?.mode ?? SHARED_MODE;
    moveInto(writeTemporary(dirname(target), text, mode & 0o777, `.${basename(target)}`), target);
  } catch (error) {
    throw diskError(error, "write", path);
  }
}
