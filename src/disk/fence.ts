/** Keeps paths inside the directory they were given for: names are checked as text, then on the disk. */

import { lstatSync, readlinkSync, realpathSync, type Stats } from "node:fs";
import { dirname, isAbsolute, resolve } from "node:path";
import { MemdirError } from "../errors.ts";
import { isWithin, realPath } from "./real-path.ts";

/**
 * The absolute path of `relative` below `root`. Throws `outside` for anything that leads or might lead elsewhere:
 * `..`, absolute and drive paths, backslashes, NUL, percent-encoded or full-width spellings of them, links that leave.
 */
export function resolveInside(root: string, relative: string): string {
  const reason = findNameProblem(relative);
  if (reason) throw outside(relative, reason);
  const path = resolve(root, relative);
  if (!isWithin(root, path)) throw outside(relative, "it leads out of the directory");
  checkLinks(root, path, relative);
  return path;
}

/** Why a relative path cannot be trusted by its text alone, or null. */
export function findNameProblem(name: string): string | null {
  if (name === "") return "it is empty";
  if (name.includes("\0")) return "it holds a NUL character";
  if (name.includes("\\")) return "it holds a backslash";
  if (isAbsolute(name) || /^[A-Za-z]:/.test(name)) return "it is an absolute path";
  if (hidesPath(name)) return "it hides a path in percent-encoding or look-alike characters";
  if (name.split("/").some((part) => part === ".." || part === "." || part === "")) return "it holds `..`, `.` or `//`";
  return null;
}

/** Whether the name has other parts, or `..` among them, once it is decoded as often as that changes anything. */
function hidesPath(name: string): boolean {
  let revealed = name;
  for (let next = decode(name); next !== revealed; next = decode(next)) revealed = next;
  if (revealed === name) return false;
  const parts = revealed.split(/[/\\\0]/);
  return parts.length !== name.split("/").length || parts.some((part) => part === ".." || part === ".");
}

/** The deepest existing ancestor, links resolved, must lie below the root, links resolved; the leaf must not be a link. */
function checkLinks(root: string, path: string, shown: string): void {
  const realRoot = realPath(root);
  const leaf = look(path, shown);
  if (leaf?.isSymbolicLink()) throw outside(shown, `it is a symbolic link to ${readlinkSync(path)}`);
  let ancestor = leaf ? path : dirname(path);
  while (ancestor !== dirname(ancestor)) {
    if (look(ancestor, shown)) break;
    ancestor = dirname(ancestor);
  }
  let real: string;
  try {
    real = realpathSync(ancestor);
  } catch (cause) {
    throw outside(shown, "a link on the way to it cannot be followed", cause);
  }
  // When the root itself does not exist yet, the ancestor lies above it and nothing can be a link below it.
  if (!isWithin(realRoot, real) && !isWithin(real, realRoot)) throw outside(shown, "a link leads out of the directory");
  if (isWithin(root, ancestor) && !isWithin(realRoot, real)) throw outside(shown, "a link leads out of the directory");
}

/** Undefined when nothing is there. A circle of links or a file in the place of a folder is no way in. */
function look(path: string, shown: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (cause) {
    throw outside(shown, `it cannot be followed (${(cause as NodeJS.ErrnoException).code})`, cause);
  }
}

/** One layer of percent-encoding and of look-alike characters taken off. */
function decode(text: string): string {
  const folded = text.normalize("NFKC");
  try {
    return decodeURIComponent(folded);
  } catch {
    return folded.replace(/%([0-7][0-9a-fA-F])/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  }
}

function outside(name: string, reason: string, cause?: unknown): MemdirError {
  const shown = JSON.stringify(name.length > 80 ? `${name.slice(0, 80)}…` : name);
  return new MemdirError("outside", `the path ${shown} is refused: ${reason}; give a plain file name`, { cause });
}
