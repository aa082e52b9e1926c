/** One request to a provider and its streamed answer, watched for silence; the parsing that both providers share; and what goes wrong, as a value. */

import { attempt, isObject } from "../errors.ts";
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
      const { title, baseUrl, urlVariable } = endpoint;
      if (begun || /event-stream/.test(response.headers.get("content-type") ?? ""))
        return failed(fault("network", `${title} at ${baseUrl} broke off in the middle of its answer; try again`));
      // A web page, a proxy's login, another protocol.
      const message = `what answered at ${baseUrl} does not use ${title}'s protocol; check ${urlVariable}`;
      return failed(fault("bad-answer", message));
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
  return isObject(value) ? { input: value } : { input: {}, problem: "the input is not a JSON object" };
}

/** The same value with lone surrogates replaced, which would make a provider refuse this body and every later one; the very same object where there are none. */
export function wellFormed<T>(value: T): T {
  const json = JSON.stringify(value);
  // JSON escapes them; a backslash before `ud800` in the text itself is escaped, too.
  const repaired = json.replace(/\\\\|\\ud[89a-f][0-9a-f]{2}/g, (each) => (each === "\\\\" ? each : "\\ufffd"));
  return repaired === json ? value : JSON.parse(repaired);
}

// --- What went wrong between us and a provider, as a value that says how to fix it and never contains a key.

/** The server that was asked, and the names of the settings that determine it. */
export interface Endpoint {
  /** As people call it: "Anthropic". */
  title: string;
  model: string;
  apiKey: string;
  /** Shown in messages. */
  baseUrl: string;
  keyVariable: string;
  urlVariable: string;
}

/** Tried again unless `more` says otherwise: what a server may do better the next time. */
const RETRIED: ReadonlySet<AskError["kind"]> = new Set(["rate", "overloaded", "timeout", "network"]);

export function fault(kind: AskError["kind"], message: string, more: Partial<AskError> = {}): AskError {
  return { kind, message, retriable: RETRIED.has(kind), ...more };
}

/** Must not throw, whatever was thrown. `silentMs` is how long the server sent nothing, if that is why. */
function errorOf(thrown: unknown, endpoint: Endpoint, aborted: boolean, silentMs: number | null): AskError {
  const { title, baseUrl, urlVariable } = endpoint;
  if (aborted) return fault("aborted", "stopped before the model had answered");
  if (silentMs !== null) {
    const seconds = Math.round(silentMs / 100) / 10;
    return fault(
      "timeout",
      `${title} sent nothing for ${seconds} s; try again, or check that ${baseUrl} is up (${urlVariable})`,
    );
  }
  // The errors of both SDKs have these.
  const { status, headers, error: body } = (thrown ?? {}) as { status?: unknown; headers?: unknown; error?: unknown };
  const { type, said } = readBody(body);
  const known = typeof status === "number" ? status : (STATUS_BY_TYPE[type] ?? null);
  const why = clean(said, endpoint);
  if (known !== null) return statusError(known, type, why, endpoint, headers instanceof Headers ? headers : null);
  if (thrown instanceof SyntaxError) {
    const message = `${title} sent an answer that is not JSON; try again, and check that nothing between you and ${baseUrl} changes it`;
    return fault("bad-answer", message, { retriable: true });
  }
  // An error inside the stream of an unknown type is a problem of the server.
  if (headers) return fault("overloaded", `${title} failed while answering${quoted(why)}; try again`);
  return networkError(thrown, endpoint);
}

/** Errors that arrive inside a stream have no status; these are the ones they would have. */
const STATUS_BY_TYPE: Record<string, number> = {
  invalid_request_error: 400,
  authentication_error: 401,
  billing_error: 402,
  permission_error: 403,
  not_found_error: 404,
  request_too_large: 413,
  rate_limit_error: 429,
  rate_limit_exceeded: 429,
  insufficient_quota: 429,
  api_error: 500,
  server_error: 500,
  timeout_error: 504,
  overloaded_error: 529,
};

function statusError(
  status: number,
  type: string,
  said: string,
  endpoint: Endpoint,
  headers: Headers | null,
): AskError {
  const { title, model, keyVariable, urlVariable, baseUrl } = endpoint;
  const after = readRetryAfter(headers);
  // What a server says about a key may quote it, masked or not, so it is not repeated.
  const say = (kind: AskError["kind"], what: string, remedy: string, more: Partial<AskError> = {}) =>
    fault(kind, `${title} ${what} (${status})${kind === "auth" ? "" : quoted(said)}; ${remedy}`, more);
  if (status === 401) return say("auth", "does not accept the key", `check ${keyVariable}`);
  if (status === 403)
    return say("auth", `does not allow this key to use ${model}`, `check ${keyVariable} and MEMDIR_MODEL`);
  if (status === 402 || type === "insufficient_quota")
    return say("auth", "asks for payment", `check the plan and billing of the account behind ${keyVariable}`);
  if (status === 429) return say("rate", "limits the rate", "wait a little", after);
  if (status === 404)
    return say("bad-request", `has no model "${model}" at ${baseUrl}`, `check MEMDIR_MODEL and ${urlVariable}`);
  if (status === 413)
    return say("bad-request", "takes no conversation as large", "compact it or start a new one", { isTooLong: true });
  if (status === 408 || status === 504) return say("timeout", "ran out of time", "try again", after);
  if (status === 409 || status >= 500) {
    const what = status === 529 || status === 503 ? "is overloaded" : "failed";
    return say("overloaded", what, "try again later", after);
  }
  const remedy = "check MEMDIR_MODEL, or compact the conversation if it is too long";
  return say("bad-request", "refuses the request", remedy, TOO_LONG.test(said) ? { isTooLong: true } : {});
}

/** In the words of the providers and compatible servers. */
const TOO_LONG =
  /too long|too large|too many tokens|context.{0,20}(?:length|window|size)|maximum context|exceeds?.{0,30}(?:tokens|context)/i;

/** Retrying in a second will not help: a wrong address, or a server that is not running. */
const HOPELESS = /^(ECONNREFUSED|ENOTFOUND|ERR_INVALID_URL|ERR_TLS_|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_)/;

function networkError(thrown: unknown, { title, baseUrl, urlVariable }: Endpoint): AskError {
  const code = codeOf(thrown);
  if (HOPELESS.test(code)) {
    const message = `cannot reach ${title} at ${baseUrl} (${code}); check that it runs there and that ${urlVariable} is right`;
    return fault("network", message, { retriable: false });
  }
  const what = code ? ` (${code})` : "";
  return fault("network", `the connection to ${title} at ${baseUrl} broke${what}; try again`);
}

function codeOf(thrown: unknown): string {
  let error = thrown as { code?: unknown; cause?: unknown; errors?: unknown[] } | undefined;
  for (let depth = 0; depth < 5 && error && typeof error === "object"; depth++) {
    if (typeof error.code === "string" && /^[A-Z][A-Z0-9_]+$/.test(error.code)) return error.code;
    error = (error.cause ?? error.errors?.[0]) as typeof error;
  }
  return "";
}

/** Anthropic's SDK gives the whole body, OpenAI's the content of its `error`, which is a plain text in some servers. */
function readBody(body: unknown): { type: string; said: string } {
  if (typeof body === "string") return { type: "", said: body };
  const outer = (body ?? {}) as { error?: unknown };
  if (typeof outer.error === "string") return { type: "", said: outer.error };
  const inner = (outer.error ?? outer) as { type?: unknown; code?: unknown; message?: unknown };
  const named = [inner.code, inner.type].find(
    (name) => typeof name === "string" && Object.hasOwn(STATUS_BY_TYPE, name),
  );
  return { type: String(named ?? ""), said: typeof inner.message === "string" ? inner.message : "" };
}

/** In the provider's header or in HTTP's: milliseconds, seconds. A date would need a clock, and no model server sends one. */
function readRetryAfter(headers: Headers | null): Pick<AskError, "retryAfterMs"> {
  const ms = Number.parseFloat(headers?.get("retry-after-ms") ?? "");
  if (ms >= 0) return { retryAfterMs: ms };
  const seconds = headers?.get("retry-after") ?? "";
  return /^\s*\d+(\.\d+)?\s*$/.test(seconds) ? { retryAfterMs: Number(seconds) * 1000 } : {};
}

/** Enough of a server's own words to understand it; some quote the whole request. */
const MAX_SAID_CHARS = 300;
const KEY_LIKE = /\b(?:sk|pk|key|gsk|xai|hf)[-_][\w*.-]{6,}|\bbearer\s+\S+/gi;

/** A server's words made fit to be shown: one line, no control characters, no key. */
export function clean(said: string, { apiKey }: Pick<Endpoint, "apiKey"> = { apiKey: "" }): string {
  const hidden = (apiKey ? said.replaceAll(apiKey, "[key]") : said).replace(KEY_LIKE, "[key]");
  const line = hidden.replace(/[\p{Cc}\p{Cf}\s]+/gu, " ").trim();
  return line.length > MAX_SAID_CHARS ? `${line.slice(0, MAX_SAID_CHARS)}…` : line;
}

export function quoted(said: string): string {
  return said === "" ? "" : `: ${said.replace(/[.;]+$/, "")}`;
}
