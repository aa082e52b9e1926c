/**
 * A table of a TOML file, added and removed as text: comments, order and everything else stay. Reads as much of the language
 * as it takes not to mistake a string for a header.
 */

import { isDeepStrictEqual } from "node:util";
import { attempt, MemdirError } from "../errors.ts";
import { eolOf, lineOf, splice } from "./json-text.ts";

type Values = Readonly<Record<string, string | readonly string[]>>;

export function addTable(text: string, table: readonly string[], values: Values, file: string): string {
  let now = text;
  const eol = eolOf(now);
  if (!findTable(now, table, file)) {
    const lines = Object.entries(values).map(([key, value]) => `${key} = ${render(value)}`);
    const gap = now === "" ? "" : `${now.endsWith("\n") ? "" : eol}${eol}`;
    return `${now}${gap}${[`[${table.join(".")}]`, ...lines].join(eol)}${eol}`;
  }
  for (const [key, value] of Object.entries(values)) {
    const found = findTable(now, table, file) as Table;
    const there = found.keys.find((statement) => isDeepStrictEqual(statement.path, [key]));
    if (!there) {
      const isLast = !now.slice(0, found.header.to).endsWith("\n");
      const line = `${key} = ${render(value)}`;
      now = splice(now, found.header.to, found.header.to, isLast ? `${eol}${line}` : `${line}${eol}`);
    } else if (!isDeepStrictEqual(readValue(now, there), value)) {
      now = splice(now, there.valueFrom, there.valueTo, render(value));
    }
  }
  return now;
}

/** With the tables below it, and the blank line before it when it is the last thing in the file. */
export function removeTable(text: string, table: readonly string[], file: string): string {
  const found = findTable(text, table, file);
  if (!found) return text;
  let now = text;
  for (const { header, keys } of [...found.below, found].sort((a, b) => b.header.from - a.header.from)) {
    const to = endOf({ header, keys });
    const rest = now.slice(to);
    const before = now.slice(0, header.from);
    now = (rest.trim() === "" ? before.replace(/(^|\n)\r?\n$/, "$1") : before) + rest.replace(/^(?:[ \t]*\r?\n)+/, "");
  }
  return now;
}

/** The table as it is written, without those below it; null when there is none. */
export function sliceTable(text: string, table: readonly string[], file: string): string | null {
  const found = findTable(text, table, file);
  return found && text.slice(found.header.from, endOf(found));
}

/** The table's own lines become `lines`; those below it stay. */
export function replaceTable(text: string, table: readonly string[], lines: string, file: string): string {
  const found = findTable(text, table, file);
  return found ? splice(text, found.header.from, endOf(found), lines) : text;
}

/** The values of the table; those that are neither texts nor lists of them are null. Null when there is no table. */
export function readTable(text: string, table: readonly string[], file: string): Record<string, unknown> | null {
  const found = findTable(text, table, file);
  return found && Object.fromEntries(found.keys.map((key) => [key.path.join("."), readValue(text, key)]));
}

interface Table {
  header: Statement;
  keys: Statement[];
}

function endOf({ header, keys }: Table): number {
  return keys.at(-1)?.to ?? header.to;
}

/** Null when there is none. Throws `broken` for one that is written in another way, which a second one would contradict. */
function findTable(text: string, table: readonly string[], file: string): (Table & { below: Table[] }) | null {
  const statements = scanToml(text, file);
  const tables: Table[] = [];
  for (const statement of statements) {
    if (statement.kind !== "key") tables.push({ header: statement, keys: [] });
    else tables.at(-1)?.keys.push(statement);
    const open = statement.kind === "key" ? (tables.at(-1)?.header.path ?? []) : [];
    const path = [...open, ...statement.path];
    const isInside = startsWith(open, table);
    const isRival = statement.kind !== "table" && (startsWith(path, table) || startsWith(table, path));
    if (isRival && !isInside) throw rival(text, statement, file, table);
  }
  const named = tables.filter(({ header }) => isDeepStrictEqual(header.path, table));
  if (named[1]) throw rival(text, named[1].header, file, table);
  const below = tables.filter(({ header }) => header.path.length > table.length && startsWith(header.path, table));
  return named[0] ? { ...named[0], below } : null;
}

function rival(text: string, statement: Statement, file: string, table: readonly string[]): MemdirError {
  const name = table.join(".");
  const how = `sets ${name} in a way memdir does not change; write it as one [${name}] table`;
  return new MemdirError("broken", `${file}:${lineOf(text, statement.from)} ${how}`);
}

function startsWith(path: readonly string[], start: readonly string[]): boolean {
  return start.every((key, index) => path[index] === key);
}

/** Only strings and lists of them in double quotes, which JSON reads alike. */
function readValue(text: string, { valueFrom, valueTo }: Statement): unknown {
  return attempt(() => JSON.parse(text.slice(valueFrom, valueTo).replace(/,\s*\]$/, "]")), null);
}

/** Strings of JSON are strings of TOML, but for one character. */
function render(value: string | readonly string[]): string {
  const quote = (text: string) => JSON.stringify(text).replaceAll("\x7f", "\\u007f");
  return typeof value === "string" ? quote(value) : `[${value.map(quote).join(", ")}]`;
}

interface Statement {
  kind: "table" | "list" | "key";
  path: string[];
  /** The whole statement: from the start of its line to behind its line end. */
  from: number;
  to: number;
  /** A key's value, without comment. */
  valueFrom: number;
  valueTo: number;
}

/** The rest of a line on which nothing else stands. */
const BLANK = /[ \t]*(?:#[^\n]*|\r)?(?:\n|$)/y;
const KEY = String.raw`[ \t]*(?:[A-Za-z0-9_-]+|"(?:[^"\\\r\n]|\\.)*"|'[^'\r\n]*')[ \t]*`;
const HEADER = new RegExp(String.raw`[ \t]*(\[\[?)(${KEY}(?:\.${KEY})*)(\]\]?)`, "y");
const NAME = new RegExp(String.raw`(${KEY}(?:\.${KEY})*)=[ \t]*`, "y");

/** Throws `broken`, with the line. */
function scanToml(text: string, file: string): Statement[] {
  const statements: Statement[] = [];
  for (let from = 0; from < text.length; ) {
    const blank = matchAt(BLANK, text, from);
    const statement = blank ? null : readStatement(text, from);
    if (statement) statements.push(statement);
    else if (!blank)
      throw new MemdirError("broken", `${file}:${lineOf(text, from)} is not TOML that memdir can read; fix it`);
    from = statement?.to ?? from + (blank?.[0].length ?? 0);
  }
  return statements;
}

/** Null for what is none. */
function readStatement(text: string, from: number): Statement | null {
  const [header, opening, table = "", closing] = matchAt(HEADER, text, from) ?? [];
  const [name, keys = ""] = matchAt(NAME, text, from) ?? [];
  const opened = header ?? name;
  if (opened === undefined) return null;
  const valueFrom = from + opened.length;
  const valueTo = header === undefined ? skipValue(text, valueFrom) : valueFrom;
  const rest = valueTo === null ? null : matchAt(BLANK, text, valueTo);
  if (valueTo === null || !rest) return null;
  const place = { from, to: valueTo + rest[0].length, valueFrom, valueTo };
  if (header === undefined) return valueTo === valueFrom ? null : { kind: "key", path: pathOf(keys), ...place };
  if (opening?.length !== closing?.length) return null;
  return { kind: opening === "[" ? "table" : "list", path: pathOf(table), ...place };
}

function pathOf(name: string): string[] {
  return (name.match(new RegExp(KEY, "g")) ?? []).map((key) => unquote(key.trim()));
}

function unquote(key: string): string {
  if (key.startsWith("'")) return key.slice(1, -1);
  if (!key.startsWith('"')) return key;
  return attempt(() => String(JSON.parse(key)), key);
}

/** Behind the value: strings, and brackets that may go over lines. Null when one does not end. */
function skipValue(text: string, from: number): number | null {
  let depth = 0;
  let at = from;
  let end = from;
  while (at < text.length) {
    const [token] = matchAt(TOKEN, text, at) ?? [""];
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

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}
