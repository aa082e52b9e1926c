/** Changes that a person makes on the page: checked first, then made through the Memdir like any other change. */

import { lstatSync } from "node:fs";
import { join } from "node:path";
import { resolveInside } from "../disk/fence.ts";
import { MemdirError } from "../errors.ts";
import type { Memdir } from "../memdir.ts";
import { examineEdit } from "../memory/edit.ts";
import { findByRef } from "../memory/find.ts";
import type { SaveRequest, SaveResult } from "../memory/save.ts";
import { findBytes, isMemoryFile, type Store, sameName } from "../store/store.ts";
import { diffTexts, mainOf } from "./answer.ts";
import type { ChangedAnswer, CheckAnswer, Ref, SavedAnswer } from "./api.ts";

export interface Edit extends Ref {
  /** The file's text when editing began. */
  base: string;
  text: string;
}

/** As a save would see it. Nothing is written. */
export async function answerCheck(memdir: Memdir, { base, text, ...ref }: Edit): Promise<CheckAnswer> {
  const { broken, problems, secrets } = examineEdit(ref.file, base, text);
  const current = readNow(memdir, ref) ?? "";
  return {
    diff: diffTexts(base, text),
    problems: broken === null || problems.includes(broken) ? problems : [broken, ...problems],
    secrets: secrets.map(({ rule, line }) => ({ rule, line })),
    conflict: current === base ? null : { text: current, diff: diffTexts(base, current) },
  };
}

/** Throws `conflict` with a `CheckAnswer` in its details if the file is no longer `base`. */
export async function answerSave(memdir: Memdir, edit: Edit): Promise<SavedAnswer> {
  const { directory, file, base, text } = edit;
  const isGone = readNow(memdir, edit) === null;
  try {
    const saved = isGone ? await makeAnew(memdir, edit) : await memdir.edit({ directory, file }, base, text);
    return { directory, file: saved.file, entry: saved.undo, notices: saved.notices };
  } catch (error) {
    if (!(error instanceof MemdirError) || error.code !== "conflict") throw error;
    const details = await answerCheck(memdir, edit);
    throw new MemdirError("conflict", error.message, { cause: error, details });
  }
}

/** For a person who wants to keep a file that was removed in the meantime; an empty `base` means that they know. */
async function makeAnew(memdir: Memdir, { directory, file, base, text }: Edit): Promise<SaveResult> {
  if (base !== "") {
    throw new MemdirError(
      "conflict",
      `${file} was renamed or forgotten while you were editing it; nothing was written`,
    );
  }
  const { path } = memdir.directories[directory] as Store;
  return memdir.put(join(path, file), text, null);
}

/** Null for a file that was here and is gone; anything that was never a memory is refused. */
function readNow({ directories }: Memdir, ref: Ref): string | null {
  try {
    const { directory, file } = findByRef(directories, ref);
    return findBytes(directory, file)?.toString("utf8") ?? null;
  } catch (error) {
    const directory = directories[ref.directory];
    const isMissing = error instanceof MemdirError && error.code === "not-found" && directory !== undefined;
    if (!isMissing || !isMemoryFile(ref.file)) throw error;
    // Something that is not a memory has this name, and must not be read.
    if (lstatSync(resolveInside(directory.path, ref.file), { throwIfNoEntry: false })) throw error;
    return null;
  }
}

/** A name that is taken is not overwritten: that would be an edit whose diff was never shown. */
export async function answerNew(memdir: Memdir, request: SaveRequest): Promise<ChangedAnswer> {
  const { scope } = mainOf(memdir);
  const rows = (await memdir.list()).filter((row) => row.scope === scope);
  const taken = rows.find(({ type, name }) => type === request.type && sameName(name, request.name));
  if (taken)
    throw new MemdirError("conflict", `${taken.file} already has this type and name; edit that memory instead`);
  const { file, undo, notices } = await memdir.save(request);
  return { message: [`saved ${file}`, ...notices].join("; "), entry: undo, ref: { directory: 0, file } };
}
