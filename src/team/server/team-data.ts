/** What the team server keeps and may be asked: the seam between HTTP and the database. Every verb carries the tenant. */

import type * as protocol from "../protocol.ts";
import type { RemoteOutcome } from "../remote.ts";

export { findPersonProblem } from "../protocol.ts";

/** Who asks, as their token says. `team` is the tenant: nothing outside it can be seen or named. */
export interface Caller {
  team: string;
  personId: string;
  person: string;
  tokenId: string;
}

export interface Entered {
  caller: Caller;
  isAdmitted: boolean;
  teamRole: protocol.Role | null;
  role: protocol.Role | null;
  state: string | null;
}

/** A change over one of these is refused inside the same transaction that would write it. */
export type DataLimits = {
  [name in keyof Pick<typeof protocol.LIMITS, "memoryBytes" | "repositoryBytes" | "repositoryMemories">]: number;
};

/** `name`, `description`, `terms` and `vector` are for search. */
export interface SharedMemory {
  path: string;
  text: string;
  hash: string;
  name: string;
  description: string;
  terms: readonly string[];
  vector: Float32Array | null;
}

export interface SearchQuery {
  terms: readonly string[];
  vector: Float32Array | null;
  limit: number;
}

/** Days null: it does not expire. */
export type TokenOptions = Omit<protocol.TokenRequest, "person">;

export type AuditEntry = Pick<protocol.AuditRow, "action" | "outcome"> &
  Partial<Pick<protocol.AuditRow, "repository" | "path" | "revision">>;

/** Absence is null, and so is a missing right: `roleOf` distinguishes 404 from 403. */
export interface TeamData {
  /** Applies migrations once under an advisory lock; called by every process at its start. */
  migrate(): Promise<string[]>;
  /** Resolves when the database answers; rejects otherwise. */
  ping(): Promise<void>;
  close(): Promise<void>;

  teams(): Promise<string[]>;
  /** For the operator, on the machine of the server: a team with its first admin and their token. */
  createTeam(team: string, admin: string): Promise<{ token: string }>;
  /** For the operator, when the last admin lost their token. */
  issueToken(team: string, person: string, options: TokenOptions): Promise<protocol.TokenAnswer | null>;

  /**
   * What every request asks, in one transaction: who it is, whether their token has requests left in this window, their role,
   * and the `state` of the repository as `listMemories` gives it, null where they may not read it. Null for an unknown, expired
   * or revoked token. Requests are counted in the database, as processes hold no state; the last use is noted once a minute.
   */
  enter(
    token: string,
    limit: { requests: number; seconds: number },
    repository: string | null,
  ): Promise<Entered | null>;
  /** The stronger of the team's role and the repository's. Null: none, or no such repository (the caller does not learn which). */
  roleOf(caller: Caller, repository: string): Promise<protocol.Role | null>;
  teamRoleOf(caller: Caller): Promise<protocol.Role | null>;

  people(caller: Caller): Promise<protocol.PersonRow[]>;
  addPerson(caller: Caller, name: string, role: protocol.Role | null): Promise<protocol.PersonRow | null>;
  setRole(caller: Caller, person: string, repository: string | null, role: protocol.Role | null): Promise<boolean>;
  tokens(caller: Caller): Promise<protocol.TokenRow[]>;
  addToken(caller: Caller, person: string, options: TokenOptions): Promise<protocol.TokenAnswer | null>;
  revokeToken(caller: Caller, id: string): Promise<boolean>;
  /** Those that the caller may read. */
  repositories(caller: Caller): Promise<protocol.RepositoryAnswer[]>;
  addRepository(caller: Caller, name: string): Promise<protocol.RepositoryAnswer | null>;

  /** `state` changes with every write in the repository; the ETag is made of it. */
  listMemories(caller: Caller, repository: string): Promise<protocol.ListAnswer & { state: string }>;
  fetchMemories(caller: Caller, repository: string, paths: readonly string[]): Promise<protocol.Fetched[]>;
  /** One transaction: precondition, version, audit. */
  putMemory(
    caller: Caller,
    repository: string,
    memory: SharedMemory,
    expected: string | null,
    limits: DataLimits,
  ): Promise<RemoteOutcome>;
  removeMemory(caller: Caller, repository: string, path: string, expected: string): Promise<RemoteOutcome>;
  versions(caller: Caller, repository: string, path: string): Promise<protocol.Version[]>;
  /** Removes the text of one version for good, and of the memory itself if it is the current one (a tombstone follows). */
  redact(caller: Caller, repository: string, path: string, revision: string): Promise<boolean>;

  /** Visibility is part of the query. Vectors only where the extension is there and one is given. */
  search(caller: Caller, query: SearchQuery): Promise<protocol.SearchHit[]>;
  audit(caller: Caller, entries: readonly AuditEntry[]): Promise<void>;
  /** Newest first, `before` an earlier row's `at`. */
  readAudit(caller: Caller, options: { before: string | null; limit: number }): Promise<protocol.AuditRow[]>;
  /** For the metrics: how many teams, repositories, memories there are; no names. */
  counts(): Promise<StoredCounts>;
}

export interface StoredCounts {
  teams: number;
  repositories: number;
  memories: number;
  bytes: number;
}
