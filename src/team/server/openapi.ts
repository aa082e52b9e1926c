/** The OpenAPI description of the server, made from the routes themselves. */

import { LIMITS, PROTOCOL } from "../protocol.ts";
import type { Access, Route, RouteDescription, ServerLimits } from "./route.ts";
import { ROLES } from "./team-data.ts";

type Json = Record<string, unknown>;

export function makeOpenApi(
  routes: readonly Route[],
  { version, limits }: { version: string; limits: ServerLimits },
): Json {
  const paths: Record<string, Json> = {};
  for (const route of routes) {
    const path = describedPath(route.path);
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: describeRoute(route) };
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "memdir team server",
      version: version || "0",
      description: [
        "Memory that a team of people and agents shares: lists of hashes first, then only what differs.",
        `Every request below /v1 names the protocol (\`Memdir-Protocol: ${PROTOCOL}\`) and a token; what a token may not see is not there (404).`,
        `A body has at most ${limits.memory.requestBytes} bytes and is not compressed, a memory at most ${limits.memory.memoryBytes}.`,
        `A token has ${limits.rate.requests} requests in ${limits.rate.seconds} seconds; then the answer is 429 and says how long to wait.`,
      ].join("\n"),
    },
    paths,
    components: {
      securitySchemes: { token: { type: "http", scheme: "bearer" } },
      schemas: SCHEMAS,
    },
  };
}

/** As OpenAPI writes a pattern: `{path}` may hold slashes here, which it cannot express. */
export function describedPath(path: string): string {
  return path.replace(/:(\w+)(\{[^}]*\})?/g, "{$1}");
}

function describeRoute({ path, method, access, description }: Route): Json {
  const { summary, request } = description;
  return {
    operationId: operationId(method, path),
    summary,
    description: whoMay(access),
    security: access.to === "open" ? [] : [{ token: [] }],
    parameters: describeParameters(path, access, description),
    ...(request && { requestBody: { required: true, content: describeRequest(request) } }),
    responses: { ...describeAnswers(description.answers), ...describeRefusals(access, description) },
  };
}

function describeParameters(path: string, access: Access, { query = {}, headers = {} }: RouteDescription): Json[] {
  const parts = [...path.matchAll(/:(\w+)/g)].map(([, name = ""]) => ({
    name,
    in: "path",
    required: true,
    description: PARTS[name],
    schema: { type: "string" },
  }));
  const protocol = { name: "Memdir-Protocol", in: "header", required: true, schema: { const: PROTOCOL } };
  const others = (where: string, named: NonNullable<RouteDescription["query"]>) =>
    Object.entries(named).map(([name, { required = false, text }]) => ({
      name,
      in: where,
      required,
      description: text,
      schema: { type: "string" },
    }));
  return [
    ...parts,
    ...(access.to === "open" ? [] : [protocol]),
    ...others("query", query),
    ...others("header", headers),
  ];
}

const PARTS: Record<string, string> = {
  team: "The team that the token belongs to.",
  repository: "A repository of the team.",
  path: "Where the memory is below the repository's root; may hold slashes, each part percent-encoded.",
  person: "The name of a person in the team.",
  id: "The id of a token, as the list of tokens has it.",
};

function describeRequest(request: NonNullable<RouteDescription["request"]>): Json {
  if (typeof request !== "string") return { "text/markdown": { schema: { type: "string" } } };
  return { "application/json": { schema: schemaOf(request) } };
}

function describeAnswers(answers: RouteDescription["answers"]): Json {
  return Object.fromEntries(
    Object.entries(answers).map(([status, { text, schema, type }]) => {
      if (schema) return [status, { description: text, content: { "application/json": { schema: schemaOf(schema) } } }];
      return [status, { description: text, ...(type && { content: { [type]: {} } }) }];
    }),
  );
}

/** What the guard answers, and what reading a body can end with. */
function describeRefusals(access: Access, { request, answers }: RouteDescription): Json {
  const refusals = {
    ...(access.to !== "open" && {
      400: "The protocol or the form of the request is wrong.",
      401: "The token is missing, unknown, expired or revoked.",
      404: "It is not there, or the caller may not know of it.",
      429: "Too many requests; Retry-After says how many seconds to wait.",
      503: "The database does not answer just now.",
    }),
    ...((access.to === "team" || access.to === "repository") && { 403: "The role is too low." }),
    ...(request && {
      413: "The body is too large.",
      415: "The body is compressed, or of another type.",
      422: "The path or the text cannot be shared.",
    }),
    500: "The server failed; its log says more under the id in the message.",
  };
  const missing = Object.entries(refusals as Record<string, string>).filter(([status]) => !(status in answers));
  return describeAnswers(
    Object.fromEntries(missing.map(([status, text]) => [status, { text, schema: "ProblemAnswer" }])),
  );
}

function whoMay(access: Access): string {
  if (access.to === "open") return "Open to whoever reaches the server.";
  if (access.to === "member") return "For every member of the team.";
  return `For the role ${access.role} or a stronger one in the ${access.to}.`;
}

function operationId(method: string, path: string): string {
  const words = path.replace(/\{[^}]*\}/g, "").match(/\w+/g) ?? [];
  return [method.toLowerCase(), ...words.filter((word) => word !== "v1")].join("-");
}

function schemaOf(name: string): Json {
  if (!Object.hasOwn(SCHEMAS, name)) throw new Error(`there is no schema ${name}`);
  return { $ref: `#/components/schemas/${name}` };
}

type Schema = Record<string, unknown>;

const TEXT: Schema = { type: "string" };
const COUNT: Schema = { type: "integer", minimum: 0 };
const FLAG: Schema = { type: "boolean" };
const TIME: Schema = { type: "string", format: "date-time" };
const ROLE: Schema = { enum: ROLES };
const HASH: Schema = { type: "string", description: "sha256 of the text in hex; empty for a tombstone." };
const REVISION: Schema = { type: "string", description: "Opaque; whoever changes the memory must name it." };

const SCHEMAS: Readonly<Record<string, Schema>> = {
  RemoteEntry: object({
    path: TEXT,
    hash: HASH,
    revision: REVISION,
    deleted: { ...FLAG, description: "A tombstone: it was there, and was removed." },
    author: TEXT,
    at: TEXT,
  }),
  ListAnswer: object({
    id: {
      ...TEXT,
      description: "Which repository this is: what a client noted about another one does not count here.",
    },
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
