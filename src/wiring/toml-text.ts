/** Where the headers and keys of a TOML text stand: as much of the language as it takes not to mistake a string for one. */

import { MemdirError } from "../errors.ts";
import { lineOf } from "./json-text.ts";

export interface Statement {
  kind: "table" | "list" | "key";
  path: string[];
  /** The whole statement: from the start of its line to behind its line end. */
  from: number;
  to: number;
  /** A key's value, without comment. */
  valueFrom: number;
  valueTo: number;
}

/** Throws `broken`, with the line. */
export function scanToml(text: string, file: string): Statement[] {
  const statements: Statement[] = [];
  for (let from = 0; from < text.length; ) {
    const at = from + match(/[ \t]*/y, text, from).length;
    const isBlank = /[\r\n#]/.test(text[at] ?? "\n");
    const statement = isBlank ? null : readStatement(text, at, from);
    if (statement === "broken") {
      throw new MemdirError("broken", `${file}:${lineOf(text, at)} is no TOML that memdir can read; mend it`);
    }
    if (statement) statements.push(statement);
    from = statement ? statement.to : lineEnd(text, at);
  }
  return statements;
}

function readStatement(text: string, at: number, from: number): Statement | "broken" {
  const opening = match(/\[\[?/y, text, at);
  const name = readPath(text, at + opening.length);
  if (!name) return "broken";
  if (opening !== "") {
    if (!text.startsWith(opening.length === 2 ? "]]" : "]", name.end)) return "broken";
    const end = name.end + opening.length;
    if (!isRestBlank(text, end)) return "broken";
    const kind = opening.length === 2 ? "list" : "table";
    return { kind, path: name.path, from, to: lineEnd(text, end), valueFrom: end, valueTo: end };
  }
  if (text[name.end] !== "=") return "broken";
  const valueFrom = name.end + 1 + match(/[ \t]*/y, text, name.end + 1).length;
  const valueTo = skipValue(text, valueFrom);
  if (valueTo === null || valueTo === valueFrom || !isRestBlank(text, valueTo)) return "broken";
  return { kind: "key", path: name.path, from, to: lineEnd(text, valueTo), valueFrom, valueTo };
}

function readPath(text: string, from: number): { path: string[]; end: number } | null {
  const path: string[] = [];
  for (let at = from; ; ) {
    const key = match(/[ \t]*(?:[A-Za-z0-9_-]+|"(?:[^"\\\r\n]|\\.)*"|'[^'\r\n]*')[ \t]*/y, text, at);
    if (key === "") return null;
    path.push(unquote(key.trim()));
    at += key.length;
    if (text[at] !== ".") return { path, end: at };
    at += 1;
  }
}

function unquote(key: string): string {
  if (key.startsWith("'")) return key.slice(1, -1);
  if (!key.startsWith('"')) return key;
  try {
    return String(JSON.parse(key));
  } catch {
    return key;
  }
}

/** Behind the value: strings, and brackets that may go over lines. Null when one does not end. */
function skipValue(text: string, from: number): number | null {
  let depth = 0;
  let at = from;
  let end = from;
  while (at < text.length) {
    const token = match(TOKEN, text, at);
    if (token === "") return null;
    if (depth === 0 && /^[\r\n#]/.test(token)) break;
    if (/^[[{]/.test(token)) depth += 1;
    if (/^[\]}]/.test(token)) depth -= 1;
    if (depth < 0) return null;
    at += token.length;
    if (!/^[ \t]/.test(token)) end = at;
  }
  return depth === 0 ? end : null;
}

const TOKEN =
  /"""(?:[^\\]|\\[\s\S])*?"{3,5}|'''[\s\S]*?'{3,5}|"(?!"")(?:[^"\\\r\n]|\\.)*"|'(?!'')[^'\r\n]*'|""|''|[[\]{}]|#[^\r\n]*|[\r\n]+|[ \t]+|[^\s"'[\]{}#]+/y;

function isRestBlank(text: string, at: number): boolean {
  return /^[ \t]*(?:#|\r|\n|$)/.test(text.slice(at, lineEnd(text, at)));
}

function lineEnd(text: string, at: number): number {
  const end = text.indexOf("\n", at);
  return end < 0 ? text.length : end + 1;
}

function match(pattern: RegExp, text: string, at: number): string {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0] ?? "";
}
