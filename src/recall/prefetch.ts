/** Recall beside the conversation: started when the prompt comes in, looked at between steps, and never waited for. */

import { lazily, messageOf } from "../errors.ts";
import type { RecallSession } from "./injection.ts";

export interface Prefetching<M extends { path: string }> {
  query: string;
  session: Pick<RecallSession, "surfaced" | "isFull">;
  /** Asked last, as it may look at the disk. */
  hasMemories: () => boolean;
  /** Sub-agents work on what they were given. */
  isSubAgent?: boolean;
  /** The offline answer. */
  fast?: (() => readonly M[] | Promise<readonly M[]>) | null;
  /** The better answer, which may take its time; without it the offline answer is the answer. */
  run?: ((signal: AbortSignal) => Promise<readonly M[]>) | null;
  signal?: AbortSignal | undefined;
  log?: (message: string) => void;
}

/**
 * A recall in the background. Nothing here throws. `take` and `takeFast` return at once; what they return is never empty
 * and is never returned twice. A host that polls by hand reads `settled`, sets `consumed` and awaits `promise`.
 */
export interface Prefetch<M extends { path: string }> {
  /** The best answer available: the offline one if the better one failed. Never rejects. */
  promise: Promise<readonly M[]>;
  /** Whether the answer is final. */
  settled: boolean;
  /** Whether the final answer was taken. */
  consumed: boolean;
  /** The offline answer, as soon as there is one. */
  fast: readonly M[] | null;
  /** Resolves when there is an offline answer, or when there will not be one. Never rejects. */
  fastReady: Promise<void>;
  /** For every step of a turn: the final answer once it is available, without what the session has been shown in the meantime. */
  take(): readonly M[] | null;
  /** For the last chance in a turn to show something: the final answer, else the offline one. `take` may add to it later. */
  takeFast(): readonly M[] | null;
  /** Stops it; nothing more is returned. */
  abort(): void;
}

/** Null when a gate is closed; then nothing was called that costs anything. */
export function startPrefetch<M extends { path: string }>(prefetching: Prefetching<M>): Prefetch<M> | null {
  const { query, session, isSubAgent = false, run, fast, signal, log = () => {} } = prefetching;
  if (isSubAgent || (!run && !fast) || signal?.aborted || isTooShort(query) || session.isFull()) return null;
  try {
    if (!prefetching.hasMemories()) return null;
  } catch (error) {
    log(`recall was not started: ${messageOf(error)}`);
    return null;
  }

  const controller = new AbortController();
  const given = new Set<string>();
  let best: readonly M[] | null = null;
  const handle: Prefetch<M> = {
    promise: Promise.resolve([]),
    settled: false,
    consumed: false,
    fast: null,
    fastReady: Promise.resolve(),
    take() {
      if (!handle.settled || handle.consumed) return null;
      handle.consumed = true;
      return give(best);
    },
    takeFast() {
      return handle.settled || handle.consumed ? handle.take() : give(handle.fast);
    },
    abort() {
      settle(null);
      best = null;
      handle.fast = null;
      controller.abort();
    },
  };
  const give = (memories: readonly M[] | null) => {
    const news = (memories ?? []).filter(({ path }) => !given.has(path) && !session.surfaced.has(path));
    for (const { path } of news) given.add(path);
    return news.length > 0 ? news : null;
  };
  const settle = (answer: readonly M[] | null) => {
    if (handle.settled) return;
    handle.settled = true;
    best = answer;
    signal?.removeEventListener("abort", handle.abort);
  };
  signal?.addEventListener("abort", handle.abort, { once: true });
  const aborted = new Promise<void>((resolve) => controller.signal.addEventListener("abort", () => resolve()));

  // Async functions, so that what is thrown at once is a rejection too. The slow one starts first: it is the one to wait for.
  const better = run ? (async () => run(controller.signal))() : null;
  const offline = (async () => (fast ? await fast() : null))().then(
    (memories) => {
      if (!controller.signal.aborted) handle.fast = memories;
    },
    (error) => log(`offline recall failed: ${messageOf(error)}`),
  );
  handle.fastReady = Promise.race([offline, aborted]);
  const answered = (better ?? offline.then(() => handle.fast)).then(settle, async (error) => {
    if (controller.signal.aborted) return;
    log(`recall failed: ${messageOf(error)}`);
    await offline;
    settle(handle.fast);
  });
  handle.promise = Promise.race([answered, aborted]).then(() => best ?? []);
  return handle;
}

/** Chinese, Japanese, Thai and others write sentences without spaces; a run of their letters may be many words. */
const unspaced = lazily(
  () =>
    /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Bopomofo}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]{2}/u,
);

/** A single word says too little to search with. */
export function isTooShort(query: string): boolean {
  const text = query.trim();
  return !/\s/.test(text) && !unspaced().test(text);
}
