/** What the page's answers share: the page itself, routes, directories and titles, and diffs. */

import { join } from "node:path";
import { MemdirError } from "../errors.ts";
import { checked, type Fields, filled, type Input, list, number, readInput, required, text } from "../input.ts";
import type { Proposal } from "../learn/proposal.ts";
import type { Memdir } from "../memdir.ts";
import { type OpenOptions, openMemdir } from "../open.ts";
import type { SearchTexts } from "../recall/search.ts";
import type { FullRow, Row, Store } from "../store/store.ts";
import { diffLines } from "../text/diff.ts";
import type { Measured } from "../truth/health.ts";
import type { HealthFinding } from "../truth/health-findings.ts";
import { type Context, silent } from "../verb.ts";
import { TYPE } from "../verbs/common.ts";
import type { World } from "../world.ts";
import type { DiffLine, ListedMemory, LiveEvent, MemoryList, MemoryTitle, Ref } from "./shapes.ts";

/** The Memdir that the page shows. */
export interface Page extends Pick<World, "env" | "now" | "log"> {
  memdir: Memdir;
  /** What `ui` was told instead of the project's own store; another project is shown without it. */
  store?: Pick<OpenOptions, "memoryDir" | "scope">;
  /** Grows when other directories are shown, to which a place or an id of an earlier answer must not be applied. */
  generation: number;
  /** No route that changes memories is answered. */
  readOnly: boolean;
  version: string;
  /** What lasts from one request to the next. */
  kept: Kept;
  /** Watches the directories of another Memdir, once it is this page's. */
  watch?: () => void;
  /** Tells every tab. */
  tell: (event: LiveEvent) => void;
  /** Measures the health in another process: this one has requests to answer, and keeps no text of every memory. */
  measureApart?: ((page: Pick<Page, "memdir" | "store">) => Promise<MeasuredStore[]>) | undefined;
}

interface Kept {
  /** Grows with every change in the directories; null while they are not watched, so that nothing derived from them may be kept. */
  version: number | null;
  /** Proposals that were accepted or rejected here, so that they can be put back. */
  decided?: Map<string, Proposal>;
  /** The last measurement, and the version and the day that it is for. */
  health?: { of: string; last: Measurement | null };
  /** Every memory as a row, as it was at a version and on a day. */
  rows?: { of: string; known: Promise<Known> };
  /** Texts that were read for a search; of which rows all were. */
  texts?: SearchTexts;
  readRows?: readonly KnownRow[];
  /** A list was answered from the cache. */
  isPeeked?: boolean;
  /** What is being done beside the requests, by the words for its failure. */
  beside?: Set<string>;
}

export interface Measurement {
  score: number;
  memories: number;
  findings: readonly (HealthFinding & { directory: number })[];
  /** How many points of the 100 each kind costs. */
  points: Measured["points"];
}

/** What is known of a directory once it was measured. */
export type MeasuredStore = Pick<Measured, "dir" | "memories" | "findings">;

export interface Known {
  rows: KnownRow[];
  byKey: ReadonlyMap<string, KnownRow>;
  skipped: MemoryList["skipped"];
}

/** A row of the store with what is known besides. */
export type KnownRow = Omit<FullRow, "header" | "rule" | "day"> &
  Pick<ListedMemory, "directory" | "verdict" | "recalled" | "author" | "isReadOnly"> & {
    /** In which it was learnt. */
    session: string | null;
  };

export function openPage(options: Omit<Page, "generation" | "kept" | "tell">): Page {
  return { ...options, generation: 0, kept: { version: null }, tell: () => {} };
}

/** Works beside the requests, at one of a kind at a time; `fails` says for the log what could not be done. */
export function workBeside({ kept, log }: Page, fails: string, work: () => Promise<void>): void {
  kept.beside ??= new Set();
  const { beside } = kept;
  if (beside.has(fails)) return;
  beside.add(fails);
  work()
    .catch((error: Error) => log(`${fails}: ${error.message}`))
    .finally(() => beside.delete(fails));
}

/** What a verb gets that the page calls. */
export function contextOf({ memdir, store, env, now, log }: Page, signal: AbortSignal): Context {
  const world = { cwd: memdir.location.project.cwd, env, now, log };
  return silent({ ...world, signal, open: (asked) => openMemdir({ ...world, by: "ui", ...store, ...asked }) });
}

export interface Route {
  method: "GET" | "POST" | "PUT" | "DELETE";
  path: string;
  /** Whether it changes memories. */
  writes: boolean | ((sent: Sent) => boolean);
  /** `sent` is the query of a GET or DELETE, else the body. Throws `usage` for invalid input. */
  answer(page: Page, sent: Sent, signal: AbortSignal): Promise<unknown>;
}

export type Sent = Readonly<Record<string, unknown>>;

type Answer<F extends Fields> = (page: Page, input: Input<F>, signal: AbortSignal) => Promise<unknown>;

export function get<const F extends Fields>(path: string, fields: F, answer: Answer<F>): Route {
  return { ...look(path, fields, answer), method: "GET" };
}

/** A question whose words are too many or too private for an address. */
export function look<const F extends Fields>(path: string, fields: F, answer: Answer<F>): Route {
  return { ...post(path, fields, answer), writes: false };
}

export function post<const F extends Fields>(path: string, fields: F, answer: Answer<F>): Route {
  return {
    ...{ method: "POST", path, writes: true },
    answer: async (page, sent, signal) => answer(page, readInput(fields, sent), signal),
  };
}

export const TEXT = required(text());
export const NAME = required(filled(text()));
/** A memory in a person's words. */
export const WRITTEN = { name: filled(text()), type: TYPE, description: text(), body: text(), cues: list() };
export const TIME = checked(text(), (given) => !Number.isNaN(Date.parse(given)), "must be a time");
/** A memory's place. */
export const REF = { directory: required(number()), file: NAME };

/** The first directory: the one that new memories go to. */
export function mainOf({ directories: [main] }: Memdir): Store {
  if (!main) throw new MemdirError("not-found", "there is no memory directory here");
  return main;
}

export function titleOf({ directory, file, name }: MemoryTitle): MemoryTitle {
  return { directory, file, name };
}

/** Where a row is. */
export function refOf({ directories }: Memdir, { path, file }: Pick<Row, "path" | "file">): Ref {
  return { directory: directories.findIndex((each) => join(each.path, file) === path), file };
}

export function capitalise(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1);
}

export function clip(text: string, maxChars: number): string {
  return text.length > maxChars ? `${text.slice(0, maxChars).toWellFormed()}…` : text;
}

/** Lines around a change, as most tools show. */
const CONTEXT = 3;
/** More than a person reads; the number of lines left out is shown. */
const MAX_LINES = 1_000;
const MAX_LINE_CHARS = 2_000;

export function diffTexts(before: string, after: string): DiffLine[] {
  if (before === after) return [];
  const lines = fold(diffLines(linesOf(before), linesOf(after)));
  const shown = lines.slice(0, MAX_LINES).map((line) => ({ ...line, text: clip(line.text, MAX_LINE_CHARS) }));
  return lines.length <= MAX_LINES ? shown : [...shown, skipped(lines.slice(MAX_LINES))];
}

function linesOf(text: string): string[] {
  return text === "" ? [] : text.replaceAll("\r\n", "\n").replace(/\n$/, "").split("\n");
}

/** What a person may open; of a long text only their number. */
function skipped(lines: readonly DiffLine[]): DiffLine {
  const count = lines.length === 1 ? "1 line" : `${lines.length} lines`;
  if (lines.length > MAX_LINES || lines.some(({ kind }) => kind !== "same")) return { kind: "skipped", text: count };
  return { kind: "skipped", text: count, lines: lines.map(({ text }) => clip(text, MAX_LINE_CHARS)) };
}

/** Lines far from any change are only counted; a single one can be shown itself instead. */
function fold(lines: readonly DiffLine[]): DiffLine[] {
  const isNear = lines.map((_, at) =>
    lines.slice(Math.max(0, at - CONTEXT), at + CONTEXT + 1).some(({ kind }) => kind !== "same"),
  );
  const folded: DiffLine[] = [];
  for (let at = 0; at < lines.length; ) {
    const near = isNear.indexOf(true, at);
    const to = Math.max(at + 1, near < 0 ? lines.length : near);
    const run = lines.slice(at, to);
    folded.push(...(run.length > 1 ? [skipped(run)] : run));
    at = to;
  }
  return folded;
}
