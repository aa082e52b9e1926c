/** One memory with all that is known of it. */

import { findShown, readSurfaceLog } from "../recall/surface-log.ts";
import {
  type Directory,
  listMemories,
  type Memory,
  parseMemory,
  type Row,
  readBytes,
  signEntry,
  unreadable,
} from "../store/store.ts";
import { type Field, type FieldValue, parseDocument } from "../text/frontmatter.ts";
import { examineMemory, namesOf } from "../truth/verify.ts";
import { authorsOf, openRows } from "./answer-memories.ts";
import type { ClaimRow, MemoryView, Ref } from "./api.ts";
import { type Desk, mainOf, placeOf } from "./desk.ts";
import { readHistory } from "./history.ts";
import { linksAt, openLinkage } from "./linkage.ts";
import { buildMarkdownTree } from "./markdown-tree.ts";

/** The newest. */
const MAX_SURFACED = 50;

export async function answerMemory(desk: Desk, ref: Ref): Promise<MemoryView> {
  const { directory, file } = placeOf(desk, ref);
  const { rows } = await listMemories(directory);
  const row = rows.find((each) => each.file === file) as Row;
  const text = readText(desk, directory, file);
  const memory: Memory = text === null ? { ...unreadable(file, ""), body: "", metadata: {} } : parseMemory(file, text);
  const toRow = await openRows(desk, directory, ref.directory);
  const linkage = openLinkage(desk);
  const sign = (id: string) => signEntry(desk.memdir.directories, directory, id);
  const log = readSurfaceLog(mainOf(desk).path);
  return {
    row: toRow(row),
    fields: fieldsOf(parseDocument(text ?? "").fields),
    text: text ?? "",
    body: await buildMarkdownTree(memory.body, (name) => refOnly(linkage.find(name))),
    cues: memory.when,
    links: linksAt(linkage, linkage.at(ref)),
    claims: text === null || text.length > MAX_CLAIMED_CHARS ? [] : await claimsOf(desk, directory, row, rows),
    provenance: await provenanceOf(desk, directory, row, memory),
    history: readHistory(directory, file, sign).map((entry) => ({
      ...entry,
      canUndo: entry.canUndo && !desk.readOnly,
    })),
    surfaced: findShown(log, file, directory.scope)
      .slice(-MAX_SURFACED)
      .reverse()
      .map(({ at, door, session, why }) => ({ at, door, session, why: [...why] })),
  };
}

/** Null for what cannot be read; the row says why. */
function readText(desk: Desk, directory: Directory, file: string): string | null {
  try {
    return readBytes(directory, file).toString("utf8");
  } catch (error) {
    desk.log((error as Error).message);
    return null;
  }
}

function refOnly(found: Ref | null): Ref | null {
  return found && { directory: found.directory, file: found.file };
}

/** As the file says, in its order; a map's fields with their path. */
function fieldsOf(fields: readonly Field[]): MemoryView["fields"] {
  return fields.flatMap(({ key, value }) => flatten(key, value));
}

function flatten(key: string, value: FieldValue): MemoryView["fields"] {
  if (typeof value === "string") return [{ key, value }];
  if (Array.isArray(value)) {
    return [{ key, value: value.map((each) => (typeof each === "string" ? each : JSON.stringify(each))) }];
  }
  return Object.entries(value).flatMap(([inner, each]) => flatten(`${key}.${inner}`, each));
}

/** More is data, and no page with claims. */
const MAX_CLAIMED_CHARS = 200_000;
/** A large history takes long to look through, and somebody waits for the memory itself. */
const MAX_LOOK_MS = 3_000;

async function claimsOf(desk: Desk, directory: Directory, row: Row, rows: readonly Row[]): Promise<ClaimRow[]> {
  const { project } = desk.memdir.location;
  const signal = AbortSignal.timeout(MAX_LOOK_MS);
  try {
    const world = { root: project.worktreeRoot ?? project.cwd, env: desk.env, now: desk.now, signal };
    const { findings, silenced } = await examineMemory(world, directory, row, namesOf(rows));
    return [
      ...findings.map(({ claim, verdict, evidence }) => ({
        kind: claim.kind,
        text: claim.text,
        line: claim.line,
        verdict,
        evidence,
      })),
      ...silenced.map(({ text, reason }) => ({ kind: "any", text, line: 0, verdict: "silenced", evidence: reason })),
    ];
  } catch (error) {
    desk.log(`claims were not looked up: ${(error as Error).message}`);
    return [];
  }
}

async function provenanceOf(
  desk: Desk,
  directory: Directory,
  row: Row,
  memory: Memory,
): Promise<MemoryView["provenance"]> {
  const written = (await authorsOf(desk, directory)).get(row.file);
  const { source } = memory;
  const pairs: [string, string | null | undefined][] = [
    ["file", row.path],
    ["scope", directory.scope],
    ["said by", source?.by],
    ["session", source?.session],
    ["message", source?.message],
    ["created", memory.created],
    ["modified", memory.modified],
    ["verified", memory.verified],
    ["author", written?.author],
    ["shared", written?.at],
  ];
  return pairs.flatMap(([key, value]) => (value ? [{ key, value }] : []));
}
