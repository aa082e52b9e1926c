/**
 * Writes, deletes and renames files for the model: checked for size, secrets and rules, stored verbatim, one journal
 * entry each.
 */

import { isUtf8 } from "node:buffer";
import { readdirSync, renameSync, rmdirSync, statSync, utimesSync } from "node:fs";
import { dirname, join } from "node:path";
import { makeFolders } from "../disk/fence.ts";
import { MemdirError } from "../errors.ts";
import { changeIndex } from "../memory/edit.ts";
import { writeMemory } from "../memory/save.ts";
import {
  type Change,
  INDEX_FILE,
  isMemoryFile,
  OVERFLOW_FILE,
  parseHeader,
  readBytes,
  type Store,
  type Writer,
} from "../store/store.ts";
import { editFields } from "../text/frontmatter.ts";
import { findSecrets } from "../text/secrets.ts";
import { findFreeItem, findItem, type Item, missing, ROOT } from "./item.ts";
import { formatSize, readItem } from "./view.ts";

/** `maxBytes`: the largest file that the model may write. */
export async function createFile(directory: Store, given: unknown, text: string, maxBytes: number): Promise<Item> {
  const find = (here: Store): Item => {
    const item = findFreeItem(here, given);
    if (item.kind !== null) throw new MemdirError("conflict", `File ${item.shown} already exists`);
    refuseOverflow(item);
    refuseSecrets(item.shown, "", "the path");
    checkText(item, text, "", maxBytes);
    return item;
  };
  return changeFound(directory, find, async (directory, item) => {
    if (item.file === INDEX_FILE) await changeIndex(directory, () => text);
    else await writeText(directory, item.file, text, null);
    return item;
  });
}

/** Looked for before the lock is taken, which would create the directory for nothing, and again under it. */
function changeFound<T, R>(
  directory: Store,
  find: (here: Store) => T,
  work: (here: Writer, found: T) => Promise<R>,
): Promise<R> {
  find(directory);
  return directory.change((here) => work(here, find(here)));
}

/** Applies `edit` to the current text; no other writer can come between reading and writing. */
export async function editFile<T extends { text: string }>(
  directory: Store,
  given: unknown,
  maxBytes: number,
  edit: (text: string, item: Item) => T,
): Promise<T> {
  const find = (here: Store) => findEditable(here, given);
  return changeFound(directory, find, async (directory, item) => {
    const before = readText(item);
    const edited = edit(before, item);
    checkText(item, edited.text, before, maxBytes);
    if (item.file === INDEX_FILE) {
      await changeIndex(directory, (index) => edit(index, item).text);
      return edited;
    }
    const text = stamp(directory, item.file, before, edited.text);
    await writeText(directory, item.file, text, before);
    return { ...edited, text };
  });
}

export function findEditable(directory: Store, given: unknown): Item {
  const item = findItem(directory, given);
  if (item.kind === null) throw missing(item.shown, ". Please provide a valid path.");
  if (item.kind === "folder") throw new MemdirError("usage", `The path ${item.shown} is not a file.`);
  refuseOverflow(item);
  return item;
}

export function readText(item: Item): string {
  const data = readItem(item);
  if (isUtf8(data)) return data.toString("utf8");
  throw new MemdirError(
    "broken",
    `File ${item.shown} was not edited: it is not UTF-8 text, and an edit would damage it`,
  );
}

/** The text is stored verbatim; a memory also gets its line in the index. */
async function writeText(directory: Writer, file: string, text: string, before: string | null): Promise<void> {
  const action = before === null ? "save" : "edit";
  makeFolder(directory, dirname(file));
  if (isMemoryFile(file)) await writeMemory(directory, file, text, { ...BY_MODEL, action, anyForm: true });
  else if (text !== before) await change(directory, { action, writes: new Map([[file, Buffer.from(text)]]) });
}

/** Updates the `modified` date if the file has one and the model did not set it; none is added. */
function stamp(directory: Store, file: string, before: string, text: string): string {
  const [old, now] = [parseHeader(file, before), parseHeader(file, text)];
  if (!isMemoryFile(file) || text === before || now.broken || now.modified === null || now.modified !== old.modified)
    return text;
  return editFields(text, { modified: directory.now().toISOString() });
}

function checkText({ shown }: Item, text: string, before: string, maxBytes: number): void {
  const bytes = Buffer.byteLength(text);
  if (bytes > maxBytes && bytes > Buffer.byteLength(before)) {
    const limit = formatSize(maxBytes);
    throw new MemdirError("usage", `File ${shown} would be ${formatSize(bytes)}, but the limit is ${limit}: split it`);
  }
  refuseSecrets(text, before, shown);
}

/** The overflow page is rewritten with every change of the index, so other text in it would be lost. */
function refuseOverflow({ file, shown }: Item): void {
  if (file === OVERFLOW_FILE)
    throw new MemdirError(
      "usage",
      `${shown} is maintained by memdir: edit ${ROOT}/${INDEX_FILE} or the memories themselves`,
    );
}

/** Deletes a file, or a folder with everything in it in one step. */
export async function deleteFiles(directory: Store, given: unknown): Promise<Item> {
  const find = (here: Store) => {
    const item = findItem(here, given);
    if (item.file === "") throw new MemdirError("usage", `Cannot delete the ${ROOT} directory itself`);
    if (item.kind === null) throw missing(item.shown);
    refuseIndex(item, "deleted");
    return item;
  };
  return changeFound(directory, find, async (directory, item) => {
    const { files, folders } = gather(directory, item);
    await change(directory, { action: "forget", writes: new Map(files.map((file) => [file, null])) });
    removeFolders(directory, folders);
    return item;
  });
}

export async function moveFiles(directory: Store, from: unknown, to: unknown): Promise<{ from: Item; to: Item }> {
  const find = (here: Store) => {
    const items = { from: findItem(here, from, "old_path"), to: findFreeItem(here, to, "new_path") };
    checkMove(items.from, items.to);
    refuseSecrets(items.to.shown, "", "the path");
    return items;
  };
  return changeFound(directory, find, async (directory, items) => {
    const { files, folders } = gather(directory, items.from);
    const target = (file: string) => items.to.file + file.slice(items.from.file.length);
    const moved = files.map((file) => ({ file, to: target(file), data: readBytes(directory, file) }));
    makeFolder(directory, dirname(items.to.file));
    if (files.length === 0) {
      renameSync(items.from.path, items.to.path);
      return items;
    }
    for (const folder of folders) makeFolder(directory, target(folder));
    const times = files.map((file) => statSync(join(directory.path, file)));
    await change(directory, {
      action: "rename",
      writes: new Map(
        moved.flatMap(({ file, to, data }): [string, Buffer | null][] => [
          [to, data],
          [file, null],
        ]),
      ),
      renames: new Map(moved.map(({ file, to }) => [file, to])),
    });
    // The age of a memory is that of its text, not of its name.
    for (const [i, { to }] of moved.entries()) {
      const { atime, mtime } = times[i] as (typeof times)[0];
      utimesSync(join(directory.path, to), atime, mtime);
    }
    removeFolders(directory, folders);
    return items;
  });
}

function checkMove(from: Item, to: Item): void {
  if (from.file === "") throw new MemdirError("usage", `Cannot rename the ${ROOT} directory itself`);
  if (from.kind === null) throw missing(from.shown);
  if (to.kind !== null) throw new MemdirError("conflict", `The destination ${to.shown} already exists`);
  if (to.file.startsWith(`${from.file}/`))
    throw new MemdirError("usage", `Cannot move ${from.shown} into itself: ${to.shown}`);
  refuseIndex(from, "renamed");
  if (to.file === INDEX_FILE || to.file === OVERFLOW_FILE)
    throw new MemdirError("usage", `${to.shown} is the index of the memories and cannot be replaced with another file`);
}

function refuseIndex({ file, shown }: Item, done: string): void {
  if (file === INDEX_FILE || file === OVERFLOW_FILE)
    throw new MemdirError("usage", `${shown} is the index of the memories and cannot be ${done}; edit it instead`);
}

/** All files of an item. What undo cannot restore is not removed: links, devices, hidden files. */
function gather(directory: Store, item: Item): { files: string[]; folders: string[] } {
  if (item.kind === "file") return { files: [item.file], folders: [] };
  const refuse = (inner: string) =>
    new MemdirError(
      "usage",
      `${item.shown} was not changed: it contains ${ROOT}/${inner}, which is hidden or not a regular file; name the other files one by one`,
    );
  if (item.kind === "other") throw new MemdirError("usage", `Unsupported file type for ${item.shown}`);
  const files: string[] = [];
  const folders = [item.file];
  for (const folder of folders) {
    for (const entry of readdirSync(join(directory.path, folder), { withFileTypes: true })) {
      const inner = `${folder}/${entry.name}`;
      if (entry.name.startsWith(".")) throw refuse(inner);
      if (entry.isDirectory()) folders.push(inner);
      else if (entry.isFile()) files.push(inner);
      else throw refuse(inner);
    }
  }
  return { files: files.sort(), folders };
}

/** Starts with the innermost; a folder that has a file by now stays. */
function removeFolders(directory: Store, folders: readonly string[]): void {
  for (const folder of folders.toReversed()) {
    try {
      rmdirSync(join(directory.path, folder));
    } catch {
      return;
    }
  }
}

/** What the user has said stays, such as a rule that is enforced. */
const BY_MODEL = { reason: "", trust: "inferred" } as const;

async function change(directory: Writer, what: Omit<Change, "reason">): Promise<void> {
  if (what.writes.size > 0) await directory.apply({ ...what, ...BY_MODEL });
}

/** Folders that the model asks for are as private as the memory directory itself. */
function makeFolder(directory: Store, folder: string): void {
  makeFolders(join(directory.path, folder), directory.inRepository ? 0o755 : 0o700);
}

/** Values that were in `before` do not count, so that a file with a secret can still be fixed. */
function refuseSecrets(text: string, before: string, where: string): void {
  const findings = findSecrets(text).filter(({ start, end }) => !before.includes(text.slice(start, end)));
  if (findings.length === 0) return;
  const found = findings.slice(0, 5).map(({ rule, line }) => `${rule} on line ${line}`);
  throw new MemdirError(
    "secret",
    `Nothing was written: ${where} contains what looks like a secret (${found.join(", ")}). Leave its value out and note where it is stored instead`,
    { details: found },
  );
}

export interface TextEdit {
  text: string;
  /** The lines that are new or were touched, from 1. */
  first: number;
  last: number;
}

/** Replaces the only occurrence of `oldText`. `shown` is the file's name in messages. */
export function replaceText(text: string, oldText: string, newText: string, shown: string): TextEdit {
  if (oldText === "") throw new MemdirError("usage", "No replacement was performed, old_str is empty.");
  const isWithCrlf = isCrlf(text);
  // A view shows no carriage returns, so text quoted from it has none.
  const verbatim = findAll(text, oldText);
  const wanted = verbatim.length === 0 && isWithCrlf ? toCrlf(oldText) : oldText;
  const found = verbatim.length === 0 ? findAll(text, wanted) : verbatim;
  const put = isWithCrlf ? toCrlf(newText) : newText;
  const [at] = found;
  if (at === undefined) {
    throw new MemdirError(
      "not-found",
      `No replacement was performed, old_str \`${oldText}\` did not appear verbatim in ${shown}.`,
    );
  }
  if (found.length > 1) {
    const lines = [...new Set(found.map((offset) => lineAt(text, offset)))].join(", ");
    throw new MemdirError(
      "ambiguous",
      `No replacement was performed. Multiple occurrences of old_str \`${oldText}\` in lines: ${lines}. Please ensure it is unique`,
    );
  }
  const edited = text.slice(0, at) + put + text.slice(at + wanted.length);
  return { text: edited, first: lineAt(edited, at), last: lineAt(edited, at + put.length) };
}

/** Inserts text after line `line`; 0 is the top. */
export function insertText(text: string, line: unknown, inserted: string): TextEdit {
  const lines = text.split("\n");
  if (typeof line !== "number" || !Number.isInteger(line) || line < 0 || line > lines.length) {
    throw new MemdirError(
      "usage",
      `Invalid \`insert_line\` parameter: ${line}. It should be within the range of lines of the file: [0, ${lines.length}]`,
    );
  }
  const bare = inserted.replace(/\r?\n$/, "");
  const isWithCrlf = isCrlf(text);
  // The last line has no line break, so text that replaces it at the end has none either.
  const isAtEnd = line === lines.length;
  const put = isWithCrlf ? toCrlf(bare) + (isAtEnd ? "" : "\r") : bare;
  if (isWithCrlf && isAtEnd) lines[line - 1] += "\r";
  lines.splice(line, 0, put);
  return { text: lines.join("\n"), first: line + 1, last: line + bare.split("\n").length };
}

/** This many occurrences are enough to show that the text is not unique. */
const MAX_FOUND = 50;

/** Where it occurs, also where two occurrences overlap: neither of them is the only one. */
function findAll(text: string, wanted: string): number[] {
  const found: number[] = [];
  for (let at = text.indexOf(wanted); at >= 0 && found.length < MAX_FOUND; at = text.indexOf(wanted, at + 1))
    found.push(at);
  return found;
}

function lineAt(text: string, at: number): number {
  let line = 1;
  for (let i = text.indexOf("\n"); i >= 0 && i < at; i = text.indexOf("\n", i + 1)) line++;
  return line;
}

/** Whether every line ends as on Windows. */
function isCrlf(text: string): boolean {
  return text.includes("\r\n") && !/(^|[^\r])\n/.test(text);
}

function toCrlf(text: string): string {
  return text.replace(/\r?\n/g, "\r\n");
}
