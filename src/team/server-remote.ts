/** The team server as a remote, and what its admins ask it for: the client's half of protocol.ts. What the server says is checked before it is believed. */

import * as v from "valibot";
import { type ErrorCode, MemdirError } from "../errors.ts";
import { sha256 } from "../text/hash.ts";
import {
  type Http,
  type HttpAnswer,
  type HttpOptions,
  type HttpRequest,
  type Network,
  nullIfTooLarge,
  openHttp,
  problemOf,
} from "./http.ts";
import type { Membership } from "./membership.ts";
import * as protocol from "./protocol.ts";
import { type Remote, type RemoteChange, type RemoteListing, type RemoteOutcome, refuseChange } from "./remote.ts";

/** Every entry takes about 300 bytes: twice as many as a repository may have, and as many tombstones. */
const MAX_LIST_BYTES = 32_000_000;
/** As many texts of the largest size as are asked for at once; JSON may double them, then they come in halves. */
const MAX_TEXT_BYTES = 16_000_000;
/** A server keeps 1,000 versions and 16 MB of one memory. */
const MAX_PAGES = 50;
const MAX_HISTORY_CHARACTERS = 32_000_000;
/** Enough to hide the way there and back; a server has more clients than this one. */
const WRITES_AT_ONCE = 8;

/** Remembers the last listing: one that has not changed is not sent again. */
export function openServerRemote(network: Network, options: HttpOptions & Membership): Remote {
  const http = openHttp(network, options);
  const skippingList = listAnswer((why) => http.log(`skipped an entry: ${why}`));
  let last: { etag: string; state: string; listing: RemoteListing } | null = null;
  return {
    name: http.url,
    async list(signal) {
      const headers: Record<string, string> = last ? { "if-none-match": last.etag } : {};
      const path = last?.state ? `/memories?since=${encodeURIComponent(last.state)}` : "/memories";
      const answer = await http.send({ method: "GET", path, headers, maxBytes: MAX_LIST_BYTES, signal });
      if (answer.status === 304 && last) return last.listing;
      const { state = "", since, id: own, entries } = expectRows(http, skippingList, answer);
      const id = `${http.url}#${own}`;
      // Only what changed since; everything where the server does not know that state, or knows no states.
      const isPart = since !== undefined && since === last?.state && id === last.listing.id;
      const listing = { id, entries: replaceEntries(isPart && last ? last.listing.entries : [], entries) };
      const etag = answer.headers.get("etag");
      last = etag ? { etag, state, listing } : null;
      return listing;
    },
    async fetch(entries, signal) {
      const texts = new Map<string, string>();
      const wanted = entries.filter(({ deleted }) => !deleted);
      for (let at = 0; at < wanted.length; at += protocol.LIMITS.fetchPaths) {
        await fetchSome(http, wanted.slice(at, at + protocol.LIMITS.fetchPaths), texts, signal);
      }
      return texts;
    },
    apply: (...args) => applyAll(http, ...args),
    async findLost(had, signal) {
      const lost = new Set<string>();
      for (let at = 0; at < had.length; at += protocol.LIMITS.fetchPaths) {
        const some = had.slice(at, at + protocol.LIMITS.fetchPaths);
        const answer = await http.send({ method: "POST", path: "/fetch", body: { paths: [], had: some }, signal });
        const found = http.expect(v.pick(protocol.FetchAnswer, ["lost"]), answer).lost;
        for (const path of found ?? []) lost.add(path);
      }
      return lost;
    },
    async versions(path, signal, hash) {
      const pages: Awaited<ReturnType<Remote["versions"]>>[] = [];
      let [before, characters] = ["", 0];
      do {
        const query = new URLSearchParams({ limit: "200", ...(before && { before }), ...(hash && { hash }) });
        const target = `/versions/${encodePath(path)}?${query}`;
        const request = { method: "GET", path: target, maxBytes: MAX_TEXT_BYTES, signal } as const;
        const answer = await http.send(request).catch(nullIfTooLarge);
        // One memory with a long history must not keep all others from being synced.
        if (answer === null) http.log(`the history of ${path} is too large and was skipped`);
        if (answer === null || answer.status === 404) break;
        const { versions: page, more } = expectRows(http, VersionsAnswer, answer);
        pages.unshift(page.map(({ revision, author, at, text }) => ({ revision, author, at, text })));
        characters += answer.text.length;
        // A server that repeats itself is not asked again.
        const oldest = page[0]?.revision ?? "";
        before = more && oldest !== before ? oldest : "";
      } while (before !== "" && characters < MAX_HISTORY_CHARACTERS && pages.length < MAX_PAGES);
      return pages.flat();
    },
  };
}

function replaceEntries(entries: readonly protocol.RemoteEntry[], changed: readonly protocol.RemoteEntry[]) {
  const byPath = new Map(entries.map((entry) => [entry.path, entry]));
  for (const entry of changed) byPath.set(entry.path, entry);
  return [...byPath.values()];
}

/** What is too large together is asked for in halves; what is too large alone is left out. */
async function fetchSome(
  http: Http,
  entries: readonly protocol.RemoteEntry[],
  texts: Map<string, string>,
  signal: AbortSignal | undefined,
): Promise<void> {
  const body = { paths: entries.map(({ path }) => path) };
  const request = { method: "POST", path: "/fetch", body, maxBytes: MAX_TEXT_BYTES, signal } as const;
  const answer = await http.send(request).catch(nullIfTooLarge);
  if (answer === null) {
    const half = Math.ceil(entries.length / 2);
    if (entries.length === 1) return http.log(`${entries[0]?.path} is too large and was skipped`);
    await fetchSome(http, entries.slice(0, half), texts, signal);
    return fetchSome(http, entries.slice(half), texts, signal);
  }
  const wanted = new Map(entries.map((entry) => [entry.path, entry]));
  for (const { path, revision, text } of expectRows(http, FetchAnswer, answer).memories) {
    const entry = wanted.get(path);
    // Not asked for, or changed since it was listed.
    if (revision !== entry?.revision) continue;
    if (sha256(text) === entry.hash) texts.set(path, text);
    else http.log(`the text of ${path} is not the one that was listed and was skipped`);
  }
}

/**
 * Changes of one path go one after the other. A failure of one ends all: those under way are waited for, so that nothing happens
 * after the answer.
 */
async function applyAll(http: Http, ...[changes, signal, onProgress]: Parameters<Remote["apply"]>) {
  const outcomes: RemoteOutcome[] = [];
  const queue = changes.entries();
  const failures: unknown[] = [];
  const last = new Map<string, Promise<void>>();
  let done = 0;
  const work = async () => {
    for (const [at, change] of queue) {
      if (failures.length > 0) return;
      const apply = async () => {
        outcomes[at] = await applyOne(http, change, signal);
      };
      const applied = (last.get(change.path) ?? Promise.resolve()).then(apply);
      last.set(change.path, applied);
      await applied;
      onProgress?.(++done);
    }
  };
  await Promise.all(Array.from({ length: WRITES_AT_ONCE }, () => work().catch((error) => failures.push(error))));
  if (failures.length > 0) throw failures[0];
  return outcomes;
}

async function applyOne(http: Http, change: RemoteChange, signal: AbortSignal | undefined): Promise<RemoteOutcome> {
  const { path, expected } = change;
  // How large a memory may be is the server's to say.
  const refusal = refuseChange(change, protocol.LIMITS.requestBytes);
  if (refusal) return refusal;
  const precondition: Record<string, string> =
    expected === null ? { "if-none-match": "*" } : { "if-match": `"${expected}"` };
  const answer = await http.send({
    method: change.kind === "put" ? "PUT" : "DELETE",
    path: `/memories/${encodePath(path)}`,
    headers: change.kind === "put" ? { ...precondition, "content-type": "text/markdown" } : precondition,
    ...(change.kind === "put" ? { body: change.text } : {}),
    signal,
  });
  if (answer.status === 412 || answer.status === 409) return { kind: "stale", path };
  if (answer.status >= 400) {
    // Rights and room are not the text's: "refused" is what the server says of a repository that is full.
    const isPassing = answer.status === 403 || answer.status === 404 || problemOf(answer).problem === "refused";
    return { kind: "refused", path, reason: refusalOf(answer), isPassing };
  }
  const { revision, hash } = http.expect(protocol.WriteAnswer, answer);
  if (change.kind === "put" && hash !== sha256(change.text)) {
    throw http.misbehaved("acknowledged a different text from the one that was sent");
  }
  return { kind: "done", path, revision };
}

function encodePath(path: string): string {
  return path.split("/").map(encodeURIComponent).join("/");
}

function refusalOf(answer: HttpAnswer): string {
  const { message, secrets = [] } = problemOf(answer);
  const said = message || WORDS[answer.status] || `the server answered ${answer.status}`;
  const found = secrets.slice(0, 10).map(({ rule, line }) => `${rule} in line ${line}`);
  return found.length > 0 ? `${said} (${found.join(", ")})` : said;
}

const WORDS: Record<number, string> = {
  403: "you may read here, but not write: ask an admin of the team",
  404: "the server has no such repository, or you have no role in it",
  413: "it is too large for the server",
  422: "the server does not accept this text",
};

/** Rows of an answer: one that is not as agreed is left out, and the rest is taken. */
function rowsOf<S extends v.GenericSchema>(row: S, skip: (why: string) => void = () => {}) {
  const fit = (value: unknown) => {
    const { success, output, issues } = v.safeParse(row, value);
    if (!success) skip(issues[0].message);
    return success ? [output] : [];
  };
  return v.pipe(
    v.array(v.unknown()),
    v.transform((values) => values.flatMap(fit)),
  );
}

const listAnswer = (skip: (why: string) => void) =>
  v.object({ ...protocol.ListAnswer.entries, entries: rowsOf(protocol.RemoteEntry, skip) });
const FetchAnswer = v.object({ ...protocol.FetchAnswer.entries, memories: rowsOf(protocol.Fetched) });
const VersionsAnswer = v.object({ ...protocol.VersionsAnswer.entries, versions: rowsOf(protocol.Version) });

function expectRows<S extends v.GenericSchema>(http: Http, form: S, answer: HttpAnswer): v.InferOutput<S> {
  const { message } = problemOf(answer);
  if (answer.status === 403 || answer.status === 404) {
    const said = message || WORDS[answer.status];
    throw new MemdirError("network", `${http.url}: ${said}; check the name, or ask an admin of the team for a role`);
  }
  if (answer.status !== 200) throw http.misbehaved(`answered ${answer.status}${message ? ` (${message})` : ""}`);
  return http.expect(form, answer);
}

/** People, tokens and rows of a large team; no memories. */
const MAX_ADMIN_BYTES = 16_000_000;

/**
 * What a member or admin of a team asks its server for: people, roles, tokens, search, the audit log, redaction.
 * Every call may fail with `network`; a missing right is `network`, too, with the server's words.
 */
export function openAdministration(network: Network, { server, team, token }: HttpOptions) {
  const http = openHttp(network, { server, team, token });
  const ask = <S extends v.GenericSchema>(form: S, method: HttpRequest["method"], path: string, body?: object) =>
    askFor(http, form, { method, path, body, maxBytes: MAX_ADMIN_BYTES }, CODES);
  return {
    view: () => ask(protocol.TeamAnswer, "GET", ""),
    /** For admins. */
    people: async () => (await ask(protocol.PeopleAnswer, "GET", "/people")).people,
    addPerson: (name: string, role: protocol.RoleRequest["role"]) =>
      ask(protocol.PersonRow, "POST", "/people", { name, role }),
    /** Ends everything that they can do. */
    removePerson: (name: string) => ask(protocol.DoneAnswer, "DELETE", `/people/${encodeURIComponent(name)}`),
    /** `repository` null: in the whole team. `role` null takes it away. */
    setRole: (person: string, repository: string | null, role: protocol.RoleRequest["role"]) =>
      ask(protocol.DoneAnswer, "PUT", `/people/${encodeURIComponent(person)}/role`, { repository, role }),
    addRepository: (name: string) => ask(protocol.RepositoryAnswer, "POST", "/repositories", { name }),
    tokens: async () => (await ask(protocol.TokensAnswer, "GET", "/tokens")).tokens,
    addToken: (person: string, options: Omit<protocol.TokenRequest, "person">) =>
      ask(protocol.TokenAnswer, "POST", "/tokens", { person, ...options }),
    revokeToken: (id: string) => ask(protocol.DoneAnswer, "DELETE", `/tokens/${encodeURIComponent(id)}`),
    search: async (words: string, limit: number) => {
      const query = new URLSearchParams({ q: words, limit: String(limit) });
      return (await ask(protocol.SearchAnswer, "GET", `/search?${query}`)).hits;
    },
    /** Newest first. */
    audit: async ({ limit, before }: { limit: number; before?: string | undefined }) => {
      const query = new URLSearchParams({ limit: String(limit), ...(before ? { before } : {}) });
      return (await ask(protocol.AuditAnswer, "GET", `/audit?${query}`)).rows;
    },
    redact: (repository: string, path: string, revision: string) =>
      ask(protocol.DoneAnswer, "POST", `/repositories/${encodeURIComponent(repository)}/redact`, { path, revision }),
  };
}

const CODES: Record<number, ErrorCode> = { 404: "not-found", 409: "conflict", 400: "usage", 422: "usage" };

/** The answer in the agreed form; else an error with the server's words. */
async function askFor<S extends v.GenericSchema>(
  http: Http,
  form: S,
  request: HttpRequest,
  codes: Readonly<Record<number, ErrorCode>>,
): Promise<v.InferOutput<S>> {
  const answer = await http.send(request);
  const { status } = answer;
  if (status >= 200 && status < 300) return http.expect(form, answer);
  const message = problemOf(answer).message || `${http.url} answered ${status}: it does not support this request`;
  throw new MemdirError(codes[status] ?? "network", message);
}

/** These requests need none, and every request of ours sends one. */
const NO_TOKEN = "signing-in-without-one";

/**
 * Signing in where people come from an identity provider: `show` is told what to open and which code to compare, and the token is
 * given when the person has confirmed.
 */
export async function signIn(
  network: Network,
  { server, team }: Pick<Membership, "server" | "team">,
  show: (lines: readonly string[]) => void,
  signal?: AbortSignal,
): Promise<string> {
  const http = openHttp(network, { server, team, token: NO_TOKEN });
  const ask = <S extends v.GenericSchema>(form: S, path: string, body: object) =>
    askFor(http, form, { method: "POST", path, body, signal }, { ...CODES, 403: "usage", 404: "usage" });
  const { handle, url, userCode, seconds, interval } = await ask(protocol.LoginAnswer, "/login", {});
  show([`open ${url} in a browser and confirm the code ${userCode}`]);
  const until = network.now().getTime() + seconds * 1000;
  while (network.now().getTime() < until) {
    await network.sleep(Math.max(1, interval) * 1000, signal);
    const { token } = await ask(protocol.LoginFinished, "/login/finish", { handle });
    if (token !== undefined) return token;
  }
  throw new MemdirError("network", "signing in took too long: run it again");
}
