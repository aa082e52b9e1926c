/** The memories that an export takes: read whole, those with secrets left out. */

import { isUtf8 } from "node:buffer";
import { readRegular } from "../disk/fence.ts";
import { type Memory, type MemoryType, parseMemory, type Row, trustOf } from "../store/store.ts";
import { findSecrets } from "../text/secrets.ts";

export interface Collected {
  /** Path in a folder of the export: scopes beside the main one have folders of their own. */
  file: string;
  scope: string;
  text: string;
  memory: Memory;
}

export interface Collection {
  memories: Collected[];
  /** What is not exported, and why. */
  left: { file: string; reason: string }[];
}

/** As much of a Memdir as it takes; the first directory's files keep their names. */
export interface ExportStore {
  readonly directories: readonly { readonly scope: string; readonly path: string }[];
  list(): Promise<Row[]>;
}

/** `types`: only these. `instructing`: for a place where every sentence is an instruction. */
export async function collectMemories(
  store: ExportStore,
  options: { types?: readonly MemoryType[] | undefined; instructing?: boolean } = {},
): Promise<Collection> {
  const main = store.directories[0]?.scope ?? "project";
  const collection: Collection = { memories: [], left: [] };
  const seen = new Set<string>();
  for (const row of await store.list()) {
    if (options.types && !options.types.includes(row.type)) continue;
    const file = row.scope === main ? row.file : `${row.scope.replace(/[^\w.-]+/g, "-")}/${row.file}`;
    const read = isForeign(row, main, options)
      ? { reason: foreignReason(row) }
      : readOne(row, options.instructing === true);
    if ("reason" in read) collection.left.push({ file, reason: read.reason });
    // Older layouts are listed under the same scope: the first one found counts.
    else if (seen.has(file))
      collection.left.push({ file, reason: "another directory has a memory in a file of this name" });
    else collection.memories.push({ file, scope: row.scope, ...read });
    seen.add(file);
  }
  return collection;
}

/** A project's instructions are for everybody who works on it: what the user or one agent keeps for itself is not. */
function isForeign({ scope }: Row, main: string, { instructing = false }: { instructing?: boolean }): boolean {
  return instructing && scope !== main && scope !== "team";
}

function foreignReason({ scope }: Row): string {
  return `it is of the scope ${scope}, not the project's: --scope ${scope} exports those`;
}

function readOne(row: Row, instructing: boolean): { text: string; memory: Memory } | { reason: string } {
  const data = row.unreadable ? null : readRegular(row.path);
  if (!data) return { reason: "it cannot be read" };
  if (!isUtf8(data)) return { reason: "it is not valid UTF-8" };
  const text = data.toString("utf8");
  const findings = findSecrets(text);
  if (findings.length > 0) {
    const what = findings.map(({ rule, line }) => `${rule} in line ${line}`).join(", ");
    return { reason: `it holds what looks like a secret: ${what}` };
  }
  const memory = parseMemory(row.file, text);
  const trust = trustOf(memory.source);
  if (instructing && (trust === "document" || trust === "tool"))
    return { reason: `its words come from a ${trust}: as an instruction they would be more than that` };
  return { text, memory };
}
