/** PostgreSQL inside this process, kept in a folder, and where its program comes from: it is larger than all of memdir. */

import { execFile } from "node:child_process";
import { existsSync, utimesSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import type { Extensions } from "@electric-sql/pglite";
import { findProgram } from "../../child-group.ts";
import { processEnv } from "../../config.ts";
import { makeFolders } from "../../disk/fence.ts";
import { acquireLock, type Lock } from "../../disk/turns.ts";
import { MemdirError, onDisk } from "../../errors.ts";
import { quietly } from "../../store/store.ts";
import { type Connection, type Database, openDatabase } from "./database.ts";

/** As much of the package as is used; it is not a dependency of ours, so the caller says where it is. */
export type PgliteModule = { PGlite: Pick<typeof import("@electric-sql/pglite").PGlite, "create"> };

interface PgliteOptions {
  load: () => Promise<PgliteModule>;
  now: () => Date;
  /** `{ vector }` of the package with pgvector: search by meaning. */
  extensions?: Extensions;
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
    const connection: Connection = {
      size: 1,
      usage: () => ({ open: 1, idle: 0, waiting: 0 }),
      begin: (work, { opening }) =>
        pglite.transaction(async (tx) => {
          if (opening) await tx.query(opening);
          return work(async (text, values) => (await tx.query<never>(text, values)).rows);
        }),
      query: async (text, values) => (await pglite.query<never>(text, values)).rows,
      close: () => pglite.close().finally(() => hold?.release()),
    };
    return openDatabase(connection, options.now);
  } catch (error) {
    hold?.release();
    if (error instanceof MemdirError) throw error;
    const where = folder === null ? "in memory" : `in ${folder}`;
    const message = `the embedded database ${where} does not open: ${(error as Error).message}`;
    throw new MemdirError("disk", message, { cause: error });
  }
}

/** Two processes on one folder would ruin it. */
async function holdFolder(folder: string, timeoutMs: number): Promise<Lock> {
  makeFolder(folder);
  const lock = await acquireLock(folder, { timeoutMs }).catch((error) => {
    if (!(error instanceof MemdirError) || error.code !== "lock") throw error;
    const advice =
      "end it first, name another folder, or use PostgreSQL (--database postgres://…), which several servers can share";
    throw new MemdirError("lock", `another process serves from ${folder}: ${advice}`, { cause: error });
  });
  // It is the kernel lock that counts where there is one; a time that could not be set is set in the next round.
  const touch = setInterval(() => {
    const seconds = (performance.timeOrigin + performance.now()) / 1000;
    quietly(() => utimesSync(join(folder, "lock.pid"), seconds, seconds));
  }, TOUCH_MS);
  touch.unref();
  return {
    release: () => {
      clearInterval(touch);
      lock.release();
    },
  };
}

/** For the user alone. */
export function makeFolder(folder: string): void {
  onDisk("make the folder", folder, () => makeFolders(folder, 0o700));
}

const PACKAGE = "@electric-sql/pglite";
/** The one that is tested; a newer one may read the folder of an older, not the other way round. */
const VERSION = "0.5.14";

export interface InstallOptions {
  /** Runs npm with these arguments; rejects when it fails. */
  runNpm(args: readonly string[]): Promise<void>;
  /** Answers true for yes; null where there is no one to ask. */
  ask: ((question: string) => Promise<boolean | null>) | null;
  say(text: string): void;
  /** Whether to look where packages of this program are found, too; false in tests. */
  isShared?: boolean;
}

/** The file to load, or null. `folder` is the server's data folder. */
export function findEngine(folder: string, isShared = true): string | null {
  const places = [
    ...(isShared ? [import.meta.url] : []),
    pathToFileURL(join(engineFolder(folder), "package.json")).href,
  ];
  for (const place of places) {
    try {
      return createRequire(place).resolve(PACKAGE);
    } catch {
      // Not there; the next place.
    }
  }
  return null;
}

export async function loadEngine(file: string): Promise<PgliteModule> {
  const module = (await import(pathToFileURL(file).href)) as Partial<PgliteModule> & { default?: PgliteModule };
  const { PGlite } = module.PGlite ? module : (module.default ?? {});
  if (!PGlite) throw new MemdirError("broken", `${file} is not PGlite: remove its folder and start the server again`);
  return { PGlite };
}

/** Finds it, or fetches it with the person's consent. */
export async function prepareEngine(folder: string, options: InstallOptions): Promise<string> {
  const { runNpm, ask, say, isShared } = options;
  const found = findEngine(folder, isShared);
  if (found) return found;
  // No scripts of packages are run: it needs none.
  const quiet = ["--no-save", "--ignore-scripts", "--no-audit", "--no-fund"];
  const args = ["install", "--prefix", engineFolder(folder), ...quiet, `${PACKAGE}@${VERSION}`];
  const command = `npm ${args.map((arg) => (/[^\w@./:=-]/.test(arg) ? JSON.stringify(arg) : arg)).join(" ")}`;
  const missing = `the embedded database is not on this machine: run \`${command}\`, or use PostgreSQL with --database postgres://…`;
  if (!ask) throw new MemdirError("not-found", `${missing}; with --yes this is done for you`);
  const question = `The embedded database (PGlite ${VERSION}, about 27 MB) is fetched from npm into ${engineFolder(folder)}. Go on?`;
  if (!(await ask(question))) throw new MemdirError("not-found", missing);
  say(`fetching ${PACKAGE} ${VERSION} …`);
  makeFolder(engineFolder(folder));
  const advice = `run \`${command}\` and see what it says`;
  await runNpm(args).catch((cause) => {
    throw new MemdirError("network", `npm could not fetch ${PACKAGE}: ${advice}`, { cause });
  });
  const fetched = findEngine(folder, isShared);
  if (!fetched) throw new MemdirError("network", `npm left no ${PACKAGE} behind: ${advice}`);
  return fetched;
}

function engineFolder(folder: string): string {
  return join(folder, "engine");
}

/** Longer than a slow line takes for 27 MB. */
const NPM_MS = 10 * 60 * 1000;

/** The real npm. Windows has only a script for shells, so the program behind it is run, which is beside Node. */
export async function runNpm(args: readonly string[]): Promise<void> {
  const npm = findProgram(processEnv(), "npm");
  const script = join(dirname(process.execPath), "node_modules", "npm", "bin", "npm-cli.js");
  const isBeside = process.platform === "win32" && existsSync(script);
  const file = isBeside ? process.execPath : npm?.file;
  if (file === undefined) throw new Error("npm is not in PATH, outside this project");
  const how = { env: npm?.env, timeout: NPM_MS, maxBuffer: 16 * 1024 * 1024, windowsHide: true };
  await promisify(execFile)(file, isBeside ? [script, ...args] : args, how);
}
