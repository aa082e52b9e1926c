/** Three frontmatters made one, field by field: the bytes of a field that only one side touched stay as they were written. */

import { pickChanged } from "../text/diff.ts";
import { type Document, type Field, type FieldValue, formatScalar } from "../text/frontmatter.ts";

/** A field's lines, with the comments and blank lines that follow it. */
interface Block {
  field: Field;
  raw: string;
}

/** Everything up to the body; null where both changed one field in ways that cannot both hold. */
export function mergeFields(base: Document, ours: Document, theirs: Document): string | null {
  const [before, our, their] = [base, ours, theirs].map((document) => ({
    opening: document.text.slice(0, document.fields[0]?.start ?? document.fenceStart),
    blocks: blocksOf(document.text, document.fields, document.fenceStart),
    fence: document.text.slice(document.fenceStart, document.bodyStart),
  })) as [Head, Head, Head];
  const opening = pickChanged(before.opening, our.opening, their.opening) ?? their.opening;
  const fence = pickChanged(before.fence, our.fence, their.fence) ?? their.fence;
  const blocks = mergeBlocks(before.blocks, our.blocks, their.blocks, theirs.eol);
  return blocks === null ? null : opening + blocks + fence;
}

interface Head {
  opening: string;
  blocks: Map<string, Block>;
  fence: string;
}

function blocksOf(text: string, fields: readonly Field[], end: number): Map<string, Block> {
  return new Map(
    fields.map((field, i) => [field.key, { field, raw: text.slice(field.start, fields[i + 1]?.start ?? end) }]),
  );
}

type Blocks = ReadonlyMap<string, Block>;

function mergeBlocks(base: Blocks, ours: Blocks, theirs: Blocks, eol: string): string | null {
  const merged = new Map<string, string>();
  for (const key of orderOf(ours, theirs)) {
    const raw = mergeField(key, base.get(key), ours.get(key), theirs.get(key), eol);
    if (raw === null) return null;
    merged.set(key, raw);
  }
  return [...merged.values()].join("");
}

/** Theirs, with each key that only we have behind the one that it follows in ours. */
function orderOf(ours: Blocks, theirs: Blocks): string[] {
  const order = [...theirs.keys()];
  let previous: string | null = null;
  for (const key of ours.keys()) {
    if (!theirs.has(key)) order.splice(previous === null ? 0 : order.indexOf(previous) + 1, 0, key);
    previous = key;
  }
  return order;
}

/** The field's lines, "" when it goes; null for a conflict. */
function mergeField(
  key: string,
  base: Block | undefined,
  ours: Block | undefined,
  theirs: Block | undefined,
  eol: string,
): string | null {
  const simple = pickChanged(base?.raw ?? "", ours?.raw ?? "", theirs?.raw ?? "");
  if (simple !== null) return simple;
  const [before, our, their] = [base, ours, theirs].map((block) => block?.field.value);
  if (ours && theirs && JSON.stringify(our) === JSON.stringify(their)) return theirs.raw;
  if (isDated(key, our) || isDated(key, their)) return laterOf(ours, theirs);
  if ([before, our, their].every((value) => value === undefined || isList(value)))
    return mergeLists(key, base, ours, theirs, eol);
  return ours && theirs ? mergeMaps(base, ours, theirs, eol) : null;
}

/** Of two stamps the later one tells more: it was checked, or changed, after the other. */
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

/** A side that took the stamp out, or wrote something that is none, gives way; equal times in other words go to theirs. */
function laterOf(ours: Block | undefined, theirs: Block | undefined): string | null {
  const [our, their] = [timeOf(ours?.field.value), timeOf(theirs?.field.value)];
  if (our === null || their === null) {
    const other = our === null ? ours : theirs;
    // Words in the place of a date are somebody's, and not ours to drop.
    if (other) return null;
    return (our === null ? theirs : ours)?.raw ?? "";
  }
  return (our > their ? ours : theirs)?.raw ?? "";
}

function isList(value: FieldValue): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}

/** Items that either side took out go, items that either side added come. */
function mergeLists(
  key: string,
  base: Block | undefined,
  ours: Block | undefined,
  theirs: Block | undefined,
  eol: string,
): string {
  const [before, our, their] = [base, ours, theirs].map((block) => (block?.field.value ?? []) as string[]) as [
    string[],
    string[],
    string[],
  ];
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
  const [before, our, their] = [base, ours, theirs].map((block) => {
    const fields = block?.field.fields ?? [];
    const first = fields[0];
    if (!block || !first) return null;
    // Spans count from the start of the text, the block begins at its field.
    const shift = block.field.start;
    const moved = fields.map((field) => ({ ...field, start: field.start - shift, end: field.end - shift }));
    return { opening: block.raw.slice(0, first.start - shift), blocks: blocksOf(block.raw, moved, block.raw.length) };
  });
  if (!our || !their || (base && !before)) return null;
  const blocks = mergeBlocks(before?.blocks ?? new Map(), our.blocks, their.blocks, eol);
  return blocks === null ? null : their.opening + blocks;
}
