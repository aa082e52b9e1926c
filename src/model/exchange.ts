/** One request to a provider and its streamed answer, watched for silence, and the parsing that both providers share. */

import type { AskAnswer, AskRequest, ToolUse, Usage } from "./ask.ts";
import { brokenOff, type Endpoint, errorOf, failed, notAModel } from "./failure.ts";

/** What has been read of an answer so far. */
export interface Reading<Event> {
  take: (event: Event) => void;
  text: () => string;
  usage: () => Usage;
  /** The answer, or null while it is incomplete. */
  answer: () => Extract<AskAnswer, { ok: true }> | null;
}

interface Exchange<Event> {
  endpoint: Endpoint;
  maxSilenceMs: number;
  request: AskRequest;
  reading: Reading<Event>;
  send: (watch: SilenceWatch) => Promise<{ data: AsyncIterable<Event>; response: Response }>;
}

/** Must not throw. */
export async function exchange<Event>(options: Exchange<Event>): Promise<AskAnswer> {
  const { endpoint, maxSilenceMs, request, reading, send } = options;
  const watch = watchSilence(maxSilenceMs, request.signal);
  const fail = (thrown: unknown) => {
    const aborted = request.signal?.aborted === true;
    const error = errorOf(thrown, endpoint, { aborted, silent: watch.wasSilent(), maxSilenceMs });
    return failed(error, reading.text(), reading.usage());
  };
  try {
    const { data, response } = await send(watch);
    let begun = false;
    for await (const event of data) {
      begun = true;
      reading.take(event);
    }
    const answer = reading.answer();
    if (answer) return answer;
    // The SDKs end an aborted stream as if it were complete.
    if (watch.signal.aborted) return fail(null);
    const isStream = /event-stream/.test(response.headers.get("content-type") ?? "");
    return failed(begun || isStream ? brokenOff(endpoint) : notAModel(endpoint), reading.text(), reading.usage());
  } catch (error) {
    return fail(error);
  } finally {
    watch.close();
  }
}

/** Detects a server that has gone silent: the SDKs' timeouts end with the headers, and a stream may hang forever after them. */
interface SilenceWatch {
  /** Aborted by the caller's signal and by silence. */
  signal: AbortSignal;
  /** Sees every byte that arrives, so that a provider's pings count, too. */
  fetch: (url: string | URL | Request, init?: RequestInit) => Promise<Response>;
  wasSilent: () => boolean;
  close: () => void;
}

function watchSilence(maxSilenceMs: number, signal?: AbortSignal): SilenceWatch {
  const own = new AbortController();
  let silent = false;
  const timer = setTimeout(() => {
    silent = true;
    own.abort();
  }, maxSilenceMs);
  const heard = () => {
    if (!silent) timer.refresh();
  };
  const giveUp = () => own.abort();
  if (signal?.aborted) giveUp();
  signal?.addEventListener("abort", giveUp, { once: true });
  let open = true;

  return {
    signal: own.signal,
    wasSilent: () => silent,
    fetch: async (url, init) => {
      const response = await fetch(url, init);
      if (open) heard();
      if (!response.body) return response;
      const listening = new TransformStream<Uint8Array, Uint8Array>({
        transform(chunk, controller) {
          if (open) heard();
          controller.enqueue(chunk);
        },
      });
      return new Response(response.body.pipeThrough(listening), response);
    },
    close: () => {
      open = false;
      clearTimeout(timer);
      signal?.removeEventListener("abort", giveUp);
    },
  };
}

/** A tool's input as a model streamed it. No text is an empty input; anything but a JSON object is a problem that the model is told. */
export function parseToolInput(json: string): Pick<ToolUse, "input" | "problem"> {
  if (json.trim() === "") return { input: {} };
  try {
    const value: unknown = JSON.parse(json);
    if (value !== null && typeof value === "object" && !Array.isArray(value)) {
      return { input: value as Record<string, unknown> };
    }
    return { input: {}, problem: "the input is not a JSON object" };
  } catch {
    return { input: {}, problem: "the input is not valid JSON" };
  }
}

/** The same value with lone surrogates replaced, which would make a provider refuse this body and every later one; the very same object where there are none. */
export function wellFormed<T>(value: T): T {
  return repair(value) as T;
}

function repair(value: unknown): unknown {
  if (typeof value === "string") return value.isWellFormed() ? value : value.toWellFormed();
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    const items = value.map(repair);
    return items.some((item, i) => item !== value[i]) ? items : value;
  }
  const entries = Object.entries(value);
  const repaired = entries.map(([key, item]) => [key.toWellFormed(), repair(item)] as const);
  const isSame = repaired.every(([key, item], i) => key === entries[i]?.[0] && item === entries[i]?.[1]);
  return isSame ? value : Object.fromEntries(repaired);
}
