/** What a reader finds in another program's files: memories in one shape, and what was skipped, with reasons. Files are read within bounds and never through a link inside a folder. */

import { isUtf8 } from "node:buffer";
import { fstatSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { statOrNull, withRegular } from "../disk/fence.ts";
import { describeStatement, nameStatement } from "../memory/statement.ts";
import type { MemoryType, Trust } from "../store/store.ts";

export interface Imported {
  name: string;
  description: string;
  /** Without it, as where the source does not say, the words decide. */
  type?: MemoryType | null;
  body: string;
  /** Cues: situations in which it should come to mind. */
  when?: readonly string[] | undefined;
  links?: readonly string[] | undefined;
  pinned?: boolean | undefined;
  /** The last day on which it holds. */
  expires?: string | undefined;
  /** Names of fields that are not kept. */
  left?: readonly string[];
  /** ISO time of its last change at the source. */
  at?: string | null;
  /** Kept in the memory as `importedFrom: from#id`, so that a second import knows it. */
  origin: { from: string; id: string };
  /** How far its words may be trusted: what a document says is data, not a wish of the user's. */
  trust: Trust;
  /** The source's file where it is a memory in our own format: kept as it is. */
  text?: string;
  /** The name that file had. */
  file?: string;
}

export interface Harvest {
  found: Imported[];
  problems: string[];
}

/** More than any store that people keep; the rest is reported as left out. */
export const MAX_MEMORIES = 10_000;

/** Twice as many as are imported, for what lies beside them; the whole of a disk has far more. */
export const MAX_WALKED = 2 * MAX_MEMORIES;

/** A text of this size is not a note, and JSON of more than this would not fit beside what is made of it. */
export const MAX_FILE_BYTES = 10 * 1024 * 1024;

/** Only so much of a line is looked at: a hostile one may be as long as its file. */
const MAX_LINE = 2000;

export interface Source {
  text: string;
  /** ISO time of the file. */
  modified: string;
}

/** What a reader finds in a folder, before it reads any of it. */
export interface Listing {
  files: readonly string[];
  problems?: readonly string[];
}

/**
 * What `read` makes of each file that `list` finds in the folder: its memories, or why it has none. Those that cannot be read are
 * problems. A path that is a file's is read itself, also behind a link, as the user named it.
 */
export function readFiles(
  path: string,
  list: (folder: string) => Listing,
  read: (file: string, source: Source) => Imported[] | string,
): Harvest {
  const isFolder = statOrNull(path)?.isDirectory() ?? true;
  const folder = isFolder ? path : dirname(path);
  const { files, problems: passed = [] } = isFolder ? list(path) : { files: [basename(path)] };
  const found: Imported[] = [];
  const problems = [...passed];
  for (const file of files.slice(0, MAX_MEMORIES)) {
    const source = readSource(join(folder, file), { follow: !isFolder });
    const memories = "problem" in source ? source.problem : read(file, source);
    if (typeof memories === "string") problems.push(memories);
    else found.push(...memories);
  }
  if (files.length > MAX_MEMORIES)
    problems.push(`only the first ${MAX_MEMORIES} of ${files.length} files are imported`);
  return { found, problems };
}

export function joinHarvests(one: Harvest, other: Harvest): Harvest {
  return { found: [...one.found, ...other.found], problems: [...one.problems, ...other.problems] };
}

/** What `read` makes of the one file that the user named, which may be a link. */
export function readFile(path: string, read: (text: string) => Harvest): Harvest {
  const source = readSource(path, { follow: true });
  return "problem" in source ? { found: [], problems: [source.problem] } : read(source.text);
}

/** `follow`: the path that the user named may be a link; what is found in a folder may not. */
export function readSource(path: string, options: { follow?: boolean } = {}): Source | { problem: string } {
  const name = basename(path);
  try {
    const read = (fd: number, size: number) => {
      if (size > MAX_FILE_BYTES) return { problem: `${name} has ${size} bytes, more than ${MAX_FILE_BYTES}: skipped` };
      const data = readFileSync(fd);
      if (!isUtf8(data)) return { problem: `${name} is not valid UTF-8: skipped` };
      const text = data
        .toString("utf8")
        .replace(/^\uFEFF/, "")
        .replaceAll("\r\n", "\n");
      return { text, modified: fstatSync(fd).mtime.toISOString() };
    };
    return withRegular(path, read, options) ?? { problem: `${name} is missing, a link or not a regular file: skipped` };
  } catch (error) {
    return {
      problem: `${name} cannot be read (${(error as NodeJS.ErrnoException).code ?? "unknown error"}): skipped`,
    };
  }
}

/** The first line that says something, fit for the index. */
export function describeBody(body: string): string {
  for (const whole of body.split("\n")) {
    const line = whole.slice(0, MAX_LINE).trim();
    if (!/[\p{L}\p{N}]/u.test(line) || /^(?:```|~~~|<!--)/.test(line)) continue;
    const words = line.replace(/^[\s>#*+-]+(?:\[[ x]\]\s+)?|^\d+[.)]\s+/i, "").replace(/\*\*|__|`/g, "");
    return describeStatement(words);
  }
  return "";
}

/** A name for what has none, of its first line. */
export function nameBody(body: string): string {
  return nameStatement((body.split("\n", 1)[0] as string).slice(0, MAX_LINE));
}

/** An ISO time of what sources write: ISO text, seconds or milliseconds. Null for anything else. */
export function timeOf(value: unknown): string | null {
  const number = typeof value === "bigint" ? Number(value) : value;
  if (typeof number === "number" && Number.isFinite(number)) return isoOf(number < SECONDS ? number * 1000 : number);
  return typeof number === "string" && /^\d{4}-\d\d/.test(number.trim()) ? isoOf(Date.parse(number)) : null;
}

/** As milliseconds this would be January 1970, as seconds it is far in the future. */
const SECONDS = 100_000_000_000;

function isoOf(ms: number): string | null {
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? null : date.toISOString();
}

export function textOf(value: unknown): string {
  return typeof value === "string" ? value.trim() : "";
}

/** What a list in JSON holds of texts. */
export function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.flatMap((each) => textOf(each) || []) : [];
}
