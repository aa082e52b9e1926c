/** One request to a provider and its streamed answer, watched for silence, and the parsing that both providers share. */

import { attempt } from "../errors.ts";
import {
  type Ask,
  type AskAnswer,
  type AskError,
  type AskRequest,
  type Block,
  type ToolUse,
  type Usage,
  usedNothing,
} from "./ask.ts";
import { brokenOff, type Endpoint, errorOf, notAModel } from "./failure.ts";

/** What a provider is opened with; what is left out is the provider's own. */
export type ProviderOptions = Partial<Endpoint> & Pick<Endpoint, "model"> & { maxSilenceMs?: number };

/** What has been read of an answer so far. */
export interface Reading<Event> {
  take: (event: Event) => void;
  text: () => string;
  usage: () => Usage;
  /** The answer, or null while it is incomplete. */
  answer: () => Extract<AskAnswer, { ok: true }> | null;
}

type Transport = Pick<ReturnType<typeof watchSilence>, "fetch" | "signal"> & { timeout: number };

/** A provider: its own server, how a request is sent to one, and how the answer is read. */
interface Provider<Event> extends Omit<Endpoint, "model" | "apiKey"> {
  maxSilenceMs: number;
  reading: (request: AskRequest) => Reading<Event>;
  /** With a client for each request, as its `fetch` watches that one. Everything that the SDK would read from the environment is given. */
  send: (
    request: AskRequest,
    to: Endpoint,
    by: Transport,
  ) => Promise<{ data: AsyncIterable<Event>; response: Response }>;
}

/** Asking it must not throw. */
export function openProvider<Event>(provider: Provider<Event>, options: ProviderOptions): Ask {
  const { reading: open, send, ...own } = provider;
  const { maxSilenceMs = own.maxSilenceMs, ...endpoint } = { apiKey: "", ...own, ...options };
  return async (request) => {
    const reading = open(request);
    const watch = watchSilence(maxSilenceMs, request.signal);
    const failed = (error: AskError): AskAnswer => {
      const partial = { text: reading.text(), usage: reading.usage() };
      return { ok: false, error, ...(partial.text === "" && usedNothing(partial.usage) ? {} : { partial }) };
    };
    const fail = (thrown: unknown) => {
      const aborted = request.signal?.aborted === true;
      return failed(errorOf(thrown, endpoint, aborted, watch.wasSilent() ? maxSilenceMs : null));
    };
    try {
      const { data, response } = await send(request, endpoint, { ...watch, timeout: maxSilenceMs });
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
      return failed(begun || isStream ? brokenOff(endpoint) : notAModel(endpoint));
    } catch (error) {
      return fail(error);
    } finally {
      watch.close();
    }
  };
}

/** Detects a server that has gone silent: the SDKs' timeouts end with the headers, and a stream may hang forever after them. */
function watchSilence(maxSilenceMs: number, signal?: AbortSignal) {
  const silence = new AbortController();
  const timer = setTimeout(() => silence.abort(), maxSilenceMs);
  let open = true;
  const heard = () => {
    if (open && !silence.signal.aborted) timer.refresh();
  };
  return {
    /** Aborted by the caller's signal and by silence. */
    signal: AbortSignal.any([silence.signal, ...(signal ? [signal] : [])]),
    wasSilent: () => silence.signal.aborted,
    /** Sees every byte that arrives, so that a provider's pings count, too. */
    fetch: async (url: string | URL | Request, init?: RequestInit): Promise<Response> => {
      const response = await fetch(url, init);
      heard();
      if (!response.body) return response;
      const listening = new TransformStream<Uint8Array, Uint8Array>({
        transform(chunk, controller) {
          heard();
          controller.enqueue(chunk);
        },
      });
      return new Response(response.body.pipeThrough(listening), response);
    },
    close: () => {
      open = false;
      clearTimeout(timer);
    },
  };
}

/** How an answer ended: calls count, whatever else the provider says, unless it was cut or refused. */
export function stopOf(content: readonly Block[], { cut, refused }: { cut: boolean; refused: boolean }) {
  if (cut) return "length";
  if (refused) return "refused";
  return content.some(({ type }) => type === "tool_use") ? "tools" : "end";
}

/** A tool's input as a model streamed it. No text is an empty input; anything but a JSON object is a problem that the model is told. */
export function parseToolInput(json: string): Pick<ToolUse, "input" | "problem"> {
  if (json.trim() === "") return { input: {} };
  const value = attempt<unknown, undefined>(() => JSON.parse(json), undefined);
  if (value === undefined) return { input: {}, problem: "the input is not valid JSON" };
  return value !== null && typeof value === "object" && !Array.isArray(value)
    ? { input: value as Record<string, unknown> }
    : { input: {}, problem: "the input is not a JSON object" };
}

/** The same value with lone surrogates replaced, which would make a provider refuse this body and every later one; the very same object where there are none. */
export function wellFormed<T>(value: T): T {
  const json = JSON.stringify(value);
  // JSON escapes them; a backslash before `ud800` in the text itself is escaped, too.
  const repaired = json.replace(/\\\\|\\ud[89a-f][0-9a-f]{2}/g, (each) => (each === "\\\\" ? each : "\\ufffd"));
  return repaired === json ? value : JSON.parse(repaired);
}
