/** Memories that others put into the directory and that no line points to yet. */

import { statSync } from "node:fs";
import { join } from "node:path";
import type { Directory } from "./directory.ts";
import type { Base } from "./index-base.ts";
import { formatIndexLine } from "./index-line.ts";
import { moreOf, type Pages } from "./index-pages.ts";
import { linkedFiles, putLine } from "./index-text.ts";
import { readHeader } from "./read.ts";
import { walk } from "./walk.ts";

export interface Newcomers {
  files: string[];
  /** The folders that were looked into; "" is the directory itself. */
  folders: string[];
  /** Some files are too young to be taken in: look again next time. */
  waiting: boolean;
}

/** Others write the file first and its line a moment later; their new files are left to them for this long. */
const GRACE_MS = 60_000;

/** The directory is listed only when its time says that somebody else changed it, or when every memory is asked for. */
export function findNewcomers(
  directory: Directory,
  base: Base,
  index: string | null,
  readMore: () => string,
  everything: boolean,
): Newcomers {
  const all = everything || index === null;
  const listed = Object.keys(base.folders ?? {});
  if (!all && base.folders !== null && sameStamps(base.folders, stampFolders(directory, listed))) {
    return { files: [], folders: listed, waiting: false };
  }
  const now = directory.now().getTime();
  const linked = linkedFiles(index ?? "");
  const known = linkedFiles(base.text ?? "");
  let inMore: Set<string> | null = null;
  let waiting = false;
  const walked = walk(directory.path, directory.recursive);
  const files = walked.files.filter((file) => {
    const name = file.normalize("NFC");
    // A line of ours that is gone from the index is not a newcomer's: it is put back in its place.
    if (linked.has(name) || (!all && known.has(name))) return false;
    inMore ??= linkedFiles(readMore());
    if (inMore.has(name)) return false;
    const mtimeMs = statSync(join(directory.path, file), { throwIfNoEntry: false })?.mtimeMs ?? 0;
    const young = !all && now - mtimeMs < GRACE_MS;
    waiting ||= young;
    return !young;
  });
  return { files, folders: walked.folders, waiting };
}

export function stampFolders(directory: Directory, folders: readonly string[]): Record<string, number> {
  const mtime = (folder: string) => statSync(join(directory.path, folder), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return Object.fromEntries(folders.map((folder) => [folder, mtime(folder)]));
}

function sameStamps(a: Record<string, number>, b: Record<string, number>): boolean {
  return Object.keys(a).length > 0 && Object.entries(a).every(([folder, time]) => b[folder] === time);
}

/** More than this are simply appended, without looking for a section of their type. */
const FEW = 100;

export function addNewcomers(directory: Directory, pages: Pages, files: readonly string[]): Pages {
  if (files.length === 0) return pages;
  const linked = linkedFiles(pages.index);
  const inMore = linkedFiles(moreOf(pages));
  const missing = files.filter((file) => !linked.has(file.normalize("NFC")) && !inMore.has(file.normalize("NFC")));
  const headers = missing.map((file) => readHeader(directory, file));
  if (headers.length <= FEW) {
    return { ...pages, index: headers.reduce((text, header) => putLine(text, header, null), pages.index) };
  }
  const gap = pages.index === "" || pages.index.endsWith("\n") ? "" : "\n";
  const lines = headers.map((header) => `${formatIndexLine(header)}\n`);
  return { ...pages, index: `${pages.index}${gap}${lines.join("")}` };
}
