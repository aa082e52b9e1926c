/** Teams, the people in them, their rights and the repositories these are about; and tokens, made once, kept as a hash, counted. */

import { MemdirError } from "../../errors.ts";
import { sha256 } from "../../text/hash.ts";
import {
  covers,
  findPersonProblem,
  findPlainNameProblem,
  type PersonRow,
  type RepositoryAnswer,
  type Role,
  readAs,
  TOKEN_DAYS,
  type TokenAnswer,
  TokenRequest,
  type TokenRow,
} from "../protocol.ts";
import {
  audit,
  type Call,
  type Caller,
  formState,
  iso,
  isTeamAdmin,
  operatorOf,
  roleOf,
  strongest,
  type Transaction,
  teamRoleOf,
} from "./data-base.ts";
import { formListed, type ListRow } from "./data-memories.ts";

export async function listTeams({ sql }: Transaction): Promise<string[]> {
  return (await sql<{ team: string }>("select team from memdir_team order by team")).map(({ team }) => team);
}

/** For the metrics: how many teams, repositories, memories there are; no names. */
export async function countAll({ sql }: Transaction) {
  const [row = {}] = await sql<Record<string, string>>(
    `select (select count(*) from memdir_team)::text as teams, count(*)::text as repositories,
       coalesce(sum(memories), 0)::text as memories, coalesce(sum(bytes), 0)::text as bytes from memdir_repository`,
  );
  const { teams, repositories, memories, bytes } = row;
  return {
    teams: Number(teams),
    repositories: Number(repositories),
    memories: Number(memories),
    bytes: Number(bytes),
  };
}

/** The caller's team with its first admin, and their token. */
export async function createTeam(tx: Transaction, name: string): Promise<{ token: string }> {
  const { team } = tx.caller;
  refuseName("a team", team, findPlainNameProblem(team));
  const added = await tx.sql(
    "insert into memdir_team (team, created) values ($1, $2::timestamptz) on conflict do nothing returning team",
    [team, tx.now().toISOString()],
  );
  if (added.length === 0)
    throw new MemdirError("conflict", `there is a team ${team} already: issue a token for one of its people instead`);
  await insertPerson(tx, name, "admin");
  await audit(tx, [{ action: "admin:create-team", outcome: `done: ${name} as admin` }]);
  const made = await issueToken(tx, name, { label: "first", days: TOKEN_DAYS });
  if (!made) throw new MemdirError("conflict", `the token of ${name} could not be made: try again`);
  return { token: made.token };
}

/** Null for a caller who may not, and where there is such a person. */
export async function addPerson(tx: Transaction, name: string, role: Role | null): Promise<PersonRow | null> {
  const id = (await isTeamAdmin(tx)) ? await insertPerson(tx, name, role) : null;
  if (id === null) return null;
  await audit(tx, [{ action: "admin:add-person", outcome: `done: ${name} as ${role ?? "no role"}` }]);
  return { id, name, role, repositories: [] };
}

export async function addRepository(tx: Transaction, name: string): Promise<RepositoryAnswer | null> {
  refuseName("a repository", name, findPlainNameProblem(name));
  if (!(await isTeamAdmin(tx))) return null;
  const added = await tx.sql(
    "insert into memdir_repository (team, name, id) values ($1, $2, $3) on conflict do nothing returning name",
    [tx.caller.team, name, tx.newId()],
  );
  if (added.length === 0) return null;
  await audit(tx, [{ action: "admin:add-repository", repository: name, outcome: "done" }]);
  return { name, memories: 0, bytes: 0, role: "admin" };
}

/** Admins see every person, others only themselves. */
export async function people(tx: Transaction): Promise<PersonRow[]> {
  const { sql, caller } = tx;
  return sql<PersonRow>(
    `select p.id, p.name, p.role, coalesce((
         select json_agg(json_build_object('repository', r.repository, 'role', r.role) order by r.repository)
         from memdir_right r where r.team = p.team and r.person_id = p.id), '[]') as repositories
     from memdir_person p where p.team = $1 and p.removed is null and ($2 or p.id = $3) order by lower(p.name), p.id limit 10000`,
    [caller.team, await isTeamAdmin(tx), caller.personId],
  );
}

/** For the whole team by its admins, for one repository by that one's admins as well. */
export async function setRole(
  tx: Transaction,
  name: string,
  repository: string | null,
  role: Role | null,
): Promise<boolean> {
  const { sql, caller } = tx;
  const own = await (repository === null ? teamRoleOf(tx) : roleOf(tx, repository));
  const person = covers(own, "admin") ? await findPerson(tx, name) : undefined;
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
  await audit(tx, [{ action: "admin:set-role", repository, outcome }]);
  return true;
}

/** Ends everything that a person can do: roles, rights, tokens. Their name stays in the history. */
export async function removePerson(tx: Transaction, name: string): Promise<boolean> {
  const person = (await isTeamAdmin(tx)) ? await findPerson(tx, name) : undefined;
  if (!person) return false;
  await endPerson(tx, person);
  await audit(tx, [{ action: "admin:remove-person", outcome: `done: ${person.name}` }]);
  return true;
}

async function endPerson(tx: Transaction, person: Person): Promise<void> {
  const { sql, caller } = tx;
  const at = tx.now().toISOString();
  await setTeamRole(tx, person, null);
  await sql("delete from memdir_right where team = $1 and person_id = $2", [caller.team, person.id]);
  await sql("update memdir_token set revoked = coalesce(revoked, $3::timestamptz) where team = $1 and person_id = $2", [
    caller.team,
    person.id,
    at,
  ]);
  await sql("update memdir_person set removed = $3::timestamptz where team = $1 and id = $2", [
    caller.team,
    person.id,
    at,
  ]);
}

/** Who an identity provider says that somebody is. `roles` is all that they may do: "" is the whole team, any other a repository. */
export interface Identity {
  /** Issuer and subject: names change, this does not. */
  subject: string;
  name: string;
  roles: ReadonlyMap<string, Role>;
  hours: number;
}

/** Takes a person in or brings their roles up to date, and makes a token that ends soon. Null for who has no role any more: that ends what they had. */
export async function signIn(tx: Transaction, { subject, name, roles, hours }: Identity): Promise<TokenAnswer | null> {
  const { sql, caller } = tx;
  const { team } = caller;
  const [known] = await sql<Person & { removed: boolean }>(
    "select id, name, removed is not null as removed from memdir_person where team = $1 and subject = $2 for no key update",
    [team, subject],
  );
  if (roles.size === 0) {
    if (known && !known.removed) {
      await endPerson(tx, known);
      await audit(tx, [{ action: "admin:remove-person", outcome: `done: ${known.name}, who is in no group any more` }]);
    }
    return null;
  }
  const person = known ?? (await insertSubject(tx, name, subject));
  if (known?.removed)
    await sql("update memdir_person set removed = null where team = $1 and id = $2", [team, known.id]);
  await setTeamRole(tx, person, roles.get("") ?? null);
  await sql("delete from memdir_right where team = $1 and person_id = $2", [team, person.id]);
  await sql(
    `insert into memdir_right (team, person_id, repository, role)
     select $1, $2, r.name, w.role from unnest($3::text[], $4::text[]) as w (repository, role)
     join memdir_repository r on r.team = $1 and r.name = w.repository`,
    [team, person.id, [...roles.keys()], [...roles.values()]],
  );
  const said = [...roles].map(([repository, role]) => `${role} in ${repository || "the team"}`).join(", ");
  await audit({ ...tx, caller: { ...caller, person: person.name } }, [
    { action: "enter", outcome: `signed in as ${said}` },
  ]);
  return makeToken(tx, person, { label: "sign-in", hours });
}

/** Names are for people and must differ: a namesake gets a number. Who is there without a subject is another person. */
async function insertSubject(tx: Transaction, wanted: string, subject: string): Promise<Person> {
  for (let number = 1; number < 100; number++) {
    const name = number === 1 ? wanted : `${wanted.slice(0, 90)} ${number}`;
    refuseName("a person", name, findPersonProblem(name));
    const [row] = await tx.sql<Person>(
      `insert into memdir_person (team, id, name, role, subject) values ($1, $2, $3, null, $4)
       on conflict (team, lower(name)) do nothing returning id, name`,
      [tx.caller.team, tx.newId(), name, subject],
    );
    if (row) return row;
  }
  throw new MemdirError("conflict", "too many people in the team have this name: remove some");
}

interface Person {
  id: string;
  name: string;
}

async function findPerson({ sql, caller }: Transaction, name: string): Promise<Person | undefined> {
  const key = [caller.team, name];
  return (
    await sql<Person>(
      "select id, name from memdir_person where team = $1 and removed is null and lower(name) = lower($2)",
      key,
    )
  )[0];
}

async function setTeamRole({ sql, caller: { team } }: Transaction, person: Person, role: Role | null): Promise<void> {
  // Locked in one order, so that two admins cannot take each other's right away at the same time.
  const admins = await sql(
    "select id from memdir_person where team = $1 and role = 'admin' order by id for no key update",
    [team],
  );
  if (role !== "admin" && admins.length === 1 && admins[0]?.id === person.id)
    throw new MemdirError("conflict", `${person.name} is the last admin of ${team}: make another person admin first`);
  await sql("update memdir_person set role = $3 where team = $1 and id = $2", [team, person.id, role]);
}

/** The new id; null where there is such a person. */
async function insertPerson({ sql, caller, newId }: Transaction, name: string, role: Role | null) {
  refuseName("a person", name, findPersonProblem(name));
  const [row] = await sql<{ id: string }>(
    `insert into memdir_person as p (team, id, name, role) values ($1, $2, $3, $4)
     on conflict (team, lower(name)) do update set role = excluded.role, removed = null where p.removed is not null returning id`,
    [caller.team, newId(), name, role],
  );
  return row?.id ?? null;
}

function refuseName(what: string, name: string, problem: string | null): void {
  if (problem) throw new MemdirError("usage", `${what} cannot be called ${JSON.stringify(name)}: ${problem}`);
}

/** 32 bytes cannot be guessed; the team in front lets the lookup run under the team's own row-level security. */
const SECRET_BYTES = 32;
const FORM = /^memdir_([A-Za-z0-9][A-Za-z0-9._-]{0,63})_[A-Za-z0-9_-]{43}$/;

/**
 * What every request asks, in one statement that writes nothing: who it is, their roles, and the `state` of the repository as
 * `listMemories` gives it, null where they may not read it. Null for an unknown, expired or revoked token. `turn` says with
 * whom it waits: with its team where it was valid before, with all strangers where it was not. With `since`, what changed after that
 * state comes along.
 */
export async function enter(
  call: Call,
  token: string,
  { repository, turn, since }: { repository: string | null; turn: Turn | null; since: string | null },
  now: Date,
) {
  const team = teamOfToken(token);
  if (team === null) return null;
  const asking: Caller = { ...operatorOf(""), ...turn };
  const [row] = await call<EnterRow>(asking, "select * from memdir_enter($1, $2, $3, $4::timestamptz, $5)", [
    team,
    sha256(token),
    repository,
    now.toISOString(),
    since,
  ]);
  if (!row) return null;
  const caller: Caller = { team, personId: row.person_id, person: row.person, tokenId: row.token_id };
  const role = row.id === null ? null : strongest(row.team_role, row.own_role);
  const listed = role && row.entries !== null ? formListed(team, repository ?? "", row as ListRow) : null;
  return { caller, teamRole: row.team_role, role, state: role && formState(row), listed };
}

export type Turn = Pick<Caller, "team" | "tokenId">;

interface EnterRow extends Record<"id" | "state" | "since", string | null> {
  entries: ListRow["entries"] | null;
  token_id: string;
  person_id: string;
  person: string;
  team_role: Role | null;
  own_role: Role | null;
}

/** The team that a token names, which says nothing about whether it is valid. */
export function teamOfToken(token: string): string | null {
  return FORM.exec(token)?.[1] ?? null;
}

/** The newest first; a team with more than fit into an answer has revoked most of them. */
export async function tokens(tx: Transaction): Promise<TokenRow[]> {
  const { team, personId } = tx.caller;
  return tx.sql<TokenRow>(
    `select t.id, p.name as person, t.label, ${iso("t.created", "created")}, ${iso("t.expires", "expires")},
       ${iso("t.revoked", "revoked")}, ${iso("t.last_used", "lastUsed")}
     from memdir_token t join memdir_person p on p.team = t.team and p.id = t.person_id
     where t.team = $1 and ($2 or t.person_id = $3) order by t.created desc, t.id limit 10000`,
    [team, await isTeamAdmin(tx), personId],
  );
}

/** Days null: it does not expire. */
export type TokenOptions = Omit<TokenRequest, "person">;

export async function addToken(tx: Transaction, person: string, options: TokenOptions): Promise<TokenAnswer | null> {
  return (await isTeamAdmin(tx)) ? issueToken(tx, person, options) : null;
}

/** Null when the team has no person of that name. */
export async function issueToken(tx: Transaction, person: string, options: TokenOptions): Promise<TokenAnswer | null> {
  const given = { person, ...options };
  const { label, days } = readAs(TokenRequest, given, (problem) => new MemdirError("usage", problem));
  const owner = await findPerson(tx, person);
  return owner ? makeToken(tx, owner, { label, hours: days === null ? null : days * 24 }) : null;
}

async function makeToken(
  tx: Transaction,
  owner: Person,
  { label, hours }: { label: string; hours: number | null },
): Promise<TokenAnswer> {
  const { caller, now } = tx;
  const id = tx.newId();
  const token = `memdir_${caller.team}_${Buffer.from(tx.randomBytes(SECRET_BYTES)).toString("base64url")}`;
  const expires = hours === null ? null : new Date(now().getTime() + hours * 3_600_000).toISOString();
  await tx.sql(
    `insert into memdir_token (team, id, person_id, label, hash, created, expires)
     values ($1, $2, $3, $4, $5, $6::timestamptz, $7::timestamptz)`,
    [caller.team, id, owner.id, label, sha256(token), now().toISOString(), expires],
  );
  await audit(tx, [{ action: "admin:add-token", outcome: `done: token ${id} for ${owner.name}` }]);
  return { id, token };
}

export async function revokeToken(tx: Transaction, id: string): Promise<boolean> {
  const { team, personId } = tx.caller;
  const rows = await tx.sql(
    `update memdir_token set revoked = coalesce(revoked, $3::timestamptz)
     where team = $1 and id = $2 and ($4 or person_id = $5) returning id`,
    [team, id, tx.now().toISOString(), await isTeamAdmin(tx), personId],
  );
  if (rows.length === 0) return false;
  await audit(tx, [{ action: "admin:revoke-token", outcome: `done: token ${id}` }]);
  return true;
}
