/** Who did what: rows that only ever come to be. */

import { MemdirError } from "../../errors.ts";
import { type Base, isoOf, isTeamAdmin, writeAudit } from "./data-base.ts";
import type { TeamData } from "./team-data.ts";

type Verbs = Pick<TeamData, "audit" | "readAudit">;

export function openAudit(base: Base): Verbs {
  return {
    audit: async (caller, entries) => {
      if (entries.length === 0) return;
      await base.run(caller.team, async (sql) => {
        for (const entry of entries) await writeAudit(base, sql, caller, entry);
      });
    },

    readAudit: (caller, { before, limit }) =>
      base.run(caller.team, async (sql) => {
        if (before !== null && Number.isNaN(Date.parse(before)))
          throw new MemdirError("usage", "`before` must be the time of an audit row, as it was told");
        if (!(await isTeamAdmin(sql, caller))) return [];
        // With all that happened in the same millisecond: the next page begins before it, and would miss the rest.
        const rows = await sql(
          `select * from (
             select at, id, person, token_id, action, repository, path, revision, outcome from memdir_audit
             where team = $1 and ($2::timestamptz is null or at < $2::timestamptz)
             order by at desc fetch first ($3::int) rows with ties
           ) page order by at desc, id desc`,
          [caller.team, before === null ? null : isoOf(before), limit],
        );
        return rows.map((row) => ({
          at: isoOf(row.at),
          person: String(row.person),
          tokenId: String(row.token_id),
          action: String(row.action),
          repository: row.repository as string | null,
          path: row.path as string | null,
          revision: row.revision as string | null,
          outcome: String(row.outcome),
        }));
      }),
  };
}
