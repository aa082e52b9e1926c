/** Server-sent events: changes on disk and the progress of jobs, and answers that are fetched again with them. */
import { useEffect, useRef, useState } from "preact/hooks";
import type { Job, LiveEvent, Start, Waiting } from "../api.ts";
import { type Failure, formatQuery, get, type Query, send, start } from "./remote.ts";
import { formatRoute } from "./router.ts";
import { makeStore, useStore } from "./store.ts";

export interface Live<T> {
  /** The last answer, even while a newer one is fetched; null before the first. */
  value: T | null;
  failure: Failure | null;
  isLoading: boolean;
  reload: () => void;
}

/** Grows with everything that an answer may depend on: a change on disk, a recall, a measurement of the health, the end of a job. */
export const changes = makeStore(0);
/** What waits for a person, as the navigation last asked: every place that shows it shows the same. */
export const waiting = makeStore<Waiting | null>(null);
/** Those that run, and those that ended since the page was opened, until they are closed. */
export const jobs = makeStore<Job[]>([]);
export const isConnected = makeStore(true);

/** A save touches several files: what comes within this time is one change to the views. */
const GATHER_MS = 120;

/** Answers of views left a moment ago, so that going back shows them at once. */
const kept = new Map<string, unknown>();
const MOST_KEPT = 40;

export function useStart(): Start {
  return useStore(start);
}

export function noteJob(job: Job): void {
  jobs.set([...jobs.get().filter(({ id }) => id !== job.id), job]);
}

export function closeJob({ id }: Job): void {
  jobs.set(jobs.get().filter((job) => job.id !== id));
}

/** For when everything on the page is about another project. */
export function beginAnew(): void {
  location.hash = formatRoute("home");
  location.reload();
}

export function startLive(): void {
  let gathering = 0;
  let wasCut = false;
  const source = new EventSource("/api/live");
  source.onmessage = (message) => {
    const event = JSON.parse(String(message.data)) as LiveEvent;
    if (event.kind === "hello") {
      const { version, generation } = start.get();
      if (version !== "" && event.generation !== generation) return beginAnew();
      const known = new Set(jobs.get().map(({ id }) => id));
      jobs.set(event.jobs.filter(({ id, state }) => state === "running" || known.has(id)));
      isConnected.set(true);
      // Changes while the connection was lost were not reported.
      if (wasCut) changes.set(changes.get() + 1);
      wasCut = false;
    } else if (event.kind === "job") {
      noteJob(event.job);
      // Its result may be part of any view, and not every result is a change on disk.
      if (event.job.state !== "running") changes.set(changes.get() + 1);
    } else {
      clearTimeout(gathering);
      gathering = window.setTimeout(() => changes.set(changes.get() + 1), GATHER_MS);
    }
  };
  source.onerror = async () => {
    wasCut = true;
    // A server with too many tabs answers everything except the stream.
    const isRefused = source.readyState === EventSource.CLOSED && (await get("/api/start")).failure === null;
    isConnected.set(isRefused);
    if (isRefused) document.addEventListener("visibilitychange", () => changes.set(changes.get() + 1));
  };
}

interface Asking {
  /** The query is sent as the body of a POST. */
  isPosted?: boolean;
  /** Asked once, for what a person works on and must not change under their hands. */
  isOnce?: boolean;
  /** The answer to the last question stays until the next one is there. */
  isSteady?: boolean;
}

/** The answer to a question, fetched again with every change; `path` null fetches nothing. */
export function useLive<T>(path: string | null, query: Query = {}, how: Asking = {}): Live<T> {
  const { isPosted, isOnce, isSteady } = how;
  const key = path === null ? "" : path + formatQuery(query);
  const version = useStore(changes);
  const [asked, setAsked] = useState(0);
  const [answer, setAnswer] = useState<(Omit<Live<T>, "reload"> & { key: string }) | null>(null);
  const first = { key, value: (kept.get(key) as T | undefined) ?? null, failure: null, isLoading: key !== "" };
  const current = answer?.key === key ? answer : first;
  const latest = useRef(current);
  latest.current = current;
  useEffect(() => {
    if (key === "") return;
    const calling = new AbortController();
    setAnswer({ ...latest.current, isLoading: true });
    const call = isPosted ? send<T>("POST", path ?? "", query, calling.signal) : get<T>(key, {}, calling.signal);
    call.then(({ value, failure }) => {
      if (calling.signal.aborted) return;
      if (failure === null) keep(key, value);
      // While the server is briefly unavailable, the page keeps what it shows.
      const shown = failure !== null && failure.status === 0 ? latest.current.value : value;
      setAnswer({ key, value: shown, failure, isLoading: false });
    });
    return () => calling.abort();
  }, [key, isOnce ? 0 : version, asked]);
  const last = useRef<T | null>(null);
  last.current = current.value ?? last.current;
  const value = isSteady ? last.current : current.value;
  return { ...current, value, reload: () => setAsked((count) => count + 1) };
}

function keep(key: string, value: unknown): void {
  kept.delete(key);
  kept.set(key, value);
  const oldest = kept.keys().next().value;
  if (kept.size > MOST_KEPT && oldest !== undefined) kept.delete(oldest);
}
