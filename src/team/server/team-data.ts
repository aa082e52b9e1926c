/** What the team server keeps and may be asked: the seam between HTTP and the database. Every verb carries the tenant. */

import type { Role, SearchHit } from "../protocol.ts";
import type { AuditRow, PersonRow as Person, TokenRow } from "../protocol-admin.ts";
import type { RemoteEntry, RemoteOutcome, RemoteVersion } from "../remote.ts";

export type { AuditRow, Person, SearchHit, TokenRow };

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
  teamRole: Role | null;
  role: Role | null;
  state: string | null;
}

export interface Repository {
  name: string;
  memories: number;
  bytes: number;
}

/** `current` limits; a change over them is refused inside the same transaction that would write it. */
export interface DataLimits {
  memoryBytes: number;
  repositoryBytes: number;
  repositoryMemories: number;
}

/** Absence is null, a missing right is null as well: the door answers 404 and 403 by `roleOf`. */
export interface TeamData {
  /** Applies migrations once under an advisory lock; called by every process at its start. */
  migrate(): Promise<string[]>;
  /** Resolves when the database answers; rejects otherwise. */
  ping(): Promise<void>;
  close(): Promise<void>;

  teams(): Promise<string[]>;
  /** For the operator, on the machine of the server: a team with its first admin and their token, shown once. */
  createTeam(team: string, admin: string): Promise<{ token: string }>;
  /** For the operator, when the last admin lost their token. */
  issueToken(
    team: string,
    person: string,
    options: { label: string; days: number | null },
  ): Promise<{ id: string; token: string } | null>;

  /**
   * What every request asks, in one transaction: who it is, whether they may ask just now (`admit`), as what, and the `state` of the
   * repository as `listMemories` gives it, null where they may not read it. Null as for `findCaller`.
   */
  enter(
    token: string,
    limit: { requests: number; seconds: number },
    repository: string | null,
  ): Promise<Entered | null>;
  /** Null for an unknown, expired or revoked token. Notes its last use at most once a minute. */
  findCaller(token: string): Promise<Caller | null>;
  /** The stronger of the team's role and the repository's. Null: none, or no such repository (the caller cannot tell which). */
  roleOf(caller: Caller, repository: string): Promise<Role | null>;
  teamRoleOf(caller: Caller): Promise<Role | null>;
  /** Counts one request in this window for a token; false when it is over the limit. Kept in the database: processes hold no state. */
  admit(caller: Caller, limit: { requests: number; seconds: number }): Promise<boolean>;

  people(caller: Caller): Promise<Person[]>;
  addPerson(caller: Caller, name: string, role: Role | null): Promise<Person | null>;
  setRole(caller: Caller, person: string, repository: string | null, role: Role | null): Promise<boolean>;
  tokens(caller: Caller): Promise<TokenRow[]>;
  addToken(
    caller: Caller,
    person: string,
    options: { label: string; days: number | null },
  ): Promise<{ id: string; token: string } | null>;
  revokeToken(caller: Caller, id: string): Promise<boolean>;
  /** Those that the caller may read. */
  repositories(caller: Caller): Promise<Repository[]>;
  addRepository(caller: Caller, name: string): Promise<Repository | null>;

  /** Also the ETag's material: `state` changes with every write in the repository. */
  listMemories(caller: Caller, repository: string): Promise<{ id: string; state: string; entries: RemoteEntry[] }>;
  fetchMemories(
    caller: Caller,
    repository: string,
    paths: readonly string[],
  ): Promise<{ path: string; revision: string; hash: string; text: string }[]>;
  /** One transaction: precondition, version, audit. `name`, `description` and `terms` are for search. */
  putMemory(
    caller: Caller,
    repository: string,
    memory: {
      path: string;
      text: string;
      hash: string;
      name: string;
      description: string;
      terms: readonly string[];
      vector: Float32Array | null;
    },
    expected: string | null,
    limits: DataLimits,
  ): Promise<RemoteOutcome>;
  removeMemory(caller: Caller, repository: string, path: string, expected: string): Promise<RemoteOutcome>;
  versions(
    caller: Caller,
    repository: string,
    path: string,
  ): Promise<(RemoteVersion & { deleted: boolean; redacted: boolean })[]>;
  /** Takes the text of one version out for ever, and of the memory itself if it is the current one (a tombstone follows). */
  redact(caller: Caller, repository: string, path: string, revision: string): Promise<boolean>;

  /** Visibility is part of the query. Vectors only where the extension is there and one is given. */
  search(
    caller: Caller,
    query: { terms: readonly string[]; vector: Float32Array | null; limit: number },
  ): Promise<SearchHit[]>;
  audit(caller: Caller, rows: readonly Omit<AuditRow, "at" | "person" | "tokenId">[]): Promise<void>;
  /** Newest first, `before` an earlier row's `at`. */
  readAudit(caller: Caller, options: { before: string | null; limit: number }): Promise<AuditRow[]>;
  /** For the metrics: how many teams, repositories, memories there are; no names. */
  counts(): Promise<{ teams: number; repositories: number; memories: number; bytes: number }>;
}
