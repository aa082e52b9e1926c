/** A route of the team server: where it is, who may use it, what it answers, and how it is described. */

import type { LIMITS, Role } from "../protocol.ts";
import type { Answer } from "./answer.ts";
import type { Metrics } from "./metrics.ts";
import type { Caller, TeamData } from "./team-data.ts";

/** Bytes and counts, and how many requests a token has in a window. */
export interface ServerLimits {
  memory: { [name in keyof typeof LIMITS]: number };
  rate: { requests: number; seconds: number };
}

/** Everything that a route may touch outside its request. */
export interface ServerWorld {
  data: TeamData;
  now: () => Date;
  limits: ServerLimits;
  /** Every credential in a text; must throw rather than look at half of it. */
  findSecrets(text: string): readonly { rule: string; line: number }[];
  /** A vector of length one, or null where there is no model. */
  embed: ((text: string) => Promise<Float32Array | null>) | null;
  metrics: Metrics;
  version: string;
}

/**
 * `open`: nobody is asked for a token. `member`: any token of the team. `team`: a role in the whole team.
 * `repository`: a role in the repository that the path names.
 */
export type Access = { to: "open" } | { to: "member" } | { to: "team"; role: Role } | { to: "repository"; role: Role };

/** A request that was let in. */
export interface Asked {
  caller: Caller;
  /** Where the route asks for a repository. */
  repository: string;
  /** Of that repository, when the request came; null elsewhere. */
  state: string | null;
  params: Readonly<Record<string, string>>;
  query: URLSearchParams;
  headers: Headers;
  body: ReadableStream<Uint8Array> | null;
}

export interface Route {
  method: "GET" | "PUT" | "POST" | "DELETE";
  /** `:name` is one part of the path, `:name{.+}` is the rest of it. */
  path: string;
  access: Access;
  /** As the audit log names it; "" for what is not audited. */
  action: string;
  description: RouteDescription;
  answer(world: ServerWorld, asked: Asked): Promise<Answer>;
}

/** For the OpenAPI document; names of schemas are those in openapi-schemas.ts. */
export interface RouteDescription {
  summary: string;
  query?: Record<string, { required?: boolean; text: string }>;
  headers?: Record<string, { required?: boolean; text: string }>;
  /** A schema's name for JSON, or Markdown. */
  request?: string | { markdown: true };
  /** By status: a schema's name, or null for an answer without a body, or a media type. */
  answers: Record<number, { text: string; schema?: string; type?: string }>;
}
