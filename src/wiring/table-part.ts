/** A table of a TOML file, put in and taken out as text: comments, order and everything else stay. */

import { isDeepStrictEqual } from "node:util";
import { MemdirError } from "../errors.ts";
import { eolOf, lineOf, splice } from "./json-text.ts";
import { type Statement, scanToml } from "./toml-text.ts";

export interface TablePart {
  kind: "table";
  file: string;
  why: string;
  table: readonly string[];
  /** Keys that must be so; further ones that the user added stay. */
  values: Readonly<Record<string, string | readonly string[]>>;
}

export function addTable(text: string | null, part: TablePart): string {
  let now = text ?? "";
  const eol = eolOf(now);
  const lines = Object.entries(part.values).map(([key, value]) => `${key} = ${render(value)}`);
  if (!findTable(now, part)) {
    const gap = now === "" ? "" : `${now.endsWith("\n") ? "" : eol}${eol}`;
    return `${now}${gap}${[`[${part.table.join(".")}]`, ...lines].join(eol)}${eol}`;
  }
  for (const [key, value] of Object.entries(part.values)) {
    const found = findTable(now, part) as Found;
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
export function removeTable(text: string, part: TablePart): string {
  const found = findTable(text, part);
  if (!found) return text;
  let now = text;
  for (const { header, keys } of [...found.below, found].sort((a, b) => b.header.from - a.header.from)) {
    const to = keys.at(-1)?.to ?? header.to;
    const rest = now.slice(to);
    const before = now.slice(0, header.from);
    now = (rest.trim() === "" ? before.replace(/(^|\n)\r?\n$/, "$1") : before) + rest.replace(/^(?:[ \t]*\r?\n)+/, "");
  }
  return now;
}

/** What the table says of a key; null when it says nothing, or nothing that is plain. */
export function readTable(text: string, part: TablePart, key: string): unknown {
  const found = findTable(text, part)?.keys.find((statement) => isDeepStrictEqual(statement.path, [key]));
  return found ? readValue(text, found) : null;
}

interface Table {
  header: Statement;
  keys: Statement[];
}

interface Found extends Table {
  below: Table[];
}

/** Null when there is none. Throws `broken` for one that is written in another way, which a second one would contradict. */
function findTable(text: string, { file, table }: TablePart): Found | null {
  const statements = scanToml(text, file);
  const tables: Table[] = [];
  for (const statement of statements) {
    if (statement.kind !== "key") tables.push({ header: statement, keys: [] });
    else tables.at(-1)?.keys.push(statement);
    const open = statement.kind === "key" ? (tables.at(-1)?.header.path ?? []) : [];
    const path = [...open, ...statement.path];
    const isInside = startsWith(open, table);
    const isRival = statement.kind === "table" ? false : startsWith(path, table) || startsWith(table, path);
    if (isRival && !isInside) throw rival(text, statement, file, table);
  }
  const named = tables.filter(({ header }) => isDeepStrictEqual(header.path, table));
  if (named[1]) throw rival(text, named[1].header, file, table);
  const below = tables.filter(({ header }) => header.path.length > table.length && startsWith(header.path, table));
  return named[0] ? { ...named[0], below } : null;
}

function rival(text: string, statement: Statement, file: string, table: readonly string[]): MemdirError {
  const place = `${file}:${lineOf(text, statement.from)}`;
  const name = table.join(".");
  return new MemdirError(
    "broken",
    `${place} sets ${name} in a way memdir does not change; write it as one [${name}] table`,
  );
}

function startsWith(path: readonly string[], start: readonly string[]): boolean {
  return start.every((key, index) => path[index] === key);
}

/** Only strings and lists of them in double quotes, which JSON reads alike. */
function readValue(text: string, { valueFrom, valueTo }: Statement): unknown {
  try {
    return JSON.parse(text.slice(valueFrom, valueTo).replace(/,\s*\]$/, "]"));
  } catch {
    return null;
  }
}

/** Strings of JSON are strings of TOML, but for one character. */
function render(value: string | readonly string[]): string {
  const quote = (text: string) => JSON.stringify(text).replaceAll("\x7f", "\\u007f");
  return typeof value === "string" ? quote(value) : `[${value.map(quote).join(", ")}]`;
}
