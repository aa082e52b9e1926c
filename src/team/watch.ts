/** Sync while a person works: soon after a change here, and every now and then for changes there. One pass at a time. */

import type { World } from "../world.ts";

export interface WatchJob {
  /** One pass. Rejects when it fails; must end soon after its signal is aborted. */
  pass(signal: AbortSignal): Promise<void>;
  /** Calls back for every change of a memory; returns what ends it. */
  listen(onChange: () => void): () => void;
  /** Called for every failed pass; the next one comes later and later. */
  onFailure(error: unknown): void;
  /** Ends it: a pass under way is finished, and what changed last is sent, both within FLUSH_MS. */
  signal: AbortSignal;
  /** Milliseconds between two checks of the remote; at least MIN_POLL_MS. */
  pollMs: number;
}

type Timing = Pick<World, "sleep" | "random">;

/** Several files are saved together, and editors write a file more than once. */
export const DEBOUNCE_MS = 2_000;
/** Typing without a pause must not keep everything from the others. */
const MAX_DEBOUNCE_MS = 20_000;
export const POLL_MS = 15_000;
const MIN_POLL_MS = 5_000;
/** A server that is down is not asked more often than this, one that has refused us neither. */
const MAX_POLL_MS = 300_000;
/** A person waits for their prompt after Ctrl-C. */
export const FLUSH_MS = 10_000;

/** Returns when the signal is aborted and the last pass is over; nothing is left running. */
export async function keepSynced(timing: Timing, job: WatchJob): Promise<void> {
  const changes: Changes = { count: 0, wake: () => {} };
  const close = job.listen(() => {
    changes.count++;
    changes.wake();
  });
  try {
    for (let failures = 0; !job.signal.aborted; ) {
      changes.count = 0;
      failures = (await runPass(timing, job)) ? 0 : failures + 1;
      await waitForWork(timing, job, changes, failures);
    }
    if (changes.count > 0) await runPass(timing, job);
  } finally {
    close();
  }
}

interface Changes {
  /** Since the last pass began. */
  count: number;
  /** Called with every change. */
  wake: () => void;
}

/** False when it failed. When everything ends meanwhile, it has FLUSH_MS left. */
async function runPass(timing: Timing, { pass, signal, onFailure }: WatchJob): Promise<boolean> {
  const cut = new AbortController();
  const over = new AbortController();
  const onEnd = () => void pause(timing, FLUSH_MS, over.signal).then(() => cut.abort());
  if (signal.aborted) onEnd();
  else signal.addEventListener("abort", onEnd, { once: true });
  try {
    await pass(cut.signal);
    return true;
  } catch (error) {
    onFailure(error);
    return false;
  } finally {
    signal.removeEventListener("abort", onEnd);
    over.abort();
  }
}

async function waitForWork(timing: Timing, job: WatchJob, changes: Changes, failures: number): Promise<void> {
  const done = new AbortController();
  const either = AbortSignal.any([done.signal, job.signal]);
  const every = Math.min(MAX_POLL_MS, Math.max(MIN_POLL_MS, job.pollMs) * 2 ** Math.min(failures, 10));
  // Many clients that were started together must not ask together.
  const poll = pause(timing, every * (0.9 + 0.2 * timing.random()), either);
  // What could not be sent a moment ago waits with the rest.
  const settled = failures > 0 ? poll : waitUntilSettled(timing, changes, either);
  await Promise.race([poll, settled]);
  done.abort();
}

async function waitUntilSettled(timing: Timing, changes: Changes, signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    changes.wake = resolve;
    if (changes.count > 0 || signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
  for (let waited = 0; waited < MAX_DEBOUNCE_MS && !signal.aborted; waited += DEBOUNCE_MS) {
    const before = changes.count;
    await pause(timing, DEBOUNCE_MS, signal);
    if (changes.count === before) return;
  }
}

/** An aborted wait is simply over. */
function pause({ sleep }: Timing, ms: number, signal: AbortSignal): Promise<void> {
  return sleep(ms, signal).catch(() => {});
}
