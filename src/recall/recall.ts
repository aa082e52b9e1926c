/**
 * The few memories that help with a prompt. Never throws into the host: what fails is logged, and what is good so far is
 * given back.
 */

import { ageInWords, type Directory, digestFile, type Embed, listMemories, type Row, rowAt } from "../store/store.ts";
import { fitMemories, MAX_MEMORIES, type RecallSession } from "./budget.ts";
import { type Choice, chooseMemories, isExcluded, pathOf } from "./choose.ts";
import { isLow } from "./confidence.ts";
import { clipLine } from "./cut.ts";
import { presentFirst } from "./injection.ts";
import { neutraliseLine } from "./neutral.ts";
import { type Ranked, rank } from "./rank.ts";
import type { Resident } from "./resident.ts";
import { countBare, entryAt, findFile } from "./resident-rows.ts";
import type { Method, Signals } from "./score.ts";
import { type SideQuery, selectWithModel } from "./select.ts";

/** What recall needs of the process around it. */
export interface RecallSetup {
  /** Makes the vectors of prompts and memories, null for none; asked for when it is needed, since a model takes a moment to load. */
  findEmbed: () => Promise<Embed | null>;
  /** Null: no model is configured. */
  ask: SideQuery | null;
  now: () => Date;
  /** Milliseconds that run evenly. */
  ticks: () => number;
  /** `error`: why a part of recall failed. */
  log: (message: string, error?: Error) => void;
}

export interface RecallOptions extends Signals {
  /** At most this many; 5 unless told. */
  limit?: number;
  /** Of the whole text, fences and headers included. */
  maxBytes?: number;
  /** Files or paths that are not to come. */
  exclude?: readonly string[];
  /** What this session was shown already, and its budget. */
  session?: RecallSession;
  /** False: offline, even if a model is configured. */
  model?: boolean;
  /** How long the model may take before the offline result stands. */
  timeoutMs?: number;
  /** The whole order, however unsure: for measuring. */
  everything?: boolean;
  signal?: AbortSignal;
}

export interface Recalled extends Row {
  score: number;
  confidence: number;
  why: string[];
  /** What stands above the content when it is shown. */
  header: string;
  /** Neutralised, and cut where it is long. */
  content: string;
}

export interface RecallResult {
  memories: Recalled[];
  /** Names of those that were found and did not fit. */
  leftOut: string[];
  /** Ready to be shown to a model; "" for none. */
  text: string;
  /** How many memories there were to choose from. */
  considered: number;
  method: Method;
  /** What the answer lacks. */
  warnings: string[];
  tookMs: number;
}

const DEFAULT_TIMEOUT_MS = 10_000;
/** As many as a manifest of 25,000 characters can hold. */
const MAX_IN_MANIFEST = 1000;

/** `open` gives the rows, brought up to date; they are used before anything else is waited for. */
export async function recall(
  open: () => Promise<Resident>,
  setup: RecallSetup,
  prompt: string,
  options: RecallOptions = {},
): Promise<RecallResult> {
  const started = setup.ticks();
  const result = (found: Partial<RecallResult>): RecallResult => ({
    memories: [],
    leftOut: [],
    text: "",
    method: "lexical",
    considered: 0,
    warnings: [],
    ...found,
    tookMs: Math.round((setup.ticks() - started) * 100) / 100,
  });
  // Nothing more fits: nothing is asked.
  if (options.session?.isFull() || options.signal?.aborted) return result({});
  try {
    const embed = await orWords(setup.findEmbed, setup.log);
    const resident = await open();
    // Before ranking, which leaves in the same memory what explains it.
    const bare = embed ? countBare(resident) : 0;
    const asksModel = setup.ask !== null && options.model !== false;
    const asking = { ...options, prompt, embed, nowMs: setup.now().getTime(), log: setup.log };
    const offline = chooseMemories(resident, { ...asking, ...(asksModel ? { orderLimit: MAX_IN_MANIFEST } : {}) });
    if (!offline) return result({ considered: countMemories(resident) });
    const chosen = asksModel ? await chooseWithModel(resident, setup, asking, offline) : null;
    if (options.signal?.aborted) return result({});
    const choice = chosen ?? (asksModel ? chooseMemories(resident, asking) : null) ?? offline;
    return result({ ...deliver(resident, setup, choice, options), ...countsOf(offline.considered, bare) });
  } catch (error) {
    setup.log(`recall failed: ${(error as Error).message}`, error as Error);
    return result({});
  }
}

function countsOf(considered: number, bare: number): Pick<RecallResult, "considered" | "warnings"> {
  const which = bare >= considered ? "all memories were" : `${bare} of ${considered} memories were`;
  const warning = `${which} ranked by their words only: their vectors are not made yet`;
  return { considered, warnings: bare === 0 ? [] : [warning] };
}

/** Where nothing was asked for: those there were to choose from all the same. */
function countMemories(resident: Resident): number {
  return rank(resident, { terms: [], meaning: null, foreign: 0 }, { nowMs: 0, limit: 0 }).considered;
}

/** Null when meaning cannot be had, which is logged: then words have to do. */
export async function orWords<T>(find: () => Promise<T | null>, log: RecallSetup["log"]): Promise<T | null> {
  try {
    return await find();
  } catch (error) {
    log(`recall by words only: ${(error as Error).message}`, error as Error);
    return null;
  }
}

/** Null when it had no good answer: the offline result stands. */
async function chooseWithModel(
  resident: Resident,
  setup: RecallSetup,
  options: RecallOptions & { prompt: string },
  offline: Choice,
): Promise<Choice | null> {
  // What ranking found is in memory that others may use meanwhile.
  const evidence = new Map(offline.all.map((ranked) => [ranked, ranked.evidence()]));
  const rows = await rowsInOrder(resident, offline.all, options);
  const answer = await selectWithModel({
    ask: setup.ask as SideQuery,
    query: options.prompt,
    rows,
    timeoutMs: options.timeoutMs ?? DEFAULT_TIMEOUT_MS,
    log: setup.log,
    limit: Math.min(options.limit ?? MAX_MEMORIES, MAX_MEMORIES),
    ...{ recentTools: options.tools, recentMessages: options.messages, signal: options.signal },
  });
  for (const [ranked, found] of evidence) ranked.evidence = () => found;
  if ("failed" in answer) return null;
  const byPath = new Map(offline.all.map((ranked) => [pathOf(resident, ranked), ranked]));
  // Entries are views of memory that may have moved while the model was asked.
  const ranked = answer.rows.flatMap((row) =>
    unranked(resident, row).map((found) => ({ ...found, ...byPath.get(row.path), entry: found.entry })),
  );
  return { ...offline, ranked, method: "model" };
}

/** Every memory, those that share nothing with the prompt last: a model sees more than words do. */
async function rowsInOrder(resident: Resident, all: readonly Ranked[], options: RecallOptions): Promise<Row[]> {
  const listings = await Promise.all(resident.directories.map(listMemories));
  const places = new Map(all.map((ranked, at) => [pathOf(resident, ranked), at]));
  const placeOf = (row: Row) => places.get(row.path) ?? all.length;
  return listings
    .flatMap(({ rows }) => rows)
    .filter((row) => !row.unreadable && !isExcluded(row.file, row.path, options))
    .sort((a, b) => placeOf(a) - placeOf(b));
}

/** A memory that the offline order did not have. */
function unranked(resident: Resident, row: Row): Ranked[] {
  const owner = resident.directories.findIndex(({ path }) => `${path}/${row.file}` === row.path);
  const at = owner < 0 ? null : findFile(resident, owner, row.file);
  const entry = at === null ? null : entryAt(resident, at);
  if (!entry) return [];
  const evidence = () => ({ words: [], nearest: null, isLinked: false, supersededBy: null, signs: null });
  return [{ entry, owner, fromMs: Date.parse(row.modified), score: 0, confidence: 0, evidence }];
}

/** Reads, cuts and fits; what vanished meanwhile is passed over, and the next one takes its place. */
function deliver(
  resident: Resident,
  setup: RecallSetup,
  { ranked, method }: Choice,
  options: RecallOptions,
): Partial<RecallResult> {
  const limit = options.limit ?? MAX_MEMORIES;
  const onGone = ({ entry }: Ranked, error: Error) =>
    setup.log(`${entry.file} was found and could not be read: ${error.message}`);
  const presented = presentFirst(resident, ranked, { now: setup.now(), digest: digestFile, limit, onGone });
  const read = presented.map(({ ranked, entry, stat, fromMs, ageDays, ...shown }) => {
    const row = rowAt(resident.directories[ranked.owner] as Directory, entry, { fromMs, bytes: stat.size });
    const { score, confidence } = ranked;
    return { ...row, score, confidence, why: explain(ranked, row.when, ageDays, method), ...shown };
  });
  const { maxBytes, session } = options;
  const fitted = fitMemories(read, { limit, maxBytes, sessionLeft: session?.bytesLeft() });
  return {
    memories: fitted.memories.map(({ title: _, ...memory }) => memory),
    leftOut: fitted.leftOut.map(({ title }) => title),
    text: fitted.text,
    method,
  };
}

/** No more words than these are named. */
export const MAX_WORDS = 8;
const MAX_CUE_CHARACTERS = 80;

export function explain(ranked: Ranked, cues: readonly string[], ageDays: number, method: Method): string[] {
  const why: string[] = [];
  const { words, nearest, isLinked, supersededBy } = ranked.evidence();
  if (words.length > 0) why.push(`words: ${words.slice(0, MAX_WORDS).join(", ")}`);
  if (nearest) {
    const { isCue, number, similarity } = nearest;
    const cue = isCue ? cues[number] : undefined;
    const what = cue === undefined ? "its text" : `cue "${clipLine(neutraliseLine(cue), MAX_CUE_CHARACTERS)}"`;
    why.push(`meaning: ${what} (${similarity.toFixed(2)})`);
  }
  if (isLinked) why.push("links: a memory that it belongs with has the words");
  if (supersededBy) why.push(`superseded by ${supersededBy}`);
  why.push(`age: ${ageInWords(ageDays)}`);
  if (method === "model") why.push("chosen by the model");
  else if (isLow(ranked.confidence)) why.push("low confidence");
  return why;
}
