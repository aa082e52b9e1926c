/** Long-running jobs that a person starts on the page, watches and can stop: embedding, verifying, planning a dream. */

import { setImmediate, setTimeout as sleep } from "node:timers/promises";
import { MemdirError } from "../errors.ts";
import { planSeen } from "../learn/dream.ts";
import { countOps } from "../learn/dream-plan.ts";
import { openLearning } from "../open-learn.ts";
import { count, countMemories } from "../verb.ts";
import type { World } from "../world.ts";
import { contextOf, type Page } from "./answer.ts";
import type { Job, JobKind } from "./shapes.ts";

export interface JobsOptions extends Pick<World, "newId"> {
  tell: (job: Job) => void;
  works?: Works | undefined;
  /** Progress is reported no more often than this. */
  everyMs?: number;
}

export type Works = Partial<Readonly<Record<JobKind, Work>>>;

export type Jobs = ReturnType<typeof openJobs>;

/** Returns the result in words. */
type Work = (page: Page, run: WorkRun) => Promise<string>;

interface WorkRun {
  signal: AbortSignal;
  progress: (done: number, total: number) => void;
  /** What is being done, if there is nothing to count. */
  say: (words: string) => void;
}

/** Ten updates a second look smooth. */
const EVERY_MS = 100;
/** A job that does not stop in time is abandoned, because the process ends anyway. */
const END_MS = 300;

const WORKS: Readonly<Record<JobKind, Work>> = {
  async warm({ memdir }, { signal, progress }) {
    const { memories, embedded, left } = await memdir.warm({ signal, onProgress: progress });
    const rest = left === 0 ? "all of them can be found by meaning" : `${left} can only be found by their words`;
    return `${countMemories(memories)}, ${embedded} newly embedded; ${rest}`;
  },
  async verify({ memdir }, { signal, progress, say }) {
    say(`checking ${countMemories((await memdir.list()).length)}`);
    const { checked, problems } = await memdir.verify(undefined, { signal, onProgress: progress });
    return `${countMemories(checked)} checked, ${count(problems.length, "problem")}`;
  },
  /** The plan waits for review and replaces an earlier one. */
  async dream({ memdir, env }, { signal }) {
    const { configuredModel } = await import("../verbs/model.ts");
    const plan = await planSeen(openLearning(memdir), configuredModel(env, memdir.config.learn.model), signal);
    return plan.ops.length === 0 ? "there is nothing to tidy up" : `a plan: ${countOps(plan)}`;
  },
  /** What is found waits for review. */
  async learn(page, { signal, say }) {
    const { learn } = await import("../verbs/learn.ts");
    say("reading past sessions");
    const { found, waiting, skipped } = await learn.run(page.memdir, {}, contextOf(page, signal));
    const read = `${count(found.sessions, "session")} read, ${count(waiting, "proposal waits", "proposals wait")}`;
    return skipped === null ? read : `${read}; ${skipped}`;
  },
};

export function openJobs(page: Page, { tell, newId, works = {}, everyMs = EVERY_MS }: JobsOptions) {
  const running = new Map<JobKind, { job: Job; stop: AbortController; ended: Promise<void> }>();
  let isClosed = false;

  const run = async (job: Job, stop: AbortController): Promise<void> => {
    let last = Number.NEGATIVE_INFINITY;
    const say = (says: string) => {
      if (job.state === "running") tell({ ...Object.assign(job, { says }) });
    };
    const progress = (done: number, total: number) => {
      if (job.state !== "running") return;
      Object.assign(job, { done, total });
      const at = performance.now();
      if (at - last < everyMs) return;
      last = at;
      tell({ ...job });
    };
    try {
      // Stopped before it began: the job would no longer notice.
      stop.signal.throwIfAborted();
      const says = await (works[job.kind] ?? WORKS[job.kind])(page, { signal: stop.signal, progress, say });
      Object.assign(job, stop.signal.aborted ? STOPPED : { state: "done", says });
    } catch (error) {
      Object.assign(job, stop.signal.aborted ? STOPPED : { state: "failed", says: reasonOf(page, job, error) });
    }
    tell({ ...job });
  };

  return {
    /** The latest of each kind. */
    list: () => [...running.values()].map(({ job }) => ({ ...job })),
    /** Throws `conflict` while one of the kind is running. */
    start(kind: string): Job {
      if (!isKind(kind)) throw new MemdirError("usage", `unknown job; use one of ${Object.keys(WORKS).join(", ")}`);
      if (isClosed) throw new MemdirError("conflict", "the page's server is shutting down");
      if (running.get(kind)?.job.state === "running") {
        throw new MemdirError("conflict", "this job is already running; wait for it or stop it first");
      }
      const job: Job = { id: newId(), kind, state: "running", done: 0, total: 0, says: "" };
      const stop = new AbortController();
      tell({ ...job });
      // Starts after the response that it has started.
      running.set(kind, { job, stop, ended: setImmediate().then(() => run(job, stop)) });
      return { ...job };
    },
    /** Throws `not-found`. A job that has ended stays unchanged. */
    stop(id: string): Job {
      const found = [...running.values()].find(({ job }) => job.id === id);
      if (!found) throw new MemdirError("not-found", "the job does not exist; it may have ended long ago");
      found.stop.abort();
      return { ...found.job };
    },
    /** Stops running jobs and waits for them briefly. */
    async close(): Promise<void> {
      isClosed = true;
      for (const { stop } of running.values()) stop.abort();
      const ended = Promise.all([...running.values()].map(({ ended }) => ended));
      await Promise.race([ended, sleep(END_MS, undefined, { ref: false })]);
    },
  };
}

const STOPPED = { state: "stopped", says: "it was stopped" };

/** Our own errors are written for people; others go to the log. */
function reasonOf({ log }: Page, { kind }: Job, error: unknown): string {
  if (error instanceof MemdirError) return error.message;
  log(`the page: ${kind}: ${error instanceof Error ? error.stack : error}`);
  return "it failed; `MEMDIR_DEBUG=1 memdir ui` shows why";
}

function isKind(kind: string): kind is JobKind {
  return Object.hasOwn(WORKS, kind);
}
