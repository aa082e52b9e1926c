/** What the page's answers share: the page itself, routes, directories and titles, and diffs. */

import { join } from "node:path";
import { MemdirError } from "../errors.ts";
import { type Fields, filled, type Input, list, number, readInput, required, text } from "../input.ts";
import type { Plan } from "../learn/dream-plan.ts";
import type { Memdir } from "../memdir.ts";
import { openMemdir } from "../open.ts";
import type { Searchable, SearchTexts } from "../recall/search.ts";
import { type Row, type Store, scan, stemOf } from "../store/store.ts";
import { diffLines } from "../text/diff.ts";
import { type Context, silent } from "../verb.ts";
import { TYPE } from "../verbs/common.ts";
import type { World } from "../world.ts";
import type { DiffLine, MemoryTitle, Ref, RotView } from "./api.ts";

/** The Memdir that the page shows. */
export interface Page extends Pick<World, "env" | "now" | "log"> {
  memdir: Memdir;
  /** No route that changes memories is answered. */
  readOnly: boolean;
  version: string;
  /** What lasts from one request to the next. */
  kept: Kept;
}

interface Kept {
  /** Grows with every change in the directories; null while they are not watched, so that nothing derived from them may be kept. */
  version: number | null;
  /** The plan of a dream that waits for review. */
  plan: { id: string; made: string; plan: Plan } | null;
  /** The health of all memories as last measured, and a hash of what it was measured from: measuring reads every memory. */
  rot?: { of: string; rot: RotView };
  /** What a quick search reads, as it was at a version. */
  texts?: { version: number | null; all: Promise<readonly KeptText[]> };
  /** Files that were read, by their times. */
  read?: SearchTexts;
}

export interface KeptText extends Ref {
  mtimeMs: number;
  fields: Searchable["fields"];
}

export function openPage(options: Omit<Page, "kept">): Page {
  return { ...options, kept: { plan: null, version: null } };
}

/** What a verb gets that the page calls. */
export function contextOf({ memdir, env, now, log }: Page, signal: AbortSignal): Context {
  const world = { cwd: memdir.location.project.cwd, env, now, log };
  return silent({ ...world, signal, open: (asked) => openMemdir({ ...world, by: "ui", ...asked }) });
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

export function keyOf({ directory, file }: Ref): string {
  return `${directory}/${file}`;
}

/** Names of memories; one that no longer exists is called by its file. */
export function openTitles({ directories }: Memdir): (directory: number, file: string) => MemoryTitle {
  const names = directories.map((each) => new Map(scan(each).memories.map(({ header }) => [header.file, header.name])));
  return (directory, file) => ({ directory, file, name: names[directory]?.get(file) ?? stemOf(file) });
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
  return lines.length <= MAX_LINES ? shown : [...shown, skipped(lines.length - MAX_LINES)];
}

function linesOf(text: string): string[] {
  return text === "" ? [] : text.replaceAll("\r\n", "\n").replace(/\n$/, "").split("\n");
}

function skipped(count: number): DiffLine {
  return { kind: "skipped", text: count === 1 ? "1 line" : `${count} lines` };
}

/** Runs of lines that stay, shortened to what is near a change. */
function fold(lines: readonly DiffLine[]): DiffLine[] {
  const folded: DiffLine[] = [];
  for (let at = 0; at < lines.length; ) {
    let to = at;
    while (to < lines.length && lines[to]?.kind === "same") to++;
    if (to === at) {
      folded.push(lines[at++] as DiffLine);
      continue;
    }
    const run = lines.slice(at, to);
    const head = at === 0 ? 0 : CONTEXT;
    const tail = to === lines.length ? 0 : CONTEXT;
    // A single line can be shown itself instead of being counted.
    if (run.length <= head + tail + 1) folded.push(...run);
    else folded.push(...run.slice(0, head), skipped(run.length - head - tail), ...run.slice(run.length - tail));
    at = to;
  }
  return folded;
}
