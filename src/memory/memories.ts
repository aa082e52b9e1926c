/** The memories of a project's stores as verbs: what a name means, which store it is in, and what is known once it is written. */

import { join } from "node:path";
import { MemdirError } from "../errors.ts";
import {
  fileNameFor,
  findJournal,
  INDEX_FILE,
  isDailyLog,
  type Listing,
  loadIndex,
  MEMORY_TYPES,
  type MemoryType,
  readBytes,
  readJournals,
  repairDirectory,
  type Store,
  showMemory,
  signEntry,
  type Trust,
} from "../store/store.ts";
import { findByPath, findNamed, type Named } from "./find.ts";
import type { PruneRequest } from "./forget.ts";
import type { MergeRequest } from "./merge.ts";
import type { SaveRequest } from "./save.ts";

/** The first store is the one that is written to. `written` is called for every file, before the verb answers. */
export function openMemories(stores: readonly Store[], written: (store: Store, file: string) => Promise<void>) {
  const main = stores[0] as Store;
  const find = (name: Named) => findNamed(stores, name);
  const survey = async (): Promise<Listing> => {
    const listings = await Promise.all(stores.map((store) => store.rows()));
    return { rows: listings.flatMap((l) => l.rows), skipped: listings.flatMap((l) => l.skipped) };
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
    save: async (request: SaveRequest) => {
      const { saveMemory } = await import("./save.ts");
      return noted(main, await saveMemory(main, request));
    },
    list: async (filter: { type?: MemoryType | undefined } = {}) =>
      (await survey()).rows.filter((row) => !filter.type || row.type === filter.type),
    /** As `list`, with what was passed over and why. */
    survey,
    show: async (name: Named) => {
      const { directory, file } = await find(name);
      return showMemory(directory, file);
    },
    /** The file's whole text, for an editor; it goes back to `edit` as `base`. */
    text: async (name: Named) => {
      const { directory, file } = await find(name);
      return { file, path: join(directory.path, file), text: readBytes(directory, file).toString("utf8") };
    },
    edit: async (name: Named, base: string, text: string, options?: { redact?: boolean }) => {
      const { directory, file } = await find(name);
      const { editMemory } = await import("./edit.ts");
      return noted(directory, await editMemory(directory, file, base, text, options));
    },
    /** A file of a memory directory as an agent's tools write it: checked, journalled and indexed like every save. `base` is what it held, null for nothing; `trust` says how far whoever writes is trusted. */
    put: async (path: string, text: string, base: string | null, options?: { trust?: Trust }) => {
      const { editIndex, editMemory } = await import("./edit.ts");
      const { directory, file } = findByPath(stores, path);
      if (file === INDEX_FILE) return signed(directory, await editIndex(directory, base, text));
      if (isDailyLog(file))
        throw new MemdirError("usage", `${file} is a daily log, which only grows: use \`memdir log\``);
      return noted(directory, await editMemory(directory, file, base, text, options));
    },
    forget: async (name: Named, options?: { reason?: string; purge?: boolean; trust?: Trust }) => {
      const { directory, file } = await find(name);
      const { forgetMemory } = await import("./forget.ts");
      return signed(directory, await forgetMemory(directory, file, options));
    },
    rename: async (name: Named, newName: string) => {
      const { directory, file } = await find(name);
      const { renameMemory } = await import("./rename.ts");
      return noted(directory, await renameMemory(directory, file, newName));
    },
    /** Two memories of one directory become one: `text` replaces the first, the second is forgotten, in one change. */
    merge: async (keep: Named, other: Named, request: MergeRequest) => {
      const [kept, gone] = [await find(keep), await find(other)];
      const { mergeMemories } = await import("./merge.ts");
      return noted(kept.directory, await mergeMemories(kept, gone, request));
    },
    prune: async (request: PruneRequest) => (await import("./forget.ts")).pruneMemories(main, request),
    history: async (name?: string) => {
      const entries = readJournals(stores);
      if (name === undefined) return entries;
      // Also memories that are gone have a history, under their file name.
      const found = await find(name).catch(() => null);
      const files = found ? [found.file] : MEMORY_TYPES.map((type) => fileNameFor(type, name));
      const known = [name, `${name}.md`, ...files];
      const own = entries.filter(({ files }) => files.some(({ file }) => known.includes(file)));
      // Throws for a name that never was one.
      if (own.length === 0) await find(name);
      return own;
    },
    undo: async (id?: string) => {
      const { directory, entry } = findJournal(stores, id);
      return signed(directory, await directory.undo(entry));
    },
    /** MEMORY.md as the model sees it; generated as the client does when it is missing. */
    index: async () => {
      await repairDirectory(main);
      return loadIndex(main, { generate: true });
    },
    rebuildIndex: async () => {
      const { rebuildIndex } = await import("./edit.ts");
      const rebuilt = await rebuildIndex(main);
      return { ...loadIndex(main, { generate: false }), ...rebuilt };
    },
  };
}

export type Memories = ReturnType<typeof openMemories>;
