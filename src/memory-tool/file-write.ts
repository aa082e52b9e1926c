/** Writing one file on the model's behalf: checked for size and secrets, kept word for word, one journal entry. */

import { isUtf8 } from "node:buffer";
import { dirname } from "node:path";
import { MemdirError } from "../errors.ts";
import { type Directory, INDEX_FILE, isMemoryFile, OVERFLOW_FILE, parseHeader, withDirectory } from "../store/store.ts";
import { editFields } from "../text/frontmatter.ts";
import { changeIndex } from "../verbs/edit.ts";
import { writeMemory } from "../verbs/save.ts";
import { change, type Desk, makeFolder, refuseRule, refuseSecrets } from "./context.ts";
import { findFreePlace, findPlace, missing, type Place, ROOT } from "./place.ts";
import { formatSize, readPlace } from "./view.ts";

export async function createFile(desk: Desk, given: unknown, text: string): Promise<Place> {
  const check = (directory: Directory): Place => {
    const place = findFreePlace(directory, given);
    if (place.kind !== null) throw new MemdirError("conflict", `File ${place.shown} already exists`);
    refuseOwnPage(place);
    return place;
  };
  // Asked before there is a lock, which would make the directory for nothing.
  const asked = check(desk.directory);
  refuseSecrets(asked.shown, "", "the path");
  checkText(desk, asked, text, "");
  if (asked.file === INDEX_FILE) {
    await desk.memdir.put(asked.path, text, null);
    return asked;
  }
  await withDirectory(desk.directory, (directory) => writeText(directory, check(directory).file, text, null));
  return asked;
}

/** What `edit` makes of the text that is there now: nobody else writes between reading and writing. */
export async function editFile<T extends { text: string }>(
  desk: Desk,
  given: unknown,
  edit: (text: string, place: Place) => T,
): Promise<T> {
  findEditable(desk.directory, given);
  return withDirectory(desk.directory, (directory) => {
    const place = findEditable(directory, given);
    const before = readText(place);
    const edited = edit(before, place);
    checkText(desk, place, edited.text, before);
    if (place.file === INDEX_FILE) {
      changeIndex(directory, (index) => edit(index, place).text);
      return edited;
    }
    const text = stamp(directory, place.file, before, edited.text);
    writeText(directory, place.file, text, before);
    return { ...edited, text };
  });
}

function findEditable(directory: Directory, given: unknown): Place {
  const place = findPlace(directory, given);
  if (place.kind === null) throw missing(place.shown, ". Please provide a valid path.");
  if (place.kind === "folder") throw new MemdirError("usage", `The path ${place.shown} is not a file.`);
  refuseOwnPage(place);
  return place;
}

function readText(place: Place): string {
  const data = readPlace(place);
  if (isUtf8(data)) return data.toString("utf8");
  throw new MemdirError("broken", `File ${place.shown} is not edited: it is no UTF-8 text, and would not survive it`);
}

/** The words exactly as they came; a memory also gets its line in the index. The lock must be held. */
function writeText(directory: Directory, file: string, text: string, before: string | null): void {
  const action = before === null ? "save" : "edit";
  makeFolder(directory, dirname(file));
  if (isMemoryFile(file)) writeMemory(directory, file, text, { action, reason: "", anyForm: true });
  else if (text !== before) change(directory, { action, writes: new Map([[file, Buffer.from(text)]]) });
}

/** A date of change that memdir keeps in the file moves with the words, unless the model set it; none is added. */
function stamp(directory: Directory, file: string, before: string, text: string): string {
  const [old, now] = [parseHeader(file, before), parseHeader(file, text)];
  if (!isMemoryFile(file) || text === before || now.broken || now.modified === null || now.modified !== old.modified)
    return text;
  return editFields(text, { modified: directory.now().toISOString() });
}

function checkText(desk: Desk, place: Place, text: string, before: string): void {
  const bytes = Buffer.byteLength(text);
  if (bytes > desk.maxFileBytes && bytes > Buffer.byteLength(before)) {
    const limit = formatSize(desk.maxFileBytes);
    throw new MemdirError(
      "usage",
      `File ${place.shown} would hold ${formatSize(bytes)}, the limit is ${limit}: split it`,
    );
  }
  const { file, shown } = place;
  refuseRule({ file, data: before }, { file, data: text }, shown);
  refuseSecrets(text, before, shown);
}

/** The overflow page is written anew with every change of the index: words of others would not last. */
function refuseOwnPage({ file, shown }: Place): void {
  if (file === OVERFLOW_FILE)
    throw new MemdirError("usage", `${shown} is kept by memdir: edit ${ROOT}/${INDEX_FILE} or the memories themselves`);
}
