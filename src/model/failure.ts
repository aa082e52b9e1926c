/** What went wrong between us and a provider, as a value that says how to fix it and never contains a key. */

import type { AskAnswer, AskError, Usage } from "./ask.ts";

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

/** What is known besides the thrown error. */
interface Circumstances {
  aborted: boolean;
  silent: boolean;
  maxSilenceMs: number;
}

export function failed(error: AskError, text: string, usage: Usage): AskAnswer {
  const nothing = text === "" && usage.input + usage.output + usage.cacheRead + usage.cacheWrite === 0;
  return { ok: false, error, ...(nothing ? {} : { partial: { text, usage } }) };
}

/** Must not throw, whatever was thrown. */
export function errorOf(thrown: unknown, endpoint: Endpoint, circumstances: Circumstances): AskError {
  const { title, baseUrl, urlVariable } = endpoint;
  if (circumstances.aborted)
    return { kind: "aborted", message: "stopped before the model had answered", retriable: false };
  if (circumstances.silent) {
    const seconds = Math.round(circumstances.maxSilenceMs / 100) / 10;
    const message = `${title} sent nothing for ${seconds} s; try again, or check that ${baseUrl} is up (${urlVariable})`;
    return { kind: "timeout", message, retriable: true };
  }
  const { status, headers, error: body } = shapeOf(thrown);
  const { type, said } = readBody(body);
  const known = status ?? STATUS_BY_TYPE[type] ?? null;
  if (known !== null) return statusError(known, type, clean(said, endpoint), endpoint, retryAfterMs(headers));
  if (thrown instanceof SyntaxError) {
    const message = `${title} sent an answer that is not JSON; try again, and check that nothing between you and ${baseUrl} changes it`;
    return { kind: "bad-answer", message, retriable: true };
  }
  // An error inside the stream of an unknown type is a problem of the server.
  if (headers) {
    const message = `${title} failed while answering${quoted(clean(said, endpoint))}; try again`;
    return { kind: "overloaded", message, retriable: true };
  }
  return networkError(thrown, endpoint);
}

/** The stream closed properly, but before the answer was complete. */
export function brokenOff({ title, baseUrl }: Endpoint): AskError {
  const message = `${title} at ${baseUrl} broke off in the middle of its answer; try again`;
  return { kind: "network", message, retriable: true };
}

/** Something other than a model answered: a web page, a proxy's login, another protocol. */
export function notAModel({ title, baseUrl, urlVariable }: Endpoint): AskError {
  const message = `what answered at ${baseUrl} does not use ${title}'s protocol; check ${urlVariable}`;
  return { kind: "bad-answer", message, retriable: false };
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
  wait: number | undefined,
): AskError {
  const { title, model, keyVariable, urlVariable, baseUrl } = endpoint;
  const after = wait === undefined ? {} : { retryAfterMs: wait };
  const why = quoted(said);
  // What a server says about a key may quote it, masked or not, so it is not repeated.
  if (status === 401) {
    return { kind: "auth", message: `${title} does not accept the key (401); check ${keyVariable}`, retriable: false };
  }
  if (status === 403) {
    const message = `${title} does not allow this key to use ${model} (403); check ${keyVariable} and MEMDIR_MODEL`;
    return { kind: "auth", message, retriable: false };
  }
  if (status === 402 || type === "insufficient_quota") {
    const message = `${title} asks for payment (${status}); check the plan and billing of the account behind ${keyVariable}`;
    return { kind: "auth", message, retriable: false };
  }
  if (status === 429) {
    return { kind: "rate", message: `${title} limits the rate (429)${why}; wait a little`, retriable: true, ...after };
  }
  if (status === 404) {
    const message = `${title} has no model "${model}" at ${baseUrl} (404)${why}; check MEMDIR_MODEL and ${urlVariable}`;
    return { kind: "bad-request", message, retriable: false };
  }
  if (status === 413) {
    const message = `the conversation is too large for ${title} (413)${why}; compact it or start a new one`;
    return { kind: "bad-request", message, retriable: false, isTooLong: true };
  }
  if (status === 408 || status === 504) {
    return {
      kind: "timeout",
      message: `${title} ran out of time (${status})${why}; try again`,
      retriable: true,
      ...after,
    };
  }
  if (status === 409 || status >= 500) {
    const what = status === 529 || status === 503 ? "is overloaded" : "failed";
    return {
      kind: "overloaded",
      message: `${title} ${what} (${status})${why}; try again later`,
      retriable: true,
      ...after,
    };
  }
  const message = `${title} refuses the request (${status})${why}; check MEMDIR_MODEL, or compact the conversation if it is too long`;
  return { kind: "bad-request", message, retriable: false, ...(TOO_LONG.test(said) && { isTooLong: true }) };
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
    return { kind: "network", message, retriable: false };
  }
  const what = code ? ` (${code})` : "";
  return {
    kind: "network",
    message: `the connection to ${title} at ${baseUrl} broke${what}; try again`,
    retriable: true,
  };
}

function codeOf(thrown: unknown): string {
  let error = thrown as { code?: unknown; cause?: unknown; errors?: unknown[] } | undefined;
  for (let depth = 0; depth < 5 && error && typeof error === "object"; depth++) {
    if (typeof error.code === "string" && /^[A-Z][A-Z0-9_]+$/.test(error.code)) return error.code;
    error = (error.cause ?? error.errors?.[0]) as typeof error;
  }
  return "";
}

interface ErrorShape {
  status: number | null;
  headers: { get: (name: string) => string | null } | null;
  error: unknown;
}

/** The errors of both SDKs: `status`, `headers` and the body as `error`. */
function shapeOf(thrown: unknown): ErrorShape {
  const { status, headers, error } = (thrown ?? {}) as Partial<Record<keyof ErrorShape, unknown>>;
  const readable = typeof (headers as ErrorShape["headers"])?.get === "function";
  return {
    status: typeof status === "number" ? status : null,
    headers: readable ? (headers as ErrorShape["headers"]) : null,
    error,
  };
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
function retryAfterMs(headers: ErrorShape["headers"]): number | undefined {
  const ms = Number.parseFloat(headers?.get("retry-after-ms") ?? "");
  if (ms >= 0) return ms;
  const seconds = headers?.get("retry-after") ?? "";
  return /^\s*\d+(\.\d+)?\s*$/.test(seconds) ? Number(seconds) * 1000 : undefined;
}

/** Enough of a server's own words to understand it; some quote the whole request. */
const MAX_SAID_CHARS = 300;
const KEY_LIKE = /\b(?:sk|pk|key|gsk|xai|hf)[-_][\w*.-]{6,}|\bbearer\s+\S+/gi;

/** A server's words made fit to be shown: one line, no control characters, no key. */
function clean(said: string, { apiKey }: Endpoint): string {
  const hidden = (apiKey ? said.replaceAll(apiKey, "[key]") : said).replace(KEY_LIKE, "[key]");
  const line = hidden.replace(/[\p{Cc}\p{Cf}\s]+/gu, " ").trim();
  return line.length > MAX_SAID_CHARS ? `${line.slice(0, MAX_SAID_CHARS)}…` : line;
}

function quoted(said: string): string {
  return said === "" ? "" : `: ${said.replace(/[.;]+$/, "")}`;
}
