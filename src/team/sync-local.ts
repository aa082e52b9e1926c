/** A directory as sync sees it: the texts that may travel, and what is left alone and why. */

import { isUtf8 } from "node:buffer";
import { lstatSync } from "node:fs";
import { join } from "node:path";
import { readRegular, resolveInside } from "../disk/fence.ts";
import { type Directory, isMemoryFile, readJournal, walk } from "../store/store.ts";
import { sha256 } from "../text/hash.ts";
import { findEntryProblem } from "./entry-path.ts";
import { LIMITS } from "./protocol.ts";

export interface LocalTexts {
  files: Map<string, { hash: string; text: string }>;
  /** Why a path is left alone; "" where that is nobody's concern. */
  held: Map<string, string>;
}

/** `asked`: paths that the store or the last agreement know, which must not be taken for missing when they are merely odd. */
export function readLocal(
  directory: Directory,
  asked: Iterable<string>,
  mayTravel: (path: string, text: string) => string | null = () => null,
): LocalTexts {
  const local: LocalTexts = { files: new Map(), held: new Map() };
  for (const path of walk(directory.path, directory.recursive).files.filter(isMemoryFile)) {
    const read = readText(directory, path);
    if (read === null) continue;
    const problem = "problem" in read ? read.problem : mayTravel(path, read.text);
    if (problem !== null) local.held.set(path, problem);
    else if ("text" in read) local.files.set(path, { hash: sha256(read.text), text: read.text });
  }
  const isOwned = openOwnership(directory);
  for (const path of asked) {
    if (local.files.has(path) || local.held.has(path)) continue;
    if (!isOwned(path)) local.held.set(path, "");
    else if (placeOf(directory, path) !== "free")
      local.held.set(path, "something that is no ordinary file lies in its place");
  }
  return local;
}

type Read = { text: string } | { problem: string };

/** Null when it is gone by now. */
function readText(directory: Directory, path: string): Read | null {
  const problem = findEntryProblem(path);
  if (problem) return { problem };
  let bytes: Buffer | null;
  try {
    const file = resolveInside(directory.path, path);
    const stat = lstatSync(file, { throwIfNoEntry: false });
    if (!stat) return null;
    if (stat.size > LIMITS.memoryBytes) return { problem: `it is larger than ${LIMITS.memoryBytes} bytes` };
    bytes = readRegular(file, { maxBytes: LIMITS.memoryBytes });
  } catch {
    return { problem: "it cannot be read" };
  }
  if (!bytes) return null;
  return isUtf8(bytes) && !bytes.includes(0)
    ? { text: bytes.toString("utf8") }
    : { problem: "it is not valid UTF-8 text" };
}

/** "free" also when its folder is missing; "odd" for whatever cannot be read or followed. */
export function placeOf(directory: Directory, path: string): "free" | "file" | "odd" {
  try {
    const stat = lstatSync(resolveInside(directory.path, path), { throwIfNoEntry: false });
    return stat ? (stat.isFile() ? "file" : "odd") : "free";
  } catch {
    return "odd";
  }
}

/** Whether a path belongs to this directory: a folder with a state folder of its own is another one. */
function openOwnership(directory: Directory): (path: string) => boolean {
  const folders = new Map<string, boolean>([["", true]]);
  const owns = (folder: string): boolean => {
    const known = folders.get(folder);
    if (known !== undefined) return known;
    const above = folder.includes("/") ? folder.slice(0, folder.lastIndexOf("/")) : "";
    const state = join(directory.path, folder, ".memdir");
    const owned = directory.recursive && owns(above) && !lstatQuietly(state);
    folders.set(folder, owned);
    return owned;
  };
  return (path) => owns(path.includes("/") ? path.slice(0, path.lastIndexOf("/")) : "");
}

function lstatQuietly(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
}

const ON_PURPOSE: ReadonlySet<string> = new Set(["forget", "rename", "prune", "dream", "undo"]);

/** Which of these files the journal says were removed on purpose, with nothing later that brought them back. */
export function findIntended(directory: Directory, missing: ReadonlySet<string>): Set<string> {
  const intended = new Set<string>();
  if (missing.size === 0) return intended;
  for (const { action, files } of readJournal(directory)) {
    for (const { file, after } of files) {
      if (!missing.has(file)) continue;
      if (after === null && ON_PURPOSE.has(action)) intended.add(file);
      else intended.delete(file);
    }
  }
  return intended;
}
