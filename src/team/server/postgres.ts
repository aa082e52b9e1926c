/** PostgreSQL through a pool of connections that heals by itself when the database was away. */

import pg from "pg";
import { type Connection, type Database, openDatabase, READ_ONLY } from "./database.ts";

interface PostgresOptions {
  /** postgres://user:password@host/database */
  url: string;
  now: () => Date;
  /** Connections at most, those of search apart. A write holds one for a few milliseconds, so few serve many clients. */
  max?: number | undefined;
  connectTimeoutMs?: number;
}

export const POOL_SIZE = 10;
/** A search may take a second; more at once would only take processors from writes. */
const SEARCH_CONNECTIONS = 2;
/** A call that takes longer hangs: the connection is given up, as nothing else can be said on it. */
const CALL_MS = 20_000;

export function openPostgres({ url, now, max = POOL_SIZE, connectTimeoutMs = 5_000 }: PostgresOptions): Database {
  const open = (size: number) => {
    const pool = new pg.Pool({
      connectionString: url,
      max: size,
      connectionTimeoutMillis: connectTimeoutMs,
      idleTimeoutMillis: 30_000,
      keepAlive: true,
      // Nothing else at the start of a connection: a pooler in front refuses settings there. Time-outs are set per transaction.
      application_name: "memdir",
    });
    // An idle connection that breaks leaves the pool by itself; without a listener the process would end.
    pool.on("error", () => {});
    return pool;
  };
  const pools = { main: open(max), search: open(SEARCH_CONNECTIONS) };
  const { main, search } = pools;
  const connection: Connection = {
    size: max,
    usage: () => ({
      open: main.totalCount + search.totalCount,
      idle: main.idleCount + search.idleCount,
      waiting: main.waitingCount + search.waitingCount,
    }),
    begin: (work, { lane, opening }) =>
      withClient(pools[lane], async (client) => {
        await client.query(opening ? `begin; ${opening}` : "begin");
        const result = await work(async (text, values) => (await client.query(text, values)).rows);
        await client.query("commit");
        return result;
      }),
    async query(text, values) {
      const config = { text, values, query_timeout: CALL_MS };
      return (await withClient(main, (client) => client.query(config), "alone")).rows;
    },
    close: async () => void (await Promise.all([main.end(), search.end()])),
  };
  return openDatabase(connection, now);
}

/** Rolls back what fails, unless the statement is `alone`. A connection that broke, or leads to a standby, is not used again. */
async function withClient<T>(pool: pg.Pool, work: (client: pg.PoolClient) => Promise<T>, alone?: "alone"): Promise<T> {
  const client = await pool.connect();
  let broken: Error | undefined;
  const note = (error: Error) => {
    broken = error;
  };
  // The pool listens to idle connections only: one that breaks between two statements is ours to notice.
  client.on("error", note);
  try {
    return await work(client);
  } catch (error) {
    const { code } = error as { code?: string };
    if (code === READ_ONLY || (alone && code === undefined)) note(error as Error);
    if (!alone) await client.query("rollback").catch(note);
    throw error;
  } finally {
    client.removeListener("error", note);
    client.release(broken);
  }
}
