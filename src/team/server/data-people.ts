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
  type TokenAnswer,
  TokenRequest,
  type TokenRow,
} from "../protocol.ts";
import {
  audit,
  type Caller,
  formState,
  iso,
  isTeamAdmin,
  operatorOf,
  type Run,
  readRepository,
  roleOf,
  type Transaction,
  teamRoleOf,
} from "./data-base.ts";

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
  const made = await issueToken(tx, name, { label: "first", days: null });
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
     from memdir_person p where p.team = $1 and ($2 or p.id = $3) order by lower(p.name), p.id`,
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

interface Person {
  id: string;
  name: string;
}

async function findPerson({ sql, caller }: Transaction, name: string): Promise<Person | undefined> {
  const key = [caller.team, name];
  return (await sql<Person>("select id, name from memdir_person where team = $1 and lower(name) = lower($2)", key))[0];
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
    "insert into memdir_person (team, id, name, role) values ($1, $2, $3, $4) on conflict do nothing returning id",
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

/** Each request writing its time would make every read a write. */
const LAST_USE_MS = 60_000;

export interface RateLimit {
  requests: number;
  seconds: number;
}

/**
 * What every request asks, in one transaction: who it is, whether their token has requests left in this window, their role,
 * and the `state` of the repository as `listMemories` gives it, null where they may not read it. Null for an unknown, expired
 * or revoked token. Requests are counted in the database, as processes hold no state; the last use is noted once a minute.
 */
export async function enter(run: Run, token: string, limit: RateLimit, repository: string | null) {
  const team = FORM.exec(token)?.[1];
  if (team === undefined) return null;
  return run(operatorOf(team), async (any) => {
    const caller = await findCaller(any, sha256(token));
    if (!caller) return null;
    const tx = { ...any, caller };
    const isAdmitted = await countRequest(tx, limit);
    const found = repository === null ? null : await readRepository(tx, repository);
    const teamRole = found ? (found.row.team_role as Role | null) : await teamRoleOf(tx);
    const role = found?.role ?? null;
    return { caller, isAdmitted, teamRole, role, state: found && role ? formState(found.row) : null };
  });
}

async function findCaller({ sql, caller: { team }, now: clock }: Transaction, hash: string): Promise<Caller | null> {
  const now = clock();
  const [row] = await sql<{ id: string; person_id: string; name: string; stale: boolean }>(
    `select t.id, t.person_id, p.name, t.last_used is null or t.last_used < $4::timestamptz as stale
     from memdir_token t join memdir_person p on p.team = t.team and p.id = t.person_id
     where t.team = $1 and t.hash = $2 and t.revoked is null and (t.expires is null or t.expires > $3::timestamptz)`,
    [team, hash, now.toISOString(), new Date(now.getTime() - LAST_USE_MS).toISOString()],
  );
  if (!row) return null;
  // Several requests at once: the first notes it, and the rest do not wait for its commit.
  if (row.stale)
    await sql(
      `update memdir_token set last_used = $3::timestamptz where team = $1 and id = (
         select id from memdir_token where team = $1 and id = $2 for no key update skip locked)`,
      [team, row.id, now.toISOString()],
    );
  return { team, personId: row.person_id, person: row.name, tokenId: row.id };
}

/** False when it is over the limit. Windows are fixed on the clock, so that all processes count in the same one. */
async function countRequest({ sql, caller, now }: Transaction, { requests, seconds }: RateLimit): Promise<boolean> {
  const since = Math.floor(now().getTime() / 1000 / seconds) * seconds;
  const [row] = await sql(
    `insert into memdir_rate as r (team, token_id, since, requests) values ($1, $2, $3::bigint, 1)
     on conflict (team, token_id) do update
       set requests = case when r.since = excluded.since then least(r.requests + 1, 1000000000) else 1 end, since = excluded.since
     returning requests`,
    [caller.team, caller.tokenId, since],
  );
  return Number(row?.requests) <= requests;
}

export async function tokens(tx: Transaction): Promise<TokenRow[]> {
  const { team, personId } = tx.caller;
  return tx.sql<TokenRow>(
    `select t.id, p.name as person, t.label, ${iso("t.created", "created")}, ${iso("t.expires", "expires")},
       ${iso("t.revoked", "revoked")}, ${iso("t.last_used", "lastUsed")}
     from memdir_token t join memdir_person p on p.team = t.team and p.id = t.person_id
     where t.team = $1 and ($2 or t.person_id = $3) order by t.created, t.id`,
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
  const { caller, now } = tx;
  const given = { person, ...options };
  const { label, days } = readAs(TokenRequest, given, (problem) => new MemdirError("usage", problem));
  const owner = await findPerson(tx, person);
  if (!owner) return null;
  const id = tx.newId();
  const token = `memdir_${caller.team}_${Buffer.from(tx.randomBytes(SECRET_BYTES)).toString("base64url")}`;
  const expires = days === null ? null : new Date(now().getTime() + days * 86_400_000).toISOString();
  await tx.sql(
    `insert into memdir_token (team, id, person_id, label, hash, created, expires)
     values ($1, $2, $3, $4, $5, $6::timestamptz, $7::timestamptz)`,
    [caller.team, id, owner.id, label, sha256(token), now().toISOString(), expires],
  );
  await audit(tx, [{ action: "admin:add-token", outcome: `done: token ${id} for ${person}` }]);
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
  await tx.sql("delete from memdir_rate where team = $1 and token_id = $2", [team, id]);
  await audit(tx, [{ action: "admin:revoke-token", outcome: `done: token ${id}` }]);
  return true;
}
