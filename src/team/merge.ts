/** Two people's changes of one memory brought together: fields one by one, the body by its sections. Never with markers: what cannot be merged becomes a copy beside it. */

import { CONFLICT_FIELD, stemOf } from "../store/store.ts";
import { mergeLines, pickChanged } from "../text/diff.ts";
import {
  type Document,
  editFields,
  type Field,
  type FieldValue,
  findField,
  formatScalar,
  parseDocument,
} from "../text/frontmatter.ts";
import { sha256 } from "../text/hash.ts";
import { blankCode, splitLines } from "../text/lines.ts";
import { findEntryProblem } from "./protocol.ts";

/** A text with both changes in it, whole; null where there is none: the caller keeps one side beside the other. */
export function mergeMemory(base: string, ours: string, theirs: string): string | null {
  const simple = pickChanged(base, ours, theirs);
  if (simple !== null) return simple;
  const documents = ofEach([base, ours, theirs], parseDocument);
  // What is not understood is only compared line by line.
  if (documents.some(({ hasFrontmatter, problems }) => !hasFrontmatter || problems.length > 0)) {
    if (documents.some(({ hasFrontmatter, problems }) => hasFrontmatter || problems.length > 0))
      return mergeLines(base, ours, theirs);
    return mergeBodies(base, ours, theirs);
  }
  const head = mergeFields(...documents);
  if (head === null) return null;
  const body = mergeBodies(...ofEach(documents, ({ text, bodyStart }) => text.slice(bodyStart)));
  return body === null ? null : head + body;
}

/** Sections first, as two that are added at the same place do not conflict; a heading that was reworded needs the whole. */
function mergeBodies(base: string, ours: string, theirs: string): string | null {
  return pickChanged(base, ours, theirs) ?? mergeSections(base, ours, theirs) ?? mergeLines(base, ours, theirs);
}

interface Section {
  /** The heading's line, or "" for what comes before the first one; with a number when it comes again. */
  key: string;
  /** Without the blank lines at its end. */
  text: string;
  blank: string;
}

/** Null where both changed the same lines, one changed what the other removed, or both reordered the sections. */
function mergeSections(base: string, ours: string, theirs: string): string | null {
  const [before, our, their] = ofEach([base, ours, theirs], sectionsOf);
  const order = mergeOrder(before, our, their);
  if (order === null) return null;
  const merged: Section[] = [];
  for (const key of order) {
    const [b, o, t] = [before.get(key), our.get(key), their.get(key)];
    if (b && (!o || !t)) {
      // Removed by one: gone if the other left it as it was.
      if ((o ?? t ?? b).text !== b.text) return null;
      continue;
    }
    const text = mergeLines(b?.text ?? "", o?.text ?? b?.text ?? "", t?.text ?? b?.text ?? "");
    if (text === null) return null;
    const blanks = [b?.blank, o?.blank ?? b?.blank, t?.blank ?? b?.blank] as const;
    merged.push({ key, text, blank: pickChanged(...blanks) ?? blanks[2] ?? "" });
  }
  return joinSections(merged, theirs.includes("\r\n") ? "\r\n" : "\n");
}

type Sections = ReadonlyMap<string, Section>;

function sectionsOf(body: string): Sections {
  const sections = new Map<string, Section>();
  let lines: string[] = [];
  let heading = "";
  const close = () => {
    let number = 1;
    let key = heading;
    while (sections.has(key)) key = `${heading}\n${++number}`;
    const all = lines.join("");
    const text = lines.slice(0, lines.findLastIndex((line) => line.trim() !== "") + 1).join("");
    // The first one is there even when it is empty, so that all three bodies begin alike.
    if (all !== "" || heading === "") sections.set(key, { key, text, blank: all.slice(text.length) });
  };
  const codeless = splitLines(blankCode(body));
  for (const [at, line] of splitLines(body).entries()) {
    if (/^ {0,3}#{1,6}\s/.test(codeless[at] ?? "")) {
      close();
      heading = line.trim();
      lines = [];
    }
    lines.push(line);
  }
  close();
  return sections;
}

/** The side that put them in another order wins; what only one side has stays behind what it followed. */
function mergeOrder(base: Sections, ours: Sections, theirs: Sections): string[] | null {
  const common = [...base.keys()].filter((key) => ours.has(key) && theirs.has(key));
  const isCommon = new Set(common);
  const [before, our, their] = ofEach([base, ours, theirs], (side) =>
    [...side.keys()].filter((key) => isCommon.has(key)).join("\0"),
  );
  const chosen = pickChanged(before, our, their);
  if (chosen === null) return null;
  const [lead, other] = chosen === their ? [theirs, ours] : [ours, theirs];
  return joinKeys(lead, other);
}

/** The lead's keys, with each one that only the other has behind the one that it follows there. */
export function joinKeys(lead: ReadonlyMap<string, unknown>, other: ReadonlyMap<string, unknown>): string[] {
  const order = [...lead.keys()];
  let previous: string | null = null;
  for (const key of other.keys()) {
    if (!lead.has(key)) order.splice(previous === null ? 0 : order.indexOf(previous) + 1, 0, key);
    previous = key;
  }
  return order;
}

function joinSections(sections: readonly Section[], eol: string): string {
  const filled = sections.filter(({ text, blank }) => text !== "" || blank !== "");
  return filled
    .map(({ text, blank }, i) => {
      if (i === filled.length - 1) return text + blank;
      const ended = text === "" || text.endsWith("\n") ? text : text + eol;
      // What was the last section has no blank line behind it yet, and headings follow one.
      const isLone = blank === "" && text !== "" && filled[i + 1]?.text.startsWith("#") === true;
      return ended + (isLone ? eol : blank);
    })
    .join("");
}

/** A field's lines, with the comments and blank lines that follow it; `blocks` are those of the fields in it, and `opening` is what comes before them. */
interface Block {
  field: Field;
  raw: string;
  opening: string;
  blocks: Blocks;
}

/** Everything up to the body; null where both changed one field in ways that cannot both hold. */
function mergeFields(base: Document, ours: Document, theirs: Document): string | null {
  const [before, our, their] = ofEach([base, ours, theirs], ({ text, fields, fenceStart, bodyStart }) => ({
    opening: text.slice(0, fields[0]?.start ?? fenceStart),
    blocks: blocksOf(text, fields, fenceStart),
    fence: text.slice(fenceStart, bodyStart),
  }));
  const opening = pickChanged(before.opening, our.opening, their.opening) ?? their.opening;
  const fence = pickChanged(before.fence, our.fence, their.fence) ?? their.fence;
  const blocks = mergeBlocks(before.blocks, our.blocks, their.blocks, theirs.eol);
  return blocks === null ? null : opening + blocks + fence;
}

/** The same of all three sides. */
export function ofEach<T, R>(sides: readonly [T, T, T], make: (side: T) => R): [R, R, R] {
  return sides.map((side) => make(side)) as [R, R, R];
}

type Blocks = ReadonlyMap<string, Block>;

function blocksOf(text: string, fields: readonly Field[], end: number): Blocks {
  return new Map(
    fields.map((field, i) => {
      const stop = fields[i + 1]?.start ?? end;
      const opening = text.slice(field.start, field.fields[0]?.start ?? stop);
      const blocks = blocksOf(text, field.fields, stop);
      return [field.key, { field, raw: text.slice(field.start, stop), opening, blocks }];
    }),
  );
}

function mergeBlocks(base: Blocks, ours: Blocks, theirs: Blocks, eol: string): string | null {
  const raws = joinKeys(theirs, ours).map((key) =>
    mergeField(key, [base.get(key), ours.get(key), theirs.get(key)], eol),
  );
  return raws.includes(null) ? null : raws.join("");
}

/** One field of base, ours and theirs. */
type Sides = readonly [Block | undefined, Block | undefined, Block | undefined];

/** The field's lines, "" when it goes; null for a conflict. */
function mergeField(key: string, sides: Sides, eol: string): string | null {
  const [base, ours, theirs] = sides;
  const simple = pickChanged(base?.raw ?? "", ours?.raw ?? "", theirs?.raw ?? "");
  if (simple !== null) return simple;
  const [before, our, their] = ofEach(sides, (block) => block?.field.value);
  if (ours && theirs && JSON.stringify(our) === JSON.stringify(their)) return theirs.raw;
  if (isDated(key, our) || isDated(key, their)) return laterOf(ours, theirs);
  if ([before, our, their].every((value) => value === undefined || isList(value))) return mergeLists(key, sides, eol);
  return ours && theirs ? mergeMaps(base, ours, theirs, eol) : null;
}

/** The later of two stamps counts: it was checked, or changed, after the other. */
const STAMPS: ReadonlySet<string> = new Set(["modified", "verified", "created", "updated", "reviewed"]);

function isDated(key: string, value: FieldValue | undefined): boolean {
  return (
    typeof value === "string" && (STAMPS.has(key) || /^\d{4}-\d\d-\d\d(T|$)/.test(value)) && timeOf(value) !== null
  );
}

function timeOf(value: FieldValue | undefined): number | null {
  const time = typeof value === "string" ? Date.parse(value) : Number.NaN;
  return Number.isNaN(time) ? null : time;
}

/** A side that removed the stamp gives way; words in its place were written by a person, and are not ours to drop. Equal times go to theirs. */
function laterOf(ours: Block | undefined, theirs: Block | undefined): string | null {
  const [our, their] = [timeOf(ours?.field.value), timeOf(theirs?.field.value)];
  if ((ours && our === null) || (theirs && their === null)) return null;
  return ((our ?? -Infinity) > (their ?? -Infinity) ? ours : theirs)?.raw ?? "";
}

function isList(value: FieldValue): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}

/** Items that either side removed go, items that either side added come. */
function mergeLists(key: string, sides: Sides, eol: string): string {
  const [, ours, theirs] = sides;
  const [before, our, their] = ofEach(sides, (block) => (block?.field.value ?? []) as string[]);
  const gone = before.filter((item) => !our.includes(item) || !their.includes(item));
  const all = [...new Set([...their, ...our])].filter((item) => !gone.includes(item));
  for (const block of [theirs, ours]) {
    if (block && JSON.stringify(block.field.value) === JSON.stringify(all)) return block.raw;
  }
  if (all.length === 0) return "";
  const sample = (theirs ?? ours) as Block;
  const pad = " ".repeat(sample.field.indent);
  return `${pad}${key}:${eol}${all.map((item) => `${pad}  - ${formatScalar(item)}${eol}`).join("")}`;
}

/** `metadata:`, under which clients keep fields of their own. */
function mergeMaps(base: Block | undefined, ours: Block, theirs: Block, eol: string): string | null {
  if ([base, ours, theirs].some((block) => block?.blocks.size === 0)) return null;
  const blocks = mergeBlocks(base?.blocks ?? new Map(), ours.blocks, theirs.blocks, eol);
  return blocks === null ? null : theirs.opening + blocks;
}

// --- A text that could not be merged, kept as a memory of its own beside the one that it competes with.

export type ConflictCopy = ReturnType<typeof makeCopy>;

/** Digits of the text's hash in the name: usually few, more when the short name is taken by another text. */
const DIGITS = [8, 16, 64] as const;

/** The same text at the same path always makes the same copy, so that a pass that is run again makes no second one. */
export function makeConflictCopy(path: string, text: string, isTaken: (copy: ConflictCopy) => boolean = () => false) {
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
