/** Changes that a person makes on the page: looked at first, then made through the Memdir like any other. */

import { lstatSync } from "node:fs";
import { join } from "node:path";
import { resolveInside } from "../disk/fence.ts";
import { MemdirError } from "../errors.ts";
import { type Directory, findBytes, isMemoryFile, journalName, sameName } from "../store/store.ts";
import { examineEdit } from "../verbs/edit.ts";
import { findByRef } from "../verbs/find.ts";
import type { SaveRequest, SaveResult } from "../verbs/save.ts";
import type { ChangedAnswer, CheckAnswer, Ref, SavedAnswer } from "./api.ts";
import { type Desk, mainOf, placeOf, refuseReadOnly } from "./desk.ts";
import { diffTexts } from "./diff.ts";

export interface Edit extends Ref {
  /** What the file held when the editing began. */
  base: string;
  text: string;
}

/** As a save would see it. Nothing is written. */
export async function answerCheck(desk: Desk, { base, text, ...ref }: Edit): Promise<CheckAnswer> {
  const { broken, problems, secrets } = examineEdit(ref.file, base, text);
  const current = readNow(desk, ref) ?? "";
  return {
    diff: diffTexts(base, text),
    problems: broken === null || problems.includes(broken) ? problems : [broken, ...problems],
    secrets: secrets.map(({ rule, line }) => ({ rule, line })),
    // What somebody else made of it meanwhile.
    conflict: current === base ? null : { text: current, diff: diffTexts(base, current) },
  };
}

/** Throws `conflict` with a `CheckAnswer` in its details where the file is no longer `base`. */
export async function answerSave(desk: Desk, edit: Edit): Promise<SavedAnswer> {
  refuseReadOnly(desk, edit);
  const { directory, file, base, text } = edit;
  const isGone = readNow(desk, edit) === null;
  try {
    const saved = isGone ? await makeAnew(desk, edit) : await desk.memdir.edit({ directory, file }, base, text);
    return { directory, file: saved.file, entry: saved.undo, notices: saved.notices };
  } catch (error) {
    if (!(error instanceof MemdirError) || error.code !== "conflict") throw error;
    const details = await answerCheck(desk, edit);
    throw new MemdirError("conflict", error.message, { cause: error, details });
  }
}

/** What a person wants kept although the file went meanwhile: with `base` "" they have seen that it is gone. */
async function makeAnew({ memdir }: Desk, { directory, file, base, text }: Edit): Promise<SaveResult> {
  if (base !== "") {
    throw new MemdirError("conflict", `${file} was renamed or forgotten while it was edited: nothing was written`);
  }
  const { path } = memdir.directories[directory] as Directory;
  return memdir.put(join(path, file), text, null);
}

/** Null for a file that was here and is gone; whatever was never a memory's place is refused. */
function readNow({ memdir }: Desk, ref: Ref): string | null {
  try {
    const { directory, file } = findByRef(memdir.directories, ref);
    return findBytes(directory, file)?.toString("utf8") ?? null;
  } catch (error) {
    const directory = memdir.directories[ref.directory];
    const isLost = error instanceof MemdirError && error.code === "not-found" && directory !== undefined;
    if (!isLost || !isMemoryFile(ref.file)) throw error;
    // Something that is no memory stands there: it is not to be read.
    if (lstatSync(resolveInside(directory.path, ref.file), { throwIfNoEntry: false })) throw error;
    return null;
  }
}

/** The body of the answer to a save that found another text; null for any other error. */
export function conflictOf(error: unknown): CheckAnswer | null {
  if (!(error instanceof MemdirError) || error.code !== "conflict") return null;
  const { details } = error;
  return typeof details === "object" && details !== null && "conflict" in details ? (details as CheckAnswer) : null;
}

/** A name that is taken is not written over: that would be an edit which nobody has seen. */
export async function answerNew(desk: Desk, request: SaveRequest): Promise<ChangedAnswer> {
  refuseReadOnly(desk, { directory: 0 });
  const { scope } = mainOf(desk);
  const rows = (await desk.memdir.list()).filter((row) => row.scope === scope);
  const taken = rows.find(({ type, name }) => type === request.type && sameName(name, request.name));
  if (taken) throw new MemdirError("conflict", `${taken.file} has this type and name already: open it and edit it`);
  const { file, undo, notices } = await desk.memdir.save(request);
  return { message: says(`saved ${file}`, notices), entry: undo, ref: { directory: 0, file } };
}

export async function answerForget(desk: Desk, ref: Ref, reason: string | undefined): Promise<ChangedAnswer> {
  refuseReadOnly(desk, ref);
  const { file, undo } = await desk.memdir.forget(ref, reason === undefined ? {} : { reason });
  return { message: `forgot ${file}`, entry: undo, ref: null };
}

export async function answerRename(desk: Desk, ref: Ref, name: string): Promise<ChangedAnswer> {
  refuseReadOnly(desk, ref);
  const { file, undo, action, notices } = await desk.memdir.rename(ref, name);
  const message = action === "unchanged" ? `${file} is called so already` : `renamed to ${file}`;
  return { message: says(message, notices), entry: undo, ref: { directory: ref.directory, file } };
}

/** Without an entry: the last change that can be taken back. */
export async function answerUndo(desk: Desk, entry: string | undefined): Promise<ChangedAnswer> {
  refuseReadOnly(desk);
  const { undone, action, files, undo, notices } = await desk.memdir.undo(entry);
  const journal = undo.slice(0, Math.max(0, undo.lastIndexOf(":")));
  const { directories } = desk.memdir;
  const directory = directories.findIndex((each) => journalName(directories, each) === journal);
  const [file] = files.filter((each) => isThere(desk, { directory, file: each }));
  const message = says(`undid ${action} ${undone}: ${files.join(", ")}`, notices);
  return { message, entry: undo, ref: file === undefined ? null : { directory, file } };
}

function isThere(desk: Desk, ref: Ref): boolean {
  try {
    return placeOf(desk, ref).file === ref.file;
  } catch {
    return false;
  }
}

function says(message: string, notices: readonly string[]): string {
  return [message, ...notices].join("; ");
}
