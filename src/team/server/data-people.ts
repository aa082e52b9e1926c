/** Teams, the people in them, their rights, and the repositories these rights are about. */

import { MemdirError } from "../../errors.ts";
import { covers, findPersonProblem, findPlainNameProblem, type PersonRow, type Role } from "../protocol.ts";
import {
  type Base,
  isTeamAdmin,
  listRepositories,
  operatorOf,
  readRepository,
  readTeamRole,
  writeAudit,
} from "./data-base.ts";
import { addToken } from "./data-tokens.ts";
import type { Row, Sql } from "./database.ts";
import type { Caller, TeamData } from "./team-data.ts";

type Verbs = Pick<
  TeamData,
  | "teams"
  | "createTeam"
  | "counts"
  | "roleOf"
  | "teamRoleOf"
  | "people"
  | "addPerson"
  | "setRole"
  | "repositories"
  | "addRepository"
>;

export function openPeople(base: Base): Verbs {
  return {
    teams: () =>
      base.run(null, async (sql) =>
        (await sql<{ team: string }>("select team from memdir_team order by team")).map(({ team }) => team),
      ),

    createTeam: (team, admin) => createTeam(base, team, admin),

    counts: () =>
      base.run(null, async (sql) => {
        const [row] = await sql(
          `select (select count(*) from memdir_team)::text as teams, count(*)::text as repositories,
             coalesce(sum(memories), 0)::text as memories, coalesce(sum(bytes), 0)::text as bytes from memdir_repository`,
        );
        return {
          teams: Number(row?.teams),
          repositories: Number(row?.repositories),
          memories: Number(row?.memories),
          bytes: Number(row?.bytes),
        };
      }),

    roleOf: (caller, repository) =>
      base.run(caller.team, async (sql) => (await readRepository(sql, caller, repository))?.role ?? null),

    teamRoleOf: (caller) => base.run(caller.team, (sql) => readTeamRole(sql, caller)),

    people: (caller) => base.run(caller.team, (sql) => listPeople(sql, caller)),

    addPerson: (caller, name, role) =>
      base.run(caller.team, async (sql) => {
        refuseName("a person", name, findPersonProblem(name));
        if (!(await isTeamAdmin(sql, caller))) return null;
        const id = base.newId();
        const added = await insertPerson(sql, caller.team, id, name, role);
        if (!added) return null;
        await writeAudit(base, sql, caller, {
          action: "admin:add-person",
          outcome: `done: ${name} as ${role ?? "nobody"}`,
        });
        return { id, name, role, repositories: [] };
      }),

    setRole: (caller, person, repository, role) =>
      base.run(caller.team, (sql) => setRole(base, sql, caller, person, repository, role)),

    repositories: (caller) => base.run(caller.team, (sql) => listRepositories(sql, caller)),

    addRepository: (caller, name) =>
      base.run(caller.team, async (sql) => {
        refuseName("a repository", name, findPlainNameProblem(name));
        if (!(await isTeamAdmin(sql, caller))) return null;
        const added = await sql(
          "insert into memdir_repository (team, name, id) values ($1, $2, $3) on conflict do nothing returning name",
          [caller.team, name, base.newId()],
        );
        if (added.length === 0) return null;
        await writeAudit(base, sql, caller, { action: "admin:add-repository", repository: name, outcome: "done" });
        return { name, memories: 0, bytes: 0, role: "admin" };
      }),
  };
}

async function createTeam(base: Base, team: string, name: string): Promise<{ token: string }> {
  refuseName("a team", team, findPlainNameProblem(team));
  refuseName("a person", name, findPersonProblem(name));
  return base.run(team, async (sql) => {
    const added = await sql(
      "insert into memdir_team (team, created) values ($1, $2::timestamptz) on conflict do nothing returning team",
      [team, base.now().toISOString()],
    );
    if (added.length === 0)
      throw new MemdirError("conflict", `there is a team ${team} already: issue a token for one of its people instead`);
    await insertPerson(sql, team, base.newId(), name, "admin");
    const operator = operatorOf(team);
    await writeAudit(base, sql, operator, { action: "admin:create-team", outcome: `done: ${name} as admin` });
    const made = await addToken(base, sql, operator, name, { label: "first", days: null });
    if (!made) throw new MemdirError("conflict", `the token of ${name} could not be made: try again`);
    return { token: made.token };
  });
}

async function insertPerson(sql: Sql, team: string, id: string, name: string, role: Role | null): Promise<boolean> {
  const rows = await sql(
    "insert into memdir_person (team, id, name, role) values ($1, $2, $3, $4) on conflict do nothing returning id",
    [team, id, name, role],
  );
  return rows.length > 0;
}

/** Admins see everybody, others themselves. */
async function listPeople(sql: Sql, caller: Caller): Promise<PersonRow[]> {
  const values = [caller.team, await isTeamAdmin(sql, caller), caller.personId];
  const people = await sql<Omit<PersonRow, "repositories">>(
    "select id, name, role from memdir_person where team = $1 and ($2 or id = $3) order by lower(name), id",
    values,
  );
  const rights = await sql<{ person_id: string; repository: string; role: Role }>(
    "select person_id, repository, role from memdir_right where team = $1 and ($2 or person_id = $3) order by repository",
    values,
  );
  return people.map((person) => ({
    ...person,
    repositories: rights
      .filter(({ person_id }) => person_id === person.id)
      .map(({ repository, role }) => ({ repository, role })),
  }));
}

/** For the whole team by its admins, for one repository by that one's admins as well. */
async function setRole(
  base: Base,
  sql: Sql,
  caller: Caller,
  name: string,
  repository: string | null,
  role: Role | null,
): Promise<boolean> {
  const allowed =
    repository === null
      ? await isTeamAdmin(sql, caller)
      : covers((await readRepository(sql, caller, repository))?.role ?? null, "admin");
  if (!allowed) return false;
  const [person] = await sql("select id, name from memdir_person where team = $1 and lower(name) = lower($2)", [
    caller.team,
    name,
  ]);
  if (!person) return false;
  if (repository === null) await setTeamRole(sql, caller.team, person, role);
  else if (role === null)
    await sql("delete from memdir_right where team = $1 and person_id = $2 and repository = $3", [
      caller.team,
      person.id,
      repository,
    ]);
  else
    await sql(
      `insert into memdir_right (team, person_id, repository, role) values ($1, $2, $3, $4)
       on conflict (team, person_id, repository) do update set role = excluded.role`,
      [caller.team, person.id, repository, role],
    );
  await writeAudit(base, sql, caller, {
    action: "admin:set-role",
    repository,
    outcome: `done: ${person.name} as ${role ?? "nobody"}`,
  });
  return true;
}

async function setTeamRole(sql: Sql, team: string, person: Row, role: Role | null): Promise<void> {
  // Locked in one order, so that two admins cannot take each other's right away at the same time.
  const admins = await sql(
    "select id from memdir_person where team = $1 and role = 'admin' order by id for no key update",
    [team],
  );
  if (role !== "admin" && admins.length === 1 && admins[0]?.id === person.id)
    throw new MemdirError("conflict", `${person.name} is the last admin of ${team}: make another person admin first`);
  await sql("update memdir_person set role = $3 where team = $1 and id = $2", [team, person.id, role]);
}

function refuseName(what: string, name: string, problem: string | null): void {
  if (problem) throw new MemdirError("usage", `${what} cannot be called ${JSON.stringify(name)}: ${problem}`);
}
