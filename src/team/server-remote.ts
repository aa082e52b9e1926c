/** The team server as a remote: the client's half of protocol.ts. What the server says is checked before it is believed. */

import { MemdirError } from "../errors.ts";
import { sha256 } from "../text/hash.ts";
import {
  type Http,
  type HttpAnswer,
  type HttpOptions,
  harmless,
  isTooLarge,
  misbehaved,
  type Network,
  openHttp,
  parseObject,
  problemOf,
} from "./http.ts";
import { formatMembership, type Membership } from "./membership.ts";
import { LIMITS } from "./protocol.ts";
import {
  findEntryProblem,
  type Remote,
  type RemoteChange,
  type RemoteEntry,
  type RemoteListing,
  type RemoteOutcome,
  type RemoteVersion,
} from "./remote.ts";

/** Every entry takes about 300 bytes, and tombstones are listed, too. */
const MAX_LIST_BYTES = 64_000_000;
/** JSON may double a text, and so may many versions of it. */
const MAX_TEXT_BYTES = 48_000_000;
/** Enough to hide the way there and back; a server has more clients than this one. */
const WRITES_AT_ONCE = 8;

/** Remembers the last listing: one that has not changed is not sent again. */
export function openServerRemote(network: Network, options: HttpOptions & Membership): Remote {
  const http = openRepository(network, options);
  let last: { etag: string; listing: RemoteListing } | null = null;
  return {
    name: http.url,
    async list(signal) {
      const headers: Record<string, string> = last ? { "if-none-match": last.etag } : {};
      const answer = await http.send({ method: "GET", path: "/memories", headers, maxBytes: MAX_LIST_BYTES, signal });
      if (answer.status === 304 && last) return last.listing;
      const listing = readListing(http, expectOk(http, answer));
      const etag = answer.headers.get("etag");
      last = etag ? { etag, listing } : null;
      return listing;
    },
    async fetch(entries, signal) {
      const texts = new Map<string, string>();
      const wanted = entries.filter(({ deleted }) => !deleted);
      for (let at = 0; at < wanted.length; at += LIMITS.fetchPaths) {
        await fetchSome(http, wanted.slice(at, at + LIMITS.fetchPaths), texts, signal);
      }
      return texts;
    },
    apply: (changes, signal) => applyAll(http, changes, signal),
    async versions(path, signal) {
      const target = `/versions/${encodePath(path)}`;
      const answer = await http.send({ method: "GET", path: target, maxBytes: MAX_TEXT_BYTES, signal });
      if (answer.status === 404) return [];
      const { versions } = expectOk(http, answer);
      if (!Array.isArray(versions)) throw misbehaved(http.url, "answered without versions");
      return versions.map(readVersion).filter((version) => version !== null);
    },
  };
}

/** The server's connection narrowed to one repository: paths start there, and messages name it. */
function openRepository(network: Network, options: HttpOptions & Membership): Http {
  const { url: server, log, send } = openHttp(network, options);
  const { team, repository } = options;
  const base = `/v1/teams/${encodeURIComponent(team)}/repositories/${encodeURIComponent(repository)}`;
  return {
    url: formatMembership({ server, team, repository }),
    log,
    send: (request) => send({ ...request, path: `${base}${request.path}` }),
  };
}

/** What is too large together is asked for in halves; what is too large alone is left out. */
async function fetchSome(
  http: Http,
  entries: readonly RemoteEntry[],
  texts: Map<string, string>,
  signal: AbortSignal | undefined,
): Promise<void> {
  let answer: HttpAnswer;
  try {
    answer = await http.send({
      method: "POST",
      path: "/fetch",
      body: { paths: entries.map(({ path }) => path) },
      maxBytes: MAX_TEXT_BYTES,
      signal,
    });
  } catch (error) {
    if (!isTooLarge(error)) throw error;
    const half = Math.ceil(entries.length / 2);
    if (entries.length === 1) return http.log(`${http.url}: ${entries[0]?.path} is too large; it is not taken`);
    await fetchSome(http, entries.slice(0, half), texts, signal);
    return fetchSome(http, entries.slice(half), texts, signal);
  }
  takeTexts(http, entries, expectOk(http, answer), texts);
}

function takeTexts(
  http: Http,
  entries: readonly RemoteEntry[],
  { memories }: Record<string, unknown>,
  texts: Map<string, string>,
): void {
  if (!Array.isArray(memories)) throw misbehaved(http.url, "answered without memories");
  const wanted = new Map(entries.map((entry) => [entry.path, entry]));
  for (const memory of memories) {
    const { path, revision, text } = (memory ?? {}) as Record<string, unknown>;
    const entry = typeof path === "string" ? wanted.get(path) : undefined;
    // Not asked for, or changed since it was listed.
    if (!entry || typeof text !== "string" || revision !== entry.revision) continue;
    if (sha256(text) === entry.hash) texts.set(entry.path, text);
    else http.log(`${http.url}: the text of ${entry.path} is not the one that was listed; it is not taken`);
  }
}

/**
 * Changes of one path go one after the other. A failure of one ends all: those under way are waited for, so that nothing happens
 * after the answer.
 */
async function applyAll(
  http: Http,
  changes: readonly RemoteChange[],
  signal: AbortSignal | undefined,
): Promise<RemoteOutcome[]> {
  const outcomes: RemoteOutcome[] = [];
  const byPath = new Map<string, number[]>();
  for (const [at, { path }] of changes.entries()) byPath.set(path, [...(byPath.get(path) ?? []), at]);
  const queue = [...byPath.values()].values();
  let failed: { error: unknown } | null = null;
  const work = async () => {
    for (const places of queue) {
      for (const at of places) {
        if (failed) return;
        try {
          outcomes[at] = await applyOne(http, changes[at] as RemoteChange, signal);
        } catch (error) {
          failed ??= { error };
        }
      }
    }
  };
  await Promise.all(Array.from({ length: WRITES_AT_ONCE }, work));
  const { error } = (failed ?? {}) as { error?: unknown };
  if (failed) throw error;
  return outcomes;
}

async function applyOne(http: Http, change: RemoteChange, signal: AbortSignal | undefined): Promise<RemoteOutcome> {
  const { path, expected } = change;
  const problem = findEntryProblem(path) ?? (change.kind === "put" ? findTextProblem(change.text) : null);
  if (problem) return { kind: "refused", path, reason: problem };
  const precondition: Record<string, string> =
    expected === null ? { "if-none-match": "*" } : { "if-match": `"${expected}"` };
  const answer = await http.send({
    method: change.kind === "put" ? "PUT" : "DELETE",
    path: `/memories/${encodePath(path)}`,
    headers: change.kind === "put" ? { ...precondition, "content-type": "text/markdown" } : precondition,
    ...(change.kind === "put" ? { body: change.text } : {}),
    signal,
  });
  if (answer.status === 412 || answer.status === 409) return readStale(http, path, answer);
  if (answer.status >= 400) return { kind: "refused", path, reason: refusalOf(answer), isPassing: isPassing(answer) };
  const { revision, hash } = parseObject(answer.text) ?? {};
  if (!isRevision(revision)) throw misbehaved(http.url, "answered a change without its revision");
  if (change.kind === "put" && hash !== sha256(change.text)) {
    throw misbehaved(http.url, "acknowledged another text than it was sent");
  }
  return { kind: "done", path, revision };
}

/** Rights and room are not the text's: "refused" is what the server says of a repository that is full. */
function isPassing(answer: HttpAnswer): boolean {
  if (answer.status === 403 || answer.status === 404) return true;
  return answer.status === 422 && problemOf(answer).problem === "refused";
}

/** A text that cannot be sent as it is would come back as another one. */
function findTextProblem(text: string): string | null {
  if (!text.isWellFormed()) return "it is not valid UTF-8 text";
  const bytes = Buffer.byteLength(text);
  // The server has limits of its own, and says so; this one saves the way.
  return bytes > LIMITS.requestBytes ? `it has ${bytes} bytes, and ${LIMITS.requestBytes} can be sent at once` : null;
}

function encodePath(path: string): string {
  return path.split("/").map(encodeURIComponent).join("/");
}

function refusalOf(answer: HttpAnswer): string {
  const secrets = parseObject(answer.text)?.secrets;
  const found = Array.isArray(secrets)
    ? secrets.slice(0, 10).map((secret) => {
        const { rule, line } = (secret ?? {}) as Record<string, unknown>;
        return `${harmless(rule, 60) || "secret"} in line ${Number.isSafeInteger(line) ? line : "?"}`;
      })
    : [];
  const message = problemOf(answer).message || WORDS[answer.status] || `the server answered ${answer.status}`;
  return found.length > 0 ? `${message} (${found.join(", ")})` : message;
}

const WORDS: Record<number, string> = {
  403: "you may read here, but not write: ask an admin of the team",
  404: "the server knows no such repository, or you have no right in it",
  413: "it is too large for the server",
  422: "the server does not take this text",
};

function expectOk(http: Http, answer: HttpAnswer): Record<string, unknown> {
  if (answer.status === 403 || answer.status === 404) {
    const said = problemOf(answer).message || WORDS[answer.status];
    throw new MemdirError("network", `${http.url}: ${said}; check the name, or ask an admin of the team for a role`);
  }
  if (answer.status !== 200) {
    const said = problemOf(answer).message;
    throw misbehaved(http.url, `answered ${answer.status}${said ? ` (${said})` : ""}`);
  }
  const value = parseObject(answer.text);
  if (!value) throw misbehaved(http.url, "answered with something else than JSON");
  return value;
}

/** Entries that no file here could be are left out, and nothing is known of them. */
function readListing(http: Http, value: Record<string, unknown>): RemoteListing {
  const { id, entries } = value;
  if (typeof id !== "string" || id === "" || id.length > 300 || !Array.isArray(entries)) {
    throw misbehaved(http.url, "answered without a list");
  }
  const byPath = new Map<string, RemoteEntry>();
  for (const item of entries) {
    const entry = readEntry(item);
    if (typeof entry === "string") http.log(`${http.url}: an entry is left out: ${entry}`);
    else if (byPath.has(entry.path)) http.log(`${http.url}: ${entry.path} is listed twice; the first one counts`);
    else byPath.set(entry.path, entry);
  }
  return { id: `${http.url}#${harmless(id)}`, entries: [...byPath.values()] };
}

/** Or why it is none. */
function readEntry(value: unknown): RemoteEntry | string {
  const { path, hash, revision, deleted, author, at } = (value ?? {}) as Record<string, unknown>;
  if (typeof path !== "string") return "it has no path";
  const problem = findEntryProblem(path);
  if (problem) return `${JSON.stringify(harmless(path, 100))}: ${problem}`;
  if (typeof deleted !== "boolean" || !isRevision(revision)) return `${path}: it has no revision`;
  if (typeof hash !== "string" || !(deleted ? hash === "" : /^[0-9a-f]{64}$/.test(hash))) {
    return `${path}: it has no hash`;
  }
  return { path, hash, revision, deleted, author: harmless(author, 100), at: timeOf(at) };
}

function readVersion(value: unknown): RemoteVersion | null {
  const { revision, author, at, text } = (value ?? {}) as Record<string, unknown>;
  if (!isRevision(revision)) return null;
  return { revision, author: harmless(author, 100), at: timeOf(at), text: typeof text === "string" ? text : null };
}

/** Goes into a header again. */
function isRevision(value: unknown): value is string {
  return typeof value === "string" && /^[\x21\x23-\x7e]{1,200}$/.test(value);
}

function timeOf(value: unknown): string {
  return typeof value === "string" && /^\d{4}-\d\d-\d\dT[\d:.]{5,18}(Z|[+-]\d\d:?\d\d)$/.test(value) ? value : "";
}

function readStale(http: Http, path: string, answer: HttpAnswer): RemoteOutcome {
  const value = parseObject(answer.text)?.current;
  if (value === null || value === undefined) return { kind: "stale", path, current: null };
  const current = readEntry(value);
  if (typeof current === "string" || current.path !== path) {
    throw misbehaved(http.url, "did not say what conflicts with a change");
  }
  return { kind: "stale", path, current };
}
