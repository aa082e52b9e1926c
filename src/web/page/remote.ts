/** Requests to the server: every answer is a value or an error value, never an exception. */
import type { Problem, Start } from "../api.ts";
import { makeStore } from "./store.ts";

/** Facts that the page fetches once at the start; until then nothing can be changed. */
const NOTHING: Start = { version: "", project: "", readOnly: true, warnings: [], verbs: [], root: "", generation: 0 };
export const start = makeStore(NOTHING);

export interface Failure extends Problem {
  /** 0 if there was no answer. */
  status: number;
  /** The whole answer, such as the state of the file with a 409. */
  body: unknown;
}

export type Answer<T> = { value: T; failure: null } | { value: null; failure: Failure };

export type Query = Record<string, string | number | boolean | null | undefined>;

/** Must not throw. A call that was aborted has the problem "aborted". */
export async function get<T>(path: string, query: Query = {}, signal?: AbortSignal): Promise<Answer<T>> {
  return call<T>(path + formatQuery(query), { method: "GET", signal: signal ?? null });
}

/** Must not throw. For DELETE the id goes into the query of `path`. */
export async function send<T>(
  method: "POST" | "PUT" | "DELETE",
  path: string,
  body: unknown = {},
  signal?: AbortSignal,
): Promise<Answer<T>> {
  const answer = call<T>(path, {
    method,
    // No form and no link of another page can send this header.
    headers: {
      "content-type": "application/json",
      "x-memdir": "1",
      "x-memdir-project": String(start.get().generation),
    },
    body: JSON.stringify(body),
    signal: signal ?? null,
  });
  lastSent = answer;
  return answer;
}

let lastSent: Promise<unknown> = Promise.resolve();

/** Resolves when what was sent last is answered: a key that undoes it may be pressed before that. */
export async function waitForAnswer(): Promise<void> {
  await lastSent;
}

export function formatQuery(query: Query): string {
  const given = Object.entries(query).filter(([, value]) => value !== null && value !== undefined && value !== "");
  if (given.length === 0) return "";
  return `?${new URLSearchParams(given.map(([key, value]) => [key, String(value)]))}`;
}

async function call<T>(address: string, init: RequestInit): Promise<Answer<T>> {
  try {
    const response = await fetch(address, { ...init, credentials: "same-origin" });
    const body: unknown = await response.json().catch(() => null);
    if (response.ok) return { value: body as T, failure: null };
    const { status } = response;
    const unworded = { problem: "failed", message: `The server answered with ${status}.` };
    return { value: null, failure: { ...unworded, ...(body as Partial<Problem> | null), status, body } };
  } catch (error) {
    const isAborted = error instanceof DOMException && error.name === "AbortError";
    const problem = isAborted ? "aborted" : "unreachable";
    const message = "The server is not responding. If you stopped it, run `memdir ui` again.";
    return { value: null, failure: { problem, message, status: 0, body: null } };
  }
}
