/** One memory with everything that is known about it. */

import { attempt } from "../errors.ts";
import type { Memdir } from "../memdir.ts";
import { findByRef } from "../memory/find.ts";
import { findShown, readSurfaceLog } from "../recall/surface-log.ts";
import {
  type Entry,
  type FileChange,
  findBytes,
  type Memory,
  parseMemory,
  type Row,
  readBytes,
  readImage,
  type Store,
  signEntry,
  unreadable,
} from "../store/store.ts";
import { type FieldValue, parseDocument } from "../text/frontmatter.ts";
import { sha256 } from "../text/hash.ts";
import { examineMemory, namesOf } from "../truth/verify.ts";
import { diffTexts, get, mainOf, type Page, REF } from "./answer.ts";
import { linksOf, openLinkage } from "./answer-map.ts";
import { authorsOf, openRows } from "./answer-memories.ts";
import type { ClaimRow, DiffLine, HistoryRow, MemoryView } from "./api.ts";
import { buildMarkdownTree } from "./markdown-tree.ts";

/** The newest. */
const MAX_SURFACED = 50;

export const MEMORY_ROUTE = get("/api/memory", REF, async (page, ref): Promise<MemoryView> => {
  const { memdir } = page;
  const { directory, file } = findByRef(memdir.directories, ref);
  const { rows } = await directory.rows();
  const row = rows.find((each) => each.file === file) as Row;
  const text = readText(directory, file);
  const memory: Memory = text === null ? { ...unreadable(file, ""), body: "", metadata: {} } : parseMemory(file, text);
  const toRow = await openRows(page, directory, ref.directory);
  const linkage = openLinkage(memdir);
  const shown = findShown(readSurfaceLog(mainOf(memdir).path), file, directory.scope);
  return {
    row: toRow(row),
    fields: parseDocument(text ?? "").fields.flatMap(({ key, value }) => flatten(key, value)),
    text: text ?? "",
    body: await buildMarkdownTree(memory.body, (name) => linkage.find(name)),
    cues: memory.when,
    links: linksOf(linkage, ref),
    claims: text === null || text.length > MAX_CLAIMED_CHARS ? [] : await claimsOf(page, directory, row, rows),
    provenance: await provenanceOf(page, directory, row, memory),
    history: readHistory(memdir, directory, file, !page.readOnly),
    surfaced: shown
      .slice(-MAX_SURFACED)
      .reverse()
      .map(({ at, door, session, why }) => ({ at, adapter: door, session, why: [...why] })),
  };
});

/** Null if it cannot be read; the row says why. */
function readText(directory: Store, file: string): string | null {
  try {
    return readBytes(directory, file).toString("utf8");
  } catch (error) {
    directory.log((error as Error).message);
    return null;
  }
}

/** A map's fields with their path. */
function flatten(key: string, value: FieldValue): MemoryView["fields"] {
  if (typeof value === "string") return [{ key, value }];
  if (Array.isArray(value)) {
    return [{ key, value: value.map((each) => (typeof each === "string" ? each : JSON.stringify(each))) }];
  }
  return Object.entries(value).flatMap(([inner, each]) => flatten(`${key}.${inner}`, each));
}

/** More is data rather than a page with claims. */
const MAX_CLAIMED_CHARS = 200_000;
/** A long git history takes long to search, and the person is waiting for the memory itself. */
const MAX_LOOK_MS = 3_000;

async function claimsOf(page: Page, directory: Store, row: Row, rows: readonly Row[]): Promise<ClaimRow[]> {
  const { project } = page.memdir.location;
  const signal = AbortSignal.timeout(MAX_LOOK_MS);
  try {
    const git = { root: project.worktreeRoot ?? project.cwd, env: page.env, signal };
    const { findings, silenced } = await examineMemory(git, directory, row, namesOf(rows));
    return [
      ...findings.map(({ claim: { kind, text, line }, ...found }) => {
        return { kind, text, line, verdict: found.verdict, evidence: found.evidence };
      }),
      ...silenced.map(({ text, reason }) => ({ kind: "any", text, line: 0, verdict: "silenced", evidence: reason })),
    ];
  } catch (error) {
    page.log(`the claims could not be checked: ${(error as Error).message}`);
    return [];
  }
}

async function provenanceOf(page: Page, directory: Store, row: Row, memory: Memory): Promise<MemoryView["provenance"]> {
  const written = (await authorsOf(page, directory)).get(row.file);
  const { source, created, modified, verified } = memory;
  const known = {
    ...{ file: row.path, scope: directory.scope, "said by": source?.by, session: source?.session },
    ...{ message: source?.message, created, modified, verified, author: written?.author, shared: written?.at },
  };
  return Object.entries(known).flatMap(([key, value]) => (value ? [{ key, value }] : []));
}

/** The newest: each costs two files to read. */
const MAX_HISTORY = 50;

/** Newest first, with ids that `Memdir.undo` takes. */
function readHistory({ directories }: Memdir, directory: Store, file: string, mayChange: boolean): HistoryRow[] {
  const all = directory.history();
  const undone = findUndone(all);
  const hashes = new Map<string, string | null>();
  const isCurrent = ({ file: changed, before, after }: FileChange) => {
    if (!hashes.has(changed)) hashes.set(changed, hashOf(directory, changed));
    return hashes.get(changed) === after && (before === null || readImage(directory, before) !== null);
  };
  return all
    .filter(({ files }) => files.some((change) => change.file === file))
    .slice(-MAX_HISTORY)
    .reverse()
    .map(({ id, at, by, action, reason, files, purged }) => ({
      ...{ id: signEntry(directories, directory, id), at, by, action, reason, undone: undone.has(id) },
      diff: diffChange(directory, files.find((each) => each.file === file) as FileChange),
      canUndo: mayChange && !directory.readOnly && !undone.has(id) && !purged && files.every(isCurrent),
    }));
}

/** Undone, and the undoing not undone in turn. */
function findUndone(entries: readonly Entry[]): Set<string> {
  const undone = new Set<string>();
  for (const { id, undoes } of entries.toReversed()) if (undoes && !undone.has(id)) undone.add(undoes);
  return undone;
}

function hashOf(directory: Store, file: string): string | null {
  const bytes = attempt(() => findBytes(directory, file), "unreadable");
  return typeof bytes === "string" ? bytes : bytes && sha256(bytes);
}

/** [] if one of the two texts is no longer kept. */
function diffChange(directory: Store, { file, before, after }: FileChange): DiffLine[] {
  const textOf = (hash: string | null) => {
    if (hash === null) return "";
    const image = readImage(directory, hash);
    if (image) return image.toString("utf8");
    return hashOf(directory, file) === hash ? readText(directory, file) : null;
  };
  const [old, fresh] = [textOf(before), textOf(after)];
  return old === null || fresh === null ? [] : diffTexts(old, fresh);
}
