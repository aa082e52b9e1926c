/**
 * Frontmatter: a lenient reader that keeps the span of every field, so that an edit is a splice of the text.
 *
 * Not a YAML parser on purpose. People and agents write `description: fix: see #12`; YAML rejects the first colon and cuts
 * at the hash. Here a plain value is the rest of its line. Quotes, lists, maps and block texts are read as YAML means them;
 * a line that fits nothing is a problem, and the rest is still read.
 */

import {
  type Field,
  type FieldValue,
  indentOf,
  isBlankOrComment,
  keyEnd,
  type Line,
  readValue,
  unquoteKey,
} from "./frontmatter-value.ts";

export type { Field, FieldValue };

export interface Document {
  text: string;
  /** False when there is no frontmatter, or its end is missing: then everything is body. */
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

export function parseDocument(text: string): Document {
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
      return { ...whole, problems: ["the frontmatter that begins in line 1 has no closing `---`"] };
    }
    line = lineAt(text, line.end, line.number + 1);
    if (line.text.trim() === "---") break;
    lines.push(line);
  }
  const problems: string[] = [];
  const fields = parseMap(lines, 0, lines.length, problems);
  return {
    ...whole,
    hasFrontmatter: true,
    fields,
    fenceStart: line.start,
    bodyStart: line.end,
    body: text.slice(line.end).trim(),
    problems,
  };
}

/** The fields of `lines[from..to)`, all of one indentation; deeper lines belong to the field above them. */
function parseMap(lines: readonly Line[], from: number, to: number, problems: string[]): Field[] {
  const fields: Field[] = [];
  const seen = new Set<string>();
  let i = from;
  while (i < to) {
    const line = lines[i] as Line;
    if (isBlankOrComment(line.text)) {
      i++;
      continue;
    }
    const colon = keyEnd(line.text);
    const key = colon < 0 ? "" : unquoteKey(line.text.slice(0, colon).trim());
    if (key === "") {
      problems.push(`line ${line.number} is not "key: value"`);
      i++;
      continue;
    }
    const indent = indentOf(line.text);
    const value = readValue(lines, i, to, colon + 1, indent, parseMap);
    if (value.problem) problems.push(`line ${line.number}: ${value.problem}`);
    if (seen.has(key)) problems.push(`line ${line.number}: "${key}" stands here a second time`);
    seen.add(key);
    const last = lines[value.next - 1] as Line;
    fields.push({
      key,
      value: value.value,
      style: value.style,
      start: line.start,
      end: last.end,
      indent,
      comment: value.comment,
      fields: value.fields,
    });
    i = value.next;
  }
  return fields;
}

function lineAt(text: string, start: number, number: number): Line {
  const newline = text.indexOf("\n", start);
  const end = newline < 0 ? text.length : newline + 1;
  const raw = text.slice(start, newline < 0 ? end : newline);
  return { text: raw.endsWith("\r") ? raw.slice(0, -1) : raw, start, end, number };
}

/** The field at a path such as `["metadata", "type"]`, or null. */
export function findField(fields: readonly Field[], path: readonly string[]): Field | null {
  const [key, ...rest] = path;
  const field = fields.find((f) => f.key === key);
  if (!field) return null;
  return rest.length === 0 ? field : findField(field.fields, rest);
}
