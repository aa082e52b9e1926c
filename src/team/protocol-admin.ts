/** What members and admins of a team ask the server beside memories: who they are, people, roles, tokens, repositories, the audit log. */

import type { LIMITS, Role } from "./protocol.ts";

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

/** What was done, where there is nothing else to tell. */
export interface DoneAnswer {
  done: true;
}
