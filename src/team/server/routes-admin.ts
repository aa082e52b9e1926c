/** Routes of a team's admins: people, roles, tokens, repositories, the audit log, redaction. */

import { findEntryProblem } from "../entry-path.ts";
import type { DoneAnswer, PeopleAnswer, TokenAnswer, TokensAnswer } from "../protocol-admin.ts";
import { type Answer, notFound, refuse } from "./answer.ts";
import { covers, isRole, ROLES } from "./auth.ts";
import { readObject } from "./body.ts";
import { refuseRole } from "./guard.ts";
import { findPersonProblem, findPlainNameProblem } from "./name-form.ts";
import type { Asked, Route, ServerWorld } from "./route.ts";

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
      summary: "Takes somebody into the team; a token is made for them apart",
      request: "PersonRequest",
      answers: { 201: { text: "Taken in.", schema: "PersonRow" }, 409: THERE },
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
      summary: "Makes a token for somebody; it is in this answer and can never be seen again",
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
      return revoked ? { status: 200, body: DONE } : notFound("token");
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
        limit: { text: "How many rows, from 1 to 1000; 100 unless told." },
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
      summary: "Takes the text of one version out for ever; a current one leaves a tombstone",
      request: "RedactRequest",
      answers: { 200: DONE_ANSWER },
    },
    answer: redact,
  },
];

async function addPerson({ data, limits }: ServerWorld, asked: Asked): Promise<Answer> {
  const read = await readObject(asked, limits.memory.requestBytes);
  if (read.refused) return read.refused;
  const { name, role = null } = read.value;
  if (typeof name !== "string") return malformed("`name` is missing");
  const problem = findPersonProblem(name);
  if (problem) return malformed(`the name cannot be used: ${problem}`);
  if (role !== null && !isRole(role)) return malformed(WHICH_ROLE);
  const body = await data.addPerson(asked.caller, name, role);
  return body ? { status: 201, body } : refuse(409, "exists", "somebody in the team has this name: choose another");
}

async function setRole({ data, limits }: ServerWorld, asked: Asked): Promise<Answer> {
  const { caller, params } = asked;
  const read = await readObject(asked, limits.memory.requestBytes);
  if (read.refused) return read.refused;
  const { repository = null, role } = read.value;
  const person = params.person ?? "";
  if (role !== null && !isRole(role)) return malformed(WHICH_ROLE);
  if (repository !== null && typeof repository !== "string") return malformed("`repository` must be a name or null");
  if (findPersonProblem(person) || (repository !== null && findPlainNameProblem(repository))) {
    return notFound("person or repository");
  }
  const own = await (repository === null ? data.teamRoleOf(caller) : data.roleOf(caller, repository));
  if (!covers(own, "admin")) {
    const seen = own === null ? null : repository;
    const denied = { action: "admin:set-role", repository: seen, path: null, revision: null, outcome: "denied" };
    await data.audit(caller, [denied]);
    if (repository !== null && own === null) return notFound("person or repository");
    return refuseRole({ to: repository === null ? "team" : "repository", role: "admin" });
  }
  const done = await data.setRole(caller, person, repository, role);
  return done ? { status: 200, body: DONE } : notFound("person or repository");
}

async function addToken({ data, limits }: ServerWorld, asked: Asked): Promise<Answer> {
  const read = await readObject(asked, limits.memory.requestBytes);
  if (read.refused) return read.refused;
  const { person, label = "", days = null } = read.value;
  if (typeof person !== "string") return malformed("`person` is missing");
  if (typeof label !== "string" || (label !== "" && findPersonProblem(label))) {
    return malformed(`\`label\` must be at most ${MAX_LABEL} characters that can be shown`);
  }
  const isDays = days === null || (Number.isInteger(days) && (days as number) >= 1 && (days as number) <= MAX_DAYS);
  if (!isDays) return malformed(`\`days\` must be a whole number from 1 to ${MAX_DAYS}, or null`);
  if (findPersonProblem(person)) return notFound("person");
  const made = await data.addToken(asked.caller, person, { label, days: days as number | null });
  if (!made) return notFound("person");
  const body: TokenAnswer = { id: made.id, token: made.token };
  return { status: 201, body };
}

async function addRepository({ data, limits }: ServerWorld, asked: Asked): Promise<Answer> {
  const read = await readObject(asked, limits.memory.requestBytes);
  if (read.refused) return read.refused;
  const { name } = read.value;
  if (typeof name !== "string") return malformed("`name` is missing");
  const problem = findPlainNameProblem(name);
  if (problem) return malformed(`the name cannot be used: ${problem}`);
  const made = await data.addRepository(asked.caller, name);
  if (!made) return refuse(409, "exists", "there is a repository of this name: use it, or choose another name");
  return { status: 201, body: { ...made, role: "admin" } };
}

async function readAudit({ data }: ServerWorld, { caller, query }: Asked): Promise<Answer> {
  const before = query.get("before");
  const limit = query.get("limit") ?? "100";
  if (before !== null && !/^\d{4}-\d\d-\d\dT[\d:.]{8,20}Z$/.test(before)) {
    return malformed("`before` must be the `at` of a row");
  }
  if (!/^\d{1,4}$/.test(limit) || Number(limit) < 1 || Number(limit) > 1000) {
    return malformed("`limit` must be a number from 1 to 1000");
  }
  return { status: 200, body: { rows: await data.readAudit(caller, { before, limit: Number(limit) }) } };
}

async function redact({ data, limits }: ServerWorld, asked: Asked): Promise<Answer> {
  const read = await readObject(asked, limits.memory.requestBytes);
  if (read.refused) return read.refused;
  const { path, revision } = read.value;
  if (typeof path !== "string" || typeof revision !== "string") return malformed("`path` and `revision` are needed");
  if (findEntryProblem(path) || !/^[\x21\x23-\x7e]{1,200}$/.test(revision)) return notFound("version");
  const done = await data.redact(asked.caller, asked.repository, path, revision);
  return done ? { status: 200, body: DONE } : notFound("version");
}

const WHICH_ROLE = `\`role\` must be one of ${ROLES.join(", ")}, or null for none`;

function malformed(problem: string): Answer {
  return refuse(400, "form", `${problem}; see /openapi.json for the form of this request`);
}
