/** A model's choice among the memories: asked over the manifest, in bounded time, and believed only where it names what there is. */

import { attempt, messageOf } from "../errors.ts";
import { buildSelectorQuestion, SELECTOR_SCHEMA, SELECTOR_SYSTEM } from "../prompts/memory.ts";
import { ageInWords, type Row } from "../store/store.ts";
import { MAX_MEMORIES } from "./injection.ts";
import { clipLine, neutraliseLine } from "./neutral.ts";

/** One question to a model, outside the conversation. It may reject, and it should heed the signal. `schema` is the JSON Schema of the answer. */
export type SideQuery = (
  system: string,
  user: string,
  signal?: AbortSignal,
  schema?: Record<string, unknown>,
) => Promise<string>;

export interface Selecting {
  ask: SideQuery;
  query: string;
  /** Best first: if not all fit into the manifest, the last are left out. */
  rows: readonly Row[];
  recentTools?: readonly string[] | undefined;
  recentMessages?: readonly string[] | undefined;
  signal?: AbortSignal | undefined;
  /** No limit but the signal's without it. */
  timeoutMs?: number;
  log?: (message: string) => void;
  limit?: number;
}

/** `files` and `rows` are the same choice, in the model's order. */
type Selection = { files: string[]; rows: Row[] } | { failed: string };

/** Must not throw: a failure is a value, logged once. Without rows nothing is asked. */
export async function selectWithModel(selecting: Selecting): Promise<Selection> {
  const { rows, log = () => {}, limit = MAX_MEMORIES } = selecting;
  if (rows.length === 0) return { files: [], rows: [] };
  try {
    const { manifest, included } = formatManifest(rows);
    if (included.length === 0) return { files: [], rows: [] };
    const answer = await askInTime(selecting, question(selecting, manifest));
    const names = parseSelection(answer);
    if (names === null) throw new Error("the answer holds no list of selected_memories");

    const chosen = new Set<Row>();
    const find = rowFinder(rows, included);
    const unknown = names.filter((name) => {
      const row = find(name);
      if (row) chosen.add(row);
      return row === null;
    });
    if (unknown.length > 0)
      log(`memory selection: ${unknown.length} of ${names.length} names are not memories, ignored`);
    const selected = [...chosen].slice(0, Math.max(0, limit));
    return { files: selected.map(({ file }) => file), rows: selected };
  } catch (error) {
    const failed = messageOf(error);
    log(`memory selection failed: ${failed}`);
    return { failed };
  }
}

/** The beginning says what is wanted; the rest of a pasted log would cost more than the answer is worth. */
const MAX_QUERY_CHARS = 8000;
const MAX_MESSAGES = 5;
const MAX_MESSAGE_CHARS = 600;

function question({ query, recentTools, recentMessages }: Selecting, manifest: string): string {
  const messages = recentMessages?.slice(-MAX_MESSAGES).map((message) => clipLine(message, MAX_MESSAGE_CHARS));
  const asked = clipLine(query, MAX_QUERY_CHARS);
  return buildSelectorQuestion({ query: asked, manifest, recentTools, recentMessages: messages });
}

/** A longer timer would fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** The answer, or an error as soon as the time is over or the caller gives up, whether or not the model heeds the signal. */
async function askInTime({ ask, signal, timeoutMs }: Selecting, question: string): Promise<unknown> {
  if (signal?.aborted) throw new Error("aborted");
  const own = new AbortController();
  const ended = new Promise<never>((_, reject) => {
    own.signal.addEventListener("abort", () => reject(own.signal.reason), { once: true });
  });
  const giveUp = () => own.abort(new Error("aborted"));
  const stop = () => own.abort(new Error(`no answer within ${timeoutMs} ms`));
  const timer = timeoutMs === undefined ? undefined : setTimeout(stop, Math.min(timeoutMs, MAX_TIMER_MS)).unref();
  signal?.addEventListener("abort", giveUp, { once: true });
  try {
    // An async function turns what `ask` throws into a rejection; the race has a handler on it however late it comes.
    return await Promise.race([(async () => ask(SELECTOR_SYSTEM, question, own.signal, SELECTOR_SCHEMA))(), ended]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", giveUp);
  }
}

/** What is longer is no answer to this question, or no name; without limits a mad answer would keep us busy. */
const MAX_ANSWER_CHARS = 100_000;
const MAX_LISTS = 20;
const MAX_NAME_CHARS = 4096;

/** The names of the last `selected_memories` list in the answer: models that think aloud end with what they mean. */
function parseSelection(answer: unknown): string[] | null {
  if (typeof answer !== "string") throw new Error("the answer is not text");
  const text = answer.slice(0, MAX_ANSWER_CHARS);
  const starts = [...text.matchAll(/"selected_memories"\s*:\s*(?=\[)/g)].map(({ 0: key, index }) => index + key.length);
  for (const start of starts.slice(-MAX_LISTS).reverse()) {
    const list = parseArray(text, start);
    if (list) return list.filter((name): name is string => typeof name === "string" && name.length <= MAX_NAME_CHARS);
  }
  return null;
}

function parseArray(text: string, start: number): unknown[] | null {
  let depth = 0;
  for (let i = start; i < text.length; i++) {
    const c = text[i];
    if (c === '"') {
      for (i++; i < text.length && text[i] !== '"'; i++) if (text[i] === "\\") i++;
    } else if (c === "[" || c === "{") {
      depth++;
    } else if ((c === "]" || c === "}") && --depth === 0) {
      return parseJson(text.slice(start, i + 1)) ?? parseJson(`${text.slice(start, i).replace(/,\s*$/, "")}]`);
    }
  }
  return null;
}

function parseJson(text: string): unknown[] | null {
  const value = attempt<unknown, null>(() => JSON.parse(text), null);
  return Array.isArray(value) ? value : null;
}

/** Finds the row that a model means: by what the manifest calls it, by file, by path or part of one, by a name only it has. */
function rowFinder(rows: readonly Row[], included: readonly Row[]): (answer: string) => Row | null {
  const shown = new Set(included);
  const names = manifestNames(rows);
  const offered = rows.flatMap((row, i) => {
    return shown.has(row) ? [{ row, path: slashed(row.path), keys: new Set([names[i], row.file, row.path]) }] : [];
  });
  const only = (found: { row: Row }[]) => (found.length === 1 ? found[0]!.row : null);
  return (answer) => {
    const name = answer
      .trim()
      .replace(/^[`'"]+|[`'"]+$/g, "")
      .trim();
    if (name === "") return null;
    const tail = `/${slashed(name).replace(/^(?:~|\.)?\/+/, "")}`;
    return (
      // Two scopes may have the same file: then the better ranked is meant.
      offered.find(({ keys }) => keys.has(answer) || keys.has(name))?.row ??
      only(offered.filter(({ path }) => path.endsWith(tail))) ??
      only(offered.filter(({ row }) => row.name === name))
    );
  };
}

function slashed(path: string): string {
  return path.replaceAll("\\", "/");
}

/** What a side query can hold beside its prompt without becoming slow or dear: about 6,000 tokens. */
const MAX_MANIFEST_CHARS = 25_000;

/** One talkative memory must not take the place of the others. */
const MAX_DESCRIPTION_CHARS = 600;
const MAX_CUES_CHARS = 400;

/** In the order given. A line that does not fit is passed over; smaller ones after it still go in. `left` counts those without room. */
export function formatManifest(rows: readonly Row[], { maxChars = MAX_MANIFEST_CHARS } = {}) {
  const names = manifestNames(rows);
  const lines: string[] = [];
  const included: Row[] = [];
  let chars = 0;
  for (const [i, row] of rows.entries()) {
    const date = `${row.modified.slice(0, 10)}, ${ageInWords(row.ageDays)}`;
    const line = formatLine({ ...row, file: names[i]!, date, description: row.description || row.name });
    const more = line.length + (lines.length > 0 ? 1 : 0);
    if (chars + more > maxChars) continue;
    chars += more;
    lines.push(line);
    included.push(row);
  }
  return { manifest: lines.join("\n"), included, left: rows.length - included.length };
}

/** File names and descriptions alone, a line per file. */
export function formatMemoryManifest(
  headers: readonly { filename: string; description: string; type?: string }[],
): string {
  return headers.map(({ filename, ...header }) => formatLine({ file: filename, ...header })).join("\n");
}

/** What each row is called in the list: its file, with the scope before it when another scope has a file of that name. */
export function manifestNames(rows: readonly Row[]): string[] {
  const counts = new Map<string, number>();
  for (const { file } of rows) counts.set(file, (counts.get(file) ?? 0) + 1);
  return rows.map(({ file, scope }) => oneLine(counts.get(file) === 1 ? file : `${scope}:${file}`));
}

interface Line {
  type?: string;
  file: string;
  date?: string;
  description: string;
  when?: readonly string[];
}

function formatLine({ type, file, date, description, when = [] }: Line): string {
  const cues = when.map(oneLine).filter((cue) => cue !== "");
  return [
    `- ${type ? `[${oneLine(type)}] ` : ""}${oneLine(file)}${date ? ` (${date})` : ""}`,
    description.trim() === "" ? "" : `: ${clipLine(oneLine(description), MAX_DESCRIPTION_CHARS)}`,
    cues.length === 0 ? "" : ` — when: ${clipLine(cues.join("; "), MAX_CUES_CHARS)}`,
  ].join("");
}

function oneLine(text: string): string {
  return neutraliseLine(text).trim();
}
