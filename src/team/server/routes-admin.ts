/** Routes of a team's admins: people, roles, tokens, repositories, the audit log, redaction. */

import * as v from "valibot";
import * as protocol from "../protocol.ts";
import { type Answer, notFound, type Refusal, refuse, refuseRole, route } from "./route.ts";

const TEAM = "/v1/teams/:team";
const ADMIN = { to: "team", role: "admin" } as const;
const MEMBER = { to: "member" } as const;
const DONE_REPLY = [200, "Done.", protocol.DoneAnswer] as const;
const THERE = { 409: "It already exists." };
const NAMESAKE = "a person in the team already has this name: choose another";
const SAME_REPOSITORY = "a repository with this name already exists: use it, or choose another name";

export const ADMIN_ROUTES = [
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
    others: { 409: "They are the team's last admin." },
    answer: ({ data }, { caller, params: { person = "" } }) =>
      finish(data.removePerson(caller, person), notFound("person")),
  }),
  route(`POST ${TEAM}/people`, {
    access: ADMIN,
    action: "admin:add-person",
    summary: "Adds a person to the team; their token is made separately",
    body: protocol.PersonRequest,
    reply: [201, "Added.", protocol.PersonRow],
    others: THERE,
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
    others: { 403: "The caller's role does not allow it.", 409: "They are the team's last admin." },
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
    others: THERE,
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
