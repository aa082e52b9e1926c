/** What is dropped because it is old: the audit log, versions that were replaced, tombstones. */

import type { Transaction } from "./data-base.ts";

/** Days; null keeps for ever (versions and tombstones within their quotas). */
export interface Retention {
  auditDays: number | null;
  versionDays: number | null;
  tombstoneDays: number | null;
}

/** A machine that was off for longer than a year may bring back what was removed meanwhile. */
export const RETENTION: Retention = { auditDays: 400, versionDays: null, tombstoneDays: 400 };

/** For each team and round, so that no transaction is long; the rest goes in the next round. */
const MOST = 5_000;

/** Any number, the same in every version: of several servers one sweeps at a time. */
const LOCK = 6_036_843_722;

/** How many rows went. */
export async function sweepTeam(tx: Transaction, retention: Retention): Promise<number> {
  const { sql, own, now } = tx;
  const [mine] = await sql("select pg_try_advisory_xact_lock($1) as yes", [LOCK]);
  if (!mine?.yes) return 0;
  const before = (days: number) => new Date(now().getTime() - days * 86_400_000).toISOString();
  let dropped = 0;
  if (retention.auditDays !== null) {
    const text = `delete from memdir_audit where team = $1 and id in (
      select id from memdir_audit where team = $1 and at < $2::timestamptz order by at limit $3) returning id`;
    dropped += (await own(text, [before(retention.auditDays), MOST])).length;
  }
  if (retention.versionDays !== null) {
    // As every write does, so that none waits for this one crosswise.
    await own("select from memdir_repository where team = $1 order by name for no key update");
    const [row] = await own<{ count: number }>(
      `with old as (
         select v.repository, v.path, v.revision from memdir_version v join memdir_memory m using (team, repository, path)
         where v.team = $1 and v.at < $2::timestamptz and v.revision < m.revision limit $3
       ), gone as (
         delete from memdir_version v using old where v.team = $1 and v.repository = old.repository and v.path = old.path
           and v.revision = old.revision returning v.repository, v.path, v.bytes
       ), memory as (
         update memdir_memory m set kept = m.kept - g.bytes from (select repository, path, sum(bytes) as bytes from gone group by 1, 2) g
         where m.team = $1 and m.repository = g.repository and m.path = g.path
       ), repository as (
         update memdir_repository r set history = r.history - g.bytes from (select repository, sum(bytes) as bytes from gone group by 1) g
         where r.team = $1 and r.name = g.repository
       ) select count(*)::float8 as count from gone`,
      [before(retention.versionDays), MOST],
    );
    dropped += row?.count ?? 0;
  }
  if (retention.tombstoneDays !== null) {
    const rows = await own<{ dropped: number }>(
      "select memdir_drop_tombstones($1, r.name, $2::timestamptz, $3) as dropped from memdir_repository r where r.team = $1",
      [before(retention.tombstoneDays), MOST],
    );
    dropped += rows.reduce((sum, row) => sum + row.dropped, 0);
  }
  return dropped;
}
