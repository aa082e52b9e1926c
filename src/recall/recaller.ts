/** Recall for an opened Memdir: one shelf for all its directories, filled when it is first asked. */

import { lstatSync } from "node:fs";
import { type Directory, statePath, walk } from "../store/store.ts";
import { openRecallSession } from "./budget.ts";
import { appendEntries, writeEntries } from "./cache.ts";
import { CACHE_FILE } from "./cache-file.ts";
import type { Embed } from "./digest.ts";
import { type Prefetch, startPrefetch } from "./prefetch.ts";
import { type Recalled, type RecallOptions, type RecallResult, type RecallWorld, recall } from "./recall.ts";
import { compactShelf, digestFile, freshenFile, freshenShelf, missingVectors, openShelf } from "./shelf.ts";

export interface Recaller {
  /** Never throws. */
  recall(prompt: string, options?: RecallOptions): Promise<RecallResult>;
  /** Null when a gate is closed. */
  prefetch(prompt: string, options?: PrefetchOptions): Prefetch<Recalled> | null;
  /** Makes the cache whole, meaning included. Tells how many texts are done; ends early when asked to. */
  warm(options?: WarmOptions): Promise<{ memories: number; embedded: number; left: number }>;
  /** After a memory was written: its entry, in time that depends on this memory alone. Never throws. */
  note(directory: Directory, file: string): Promise<void>;
}

export interface PrefetchOptions extends RecallOptions {
  isSubAgent?: boolean;
}

export interface WarmOptions {
  onProgress?: (done: number, total: number) => void;
  signal?: AbortSignal;
  /** Stop after about this long; the rest comes another time. */
  budgetMs?: number;
}

/** What a recall may spend on memories whose meaning is not known yet: prompts must not wait. */
const EMBED_BUDGET_MS = 250;

export function openRecaller(directories: readonly Directory[], given: Omit<RecallWorld, "shelf">): Recaller {
  const world: RecallWorld = { ...given, shelf: openShelf(directories) };
  const embedMissing = async ({ onProgress, signal, budgetMs = Infinity }: WarmOptions) => {
    if (world.shelf.corpus.lacking === 0) return { embedded: 0, left: 0 };
    const embed = await findEmbed(world);
    if (!embed) return { embedded: 0, left: world.shelf.corpus.lacking };
    const missing = missingVectors(world.shelf);
    const until = world.ticks() + budgetMs;
    let embedded = 0;
    for (const { owner, file } of missing) {
      if (signal?.aborted || world.ticks() >= until) break;
      freshenFile(world.shelf, owner, file, embed);
      embedded++;
      onProgress?.(embedded, missing.length);
      // So that the host's other work, and Ctrl-C, are not held up.
      await new Promise((done) => setImmediate(done));
    }
    return { embedded, left: missing.length - embedded };
  };

  return {
    async recall(prompt, options = {}) {
      try {
        await freshenShelf(world.shelf, world.ticks());
        await embedMissing({ budgetMs: EMBED_BUDGET_MS, ...(options.signal ? { signal: options.signal } : {}) });
      } catch (error) {
        world.log(`the recall cache is not up to date: ${(error as Error).message}`);
      }
      return recall(world, prompt, options);
    },
    prefetch(prompt, options = {}) {
      const { isSubAgent = false, session = openRecallSession(), ...rest } = options;
      const start = (more: RecallOptions) => recall(world, prompt, { ...rest, session, ...more });
      return startPrefetch<Recalled>({
        query: prompt,
        session,
        isSubAgent,
        hasMemories: () => hasMemories(directories),
        fast: async () => {
          const { memories } = await start({ model: false });
          // After the answer: a host that only prefetches must come by its vectors too.
          embedMissing({ budgetMs: EMBED_BUDGET_MS }).catch((error: Error) => world.log(error.message));
          return memories;
        },
        run: world.ask && options.model !== false ? async (signal) => (await start({ signal })).memories : null,
        log: world.log,
        ...(options.signal ? { signal: options.signal } : {}),
      });
    },
    async warm(options = {}) {
      await freshenShelf(world.shelf, world.ticks());
      const { embedded, left } = await embedMissing(options);
      // Every embedded memory left its entry without vectors behind.
      if (embedded > 0) compactShelf(world.shelf);
      return { memories: world.shelf.corpus.count, embedded, left };
    },
    async note(directory, file) {
      try {
        const embed = await findEmbed(world);
        const owner = directories.indexOf(directory);
        if (owner >= 0 && world.shelf.checkedMs !== -Infinity) {
          freshenFile(world.shelf, owner, file, embed);
          return;
        }
        const entry = digestFile(directory, file, null, 0, embed);
        if (entry === null || entry === "same" || appendEntries(directory, [entry])) return;
        // There is none yet. One that cannot be appended to is made anew by the next recall, which reads all files anyway.
        if (!lstatSync(statePath(directory, CACHE_FILE), { throwIfNoEntry: false })) writeEntries(directory, [entry]);
      } catch (error) {
        directory.log(`${file} is not in the recall cache yet: ${(error as Error).message}`);
      }
    },
  };
}

async function findEmbed(world: RecallWorld): Promise<Embed | null> {
  try {
    return await world.findEmbed();
  } catch (error) {
    world.log(`recall by words only: ${(error as Error).message}`);
    return null;
  }
}

function hasMemories(directories: readonly Directory[]): boolean {
  return directories.some(({ path, recursive }) => walk(path, recursive).files.length > 0);
}
