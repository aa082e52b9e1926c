/** PostgreSQL inside this process, kept in a folder: the team server without anything to install beside it. */

import { mkdirSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { acquireLock, type Lock } from "../../disk/lock.ts";
import { diskError, MemdirError } from "../../errors.ts";
import { type Database, openDatabase } from "./database.ts";
import type { Connection, Row, Sql } from "./sql.ts";

/** As much of the package as is used; it is no dependency of ours, so whoever calls says where it is found. */
export interface PgliteModule {
  PGlite: { create(options: { dataDir?: string; extensions?: Record<string, unknown> }): Promise<Pglite> };
}

interface Pglite {
  transaction<T>(work: (transaction: PgliteTransaction) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

interface PgliteTransaction {
  query(text: string, values?: unknown[]): Promise<{ rows: unknown[] }>;
}

export interface PgliteOptions {
  load: () => Promise<PgliteModule>;
  now: () => Date;
  /** `{ vector }` of the package with pgvector: search by meaning. */
  extensions?: Record<string, unknown>;
  /** How long a server that is just ending may take to leave the folder. */
  lockTimeoutMs?: number;
}

/** The pid file counts for five minutes where no kernel lock is to be had: it is kept young. */
const TOUCH_MS = 60_000;

/** `folder` null: in memory, gone at the end. */
export async function openPglite(folder: string | null, options: PgliteOptions): Promise<Database> {
  const hold = folder === null ? null : await holdFolder(folder, options.lockTimeoutMs ?? 2_000);
  try {
    const { PGlite } = await options.load();
    const pglite = await PGlite.create({
      ...(folder === null ? {} : { dataDir: join(folder, "data") }),
      extensions: options.extensions ?? {},
    });
    return openDatabase(connect(pglite, hold), options.now);
  } catch (error) {
    hold?.release();
    if (error instanceof MemdirError) throw error;
    const where = folder === null ? "in memory" : `in ${folder}`;
    throw new MemdirError("disk", `the embedded database ${where} does not open: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

function connect(pglite: Pglite, hold: Lock | null): Connection {
  let closing: Promise<void> | null = null;
  return {
    begin: <T>(work: (sql: Sql) => Promise<T>) =>
      pglite.transaction((transaction) =>
        work(async (text, values) => (await transaction.query(text, values)).rows as Row[]),
      ),
    close() {
      closing ??= pglite.close().finally(() => hold?.release());
      return closing;
    },
  };
}

/** Two processes on one folder would ruin it. */
async function holdFolder(folder: string, timeoutMs: number): Promise<Lock> {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw diskError(error, "make the folder", folder);
  }
  const lock = await acquireLock(folder, { timeoutMs }).catch((error) => {
    if (!(error instanceof MemdirError) || error.code !== "lock") throw error;
    throw new MemdirError(
      "lock",
      `another process serves from ${folder}: end it first, name another folder, or use PostgreSQL (--database postgres://…), which several servers can share`,
      { cause: error },
    );
  });
  const touch = setInterval(() => touchQuietly(join(folder, "lock.pid")), TOUCH_MS);
  touch.unref();
  return {
    release: () => {
      clearInterval(touch);
      lock.release();
    },
  };
}

function touchQuietly(path: string): void {
  const seconds = (performance.timeOrigin + performance.now()) / 1000;
  try {
    utimesSync(path, seconds, seconds);
  } catch {
    // It is the kernel lock that counts where there is one; the next round tries again.
  }
}
