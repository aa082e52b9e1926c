/**
 * The few memories that help with a prompt. Never throws into the host: what fails is logged, and what is good so far is
 * given back.
 */

import { statSync } from "node:fs";
import { join } from "node:path";
import {
  type Bulk,
  type Directory,
  findAuthor,
  findBulks,
  listMemories,
  parseMemory,
  type Row,
  readBytes,
  rowOf,
} from "../store/store.ts";
import { fitMemories, MAX_MEMORIES, type RecallSession } from "./budget.ts";
import { type FindChecked, openChecked } from "./checked.ts";
import { type Method, sureEnough } from "./confidence.ts";
import type { Embed } from "./digest.ts";
import type { Entry } from "./entry.ts";
import { explain } from "./explanation.ts";
import { formatHeader } from "./injection.ts";
import { type Query, queryTerms, type Signals } from "./query.ts";
import { type Ranked, rank } from "./rank.ts";
import { type SideQuery, selectWithModel } from "./select.ts";
import { freshenFile, freshenShelf, type Shelf } from "./shelf.ts";
import { shownContent } from "./shown.ts";
import { isMostlyLatin } from "../text/terms.ts";

/** Everything that recall may touch outside its arguments. */
export interface RecallWorld {
  shelf: Shelf;
  /** Null: by words only. Asked for when it is needed, since it takes a moment to load. */
  findEmbed: () => Promise<Embed | null>;
  /** Null: no model is configured. */
  ask: SideQuery | null;
  now: () => Date;
  /** Milliseconds that run evenly. */
  ticks: () => number;
  log: (message: string) => void;
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
  tookMs: number;
}

const DEFAULT_TIMEOUT_MS = 10_000;
/** Some of the best may have vanished, or be shown already. */
const SPARE = 20;
/** As many as a manifest of 25,000 characters can hold. */
const MAX_IN_MANIFEST = 1000;

export async function recall(world: RecallWorld, prompt: string, options: RecallOptions = {}): Promise<RecallResult> {
  const started = world.ticks();
  const result = (found: Partial<RecallResult>): RecallResult => ({
    memories: [],
    leftOut: [],
    text: "",
    method: "lexical",
    considered: world.shelf.corpus.count,
    ...found,
    tookMs: Math.round((world.ticks() - started) * 100) / 100,
  });
  // Nothing more fits: nobody is asked.
  if (options.session?.isFull()) return result({});
  try {
    const offline = await recallOffline(world, prompt, options);
    if (!offline) return result({});
    const chosen = (await chooseWithModel(world, prompt, options, offline)) ?? offline;
    if (options.signal?.aborted) return result({});
    return result(deliver(world, chosen, options));
  } catch (error) {
    world.log(`recall failed: ${(error as Error).message}`);
    return result({});
  }
}

interface Choice {
  ranked: Ranked[];
  method: Method;
  /** The whole order, for a model to choose from. */
  all: Ranked[];
}

/** Null when there is nothing to ask for. */
async function recallOffline(world: RecallWorld, prompt: string, options: RecallOptions): Promise<Choice | null> {
  const asked = prompt.replaceAll("\0", " ").trim();
  if (asked === "" || options.signal?.aborted) return null;
  await freshenShelf(world.shelf, world.ticks());
  if (world.shelf.corpus.count === 0) return null;
  const query: Query = { terms: queryTerms(asked, options), vector: await vectorOf(world, asked) };
  // Nothing but marks and stop words: nobody is asked about that.
  if (query.terms.length === 0 && !query.vector) return null;
  const wanted = options.limit ?? MAX_MEMORIES;
  const limit =
    world.ask && options.model !== false
      ? MAX_IN_MANIFEST
      : wanted + SPARE + (options.exclude?.length ?? 0) + (options.session?.surfaced.size ?? 0);
  const order = rank(world.shelf.corpus, query, { nowMs: world.now().getTime(), limit });
  const all = order.filter((ranked) => !isExcluded(world, ranked, options));
  const method: Method = query.vector && all.some(({ nearest }) => nearest) ? "hybrid" : "lexical";
  return { ranked: options.everything ? all : sureEnough(all.slice(0, wanted + SPARE), method), method, all };
}

/** The model of meaning reads English: of another script it knows single characters, and guesses. */
async function vectorOf(world: RecallWorld, prompt: string): Promise<Float32Array | null> {
  if (!isMostlyLatin(prompt)) return null;
  try {
    const embed = await world.findEmbed();
    return embed ? embed(prompt) : null;
  } catch (error) {
    world.log(`recall by words only: ${(error as Error).message}`);
    return null;
  }
}

/** Null when no model is asked, or it had no good answer: the offline result stands. */
async function chooseWithModel(
  world: RecallWorld,
  prompt: string,
  options: RecallOptions,
  offline: Choice,
): Promise<Choice | null> {
  if (!world.ask || options.model === false) return null;
  const rows = await rowsInOrder(world, offline.all, options);
  const answer = await selectWithModel({
    ask: world.ask,
    query: prompt,
    rows,
    timeoutMs: options.timeoutMs ?? DEFAULT_TIMEOUT_MS,
    log: world.log,
    limit: Math.min(options.limit ?? MAX_MEMORIES, MAX_MEMORIES),
    ...(options.tools ? { recentTools: options.tools } : {}),
    ...(options.messages ? { recentMessages: options.messages } : {}),
    ...(options.signal ? { signal: options.signal } : {}),
  });
  if ("failed" in answer) return null;
  const byPath = new Map(offline.all.map((ranked) => [pathOf(world, ranked), ranked]));
  const ranked = answer.rows.flatMap((row) => byPath.get(row.path) ?? unranked(world, row));
  return { ranked, method: "model", all: offline.all };
}

/** Every memory, those that share nothing with the prompt last: a model sees more than words do. */
async function rowsInOrder(world: RecallWorld, all: readonly Ranked[], options: RecallOptions): Promise<Row[]> {
  const listings = await Promise.all(world.shelf.directories.map(listMemories));
  const places = new Map(all.map((ranked, at) => [pathOf(world, ranked), at]));
  const placeOf = (row: Row) => places.get(row.path) ?? all.length;
  const isWanted = (row: Row) => !row.unreadable && !names(options, row.file, row.path);
  return listings
    .flatMap(({ rows }) => rows)
    .filter(isWanted)
    .sort((a, b) => placeOf(a) - placeOf(b));
}

/** A memory that the offline order did not have. */
function unranked(world: RecallWorld, row: Row): Ranked[] {
  const owner = world.shelf.directories.findIndex((directory) => join(directory.path, row.file) === row.path);
  const entry = world.shelf.corpus.entries[world.shelf.places[owner]?.get(row.file) ?? -1];
  if (!entry) return [];
  return [{ entry, owner, score: 0, confidence: 0, words: [], nearest: null, isLinked: false, supersededBy: null }];
}

/** Reads, cuts and fits; what vanished meanwhile is passed over, and the next one takes its place. */
function deliver(world: RecallWorld, { ranked, method }: Choice, options: RecallOptions): Partial<RecallResult> {
  const limit = options.limit ?? MAX_MEMORIES;
  const read: (Recalled & { title: string })[] = [];
  const checked = world.shelf.directories.map(({ path }) => openChecked(path, world.now()));
  const bulks = world.shelf.places.map((places) => findBulks([...places.values()].map((at) => mtimeAt(world, at))));
  for (const candidate of ranked) {
    const { owner } = candidate;
    const seen = { find: checked[owner] as FindChecked, bulks: bulks[owner] as Bulk[] };
    const memory = readRanked(world, candidate, method, seen);
    if (memory) read.push({ ...memory, title: memory.name });
    if (read.length >= limit) break;
  }
  const fitted = fitMemories(read, {
    limit,
    ...(options.maxBytes === undefined ? {} : { maxBytes: options.maxBytes }),
    ...(options.session ? { sessionLeft: options.session.bytesLeft() } : {}),
  });
  return {
    memories: fitted.memories.map(({ title: _, ...memory }) => memory),
    leftOut: fitted.leftOut.map(({ title }) => title),
    text: fitted.text,
    method,
  };
}

/** A file that was written this moment has no time of its own in the cache. */
function mtimeAt({ shelf }: RecallWorld, at: number): number {
  const { mtimeMs, saidMs } = shelf.corpus.entries[at] as Entry;
  return mtimeMs || saidMs;
}

function readRanked(
  world: RecallWorld,
  ranked: Ranked,
  method: Method,
  { find, bulks }: { find: FindChecked; bulks: readonly Bulk[] },
): Recalled | null {
  const directory = world.shelf.directories[ranked.owner] as Directory;
  const { file } = ranked.entry;
  try {
    const path = join(directory.path, file);
    const bytes = readBytes(directory, file);
    const memory = parseMemory(file, bytes);
    const times = new Map(ranked.entry.saidMs ? [[file, ranked.entry.saidMs]] : []);
    const stamp = { header: memory, mtimeMs: statSync(path).mtimeMs, bytes: bytes.length };
    const row = rowOf(directory, stamp, times, world.now().getTime(), bulks);
    const { scope, ageDays } = row;
    return {
      ...row,
      score: ranked.score,
      confidence: ranked.confidence,
      why: explain(ranked, memory, ageDays, method),
      header: formatHeader({
        path,
        scope,
        ageDays,
        source: memory.source,
        checked: find(file, stamp),
        author: findAuthor(directory, file),
      }),
      content: shownContent(bytes.toString("utf8")),
    };
  } catch (error) {
    world.log(`${file} was found and could not be read: ${(error as Error).message}`);
    freshenFile(world.shelf, ranked.owner, file);
    return null;
  }
}

function isExcluded(world: RecallWorld, ranked: Ranked, options: RecallOptions): boolean {
  return names(options, ranked.entry.file, pathOf(world, ranked));
}

function names({ exclude, session }: RecallOptions, file: string, path: string): boolean {
  if (session?.surfaced.has(path)) return true;
  return (
    exclude !== undefined &&
    (exclude.includes(path) || exclude.includes(file) || exclude.includes(file.replace(/\.md$/, "")))
  );
}

function pathOf(world: RecallWorld, { owner, entry }: Ranked): string {
  return join((world.shelf.directories[owner] as Directory).path, entry.file);
}
