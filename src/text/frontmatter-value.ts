/** Values of frontmatter fields: plain, quoted, bracketed, listed, nested and block texts, each with where it ends. */

import type { Field, FieldValue, Line } from "./frontmatter-line.ts";
import { indentOf, isBlankOrComment, keyEnd } from "./frontmatter-line.ts";

export interface ReadValue {
  value: FieldValue;
  style: Field["style"];
  comment: string;
  fields: Field[];
  /** Index of the first line that does not belong to the value. */
  next: number;
  problem?: string;
}

type ParseMap = (lines: readonly Line[], from: number, to: number, problems: string[]) => Field[];

/** Reads the value that starts at `column` of `lines[at]`, whose key is indented by `indent`. */
export function readValue(
  lines: readonly Line[],
  at: number,
  to: number,
  column: number,
  indent: number,
  parseMap: ParseMap,
): ReadValue {
  const rest = (lines[at] as Line).text.slice(column).trim();
  const next = at + 1;
  if (rest === "" || rest.startsWith("#")) return readBelow(lines, next, to, indent, parseMap);
  if (/^[|>][-+0-9]*(\s+#.*)?$/.test(rest)) return readBlock(lines, next, to, indent, rest);
  if (rest[0] === '"' || rest[0] === "'") return readQuoted(lines, at, to, rest);
  if (rest[0] === "[" || rest[0] === "{") return readFlow(lines, at, to, indent, rest);
  return readPlain(lines, next, to, indent, rest);
}

function scalar(value: string, style: Field["style"], next: number, problem?: string): ReadValue {
  return { value, style, comment: "", fields: [], next, ...(problem ? { problem } : {}) };
}

/** Plain text; deeper lines that are no `key: value` continue it, as in YAML. */
function readPlain(lines: readonly Line[], from: number, to: number, indent: number, first: string): ReadValue {
  let value = first;
  let next = from;
  while (next < to) {
    const text = (lines[next] as Line).text;
    if (isBlankOrComment(text) || indentOf(text) <= indent || /^\s*[^\s"'].*?:(\s|$)/.test(text)) break;
    value += ` ${text.trim()}`;
    next++;
  }
  return scalar(value, "plain", next);
}

function readBlock(lines: readonly Line[], from: number, to: number, indent: number, marker: string): ReadValue {
  const taken: string[] = [];
  let next = from;
  while (next < to) {
    const text = (lines[next] as Line).text;
    if (text.trim() !== "" && indentOf(text) <= indent) break;
    taken.push(text);
    next++;
  }
  while (taken.length > 0 && (taken[taken.length - 1] as string).trim() === "") {
    taken.pop();
    next--;
  }
  const depth = Math.min(...taken.filter((t) => t.trim() !== "").map(indentOf));
  const texts = taken.map((t) => t.slice(Number.isFinite(depth) ? depth : 0));
  const value = marker.startsWith("|") ? texts.join("\n") : fold(texts);
  return scalar(value, "block", next);
}

/** Folded text: single line breaks become spaces, blank lines stay breaks. */
function fold(texts: readonly string[]): string {
  let out = "";
  let breaks = 0;
  for (const text of texts) {
    if (text.trim() === "") breaks++;
    else {
      out += out === "" ? text : breaks > 0 ? "\n".repeat(breaks) + text : ` ${text}`;
      breaks = 0;
    }
  }
  return out;
}

/** A list, a map or an indented text on the lines below an empty value. */
function readBelow(lines: readonly Line[], from: number, to: number, indent: number, parseMap: ParseMap): ReadValue {
  let first = from;
  while (first < to && isBlankOrComment((lines[first] as Line).text)) first++;
  const line = lines[first];
  if (first >= to || !line) return scalar("", "empty", from);
  const depth = indentOf(line.text);
  if (depth >= indent && /^\s*-(\s|$)/.test(line.text)) return readList(lines, first, to, depth);
  if (depth <= indent) return scalar("", "empty", from);

  let end = first;
  let last = first;
  while (end < to) {
    const text = (lines[end] as Line).text;
    if (!isBlankOrComment(text)) {
      if (indentOf(text) <= indent) break;
      last = end;
    }
    end++;
  }
  if (keyEnd(line.text) < 0) {
    const texts = lines.slice(first, last + 1).map((l) => l.text.trim());
    return scalar(fold(texts), "plain", last + 1);
  }
  const problems: string[] = [];
  const fields = parseMap(lines, first, last + 1, problems);
  const value = Object.fromEntries(fields.map((f) => [f.key, f.value]));
  const read: ReadValue = { value, style: "map", comment: "", fields, next: last + 1 };
  return problems.length > 0 ? { ...read, problem: problems.join("; ") } : read;
}

function readList(lines: readonly Line[], from: number, to: number, depth: number): ReadValue {
  const items: string[] = [];
  let next = from;
  let last = from;
  let problem: string | undefined;
  while (next < to) {
    const text = (lines[next] as Line).text;
    const isItem = indentOf(text) === depth && /^\s*-(\s|$)/.test(text);
    if (isItem) {
      const item = readItem(text.trim().slice(1).trim());
      problem ??= item.problem;
      items.push(item.value);
    } else if (!isBlankOrComment(text)) {
      if (indentOf(text) <= depth) break;
      items[items.length - 1] = `${items[items.length - 1]} ${text.trim()}`.trim();
    }
    if (!isBlankOrComment(text)) last = next;
    next++;
  }
  const read: ReadValue = { value: items, style: "list", comment: "", fields: [], next: last + 1 };
  return problem ? { ...read, problem } : read;
}

function readItem(text: string): { value: string; problem?: string } {
  if (text[0] !== '"' && text[0] !== "'") return { value: text };
  const close = closingQuote(text, 0);
  if (close < 0) return { value: text, problem: "a quote is never closed" };
  return { value: decodeQuoted(text.slice(0, close + 1)) };
}

function readQuoted(lines: readonly Line[], at: number, to: number, first: string): ReadValue {
  let text = first;
  let next = at + 1;
  let close = closingQuote(text, 0);
  while (close < 0 && next < to) {
    const more = (lines[next] as Line).text.trim();
    text =
      text.endsWith("\\") && first[0] === '"' ? text.slice(0, -1) + more : `${text}${more === "" ? "\n" : ` ${more}`}`;
    close = closingQuote(text, 0);
    next++;
  }
  if (close < 0) return scalar(first, "plain", at + 1, "a quote is never closed");
  const tail = text.slice(close + 1);
  if (tail.trim() !== "" && !/^\s+#/.test(tail)) {
    return scalar(first, "plain", at + 1, "there is text after the closing quote");
  }
  const read = scalar(decodeQuoted(text.slice(0, close + 1)), "quoted", next);
  return { ...read, comment: tail.trimEnd() };
}

function readFlow(lines: readonly Line[], at: number, to: number, indent: number, first: string): ReadValue {
  let text = first;
  let next = at + 1;
  let close = closingBracket(text);
  while (close < 0 && next < to) {
    const line = (lines[next] as Line).text;
    if (line.trim() !== "" && indentOf(line) <= indent && keyEnd(line) > 0 && !line.trim().startsWith("]")) break;
    text += ` ${line.trim()}`;
    close = closingBracket(text);
    next++;
  }
  if (close < 0) return scalar(first, "plain", at + 1, `a "${first[0]}" is never closed`);
  const tail = text.slice(close + 1);
  // "[x] done: the rest" is a sentence, not a list.
  if (tail.trim() !== "" && !/^\s+#/.test(tail)) return readPlain(lines, at + 1, to, indent, first);
  const inner = splitFlow(text.slice(1, close));
  const comment = tail.trimEnd();
  if (text[0] === "[") {
    return { value: inner.map(unquoteScalar), style: "list", comment, fields: [], next };
  }
  const entries = inner.map((part) => {
    const colon = part.indexOf(":");
    return colon < 0 ? [part.trim(), ""] : [part.slice(0, colon).trim(), unquoteScalar(part.slice(colon + 1).trim())];
  });
  return { value: Object.fromEntries(entries), style: "map", comment, fields: [], next };
}

/** The parts between commas that are neither quoted nor in inner brackets. */
function splitFlow(text: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let start = 0;
  for (let i = 0; i <= text.length; i++) {
    const c = text[i];
    if ((c === '"' || c === "'") && text.slice(start, i).trim() === "") {
      const close = closingQuote(text, i);
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

function closingBracket(text: string): number {
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    const c = text[i];
    if ((c === '"' || c === "'") && /[[{,:\s]/.test(text[i - 1] ?? "")) {
      const close = closingQuote(text, i);
      if (close < 0) return -1;
      i = close;
    } else if (c === "[" || c === "{") depth++;
    else if ((c === "]" || c === "}") && --depth === 0) return i;
  }
  return -1;
}

function closingQuote(text: string, open: number): number {
  const quote = text[open];
  for (let i = open + 1; i < text.length; i++) {
    if (quote === '"' && text[i] === "\\") i++;
    else if (text[i] === quote) {
      if (quote === "'" && text[i + 1] === "'") i++;
      else return i;
    }
  }
  return -1;
}

function unquoteScalar(text: string): string {
  const quoted = (text[0] === '"' || text[0] === "'") && closingQuote(text, 0) === text.length - 1;
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
