/**
 * Frontmatter: a lenient reader that keeps the span of every field, so that an edit is a splice of the text.
 *
 * Not a YAML parser on purpose. People and agents write `description: fix: see #12`; YAML rejects the first colon and
 * cuts at the hash. Here a plain value is the rest of its line. Quotes, lists, maps and block texts are read as in
 * YAML; a line that is none of these is a problem, and the rest is still read.
 */

import { checkGivenType } from "../errors.ts";
import { type Field, type FieldValue, type Line, lineAt, parseMap } from "./frontmatter-value.ts";

export type { Field, FieldValue };

export interface Document {
  text: string;
  /** False if there is no frontmatter or its closing fence is missing; then everything is body. */
  hasFrontmatter: boolean;
  fields: Field[];
  /** Where the closing fence's line starts: new fields go before it. */
  fenceStart: number;
  /** Where the text after the closing fence's line starts. */
  bodyStart: number;
  body: string;
  eol: "\n" | "\r\n";
  /** What could not be read, with line numbers. A document with problems must not be rewritten. */
  problems: string[];
}

const BOM = "\uFEFF";

/** Splits a Markdown text into its frontmatter and its body. */
export function parseDocument(text: string): Document {
  checkGivenType(typeof text === "string", "parseDocument", "`text` must be a text");
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  const from = text.startsWith(BOM) ? 1 : 0;
  const whole: Document = {
    text,
    hasFrontmatter: false,
    fields: [],
    fenceStart: from,
    bodyStart: from,
    body: text.slice(from),
    eol,
    problems: [],
  };
  const first = lineAt(text, from, 1);
  if (first.text.trim() !== "---") return whole;

  const lines: Line[] = [];
  let line = first;
  for (;;) {
    if (line.end >= text.length) {
      return { ...whole, problems: ["the frontmatter that begins on line 1 has no closing `---`"] };
    }
    line = lineAt(text, line.end, line.number + 1);
    if (line.text.trim() === "---") break;
    lines.push(line);
  }
  const problems: string[] = [];
  const fields = parseMap(lines, problems);
  const body = text.slice(line.end).trim();
  return { ...whole, hasFrontmatter: true, fields, fenceStart: line.start, bodyStart: line.end, body, problems };
}

/** The field at a path such as `["metadata", "type"]`, or null. */
export function findField(fields: readonly Field[], path: readonly string[]): Field | null {
  const [key, ...rest] = path;
  const field = fields.find((f) => f.key === key);
  if (!field) return null;
  return rest.length === 0 ? field : findField(field.fields, rest);
}

// --- Writing frontmatter: strict formatting of new text, and edits that change only the bytes they have to.

/** A boolean is written bare; text that looks like one is quoted. */
export type MetadataValue = string | boolean | readonly string[];
export type Metadata = Record<string, MetadataValue | undefined>;

/** Formats a new text from its fields and body. Empty values are omitted; lists have one line per item. */
export function formatDocument(metadata: Metadata, body: string): string {
  checkGivenType(isFields(metadata), "formatDocument", "`metadata` must be an object of texts and lists of texts");
  checkGivenType(typeof body === "string", "formatDocument", "`body` must be a text");
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
  checkGivenType(isFields(changes), "editFields", "`changes` must be an object of texts, lists of texts and nulls");
  let out = text;
  for (const [key, value] of Object.entries(changes)) out = editField(parseDocument(out), key, value);
  return out;
}

function isFields(given: unknown): boolean {
  if (typeof given !== "object" || given === null) return false;
  return Object.values(given).every((value) => value == null || ["string", "boolean", "object"].includes(typeof value));
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
  // A blank line follows the frontmatter; without it, a body that starts with `---` would be read as one.
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
  // After a plain value the comment would be read as part of it.
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

/** Escapes what strict YAML readers reject, and a `---` that Claude Code would read as the end of the frontmatter. */
function quote(value: string): string {
  return JSON.stringify(value).replace(
    /[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]|-(?=--\s)/g,
    (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
