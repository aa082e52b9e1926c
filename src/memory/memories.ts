/** The memories of a project's stores as verbs: what a name means, which store it is in, and what is known once it is written. */

import { join } from "node:path";
import { yieldTurn } from "../disk/turns.ts";
import { MemdirError } from "../errors.ts";
import {
  checkGiven,
  type Entry,
  fileNameFor,
  findJournal,
  INDEX_FILE,
  type IndexView,
  isDailyLog,
  isExpired,
  isMemoryType,
  type Listing,
  loadIndex,
  MEMORY_TYPES,
  type MemoryType,
  type Row,
  readBytes,
  readJournals,
  repairDirectory,
  type ShownMemory,
  type Store,
  showMemory,
  signEntry,
  type Trust,
  type UndoResult,
} from "../store/store.ts";
import type { MergeRequest, RebuiltIndex } from "./edit.ts";
import { type Found, findByPath, findNamed, type Named } from "./find.ts";
import type { ForgetResult, PruneRequest, PruneResult } from "./forget.ts";
import type { SaveRequest, SaveResult } from "./save.ts";

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

/** Options of a forget. */
export interface ForgetOptions {
  /** A note for the journal. */
  reason?: string | undefined;
  /** Also removes earlier versions from the journal. This cannot be undone. */
  purge?: boolean | undefined;
  /** How far the caller is trusted: only the user can remove the user's own words. */
  trust?: Trust | undefined;
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
      const { forgetMemory, purgeForgotten } = await import("./forget.ts");
      const gone = options?.purge && typeof name === "string" ? findForgotten(stores, name) : null;
      const found = await find(name).catch((error: unknown) => {
        if (gone === null) throw error;
        return null;
      });
      if (found === null && gone) return purgeForgotten(gone.directory, gone.file, options?.reason);
      const { directory, file } = found as Found;
      return signed(directory, await forgetMemory(directory, file, options));
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
      const { directory, entry } = findJournal(stores, id);
      return signed(directory, await directory.undo(entry));
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
  if (typeof given !== "object" || given === null)
    throw new MemdirError("usage", 'give the filter as an object, such as { type: "feedback" }');
  const { type, scope, since, until, by, cue, expired = true } = filter;
  if (type !== undefined && !isMemoryType(type))
    throw new MemdirError("usage", `the type ${JSON.stringify(type)} is none of ${MEMORY_TYPES.join(", ")}`);
  const from = since === undefined ? null : readMoment(since, "since");
  const to = until === undefined ? null : readMoment(until, "until") + (isDay(until) ? DAY_MS - 1 : 0);
  const wanted = cue === undefined ? null : checkGiven(cue, "cue").toLowerCase();
  return rows.filter((row) => {
    const time = Date.parse(row.modified);
    return (
      (type === undefined || row.type === type) &&
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

function isDay(given: unknown): boolean {
  return typeof given === "string" && /^\d{4}-\d\d-\d\d$/.test(given);
}

function readMoment(given: string | Date, field: string): number {
  const time = given instanceof Date ? given.getTime() : /^\d{4}-\d\d/.test(given) ? Date.parse(given) : Number.NaN;
  if (Number.isNaN(time)) throw new MemdirError("usage", `${field} is not a date: write it as "2026-03-01"`);
  return time;
}
