/** Routes of a team's admins: people, roles, tokens, repositories, the audit log, redaction. */

import type { DoneAnswer, PeopleAnswer, TokenAnswer, TokensAnswer } from "../protocol.ts";
import { findEntryProblem } from "../remote.ts";
import { readObject } from "./request.ts";
import {
  type Answer,
  type Asked,
  malformed,
  notFound,
  type Route,
  refuse,
  refuseRole,
  type TeamServer,
} from "./route.ts";
import { covers, findPersonProblem, findPlainNameProblem, isRole, ROLES } from "./team-data.ts";

const TEAM = "/v1/teams/:team";
const ADMIN = { to: "team", role: "admin" } as const;
const DONE: DoneAnswer = { done: true };
const DONE_ANSWER = { text: "Done.", schema: "DoneAnswer" };
const THERE = { text: "It is there already.", schema: "ProblemAnswer" };

/** Longer ones are rotated by hand; ten years stand for "never" where a policy wants a number. */
const MAX_DAYS = 3650;
const MAX_LABEL = 100;

export const ADMIN_ROUTES: readonly Route[] = [
  {
    method: "GET",
    path: `${TEAM}/people`,
    access: ADMIN,
    action: "admin:people",
    description: {
      summary: "Everybody in the team with their roles",
      answers: { 200: { text: "The people.", schema: "PeopleAnswer" } },
    },
    async answer({ data }, { caller }) {
      const body: PeopleAnswer = { people: await data.people(caller) };
      return { status: 200, body };
    },
  },
  {
    method: "POST",
    path: `${TEAM}/people`,
    access: ADMIN,
    action: "admin:add-person",
    description: {
      summary: "Adds a person to the team; their token is made separately",
      request: "PersonRequest",
      answers: { 201: { text: "Added.", schema: "PersonRow" }, 409: THERE },
    },
    answer: addPerson,
  },
  {
    method: "PUT",
    path: `${TEAM}/people/:person/role`,
    // Of the team or of the repository that the body names: the route itself looks.
    access: { to: "member" },
    action: "admin:set-role",
    description: {
      summary: "Gives a role in the whole team or in one repository, or takes it away; for admins there",
      request: "RoleRequest",
      answers: {
        200: DONE_ANSWER,
        403: { text: "The role is too low.", schema: "ProblemAnswer" },
        409: { text: "They are the team's last admin.", schema: "ProblemAnswer" },
      },
    },
    answer: setRole,
  },
  {
    method: "GET",
    path: `${TEAM}/tokens`,
    access: { to: "member" },
    action: "admin:tokens",
    description: {
      summary: "The caller's tokens, for an admin all of the team's; without the tokens themselves",
      answers: { 200: { text: "The tokens.", schema: "TokensAnswer" } },
    },
    async answer({ data }, { caller }) {
      const body: TokensAnswer = { tokens: await data.tokens(caller) };
      return { status: 200, body };
    },
  },
  {
    method: "POST",
    path: `${TEAM}/tokens`,
    access: ADMIN,
    action: "admin:add-token",
    description: {
      summary: "Makes a token for a person; it is in this answer and can never be seen again",
      request: "TokenRequest",
      answers: { 201: { text: "The token.", schema: "TokenAnswer" } },
    },
    answer: addToken,
  },
  {
    method: "DELETE",
    path: `${TEAM}/tokens/:id`,
    access: { to: "member" },
    action: "admin:revoke-token",
    description: {
      summary: "Revokes a token at once: one's own, for an admin any of the team's",
      answers: { 200: DONE_ANSWER },
    },
    async answer({ data }, { caller, params }) {
      const id = params.id ?? "";
      const revoked = /^[\w-]{1,64}$/.test(id) && (await data.revokeToken(caller, id));
      if (!revoked) throw notFound("token");
      return { status: 200, body: DONE };
    },
  },
  {
    method: "POST",
    path: `${TEAM}/repositories`,
    access: ADMIN,
    action: "admin:add-repository",
    description: {
      summary: "Makes a repository that memories can be shared in",
      request: "RepositoryRequest",
      answers: { 201: { text: "Made.", schema: "RepositoryAnswer" }, 409: THERE },
    },
    answer: addRepository,
  },
  {
    method: "GET",
    path: `${TEAM}/audit`,
    access: ADMIN,
    action: "admin:audit",
    description: {
      summary: "Who read and wrote what, newest first",
      query: {
        before: { text: "The `at` of the last row of the page before." },
        limit: { text: "How many rows, from 1 to 1000; 100 by default." },
      },
      answers: { 200: { text: "The rows.", schema: "AuditAnswer" } },
    },
    answer: readAudit,
  },
  {
    method: "POST",
    path: `${TEAM}/repositories/:repository/redact`,
    access: { to: "repository", role: "admin" },
    action: "redact",
    description: {
      summary: "Removes the text of one version for good; a current one leaves a tombstone",
      request: "RedactRequest",
      answers: { 200: DONE_ANSWER },
    },
    answer: redact,
  },
];

async function addPerson({ data, limits }: TeamServer, asked: Asked): Promise<Answer> {
  const { name, role = null } = await readObject(asked, limits.memory.requestBytes);
  if (typeof name !== "string") throw malformed("`name` is missing");
  const problem = findPersonProblem(name);
  if (problem) throw malformed(`the name cannot be used: ${problem}`);
  if (role !== null && !isRole(role)) throw malformed(WHICH_ROLE);
  const body = await data.addPerson(asked.caller, name, role);
  if (!body) throw refuse(409, "exists", "a person in the team has this name: choose another");
  return { status: 201, body };
}

async function setRole({ data, limits }: TeamServer, asked: Asked): Promise<Answer> {
  const { caller, params } = asked;
  const { repository = null, role } = await readObject(asked, limits.memory.requestBytes);
  const person = params.person ?? "";
  if (role !== null && !isRole(role)) throw malformed(WHICH_ROLE);
  if (repository !== null && typeof repository !== "string") throw malformed("`repository` must be a name or null");
  if (findPersonProblem(person) || (repository !== null && findPlainNameProblem(repository))) {
    throw notFound("person or repository");
  }
  const own = await (repository === null ? data.teamRoleOf(caller) : data.roleOf(caller, repository));
  if (!covers(own, "admin")) {
    await data.audit(caller, [{ action: "admin:set-role", repository: own && repository, outcome: "denied" }]);
    if (repository !== null && own === null) throw notFound("person or repository");
    throw refuseRole({ to: repository === null ? "team" : "repository", role: "admin" });
  }
  if (!(await data.setRole(caller, person, repository, role))) throw notFound("person or repository");
  return { status: 200, body: DONE };
}

async function addToken({ data, limits }: TeamServer, asked: Asked): Promise<Answer> {
  const { person, label = "", days = null } = await readObject(asked, limits.memory.requestBytes);
  if (typeof person !== "string") throw malformed("`person` is missing");
  if (typeof label !== "string" || (label !== "" && findPersonProblem(label))) {
    throw malformed(`\`label\` must be at most ${MAX_LABEL} characters that can be shown`);
  }
  const isDays = days === null || (Number.isInteger(days) && (days as number) >= 1 && (days as number) <= MAX_DAYS);
  if (!isDays) throw malformed(`\`days\` must be a whole number from 1 to ${MAX_DAYS}, or null`);
  if (findPersonProblem(person)) throw notFound("person");
  const body: TokenAnswer | null = await data.addToken(asked.caller, person, { label, days: days as number | null });
  if (!body) throw notFound("person");
  return { status: 201, body };
}

async function addRepository({ data, limits }: TeamServer, asked: Asked): Promise<Answer> {
  const { name } = await readObject(asked, limits.memory.requestBytes);
  if (typeof name !== "string") throw malformed("`name` is missing");
  const problem = findPlainNameProblem(name);
  if (problem) throw malformed(`the name cannot be used: ${problem}`);
  const body = await data.addRepository(asked.caller, name);
  if (!body) throw refuse(409, "exists", "there is a repository of this name: use it, or choose another name");
  return { status: 201, body };
}

async function readAudit({ data }: TeamServer, { caller, query }: Asked): Promise<Answer> {
  const before = query.get("before");
  const limit = query.get("limit") ?? "100";
  if (before !== null && !/^\d{4}-\d\d-\d\dT[\d:.]{8,20}Z$/.test(before)) {
    throw malformed("`before` must be the `at` of a row");
  }
  if (!/^\d{1,4}$/.test(limit) || Number(limit) < 1 || Number(limit) > 1000) {
    throw malformed("`limit` must be a number from 1 to 1000");
  }
  return { status: 200, body: { rows: await data.readAudit(caller, { before, limit: Number(limit) }) } };
}

async function redact({ data, limits }: TeamServer, asked: Asked): Promise<Answer> {
  const { path, revision } = await readObject(asked, limits.memory.requestBytes);
  if (typeof path !== "string" || typeof revision !== "string") throw malformed("`path` and `revision` are needed");
  if (findEntryProblem(path) || !/^[\x21\x23-\x7e]{1,200}$/.test(revision)) throw notFound("version");
  if (!(await data.redact(asked.caller, asked.repository, path, revision))) throw notFound("version");
  return { status: 200, body: DONE };
}

const WHICH_ROLE = `\`role\` must be one of ${ROLES.join(", ")}, or null for none`;
