/** Whether an agent wrote a memory itself, seen from the calls of its tools. */

import { realpathSync } from "node:fs";
import { isAbsolute, relative, resolve, sep } from "node:path";
import { commandOf, type ToolCall } from "./tool-call.ts";

/** A folder of memories, and where relative paths begin. */
export interface MemoryPlace {
  dir: string;
  cwd: string;
}

/** Claude Code's, then Gemini CLI's. */
const WRITERS: ReadonlySet<string> = new Set(["Write", "Edit", "MultiEdit", "Update", "write_file", "replace"]);
/** Claude Code's, Gemini CLI's and Codex's. */
const SHELLS: ReadonlySet<string> = new Set(["Bash", "run_shell_command", "exec_command", "shell"]);
/** The tools of our own MCP server, under whatever name the user gave it with our name in it. Gemini CLI writes one line. */
const OWN_TOOL = /^mcp__?\w*memdir\w*?__?(?:save|forget)$/;
const OWN_COMMAND = /(?:^|[\s;&|(/"'])memdir(?:\.cmd)?["']?\s+(?:save|edit|forget|rename)\b/;

/** Memories only: what else lies in the folder, such as a log, says nothing of what is worth keeping. */
export function writesMemory({ name, input }: ToolCall, place: MemoryPlace): boolean {
  if (OWN_TOOL.test(name)) return true;
  if (SHELLS.has(name)) return OWN_COMMAND.test(commandOf(input));
  const file = input.file_path ?? input.path;
  if (!WRITERS.has(name) || typeof file !== "string" || !/\.md$/i.test(file)) return false;
  const path = resolve(place.cwd, file);
  return isBelow(path, place.dir) || isBelow(path, realPath(place.dir));
}

function isBelow(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way !== "" && !isAbsolute(way) && !way.startsWith(".") && !way.startsWith(`logs${sep}`);
}

function realPath(folder: string): string {
  try {
    return realpathSync(folder);
  } catch {
    return folder;
  }
}
