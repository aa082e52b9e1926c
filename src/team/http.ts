/** Requests to a team server that is not trusted: bounded in time and size, never redirected, tried again where that may help. And what every server of ours starts with. */

import { once } from "node:events";
import type { AddressInfo, Server } from "node:net";
import type * as v from "valibot";
import { attempt, isObject, MemdirError } from "../errors.ts";
import type { World } from "../world.ts";
import { formatMembership, parseServer } from "./membership.ts";
import { PROTOCOL, ProblemAnswer, readAs } from "./protocol.ts";

export type Network = Pick<World, "fetch" | "now" | "random" | "sleep" | "log">;

export interface HttpOptions {
  /** `https://…`, or `http://` on loopback. */
  server: string;
  team: string;
  /** Without one, paths are below the team. */
  repository?: string;
  /** Never logged, never part of a message. */
  token: string;
  /** For one attempt, its body included. */
  timeoutMs?: number;
}

export interface HttpRequest {
  method: "GET" | "PUT" | "POST" | "DELETE";
  /** Below the team or the repository, with a slash in front, encoded. */
  path: string;
  headers?: Record<string, string>;
  /** An object is sent as JSON. */
  body?: string | object | undefined;
  /** Of the answer; a longer one is not read to its end. */
  maxBytes?: number;
  signal?: AbortSignal | undefined;
}

export interface HttpAnswer {
  status: number;
  headers: Headers;
  text: string;
}

export type Http = ReturnType<typeof openHttp>;

/** A large list over a slow line; a server that takes longer is asked again by the next pass. */
const TIMEOUT_MS = 30_000;
/**
 * Until the first attempt's answer begins. When the other side accepts and closes at once (a balancer without a server behind it),
 * Node 20's first fetch of a process never ends, and the second one fails at once.
 */
const FIRST_TIMEOUT_MS = 10_000;
/** An answer without memories in it. */
const MAX_BYTES = 1_000_000;
/** With the waits below: three seconds of trouble are bridged, more is for the next pass. */
const ATTEMPTS = 4;
const FIRST_WAIT_MS = 300;
/** A server that asks for more has more trouble than a pass should sit through. */
const LONGEST_WAIT_MS = 15_000;

/** `url` is for messages. */
export function openHttp(network: Network, options: HttpOptions) {
  const { token, team, repository, timeoutMs = TIMEOUT_MS } = options;
  const server = parseServer(options.server);
  const url = repository === undefined ? server : formatMembership({ server, team, repository });
  const below = repository === undefined ? [team] : [team, "repositories", repository];
  const base = `${server}/v1/teams/${below.map(encodeURIComponent).join("/")}`;
  const { log } = network;
  /**
   * Any answer that is the server's last word: 2xx, 304, 4xx other than 401 and 429. Everything else is a MemdirError
   * "network"; every request may have happened then, and must be one that may happen twice.
   */
  const send = async (request: HttpRequest): Promise<HttpAnswer> => {
    for (let attempt = 1; ; attempt++) {
      const beginMs = attempt === 1 ? Math.min(timeoutMs, FIRST_TIMEOUT_MS) : timeoutMs;
      const tried = await trySend(network, { base, token, timeoutMs, beginMs }, request);
      if ("answer" in tried) return settle(tried.answer, server);
      if (request.signal?.aborted) throw stopped(server);
      const waitMs = Math.max(backoffMs(attempt, network.random), tried.retryAfterMs ?? 0);
      if (tried.isFinal || attempt >= ATTEMPTS || waitMs > LONGEST_WAIT_MS) throw unreachable(server, tried, attempt);
      log(`${request.method} ${server}: ${tried.problem}; trying again in ${Math.round(waitMs)} ms`);
      await network.sleep(waitMs, request.signal).catch(() => {});
      if (request.signal?.aborted) throw stopped(server);
    }
  };
  return {
    url,
    log: (message: string) => log(`${url}: ${message}`),
    send,
    /** What the server answered with success, in the agreed form. */
    expect: <S extends v.GenericSchema>(form: S, { text }: HttpAnswer) =>
      readAs(form, parseJson(text), (problem) => misbehaved(url, `sent an answer that is not valid (${problem})`)),
    /** For answers that are not the agreed ones. */
    misbehaved: (what: string) => misbehaved(url, what),
  };
}

/** What the server said was wrong; "" where it said nothing that can be shown. */
export function problemOf({ text }: HttpAnswer): ProblemAnswer {
  const value = parseJson(text);
  return readAs(ProblemAnswer, isObject(value) ? value : {}, Error);
}

function parseJson(text: string): unknown {
  return attempt<unknown, undefined>(() => (isBomb(text) ? undefined : JSON.parse(text)), undefined);
}

/** A list of 20,000 memories and as many tombstones has 720,000 of them, texts included. Each costs up to a hundred bytes of memory. */
const MAX_VALUES = 2_500_000;

/** Whether so many values are in it that reading them would take gigabytes. Texts, which may hold any characters, are one each. */
function isBomb(text: string): boolean {
  let values = 0;
  VALUES.lastIndex = 0;
  // Short ones cannot be.
  if (text.length > MAX_VALUES) while (VALUES.test(text)) if (++values > MAX_VALUES) return true;
  return false;
}

/** A text that does not end counts, too: then no quote in it is tried as a beginning. */
const VALUES = /"[^"\\]*(?:\\.[^"\\]*)*"?|[,[{]/gs;

const TOO_LARGE = "its answer is too large";

/** For a request whose answer can be done without, or asked for in parts. */
export function nullIfTooLarge(error: unknown): null {
  if (error instanceof MemdirError && error.details === TOO_LARGE) return null;
  throw error;
}

function misbehaved(url: string, what: string): MemdirError {
  const advice = "check that it is a memdir team server and as recent as this program; nothing was changed here";
  return new MemdirError("network", `${url} ${what}: ${advice}`);
}

interface Failure {
  problem: string;
  retryAfterMs?: number;
  /** Asking again gives the same. */
  isFinal?: boolean;
}

async function trySend(
  { fetch, now }: Network,
  { base, token, timeoutMs, beginMs }: { base: string; token: string; timeoutMs: number; beginMs: number },
  { method, path, headers: more, body, maxBytes = MAX_BYTES, signal }: HttpRequest,
): Promise<{ answer: HttpAnswer } | Failure> {
  const late = new AbortController();
  let limitMs = beginMs;
  // Not AbortSignal.timeout: its timer does not keep the process alive, which would end in silence while it waits.
  let timer = setTimeout(() => late.abort(), limitMs);
  const isJson = typeof body === "object";
  try {
    const response = await fetch(`${base}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        "memdir-protocol": PROTOCOL,
        ...(isJson && { "content-type": "application/json" }),
        ...more,
      },
      body: isJson ? JSON.stringify(body) : (body ?? null),
      redirect: "manual",
      signal: signal ? AbortSignal.any([late.signal, signal]) : late.signal,
    });
    clearTimeout(timer);
    limitMs = timeoutMs;
    timer = setTimeout(() => late.abort(), limitMs);
    const bytes = await readBody(response.body, maxBytes);
    if (bytes === null) return { problem: TOO_LARGE, isFinal: true };
    const { status, headers } = response;
    if (status === 429 || status >= 500) {
      const retryAfterMs = retryAfter(headers.get("retry-after"), now().getTime());
      const { message } = problemOf({ status, headers, text: bytes.toString("utf8") });
      // Why, in the words of the server, which has seen the token.
      const why = message === "" || message.includes(token) ? "" : ` (${message})`;
      return { problem: `it answered ${status}${why}`, retryAfterMs };
    }
    return { answer: { status, headers, text: bytes.toString("utf8") } };
  } catch (error) {
    return late.signal.aborted ? { problem: `no answer within ${Math.ceil(limitMs / 1000)} s` } : reasonOf(error);
  } finally {
    clearTimeout(timer);
  }
}

/** Starts a server; its port, which the system chooses for 0. Throws `usage` when it cannot be used. */
export async function listenOn(server: Server, port: number, host = "127.0.0.1"): Promise<number> {
  try {
    await once(server.listen(port, host), "listening");
    return (server.address() as AddressInfo).port;
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    const what = UNUSABLE[code] ?? "choose another with --port";
    throw new MemdirError("usage", `${host} port ${port} cannot be used (${code}): ${what}`, { cause: error });
  }
}

const UNUSABLE: Record<string, string> = {
  EADDRINUSE: "it is already in use, perhaps by another memdir; choose another port with --port, or omit it",
  EACCES: "ports below 1024 need root; choose another with --port",
  EADDRNOTAVAIL: "this machine has no such address; choose another with --host",
  ENOTFOUND: "there is no such host; choose another with --host",
};

/** Null when there is more than `maxBytes`; the rest is not read. */
export async function readBody(body: AsyncIterable<Uint8Array> | null, maxBytes: number): Promise<Buffer | null> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  const reader = body?.[Symbol.asyncIterator]();
  for (let read = await reader?.next(); read && !read.done; read = await reader?.next()) {
    bytes += read.value.length;
    if (bytes > maxBytes) {
      // Not waited for: a client that never stops sending would block us.
      reader?.return?.().catch(() => {});
      return null;
    }
    chunks.push(read.value);
  }
  return Buffer.concat(chunks);
}

/** The answers that no caller needs to know. */
function settle(answer: HttpAnswer, url: string): HttpAnswer {
  const { status } = answer;
  const unknown = `${url} rejected the token: it is expired, revoked or unknown. Run \`memdir join URL --login\` again if you signed in with a browser; otherwise ask an admin of the team for a new one, then run \`memdir join URL --token-file FILE\` again`;
  if (status === 401) throw new MemdirError("network", unknown);
  if (status >= 300 && status < 400 && status !== 304)
    throw misbehaved(url, "redirects to another address, which is not followed (a token is sent to one server only)");
  const { problem, message } = status === 400 ? problemOf(answer) : {};
  if (problem !== "protocol") return answer;
  const advice = message || "update the older of the two";
  const other = `${url} uses another version of the protocol (this program uses ${PROTOCOL}): ${advice}`;
  throw new MemdirError("network", other);
}

/** Doubles each time; half of it is left to chance, so that many clients do not come back at the same moment. */
function backoffMs(attempt: number, random: () => number): number {
  return FIRST_WAIT_MS * 2 ** (attempt - 1) * (0.5 + random() / 2);
}

/** Seconds or a date, as HTTP has it. */
function retryAfter(value: string | null, now: number): number {
  if (value === null) return 0;
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1000;
  const at = Date.parse(value);
  return Number.isNaN(at) ? 0 : Math.max(0, at - now);
}

/** The code of the innermost cause: messages of the network library may quote the request. */
function reasonOf(error: unknown): Failure {
  let code = "";
  for (let at = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth++) {
    const own = (at as NodeJS.ErrnoException).code;
    if (typeof own === "string") code = own;
  }
  const advice = CERTIFICATE.find(([pattern]) => pattern.test(code))?.[1];
  if (advice) return { problem: `its certificate is not accepted (${code}): ${advice}`, isFinal: true };
  return { problem: WORDS[code] ?? (code === "" ? "the connection broke" : `the connection failed (${code})`) };
}

/** The same the next time: somebody has to do something. */
const CERTIFICATE: readonly [code: RegExp, advice: string][] = [
  [
    /^(UNABLE_TO_(VERIFY|GET_ISSUER)|SELF_SIGNED|DEPTH_ZERO)/,
    "set NODE_EXTRA_CA_CERTS to the file of the authority that signed it, your company's or that of a proxy",
  ],
  [/^CERT_HAS_EXPIRED/, "whoever runs the server must renew it"],
  [/^CERT_NOT_YET_VALID/, "check the clock of this machine"],
  [/^ERR_TLS_CERT_ALTNAME_INVALID/, "it is for another host name; use that one, or ask whoever runs the server"],
];

const WORDS: Record<string, string> = {
  ECONNREFUSED: "the connection was refused (ECONNREFUSED)",
  ENOTFOUND: "there is no such host (ENOTFOUND)",
  ECONNRESET: "the connection was dropped (ECONNRESET)",
  UND_ERR_SOCKET: "the connection was dropped",
};

function unreachable(url: string, { problem, retryAfterMs = 0 }: Failure, attempts: number): MemdirError {
  const wait = retryAfterMs > 0 ? `, and asks to wait ${Math.ceil(retryAfterMs / 1000)} s` : "";
  const tried = attempts > 1 ? ` (tried ${attempts} times)` : "";
  const rest = "what was not sent stays here and is sent by the next `memdir sync`";
  const message = `cannot reach ${url}: ${problem}${wait}${tried}; ${rest}`;
  return new MemdirError("network", message, { details: problem });
}

function stopped(url: string): MemdirError {
  return new MemdirError("network", `stopped while talking to ${url}; the next \`memdir sync\` continues from here`);
}
