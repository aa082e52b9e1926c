/** Forms of requests and answers as JSON Schema: the types of protocol.ts and protocol-admin.ts for other languages. */

import { LIMITS } from "../protocol.ts";
import { ROLES } from "./auth.ts";

type Schema = Record<string, unknown>;

const TEXT: Schema = { type: "string" };
const COUNT: Schema = { type: "integer", minimum: 0 };
const FLAG: Schema = { type: "boolean" };
const TIME: Schema = { type: "string", format: "date-time" };
const ROLE: Schema = { enum: ROLES };
const HASH: Schema = { type: "string", description: "sha256 of the text in hex; empty for a tombstone." };
const REVISION: Schema = { type: "string", description: "Opaque; whoever changes the memory must name it." };

export const SCHEMAS: Readonly<Record<string, Schema>> = {
  RemoteEntry: object({
    path: TEXT,
    hash: HASH,
    revision: REVISION,
    deleted: { ...FLAG, description: "A tombstone: it was there, and somebody removed it." },
    author: TEXT,
    at: TEXT,
  }),
  ListAnswer: object({
    id: { ...TEXT, description: "Which repository this is: what a client noted about another one does not count here." },
    entries: list(ref("RemoteEntry")),
  }),
  FetchRequest: object({ paths: { ...list(TEXT), maxItems: LIMITS.fetchPaths } }),
  FetchAnswer: object({ memories: list(object({ path: TEXT, revision: REVISION, hash: HASH, text: TEXT })) }),
  WriteAnswer: object({ path: TEXT, revision: REVISION, hash: HASH }),
  StaleAnswer: object({ problem: { const: "stale" }, message: TEXT, current: orNull(ref("RemoteEntry")) }),
  ProblemAnswer: object(
    {
      problem: { ...TEXT, description: "One word for programs." },
      message: { ...TEXT, description: "For people: what is wrong and how to fix it." },
      secrets: list(object({ rule: TEXT, line: { type: "integer", minimum: 1 } })),
    },
    ["secrets"],
  ),
  VersionsAnswer: object({
    versions: list(
      object({ revision: REVISION, author: TEXT, at: TEXT, deleted: FLAG, redacted: FLAG, text: orNull(TEXT) }),
    ),
  }),
  SearchAnswer: object({
    hits: list(
      object({
        repository: TEXT,
        path: TEXT,
        name: TEXT,
        description: TEXT,
        author: TEXT,
        at: TEXT,
        score: { type: "number" },
      }),
    ),
  }),
  TeamAnswer: object({
    team: TEXT,
    person: TEXT,
    role: orNull(ROLE),
    limits: object(Object.fromEntries(Object.keys(LIMITS).map((name) => [name, COUNT]))),
    repositories: list(ref("RepositoryAnswer")),
  }),
  RepositoryRequest: object({ name: TEXT }),
  RepositoryAnswer: object({ name: TEXT, memories: COUNT, bytes: COUNT, role: ROLE }),
  PersonRow: object({
    id: TEXT,
    name: TEXT,
    role: orNull(ROLE),
    repositories: list(object({ repository: TEXT, role: ROLE })),
  }),
  PeopleAnswer: object({ people: list(ref("PersonRow")) }),
  PersonRequest: object({ name: TEXT, role: orNull(ROLE) }, ["role"]),
  RoleRequest: object({ repository: orNull(TEXT), role: orNull(ROLE) }, ["repository"]),
  TokensAnswer: object({
    tokens: list(
      object({
        id: TEXT,
        person: TEXT,
        label: TEXT,
        created: TIME,
        expires: orNull(TIME),
        revoked: orNull(TIME),
        lastUsed: orNull(TIME),
      }),
    ),
  }),
  TokenRequest: object({ person: TEXT, label: TEXT, days: orNull({ type: "integer", minimum: 1, maximum: 3650 }) }, [
    "label",
    "days",
  ]),
  TokenAnswer: object({ id: TEXT, token: { ...TEXT, description: "Never to be seen again." } }),
  AuditAnswer: object({
    rows: list(
      object({
        at: TIME,
        person: TEXT,
        tokenId: TEXT,
        action: TEXT,
        repository: orNull(TEXT),
        path: orNull(TEXT),
        revision: orNull(TEXT),
        outcome: TEXT,
      }),
    ),
  }),
  RedactRequest: object({ path: TEXT, revision: REVISION }),
  DoneAnswer: object({ done: { const: true } }),
  HealthAnswer: object({ status: { const: "ok" }, version: TEXT }),
};

/** Every field is required but the named ones. */
function object(properties: Record<string, Schema>, optional: readonly string[] = []): Schema {
  return { type: "object", properties, required: Object.keys(properties).filter((key) => !optional.includes(key)) };
}

function list(items: Schema): Schema {
  return { type: "array", items };
}

function orNull(schema: Schema): Schema {
  return { oneOf: [schema, { type: "null" }] };
}

function ref(name: string): Schema {
  return { $ref: `#/components/schemas/${name}` };
}
