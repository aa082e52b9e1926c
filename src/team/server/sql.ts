/** Statements and transactions of a driver, and its errors as ours. */

import { MemdirError } from "../../errors.ts";

export type Row = Record<string, unknown>;

/** One statement. Whatever comes from outside goes into `values`, never into `text`. */
export type Sql = (text: string, values?: unknown[]) => Promise<Row[]>;

/** What a driver gives: everything else is the same for all of them. */
export interface Connection {
  /** Commits when `work` resolves, rolls back when it rejects. */
  begin<T>(work: (sql: Sql) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/** A transaction whose errors are ours. A statement that failed fails it, even if `work` caught the error. */
export async function begin<T>(connection: Connection, work: (sql: Sql) => Promise<T>): Promise<T> {
  let failure: { error: unknown } | null = null;
  let own: { error: unknown } | null = null;
  try {
    return await connection.begin(async (sql) => {
      try {
        const result = await work(async (text, values) => {
          try {
            return await sql(text, values);
          } catch (error) {
            failure ??= { error };
            throw error;
          }
        });
        // COMMIT after a failed statement rolls back without a word: nobody may take that for success.
        if (failure) throw failure.error;
        return result;
      } catch (error) {
        if (!failure) own = { error };
        throw error;
      }
    });
  } catch (error) {
    // Faults of `work` itself keep their face; what the database or the way to it said becomes one of ours.
    if (own) throw error;
    throw databaseError(failure ? (failure as { error: unknown }).error : error);
  }
}

/** SQLSTATEs after which the same transaction may well succeed: a serialisation failure, a deadlock. */
const AGAIN = new Set(["40001", "40P01"]);

export function isWorthAnotherTry(error: unknown): boolean {
  return AGAIN.has(sqlStateOf(error));
}

/** "" where the error is none of the database's. */
function sqlStateOf(error: unknown): string {
  if (error instanceof MemdirError) return (error.details as { sqlState?: string } | undefined)?.sqlState ?? "";
  const { code } = error as { code?: unknown };
  // A digit tells them from codes of the system like EPIPE.
  return typeof code === "string" && /^(?=.*\d)[0-9A-Z]{5}$/.test(code) ? code : "";
}

/**
 * An error of a driver as one of ours. The database's own words are dropped, as they quote what was stored: rule and
 * place are in its log, and the state's code is enough to look them up.
 */
function databaseError(error: unknown): MemdirError {
  if (error instanceof MemdirError) return error;
  const sqlState = sqlStateOf(error);
  const details = { sqlState, constraint: (error as { constraint?: string }).constraint };
  // 22021 and 22P05: a character that no Postgres text can hold, U+0000.
  if (sqlState === "22021" || sqlState === "22P05")
    return new MemdirError("usage", "the text holds a character that a database cannot hold: take U+0000 out of it", {
      details,
    });
  if (sqlState === "" || AWAY.test(sqlState))
    return new MemdirError("network", `the database does not answer (${reasonOf(error)}): try again shortly`, {
      details,
    });
  if (/^(28|3D|42501)/.test(sqlState))
    return new MemdirError(
      "network",
      `the database refuses us (SQLSTATE ${sqlState}): check the name of the database, the user, their password and rights`,
      { details },
    );
  return new MemdirError("disk", `the database refused a statement (SQLSTATE ${sqlState}): its own log says which`, {
    details,
  });
}

/** Connection failures, shutdown, no resources, statements cut off for their time or lock. */
const AWAY = /^(08|53|57|58|55P03|25P03)/;

function reasonOf(error: unknown): string {
  const { code } = error as { code?: unknown };
  return typeof code === "string" && code !== "" ? code : "connection lost";
}
