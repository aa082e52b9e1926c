/** Memories as the server gives them out: what is now, and every version there was. */

import { MemdirError } from "../../errors.ts";
import type { RemoteEntry } from "../remote.ts";
import { type Base, formState, isoOf, readRepository } from "./data-base.ts";
import type { Row, Sql } from "./sql.ts";
import type { Caller, TeamData } from "./team-data.ts";

type Verbs = Pick<TeamData, "listMemories" | "fetchMemories" | "versions">;

/** What `formEntry` needs. */
export const ENTRY_COLUMNS = "path, revision::text as revision, hash, deleted, bytes, author, at";

export function openMemories(base: Base): Verbs {
  return {
    listMemories: (caller, repository) =>
      base.run(caller.team, async (sql) => {
        // The state first: a write in between makes the list newer than its state, which costs one more list and loses nothing.
        const { row } = await mustRead(sql, caller, repository);
        const rows = await sql(
          `select ${ENTRY_COLUMNS} from memdir_memory where team = $1 and repository = $2 order by path`,
          [caller.team, repository],
        );
        return {
          id: `${caller.team}/${repository}/${row.id}`,
          state: formState(row),
          entries: rows.map(formEntry),
        };
      }),

    fetchMemories: (caller, repository, paths) =>
      base.run(caller.team, async (sql) => {
        await mustRead(sql, caller, repository);
        const rows = await sql(
          `select m.path, m.revision::text as revision, m.hash, '.' || v.text as text
           from memdir_memory m join memdir_version v using (team, repository, path, revision)
           where m.team = $1 and m.repository = $2 and m.path = any($3::text[]) and not m.deleted and v.text is not null
           order by m.path`,
          [caller.team, repository, paths],
        );
        return rows.map((row) => ({
          path: String(row.path),
          revision: String(row.revision),
          hash: String(row.hash),
          text: wholeText(row.text),
        }));
      }),

    versions: (caller, repository, path) =>
      base.run(caller.team, async (sql) => {
        await mustRead(sql, caller, repository);
        const rows = await sql(
          `select revision::text as number, author, at, '.' || text as text, deleted, redacted from memdir_version
           where team = $1 and repository = $2 and path = $3 order by revision`,
          [caller.team, repository, path],
        );
        return rows.map((row) => ({
          revision: String(row.number),
          author: String(row.author),
          at: isoOf(row.at),
          text: row.text === null ? null : wholeText(row.text),
          deleted: row.deleted === true,
          redacted: row.redacted === true,
        }));
      }),
  };
}

/** Asked for with a sign in front: PGlite takes a byte order mark away from the beginning of a text. */
function wholeText(value: unknown): string {
  return String(value).slice(1);
}

export function unknownRepository(repository: string): MemdirError {
  return new MemdirError("not-found", `there is no repository ${JSON.stringify(repository)} that you may read`);
}

export function formEntry(row: Row): RemoteEntry {
  return {
    path: String(row.path),
    hash: String(row.hash),
    revision: String(row.revision),
    deleted: row.deleted === true,
    author: String(row.author),
    at: isoOf(row.at),
  };
}

async function mustRead(sql: Sql, caller: Caller, repository: string): Promise<{ row: Row }> {
  const found = await readRepository(sql, caller, repository);
  if (!found?.role) throw unknownRepository(repository);
  return found;
}
