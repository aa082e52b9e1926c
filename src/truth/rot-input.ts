/** A directory read for `rot`: every memory whole, its secrets found, what its index points to. */

import {
  type Directory,
  indexPath,
  listMemories,
  type Memory,
  openListing,
  parseMemory,
  peekIndex,
  type Row,
  readBytes,
  readOverflow,
  unreadable,
} from "../store/store.ts";
import { findSecrets } from "../text/secrets.ts";
import type { RotInput, RotMemory } from "./rot-kind.ts";

/** A file of more is data: it is oversized, and nothing else is looked for in it. */
const MAX_READ_BYTES = 1 << 20;
/** A bar that moves more often costs more than it tells. */
const STEP = 200;

export async function gatherRot(
  directory: Directory,
  tell: (done: number, total: number) => void = () => {},
): Promise<Pick<RotInput, "memories" | "linked" | "now">> {
  const { rows } = await listMemories(directory);
  const memories: RotMemory[] = [];
  for (const row of rows) {
    if (memories.length % STEP === 0) tell(memories.length, rows.length);
    memories.push(readOne(directory, row));
  }
  const index = peekIndex(indexPath(directory));
  const isListed = openListing(index, readOverflow(directory));
  const linked = new Set(rows.filter(isListed).map(({ file }) => file.normalize("NFC")));
  return { memories, linked: index.trim() === "" ? null : linked, now: directory.now() };
}

function readOne(directory: Directory, row: Row): RotMemory {
  const modifiedMs = Date.parse(row.modified);
  const facts = { bytes: row.bytes, modifiedMs };
  let bytes: Buffer;
  try {
    if (row.unreadable) throw new Error(row.problems[0]);
    bytes = readBytes(directory, row.file);
  } catch (error) {
    // Gone or locked since it was listed.
    return { ...facts, memory: emptyMemory(row, (error as Error).message), secrets: [] };
  }
  const secrets = findSecrets(bytes.subarray(0, MAX_READ_BYTES).toString("utf8"));
  return { ...facts, memory: parseMemory(row.file, bytes), secrets };
}

function emptyMemory(row: Row, problem: string): Memory {
  const problems = row.problems.length > 0 ? row.problems : [problem];
  return { ...unreadable(row.file, ""), problems, body: "", metadata: {} };
}
