/** One memory with everything that is known about it. */

import { attempt } from "../errors.ts";
import type { Memdir } from "../memdir.ts";
import { findByRef } from "../memory/memories.ts";
import { findShown, readSurfaceLog } from "../recall/surface-log.ts";
import { readTranscript } from "../session/transcripts.ts";
import {
  type FileChange,
  findBytes,
  findUndone,
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
import { hashOf, sha256 } from "../text/hash.ts";
import { isShown } from "../truth/claim.ts";
import { examineMemory, namesOf } from "../truth/verify.ts";
import { clip, diffTexts, get, mainOf, type Page, REF } from "./answer.ts";
import { findHere } from "./answer-activity.ts";
import { linksOf, openLinkage } from "./answer-map.ts";
import { authorsOf, openRows } from "./answer-memories.ts";
import { buildMarkdownTree } from "./markdown-tree.ts";
import type { ClaimRow, DiffLine, MemoryRow, Ref } from "./shapes.ts";
import { inWords } from "./text-parts.ts";

/** The newest: more than the log of a few months has of one memory. */
const MAX_SURFACED = 500;

export const MEMORY_ROUTE = get("/api/memory", REF, viewMemory);

export async function viewMemory(page: Page, ref: Ref) {
  const { memdir } = page;
  const { directory, file } = findByRef(memdir.directories, ref);
  const text = readText(directory, file);
  const memory: Memory = text === null ? { ...unreadable(file, ""), body: "", metadata: {} } : parseMemory(file, text);
  const examined = await examine(page, ref);
  const { rows } = await directory.rows();
  const row = rows.find((each) => each.file === file) as Row;
  const shown = (await openRows(page, directory, ref.directory))(row);
  const isKnown = examined === null || isDoubtful(shown.verdict) === (examined.verdict === "doubtful");
  // The list says the same from now on.
  if (!isKnown && !page.readOnly) await memdir.verify(ref);
  const linkage = openLinkage(memdir);
  return {
    row: isKnown ? shown : (await openRows(page, directory, ref.directory))(row),
    /** In the order of the file, without those that are shown as something else. */
    fields: parseDocument(text ?? "")
      .fields.flatMap(({ key, value }) => flatten(key, value))
      .filter(({ key }) => !SHOWN_ELSEWHERE.has(key.replace(/^metadata\./, ""))),
    /** The whole file; it goes back as `base` with an edit. */
    text: text ?? "",
    body: await buildMarkdownTree(memory.body, (name) => linkage.find(name)),
    cues: memory.when,
    links: linksOf(linkage, ref),
    claims: claimRows(examined),
    provenance: await provenanceOf(page, directory, row, memory),
    history: readHistory(memdir, directory, file, !page.readOnly),
    surfaced: await traceMemory(page, directory, memory),
  };
}

/** Null while nothing is known about the text as it is. */
function isDoubtful(verdict: MemoryRow["verdict"]): boolean | null {
  return verdict && ["gone", "expired", "moved"].includes(verdict.state);
}

/** Fields that the page shows as what they mean. */
const SHOWN_ELSEWHERE: ReadonlySet<string> = new Set([
  ...["name", "description", "type", "when", "created", "modified", "verified", "source", "pinned", "unchecked"],
]);

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
function flatten(key: string, value: FieldValue): { key: string; value: string | string[] }[] {
  if (typeof value === "string") return [{ key, value }];
  if (Array.isArray(value)) return [{ key, value: value.map(inWords) }];
  return Object.entries(value).flatMap(([inner, each]) => flatten(`${key}.${inner}`, each));
}

/** More is data rather than a page with claims. */
const MAX_CLAIMED_CHARS = 200_000;
/** A long git history takes long to search, and the person is waiting for the memory itself. */
const MAX_LOOK_MS = 3_000;

type Examined = Awaited<ReturnType<typeof examineMemory>>;

/** What the memory claims, checked now; null if that is not possible. */
export async function examine({ memdir, env, log }: Page, ref: Ref): Promise<Examined | null> {
  const { project } = memdir.location;
  const { directory, file } = findByRef(memdir.directories, ref);
  const { rows } = await directory.rows();
  const row = rows.find((each) => each.file === file);
  if (!row || row.unreadable || row.bytes > MAX_CLAIMED_CHARS) return null;
  try {
    const signal = AbortSignal.timeout(MAX_LOOK_MS);
    const git = { root: project.worktreeRoot ?? project.cwd, env, signal };
    return await examineMemory(git, directory, row, namesOf(rows));
  } catch (error) {
    log(`the claims could not be checked: ${(error as Error).message}`);
    return null;
  }
}

/** What is wrong first. */
export function claimRows(examined: Examined | null): ClaimRow[] {
  const { findings = [], silenced = [] } = examined ?? {};
  const rows = findings.map((found) => {
    const { kind, text, line } = found.claim;
    return { kind, text, line, verdict: found.verdict, evidence: found.evidence, isWrong: isShown(found) };
  });
  return [
    ...rows.filter(({ isWrong }) => isWrong),
    ...rows.filter(({ isWrong }) => !isWrong),
    ...silenced.map(({ text, reason }) => {
      return { kind: "any", text, line: 0, verdict: "silenced", evidence: reason, isWrong: false };
    }),
  ];
}

async function provenanceOf(page: Page, directory: Store, row: Row, memory: Memory) {
  const written = (await authorsOf(page, directory)).get(row.file);
  const { source, created, modified, verified } = memory;
  const known = {
    ...{ "said by": source?.by, session: source?.session, created, changed: modified, confirmed: verified },
    ...{ author: written?.author, shared: written?.at, file: row.path },
  };
  return Object.entries(known).flatMap(([key, value]) => (value ? [{ key, value }] : []));
}

// --- Where it was shown: to which prompt of which conversation, and whether the answer speaks of it.

/** Each is a file of megabytes; the newest tell enough. */
const MAX_CONVERSATIONS = 8;
const MAX_PROMPT_CHARS = 300;

async function traceMemory(page: Page, directory: Store, memory: Memory) {
  const shown = readSurfaceLog(mainOf(page.memdir).path)
    .flatMap((one) => findShown([one], memory.file, directory.scope).map((how) => ({ ...how, prompt: one.prompt })))
    .slice(-MAX_SURFACED)
    .reverse();
  const sessions = [...new Set(shown.flatMap(({ session }) => session ?? []))].slice(0, MAX_CONVERSATIONS);
  const turns = new Map<string, Turn[]>();
  for (const id of sessions) {
    const found = await findHere(page, id).catch(() => null);
    if (found) turns.set(id, await readTurns(found.path).catch(() => []));
  }
  const marks = marksOf(memory);
  return shown.map(({ at, door, session, why, prompt }) => {
    const turn = turns.get(session ?? "")?.find(({ asked }) => hashOf(asked) === prompt);
    const answer = turn?.answered ?? "";
    return {
      ...{ at, adapter: door, session, why: [...why] },
      /** If the conversation is here: what was asked, and what of the memory the answer names ("" for nothing). */
      prompt: turn ? clip(turn.asked, MAX_PROMPT_CHARS) : null,
      used: turn ? (marks.find((mark) => answer.includes(mark)) ?? "") : null,
    };
  });
}

interface Turn {
  asked: string;
  answered: string;
}

async function readTurns(path: string): Promise<Turn[]> {
  const turns: Turn[] = [];
  for (const { role, content } of (await readTranscript(path)).messages) {
    const said = content.flatMap((block) =>
      block.type === "text" && block.attachment === undefined ? [block.text] : [],
    );
    const calls = content.flatMap((block) => (block.type === "tool_use" ? [JSON.stringify(block.input)] : []));
    if (role === "user" && said.length > 0) turns.push({ asked: said.join("\n"), answered: "" });
    const turn = turns.at(-1);
    if (role === "assistant" && turn) turn.answered += [...said, ...calls].join("\n");
  }
  return turns;
}

/** Too short to be recognised in an answer. */
const MIN_MARK_CHARS = 5;

/** What only who has read it would name: code, paths and commands in it, its name and its file. */
function marksOf({ name, file, body }: Memory): string[] {
  const code = [...body.matchAll(/`([^`\n]+)`/g)].map(([, inner]) => inner as string);
  return [...code, name, file].filter((mark) => mark.length >= MIN_MARK_CHARS);
}

/** The newest: each costs two files to read. */
const MAX_HISTORY = 50;

/** Newest first, with ids that `Memdir.undo` takes. */
export function readHistory({ directories }: Memdir, directory: Store, file: string, mayChange: boolean) {
  const all = directory.history();
  const undone = findUndone(all);
  const hashes = new Map<string, string | null>();
  const isCurrent = ({ file: changed, before, after }: FileChange) => {
    if (!hashes.has(changed)) hashes.set(changed, fileHash(directory, changed));
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

function fileHash(directory: Store, file: string): string | null {
  const bytes = attempt(() => findBytes(directory, file), "unreadable");
  return typeof bytes === "string" ? bytes : bytes && sha256(bytes);
}

/** [] if one of the two texts is no longer kept. */
function diffChange(directory: Store, { file, before, after }: FileChange): DiffLine[] {
  const textOf = (hash: string | null) => {
    if (hash === null) return "";
    const image = readImage(directory, hash);
    if (image) return image.toString("utf8");
    return fileHash(directory, file) === hash ? readText(directory, file) : null;
  };
  const [old, fresh] = [textOf(before), textOf(after)];
  return old === null || fresh === null ? [] : diffTexts(old, fresh);
}
