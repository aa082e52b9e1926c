/** The memories of a project's stores as verbs: what a name means, which store it is in, and what is known once it is written. */

import { isAbsolute, join, relative, sep } from "node:path";
import { findNameProblem, realPath, resolveInside } from "../disk/fence.ts";
import { yieldTurn } from "../disk/turns.ts";
import { isObject, MemdirError } from "../errors.ts";
import {
  checkGiven,
  type Entry,
  fileNameFor,
  findJournal,
  type Header,
  INDEX_FILE,
  type IndexView,
  isDailyLog,
  isExpired,
  isMemoryType,
  isOfType,
  type Listing,
  loadIndex,
  MEMORY_TYPES,
  type MemoryType,
  oneLine,
  type Row,
  readBytes,
  readJournals,
  repairDirectory,
  type ShownMemory,
  type Store,
  scan,
  scanInPieces,
  showMemory,
  signEntry,
  stemOf,
  type Trust,
  type UndoResult,
} from "../store/store.ts";
import { isDay } from "../text/local-day.ts";
import type { MergeRequest, RebuiltIndex } from "./edit.ts";
import type { ForgetOptions, ForgetResult, PruneRequest, PruneResult } from "./forget.ts";
import type { SaveRequest, SaveResult } from "./save.ts";

/** A memory by its place: the number of its directory among those in use, and the file in it. */
export interface MemoryRef {
  /** Index in `directories`, from 0. */
  directory: number;
  /** Path below that directory, with `/` on every system. */
  file: string;
}

/** A memory by the name that a person uses for it, or by its exact place. */
export type Named = string | MemoryRef;

/** Which memories `list` returns; every condition must be met. */
export interface ListFilter {
  /** Only memories of this type. */
  type?: MemoryType | undefined;
  /** user, project, team, or agent:NAME. */
  scope?: string | undefined;
  /** From this day or moment on, by the time that the age counts from: `2026-03-01`, an ISO time, or a Date. */
  since?: string | Date | undefined;
  /** Up to this day or moment; a day is included in full. */
  until?: string | Date | undefined;
  /** Who said it, as the memory's `source` names them; `user` also finds those without a source. */
  by?: string | undefined;
  /** Part of one of its cues, ignoring case. */
  cue?: string | undefined;
  /** Set to false to leave out expired memories. */
  expired?: boolean | undefined;
}

/** The memories of a project's stores. */
export interface Memories {
  /** Saves a memory, or updates the one of the same type and name. Refuses secrets unless `redact` is set. */
  save(request: SaveRequest): Promise<SaveResult>;
  /** Every memory, or those that match the filter. */
  list(filter?: ListFilter): Promise<Row[]>;
  /** Like `list`, plus what was skipped and why. */
  survey(): Promise<Listing>;
  /** One memory with its text. */
  show(name: Named): Promise<ShownMemory>;
  /** The whole text of the file, for an editor. Pass it back to `edit` as `base`. */
  text(name: Named): Promise<{ file: string; path: string; text: string }>;
  /** Replaces the text that was `base` when it was read. Changes that others made in the meantime are kept, or the edit is refused as a conflict. */
  edit(name: Named, base: string, text: string, options?: { redact?: boolean | undefined }): Promise<SaveResult>;
  /** Writes a file of a memory directory for an agent's tools: checked, journalled and indexed like every save. `base` is its former content, null if it is new; `trust` is how far the writer is trusted. */
  put(path: string, text: string, base: string | null, options?: { trust?: Trust | undefined }): Promise<SaveResult>;
  /** Removes a memory and its line in the index; `purge` also removes its earlier versions from the journal. */
  forget(name: Named, options?: ForgetOptions): Promise<ForgetResult>;
  /** Gives a memory a new name and file. References to it in other memories are updated in the same change. */
  rename(name: Named, newName: string): Promise<SaveResult>;
  /** Merges two memories of one directory: `text` replaces the first and the second is forgotten, in one change. */
  merge(keep: Named, other: Named, request: MergeRequest): Promise<SaveResult>;
  /** Forgets old memories, or the chosen ones; never feedback or pinned memories. */
  prune(request: PruneRequest): Promise<PruneResult>;
  /** The changes made to one memory, or to all of them, newest last. */
  history(name?: string): Promise<Entry[]>;
  /** Undoes a whole change: the last one, or the one with this id, as returned by `save`, `forget` and `history`. */
  undo(id?: string): Promise<UndoResult>;
  /** MEMORY.md as the model sees it. If it is missing, it is generated the way the client does it. */
  index(): Promise<IndexView>;
  /** Adds memories that are missing from the index, and removes the lines of those that are gone. */
  rebuildIndex(): Promise<IndexView & RebuiltIndex>;
}

/** The first store is the one that is written to. `written` is called for every file, before the verb answers. */
export function openMemories(
  stores: readonly Store[],
  written: (store: Store, file: string) => Promise<void>,
): Memories {
  const main = stores[0] as Store;
  const find = (name: Named) => findNamed(stores, name);
  const survey = async (): Promise<Listing> => {
    const listings = await Promise.all(stores.map((store) => store.rows()));
    // A directory as a whole is named in full: "." would be any of them.
    const skipped = listings.flatMap((listing, at) =>
      listing.skipped.map((each) => (each.path === "." ? { ...each, path: stores[at]?.path ?? "." } : each)),
    );
    return { rows: listings.flatMap((l) => l.rows), skipped };
  };
  /** Every store has its own journal: an entry of another than the main one is known by its scope too. */
  const signed = <T extends { undo: string | null }>(store: Store, result: T): T =>
    result.undo === null ? result : { ...result, undo: signEntry(stores, store, result.undo) };
  const noted = async <T extends { file: string; undo: string | null }>(store: Store, result: T): Promise<T> => {
    await written(store, result.file);
    return signed(store, result);
  };

  // What writes is loaded when it is called: reading must start fast.
  return {
    save: async (request) => {
      const { saveMemory } = await import("./save.ts");
      // All who waited for the module go on at the same moment.
      await yieldTurn();
      return noted(main, await saveMemory(main, request));
    },
    list: async (filter = {}) => filterRows((await survey()).rows, filter, main.now()),
    survey,
    show: async (name) => {
      const { directory, file } = await find(name);
      return showMemory(directory, file);
    },
    text: async (name) => {
      const { directory, file } = await find(name);
      return { file, path: join(directory.path, file), text: readBytes(directory, file).toString("utf8") };
    },
    edit: async (name, base, text, options) => {
      const { directory, file } = await find(name);
      const { editMemory } = await import("./edit.ts");
      return noted(directory, await editMemory(directory, file, base, text, options));
    },
    put: async (path, text, base, options) => {
      const { editIndex, editMemory } = await import("./edit.ts");
      const { directory, file } = findByPath(stores, path);
      if (file === INDEX_FILE) return signed(directory, await editIndex(directory, base, text));
      if (isDailyLog(file))
        throw new MemdirError("usage", `${file} is a daily log, which only grows: use \`memdir log\``);
      return noted(directory, await editMemory(directory, file, base, text, options));
    },
    forget: async (name, options) => {
      const { forgetMemory } = await import("./forget.ts");
      const gone = options?.purge && typeof name === "string" ? findForgotten(stores, name) : null;
      const found = await find(name).catch((error: unknown) => {
        if (gone === null) throw error;
        return null;
      });
      const { directory, file } = (found ?? gone) as Found;
      return signed(directory, await forgetMemory(directory, file, { ...options, isForgotten: found === null }));
    },
    rename: async (name, newName) => {
      const { directory, file } = await find(name);
      const { renameMemory } = await import("./edit.ts");
      return noted(directory, await renameMemory(directory, file, newName));
    },
    merge: async (keep, other, request) => {
      const [kept, gone] = [await find(keep), await find(other)];
      const { mergeMemories } = await import("./edit.ts");
      return noted(kept.directory, await mergeMemories(kept, gone, request));
    },
    prune: async (request) => (await import("./forget.ts")).pruneMemories(main, request),
    history: async (name) => {
      const entries = readJournals(stores);
      if (name === undefined) return entries;
      // Also memories that are gone have a history, under their file name.
      const found = await find(name).catch(() => null);
      const known = found ? [name, `${name}.md`, found.file] : fileNamesFor(name);
      const own = entries.filter(({ files }) => files.some(({ file }) => known.includes(file)));
      // Throws for a name that never was one.
      if (own.length === 0) await find(name);
      return own;
    },
    undo: async (id) => {
      const directory = findJournal(stores, id);
      return directory.undo(id, (own) => signEntry(stores, directory, own));
    },
    index: async () => {
      await repairDirectory(main);
      // To look is not to write: where there is none, what the client would make is shown.
      return loadIndex({ ...main, readOnly: true }, { generate: true });
    },
    rebuildIndex: async () => {
      const { rebuildIndex } = await import("./edit.ts");
      const rebuilt = await rebuildIndex(main);
      return { ...loadIndex(main, { generate: false }), ...rebuilt };
    },
  };
}

/** The files that a memory of this name, or named so, would have. */
function fileNamesFor(name: string): string[] {
  return [name, `${name}.md`, ...MEMORY_TYPES.map((type) => fileNameFor(type, name))];
}

/** A memory that the journal saw go, last of all, and not for good. */
function findForgotten(stores: readonly Store[], name: string): Found | null {
  const known = fileNamesFor(name);
  for (const directory of stores.filter(({ readOnly }) => !readOnly)) {
    const history = directory.history();
    const file = known.find((each) => {
      const last = history.findLast(({ files }) => files.some(({ file }) => file === each));
      return last && !last.purged && last.files.find(({ file }) => file === each)?.after === null;
    });
    if (file !== undefined) return { directory, file };
  }
  return null;
}

/** Throws `usage` for what is no date. */
export function filterRows<T extends Row>(rows: readonly T[], filter: ListFilter, now: Date = new Date(0)): T[] {
  const given: unknown = filter;
  if (!isObject(given)) throw new MemdirError("usage", 'give the filter as an object, such as { type: "feedback" }');
  const { type, scope, since, until, by, cue, expired = true } = filter;
  if (type !== undefined && !isMemoryType(type))
    throw new MemdirError("usage", `${JSON.stringify(type)} is not a type: use one of ${MEMORY_TYPES.join(", ")}`);
  const from = since === undefined ? null : readMoment(since, "since");
  const to = until === undefined ? null : readMoment(until, "until") + (isWholeDay(until) ? DAY_MS - 1 : 0);
  const wanted = cue === undefined ? null : checkGiven(cue, "cue").toLowerCase();
  return rows.filter((row) => {
    const time = Date.parse(row.modified);
    return (
      (type === undefined || isOfType(row, type)) &&
      (scope === undefined || row.scope === scope || row.scope.startsWith(`${scope}@`)) &&
      (from === null || time >= from) &&
      (to === null || time <= to) &&
      (by === undefined || isBy(row, checkGiven(by, "by"))) &&
      (wanted === null || row.when.some((each) => each.toLowerCase().includes(wanted))) &&
      (expired || !isExpired(row, now))
    );
  });
}

/** What has no source counts as the user's. */
export function isBy({ by = "user" }: Pick<Row, "by">, wanted: string): boolean {
  return by.toLowerCase().includes(wanted.toLowerCase());
}

const DAY_MS = 86_400_000;

function isWholeDay(given: unknown): boolean {
  return typeof given === "string" && /^\d{4}-\d\d-\d\d$/.test(given);
}

function readMoment(given: string | Date, field: string): number {
  const time = given instanceof Date ? given.getTime() : isDay(String(given)) ? Date.parse(given) : Number.NaN;
  if (Number.isNaN(time)) throw new MemdirError("usage", `${field} is not a date: write it as "2026-03-01"`);
  return time;
}

// --- The memory that a person means by a name: its file name, its stem or its name.

export interface Found {
  directory: Store;
  file: string;
}

export async function findNamed(directories: readonly Store[], name: Named): Promise<Found> {
  return typeof name === "string" ? findMemory(directories, name) : findByRef(directories, name);
}

/** Whose file a path is. Only Markdown outside hidden folders is a memory. */
export function findByPath(directories: readonly Store[], path: string): Found {
  const real = realPath(path);
  // A team's mirror is inside the project's directory: the innermost one is meant.
  for (const directory of directories.toSorted(byLength).reverse()) {
    const file = relative(realPath(directory.path), real).split(sep).join("/");
    if (directory.readOnly || file === "" || file.startsWith("../") || isAbsolute(file)) continue;
    resolveInside(directory.path, file);
    if (/\.md$/i.test(file) && !/(^|\/)\./.test(file)) return { directory, file };
    throw new MemdirError(
      "usage",
      `${file} is not a memory: a memory is a .md file, and folders that start with a dot are memdir's own`,
    );
  }
  throw new MemdirError("outside", `${path} is in none of the memory directories`);
}

/** Only what the listing shows can be meant: whatever else a path leads to is not found, or refused as such. */
export function findByRef(directories: readonly Store[], ref: MemoryRef): Found {
  const { directory: at, file } = ref ?? {};
  if (typeof at !== "number") checkGiven(ref, "name of a memory");
  checkGiven(file, "file of a memory");
  const directory = directories[at];
  if (!directory) throw new MemdirError("not-found", `there is no memory directory with the number ${at}`);
  if (scan(directory).some((header) => header.file === file)) return { directory, file };
  const problem = findNameProblem(file);
  const shown = JSON.stringify(file.slice(0, 80));
  if (problem) throw new MemdirError("outside", `the file ${shown} is refused: ${problem}`);
  throw new MemdirError("not-found", `${shown} is not a memory of ${directory.path}: was it renamed or forgotten?`);
}

/** Exactly one memory of the given directories, or an error that says what there is. Bodies are never read. */
export async function findMemory(directories: readonly Store[], name: string): Promise<Found> {
  const given = oneLine(name).replace(/^\.\//, "");
  // The path that `show` prints names its memory, too.
  const own = directories
    .filter(({ path }) => given.startsWith(`${path}${sep}`))
    .sort(byLength)
    .at(-1);
  const wanted = own ? given.slice(own.path.length + 1) : given;
  if (wanted === "") throw new MemdirError("usage", "give the name of a memory; `memdir list` shows them");
  // A path that leads elsewhere is refused as such, not reported as missing.
  const problem =
    /[/\\\0%]|^\.\.?$/.test(wanted) || wanted.normalize("NFKC") !== wanted ? findNameProblem(wanted) : null;
  const all: { directory: Store; header: Header }[] = [];
  for (const directory of own ? [own] : directories)
    for (const header of await scanInPieces(directory)) all.push({ directory, header });
  for (const rule of RULES) {
    const found = all.filter(({ header }) => rule(header, wanted));
    if (found.length > 1) throw ambiguous(wanted, found);
    for (const { directory, header } of found) return { directory, file: header.file };
  }
  if (problem)
    throw new MemdirError("outside", `the name ${JSON.stringify(wanted.slice(0, 80))} is refused: ${problem}`);
  throw missing(wanted, all);
}

const byLength = (a: Store, b: Store) => a.path.length - b.path.length;

/** From the most to the least exact; the first rule that matches anything decides. */
const RULES: readonly ((header: Header, wanted: string) => boolean)[] = [
  (header, wanted) => header.file.normalize("NFC") === wanted,
  (header, wanted) => header.file.replace(/\.md$/, "").normalize("NFC") === wanted || oneLine(header.name) === wanted,
  (header, wanted) => stemOf(header.file).normalize("NFC") === wanted,
  (header, wanted) => oneLine(header.name).toLowerCase() === wanted.toLowerCase(),
  (header, wanted) => stemOf(header.file).toLowerCase() === wanted.toLowerCase(),
];

function ambiguous(name: string, found: readonly { directory: Store; header: Header }[]): MemdirError {
  const list = found
    .slice(0, 6)
    .map(({ directory, header }) => `${header.file} (${directory.scope})`)
    .join(", ");
  const differ = (values: readonly string[]) => new Set(values).size > 1;
  const ways = [
    ...(differ(found.map(({ header }) => header.file)) ? ["the file name"] : []),
    ...(differ(found.map(({ directory }) => directory.scope)) ? ["--scope"] : []),
  ];
  const how = ways.join(", or ") || "--memory-dir";
  return new MemdirError("ambiguous", `"${name}" is the name of ${found.length} memories: ${list}; give ${how}`);
}

function missing(name: string, all: readonly { header: Header }[]): MemdirError {
  const words = name
    .toLowerCase()
    .split(/[\s_.-]+/)
    .filter((w) => w.length > 2);
  const near = all
    .map(({ header }) => ({
      header,
      hits: words.filter((w) => `${header.name} ${header.file}`.toLowerCase().includes(w)).length,
    }))
    .filter(({ hits }) => hits > 0)
    .sort((a, b) => b.hits - a.hits)
    .slice(0, 3)
    .map(({ header }) => header.file);
  const some = [near.slice(0, -1).join(", "), near.at(-1)].filter(Boolean).join(" or ");
  const hint = near.length > 0 ? `did you mean ${some}?` : "`memdir list` shows what there is";
  return new MemdirError("not-found", `no memory is called "${name.slice(0, 80)}": ${hint}`);
}
