/** Keeps a memory directory's record of its project, and notices when another project uses the same directory. */

import { existsSync, mkdirSync } from "node:fs";
import { basename, join } from "node:path";
import type { Config, Env } from "../config.ts";
import { writeCacheFile } from "../disk/atomic.ts";
import { pinFolder } from "../disk/pin.ts";
import { MemdirError } from "../errors.ts";
import { type Location, locate, trustKey } from "./locate.ts";
import {
  compareOwner,
  formatOwner,
  identifyProject,
  mergeOwner,
  type Ownership,
  ownerFile,
  readOwner,
} from "./owner.ts";
import { sha256Key, slugOf } from "./slug.ts";
import { setUserEntry } from "./user-file.ts";

/** Git is asked only when the record does not name this root already. */
async function checkOwner(location: Location, env: Env): Promise<Ownership> {
  const owner = readOwner(location.dir);
  if (owner === null) return "unknown";
  if (owner.shared || owner.roots.includes(location.project.root)) return "same";
  return compareOwner(owner, await identifyProject(location.project, env), existsSync);
}

/** Null when all is well. Only a computed directory can be shared by accident. */
export async function findOwnerWarning(location: Location, env: Env): Promise<string | null> {
  if (location.source !== "computed") return null;
  const other = readOwner(location.dir)?.roots[0];
  const ownership = await checkOwner(location, env);
  if (ownership === "collision") {
    return `this memory directory is also used by ${other}, because both paths make the same name: \`memdir adopt --separate\` gives this project its own, \`memdir adopt --share\` keeps one for both`;
  }
  if (ownership === "abandoned") {
    return `this memory directory belonged to ${other}, which is gone: \`memdir adopt --keep\` takes it over, \`memdir adopt --separate\` starts a new one`;
  }
  return null;
}

/** The user's word on a directory that two paths lead to. */
export async function settleOwner(
  way: "separate" | "share" | "keep",
  location: Location,
  config: Config,
  env: Env,
  now: () => Date,
): Promise<{ dir: string; message: string }> {
  const { root } = location.project;
  if (way === "separate") {
    const name = `${slugOf(root).slice(0, 180)}-${sha256Key(root).slice(0, 8)}`;
    setUserEntry(config, "directories", root, name);
    const dir = locate({ cwd: root, config: { ...config, directories: { ...config.directories, [root]: name } } }).dir;
    return {
      dir,
      message: `${root} now has its own directory, ${dir}; for Claude Code to use it too, set "autoMemoryDirectory" to it in .claude/settings.local.json`,
    };
  }
  if (!existsSync(location.dir))
    throw new MemdirError("usage", `${location.dir} does not exist yet: nobody else uses it`);
  mkdirSync(join(location.dir, ".memdir", "tmp"), { recursive: true, mode: 0o700 });
  await claimDirectory(location, env, { now, force: true, shared: way === "share" });
  const what = way === "share" ? "is shared by all projects that lead to it" : `belongs to ${root}`;
  return { dir: location.dir, message: `${location.dir} ${what}` };
}

/** The user allows this project's instruction files to import from outside the working directory. */
export function approveImports(location: Location, config: Config, now: Date): { root: string; message: string } {
  const root = trustKey(location.project);
  setUserEntry(config, "approvedImports", root, now.toISOString());
  return { root, message: `instruction files of ${root} may now import files from outside the working directory` };
}

/** What tools of this project's agent may do without asking from now on. */
export function keepPermitted(location: Location, config: Config, kinds: readonly string[]): void {
  setUserEntry(config, "permitted", trustKey(location.project), kinds);
}

export function findPermitted(location: Location, config: Config): readonly string[] {
  return config.permitted[trustKey(location.project)] ?? [];
}

/** The user allows, or no longer allows, what the repository's settings ask for. */
export function trustDirectory(
  location: Location,
  config: Config,
  revoke: boolean,
): { dir: string | null; message: string } {
  const key = trustKey(location.project);
  if (revoke) {
    setUserEntry(config, "trusted", key, null);
    return { dir: null, message: `${key} may no longer choose a memory directory outside itself` };
  }
  if (!location.untrusted) {
    throw new MemdirError(
      "usage",
      "this repository's settings ask for no memory directory outside it: there is nothing to allow",
    );
  }
  const { dir } = location.untrusted;
  setUserEntry(config, "trusted", key, dir);
  return { dir, message: `${dir} is now the memory directory of ${key}` };
}

/** Through folders that are held open: a link in their place must not lead the record elsewhere. */
function writeOwner(dir: string, text: string): void {
  const base = pinFolder(join(dir, ".memdir"));
  try {
    const tmp = pinFolder(join(base.path, "tmp"));
    try {
      writeCacheFile(tmp.path, join(base.path, basename(ownerFile(dir))), text);
    } finally {
      tmp.close();
    }
  } finally {
    base.close();
  }
}

/** Records this project, unless the directory is another's: that is for the user to settle. */
export async function claimDirectory(
  location: Location,
  env: Env,
  options: { now: () => Date; force?: boolean; shared?: boolean },
): Promise<void> {
  if (location.source !== "computed") return;
  const owner = readOwner(location.dir);
  if (!options.force && owner?.roots.includes(location.project.root)) return;
  const identity = await identifyProject(location.project, env);
  const ownership = compareOwner(owner, identity, existsSync);
  if (!options.force && (ownership === "collision" || ownership === "abandoned")) return;
  const shared = options.shared === undefined ? {} : { shared: options.shared };
  const next = mergeOwner(owner, identity, { at: options.now().toISOString(), ...shared });
  writeOwner(location.dir, formatOwner(next));
}
