/** What a team server answers, checked by hand: wrong shapes are failures, entries that no file could be are left out. */

import { MemdirError } from "../errors.ts";
import { findEntryProblem } from "./entry-path.ts";
import { type HttpAnswer, harmless, misbehaved, parseObject, problemOf } from "./http.ts";
import type { RemoteEntry, RemoteListing, RemoteOutcome, RemoteVersion } from "./remote.ts";

/** Whose answers they are. */
export interface Origin {
  name: string;
  log: (message: string) => void;
}

export function refusalOf(answer: HttpAnswer): string {
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

export function expectOk(origin: Origin, answer: HttpAnswer): Record<string, unknown> {
  if (answer.status === 403 || answer.status === 404) {
    const said = problemOf(answer).message || WORDS[answer.status];
    throw new MemdirError("network", `${origin.name}: ${said}; check the name, or ask an admin of the team for a role`);
  }
  if (answer.status !== 200) {
    const said = problemOf(answer).message;
    throw misbehaved(origin.name, `answered ${answer.status}${said ? ` (${said})` : ""}`);
  }
  const value = parseObject(answer.text);
  if (!value) throw misbehaved(origin.name, "answered with something else than JSON");
  return value;
}

/** Entries that no file here could be are left out, and nothing is known of them. */
export function readListing(origin: Origin, value: Record<string, unknown>): RemoteListing {
  const { id, entries } = value;
  if (typeof id !== "string" || id === "" || id.length > 300 || !Array.isArray(entries)) {
    throw misbehaved(origin.name, "answered without a list");
  }
  const byPath = new Map<string, RemoteEntry>();
  for (const item of entries) {
    const entry = readEntry(item);
    if (typeof entry === "string") origin.log(`${origin.name}: an entry is left out: ${entry}`);
    else if (byPath.has(entry.path)) origin.log(`${origin.name}: ${entry.path} is listed twice; the first one counts`);
    else byPath.set(entry.path, entry);
  }
  return { id: `${origin.name}#${harmless(id)}`, entries: [...byPath.values()] };
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

export function readVersion(value: unknown): RemoteVersion | null {
  const { revision, author, at, text } = (value ?? {}) as Record<string, unknown>;
  if (!isRevision(revision)) return null;
  return { revision, author: harmless(author, 100), at: timeOf(at), text: typeof text === "string" ? text : null };
}

/** Goes into a header again. */
export function isRevision(value: unknown): value is string {
  return typeof value === "string" && /^[\x21\x23-\x7e]{1,200}$/.test(value);
}

function timeOf(value: unknown): string {
  return typeof value === "string" && /^\d{4}-\d\d-\d\dT[\d:.]{5,18}(Z|[+-]\d\d:?\d\d)$/.test(value) ? value : "";
}

export function readStale(origin: Origin, path: string, answer: HttpAnswer): RemoteOutcome {
  const value = parseObject(answer.text)?.current;
  if (value === null || value === undefined) return { kind: "stale", path, current: null };
  const current = readEntry(value);
  if (typeof current === "string" || current.path !== path) {
    throw misbehaved(origin.name, "did not say what stands in the way of a change");
  }
  return { kind: "stale", path, current };
}
