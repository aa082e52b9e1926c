/**
 * The few memories that help with a prompt. Never throws into the host: what fails is logged, and what is good so far is
 * given back.
 */

import { lstatSync } from "node:fs";
import { join } from "node:path";
import {
  ageInWords,
  agrees,
  countsFrom,
  DIMENSIONS,
  type Directory,
  digestFile,
  isBulkTime,
  isExpired,
  listMemories,
  type Row,
  rowOf,
} from "../store/store.ts";
import { EVEN } from "./confidence.ts";
import { type Candidate, fitMemories, MAX_MEMORIES, openEntryPresenter } from "./injection.ts";
import { clipLine, neutraliseLine } from "./neutral.ts";
import { type Choice, chooseMemories, isExcluded, pathOf, type Ranked, type RecallOptions, rank } from "./rank.ts";
import { bulksOf, countBare, entryAt, findFile, type Resident } from "./resident-rows.ts";
import type { Method } from "./score.ts";
import type { SideQuery } from "./select.ts";

/**
 * Like `Embed`, but may be asynchronous, so a remote embedder works. Every vector has 384 numbers and length one. For a prompt it may
 * give null, where it does not know the language: then words have to do.
 */
export type AnyEmbed = (text: string, isPrompt?: boolean) => Float32Array | null | Promise<Float32Array | null>;

/** What recall needs of the process around it. */
export interface RecallSetup {
  /** Makes the vectors of prompts and memories, null for none; asked for when it is needed, since a model takes a moment to load. */
  findEmbed: () => Promise<AnyEmbed | null>;
  /** Why there is no meaning where the user wants it; null if they do not. */
  whyWords?: () => string | null;
  /** Null: no model is configured. */
  ask: SideQuery | null;
  now: () => Date;
  /** Milliseconds that run evenly. */
  ticks: () => number;
  /** `error`: why a part of recall failed. */
  log: (message: string, error?: Error) => void;
}

/** A memory that was recalled. */
export interface Recalled extends Row {
  /** Ranks it among the others in this answer; meaningless by itself. */
  score: number;
  /** The probability that it helps, 0 to 1. */
  confidence: number;
  /** Why it was found, in words. */
  why: string[];
  /** The line above the content when it is shown. */
  header: string;
  /** The content, neutralised, and truncated if it is long. */
  content: string;
}

/** What a recall found. */
export interface RecallResult {
  /** The few that help, best first. */
  memories: Recalled[];
  /** Names of memories that were found but did not fit. */
  leftOut: string[];
  /** The text to show to a model; "" if there is none. */
  text: string;
  /** How many memories there were to choose from. */
  considered: number;
  /** How they were chosen. */
  method: Method;
  /** What was not available: embeddings (then only words were used), or the model that was to choose. */
  warnings: string[];
  /** How long it took, in milliseconds. */
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
    const { vector, hasMeaning, warnings } = await findVector(setup, prompt);
    const resident = await open();
    // Before ranking, which leaves in the same memory what explains it.
    const bare = hasMeaning ? countBare(resident) : 0;
    const asksModel = setup.ask !== null && options.model !== false;
    const asking = { ...options, prompt, vector, nowMs: setup.now().getTime() };
    const offline = chooseMemories(resident, { ...asking, ...(asksModel ? { orderLimit: MAX_IN_MANIFEST } : {}) });
    if (!offline) return result({ considered: countMemories(resident), warnings });
    const chosen = asksModel ? await chooseWithModel(resident, setup, asking, offline) : offline;
    if (options.signal?.aborted) return result({});
    const isFailed = "failed" in chosen;
    const choice = isFailed ? (chooseMemories(resident, asking) ?? offline) : chosen;
    const unchosen = isFailed ? [`recall went without the model: ${chosen.failed}`] : [];
    const { considered } = offline;
    return result({
      ...deliver(resident, setup, choice, options),
      ...{ considered, warnings: [...unchosen, ...warnings, ...bareWarnings(considered, bare)] },
    });
  } catch (error) {
    setup.log(`recall failed: ${(error as Error).message}`, error as Error);
    return result({ warnings: [`recall failed: ${(error as Error).message}`] });
  }
}

function bareWarnings(considered: number, bare: number): string[] {
  const which = bare >= considered ? "all memories were" : `${bare} of ${considered} memories were`;
  return bare === 0 ? [] : [`${which} ranked by their words only: their vectors have not been made yet`];
}

/** Null without meaning, which is a warning where the user wants it. */
async function findVector(setup: RecallSetup, given: string) {
  const prompt = given.replaceAll("\0", " ").trim();
  const byWords = (why: string) => [`recall went by words only: ${why}`];
  try {
    const embed = await setup.findEmbed();
    if (!embed) {
      const why = setup.whyWords?.() ?? null;
      return { vector: null, hasMeaning: false, warnings: why === null ? [] : byWords(why) };
    }
    const vector = prompt === "" ? null : await embed(prompt, true);
    return { vector: vector === null ? null : checkVector(vector), hasMeaning: true, warnings: [] };
  } catch (error) {
    setup.log(`recall by words only: ${(error as Error).message}`, error as Error);
    return { vector: null, hasMeaning: false, warnings: byWords((error as Error).message) };
  }
}

/** Vectors of programs are not checked by types alone. */
export function checkVector(vector: Float32Array | null): Float32Array {
  if (vector instanceof Float32Array && vector.length === DIMENSIONS) return vector;
  throw new Error(`\`embed\` must give a Float32Array of ${DIMENSIONS} numbers; ask the embedder for that many`);
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

/** Why it had no good answer: then the offline result stands. */
async function chooseWithModel(
  resident: Resident,
  setup: RecallSetup,
  options: RecallOptions & { prompt: string },
  offline: Choice,
): Promise<Choice | { failed: string }> {
  // What ranking found is in memory that others may use meanwhile.
  const evidence = new Map(offline.all.map((ranked) => [ranked, ranked.evidence()]));
  const rows = await rowsInOrder(resident, offline.all, options);
  const { selectWithModel } = await import("./select.ts");
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
  if ("failed" in answer) return answer;
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
  const kind = { hasCues: false, isByWords: true };
  return [{ entry, owner, fromMs: Date.parse(row.modified), score: 0, confidence: 0, ...kind, evidence }];
}

/** Reads, cuts and fits; what vanished meanwhile is passed over, and the next one takes its place. */
function deliver(
  resident: Resident,
  setup: RecallSetup,
  { ranked, method }: Choice,
  options: RecallOptions,
): Partial<RecallResult> {
  const { limit = MAX_MEMORIES, maxBytes, session } = options;
  const now = setup.now();
  const presenters = resident.directories.map((directory) => openEntryPresenter(directory, now));
  const read: (Recalled & Candidate)[] = [];
  for (const each of ranked) {
    if (read.length >= limit) break;
    try {
      const { entry, stat, fromMs } = currentOf(resident, each, now);
      const directory = resident.directories[each.owner] as Directory;
      const row = rowOf(directory, entry.details.header, { fromMs, bytes: stat.size });
      const shown = presenters[each.owner]!(entry, stat, fromMs);
      const { score, confidence } = each;
      read.push({ ...row, score, confidence, why: explain(each, row, method), ...shown });
    } catch (error) {
      setup.log(`${each.entry.file} was found and could not be read: ${(error as Error).message}`);
    }
  }
  const fitted = fitMemories(read, { limit, maxBytes, sessionLeft: session?.bytesLeft() });
  return {
    memories: fitted.memories.map(({ title: _, ...memory }) => memory),
    leftOut: fitted.leftOut.map(({ title }) => title),
    text: fitted.text,
    method,
  };
}

/** The entry as its file is now, and the time that its age counts from. */
function currentOf(resident: Resident, { owner, entry, fromMs }: Ranked, now: Date) {
  const directory = resident.directories[owner] as Directory;
  const stat = lstatSync(join(directory.path, entry.file), { throwIfNoEntry: false });
  const found = stat?.isFile() && !agrees(entry, stat) ? digestFile(directory, entry.file, entry) : "same";
  const current = found === "same" ? entry : found;
  if (!stat?.isFile() || !current || isExpired(current.details.header, now))
    throw new Error("it is gone, or has expired");
  if (current === entry) return { entry, stat, fromMs };
  const isBulk = isBulkTime(bulksOf(resident)[owner] ?? [], current.mtimeMs);
  return { entry: current, stat, fromMs: countsFrom(current, { ...directory, isBulk }) };
}

/** No more words than these are named. */
const MAX_WORDS = 8;
const MAX_CUE_CHARACTERS = 80;

function explain(ranked: Ranked, { when, ageDays }: Row, method: Method): string[] {
  const why: string[] = [];
  const { words, nearest, isLinked, supersededBy } = ranked.evidence();
  if (words.length > 0) why.push(`words: ${words.slice(0, MAX_WORDS).join(", ")}`);
  if (nearest) {
    const { isCue, number, similarity } = nearest;
    const cue = isCue ? when[number] : undefined;
    const what = cue === undefined ? "its text" : `cue "${clipLine(neutraliseLine(cue), MAX_CUE_CHARACTERS)}"`;
    why.push(`meaning: ${what} (${similarity.toFixed(2)})`);
  }
  if (isLinked) why.push("links: a memory that it belongs with has the words");
  if (supersededBy) why.push(`superseded by ${supersededBy}`);
  why.push(`age: ${ageInWords(ageDays)}`);
  if (method === "model") why.push("chosen by the model");
  else if (ranked.confidence < EVEN) why.push("low confidence");
  return why;
}
