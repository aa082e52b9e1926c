/**
 * Instruction files of the folders that an agent works in, for Codex, which loads only those of its start folder and above. Other
 * hosts load nested files themselves.
 */

import { lstatSync, readFileSync } from "node:fs";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { isWithin, realPath } from "../disk/fence.ts";
import { filesInCommand, foldersBetween } from "../instructions/instructions.ts";
import { formatNestedHeader } from "../prompts/hooks.ts";
import { formatInjection } from "../recall/injection.ts";
import { clipLine, cutContent, neutralise, neutraliseLine } from "../recall/neutral.ts";
import { stripForClient } from "../text/lines.ts";
import { commandOf, isMemorySized, isPatch, namedFiles, patchOf, type ToolCall } from "./event.ts";

interface NestedOptions {
  /** Where the session started: the host has loaded the files there and above. */
  start: string;
  /** What the call's relative paths are relative to. */
  cwd: string;
  /** Links must not lead out of it. */
  root: string;
  /** The tool's result. */
  response: unknown;
  /** Paths of files that are in the conversation already. */
  known: ReadonlySet<string>;
  maxChars: number;
  isLate: () => boolean;
}

export interface Nested {
  /** "" for none. */
  text: string;
  /** Files that are in the conversation now: shown here, or by the call itself. */
  paths: string[];
}

/** The first that exists counts, as in Codex, which does not know the last one, Claude Code's. */
const NAMES = ["AGENTS.override.md", "AGENTS.md", "CLAUDE.md"];
/** What is below them is not the repository's own. */
const FOREIGN: ReadonlySet<string> = new Set(["node_modules", ".git"]);
/** A patch of more files changes a whole tree; the rest comes with the next call. */
const MAX_TOUCHED = 50;
/** A shorter excerpt says too little: then the file comes with the next call that touches its folder. */
const MIN_CUT_CHARS = 400;
/** As much as Codex loads of its instructions; removing comments from a much longer text could take seconds. */
const MAX_TEXT_CHARS = 32 * 1024;
/** A path only has to be recognised. */
const MAX_PATH_CHARS = 300;

/** Outer folders first, as many files as fit. The others come with a later call. */
export function findNested(call: ToolCall, options: NestedOptions): Nested {
  const { cwd } = options;
  const [start, root] = [realPath(options.start), realPath(options.root)];
  const named = namedFiles(call.input)
    .slice(0, MAX_TOUCHED)
    .map((file) => resolve(cwd, file));
  const written = new Set(named.map((file) => realPath(file)));
  const response = typeof options.response === "string" ? options.response : "";
  const texts: string[] = [];
  const paths: string[] = [];
  const isKnown = (path: string) => options.known.has(path) || paths.includes(path) || isLoaded(path, start);
  let room = options.maxChars;
  for (const folder of foldersOf(call, named, cwd, start)) {
    if (options.isLate()) break;
    const file = readFirst(folder, root, isKnown);
    if (!file) continue;
    // The model has just read or written it.
    if (written.has(file.path) || response.includes(file.raw.trim())) {
      paths.push(file.path);
      continue;
    }
    const text = formatFile(file, start, room);
    if (text === null) continue;
    texts.push(text);
    paths.push(file.path);
    room -= text.length + 2;
  }
  return { text: texts.join("\n\n"), paths };
}

/** The real paths of all folders below the start in which the call touched something, and of those in between. */
function foldersOf(call: ToolCall, named: readonly string[], cwd: string, start: string): Set<string> {
  const command = isPatch(patchOf(call.input)) ? "" : commandOf(call.input);
  const inCommand = command === "" ? [] : filesInCommand(command, cwd).slice(0, MAX_TOUCHED);
  const touched = [...named, ...inCommand].map((file) => realPath(dirname(file)));
  // A command also touches the folder it is run in.
  if (command !== "") touched.unshift(realPath(cwd));
  const ways = touched.filter((folder) => isWithin(start, folder)).map((folder) => foldersBetween(start, folder));
  return new Set(ways.filter((way) => !way.some((folder) => FOREIGN.has(basename(folder)))).flat());
}

/** Whether the host loaded it at start. */
function isLoaded(path: string, start: string): boolean {
  return /^AGENTS(?:\.override)?\.md$/.test(basename(path)) && isWithin(dirname(path), start);
}

/** Null also if the first file is known or empty, whatever else is in the folder. */
function readFirst(folder: string, root: string, isKnown: (path: string) => boolean) {
  for (const name of NAMES) {
    try {
      const path = realPath(join(folder, name));
      const stat = lstatSync(path, { throwIfNoEntry: false });
      // A link may lead to another Markdown file of the repository, and nowhere else.
      if (!stat || !isMemorySized(stat) || !isWithin(root, path) || !/\.md$/i.test(path)) continue;
      if (isKnown(path)) return null;
      const raw = readFileSync(path, "utf8");
      const text = stripForClient(raw.slice(0, MAX_TEXT_CHARS)).trim();
      // `text` as it is shown, before it is neutralised.
      return text === "" ? null : { path, folder, name, raw, text };
    } catch {
      // Not readable, or deleted meanwhile: treated as missing.
    }
  }
  return null;
}

function formatFile(
  { folder, name, text }: { folder: string; name: string; text: string },
  start: string,
  room: number,
): string | null {
  const way = (path: string) => clipLine(neutraliseLine(relative(start, path).split(sep).join("/")), MAX_PATH_CHARS);
  const header = formatNestedHeader(way(folder), way(join(folder, name)));
  const left = room - formatInjection([{ header, content: "" }]).length;
  if (left < MIN_CUT_CHARS) return null;
  const { content } = cutContent(neutralise(text).trim(), { maxBytes: left, maxLines: Number.POSITIVE_INFINITY });
  const shown = formatInjection([{ header, content }]);
  return shown.length <= room ? shown : null;
}
