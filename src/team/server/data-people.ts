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
  type Transaction,
  writeAudit,
} from "./data-base.ts";
import { addToken } from "./data-tokens.ts";
import type { Row } from "./database.ts";
import type { StoredCounts, TeamData } from "./team-data.ts";

export function openPeople(base: Base) {
  return {
    teams: () =>
      base.run(null, async ({ sql }) =>
        (await sql<{ team: string }>("select team from memdir_team order by team")).map(({ team }) => team),
      ),

    createTeam: (team, admin) => base.run(operatorOf(team), (tx) => createTeam(tx, team, admin)),

    counts: () =>
      base.run(null, async ({ sql }) => {
        const [row = {}] = await sql(
          `select (select count(*) from memdir_team)::text as teams, count(*)::text as repositories,
             coalesce(sum(memories), 0)::text as memories, coalesce(sum(bytes), 0)::text as bytes from memdir_repository`,
        );
        return Object.fromEntries(
          Object.entries(row).map(([key, value]) => [key, Number(value)]),
        ) as unknown as StoredCounts;
      }),

    roleOf: (caller, repository) =>
      base.run(caller, async (tx) => (await readRepository(tx, repository))?.role ?? null),

    teamRoleOf: (caller) => base.run(caller, readTeamRole),

    people: (caller) => base.run(caller, listPeople),

    addPerson: (caller, name, role) =>
      base.run(caller, async (tx) => {
        if (!(await isTeamAdmin(tx))) return null;
        const id = await insertPerson(tx, name, role);
        if (id === null) return null;
        await writeAudit(tx, { action: "admin:add-person", outcome: `done: ${name} as ${role ?? "no role"}` });
        return { id, name, role, repositories: [] };
      }),

    setRole: (caller, person, repository, role) => base.run(caller, (tx) => setRole(tx, person, repository, role)),

    repositories: (caller) => base.run(caller, listRepositories),

    addRepository: (caller, name) =>
      base.run(caller, async (tx) => {
        refuseName("a repository", name, findPlainNameProblem(name));
        if (!(await isTeamAdmin(tx))) return null;
        const added = await tx.sql(
          "insert into memdir_repository (team, name, id) values ($1, $2, $3) on conflict do nothing returning name",
          [caller.team, name, tx.newId()],
        );
        if (added.length === 0) return null;
        await writeAudit(tx, { action: "admin:add-repository", repository: name, outcome: "done" });
        return { name, memories: 0, bytes: 0, role: "admin" };
      }),
  } satisfies Partial<TeamData>;
}

async function createTeam(tx: Transaction, team: string, name: string): Promise<{ token: string }> {
  refuseName("a team", team, findPlainNameProblem(team));
  const added = await tx.sql(
    "insert into memdir_team (team, created) values ($1, $2::timestamptz) on conflict do nothing returning team",
    [team, tx.now().toISOString()],
  );
  if (added.length === 0)
    throw new MemdirError("conflict", `there is a team ${team} already: issue a token for one of its people instead`);
  await insertPerson(tx, name, "admin");
  await writeAudit(tx, { action: "admin:create-team", outcome: `done: ${name} as admin` });
  const made = await addToken(tx, name, { label: "first", days: null });
  if (!made) throw new MemdirError("conflict", `the token of ${name} could not be made: try again`);
  return { token: made.token };
}

/** The new id; null where there is such a person. */
async function insertPerson(
  { sql, caller, newId }: Transaction,
  name: string,
  role: Role | null,
): Promise<string | null> {
  refuseName("a person", name, findPersonProblem(name));
  const [row] = await sql<{ id: string }>(
    "insert into memdir_person (team, id, name, role) values ($1, $2, $3, $4) on conflict do nothing returning id",
    [caller.team, newId(), name, role],
  );
  return row?.id ?? null;
}

/** Admins see every person, others only themselves. */
async function listPeople(tx: Transaction): Promise<PersonRow[]> {
  const { sql, caller } = tx;
  const values = [caller.team, await isTeamAdmin(tx), caller.personId];
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
async function setRole(tx: Transaction, name: string, repository: string | null, role: Role | null): Promise<boolean> {
  const { sql, caller } = tx;
  const own = repository === null ? readTeamRole(tx) : readRepository(tx, repository).then((found) => found?.role);
  if (!covers((await own) ?? null, "admin")) return false;
  const [person] = await sql("select id, name from memdir_person where team = $1 and lower(name) = lower($2)", [
    caller.team,
    name,
  ]);
  if (!person) return false;
  const key = [caller.team, person.id, repository];
  if (repository === null) await setTeamRole(tx, person, role);
  else if (role === null)
    await sql("delete from memdir_right where team = $1 and person_id = $2 and repository = $3", key);
  else
    await sql(
      `insert into memdir_right (team, person_id, repository, role) values ($1, $2, $3, $4)
       on conflict (team, person_id, repository) do update set role = excluded.role`,
      [...key, role],
    );
  const outcome = `done: ${person.name} as ${role ?? "no role"}`;
  await writeAudit(tx, { action: "admin:set-role", repository, outcome });
  return true;
}

async function setTeamRole({ sql, caller: { team } }: Transaction, person: Row, role: Role | null): Promise<void> {
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
