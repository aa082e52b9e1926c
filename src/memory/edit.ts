/** Changes of a whole memory: its text as an editor leaves it, refused if the file changed meanwhile; two made one; another name. */

import { isUtf8 } from "node:buffer";
import { lstatSync } from "node:fs";
import { join } from "node:path";
import { MemdirError } from "../errors.ts";
import {
  type Admitted,
  admit,
  BAD_END,
  checkGiven,
  cleanName,
  fileNameFor,
  findBytes,
  type Gate,
  INDEX_FILE,
  indexPath,
  keepEntries,
  oneLine,
  openHeaders,
  type PageRequest,
  parseMemory,
  previewPages,
  readBytes,
  refuseBroken,
  type Store,
  secretError,
  type Writer,
} from "../store/store.ts";
import { editFields, parseDocument } from "../text/frontmatter.ts";
import { sha256 } from "../text/hash.ts";
import { findSecrets } from "../text/secrets.ts";
import { retarget } from "./references.ts";
import { type SaveResult, sameNameElsewhere, writeMemory } from "./save.ts";

/**
 * `base` is the text that was edited, null for a file that is new: if the file is no longer that, another person wrote it and
 * nothing is overwritten.
 */
export async function editMemory(
  directory: Store,
  file: string,
  base: string | null,
  text: string,
  { redact = false, trust = "user" }: Partial<Gate> = {},
): Promise<SaveResult> {
  const checked = checkEdit(file, base, text, { redact, trust });
  return directory.change(async (directory) => {
    checkBase(directory, file, base);
    const stamped = stamp(directory, base ?? "", checked.text);
    const action = base === null ? "save" : "edit";
    const result = await writeMemory(directory, file, stamped, { action, reason: "", trust });
    return { ...result, notices: [...checked.notices, ...result.notices] };
  });
}

/** MEMORY.md as somebody edited it: a change like any other. Memories whose lines it dropped keep them. */
export async function editIndex(directory: Store, base: string | null, text: string): Promise<SaveResult> {
  const path = indexPath(directory);
  checkEdit(INDEX_FILE, base, text, { trust: "user" });
  return directory.change(async (directory) => {
    checkBase(directory, INDEX_FILE, base);
    const changed = await changeIndex(directory, () => text);
    const action = changed.undo === null ? "unchanged" : base === null ? "created" : "updated";
    return { file: INDEX_FILE, path, action, ...changed };
  });
}

/** `edit` is asked again if another program wrote the index meanwhile. */
export async function changeIndex(
  directory: Writer,
  edit: (index: string) => string,
): Promise<Pick<SaveResult, "notices" | "undo">> {
  const find = openHeaders(directory);
  const plan: PageRequest["plan"] = ({ index, more }) => {
    const { text } = admit({ file: INDEX_FILE, text: edit(index ?? ""), before: index }, { trust: "user" });
    return { pages: { index: keepEntries(text, index ?? "", more, find), more } };
  };
  if (!previewPages(directory, { changes: [], plan }).isChange) return { notices: [], undo: null };
  const { entry, notices } = await directory.apply({ action: "edit", reason: INDEX_FILE, writes: new Map(), plan });
  return { notices, undo: entry.id };
}

/** `base` as the file's text, null for none. Throws `conflict`. */
function checkBase(directory: Store, file: string, base: string | null): void {
  const current = findBytes(directory, file);
  if ((current ? sha256(current) : null) === (base === null ? null : sha256(base))) return;
  // As a text it is never what the file holds.
  if (current && !isUtf8(current)) refuseBroken(parseMemory(file, current));
  throw new MemdirError(
    "conflict",
    `${file} changed while it was edited: nothing was overwritten; look at it again and repeat the edit`,
  );
}

/**
 * What an edit is checked for, without writing anything. `broken`: why it would be refused as it is; null when it would not be, also for
 * what was wrong before. Secrets are named without their values.
 */
export function examineEdit(file: string, base: string, text: string) {
  const problem = parseDocument(text).problems[0];
  const broken = problem && parseDocument(base).problems.length === 0 ? problem : newProblem(file, base, text);
  return { broken, problems: parseMemory(file, text).problems, secrets: findSecrets(text) };
}

/** Throws for what must not be written. */
function checkEdit(file: string, before: string | null, text: string, gate: Gate): Admitted {
  const admitted = admit({ file, text, before }, gate);
  const refused = before === null ? null : newProblem(file, before, text);
  if (refused !== null) throw new MemdirError("usage", `${file} was not changed: ${refused}`);
  const fresh = parseMemory(file, text);
  const old = before === null ? null : parseMemory(file, before);
  const isUnnamed = old?.metadata.name && old.name !== fresh.name && !fresh.metadata.name;
  const unnamed = isUnnamed ? [`without a name it is called ${fresh.name}: links to "${old.name}" lead nowhere`] : [];
  return { ...admitted, notices: [...fresh.problems, ...unnamed, ...admitted.notices] };
}

/** Why a head without its first line, a type that was known and is now another word, or an end that is now no date, is refused; or null. */
function newProblem(file: string, before: string, text: string): string | null {
  const old = parseMemory(file, before);
  const isHeadless = Object.keys(old.metadata).length > 0 && !parseDocument(text).hasFrontmatter;
  if (isHeadless && Object.hasOwn(parseMemory(file, `---\n${text}`).metadata, Object.keys(old.metadata)[0] as string))
    return "its first line must be ---, or its fields are only text";
  const isNew = (problem: string) =>
    problem === BAD_END ? !old.problems.includes(problem) : problem.includes('" is not a type:') && old.typeExplicit;
  return parseMemory(file, text).problems.find(isNew) ?? null;
}

/** `modified` moves with the text, unless the person set it; a file without frontmatter gets none. */
function stamp(directory: Store, base: string, text: string): string {
  const modified = (document: string) => parseMemory("x.md", document).modified;
  if (text === base || modified(text) !== modified(base)) return text;
  return editFields(text, { modified: directory.now().toISOString() });
}

// --- Two memories made into one, as a single change: the text of one is replaced, the other goes.

/** The text that two memories become. */
export interface MergeRequest {
  /** The whole new text of the memory that stays. */
  text: string;
  /** The content of both when they were read. If either has changed since, nothing is written. */
  base: { keep: string; other: string };
}

interface Found {
  directory: Store;
  file: string;
}

/** One entry in the journal, so that one undo brings both back. */
export async function mergeMemories(keep: Found, other: Found, { text, base }: MergeRequest): Promise<SaveResult> {
  if (keep.directory !== other.directory) {
    throw new MemdirError(
      "usage",
      `${keep.file} and ${other.file} are in different directories (${keep.directory.scope}, ${other.directory.scope}): edit one and forget the other, or promote it first`,
    );
  }
  if (keep.file === other.file) throw new MemdirError("usage", `${keep.file} cannot be merged with itself`);
  const checked = checkEdit(keep.file, base.keep, text, { trust: "user" });
  return keep.directory.change(async (directory) => {
    checkBase(directory, keep.file, base.keep);
    checkBase(directory, other.file, base.other);
    const stamped = stamp(directory, base.keep, checked.text);
    const reason = `merged with ${other.file}`;
    const merged = await writeMemory(directory, keep.file, stamped, { action: "edit", reason }, [other.file]);
    return { ...merged, notices: [...checked.notices, ...merged.notices] };
  });
}

// --- Renaming: a memory's name, its file and its index line in one change.

/** A new name, and the file name that goes with it. References of memories to it follow: `links`, `supersedes`, and links in their text. */
export async function renameMemory(directory: Store, file: string, newName: string): Promise<SaveResult> {
  const name = cleanName(checkGiven(newName, "new name"));
  const secrets = findSecrets(name);
  if (secrets.length > 0) {
    const details = secrets.map(({ rule }) => `${rule} in the name`);
    const message = `not renamed, the new name holds what looks like a secret: ${details.join(", ")}; choose another name`;
    throw new MemdirError("secret", message, { details });
  }
  return directory.change(async (directory) => {
    const data = readBytes(directory, file);
    const memory = parseMemory(file, data);
    refuseBroken(memory);
    const text = data.toString("utf8");
    const document = parseDocument(text);
    const folder = file.includes("/") ? file.slice(0, file.lastIndexOf("/") + 1) : "";
    const target = folder + fileNameFor(memory.type, name);
    const path = join(directory.path, target);
    if (target !== file && lstatSync(path, { throwIfNoEntry: false })) {
      throw new MemdirError("conflict", `${target} exists already: forget it first, or choose another name`);
    }
    if (target === file && oneLine(memory.name) === oneLine(name))
      return { file, path, action: "unchanged", notices: [], undo: null };
    const gone = target === file ? [] : [file];
    const renames = new Map(gone.map((old) => [old, target]));
    const texts = retarget(directory, { file, name: memory.name }, { file: target, name });
    const linked = texts.get(file) ?? text;
    const renamed = document.hasFrontmatter ? editFields(linked, { name }) : linked;
    texts.delete(file);
    const change = { action: "rename", reason: "", renames, keepsTimes: true } as const;
    const written = await writeMemory(directory, target, renamed, change, gone, texts);
    const updated = texts.size === 0 ? [] : [`references to it were updated in ${[...texts.keys()].join(", ")}`];
    const notices = [...sameNameElsewhere(directory, memory.type, name), ...updated, ...written.notices];
    return { ...written, action: "updated", notices };
  });
}

// --- MEMORY.md in step with the memories: every memory a line, hand-written lines kept, pointers to nothing out; undoable.

/** What a rebuild of the index changed. */
export interface RebuiltIndex {
  /** What was added, removed and moved, in words. */
  notices: string[];
  /** The journal entry to give to undo; null when nothing changed. */
  undo: string | null;
}

export async function rebuildIndex(directory: Store): Promise<RebuiltIndex> {
  return directory.change(async (directory) => {
    const preview = previewPages(directory, { changes: [], rebuild: true });
    if (!preview.isChange) return { notices: preview.notices, undo: null };
    const { entry, notices } = await directory.apply({
      action: "index",
      reason: "rebuilt from the memories",
      writes: new Map(),
      rebuild: true,
    });
    return { notices, undo: entry.id };
  });
}

// --- Cues added to memories that otherwise stay as they are, to the byte: they say the same, and do not become younger.

/** `base` is the text that the cues were made for: if the file says something else now, it gets none. */
export interface Cued {
  file: string;
  base: string;
  cues: readonly string[];
}

export interface AddedCues {
  files: string[];
  /** Those that were left alone, each with the reason. */
  refused: { file: string; reason: string }[];
  /** The journal entry, for undo; null if nothing was written. */
  undo: string | null;
}

/** More would cost room in every recall and say the same again. */
const MAX_CUES = 8;
const MAX_CUE_CHARS = 120;

/** All of them as one change. */
export async function addCues(directory: Store, cued: readonly Cued[]): Promise<AddedCues> {
  return directory.change(async (directory) => {
    const writes = new Map<string, Buffer>();
    const refused: AddedCues["refused"] = [];
    for (const { file, base, cues } of cued) {
      const isSame = findBytes(directory, file)?.equals(Buffer.from(base)) === true;
      const added = isSame ? withCues(file, base, cues) : { problem: "it changed meanwhile; run it again" };
      if ("problem" in added) refused.push({ file, reason: added.problem });
      else if (added.text !== base) writes.set(file, Buffer.from(added.text));
    }
    if (writes.size === 0) return { files: [], refused, undo: null };
    const files = [...writes.keys()];
    const reason = files.length === 1 ? "cues" : `cues for ${files.length} memories`;
    const { entry } = await directory.apply({ action: "edit", reason, writes, isPlaced: true, keepsTimes: true });
    return { files, refused, undo: entry.id };
  });
}

/** Behind those that it has. A text that would change in any other way is left alone. */
export function withCues(file: string, base: string, cues: readonly string[]): { text: string } | { problem: string } {
  const memory = parseMemory(file, base);
  if (memory.broken || Object.keys(memory.metadata).length === 0)
    return { problem: memory.problems[0] ?? "it has no frontmatter" };
  const when = mergeCues(memory.when, cues);
  const text = editFields(base, { when });
  const after = parseMemory(file, text);
  const isWhole = after.body === memory.body && after.problems.join() === memory.problems.join();
  if (!isWhole || after.when.join("\n") !== when.join("\n") || (memory.when.length === 0 && !isInserted(base, text)))
    return { problem: "its frontmatter cannot be extended safely" };
  const [secret] = findSecrets(when.join("\n"));
  if (secret) return { problem: secretError([`${secret.rule} in a cue`]).message };
  try {
    admit({ file, text, before: base }, { trust: "user" });
  } catch (error) {
    return { problem: (error as MemdirError).message };
  }
  return { text };
}

/** Whether it is the old text with something put in at one place. */
function isInserted(before: string, after: string): boolean {
  let at = 0;
  while (at < before.length && before[at] === after[at]) at++;
  return after.endsWith(before.slice(at));
}

/** One line each, none twice. */
function mergeCues(old: readonly string[], more: readonly string[]): string[] {
  const clean = more
    .map((cue) => oneLine(cue).slice(0, MAX_CUE_CHARS).toWellFormed().trim())
    .filter((cue) => cue !== "");
  const known = new Set(old.map((cue) => cue.toLowerCase()));
  const fresh = clean.filter((cue) => !known.has(cue.toLowerCase()) && known.add(cue.toLowerCase()));
  return [...old, ...fresh].slice(0, Math.max(old.length, MAX_CUES));
}
