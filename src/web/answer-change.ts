/** Changes that a person makes on the page: checked first, then made through the Memdir like any other change. */

import { lstatSync } from "node:fs";
import { join } from "node:path";
import { resolveInside } from "../disk/fence.ts";
import { MemdirError } from "../errors.ts";
import { group, type Input, required, text } from "../input.ts";
import { joinTexts } from "../learn/dream-offline.ts";
import type { Memdir } from "../memdir.ts";
import { examineEdit } from "../memory/edit.ts";
import { findByRef } from "../memory/find.ts";
import type { SaveResult } from "../memory/save.ts";
import { findBytes, isMemoryFile, parseMemory, readBytes, type Store, sameName } from "../store/store.ts";
import { findCompeting, settleText } from "../team/conflict-copy.ts";
import { TYPE } from "../verbs/common.ts";
import { diffTexts, get, look, mainOf, NAME, post, REF, TEXT, WRITTEN } from "./answer.ts";
import type { ChangedAnswer, CheckAnswer, MergeProposal, Ref, SavedAnswer } from "./api.ts";

/** `base` is the file's text when editing began. */
const EDIT = { ...REF, base: TEXT, text: TEXT };

type Edit = Input<typeof EDIT>;

export const CHANGE_ROUTES = [
  look("/api/check", EDIT, ({ memdir }, edit) => check(memdir, edit)),
  { ...post("/api/memory", EDIT, ({ memdir }, edit) => save(memdir, edit)), method: "PUT" as const },
  /** A name that is taken is not overwritten: that would be an edit whose diff was never shown. */
  post(
    "/api/new",
    { ...WRITTEN, name: NAME, type: required(TYPE) },
    async ({ memdir }, { cues: when = [], body = "", description = "", name, type }): Promise<ChangedAnswer> => {
      const { scope } = mainOf(memdir);
      const taken = (await memdir.list()).find(
        (row) => row.scope === scope && row.type === type && sameName(row.name, name),
      );
      if (taken)
        throw new MemdirError("conflict", `${taken.file} already has this type and name; edit that memory instead`);
      const { file, undo, notices } = await memdir.save({ name, type, description, body, when });
      return { message: [`saved ${file}`, ...notices].join("; "), entry: undo, ref: { directory: 0, file } };
    },
  ),
  /** The first plus what only the other says; a person reviews it before anything is written. */
  get(
    "/api/merge",
    { keepDirectory: REF.directory, keepFile: NAME, otherDirectory: REF.directory, otherFile: NAME },
    async ({ memdir }, { keepDirectory, keepFile, otherDirectory, otherFile }): Promise<MergeProposal> => {
      const left = readSide(memdir, { directory: keepDirectory, file: keepFile });
      const right = readSide(memdir, { directory: otherDirectory, file: otherFile });
      const text = joinTexts({ file: keepFile, text: left }, { file: otherFile, text: right }, mainOf(memdir).now());
      return { left, right, text, diff: diffTexts(left, text) };
    },
  ),
  /** `left` and `right` are the texts of both when the person saw them, or the current ones if the page does not send them. */
  post(
    "/api/merge",
    { keep: required(group(REF)), other: required(group(REF)), text: TEXT, left: text(), right: text() },
    async ({ memdir }, { keep, other, text, left, right }): Promise<ChangedAnswer> => {
      const base = { keep: left ?? readSide(memdir, keep), other: right ?? readSide(memdir, other) };
      // Keeping the text of a conflict copy means putting it in the memory's place, not making another copy.
      const settled = findCompeting(base.keep) === null ? settleText(text) : text;
      const { file, undo } = await memdir.merge(keep, other, { text: settled, base });
      return { message: `merged ${other.file} into ${file}`, entry: undo, ref: { directory: keep.directory, file } };
    },
  ),
];

/** As a save would see it. Nothing is written. */
async function check(memdir: Memdir, { base, text, ...ref }: Edit): Promise<CheckAnswer> {
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
async function save(memdir: Memdir, edit: Edit): Promise<SavedAnswer> {
  const { directory, file, base, text } = edit;
  const isGone = readNow(memdir, edit) === null;
  try {
    const saved = isGone ? await makeAnew(memdir, edit) : await memdir.edit({ directory, file }, base, text);
    return { directory, file: saved.file, entry: saved.undo, notices: saved.notices };
  } catch (error) {
    if (!(error instanceof MemdirError) || error.code !== "conflict") throw error;
    const details = await check(memdir, edit);
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

function readSide({ directories }: Memdir, ref: Ref): string {
  const { directory, file } = findByRef(directories, ref);
  const bytes = readBytes(directory, file);
  const { broken, problems } = parseMemory(file, bytes);
  if (broken) throw new MemdirError("broken", `${file} cannot be parsed (${problems[0]}); fix it first`);
  return bytes.toString("utf8");
}
