/**
 * Frontmatter: a lenient reader that keeps the span of every field, so that an edit is a splice of the text.
 *
 * Not a YAML parser on purpose. People and agents write `description: fix: see #12`; YAML rejects the first colon and
 * cuts at the hash. Here a plain value is the rest of its line. Quotes, lists, maps and block texts are read as in
 * YAML; a line that is none of these is a problem, and the rest is still read.
 */

import { checkGivenType } from "../errors.ts";

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
  checkGivenType(typeof text === "string", "parseDocument", "`text` must be a string");
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
  checkGivenType(typeof body === "string", "formatDocument", "`body` must be a string");
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

// --- The fields and their values: plain, quoted, bracketed, listed, nested and block texts, each with where it ends.

export type FieldValue = string | FieldValue[] | { [key: string]: FieldValue };

export interface Field {
  key: string;
  value: FieldValue;
  /** How it was written: decides whether an unquoted `true` or `42` is text. */
  style: "plain" | "quoted" | "block" | "list" | "map" | "empty";
  /** The field's whole lines in the text, from the key's line to the end of its last line, line break included. */
  start: number;
  end: number;
  indent: number;
  /** A comment after a quoted or bracketed value, kept when the value is replaced. */
  comment: string;
  /** Fields inside, when the value is a block map. */
  fields: Field[];
}

type Line = ReturnType<typeof lineAt>;

interface ReadValue extends Pick<Field, "value" | "style" | "comment" | "fields"> {
  /** Index of the first line that does not belong to the value. */
  next: number;
  problem?: string | undefined;
}

/** A line of the frontmatter and its position in the text. `words`: without white space around it; `isBlank`: nothing, or a comment. */
function lineAt(text: string, start: number, number: number) {
  const newline = text.indexOf("\n", start);
  const end = newline < 0 ? text.length : newline + 1;
  const line = text.slice(start, newline < 0 ? end : newline).replace(/\r$/, "");
  const words = line.trim();
  const indent = line.length - line.trimStart().length;
  return { text: line, start, end, number, indent, words, isBlank: words === "" || words.startsWith("#") };
}

/** The fields of lines at the same indentation; more indented lines belong to the field above them. */
function parseMap(lines: readonly Line[], problems: string[]): Field[] {
  const fields: Field[] = [];
  const seen = new Set<string>();
  for (let at = 0; at < lines.length; ) {
    const line = lines[at] as Line;
    const colon = line.isBlank ? -1 : keyEnd(line.text);
    const key = colon < 0 ? "" : unquoteKey(line.text.slice(0, colon).trim());
    if (key === "") {
      if (!line.isBlank) problems.push(`line ${line.number} is not "key: value"`);
      at++;
      continue;
    }
    const { next, problem, ...value } = readValue(lines, at, line.text.slice(colon + 1).trim());
    if (problem) problems.push(`line ${line.number}: ${problem}`);
    if (seen.has(key)) problems.push(`line ${line.number}: "${key}" appears a second time`);
    seen.add(key);
    fields.push({ key, ...value, start: line.start, end: (lines[next - 1] as Line).end, indent: line.indent });
    at = next;
  }
  return fields;
}

/** Reads the value that starts with `rest`, behind the key of `lines[at]`. */
function readValue(lines: readonly Line[], at: number, rest: string): ReadValue {
  const { indent } = lines[at] as Line;
  const next = at + 1;
  if (rest === "" || rest.startsWith("#")) {
    const below = readBelow(lines, next, indent);
    return rest === "" ? below : { ...below, comment: ` ${rest}` };
  }
  if (/^[|>][-+0-9]*(\s+#.*)?$/.test(rest)) return readBlock(lines, next, indent, rest);
  if (rest[0] === '"' || rest[0] === "'") return readQuoted(lines, at, rest);
  if (rest[0] === "[" || rest[0] === "{") return readFlow(lines, at, indent, rest);
  return readPlain(lines, next, indent, rest);
}

function made(value: FieldValue, style: Field["style"], next: number, more: Partial<ReadValue> = {}): ReadValue {
  return { value, style, comment: "", fields: [], next, ...more };
}

/** Plain text; more indented lines that are not `key: value` continue it, as in YAML. */
function readPlain(lines: readonly Line[], from: number, indent: number, first: string): ReadValue {
  let value = first;
  let next = from;
  for (let line = lines[next]; line; line = lines[++next]) {
    if (line.isBlank || line.indent <= indent || /^\s*[^\s"'].*?:(\s|$)/.test(line.text)) break;
    value += ` ${line.words}`;
  }
  return made(value, "plain", next);
}

function readBlock(lines: readonly Line[], from: number, indent: number, marker: string): ReadValue {
  const taken: string[] = [];
  let depth = Number.POSITIVE_INFINITY;
  for (let line = lines[from]; line; line = lines[from + taken.length]) {
    if (line.words !== "") {
      // The first line sets the indentation; a comment that is indented less ends the text, as in YAML.
      const isComment = line.isBlank && taken.length > 0 && line.indent < depth;
      if (line.indent <= indent || isComment) break;
      depth = Math.min(depth, line.indent);
    }
    taken.push(line.text);
  }
  while (taken.at(-1)?.trim() === "") taken.pop();
  const texts = taken.map((text) => text.slice(depth));
  return made(marker.startsWith("|") ? texts.join("\n") : fold(texts), "block", from + taken.length);
}

/** Folded text: single line breaks become spaces, blank lines stay breaks, and so do all breaks beside a line that is indented further. */
function fold(texts: readonly string[]): string {
  let out = "";
  let breaks = 0;
  let wasDeep = false;
  for (const text of texts) {
    if (text.trim() === "") {
      breaks++;
      continue;
    }
    const isDeep = /^\s/.test(text);
    const kept = isDeep || wasDeep ? breaks + 1 : breaks;
    out += out === "" ? text : (kept > 0 ? "\n".repeat(kept) : " ") + text;
    [breaks, wasDeep] = [0, isDeep];
  }
  return out;
}

/** A list, a map or an indented text on the lines below an empty value. */
function readBelow(lines: readonly Line[], from: number, indent: number): ReadValue {
  let first = from;
  while (lines[first]?.isBlank) first++;
  const line = lines[first];
  if (line && line.indent >= indent && /^-(\s|$)/.test(line.words)) return readList(lines, first);
  if (!line || line.indent <= indent) return made("", "empty", from);

  let end = first;
  let last = first;
  for (let each = lines[end]; each; each = lines[++end]) {
    if (each.isBlank) continue;
    if (each.indent <= indent) break;
    last = end;
  }
  if (!isMapLine(line.text)) {
    if (line.words[0] === '"' || line.words[0] === "'") return readQuoted(lines, first, line.words);
    return made(fold(lines.slice(first, last + 1).map(({ words }) => words)), "plain", last + 1);
  }
  const problems: string[] = [];
  const fields = parseMap(lines.slice(first, end), problems);
  // A last line that looks like a comment may belong to a quoted or block text.
  while (last + 1 < end && (lines[last + 1] as Line).start < (fields.at(-1)?.end ?? 0)) last++;
  const value = Object.fromEntries(fields.map((field) => [field.key, field.value]));
  return made(value, "map", last + 1, { fields, problem: problems.join("; ") || undefined });
}

/** Text below its key may contain URLs and times, so only a colon before white space makes a map, as in YAML. */
function isMapLine(line: string): boolean {
  return /^\s*["']/.test(line) ? keyEnd(line) >= 0 : /:(\s|$)/.test(line);
}

function readList(lines: readonly Line[], from: number): ReadValue {
  const items: string[] = [];
  const depth = lines[from]?.indent ?? 0;
  let next = from;
  let problem: string | undefined;
  for (let at = from, line = lines[at]; line; line = lines[++at]) {
    if (line.isBlank) continue;
    if (line.indent === depth && /^-(\s|$)/.test(line.words)) {
      const item = readItem(line.words.slice(1).trim());
      problem ??= item.problem;
      items.push(item.value);
    } else {
      if (line.indent <= depth) break;
      items[items.length - 1] = `${items.at(-1)} ${line.words}`.trim();
    }
    next = at + 1;
  }
  return made(items, "list", next, { problem });
}

function readItem(text: string): { value: string; problem?: string } {
  if (text[0] !== '"' && text[0] !== "'") return { value: text };
  const close = closingQuote(text, text[0], 1);
  if (close < 0) return { value: text, problem: "a quote is never closed" };
  return { value: decodeQuoted(text.slice(0, close + 1)) };
}

function readQuoted(lines: readonly Line[], at: number, first: string): ReadValue {
  const quote = first[0] as string;
  // Each line is read once: a quote that is never closed must not take quadratic time.
  const pieces: string[] = [];
  let piece = first.slice(1);
  let breaks = 0;
  let next = at + 1;
  let close = closingQuote(piece, quote, 0);
  while (close < 0 && next < lines.length) {
    const more = (lines[next++] as Line).words;
    if (more === "" && next < lines.length) breaks++;
    else {
      const joined = quote === '"' && /(?<!\\)(\\\\)*\\$/.test(piece);
      pieces.push(joined ? piece.slice(0, -1) : piece, breaks > 0 ? "\n".repeat(breaks) : joined ? "" : " ");
      piece = more;
      breaks = 0;
      close = closingQuote(piece, quote, 0);
    }
  }
  if (close < 0) return made(first, "plain", at + 1, { problem: "a quote is never closed" });
  const tail = piece.slice(close + 1);
  if (tail.trim() !== "" && !/^\s+#/.test(tail))
    return made(first, "plain", at + 1, { problem: "there is text after the closing quote" });
  const inner = pieces.join("") + piece.slice(0, close);
  return made(decodeQuoted(quote + inner + quote), "quoted", next, { comment: tail.trimEnd() });
}

function readFlow(lines: readonly Line[], at: number, indent: number, first: string): ReadValue {
  const open = { depth: 0, quote: "" };
  let text = first;
  let next = at + 1;
  let close = closingBracket(first, open);
  for (let line = lines[next]; close < 0 && line; line = lines[++next]) {
    if (line.words !== "" && line.indent <= indent && keyEnd(line.text) > 0 && !line.words.startsWith("]")) break;
    const found = closingBracket(` ${line.words}`, open);
    if (found >= 0) close = text.length + found;
    text += ` ${line.words}`;
  }
  if (close < 0) return made(first, "plain", at + 1, { problem: `a "${first[0]}" is never closed` });
  const tail = text.slice(close + 1);
  // "[x] done: the rest" is a sentence, not a list.
  if (tail.trim() !== "" && !/^\s+#/.test(tail)) return readPlain(lines, at + 1, indent, first);
  const inner = splitFlow(text.slice(1, close));
  const comment = tail.trimEnd();
  if (text[0] === "[") return made(inner.map(unquoteScalar), "list", next, { comment });
  const entries = inner.map((part) => {
    const colon = keyEnd(part);
    const key = unquoteKey(colon < 0 ? part : part.slice(0, colon).trim());
    return [key, colon < 0 ? "" : unquoteScalar(part.slice(colon + 1).trim())];
  });
  return made(Object.fromEntries(entries), "map", next, { comment });
}

/** The parts between commas that are neither quoted nor in inner brackets. */
function splitFlow(text: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let start = 0;
  for (let i = 0; i <= text.length; i++) {
    const c = text[i];
    if ((c === '"' || c === "'") && text.slice(start, i).trim() === "") {
      const close = closingQuote(text, c, i + 1);
      if (close > 0) i = close;
    } else if (c === "[" || c === "{") depth++;
    else if (c === "]" || c === "}") depth--;
    else if (i === text.length || (c === "," && depth === 0)) {
      const part = text.slice(start, i).trim();
      if (part !== "") parts.push(part);
      start = i + 1;
    }
  }
  return parts;
}

/** Where the outermost bracket closes in this piece, or -1; `open` says what is still open for the next piece. */
function closingBracket(text: string, open: { depth: number; quote: string }): number {
  for (let i = 0; i < text.length; i++) {
    const c = text[i] as string;
    if (open.quote !== "") {
      i = closingQuote(text, open.quote, i);
      if (i < 0) return -1;
      open.quote = "";
    } else if ((c === '"' || c === "'") && /[[{,:\s]/.test(text[i - 1] ?? "")) open.quote = c;
    else if (c === "[" || c === "{") open.depth++;
    else if ((c === "]" || c === "}") && --open.depth === 0) return i;
  }
  return -1;
}

function closingQuote(text: string, quote: string, from: number): number {
  for (let i = from; i < text.length; i++) {
    if (quote === '"' && text[i] === "\\") i++;
    else if (text[i] === quote) {
      if (quote === "'" && text[i + 1] === "'") i++;
      else return i;
    }
  }
  return -1;
}

function unquoteScalar(text: string): string {
  const quoted = (text[0] === '"' || text[0] === "'") && closingQuote(text, text[0] as string, 1) === text.length - 1;
  return quoted ? decodeQuoted(text) : text;
}

const ESCAPES: Record<string, string> = {
  "0": "\0",
  a: "\x07",
  b: "\b",
  t: "\t",
  n: "\n",
  v: "\v",
  f: "\f",
  r: "\r",
  e: "\x1b",
  N: "\x85",
  _: "\xa0",
  L: "\u2028",
  P: "\u2029",
};

function decodeQuoted(text: string): string {
  const inner = text.slice(1, -1);
  if (text[0] === "'") return inner.replaceAll("''", "'");
  return inner.replace(/\\(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[\s\S])/g, (_, code: string) => {
    if (code.length === 1) return ESCAPES[code] ?? code;
    const point = Number.parseInt(code.slice(1), 16);
    return code[0] === "U" && point <= 0x10ffff ? String.fromCodePoint(point) : String.fromCharCode(point);
  });
}

/** Where the key's colon is, or -1. A quoted key may contain colons. */
export function keyEnd(line: string): number {
  const text = line.trimStart();
  const quote = text[0];
  if (quote === '"' || quote === "'") {
    // The quoted part must be the whole key: a quoted text may also contain colons and escaped quotes.
    const key = (quote === '"' ? /^"(?:\\.|[^"\\])*"\s*:/ : /^'(?:''|[^'])*'\s*:/).exec(text);
    return key ? key[0].length - 1 + line.length - text.length : -1;
  }
  return line.indexOf(":");
}

function unquoteKey(key: string): string {
  const quote = key[0];
  return (quote === '"' || quote === "'") && key.length > 1 && key.endsWith(quote) ? key.slice(1, -1) : key;
}
