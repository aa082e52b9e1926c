/**
 * Cues for memories that have none: a model is asked in batches, and what it answers is written as one change for each, or
 * proposed. A batch that is lost costs nothing but its tokens.
 */

import { type AddedCues, addCues, type Cued, withCues } from "../memory/edit.ts";
import { addUsage, NO_USAGE, say, textOf } from "../model/ask.ts";
import { countAnswers } from "../model/cost.ts";
import { buildCueQuestion, buildCueSchema, CUES_SYSTEM, readCues } from "../prompts/learning.ts";
import { neutralise } from "../recall/neutral.ts";
import { countShown, readSurfaceLog } from "../recall/surface-log.ts";
import {
  findText,
  hasFrontmatter,
  isConflictCopy,
  type Memory,
  parseMemory,
  type Row,
  type Store,
} from "../store/store.ts";
import { sha256 } from "../text/hash.ts";
import { stripBlockComments } from "../text/lines.ts";
import { redactSecrets } from "../text/secrets.ts";
import type { Inbox } from "./inbox.ts";
import type { BudgetAnswer, Ledger } from "./ledger.ts";
import type { LearningModel } from "./model-extractor.ts";
import { findOrigins } from "./origin.ts";
import type { Proposal } from "./proposal.ts";

/** Whose memories get cues, who pays, and how far it goes. */
export interface Enriching {
  directory: Store;
  ledger: Pick<Ledger, "spend">;
  /** Checked before every batch. */
  budget: () => BudgetAnswer;
  /** Where the cues wait for a person; null: they are written. */
  inbox: Inbox | null;
  /** All of them unless stated. */
  maxBatches?: number;
  /** Leaves out what an answer had no cues for until it changes: nobody asked for another try. */
  isBackground?: boolean;
  log?: (message: string) => void;
  onProgress?: (done: number, total: number) => void;
  signal?: AbortSignal;
}

/** Few enough that an answer fits and a lost one costs little; many enough that a client's own prompt is paid for rarely. */
const BATCH = 20;
/** The beginning of a memory says what it is about. */
const MAX_BODY_CHARS = 1500;
/** Six cues of a dozen tokens for each of a batch, twice over. */
const MAX_TOKENS = 4000;

/** Memories without cues that could take some: those that are shown most first, then the newest. */
export async function findPoor(directory: Store, log = directory.path): Promise<Row[]> {
  return choosePoor((await directory.rows()).rows, log);
}

/** The same of rows that are known. `log`: where showing is recorded. */
export function choosePoor<R extends Row>(rows: readonly R[], log: string): R[] {
  const shown = countShown(readSurfaceLog(log));
  const timesOf = ({ scope, file }: Row) => shown(scope, file);
  return rows
    .filter((row) => row.when.length === 0 && !row.unreadable && hasFrontmatter(row))
    .sort((a, b) => timesOf(b) - timesOf(a) || (a.modified < b.modified ? 1 : -1));
}

/** Must not throw: failed ones are left for the next run. */
export async function enrich(enriching: Enriching, model: LearningModel, files: readonly string[]) {
  const { maxBatches = Number.POSITIVE_INFINITY, signal, onProgress } = enriching;
  const result = {
    enriched: [] as string[],
    /** How many still have none. */
    left: files.length,
    usage: NO_USAGE,
    /** Why it stopped early. */
    stopped: null as string | null,
  };
  const waiting = [...files];
  for (let batch = 0; batch < maxBatches && result.stopped === null; batch++) {
    const notes = takeNotes(enriching, waiting);
    if (notes.length === 0) break;
    const budget = enriching.budget();
    if (!budget.ok) result.stopped = budget.reason;
    else if (signal?.aborted) result.stopped = "stopped by the user";
    else {
      const { files, usage, failed } = await enrichBatch(enriching, model, notes);
      result.enriched.push(...files);
      result.usage = addUsage(result.usage, usage);
      result.stopped = failed;
    }
    onProgress?.(files.length - waiting.length, files.length);
  }
  result.left = files.length - result.enriched.length;
  return result;
}

/** As the model is shown it. */
interface Note extends Pick<Memory, "file" | "name" | "description" | "body"> {
  /** The whole file, as it is. */
  text: string;
}

/** The next batch, taken off the list. */
function takeNotes({ directory, inbox, isBackground }: Enriching, files: string[]): Note[] {
  const tried = isBackground ? (triedIn(directory).read() ?? {}) : {};
  const proposed = new Set(inbox?.list().flatMap(({ file, body }) => (body === "" && file !== null ? [file] : [])));
  const notes: Note[] = [];
  while (notes.length < BATCH && files.length > 0) {
    const file = files.shift() as string;
    const text = findText(directory, file);
    if (text === null || tried[file] === markOf(text) || proposed.has(file)) continue;
    const memory = parseMemory(file, text);
    // A trial shows whether the file can take cues before a model is paid for them.
    if (isConflictCopy(memory) || "problem" in withCues(file, text, ["x"])) continue;
    const { name, description, body } = memory;
    // A banner in a comment would take the room of what the memory says.
    const shown = harmless(stripBlockComments(body)).slice(0, MAX_BODY_CHARS);
    notes.push({ file, text, name: harmless(name), description: harmless(description), body: shown });
  }
  return notes;
}

function harmless(text: string): string {
  return neutralise(redactSecrets(text));
}

async function enrichBatch(enriching: Enriching, { ask, provider, name }: LearningModel, notes: readonly Note[]) {
  const { log = () => {}, signal, directory, ledger } = enriching;
  const answer = await countAnswers(ask)({
    system: [{ text: CUES_SYSTEM, cache: true }],
    messages: [say(buildCueQuestion(notes))],
    schema: buildCueSchema(notes.length),
    maxTokens: MAX_TOKENS,
    ...(signal && { signal }),
  });
  let files: string[] = [];
  if (answer.ok) {
    const cues = readCues(textOf(answer.content), notes.length);
    if (!cues) log("enrich: the model's answer was not a list of cues; nothing was written");
    const cued: Cued[] = [];
    for (const [i, texts] of cues ?? []) {
      const note = notes[i] as Note;
      const own = await withoutBorrowed(texts, i, notes);
      if (own.length > 0) cued.push({ file: note.file, base: note.text, cues: own });
    }
    files = await keepCues(enriching, cued, log);
    noteTried(directory, notes, new Set(files));
  }
  const usage = answer.ok ? answer.usage : (answer.partial?.usage ?? NO_USAGE);
  const produced = `${files.length} enriched`;
  ledger.spend({ kind: "enrich", session: null, model: `${provider}/${name}`, usage, produced });
  return { files, usage, failed: answer.ok ? null : redactSecrets(answer.error.message) };
}

/** The files that got cues, or for which some are proposed. */
async function keepCues({ directory, inbox }: Enriching, cued: readonly Cued[], log: (message: string) => void) {
  try {
    const { files, refused } = await (inbox ? propose(directory, inbox, cued) : addCues(directory, cued));
    for (const { file, reason } of refused) log(`enrich: ${file}: ${reason}`);
    return files;
  } catch (error) {
    log(`enrich: ${(error as Error).message}`);
    return [];
  }
}

async function propose(directory: Store, inbox: Inbox, cued: readonly Cued[]) {
  const files: string[] = [];
  const refused: AddedCues["refused"] = [];
  for (const { file, base, cues } of cued) {
    const { name, type } = parseMemory(file, base);
    const proposal: Proposal = {
      ...{ id: "", at: directory.now().toISOString(), action: "update", file, type, name, description: "", body: "" },
      ...{ when: [...cues], trust: "inferred", session: null, message: null, from: "enrich" },
      reason: "situations in which it should come to mind; nothing else of it changes",
    };
    const added = await inbox.add(proposal).catch((error: Error) => ({ problem: error.message }));
    if ("id" in added) files.push(file);
    else if ("problem" in added) refused.push({ file, reason: added.problem });
  }
  return { files, refused };
}

/** A note may ask to be added to others in the batch, so a cue with another note's words is dropped. */
async function withoutBorrowed(cues: readonly string[], own: number, notes: readonly Note[]): Promise<string[]> {
  const words = notes.map(({ name, description, body }) => [name, description, body].join("\n"));
  const others = words.toSpliced(own, 1).map((text) => ({ trust: "document" as const, text }));
  const origins = await Promise.all(cues.map((cue) => findOrigins(cue, words[own] as string, others)));
  return cues.filter((_, i) => origins[i]?.length === 0);
}

/** Memories that a model was asked about in vain, each with a mark of its text. */
function triedIn(directory: Store) {
  return directory.state().record<Record<string, string>>("cues", (value) => {
    const marks = Object.entries(value as object).filter(([, mark]) => typeof mark === "string");
    return Object.fromEntries(marks) as Record<string, string>;
  });
}

function markOf(text: string): string {
  return sha256(text).slice(0, 12);
}

function noteTried(directory: Store, notes: readonly Note[], done: ReadonlySet<string>): void {
  const inVain = notes.filter(({ file }) => !done.has(file));
  if (inVain.length === 0) return;
  const marks = Object.fromEntries(inVain.map(({ file, text }) => [file, markOf(text)]));
  triedIn(directory).write({ ...triedIn(directory).read(), ...marks });
}
