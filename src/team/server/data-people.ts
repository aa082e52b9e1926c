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
  iso,
  isTeamAdmin,
  operatorOf,
  type Roles,
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
  const [row] = await sql<Record<"teams" | "repositories" | "memories" | "bytes", number>>(
    `select (select count(*) from memdir_team)::float8 as teams, count(*)::float8 as repositories,
       coalesce(sum(memories), 0)::float8 as memories, coalesce(sum(bytes), 0)::float8 as bytes from memdir_repository`,
  );
  return row as NonNullable<typeof row>;
}

/** The caller's team with its first admin, and their token. */
export async function createTeam(tx: Transaction, name: string): Promise<{ token: string }> {
  const { team } = tx.caller;
  refuseName("a team", team, findPlainNameProblem(team));
  const added = await tx.own(
    "insert into memdir_team (team, created) values ($1, $2::timestamptz) on conflict do nothing returning team",
    [tx.now().toISOString()],
  );
  if (added.length === 0)
    throw new MemdirError("conflict", `there is a team ${team} already: issue a token for one of its people instead`);
  // A new team has no one of this name yet.
  const id = (await insertPerson(tx, name, "admin")) as string;
  await audit(tx, { action: "admin:create-team", outcome: `done: ${name} as admin` });
  const { token } = await makeToken(tx, { id, name }, { label: "first", hours: TOKEN_DAYS * 24 });
  return { token };
}

/** Null for a caller who may not, and where there is such a person. */
export async function addPerson(tx: Transaction, name: string, role: Role | null): Promise<PersonRow | null> {
  const id = (await isTeamAdmin(tx)) ? await insertPerson(tx, name, role) : null;
  if (id === null) return null;
  await audit(tx, { action: "admin:add-person", outcome: `done: ${name} as ${role ?? "no role"}` });
  return { id, name, role, repositories: [] };
}

export async function addRepository(tx: Transaction, name: string): Promise<RepositoryAnswer | null> {
  refuseName("a repository", name, findPlainNameProblem(name));
  if (!(await isTeamAdmin(tx))) return null;
  const text =
    "insert into memdir_repository (team, name, id) values ($1, $2, $3) on conflict do nothing returning name";
  if ((await tx.own(text, [name, tx.newId()])).length === 0) return null;
  await audit(tx, { action: "admin:add-repository", repository: name, outcome: "done" });
  return { name, memories: 0, bytes: 0, role: "admin" };
}

/** Admins see every person, others only themselves. */
export async function people(tx: Transaction): Promise<PersonRow[]> {
  return tx.own<PersonRow>(
    `select p.id, p.name, p.role, coalesce((
         select json_agg(json_build_object('repository', r.repository, 'role', r.role) order by r.repository)
         from memdir_right r where r.team = p.team and r.person_id = p.id), '[]') as repositories
     from memdir_person p where p.team = $1 and p.removed is null and ($2 or p.id = $3) order by lower(p.name), p.id limit 10000`,
    [await isTeamAdmin(tx), tx.caller.personId],
  );
}

/** For the whole team by its admins, for one repository by that one's admins as well. */
export async function setRole(tx: Transaction, name: string, repository: string | null, role: Role | null) {
  const mine = await (repository === null ? teamRoleOf(tx) : roleOf(tx, repository));
  const person = covers(mine, "admin") ? await findPerson(tx, name) : undefined;
  if (!person) return false;
  const remove = "delete from memdir_right where team = $1 and person_id = $2 and repository = $3";
  const give = `insert into memdir_right (team, person_id, repository, role) values ($1, $2, $3, $4)
    on conflict (team, person_id, repository) do update set role = excluded.role`;
  if (repository === null) await setTeamRole(tx, person, role);
  else if (role === null) await tx.own(remove, [person.id, repository]);
  else await tx.own(give, [person.id, repository, role]);
  await audit(tx, { action: "admin:set-role", repository, outcome: `done: ${person.name} as ${role ?? "no role"}` });
  return true;
}

/** Ends everything that a person can do: roles, rights, tokens. Their name stays in the history. */
export async function removePerson(tx: Transaction, name: string): Promise<boolean> {
  const person = (await isTeamAdmin(tx)) ? await findPerson(tx, name) : undefined;
  if (!person) return false;
  await endPerson(tx, person);
  await audit(tx, { action: "admin:remove-person", outcome: `done: ${person.name}` });
  return true;
}

async function endPerson(tx: Transaction, person: Person): Promise<void> {
  const at = tx.now().toISOString();
  const revoke =
    "update memdir_token set revoked = coalesce(revoked, $3::timestamptz) where team = $1 and person_id = $2";
  await setTeamRole(tx, person, null);
  await tx.own("delete from memdir_right where team = $1 and person_id = $2", [person.id]);
  await tx.own(revoke, [person.id, at]);
  await tx.own("update memdir_person set removed = $3::timestamptz where team = $1 and id = $2", [person.id, at]);
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
  const { own, caller } = tx;
  const [known] = await own<Person & { removed: boolean }>(
    "select id, name, removed is not null as removed from memdir_person where team = $1 and subject = $2 for no key update",
    [subject],
  );
  if (roles.size === 0) {
    if (known && !known.removed) {
      await endPerson(tx, known);
      await audit(tx, { action: "admin:remove-person", outcome: `done: ${known.name}, who is in no group any more` });
    }
    return null;
  }
  const person = known ?? (await insertSubject(tx, name, subject));
  if (known?.removed) await own("update memdir_person set removed = null where team = $1 and id = $2", [known.id]);
  await setTeamRole(tx, person, roles.get("") ?? null);
  await own("delete from memdir_right where team = $1 and person_id = $2", [person.id]);
  await own(
    `insert into memdir_right (team, person_id, repository, role)
     select $1, $2, r.name, w.role from unnest($3::text[], $4::text[]) as w (repository, role)
     join memdir_repository r on r.team = $1 and r.name = w.repository`,
    [person.id, [...roles.keys()], [...roles.values()]],
  );
  const said = [...roles].map(([repository, role]) => `${role} in ${repository || "the team"}`).join(", ");
  const entered = { ...tx, caller: { ...caller, person: person.name } };
  await audit(entered, { action: "enter", outcome: `signed in as ${said}` });
  return makeToken(tx, person, { label: "sign-in", hours });
}

/** Names are for people and must differ: a namesake gets a number. Who is there without a subject is another person. */
async function insertSubject(tx: Transaction, wanted: string, subject: string): Promise<Person> {
  for (let number = 1; number < 100; number++) {
    const name = number === 1 ? wanted : `${wanted.slice(0, 90)} ${number}`;
    refuseName("a person", name, findPersonProblem(name));
    const [row] = await tx.own<Person>(
      `insert into memdir_person (team, id, name, role, subject) values ($1, $2, $3, null, $4)
       on conflict (team, lower(name)) do nothing returning id, name`,
      [tx.newId(), name, subject],
    );
    if (row) return row;
  }
  throw new MemdirError("conflict", "too many people in the team have this name: remove some");
}

interface Person {
  id: string;
  name: string;
}

async function findPerson({ own }: Transaction, name: string): Promise<Person | undefined> {
  const text = "select id, name from memdir_person where team = $1 and removed is null and lower(name) = lower($2)";
  return (await own<Person>(text, [name]))[0];
}

async function setTeamRole({ own, caller: { team } }: Transaction, person: Person, role: Role | null): Promise<void> {
  // Locked in one order, so that two admins cannot take each other's right away at the same time.
  const admins = await own(
    "select id from memdir_person where team = $1 and role = 'admin' order by id for no key update",
  );
  if (role !== "admin" && admins.length === 1 && admins[0]?.id === person.id)
    throw new MemdirError("conflict", `${person.name} is the last admin of ${team}: make another person admin first`);
  await own("update memdir_person set role = $3 where team = $1 and id = $2", [person.id, role]);
}

/** The new id; null where there is such a person. */
async function insertPerson({ own, newId }: Transaction, name: string, role: Role | null): Promise<string | null> {
  refuseName("a person", name, findPersonProblem(name));
  const text = `insert into memdir_person as p (team, id, name, role) values ($1, $2, $3, $4)
    on conflict (team, lower(name)) do update set role = excluded.role, removed = null where p.removed is not null returning id`;
  return (await own<{ id: string }>(text, [newId(), name, role]))[0]?.id ?? null;
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
  const role = row.id === null ? null : strongest(row);
  const listed = role && row.entries !== null ? formListed(team, repository ?? "", row as ListRow) : null;
  return { caller, teamRole: row.team_role, role, state: role && row.state, listed };
}

export type Turn = Pick<Caller, "team" | "tokenId">;

/** Nothing of a list where none was asked for, nothing of a repository that there is not. */
type EnterRow = Record<"token_id" | "person_id" | "person", string> &
  Roles & { [K in keyof ListRow]: ListRow[K] | null };

/** The team that a token names, which says nothing about whether it is valid. */
export function teamOfToken(token: string): string | null {
  return FORM.exec(token)?.[1] ?? null;
}

/** The newest first; a team with more than fit into an answer has revoked most of them. */
export async function tokens(tx: Transaction): Promise<TokenRow[]> {
  return tx.own<TokenRow>(
    `select t.id, p.name as person, t.label, ${iso("t.created", "created")}, ${iso("t.expires", "expires")},
       ${iso("t.revoked", "revoked")}, ${iso("t.last_used", "lastUsed")}
     from memdir_token t join memdir_person p on p.team = t.team and p.id = t.person_id
     where t.team = $1 and ($2 or t.person_id = $3) order by t.created desc, t.id limit 10000`,
    [await isTeamAdmin(tx), tx.caller.personId],
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

async function makeToken(tx: Transaction, owner: Person, { label, hours }: { label: string; hours: number | null }) {
  const { now } = tx;
  const id = tx.newId();
  const token = `memdir_${tx.caller.team}_${Buffer.from(tx.randomBytes(SECRET_BYTES)).toString("base64url")}`;
  const expires = hours === null ? null : new Date(now().getTime() + hours * 3_600_000).toISOString();
  const text = `insert into memdir_token (team, id, person_id, label, hash, created, expires)
    values ($1, $2, $3, $4, $5, $6::timestamptz, $7::timestamptz)`;
  await tx.own(text, [id, owner.id, label, sha256(token), now().toISOString(), expires]);
  await audit(tx, { action: "admin:add-token", outcome: `done: token ${id} for ${owner.name}` });
  return { id, token };
}

export async function revokeToken(tx: Transaction, id: string): Promise<boolean> {
  const text = `update memdir_token set revoked = coalesce(revoked, $3::timestamptz)
    where team = $1 and id = $2 and ($4 or person_id = $5) returning id`;
  const rows = await tx.own(text, [id, tx.now().toISOString(), await isTeamAdmin(tx), tx.caller.personId]);
  if (rows.length === 0) return false;
  await audit(tx, { action: "admin:revoke-token", outcome: `done: token ${id}` });
  return true;
}
