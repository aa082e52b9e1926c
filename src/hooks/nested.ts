/**
 * Instruction files of the folders that an agent works in, for a host that loads only those above the place where it was started:
 * Codex. The others add such files themselves.
 */

import { lstatSync, readFileSync } from "node:fs";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { isWithin, realPath } from "../disk/fence.ts";
import { filesInCommand, foldersBetween } from "../instructions/instructions.ts";
import { formatNestedHeader } from "../prompts/hooks.ts";
import { clipLine, cutContent } from "../recall/cut.ts";
import { formatInjection } from "../recall/injection.ts";
import { neutralise, neutraliseLine } from "../recall/neutral.ts";
import { stripForClient } from "../text/client-markdown.ts";
import { commandOf, isMemorySized, isPatch, namedFiles, patchOf, type ToolCall } from "./event.ts";

interface NestedFolders {
  /** Where the session began: what lies there and above it, the host has loaded. */
  start: string;
  /** Where the call's relative paths begin. */
  cwd: string;
  /** What no link may lead out of. */
  root: string;
}

interface NestedOptions {
  /** What the tool said. */
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

/** The first that is there counts, as for Codex; it does not know the last one, which says the same for Claude Code. */
const NAMES = ["AGENTS.override.md", "AGENTS.md", "CLAUDE.md"];
/** What lies below is not this repository's own. */
const FOREIGN: ReadonlySet<string> = new Set(["node_modules", ".git"]);
/** A patch of more files than this goes through a whole tree; the rest comes with the next call. */
const MAX_TOUCHED = 50;
/** Cut shorter, a file says too little: it comes with the next call that touches its folder. */
const MIN_CUT_CHARS = 400;
/** As much of its instructions as Codex takes; taking comments out of a much longer text could take seconds. */
const MAX_TEXT_CHARS = 32 * 1024;
/** A path only has to be recognised. */
const MAX_PATH_CHARS = 300;

/** Files of outer folders first, as many as fit. What does not fit stays unknown, and comes with a later call. */
export function findNested(call: ToolCall, place: NestedFolders, options: NestedOptions): Nested {
  const [start, root] = [realPath(place.start), realPath(place.root)];
  const named = namedFiles(call.input)
    .slice(0, MAX_TOUCHED)
    .map((file) => resolve(place.cwd, file));
  const written = new Set(named.map((file) => realPath(file)));
  const response = typeof options.response === "string" ? options.response : "";
  const texts: string[] = [];
  const paths: string[] = [];
  const isKnown = (path: string) => options.known.has(path) || paths.includes(path) || isLoaded(path, start);
  let room = options.maxChars;
  for (const folder of foldersOf(call, named, place.cwd, start)) {
    if (options.isLate()) break;
    const file = readFirst(folder, root, isKnown);
    if (!file) continue;
    // Whoever has just read or written it knows it.
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

/** Every folder below the start that the call touched something in, and those on the way to it; where each truly lies. */
function foldersOf(call: ToolCall, named: readonly string[], cwd: string, start: string): Set<string> {
  const command = isPatch(patchOf(call.input)) ? "" : commandOf(call.input);
  const inCommand = command === "" ? [] : filesInCommand(command, cwd).slice(0, MAX_TOUCHED);
  const touched = [...named, ...inCommand].map((file) => realPath(dirname(file)));
  // A command also works in the folder that it is run in.
  if (command !== "") touched.unshift(realPath(cwd));
  const ways = touched.filter((folder) => isWithin(start, folder)).map((folder) => foldersBetween(start, folder));
  return new Set(ways.filter((way) => !way.some((folder) => FOREIGN.has(basename(folder)))).flat());
}

/** By the host, when it started. */
function isLoaded(path: string, start: string): boolean {
  return /^AGENTS(?:\.override)?\.md$/.test(basename(path)) && isWithin(dirname(path), start);
}

interface InstructionText {
  path: string;
  folder: string;
  name: string;
  raw: string;
  /** As it is shown, not yet neutral. */
  text: string;
}

/** Null also for a file that is known, whatever else the folder has, and for one with nothing in it. */
function readFirst(folder: string, root: string, isKnown: (path: string) => boolean): InstructionText | null {
  for (const name of NAMES) {
    try {
      const path = realPath(join(folder, name));
      const stat = lstatSync(path, { throwIfNoEntry: false });
      // A link may lead to another Markdown file of the repository, and nowhere else.
      if (!stat || !isMemorySized(stat) || !isWithin(root, path) || !/\.md$/i.test(path)) continue;
      if (isKnown(path)) return null;
      const raw = readFileSync(path, "utf8");
      const text = stripForClient(raw.slice(0, MAX_TEXT_CHARS)).trim();
      return text === "" ? null : { path, folder, name, raw, text };
    } catch {
      // Not ours to read, or gone since: as if it were not there.
    }
  }
  return null;
}

function formatFile({ folder, name, text }: InstructionText, start: string, room: number): string | null {
  const way = (path: string) => clipLine(neutraliseLine(relative(start, path).split(sep).join("/")), MAX_PATH_CHARS);
  const header = formatNestedHeader(way(folder), way(join(folder, name)));
  const left = room - formatInjection([{ header, content: "" }]).length;
  if (left < MIN_CUT_CHARS) return null;
  const { content } = cutContent(neutralise(text).trim(), { maxBytes: left, maxLines: Number.POSITIVE_INFINITY });
  const shown = formatInjection([{ header, content }]);
  return shown.length <= room ? shown : null;
}
