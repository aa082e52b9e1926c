/** A database as the team server uses it: transactions that carry the tenant, and a role that row-level security binds. */

import { type Access, findAccess, migrateDatabase } from "./migrations.ts";
import { begin, type Connection, type Sql } from "./sql.ts";

export interface Database {
  /** Named migrations, once, whoever else starts at the same time. Gives back those that were applied now. */
  migrate(): Promise<string[]>;
  /**
   * `tenant` is all that `work` can see and change. Null is the operator, who may list teams and count, and see no memory.
   * A statement that failed rolls everything back, even if `work` caught its error.
   */
  transaction<T>(tenant: string | null, work: (sql: Sql) => Promise<T>): Promise<T>;
  ping(): Promise<void>;
  close(): Promise<void>;
  /** Whether vectors can be stored and compared here. */
  hasVectors(): Promise<boolean>;
}

/** `now` is only for the table of migrations. */
export function openDatabase(connection: Connection, now: () => Date): Database {
  let access: Access | null = null;

  // Looked up once for each process, but a failure is not kept: the database may only have been away.
  const look = async () => {
    access ??= await begin(connection, findAccess);
    return access;
  };

  return {
    async migrate() {
      const applied = await migrateDatabase((work) => begin(connection, work), now);
      access = await begin(connection, findAccess);
      return applied;
    },
    async transaction(tenant, work) {
      const { role } = await look();
      return begin(connection, async (sql) => {
        // Setting `role` like this is SET LOCAL ROLE; all three end with the transaction.
        await sql(
          `select set_config('memdir.team', $1, true), set_config('memdir.operator', $2, true)${role ? ", set_config('role', $3, true)" : ""}`,
          [tenant ?? "", tenant === null ? "on" : "off", ...(role ? [role] : [])],
        );
        return work(sql);
      });
    },
    async ping() {
      await begin(connection, (sql) => sql("select 1"));
    },
    close: () => connection.close(),
    hasVectors: async () => (await look()).vectors,
  };
}
