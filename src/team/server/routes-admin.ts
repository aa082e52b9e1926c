/** Routes of a team's admins: people, roles, tokens, repositories, the audit log, redaction. */

import * as v from "valibot";
import * as protocol from "../protocol.ts";
import { type Answer, type Asked, notFound, refuse, refuseRole, route, type TeamServer } from "./route.ts";

const TEAM = "/v1/teams/:team";
const ADMIN = { to: "team", role: "admin" } as const;
const MEMBER = { to: "member" } as const;
const DONE: Answer<protocol.DoneAnswer> = { body: { done: true } };
const DONE_REPLY = [200, "Done.", protocol.DoneAnswer] as const;
const THERE = { 409: "It already exists." };

export const ADMIN_ROUTES = [
  route(`GET ${TEAM}/people`, {
    access: ADMIN,
    action: "admin:people",
    summary: "Everybody in the team with their roles",
    reply: [200, "The people.", protocol.PeopleAnswer],
    async answer({ data }, { caller }) {
      const people = await data.people(caller);
      await data.audit(caller, [{ action: "admin:people", outcome: "ok" }]);
      return { body: { people } };
    },
  }),
  route(`DELETE ${TEAM}/people/:person`, {
    access: ADMIN,
    action: "admin:remove-person",
    summary:
      "Ends everything that a person can do: roles, rights in repositories and tokens; their name stays in the history",
    reply: DONE_REPLY,
    others: { 409: "They are the team's last admin." },
    async answer({ data }, { caller, params: { person = "" } }) {
      if (!(await data.removePerson(caller, person))) throw notFound("person");
      return DONE;
    },
  }),
  route(`POST ${TEAM}/people`, {
    access: ADMIN,
    action: "admin:add-person",
    summary: "Adds a person to the team; their token is made separately",
    body: protocol.PersonRequest,
    reply: [201, "Added.", protocol.PersonRow],
    others: THERE,
    async answer({ data }, { caller, body: { name, role } }) {
      const body = await data.addPerson(caller, name, role);
      if (!body) throw refuse(409, "exists", "a person in the team already has this name: choose another");
      return { body };
    },
  }),
  route(`PUT ${TEAM}/people/:person/role`, {
    // Of the team or of the repository that the body names: the route itself looks.
    access: MEMBER,
    action: "admin:set-role",
    summary: "Gives a role in the whole team or in one repository, or takes it away; for admins there",
    body: protocol.RoleRequest,
    reply: DONE_REPLY,
    others: { 403: "The caller's role does not allow it.", 409: "They are the team's last admin." },
    answer: setRole,
  }),
  route(`GET ${TEAM}/tokens`, {
    access: MEMBER,
    action: "admin:tokens",
    summary: "The caller's tokens, for an admin all of the team's; without the tokens themselves",
    reply: [200, "The tokens.", protocol.TokensAnswer],
    async answer({ data }, { caller }) {
      const tokens = await data.tokens(caller);
      await data.audit(caller, [{ action: "admin:tokens", outcome: "ok" }]);
      return { body: { tokens } };
    },
  }),
  route(`POST ${TEAM}/tokens`, {
    access: ADMIN,
    action: "admin:add-token",
    summary: "Makes a token for a person; it is in this answer and can never be seen again",
    body: protocol.TokenRequest,
    reply: [201, "The token.", protocol.TokenAnswer],
    async answer({ data }, { caller, body: { person, ...options } }) {
      const body = await data.addToken(caller, person, options);
      if (!body) throw notFound("person");
      return { body };
    },
  }),
  route(`DELETE ${TEAM}/tokens/:id`, {
    access: MEMBER,
    action: "admin:revoke-token",
    summary: "Revokes a token at once: one's own, for an admin any of the team's",
    reply: DONE_REPLY,
    async answer({ data }, { caller, params: { id = "" } }) {
      const revoked = /^[\w-]{1,64}$/.test(id) && (await data.revokeToken(caller, id));
      if (!revoked) throw notFound("token");
      return DONE;
    },
  }),
  route(`POST ${TEAM}/repositories`, {
    access: ADMIN,
    action: "admin:add-repository",
    summary: "Makes a repository that memories can be shared in",
    body: protocol.RepositoryRequest,
    reply: [201, "Made.", protocol.RepositoryAnswer],
    others: THERE,
    async answer({ data }, { caller, body: { name } }) {
      const body = await data.addRepository(caller, name);
      if (!body)
        throw refuse(409, "exists", "a repository with this name already exists: use it, or choose another name");
      return { body };
    },
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
    async answer({ data }, { caller, query: { before = null, limit } }) {
      const rows = await data.readAudit(caller, { before, limit });
      await data.audit(caller, [{ action: "admin:audit", outcome: "ok" }]);
      return { body: { rows } };
    },
  }),
  route(`POST ${TEAM}/repositories/:repository/redact`, {
    access: { to: "repository", role: "admin" },
    action: "redact",
    summary: "Removes the text of one version for good; a current one leaves a tombstone",
    body: protocol.RedactRequest,
    reply: DONE_REPLY,
    async answer({ data, limits }, { caller, repository, body: { path, revision } }) {
      const isPath = !protocol.findEntryProblem(path);
      const done = isPath && (await data.redact(caller, repository, path, revision, limits.memory));
      if (!done) throw notFound("version");
      return DONE;
    },
  }),
];

async function setRole(
  { data }: TeamServer,
  { caller, params: { person = "" }, body: { repository, role } }: Asked<unknown, protocol.RoleRequest>,
): Promise<Answer<protocol.DoneAnswer>> {
  const own = await (repository === null ? data.teamRoleOf(caller) : data.roleOf(caller, repository));
  if (!protocol.covers(own, "admin")) {
    await data.audit(caller, [{ action: "admin:set-role", repository: own && repository, outcome: "denied" }]);
    if (repository !== null && own === null) throw notFound("person or repository");
    throw refuseRole({ to: repository === null ? "team" : "repository", role: "admin" });
  }
  if (!(await data.setRole(caller, person, repository, role))) throw notFound("person or repository");
  return DONE;
}
