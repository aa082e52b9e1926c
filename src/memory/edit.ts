/** Replacing a memory's whole text, as an editor does: checked on close, refused if the file changed meanwhile. */

import { MemdirError } from "../errors.ts";
import {
  type Admitted,
  admit,
  findBytes,
  findName,
  type Gate,
  INDEX_FILE,
  indexPath,
  keepEntries,
  type PageRequest,
  parseMemory,
  previewPages,
  readHeader,
  type Store,
  type Writer,
} from "../store/store.ts";
import { editFields, parseDocument } from "../text/frontmatter.ts";
import { sha256 } from "../text/hash.ts";
import { findSecrets, type SecretFinding } from "../text/secrets.ts";
import { type SaveResult, writeMemory } from "./save.ts";

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
  return directory.change((directory) => {
    checkBase(directory, file, base);
    const stamped = stamp(directory, base ?? "", checked.text);
    const action = base === null ? "save" : "edit";
    const result = writeMemory(directory, file, stamped, { action, reason: "", trust });
    return { ...result, notices: [...checked.notices, ...result.notices] };
  });
}

/** MEMORY.md as somebody edited it: a change like any other. Memories whose lines it dropped keep them. */
export async function editIndex(directory: Store, base: string | null, text: string): Promise<SaveResult> {
  const path = indexPath(directory);
  checkEdit(INDEX_FILE, base, text, { trust: "user" });
  return directory.change((directory) => {
    checkBase(directory, INDEX_FILE, base);
    const changed = changeIndex(directory, () => text);
    const action = changed.undo === null ? "unchanged" : base === null ? "created" : "updated";
    return { file: INDEX_FILE, path, action, ...changed };
  });
}

/** `edit` is asked again if another program wrote the index meanwhile. */
export function changeIndex(directory: Writer, edit: (index: string) => string): Pick<SaveResult, "notices" | "undo"> {
  const find = (file: string) => {
    const name = findName(directory, file);
    return name === null ? null : readHeader(directory, name);
  };
  const plan: PageRequest["plan"] = ({ index, more }) => {
    const { text } = admit({ file: INDEX_FILE, text: edit(index ?? ""), before: index }, { trust: "user" });
    return { pages: { index: keepEntries(text, index ?? "", more, find), more } };
  };
  if (!previewPages(directory, { changes: [], plan }).isChange) return { notices: [], undo: null };
  const { entry, notices } = directory.apply({ action: "edit", reason: INDEX_FILE, writes: new Map(), plan });
  return { notices, undo: entry.id };
}

/** `base` as the file's text, null for none. Throws `conflict`. */
export function checkBase(directory: Store, file: string, base: string | null): void {
  const current = findBytes(directory, file);
  if ((current ? sha256(current) : null) === (base === null ? null : sha256(base))) return;
  throw new MemdirError(
    "conflict",
    `${file} changed while it was edited: nothing was overwritten; look at it again and repeat the edit`,
  );
}

export interface ExaminedEdit {
  /** Why it would be refused as it is; null when it would not be: also for what was wrong before. */
  broken: string | null;
  problems: string[];
  /** Never with their values. */
  secrets: SecretFinding[];
}

/** What an edit is checked for, without writing anything. */
export function examineEdit(file: string, base: string, text: string): ExaminedEdit {
  const problem = parseDocument(text).problems[0];
  const broken = problem && parseDocument(base).problems.length === 0 ? problem : unknownType(file, base, text);
  return { broken, problems: parseMemory(file, text).problems, secrets: findSecrets(text) };
}

/** Throws for what must not be written. */
export function checkEdit(file: string, before: string | null, text: string, gate: Gate): Admitted {
  const admitted = admit({ file, text, before }, gate);
  const unknown = before === null ? null : unknownType(file, before, text);
  if (unknown !== null) throw new MemdirError("usage", `${file} was not changed: ${unknown}`);
  return { ...admitted, notices: [...parseMemory(file, text).problems, ...admitted.notices] };
}

/** Why a type that was known and is now another word is refused, or null. */
function unknownType(file: string, before: string, text: string): string | null {
  const { typeExplicit, problems } = parseMemory(file, text);
  if (typeExplicit || !parseMemory(file, before).typeExplicit) return null;
  return problems.find((problem) => problem.startsWith('the type "')) ?? null;
}

/** `modified` moves with the text, unless the person set it; a file without frontmatter gets none. */
export function stamp(directory: Store, base: string, text: string): string {
  const modified = (document: string) => parseMemory("x.md", document).modified;
  if (text === base || modified(text) !== modified(base)) return text;
  return editFields(text, { modified: directory.now().toISOString() });
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
  return directory.change((directory) => {
    const preview = previewPages(directory, { changes: [], rebuild: true });
    if (!preview.isChange) return { notices: preview.notices, undo: null };
    const { entry, notices } = directory.apply({
      action: "index",
      reason: "rebuilt from the memories",
      writes: new Map(),
      rebuild: true,
    });
    return { notices, undo: entry.id };
  });
}
