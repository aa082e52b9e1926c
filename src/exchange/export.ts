/** Exporting memories: one document, a folder of files, JSON, or a section of AGENTS.md. */

import { extname, join } from "node:path";
import { isWithin, realPath, statOrNull } from "../disk/fence.ts";
import { MemdirError } from "../errors.ts";
import type { MemoryType } from "../store/store.ts";
import { type Collection, collectMemories, type ExportStore } from "./collection.ts";
import { formatMarkdown, formatSection, hasSection, isOwnMarkdown, putSection } from "./markdown-document.ts";
import { formatJson, isOwnJson } from "./memdir-json.ts";
import { editFile, writeFile, writeFolder } from "./output.ts";

export const EXPORT_FORMATS = ["markdown", "json", "agents-md"] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

interface ExportRequest {
  format: ExportFormat;
  type?: MemoryType | undefined;
  /** A file or a folder; null: only the text. */
  output: string | null;
  force?: boolean;
}

interface ExportResult {
  exported: string[];
  left: Collection["left"];
  /** Null when it went to a folder. */
  text: string | null;
  /** Files that an earlier export wrote and whose memories are gone. */
  removed: string[];
}

/** What tells others how to work here; who the user is goes out only when it is asked for by name. */
const SHARED_TYPES: readonly MemoryType[] = ["feedback", "project"];

export async function exportMemories(store: ExportStore, request: ExportRequest): Promise<ExportResult> {
  const { format, type, output, force = false } = request;
  refuseInside(store, output);
  const instructing = format === "agents-md";
  const types = type === undefined ? (instructing ? SHARED_TYPES : undefined) : [type];
  const { memories, left } = await collectMemories(store, { types, instructing });
  const exported = memories.map(({ file }) => file);
  const done = (text: string | null, removed: string[] = []) => ({ exported, left, text, removed });
  if (format === "agents-md") {
    const section = formatSection(memories);
    const file = output !== null && statOrNull(output)?.isDirectory() ? join(output, "AGENTS.md") : output;
    const isEmpty = (text: string) => memories.length === 0 && !hasSection(text);
    if (file !== null) editFile(file, (text) => (isEmpty(text) ? text : putSection(file, text, section)));
    return done(`${section}\n`);
  }
  if (format === "json") {
    const text = formatJson(memories);
    if (output !== null) writeFile(output, text, isOwnJson, force);
    return done(text);
  }
  if (output !== null && isFolder(output)) {
    const { removed } = writeFolder(output, new Map(memories.map(({ file, text }) => [file, text])), force);
    return done(null, removed);
  }
  const text = formatMarkdown(memories);
  if (output !== null) writeFile(output, text, isOwnMarkdown, force);
  return done(text);
}

/** There it would be a memory itself, and another scope's among the project's. */
function refuseInside({ directories }: ExportStore, output: string | null): void {
  if (output === null || !directories.some(({ path }) => isWithin(realPath(path), realPath(output)))) return;
  throw new MemdirError("usage", `${output} lies in a memory directory: choose another --output`);
}

/** What is there decides; of what is not, a name without an ending is a folder's. */
function isFolder(output: string): boolean {
  const stat = statOrNull(output);
  return stat ? stat.isDirectory() : /[/\\]$/.test(output) || extname(output) === "";
}
