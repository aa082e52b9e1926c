/** Values of frontmatter fields: plain, quoted, bracketed, listed, nested and block texts, each with where it ends. */

interface ReadValue {
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
  if (rest === "" || rest.startsWith("#")) {
    const below = readBelow(lines, next, to, indent, parseMap);
    return rest === "" ? below : { ...below, comment: ` ${rest}` };
  }
  if (/^[|>][-+0-9]*(\s+#.*)?$/.test(rest)) return readBlock(lines, next, to, indent, rest);
  if (rest[0] === '"' || rest[0] === "'") return readQuoted(lines, at, to, rest);
  if (rest[0] === "[" || rest[0] === "{") return readFlow(lines, at, to, indent, rest);
  return readPlain(lines, next, to, indent, rest);
}

function scalar(value: string, style: Field["style"], next: number, problem?: string): ReadValue {
  return { value, style, comment: "", fields: [], next, ...(problem ? { problem } : {}) };
}

/** Plain text; more indented lines that are not `key: value` continue it, as in YAML. */
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
  let depth = Number.POSITIVE_INFINITY;
  let next = from;
  while (next < to) {
    const text = (lines[next] as Line).text;
    if (text.trim() !== "") {
      // The first line sets the indentation; a comment that is indented less ends the text, as in YAML.
      const isComment = text.trim().startsWith("#") && taken.length > 0 && indentOf(text) < depth;
      if (indentOf(text) <= indent || isComment) break;
      depth = Math.min(depth, indentOf(text));
    }
    taken.push(text);
    next++;
  }
  while (taken.length > 0 && (taken[taken.length - 1] as string).trim() === "") {
    taken.pop();
    next--;
  }
  const texts = taken.map((text) => text.slice(depth));
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
  if (!isMapLine(line.text)) {
    const text = line.text.trim();
    if (text[0] === '"' || text[0] === "'") return readQuoted(lines, first, to, text);
    const texts = lines.slice(first, last + 1).map((l) => l.text.trim());
    return scalar(fold(texts), "plain", last + 1);
  }
  const problems: string[] = [];
  const fields = parseMap(lines, first, end, problems);
  // A last line that looks like a comment may belong to a quoted or block text.
  while (last + 1 < end && (lines[last + 1] as Line).start < (fields.at(-1)?.end ?? 0)) last++;
  const value = Object.fromEntries(fields.map((f) => [f.key, f.value]));
  const read: ReadValue = { value, style: "map", comment: "", fields, next: last + 1 };
  return problems.length > 0 ? { ...read, problem: problems.join("; ") } : read;
}

/** Text below its key may contain URLs and times, so only a colon before white space makes a map, as in YAML. */
function isMapLine(line: string): boolean {
  return /^\s*["']/.test(line) ? keyEnd(line) >= 0 : /:(\s|$)/.test(line);
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
  const close = closingQuote(text, text[0], 1);
  if (close < 0) return { value: text, problem: "a quote is never closed" };
  return { value: decodeQuoted(text.slice(0, close + 1)) };
}

function readQuoted(lines: readonly Line[], at: number, to: number, first: string): ReadValue {
  const quote = first[0] as string;
  // Each line is read once: a quote that is never closed must not take quadratic time.
  const pieces: string[] = [];
  let piece = first.slice(1);
  let breaks = 0;
  let next = at + 1;
  let close = closingQuote(piece, quote, 0);
  while (close < 0 && next < to) {
    const more = (lines[next++] as Line).text.trim();
    if (more === "" && next < to) breaks++;
    else {
      const joined = quote === '"' && /(?<!\\)(\\\\)*\\$/.test(piece);
      pieces.push(joined ? piece.slice(0, -1) : piece, breaks > 0 ? "\n".repeat(breaks) : joined ? "" : " ");
      piece = more;
      breaks = 0;
      close = closingQuote(piece, quote, 0);
    }
  }
  if (close < 0) return scalar(first, "plain", at + 1, "a quote is never closed");
  const tail = piece.slice(close + 1);
  if (tail.trim() !== "" && !/^\s+#/.test(tail)) {
    return scalar(first, "plain", at + 1, "there is text after the closing quote");
  }
  const inner = pieces.join("") + piece.slice(0, close);
  const read = scalar(decodeQuoted(quote + inner + quote), "quoted", next);
  return { ...read, comment: tail.trimEnd() };
}

function readFlow(lines: readonly Line[], at: number, to: number, indent: number, first: string): ReadValue {
  const open = { depth: 0, quote: "" };
  const pieces = [first];
  let next = at + 1;
  let close = closingBracket(first, open);
  while (close < 0 && next < to) {
    const line = (lines[next] as Line).text;
    if (line.trim() !== "" && indentOf(line) <= indent && keyEnd(line) > 0 && !line.trim().startsWith("]")) break;
    const piece = ` ${line.trim()}`;
    close = closingBracket(piece, open);
    pieces.push(piece);
    next++;
  }
  const text = pieces.join("");
  if (close >= 0) close += text.length - (pieces.at(-1) as string).length;
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
    const colon = keyEnd(part);
    const key = unquoteKey(colon < 0 ? part : part.slice(0, colon).trim());
    return [key, colon < 0 ? "" : unquoteScalar(part.slice(colon + 1).trim())];
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

/** A line of the frontmatter and its position in the text. */
export interface Line {
  text: string;
  start: number;
  end: number;
  number: number;
}

export function isBlankOrComment(line: string): boolean {
  const text = line.trim();
  return text === "" || text.startsWith("#");
}

export function indentOf(line: string): number {
  return line.length - line.trimStart().length;
}

/** Where the key's colon is, or -1. A quoted key may contain colons. */
export function keyEnd(line: string): number {
  const text = line.trimStart();
  const quote = text[0];
  if (quote === '"' || quote === "'") {
    // The quoted part must be the whole key: a quoted text may also contain colons and escaped quotes.
    const key = (quote === '"' ? /^"(?:\\.|[^"\\])*"\s*:/ : /^'(?:''|[^'])*'\s*:/).exec(text);
    return key ? key[0].length - 1 + indentOf(line) : -1;
  }
  return line.indexOf(":");
}

export function unquoteKey(key: string): string {
  const quote = key[0];
  return (quote === '"' || quote === "'") && key.length > 1 && key.endsWith(quote) ? key.slice(1, -1) : key;
}
