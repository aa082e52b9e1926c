/** Changes that a person makes on the page: checked first, then made through the Memdir like any other change. */

import { lstatSync } from "node:fs";
import { join } from "node:path";
import { resolveInside } from "../disk/fence.ts";
import { MemdirError } from "../errors.ts";
import { group, type Input, required, text } from "../input.ts";
import type { Memdir } from "../memdir.ts";
import { examineEdit } from "../memory/edit.ts";
import { findByRef } from "../memory/memories.ts";
import type { SaveResult } from "../memory/save.ts";
import { findBytes, isMemoryFile, parseMemory, readBytes, type Store, sameName, signEntry } from "../store/store.ts";
import { findCompeting, settleText } from "../team/merge.ts";
import { TYPE } from "../verbs/common.ts";
import { contextOf, diffTexts, look, mainOf, NAME, post, REF, refOf, TEXT, WRITTEN } from "./answer.ts";
import { openLinkage } from "./answer-map.ts";
import { buildMarkdownTree } from "./markdown-tree.ts";
import type { ChangedAnswer, Ref } from "./shapes.ts";

/** `base` is the file's text when editing began. */
const EDIT = { ...REF, base: TEXT, text: TEXT };

type Edit = Input<typeof EDIT>;

export const CHANGE_ROUTES = [
  look("/api/check", EDIT, ({ memdir }, edit) => check(memdir, edit)),
  { ...post("/api/memory", EDIT, ({ memdir }, edit) => save(memdir, edit)), method: "PUT" as const },
  /** A name that is taken is not overwritten: that would be an edit whose diff was never shown. */
  post(
    "/api/new",
    { ...WRITTEN, name: NAME, type: required(TYPE), scope: text() },
    async (page, { cues: when = [], body = "", description = "", name, type, scope: asked }, signal) => {
      const scope = asked ?? mainOf(page.memdir).scope;
      const memdir = asked === undefined ? page.memdir : await contextOf(page, signal).open({ scope: asked });
      const taken = (await memdir.list()).find(
        (row) => row.scope === scope && row.type === type && sameName(row.name, name),
      );
      if (taken)
        throw new MemdirError("conflict", `${taken.name} already has this type and name; edit that memory instead`);
      const { path, undo, notices, file } = await memdir.save({ name, type, description, body, when });
      const ref = refOf(page.memdir, { path, file });
      const store = page.memdir.directories[ref.directory];
      const entry = undo && store ? signEntry(page.memdir.directories, store, undo) : undo;
      const message = [`Saved ${name}`, ...notices].join("; ");
      return { message, entry, ref: store ? ref : null } satisfies ChangedAnswer;
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
      const name = (side: Ref, text: string) => parseMemory(side.file, text).name;
      const message = `Merged ${name(other, base.other)} into ${name(keep, base.keep)}`;
      return { message, entry: undo, ref: { directory: keep.directory, file } };
    },
  ),
];

/** As a save would see it. Nothing is written. */
export async function check(memdir: Memdir, { base, text, ...ref }: Edit) {
  const { broken, problems, secrets } = examineEdit(ref.file, base, text);
  const current = readNow(memdir, ref) ?? "";
  const linkage = openLinkage(memdir);
  return {
    diff: diffTexts(base, text),
    /** The text as it will look. */
    body: await buildMarkdownTree(parseMemory(ref.file, text).body, (name) => linkage.find(name)),
    problems: broken === null || problems.includes(broken) ? problems : [broken, ...problems],
    secrets: secrets.map(({ rule, line }) => ({ rule, line })),
    /** The file has changed since editing began. */
    conflict: current === base ? null : { text: current, diff: diffTexts(base, current) },
  };
}

/** `entry` is for undo. Throws `conflict` with the answer of a check in its details if the file is no longer `base`. */
export async function save(memdir: Memdir, edit: Edit) {
  const { directory, file, base, text } = edit;
  const isGone = readNow(memdir, edit) === null;
  try {
    const saved = isGone ? await makeAnew(memdir, edit) : await memdir.edit({ directory, file }, base, text);
    // The list would call it unchecked until somebody looked at it.
    await memdir.verify({ directory, file: saved.file });
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

/** Throws for a memory that cannot be parsed: what is written into it would be lost, or lose something. */
export function readSide({ directories }: Memdir, ref: Ref): string {
  const { directory, file } = findByRef(directories, ref);
  const bytes = readBytes(directory, file);
  const { broken, problems } = parseMemory(file, bytes);
  if (broken) throw new MemdirError("broken", `${file} cannot be parsed (${problems[0]}); fix it first`);
  return bytes.toString("utf8");
}
