/** The sessions of a project: Claude Code's and ours, and those of seed 001's layout. */

import { readdirSync } from "node:fs";
import { join } from "node:path";
import { lstatOrNull } from "../disk/fence.ts";
import { attempt, lazily } from "../errors.ts";
import { excerptAround } from "../text/sanitise.ts";
import { findSecrets, redactSecrets } from "../text/secrets.ts";
import { type Role, type SessionRow, scanSession } from "./session-scan.ts";

export type { SessionRow } from "./session-scan.ts";

/** Where the transcripts of a project are. */
export interface SessionPlaces {
  /** Folders of `projects/`. */
  dirs: readonly string[];
  /** Seed 001's folder of sessions, each a folder with a `transcript.jsonl`. */
  older: string | null;
}

interface ListOptions {
  onProgress?: (done: number, total: number) => void;
  /** On abort, what was found so far is returned. */
  signal?: AbortSignal;
}

/** Newest first; sessions in which nothing was said are left out. Reads every file, one at a time. */
export async function listSessions(places: SessionPlaces, options: ListOptions = {}): Promise<SessionRow[]> {
  return scanAll(eachFile(places, options), options);
}

async function scanAll(files: Iterable<SessionFile>, options: ListOptions = {}): Promise<SessionRow[]> {
  const rows: SessionRow[] = [];
  for (const { path, mtimeMs } of files) {
    const row = await scanSession(path, mtimeMs, options);
    if (row) rows.push(row);
  }
  return rows.sort(byTime);
}

/** By id, the beginning of an id, or "latest". A complete id is never ambiguous. */
export async function findSession(places: SessionPlaces, wanted: string) {
  const files = findFiles(places);
  if (wanted === "latest") return findLatest(files);
  const prefix = wanted.toLowerCase();
  if (prefix === "") return null;
  const rows = await scanAll(files.filter(({ id }) => id.toLowerCase().startsWith(prefix)));
  const whole = rows.filter(({ id }) => id.toLowerCase() === prefix);
  const [first, ...others] = whole.length > 0 ? whole : rows;
  if (!first) return null;
  // The same session in two folders, as after moving a project: the one that continued is meant.
  return others.every(({ id }) => id === first.id) ? first : { ambiguous: [first, ...others] };
}

/** Reports progress until all were taken or the signal aborts. */
function* eachFile(places: SessionPlaces, { onProgress = () => {}, signal }: ListOptions): Generator<SessionFile> {
  const files = findFiles(places);
  for (const [done, file] of files.entries()) {
    if (signal?.aborted) return;
    onProgress(done, files.length);
    yield file;
  }
  onProgress(files.length, files.length);
}

function byTime(a: SessionRow, b: SessionRow): number {
  if (a.at !== b.at) return a.at < b.at ? 1 : -1;
  return a.id < b.id ? -1 : 1;
}

/** Next to sessions are transcripts of sub-agents and other programs' files; only these names are sessions. */
const SESSION_FILE = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\.jsonl$/i;

/** There the folder's name is the id; nothing that could harm a terminal. */
const OLDER_ID = /^[\w.-]{1,128}$/;

export type SessionFile = ReturnType<typeof findFiles>[number];

export function findFiles({ dirs, older }: SessionPlaces) {
  const files = dirs.flatMap((dir) =>
    namesIn(dir, SESSION_FILE).map((name) => ({ path: join(dir, name), id: name.slice(0, -".jsonl".length) })),
  );
  const others =
    older === null ? [] : namesIn(older, OLDER_ID).map((id) => ({ path: join(older, id, "transcript.jsonl"), id }));
  return [...files, ...others].flatMap((file) => {
    const stat = lstatOrNull(file.path);
    return stat?.isFile() ? [{ ...file, mtimeMs: stat.mtimeMs }] : [];
  });
}

export function namesIn(dir: string, wanted = /./): string[] {
  const names = attempt(() => readdirSync(dir), []);
  return names.filter((name) => wanted.test(name)).sort();
}

/** A file is never older than what was said last in it: once the rest is older than the best, it need not be read. */
async function findLatest(files: readonly SessionFile[]): Promise<SessionRow | null> {
  let best: SessionRow | null = null;
  for (const { path, mtimeMs } of [...files].sort((a, b) => b.mtimeMs - a.mtimeMs)) {
    if (best && mtimeMs < Date.parse(best.at)) break;
    const row: SessionRow | null = await scanSession(path, mtimeMs);
    if (row && (!best || byTime(row, best) < 0)) best = row;
  }
  return best;
}

/** A session in which the words of a search were found. */
export interface SessionHit extends SessionRow {
  /** Between 0 and 1; at least the share of words that the session contains, so that all of them outrank some. */
  score: number;
  /** The best passage, on one line, secrets masked. */
  line: string;
  /** Who said the passage. */
  role: Role;
}

interface SessionSearchOptions extends ListOptions {
  limit?: number;
  /** Also searches tool results and reminders. */
  everything?: boolean;
}

const DEFAULT_LIMIT = 20;
const MAX_EXCERPT = 160;

/** Ignores case and accents; "words in quotes" must be together. Reads every file, one text at a time. */
export async function searchSessions(
  places: SessionPlaces,
  words: string,
  options: SessionSearchOptions = {},
): Promise<SessionHit[]> {
  const terms = parseWords(words);
  if (terms.length === 0) return [];
  const { limit = DEFAULT_LIMIT, everything = false, signal } = options;
  let hits: SessionHit[] = [];
  for (const { path, mtimeMs } of eachFile(places, options)) {
    const match = makeMatch(terms);
    const row = await scanSession(path, mtimeMs, { onSaid: match.check, everything, signal });
    const found = match.result();
    if (row && found) hits.push({ ...row, ...found });
    if (hits.length > limit * 2) hits = best(hits, limit);
  }
  return best(hits, limit);
}

/** Folded; what is in quotes is one term. */
export function parseWords(words: string): string[] {
  const terms = [...words.matchAll(/"([^"]+)"|[^\s"]+/g)].map(([whole, quoted]) => fold(quoted ?? whole).trim());
  return [...new Set(terms.filter((term) => term !== ""))];
}

function best(hits: readonly SessionHit[], limit: number): SessionHit[] {
  return [...hits].sort((a, b) => b.score - a.score || byTime(a, b)).slice(0, Math.max(0, limit));
}

function makeMatch(terms: readonly string[]) {
  const found = new Set<string>();
  const together = terms.join(" ");
  let places = 0;
  let best = { worth: 0, role: "user" as Role, text: "", at: 0, length: 0 };
  return {
    check(role: Role, text: string) {
      const folded = fold(text);
      const here = terms.filter((term) => folded.includes(term));
      if (here.length === 0) return;
      places++;
      for (const term of here) found.add(term);
      const phrase = terms.length > 1 ? folded.indexOf(together) : -1;
      // Adjacent words count half a word more; the first of equals stays.
      const worth = here.length + (phrase >= 0 ? 0.5 : 0);
      if (worth <= best.worth) return;
      // Around the phrase, or around the place where most of the words are close together.
      const start = phrase >= 0 ? phrase : densest(folded, here);
      const at = unfold(text, start);
      const end = unfold(text, start + (phrase >= 0 ? together : here[0]!).length);
      best = { worth, role, text, at, length: end - at };
    },
    result() {
      if (found.size === 0) return null;
      // Less than one word in sum, so that none of it outranks another word.
      const closeness = (0.6 * best.worth) / (terms.length + 0.5);
      const often = 0.3 * (1 - 1 / places);
      const score = (found.size + (closeness + often) * 0.99) / (terms.length + 1);
      return { score: Math.round(score * 1000) / 1000, line: excerptOf(best), role: best.role };
    },
  };
}

/** The longest secret, a private key, ends within it. */
const AROUND = 20_000;

/** Masked before it is cut, because half a secret is not recognised; and after, because an escape sequence may have split one. */
function excerptOf({ text, at, length }: { text: string; at: number; length: number }): string {
  const from = Math.max(0, at - AROUND);
  const near = text.slice(from, at + length + AROUND);
  const secrets = findSecrets(near);
  const holder = secrets.find(({ start, end }) => start <= at - from && at - from < end);
  const start = holder?.start ?? at - from;
  const before = secrets.filter(({ end }) => end <= start);
  const masked = redactSecrets(near, secrets);
  const place = redactSecrets(near.slice(0, start), before).length;
  const line = excerptAround(masked, place, holder ? 0 : length, MAX_EXCERPT);
  return redactSecrets(`${from > 0 && !line.startsWith("…") ? "…" : ""}${line}`);
}

/** More places of one word are not compared: the first ones are as good. */
const MAX_PLACES = 200;

function densest(folded: string, terms: readonly string[]): number {
  const places: { at: number; term: string }[] = [];
  for (const term of terms) {
    let at = folded.indexOf(term);
    for (let n = 0; at >= 0 && n < MAX_PLACES; n++, at = folded.indexOf(term, at + term.length))
      places.push({ at, term });
  }
  const termsFrom = (start: number) =>
    new Set(places.filter(({ at }) => at >= start && at < start + MAX_EXCERPT / 2).map(({ term }) => term)).size;
  const counted = places.map(({ at }) => ({ at, terms: termsFrom(at) }));
  return counted.sort((a, b) => b.terms - a.terms || a.at - b.at)[0]?.at ?? 0;
}

const ASCII = /^[\0-\x7f]*$/;
const accents = lazily(() => /\p{M}/gu);

function fold(text: string): string {
  const folded = ASCII.test(text) ? text : text.normalize("NFKD").replace(accents(), "");
  return folded.toLowerCase().replace(/\s+/g, " ");
}

/** The offset in the text up to which it folds to so many characters: folding makes some longer and removes others. */
function unfold(text: string, length: number): number {
  if (ASCII.test(text) && fold(text).length === text.length) return length;
  let [low, high] = [0, text.length];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (fold(text.slice(0, middle)).length <= length) low = middle;
    else high = middle - 1;
  }
  return low;
}
