/** What the server tells by itself: changes on disk and the progress of long work, and answers that follow them. */
import { useEffect, useRef, useState } from "preact/hooks";
import type { Job, JobKind, LiveEvent } from "../api.ts";
import { type Failure, formatQuery, get, type Query, send } from "./remote.ts";
import { makeStore, useStore } from "./store.ts";

export interface Live<T> {
  /** The last answer, also while a newer one is fetched; null before the first. */
  value: T | null;
  failure: Failure | null;
  isLoading: boolean;
  reload: () => void;
}

/** Grows with every change on disk. */
export const changes = makeStore(0);
export const jobs = makeStore<Job[]>([]);
export const isConnected = makeStore(true);

/** A save touches several files: what comes within this time is one change to the views. */
const GATHER_MS = 120;

/** Answers of views left a moment ago, so that going back shows them at once. */
const kept = new Map<string, unknown>();
const MOST_KEPT = 40;

export function startLive(): void {
  let gathering = 0;
  let wasCut = false;
  const source = new EventSource("/api/live");
  source.onmessage = (message) => {
    const event = JSON.parse(String(message.data)) as LiveEvent;
    if (event.kind === "hello") {
      jobs.set(event.jobs);
      isConnected.set(true);
      // Changes while the line was cut were told to nobody.
      if (wasCut) changes.set(changes.get() + 1);
      wasCut = false;
    } else if (event.kind === "job") {
      jobs.set([...jobs.get().filter((job) => job.id !== event.job.id), event.job]);
      // What it found may stand in any view, and not every finding is a change on disk.
      if (event.job.state !== "running") changes.set(changes.get() + 1);
    } else {
      clearTimeout(gathering);
      gathering = window.setTimeout(() => changes.set(changes.get() + 1), GATHER_MS);
    }
  };
  source.onerror = async () => {
    wasCut = true;
    // A server with too many tabs answers everything but this.
    const isRefused = source.readyState === EventSource.CLOSED && (await get("/api/start")).failure === null;
    isConnected.set(isRefused);
    if (isRefused) document.addEventListener("visibilitychange", () => changes.set(changes.get() + 1));
  };
}

/** The answer to a GET, fetched again with every change on disk; `path` null fetches nothing. */
export function useLive<T>(path: string | null, query: Query = {}): Live<T> {
  const key = path === null ? "" : path + formatQuery(query);
  const version = useStore(changes);
  const [asked, setAsked] = useState(0);
  const [answer, setAnswer] = useState<{ key: string; value: T | null; failure: Failure | null; isLoading: boolean }>({
    key,
    value: (kept.get(key) as T | undefined) ?? null,
    failure: null,
    isLoading: key !== "",
  });
  const current =
    answer.key === key
      ? answer
      : { key, value: (kept.get(key) as T | undefined) ?? null, failure: null, isLoading: key !== "" };
  const latest = useRef(current);
  latest.current = current;
  useEffect(() => {
    if (key === "") return;
    const calling = new AbortController();
    setAnswer({ ...latest.current, isLoading: true });
    get<T>(key, {}, calling.signal).then(({ value, failure }) => {
      if (calling.signal.aborted) return;
      if (failure === null) keep(key, value);
      // A server that is away for a moment does not empty the page.
      const shown = failure !== null && failure.status === 0 ? latest.current.value : value;
      setAnswer({ key, value: shown, failure, isLoading: false });
    });
    return () => calling.abort();
  }, [key, version, asked]);
  return { ...current, reload: () => setAsked((count) => count + 1) };
}

export async function startJob(kind: JobKind): Promise<Failure | null> {
  const { value, failure } = await send<Job>("POST", "/api/jobs", { kind });
  if (value !== null) jobs.set([...jobs.get().filter((job) => job.id !== value.id), value]);
  return failure;
}

export async function stopJob(id: string): Promise<Failure | null> {
  return (await send("DELETE", `/api/jobs${formatQuery({ id })}`)).failure;
}

function keep(key: string, value: unknown): void {
  kept.delete(key);
  kept.set(key, value);
  const oldest = kept.keys().next().value;
  if (kept.size > MOST_KEPT && oldest !== undefined) kept.delete(oldest);
}
