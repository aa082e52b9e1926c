/** A text that could not be merged, kept as a memory of its own beside the one that it competes with. */

import { CONFLICT_FIELD, stemOf } from "../store/store.ts";
import { editFields, type Field, findField, parseDocument } from "../text/frontmatter.ts";
import { sha256 } from "../text/hash.ts";
import { findEntryProblem } from "./protocol.ts";

export type ConflictCopy = ReturnType<typeof makeCopy>;

/** Digits of the text's hash in the name: usually few, more when the short name is taken by another text. */
const DIGITS = [8, 16, 64] as const;

/** The same text at the same path always makes the same copy, so that a pass that is run again makes no second one. */
export function makeConflictCopy(
  path: string,
  text: string,
  isTaken: (copy: ConflictCopy) => boolean = () => false,
): ConflictCopy {
  const hash = sha256(text);
  const copies = DIGITS.map((digits) => makeCopy(path, text, hash.slice(0, digits)));
  return copies.find((copy) => !isTaken(copy)) ?? (copies.at(-1) as ConflictCopy);
}

/** Whether a memory's path is that of a copy. */
export function isConflictPath(path: string): boolean {
  return SUFFIX.test(path.replace(/\.md$/, ""));
}

/** The name of the memory that it competes with; null for an ordinary text. */
export function findCompeting(text: string): string | null {
  const { fields, problems } = parseDocument(text);
  return problems.length === 0 ? readField(fields, CONFLICT_FIELD) : null;
}

/** Under the memory's own name, and without the mark of a copy. */
export function settleText(text: string): string {
  const name = findCompeting(text);
  return name === null ? text : editFields(text, { name, [CONFLICT_FIELD]: null });
}

const SUFFIX = /-conflict-[0-9a-f]{8,64}$/;

function makeCopy(path: string, text: string, mark: string) {
  // A copy of a copy is another copy of the same memory.
  const whole = path.replace(/\.md$/, "").replace(SUFFIX, "");
  const folder = whole.slice(0, whole.lastIndexOf("/") + 1);
  const stem = [...whole.slice(folder.length)];
  let copy = "";
  do copy = `${folder}${stem.join("")}-conflict-${mark}.md`;
  while (findEntryProblem(copy) !== null && stem.pop() !== undefined && stem.length > 0);
  return { path: copy, text: renameText(path, text, mark) };
}

/** A name of its own, and what it competes with; a text that has no frontmatter, or a broken one, stays as it is. */
function renameText(path: string, text: string, mark: string): string {
  const { hasFrontmatter, problems, fields } = parseDocument(text);
  if (!hasFrontmatter || problems.length > 0) return text;
  const original = readField(fields, CONFLICT_FIELD) ?? readField(fields, "name") ?? stemOf(path);
  return editFields(text, { name: `${original} (conflict ${mark.slice(0, 8)})`, [CONFLICT_FIELD]: original });
}

function readField(fields: readonly Field[], key: string): string | null {
  const value = findField(fields, [key])?.value;
  return typeof value === "string" && value.trim() !== "" ? value : null;
}
