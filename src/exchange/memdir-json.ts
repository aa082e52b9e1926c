/** memdir's own JSON: everything about every memory, for other programs to read and for another directory to take in. */

import { type Header, isMemoryType, type Memory, type MemoryType, parseMemory, trustOf } from "../store/store.ts";
import { type Harvest, type Imported, MAX_MEMORIES, textOf, textsOf, timeOf } from "./harvest.ts";
import { readSource } from "./source-file.ts";

/** Raised when a reader of the old shape would misread the new one. */
const VERSION = 1;

interface ExportedMemory
  extends Pick<Header, "file" | "type" | "name" | "description" | "created" | "modified" | "pinned" | "when"> {
  scope: string;
  body: string;
  metadata: Memory["metadata"];
  /** The whole file: fields that nobody but its writer knows come back as they were. */
  text: string;
}

export function formatJson(memories: readonly { scope: string; file: string; text: string }[]): string {
  const rows = memories.map(({ scope, file, text }): ExportedMemory => {
    const { type, name, description, created, modified, pinned, when, body, metadata } = parseMemory(file, text);
    return { scope, file, type, name, description, created, modified, pinned, when, body, metadata, text };
  });
  return `${JSON.stringify({ memdir: VERSION, memories: rows }, null, 2)}\n`;
}

/** Whether a text is an export of ours, which another one may replace. */
export function isOwnJson(text: string): boolean {
  return /^\s*\{\s*"memdir":\s*\d+\s*,\s*"memories":/.test(text);
}

export function readMemdirJson(path: string): Harvest {
  const read = readSource(path, { follow: true });
  if ("problem" in read) return { found: [], problems: [read.problem] };
  const rows = rowsOf(read.text);
  if (rows === null) return { found: [], problems: ["this is no JSON of `memdir export --format json`"] };
  const problems: string[] = [];
  if (rows.length > MAX_MEMORIES) problems.push(`only the first ${MAX_MEMORIES} of ${rows.length} memories are taken`);
  const found = rows.slice(0, MAX_MEMORIES).flatMap((row) => memoryOf(row) ?? []);
  const bad = Math.min(rows.length, MAX_MEMORIES) - found.length;
  if (bad > 0) problems.push(`${bad} entries have no name and no text: passed over`);
  return { found, problems };
}

function rowsOf(text: string): unknown[] | null {
  try {
    const value = JSON.parse(text) as { memories?: unknown } | unknown[] | null;
    const rows = Array.isArray(value) ? value : value?.memories;
    return Array.isArray(rows) ? rows : null;
  } catch {
    return null;
  }
}

/** The file's text counts unless somebody changed the fields beside it: then they do. */
function memoryOf(value: unknown): Imported | null {
  if (typeof value !== "object" || value === null) return null;
  const row = value as Record<string, unknown>;
  const type: MemoryType | null = isMemoryType(row.type) ? row.type : null;
  const file = textOf(row.file);
  const text = typeof row.text === "string" ? row.text : "";
  const name = textOf(row.name);
  const body = textOf(row.body);
  if (name === "" && body === "" && text === "") return null;
  const own = text === "" ? null : parseMemory(file, text);
  const agrees = own !== null && own.name === name && own.type === (type ?? own.type) && own.body.trim() === body;
  return {
    name: name || (own?.name ?? ""),
    description: textOf(row.description),
    type,
    body,
    when: textsOf(row.when),
    at: timeOf(row.modified) ?? timeOf(row.created),
    origin: { from: "json", id: [textOf(row.scope), file || name].filter((part) => part !== "").join("/") },
    // Fields without their file could be anybody's.
    trust: own === null ? "inferred" : trustOf(own.source),
    ...(agrees ? { text } : {}),
    ...(file === "" ? {} : { file }),
  };
}
