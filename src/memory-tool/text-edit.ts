/** The two edits of a text that the memory tool knows: one exact place replaced, or lines put in. */

import { MemdirError } from "../errors.ts";

interface TextEdit {
  text: string;
  /** The lines that are new or were touched, from 1. */
  first: number;
  last: number;
}

/** Replaces the only place where `oldText` stands. `shown` is the file's name in what is said about it. */
export function replaceText(text: string, oldText: string, newText: string, shown: string): TextEdit {
  if (oldText === "") throw new MemdirError("usage", "No replacement was performed, old_str is empty.");
  const isWithCrlf = isCrlf(text);
  // A view shows no carriage returns, so what is quoted from it has none.
  const verbatim = findAll(text, oldText);
  const wanted = verbatim.length === 0 && isWithCrlf ? toCrlf(oldText) : oldText;
  const found = verbatim.length === 0 ? findAll(text, wanted) : verbatim;
  const put = isWithCrlf ? toCrlf(newText) : newText;
  const [at] = found;
  if (at === undefined) {
    throw new MemdirError(
      "not-found",
      `No replacement was performed, old_str \`${oldText}\` did not appear verbatim in ${shown}.`,
    );
  }
  if (found.length > 1) {
    const lines = [...new Set(found.map((place) => lineAt(text, place)))].join(", ");
    throw new MemdirError(
      "ambiguous",
      `No replacement was performed. Multiple occurrences of old_str \`${oldText}\` in lines: ${lines}. Please ensure it is unique`,
    );
  }
  const edited = text.slice(0, at) + put + text.slice(at + wanted.length);
  return { text: edited, first: lineAt(edited, at), last: lineAt(edited, at + put.length) };
}

/** Puts text in behind line `line`; 0 is the top. */
export function insertText(text: string, line: unknown, inserted: string): TextEdit {
  const lines = text.split("\n");
  if (typeof line !== "number" || !Number.isInteger(line) || line < 0 || line > lines.length) {
    throw new MemdirError(
      "usage",
      `Invalid \`insert_line\` parameter: ${line}. It should be within the range of lines of the file: [0, ${lines.length}]`,
    );
  }
  const bare = inserted.replace(/\r?\n$/, "");
  const isWithCrlf = isCrlf(text);
  // The last line has no break of its own, so neither has what takes its place at the end.
  const isAtEnd = line === lines.length;
  const put = isWithCrlf ? toCrlf(bare) + (isAtEnd ? "" : "\r") : bare;
  if (isWithCrlf && isAtEnd) lines[line - 1] += "\r";
  lines.splice(line, 0, put);
  return { text: lines.join("\n"), first: line + 1, last: line + bare.split("\n").length };
}

/** More places than this need not be named to show that it is not unique. */
const MAX_PLACES = 50;

/** Where it stands, also where two places overlap: neither of them is the only one. */
function findAll(text: string, wanted: string): number[] {
  const found: number[] = [];
  for (let at = text.indexOf(wanted); at >= 0 && found.length < MAX_PLACES; at = text.indexOf(wanted, at + 1))
    found.push(at);
  return found;
}

function lineAt(text: string, at: number): number {
  let line = 1;
  for (let i = text.indexOf("\n"); i >= 0 && i < at; i = text.indexOf("\n", i + 1)) line++;
  return line;
}

/** Whether every line ends as on Windows. */
function isCrlf(text: string): boolean {
  return text.includes("\r\n") && !/(^|[^\r])\n/.test(text);
}

function toCrlf(text: string): string {
  return text.replace(/\r?\n/g, "\r\n");
}
