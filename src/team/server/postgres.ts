/** PostgreSQL through a pool of connections that heals by itself when the database was away. */

import pg from "pg";
import { type Connection, type Database, openDatabase, type Sql } from "./database.ts";

export interface PostgresOptions {
  /** postgres://user:password@host/database */
  url: string;
  now: () => Date;
  /** Connections at most. A write holds one for a few milliseconds, so few serve many clients. */
  max?: number;
  /** No statement of ours takes long: one that does waits for something that will not come. */
  statementTimeoutMs?: number;
  connectTimeoutMs?: number;
}

export function openPostgres(options: PostgresOptions): Database {
  const pool = new pg.Pool({
    connectionString: options.url,
    max: options.max ?? 10,
    statement_timeout: options.statementTimeoutMs ?? 15_000,
    idle_in_transaction_session_timeout: 30_000,
    connectionTimeoutMillis: options.connectTimeoutMs ?? 5_000,
    idleTimeoutMillis: 30_000,
    keepAlive: true,
    application_name: "memdir",
  });
  // An idle connection that breaks leaves the pool by itself; without a listener the process would end.
  pool.on("error", () => {});
  return openDatabase(connect(pool), options.now);
}

function connect(pool: pg.Pool): Connection {
  let closing: Promise<void> | null = null;
  return {
    async begin<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
      const client = await pool.connect();
      let broken: Error | undefined;
      const note = (error: Error) => {
        broken = error;
      };
      // The pool listens to idle connections only: one that breaks between two statements is ours to notice.
      client.on("error", note);
      try {
        await client.query("begin");
        const result = await work(
          async <T>(text: string, values?: unknown[]) => (await client.query(text, values)).rows as T[],
        );
        await client.query("commit");
        return result;
      } catch (error) {
        await client.query("rollback").catch(note);
        throw error;
      } finally {
        client.removeListener("error", note);
        client.release(broken);
      }
    },
    close() {
      closing ??= pool.end();
      return closing;
    },
  };
}
