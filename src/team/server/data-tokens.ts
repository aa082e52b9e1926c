/** Tokens: made once, kept as a hash, looked up inside their own team; and how often each may ask. */

import { MemdirError } from "../../errors.ts";
import { sha256 } from "../../text/hash.ts";
import type { Role, TokenAnswer, TokenRow } from "../protocol.ts";
import {
  type Base,
  formState,
  isoOf,
  isTeamAdmin,
  operatorOf,
  readRepository,
  readTeamRole,
  writeAudit,
} from "./data-base.ts";
import type { Sql } from "./database.ts";
import type { Caller, TeamData, TokenOptions } from "./team-data.ts";

/** 32 bytes cannot be guessed; the team in front lets the lookup run under the team's own row-level security. */
const SECRET_BYTES = 32;
const FORM = /^memdir_([A-Za-z0-9][A-Za-z0-9._-]{0,63})_[A-Za-z0-9_-]{43}$/;

/** Each request writing its time would make every read a write. */
const LAST_USE_MS = 60_000;
const MAX_LABEL = 200;
const MAX_DAYS = 3650;

export function openTokens(base: Base): Pick<TeamData, "issueToken" | "enter" | "tokens" | "addToken" | "revokeToken"> {
  return {
    issueToken: (team, person, options) =>
      base.run(team, (sql) => addToken(base, sql, operatorOf(team), person, options)),

    enter: async (token, limit, repository) => {
      const team = FORM.exec(token)?.[1];
      if (team === undefined) return null;
      return base.run(team, async (sql) => {
        const caller = await findCaller(base, sql, team, sha256(token));
        if (!caller) return null;
        const isAdmitted = await countRequest(base, sql, caller, limit);
        const found = repository === null ? null : await readRepository(sql, caller, repository);
        const teamRole = found ? (found.row.team_role as Role | null) : await readTeamRole(sql, caller);
        const role = found?.role ?? null;
        return { caller, isAdmitted, teamRole, role, state: found && role ? formState(found.row) : null };
      });
    },

    tokens: (caller) =>
      base.run(caller.team, async (sql) => {
        const rows = await sql<TokenRow>(
          `select t.id, p.name as person, t.label, t.created, t.expires, t.revoked, t.last_used as "lastUsed"
           from memdir_token t join memdir_person p on p.team = t.team and p.id = t.person_id
           where t.team = $1 and ($2 or t.person_id = $3) order by t.created, t.id`,
          [caller.team, await isTeamAdmin(sql, caller), caller.personId],
        );
        const timeOf = (value: unknown) => (value === null ? null : isoOf(value));
        return rows.map((row) => ({
          ...row,
          created: isoOf(row.created),
          expires: timeOf(row.expires),
          revoked: timeOf(row.revoked),
          lastUsed: timeOf(row.lastUsed),
        }));
      }),

    addToken: (caller, person, options) =>
      base.run(caller.team, async (sql) =>
        (await isTeamAdmin(sql, caller)) ? addToken(base, sql, caller, person, options) : null,
      ),

    revokeToken: (caller, id) =>
      base.run(caller.team, async (sql) => {
        const rows = await sql(
          `update memdir_token set revoked = coalesce(revoked, $3::timestamptz)
           where team = $1 and id = $2 and ($4 or person_id = $5) returning id`,
          [caller.team, id, base.now().toISOString(), await isTeamAdmin(sql, caller), caller.personId],
        );
        if (rows.length === 0) return false;
        await sql("delete from memdir_rate where team = $1 and token_id = $2", [caller.team, id]);
        await writeAudit(base, sql, caller, { action: "admin:revoke-token", outcome: `done: token ${id}` });
        return true;
      }),
  };
}

/** Null when the team has no person of that name. */
export async function addToken(
  base: Base,
  sql: Sql,
  by: Caller,
  person: string,
  { label, days }: TokenOptions,
): Promise<TokenAnswer | null> {
  if (days !== null && !(Number.isInteger(days) && days >= 1 && days <= MAX_DAYS))
    throw new MemdirError("usage", `a token is valid for 1 to ${MAX_DAYS} days, or without end`);
  if (label.length > MAX_LABEL || !label.isWellFormed() || /\p{Cc}/u.test(label))
    throw new MemdirError("usage", `a token's label is one line of at most ${MAX_LABEL} characters`);
  const [owner] = await sql("select id from memdir_person where team = $1 and lower(name) = lower($2)", [
    by.team,
    person,
  ]);
  if (!owner) return null;
  const id = base.newId();
  const token = `memdir_${by.team}_${Buffer.from(base.randomBytes(SECRET_BYTES)).toString("base64url")}`;
  const now = base.now();
  const expires = days === null ? null : new Date(now.getTime() + days * 86_400_000).toISOString();
  await sql(
    `insert into memdir_token (team, id, person_id, label, hash, created, expires)
     values ($1, $2, $3, $4, $5, $6::timestamptz, $7::timestamptz)`,
    [by.team, id, owner.id, label, sha256(token), now.toISOString(), expires],
  );
  await writeAudit(base, sql, by, { action: "admin:add-token", outcome: `done: token ${id} for ${person}` });
  return { id, token };
}

async function findCaller(base: Base, sql: Sql, team: string, hash: string): Promise<Caller | null> {
  const now = base.now();
  const [row] = await sql<{ id: string; person_id: string; name: string; stale: boolean }>(
    `select t.id, t.person_id, p.name, t.last_used is null or t.last_used < $4::timestamptz as stale
     from memdir_token t join memdir_person p on p.team = t.team and p.id = t.person_id
     where t.team = $1 and t.hash = $2 and t.revoked is null and (t.expires is null or t.expires > $3::timestamptz)`,
    [team, hash, now.toISOString(), new Date(now.getTime() - LAST_USE_MS).toISOString()],
  );
  if (!row) return null;
  if (row.stale) {
    // Several requests at once: the first notes it, and the rest do not wait for its commit.
    await sql(
      `update memdir_token set last_used = $3::timestamptz where team = $1 and id = (
         select id from memdir_token where team = $1 and id = $2 for no key update skip locked)`,
      [team, row.id, now.toISOString()],
    );
  }
  return { team, personId: row.person_id, person: row.name, tokenId: row.id };
}

/** False when it is over the limit. Windows are fixed on the clock, so that all processes count in the same one. */
async function countRequest(
  base: Base,
  sql: Sql,
  caller: Caller,
  limit: { requests: number; seconds: number },
): Promise<boolean> {
  const since = Math.floor(base.now().getTime() / 1000 / limit.seconds) * limit.seconds;
  const [row] = await sql(
    `insert into memdir_rate as r (team, token_id, since, requests) values ($1, $2, $3::bigint, 1)
     on conflict (team, token_id) do update
       set requests = case when r.since = excluded.since then least(r.requests + 1, 1000000000) else 1 end, since = excluded.since
     returning requests`,
    [caller.team, caller.tokenId, since],
  );
  return Number(row?.requests) <= limit.requests;
}
