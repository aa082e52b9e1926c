/** Writing frontmatter: strict formatting of new text, and edits that change only the bytes they must. */

import type { Document, Field, FieldValue } from "./frontmatter.ts";
import { findField, parseDocument } from "./frontmatter.ts";

/** A boolean is written bare; text that looks like one is quoted. */
export type MetadataValue = string | boolean | readonly string[];
export type Metadata = Record<string, MetadataValue | undefined>;

/** A new text from its fields and body. Empty values are left out; lists get a line per item. */
export function formatDocument(metadata: Metadata, body: string): string {
  const fields = Object.entries(metadata)
    .flatMap(([key, value]) => (value === undefined || isEmpty(value) ? [] : [formatField(key, value, 0, "\n")]))
    .join("");
  const text = body.trim();
  return `---\n${fields}---\n${text === "" ? "" : `\n${text}\n`}`;
}

/**
 * Sets or removes (`null`) fields, leaving every other byte as it is. A field is looked for at the top level, then under
 * `metadata`, where Claude Code moves fields; a new one goes to where the document keeps its `type`.
 */
export function editFields(text: string, changes: Record<string, MetadataValue | null>): string {
  let out = text;
  for (const [key, value] of Object.entries(changes)) out = editField(parseDocument(out), key, value);
  return out;
}

function editField(document: Document, key: string, value: MetadataValue | null): string {
  const { text } = document;
  // A text without frontmatter gets none.
  if (!document.hasFrontmatter) return text;
  const eol = text.startsWith("\r\n", text.indexOf("\n") - 1) ? "\r\n" : "\n";
  const field = findField(document.fields, [key]) ?? findField(document.fields, ["metadata", key]);
  if (field) {
    if (value === null) return text.slice(0, field.start) + text.slice(field.end);
    if (sameValue(field.value, value)) return text;
    const line = formatField(key, value, field.indent, eol, field.comment);
    return text.slice(0, field.start) + line + text.slice(field.end);
  }
  if (value === null) return text;
  const metadata = findField(document.fields, ["metadata"]);
  const last = metadata?.fields.at(-1);
  const nested = last !== undefined && !TOP_LEVEL.has(key) && findField(document.fields, ["type"]) === null;
  const at = nested ? (last as Field).end : document.fenceStart;
  return text.slice(0, at) + formatField(key, value, nested ? (last as Field).indent : 0, eol) + text.slice(at);
}

/** Claude Code leaves these two at the top and moves the rest under `metadata`. */
const TOP_LEVEL: ReadonlySet<string> = new Set(["name", "description"]);

/** Replaces the body and keeps the blank lines around it. */
export function editBody(text: string, body: string): string {
  const document = parseDocument(text);
  const lines = body.trim().replaceAll("\r\n", "\n");
  const region = text.slice(document.bodyStart);
  if (region.trim().replaceAll("\r\n", "\n") === lines) return text;
  const next = lines.replaceAll("\n", document.eol);
  const blank = region.trim() === "";
  let lead = blank ? "" : region.slice(0, region.length - region.trimStart().length);
  // After the frontmatter a blank line; without one, a first line `---` would become its beginning.
  if (lead === "" && (document.hasFrontmatter ? blank : lines.split("\n", 1)[0]?.trim() === "---")) lead = document.eol;
  const tail = blank ? document.eol : region.slice(region.trimEnd().length);
  return text.slice(0, document.bodyStart) + lead + next + tail;
}

function isEmpty(value: MetadataValue): boolean {
  return typeof value !== "boolean" && value.length === 0;
}

function sameValue(a: FieldValue, b: MetadataValue): boolean {
  if (typeof b === "boolean") return a === String(b);
  if (typeof a === "string" || typeof b === "string") return a === b;
  return Array.isArray(a) && a.length === b.length && a.every((item, i) => item === b[i]);
}

function formatField(key: string, value: MetadataValue, indent: number, eol: string, comment = ""): string {
  const pad = " ".repeat(indent);
  if (typeof value === "boolean") return `${pad}${key}: ${value}${comment}${eol}`;
  // Behind a plain value the comment would be read as a part of it.
  if (typeof value === "string")
    return `${pad}${key}: ${comment === "" ? formatScalar(value) : quote(value)}${comment}${eol}`;
  return `${pad}${key}:${comment}${eol}${value.map((item) => `${pad}  - ${formatScalar(item)}${eol}`).join("")}`;
}

/** Plain where every YAML reader and ours agree on it, else double-quoted as in JSON. */
export function formatScalar(value: string): string {
  return isPlain(value) ? value : quote(value);
}

const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;

function isPlain(value: string): boolean {
  // Claude Code writes its timestamps unquoted.
  if (TIMESTAMP.test(value)) return true;
  if (!/^([\p{L}\p{N}_(/]|\.[\p{L}/])/u.test(value) || value !== value.trim()) return false;
  if (/[\p{Cc}\u2028\u2029\ufeff\ufffe\uffff]|: | #|:$|---(\s|$)/u.test(value) || !value.isWellFormed()) return false;
  if (/^(true|false|null|yes|no|on|off|y|n|nan|inf)$/i.test(value)) return false;
  // Anything that starts like a number, date or special float may be taken for one.
  return !/^[-+.]?[0-9]/.test(value) && !/^\.(inf|nan)$/i.test(value) && !/^(---|\.\.\.)/.test(value);
}

/** Escapes what strict YAML readers refuse, and a `---` that Claude Code would take for the end of the frontmatter. */
function quote(value: string): string {
  return JSON.stringify(value).replace(
    /[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]|-(?=--\s)/g,
    (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
