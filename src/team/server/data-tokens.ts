/** Tokens: made once, kept as a hash, looked up inside their own team; and how often each may ask. */

import { MemdirError } from "../../errors.ts";
import { sha256 } from "../../text/hash.ts";
import { type Role, readAs, type TokenAnswer, TokenRequest, type TokenRow } from "../protocol.ts";
import {
  type Base,
  formState,
  iso,
  isTeamAdmin,
  operatorOf,
  readRepository,
  readTeamRole,
  type Transaction,
  writeAudit,
} from "./data-base.ts";
import type { Caller, TeamData, TokenOptions } from "./team-data.ts";

/** 32 bytes cannot be guessed; the team in front lets the lookup run under the team's own row-level security. */
const SECRET_BYTES = 32;
const FORM = /^memdir_([A-Za-z0-9][A-Za-z0-9._-]{0,63})_[A-Za-z0-9_-]{43}$/;

/** Each request writing its time would make every read a write. */
const LAST_USE_MS = 60_000;

export function openTokens(base: Base) {
  return {
    issueToken: (team, person, options) => base.run(operatorOf(team), (tx) => addToken(tx, person, options)),

    enter: async (token, limit, repository) => {
      const team = FORM.exec(token)?.[1];
      if (team === undefined) return null;
      return base.run(operatorOf(team), async (any) => {
        const caller = await findCaller(any, sha256(token));
        if (!caller) return null;
        const tx = { ...any, caller };
        const isAdmitted = await countRequest(tx, limit);
        const found = repository === null ? null : await readRepository(tx, repository);
        const teamRole = found ? (found.row.team_role as Role | null) : await readTeamRole(tx);
        const role = found?.role ?? null;
        return { caller, isAdmitted, teamRole, role, state: found && role ? formState(found.row) : null };
      });
    },

    tokens: (caller) =>
      base.run(caller, async (tx) =>
        tx.sql<TokenRow>(
          `select t.id, p.name as person, t.label, ${iso("t.created", "created")}, ${iso("t.expires", "expires")},
             ${iso("t.revoked", "revoked")}, ${iso("t.last_used", "lastUsed")}
           from memdir_token t join memdir_person p on p.team = t.team and p.id = t.person_id
           where t.team = $1 and ($2 or t.person_id = $3) order by t.created, t.id`,
          [caller.team, await isTeamAdmin(tx), caller.personId],
        ),
      ),

    addToken: (caller, person, options) =>
      base.run(caller, async (tx) => ((await isTeamAdmin(tx)) ? addToken(tx, person, options) : null)),

    revokeToken: (caller, id) =>
      base.run(caller, async (tx) => {
        const rows = await tx.sql(
          `update memdir_token set revoked = coalesce(revoked, $3::timestamptz)
           where team = $1 and id = $2 and ($4 or person_id = $5) returning id`,
          [caller.team, id, tx.now().toISOString(), await isTeamAdmin(tx), caller.personId],
        );
        if (rows.length === 0) return false;
        await tx.sql("delete from memdir_rate where team = $1 and token_id = $2", [caller.team, id]);
        await writeAudit(tx, { action: "admin:revoke-token", outcome: `done: token ${id}` });
        return true;
      }),
  } satisfies Partial<TeamData>;
}

/** Null when the team has no person of that name. */
export async function addToken(tx: Transaction, person: string, options: TokenOptions): Promise<TokenAnswer | null> {
  const { sql, caller, now } = tx;
  const given = { person, ...options };
  const { label, days } = readAs(TokenRequest, given, (problem) => new MemdirError("usage", problem));
  const [owner] = await sql("select id from memdir_person where team = $1 and lower(name) = lower($2)", [
    caller.team,
    person,
  ]);
  if (!owner) return null;
  const id = tx.newId();
  const token = `memdir_${caller.team}_${Buffer.from(tx.randomBytes(SECRET_BYTES)).toString("base64url")}`;
  const expires = days === null ? null : new Date(now().getTime() + days * 86_400_000).toISOString();
  await sql(
    `insert into memdir_token (team, id, person_id, label, hash, created, expires)
     values ($1, $2, $3, $4, $5, $6::timestamptz, $7::timestamptz)`,
    [caller.team, id, owner.id, label, sha256(token), now().toISOString(), expires],
  );
  await writeAudit(tx, { action: "admin:add-token", outcome: `done: token ${id} for ${person}` });
  return { id, token };
}

async function findCaller(tx: Transaction, hash: string): Promise<Caller | null> {
  const { sql } = tx;
  const { team } = tx.caller;
  const now = tx.now();
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
  { sql, caller, now }: Transaction,
  limit: { requests: number; seconds: number },
): Promise<boolean> {
  const since = Math.floor(now().getTime() / 1000 / limit.seconds) * limit.seconds;
  const [row] = await sql(
    `insert into memdir_rate as r (team, token_id, since, requests) values ($1, $2, $3::bigint, 1)
     on conflict (team, token_id) do update
       set requests = case when r.since = excluded.since then least(r.requests + 1, 1000000000) else 1 end, since = excluded.since
     returning requests`,
    [caller.team, caller.tokenId, since],
  );
  return Number(row?.requests) <= limit.requests;
}
