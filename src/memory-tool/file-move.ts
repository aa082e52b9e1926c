/** Deleting and renaming on the model's behalf, a folder with everything in it as one step of the journal. */

import { readdirSync, renameSync, rmdirSync, statSync, utimesSync } from "node:fs";
import { dirname, join } from "node:path";
import { MemdirError } from "../errors.ts";
import {
  type Directory,
  findLines,
  INDEX_FILE,
  isMemoryFile,
  type LineEdit,
  OVERFLOW_FILE,
  parseHeader,
  readBytes,
  withDirectory,
} from "../store/store.ts";
import { change, type Desk, makeFolder, refuseRule, refuseSecrets } from "./desk.ts";
import { findFreePlace, findPlace, missing, type Place, ROOT } from "./place.ts";

/** A file, or a folder with everything in it as one step. */
export async function deleteFiles({ directory }: Desk, given: unknown): Promise<Place> {
  const find = (here: Directory) => {
    const place = findPlace(here, given);
    if (place.file === "") throw new MemdirError("usage", `Cannot delete the ${ROOT} directory itself`);
    if (place.kind === null) throw missing(place.shown);
    refuseIndex(place, "deleted");
    return place;
  };
  find(directory);
  return withDirectory(directory, (directory) => {
    const place = find(directory);
    const { files, folders } = gather(directory, place);
    const memories = files.filter(isMemoryFile);
    for (const file of memories) refuseRule({ file, data: readBytes(directory, file) }, null, `${ROOT}/${file}`);
    const lines = Object.fromEntries(memories.map((file) => [file, findLines(directory, file)]));
    change(directory, files, {
      action: "forget",
      writes: new Map(files.map((file) => [file, null])),
      lines,
      index: { edits: memories.map((file): LineEdit => ({ kind: "drop", file })) },
    });
    removeFolders(directory, folders);
    return place;
  });
}

export async function moveFiles({ directory }: Desk, from: unknown, to: unknown): Promise<{ from: Place; to: Place }> {
  const find = (here: Directory) => {
    const places = { from: findPlace(here, from, "old_path"), to: findFreePlace(here, to, "new_path") };
    checkMove(places.from, places.to);
    return places;
  };
  await refuseSecrets(find(directory).to.shown, "", "the path");
  return withDirectory(directory, (directory) => {
    const places = find(directory);
    const { files, folders } = gather(directory, places.from);
    const target = (file: string) => places.to.file + file.slice(places.from.file.length);
    const moved = files.map((file) => ({ file, to: target(file), data: readBytes(directory, file) }));
    for (const { file, to, data } of moved) refuseRule({ file, data }, { file: to, data }, `${ROOT}/${file}`);
    makeFolder(directory, dirname(places.to.file));
    if (files.length === 0) {
      renameSync(places.from.path, places.to.path);
      return places;
    }
    for (const folder of folders) makeFolder(directory, target(folder));
    const times = files.map((file) => statSync(join(directory.path, file)));
    change(directory, files, {
      action: "rename",
      writes: new Map(
        moved.flatMap(({ file, to, data }): [string, Buffer | null][] => [
          [to, data],
          [file, null],
        ]),
      ),
      index: { edits: moved.flatMap(({ file, to, data }) => moveLine(file, to, data)) },
    });
    // A memory is as old as its words, not as its name.
    for (const [i, { to }] of moved.entries()) {
      const { atime, mtime } = times[i] as (typeof times)[0];
      utimesSync(join(directory.path, to), atime, mtime);
    }
    removeFolders(directory, folders);
    return places;
  });
}

function moveLine(file: string, to: string, data: Buffer): LineEdit[] {
  const next = parseHeader(to, data);
  if (!isMemoryFile(file)) return isMemoryFile(to) ? [{ kind: "put", header: next, previous: null }] : [];
  return isMemoryFile(to) ? [{ kind: "move", from: parseHeader(file, data), to: next }] : [{ kind: "drop", file }];
}

function checkMove(from: Place, to: Place): void {
  if (from.file === "") throw new MemdirError("usage", `Cannot rename the ${ROOT} directory itself`);
  if (from.kind === null) throw missing(from.shown);
  if (to.kind !== null) throw new MemdirError("conflict", `The destination ${to.shown} already exists`);
  if (to.file.startsWith(`${from.file}/`))
    throw new MemdirError("usage", `Cannot move ${from.shown} into itself: ${to.shown}`);
  refuseIndex(from, "renamed");
  if (to.file === INDEX_FILE || to.file === OVERFLOW_FILE)
    throw new MemdirError("usage", `${to.shown} is the index of the memories: no other file can take its place`);
}

function refuseIndex({ file, shown }: Place, done: string): void {
  if (file === INDEX_FILE || file === OVERFLOW_FILE)
    throw new MemdirError("usage", `${shown} is the index of the memories and cannot be ${done}: edit it instead`);
}

/** All files of a place. What cannot be brought back by undo is not taken away: links, devices, hidden files. */
function gather(directory: Directory, place: Place): { files: string[]; folders: string[] } {
  if (place.kind === "file") return { files: [place.file], folders: [] };
  const refuse = (item: string) =>
    new MemdirError(
      "usage",
      `${place.shown} holds ${ROOT}/${item}, which is hidden or no ordinary file and stays: name the other files one by one`,
    );
  if (place.kind === "other") throw new MemdirError("usage", `Unsupported file type for ${place.shown}`);
  const files: string[] = [];
  const folders = [place.file];
  for (const folder of folders) {
    for (const entry of readdirSync(join(directory.path, folder), { withFileTypes: true })) {
      const item = `${folder}/${entry.name}`;
      if (entry.name.startsWith(".")) throw refuse(item);
      if (entry.isDirectory()) folders.push(item);
      else if (entry.isFile()) files.push(item);
      else throw refuse(item);
    }
  }
  return { files: files.sort(), folders };
}

/** From the innermost on; one that somebody put a file into meanwhile stays. */
function removeFolders(directory: Directory, folders: readonly string[]): void {
  for (const folder of folders.toReversed()) {
    try {
      rmdirSync(join(directory.path, folder));
    } catch {
      return;
    }
  }
}
