/** What client and server of team memory say to one another over HTTP: paths, bodies, limits. */

import type { RemoteEntry } from "./remote.ts";

/** Sent in `Memdir-Protocol`; a server that does not know it answers 400 and says which it knows. */
export const PROTOCOL = "1";

/** Bytes. The server says its own in `GET /v1/teams/:team`; these are its defaults and what a client assumes. */
export const LIMITS = {
  /** A memory of this size is a document, not a memory. */
  memoryBytes: 250_000,
  repositoryBytes: 64_000_000,
  repositoryMemories: 20_000,
  requestBytes: 1_000_000,
  /** Texts asked for at once. */
  fetchPaths: 64,
} as const;

export type Role = "reader" | "writer" | "admin";

/** GET /v1/teams/:team/repositories/:repository/memories, with an ETag: 304 when nothing changed. Tombstones are listed. */
export interface ListAnswer {
  id: string;
  entries: RemoteEntry[];
}

/** POST …/fetch. What is not visible, gone or redacted is left out. */
export interface FetchRequest {
  paths: string[];
}
export interface FetchAnswer {
  memories: { path: string; revision: string; hash: string; text: string }[];
}

/**
 * PUT …/memories/PATH with the text as body (text/markdown) and `If-Match: "REVISION"` or `If-None-Match: *`;
 * DELETE …/memories/PATH with `If-Match`. 200 with WriteAnswer; 412 with StaleAnswer; 413, 422 (secret, form), 403 with ProblemAnswer; 428 without a precondition.
 */
export interface WriteAnswer {
  path: string;
  revision: string;
  hash: string;
}
export interface StaleAnswer {
  problem: "stale";
  message: string;
  current: RemoteEntry | null;
}

/** Every other failure. `message` is for people: what, which, how to fix it; never the text of a memory. */
export interface ProblemAnswer {
  problem: string;
  message: string;
  /** For 422 with problem "secret". */
  secrets?: { rule: string; line: number }[];
}

/** GET …/versions/PATH */
export interface VersionsAnswer {
  versions: {
    revision: string;
    author: string;
    at: string;
    deleted: boolean;
    redacted: boolean;
    text: string | null;
  }[];
}

/** GET /v1/teams/:team/search?q=&limit= : over every repository that the caller may read. */
export interface SearchAnswer {
  hits: SearchHit[];
}

export interface SearchHit {
  repository: string;
  path: string;
  name: string;
  description: string;
  author: string;
  at: string;
  score: number;
}

/** GET /v1/teams/:team, for everybody with a token of the team. */
export interface TeamAnswer {
  team: string;
  person: string;
  /** In the whole team; null where there are only rights in single repositories. */
  role: Role | null;
  limits: { [name in keyof typeof LIMITS]: number };
  /** Those that the caller may read. */
  repositories: RepositoryAnswer[];
}

export interface RepositoryAnswer {
  name: string;
  memories: number;
  bytes: number;
  /** The caller's own there. */
  role: Role;
}

/** POST …/repositories, for admins of the team. 201, or 409 where it is there already. */
export interface RepositoryRequest {
  name: string;
}

/** GET …/people, POST …/people (201, 409). */
export interface PersonRow {
  id: string;
  name: string;
  role: Role | null;
  repositories: { repository: string; role: Role }[];
}
export interface PeopleAnswer {
  people: PersonRow[];
}
export interface PersonRequest {
  name: string;
  /** Null or absent: rights in single repositories only. */
  role?: Role | null;
}

/** PUT …/people/:person/role. `repository` null or absent: for the whole team. `role` null takes the right away. */
export interface RoleRequest {
  repository?: string | null;
  role: Role | null;
}

export interface TokenRow {
  id: string;
  person: string;
  label: string;
  created: string;
  expires: string | null;
  revoked: string | null;
  lastUsed: string | null;
}

/** GET …/tokens */
export interface TokensAnswer {
  tokens: TokenRow[];
}

/** POST …/tokens; the token is in this one answer and nowhere else. DELETE …/tokens/:id revokes. */
export interface TokenRequest {
  person: string;
  label?: string;
  /** Null or absent: it does not expire. */
  days?: number | null;
}
export interface TokenAnswer {
  id: string;
  token: string;
}

/** GET …/audit?before=&limit=, newest first; `before` is the `at` of the last row of the page before. */
export interface AuditAnswer {
  rows: AuditRow[];
}

export interface AuditRow {
  at: string;
  person: string;
  tokenId: string;
  /** list, fetch, write, remove, versions, redact, search, admin:… */
  action: string;
  repository: string | null;
  path: string | null;
  revision: string | null;
  outcome: string;
}

/** POST …/repositories/:repository/redact, for admins of the repository. */
export interface RedactRequest {
  path: string;
  revision: string;
}

/** Where there is nothing else to say. */
export interface DoneAnswer {
  done: true;
}
