/** Where the embedded database comes from: it is larger than all of memdir, so it is fetched when a server is first started. */

import { execFile } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { diskError, MemdirError } from "../../errors.ts";
import type { PgliteModule } from "./pglite.ts";

const PACKAGE = "@electric-sql/pglite";
/** The one that is tested; a newer one may read the folder of an older, not the other way round. */
const VERSION = "0.5.14";

export interface EngineDesk {
  /** Runs npm with these arguments; rejects when it fails. */
  runNpm(args: readonly string[]): Promise<void>;
  /** True for yes; null where there is nobody to ask. */
  ask: ((question: string) => Promise<boolean>) | null;
  say(text: string): void;
  /** Looks where packages of this program are found, too; false in tests. */
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
export async function prepareEngine(folder: string, desk: EngineDesk): Promise<string> {
  const found = findEngine(folder, desk.isShared);
  if (found) return found;
  const args = installArguments(folder);
  const command = `npm ${args.map((arg) => (/[^\w@./:=-]/.test(arg) ? JSON.stringify(arg) : arg)).join(" ")}`;
  const missing = `the embedded database is not on this machine: run \`${command}\`, or use PostgreSQL with --database postgres://…`;
  if (!desk.ask) throw new MemdirError("not-found", `${missing}; with --yes this is done for you`);
  const question = `The embedded database (PGlite ${VERSION}, about 27 MB) is fetched from npm into ${engineFolder(folder)}. Go on?`;
  if (!(await desk.ask(question))) throw new MemdirError("not-found", missing);
  desk.say(`fetching ${PACKAGE} ${VERSION} …`);
  try {
    mkdirSync(engineFolder(folder), { recursive: true, mode: 0o700 });
  } catch (error) {
    throw diskError(error, "make the folder", engineFolder(folder));
  }
  await desk.runNpm(args).catch((cause) => {
    throw new MemdirError("network", `npm could not fetch ${PACKAGE}: run \`${command}\` and see what it says`, {
      cause,
    });
  });
  const fetched = findEngine(folder, desk.isShared);
  if (!fetched)
    throw new MemdirError("network", `npm left no ${PACKAGE} behind: run \`${command}\` and see what it says`);
  return fetched;
}

/** No scripts of packages are run: it needs none. */
function installArguments(folder: string): string[] {
  const quiet = ["--no-save", "--ignore-scripts", "--no-audit", "--no-fund"];
  return ["install", "--prefix", engineFolder(folder), ...quiet, `${PACKAGE}@${VERSION}`];
}

function engineFolder(folder: string): string {
  return join(folder, "engine");
}

/** Longer than a slow line takes for 27 MB. */
const NPM_MS = 10 * 60 * 1000;

/** The real npm. Windows has only a script for shells, so the program behind it is run, which lies beside Node. */
export function runNpm(args: readonly string[]): Promise<void> {
  const program = join(dirname(process.execPath), "node_modules", "npm", "bin", "npm-cli.js");
  const [file, all] =
    process.platform === "win32" && existsSync(program) ? [process.execPath, [program, ...args]] : ["npm", [...args]];
  return new Promise((resolve, reject) => {
    execFile(file, all, { timeout: NPM_MS, maxBuffer: 16 * 1024 * 1024, windowsHide: true }, (error) =>
      error ? reject(error) : resolve(),
    );
  });
}
