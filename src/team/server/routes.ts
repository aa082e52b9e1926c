/** All routes of the server; here those of the team for its members and its admins, and those for machines that watch the server. */

import * as v from "valibot";
import { termsOf } from "../../text/terms.ts";
import * as protocol from "../protocol.ts";
import { READ_ONLY, sqlStateOf } from "./database.ts";
import { makeOpenApi } from "./openapi.ts";
import {
  type Answer,
  notFound,
  type Refusal,
  type Route,
  refuse,
  refuseRate,
  refuseRole,
  route,
  type TeamServer,
} from "./route.ts";
import { MEMORY_ROUTES } from "./routes-memories.ts";

const TEAM = "/v1/teams/:team";
const OPEN = { to: "open" } as const;
const MEMBER = { to: "member" } as const;
/** SQLSTATE of a statement that ran into its time-out. */
const CANCELLED = "57014";
const TOO_LONG = "the search took too long and was stopped: use fewer or rarer words";
const QUERY = "it must have 1 to 1000 characters";

const TEAM_ROUTES = [
  route(`GET ${TEAM}`, {
    access: MEMBER,
    summary: "Who the caller is, which limits hold, and the repositories that they may read",
    reply: [200, "The team as the caller sees it.", protocol.TeamAnswer],
    async answer({ data, limits: { memory: limits } }, { caller }) {
      const [role, repositories] = await Promise.all([data.teamRoleOf(caller), data.repositories(caller)]);
      return { body: { team: caller.team, person: caller.person, role, limits, repositories } };
    },
  }),
  route(`GET ${TEAM}/search`, {
    access: MEMBER,
    action: "search",
    summary: "Memories of all repositories that the caller may read, best first",
    query: v.object({
      q: v.pipe(
        v.string(),
        v.description("The words to search for, at most 1000 characters."),
        v.trim(),
        v.minLength(1, QUERY),
        v.maxLength(1000, QUERY),
      ),
      limit: protocol.numberUpTo(50, 10),
    }),
    reply: [200, "The hits.", protocol.SearchAnswer],
    async answer({ data, embed }, { caller, query: { q, limit } }) {
      const vector = (await embed?.(q)) ?? null;
      const hits = await data.search(caller, { terms: termsOf(q), vector, limit }).catch((error) => {
        // Cut off for its time: other words may well be found.
        if (sqlStateOf(error) === CANCELLED) throw refuse(503, "search", TOO_LONG, { headers: { "retry-after": "5" } });
        throw error;
      });
      return { body: { hits } };
    },
  }),
];

/** Without a token: these make one. Each address has few of them. */
const LOGIN_ROUTES = [
  route(`POST ${TEAM}/login`, {
    access: OPEN,
    summary: "Begins to sign in with the identity provider of the server",
    reply: [200, "What the person opens and confirms.", protocol.LoginAnswer],
    async answer(server, { params: { team = "" }, address }) {
      slowDown(server, address);
      const body = await server.oidc?.start(team);
      if (!body) throw refuse(404, "not-found", "this team has no sign-in here: ask one of its admins for a token");
      return { body };
    },
  }),
  route(`POST ${TEAM}/login/finish`, {
    access: OPEN,
    summary: "The token of who has confirmed",
    body: protocol.LoginRequest,
    reply: [200, "The token, or `pending`.", protocol.LoginFinished],
    async answer(server, { params: { team = "" }, address, body: { handle } }) {
      slowDown(server, address);
      const identity = await server.oidc?.finish(team, handle);
      if (!identity) return { body: { pending: true } };
      const made = await server.data.signIn(team, identity);
      const message = "you are in no group that has a role in this team: ask one of its admins";
      if (!made) throw refuse(403, "role", message);
      return { body: { pending: false, token: made.token, hours: identity.hours } };
    },
  }),
];

function slowDown({ admission, limits }: TeamServer, address: string): void {
  const wait = admission.waitForAddress(address);
  if (wait > 0) throw refuseRate(limits.rate, wait);
}

/** Open to every client that reaches the server; they name no people. */
const STATUS_ROUTES = [
  route("GET /health", {
    access: OPEN,
    summary: "Whether the process runs",
    reply: [200, "It does.", protocol.HealthAnswer],
    answer: async ({ version }) => ({ body: { status: "ok", version } }),
  }),
  route("GET /ready", {
    access: OPEN,
    summary: "Whether the database answers and takes writes, and the server is not about to end",
    reply: [200, "It does.", protocol.HealthAnswer],
    async answer({ data, version, ending }) {
      if (ending.is) throw refuse(503, "ending", "the server is about to end: use another");
      await data.ping().catch((error) => {
        const { message, details } = error as { message: string; details?: { sqlState?: string } };
        const standby = "the database takes no writes: it is a standby, or being replaced";
        // Only messages of database.ts are sure to quote nothing.
        const why = details?.sqlState === undefined ? "the database is not answering" : message;
        throw refuse(503, "database", details?.sqlState === READ_ONLY ? standby : why);
      });
      return { body: { status: "ok", version } };
    },
  }),
  route("GET /metrics", {
    access: OPEN,
    summary: "Figures for Prometheus, without names of people, repositories or memories",
    reply: [200, "The figures.", "text/plain"],
    answer: async ({ metrics }) => ({
      body: await metrics.format(),
      headers: { "content-type": "text/plain; version=0.0.4; charset=utf-8" },
    }),
  }),
];

// --- Routes of a team's admins: people, roles, tokens, repositories, the audit log, redaction.

const ADMIN = { to: "team", role: "admin" } as const;
const DONE_REPLY = [200, "Done.", protocol.DoneAnswer] as const;
const NAMESAKE = "a person in the team already has this name: choose another";
const SAME_REPOSITORY = "a repository with this name already exists: use it, or choose another name";

const ADMIN_ROUTES = [
  route(`GET ${TEAM}/people`, {
    access: ADMIN,
    action: "admin:people",
    summary: "Everybody in the team with their roles",
    reply: [200, "The people.", protocol.PeopleAnswer],
    answer: async ({ data }, { caller }) => ({ body: { people: await data.people(caller) } }),
  }),
  route(`DELETE ${TEAM}/people/:person`, {
    access: ADMIN,
    action: "admin:remove-person",
    summary:
      "Ends everything that a person can do: roles, rights in repositories and tokens; their name stays in the history",
    reply: DONE_REPLY,
    answer: ({ data }, { caller, params: { person = "" } }) =>
      finish(data.removePerson(caller, person), notFound("person")),
  }),
  route(`POST ${TEAM}/people`, {
    access: ADMIN,
    action: "admin:add-person",
    summary: "Adds a person to the team; their token is made separately",
    body: protocol.PersonRequest,
    reply: [201, "Added.", protocol.PersonRow],
    answer: ({ data }, { caller, body: { name, role } }) =>
      orRefuse(data.addPerson(caller, name, role), refuse(409, "exists", NAMESAKE)),
  }),
  route(`PUT ${TEAM}/people/:person/role`, {
    // Of the team or of the repository that the body names: the route itself looks.
    access: MEMBER,
    action: "admin:set-role",
    summary: "Gives a role in the whole team or in one repository, or takes it away; for admins there",
    body: protocol.RoleRequest,
    reply: DONE_REPLY,
    async answer({ data }, { caller, params: { person = "" }, body: { repository, role } }) {
      const own = await (repository === null ? data.teamRoleOf(caller) : data.roleOf(caller, repository));
      if (!protocol.covers(own, "admin")) {
        await data.audit(caller, [{ action: "admin:set-role", repository: own && repository, outcome: "denied" }]);
        if (repository !== null && own === null) throw notFound("person or repository");
        throw refuseRole({ to: repository === null ? "team" : "repository", role: "admin" });
      }
      return finish(data.setRole(caller, person, repository, role), notFound("person or repository"));
    },
  }),
  route(`GET ${TEAM}/tokens`, {
    access: MEMBER,
    action: "admin:tokens",
    summary: "The caller's tokens, for an admin all of the team's; without the tokens themselves",
    reply: [200, "The tokens.", protocol.TokensAnswer],
    answer: async ({ data }, { caller }) => ({ body: { tokens: await data.tokens(caller) } }),
  }),
  route(`POST ${TEAM}/tokens`, {
    access: ADMIN,
    action: "admin:add-token",
    summary: "Makes a token for a person; it is in this answer and can never be seen again",
    body: protocol.TokenRequest,
    reply: [201, "The token.", protocol.TokenAnswer],
    answer: ({ data }, { caller, body: { person, ...options } }) =>
      orRefuse(data.addToken(caller, person, options), notFound("person")),
  }),
  route(`DELETE ${TEAM}/tokens/:id`, {
    access: MEMBER,
    action: "admin:revoke-token",
    summary: "Revokes a token at once: one's own, for an admin any of the team's",
    reply: DONE_REPLY,
    answer: ({ data }, { caller, params: { id = "" } }) =>
      finish(/^[\w-]{1,64}$/.test(id) && data.revokeToken(caller, id), notFound("token")),
  }),
  route(`POST ${TEAM}/repositories`, {
    access: ADMIN,
    action: "admin:add-repository",
    summary: "Makes a repository that memories can be shared in",
    body: protocol.RepositoryRequest,
    reply: [201, "Made.", protocol.RepositoryAnswer],
    answer: ({ data }, { caller, body: { name } }) =>
      orRefuse(data.addRepository(caller, name), refuse(409, "exists", SAME_REPOSITORY)),
  }),
  route(`GET ${TEAM}/audit`, {
    access: ADMIN,
    action: "admin:audit",
    summary: "Who read and wrote what, newest first",
    query: v.object({
      before: v.optional(
        v.pipe(
          v.string(),
          v.isoTimestamp("it must be the `at` of a row"),
          v.description("The `at` of the last row of the page before."),
        ),
      ),
      limit: protocol.numberUpTo(1000, 100),
    }),
    reply: [200, "The rows.", protocol.AuditAnswer],
    answer: async ({ data }, { caller, query: { before = null, limit } }) => ({
      body: { rows: await data.readAudit(caller, { before, limit }) },
    }),
  }),
  route(`POST ${TEAM}/repositories/:repository/redact`, {
    access: { to: "repository", role: "admin" },
    action: "redact",
    summary: "Removes the text of one version for good; a current one leaves a tombstone",
    body: protocol.RedactRequest,
    reply: DONE_REPLY,
    answer: ({ data, limits }, { caller, repository, body: { path, revision } }) =>
      finish(
        !protocol.findEntryProblem(path) && data.redact(caller, repository, path, revision, limits.memory),
        notFound("version"),
      ),
  }),
];

/** What was made, or the refusal where there is nothing. */
async function orRefuse<T>(made: Promise<T | null>, refusal: Refusal): Promise<Answer<T>> {
  const body = await made;
  if (body === null) throw refusal;
  return { body };
}

async function finish(did: Promise<boolean> | false, refusal: Refusal): Promise<Answer<protocol.DoneAnswer>> {
  if (!(await did)) throw refusal;
  return { body: { done: true } };
}

/** In the order in which they are described. */
export const ROUTES: readonly Route[] = [
  ...TEAM_ROUTES,
  ...LOGIN_ROUTES,
  ...MEMORY_ROUTES,
  ...ADMIN_ROUTES,
  ...STATUS_ROUTES,
  route("GET /openapi.json", {
    access: OPEN,
    summary: "This description",
    reply: [200, "An OpenAPI 3.1 document.", "application/json"],
    answer: async ({ version, limits }) => ({ body: makeOpenApi(ROUTES, { version, limits }) }),
  }),
];
