/** The transport's own bare repository: made when it is missing, made anew when it is damaged, used by one process at a time. */

import { existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Env } from "../config.ts";
import { moveInto, writeTemporary } from "../disk/atomic.ts";
import { readRegular } from "../disk/fence.ts";
import { acquireLock } from "../disk/lock.ts";
import { diskError, MemdirError } from "../errors.ts";
import { type GitAnswer, type GitCall, runGit } from "../project/git.ts";
import { sha256 } from "../text/hash.ts";
import type { Remote } from "./git-remote.ts";

export interface RepositoryOptions {
  remote: Remote;
  branch: string;
  /** The folder that holds it, with its lock; other remotes may use the same one. */
  cache: string;
  env: Env;
  log: (message: string) => void;
  /** For one command that talks to the remote. */
  timeoutMs: number;
}

/** One held lock on a repository that is there. */
export interface Repository extends RepositoryOptions {
  /** Apart for every remote and branch: names of refs and files. */
  key: string;
  signal: AbortSignal | undefined;
  /** A command that talks to nobody. Throws Damaged when git fails: all that it needs is here. */
  local(args: readonly string[], call?: GitCall): Promise<Buffer>;
  /** Whatever came of it; `local` is the one to use where failure has no meaning. */
  ask(args: readonly string[], call?: GitCall): Promise<GitAnswer>;
}

/** What the transport knows of a branch lies in these refs: `tip` as the remote last had it, `pending` not yet accepted. */
export function refOf(repository: Repository, kind: "tip" | "pending" | `before/${string}`): string {
  return `refs/memdir/${repository.key}/${kind}`;
}

/** Marks failures that a fresh repository mends: everything in it can be fetched again. */
export interface Damage {
  damaged: string;
}

export function isDamage(error: unknown): error is Damage {
  return typeof error === "object" && error !== null && "damaged" in error;
}

/** Runs `work` with the lock held; if the repository turns out to be damaged, once more with a new one. */
export async function withRepository<T>(
  options: RepositoryOptions,
  signal: AbortSignal | undefined,
  work: (repository: Repository) => Promise<T>,
): Promise<T> {
  try {
    mkdirSync(options.cache, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw diskError(error, "make the folder", options.cache);
  }
  const lock = await waitForLock(options, signal);
  try {
    return await workOrMend(options, signal, work);
  } catch (error) {
    if (signal?.aborted) throw stopped(options.remote, signal);
    throw error;
  } finally {
    lock.release();
  }
}

async function workOrMend<T>(
  options: RepositoryOptions,
  signal: AbortSignal | undefined,
  work: (repository: Repository) => Promise<T>,
): Promise<T> {
  const repository = describeRepository(options, signal);
  try {
    await makeRepository(repository);
    return await work(repository);
  } catch (error) {
    if (!isDamage(error) || signal?.aborted) throw error;
    options.log(`the copy of ${options.remote.name} in ${options.cache} is damaged and is fetched anew`);
    clearRepository(repository);
  }
  try {
    await makeRepository(repository);
    return await work(repository);
  } catch (error) {
    if (!isDamage(error)) throw error;
    throw new MemdirError("disk", `git fails in ${options.cache} (${error.damaged}): remove that folder and try again`);
  }
}

/** As long as two commands of the holder may take. */
async function waitForLock({ cache, timeoutMs, remote }: RepositoryOptions, signal: AbortSignal | undefined) {
  try {
    return await acquireLock(cache, { timeoutMs: 2 * timeoutMs, ...(signal && { signal }) });
  } catch (error) {
    if (signal?.aborted) throw stopped(remote, signal);
    throw error;
  }
}

function stopped(remote: Remote, signal: AbortSignal): MemdirError {
  return new MemdirError("network", `stopped before ${remote.name} was through: run it again, nothing is half done`, {
    cause: signal.reason,
  });
}

function describeRepository(options: RepositoryOptions, signal: AbortSignal | undefined): Repository {
  const { cache, env, remote, branch } = options;
  const git = { root: cache, directory: join(cache, FOLDER), env, protocols: remote.protocols, signal };
  const ask = async (args: readonly string[], call: GitCall = {}) => {
    const answer = await runGit(git, args, call);
    if (answer.cut === "no git") throw noGit(answer);
    return answer;
  };
  return {
    ...options,
    key: sha256(`${remote.name}\n${branch}`).slice(0, 16),
    signal,
    ask,
    async local(args, call) {
      const answer = await ask(args, call);
      if (answer.code !== 0) throw damage(remote.mask(answer.said) || `git ${args[0]}: ${answer.cut ?? answer.code}`);
      return answer.output;
    },
  };
}

export function damage(reason: string): Damage {
  return { damaged: reason };
}

const FOLDER = "repository.git";

async function makeRepository(repository: Repository): Promise<void> {
  const { cache, env, signal } = repository;
  const directory = join(cache, FOLDER);
  if (existsSync(join(directory, "HEAD")) && existsSync(join(directory, "objects"))) {
    if (!keepPlain(directory)) throw damage("its configuration is not that of a repository");
    return;
  }
  clearRepository(repository);
  const answer = await runGit({ root: cache, env, signal }, ["init", "--quiet", "--bare", directory]);
  if (answer.cut === "no git") throw noGit(answer);
  if (answer.code !== 0 && !signal?.aborted)
    throw new MemdirError(
      "disk",
      `cannot make a repository in ${cache} (${repository.remote.mask(answer.said)}): check that it is writable`,
    );
}

/** What `git init` writes. */
const PLAIN =
  /^\s*(\[(core|extensions|receive)\]|(repositoryformatversion|bare|filemode|logallrefupdates|symlinks|ignorecase|precomposeunicode|hidedotfiles|sharedrepository|denynonfastforwards|objectformat|refstorage) = \w+)?\s*$/i;

/**
 * Takes out of the repository's own configuration what memdir did not write there: git talks to remotes from it, with the
 * user's credentials. False when what is left is not that of a bare repository.
 */
function keepPlain(directory: string): boolean {
  const file = join(directory, "config");
  const text = readRegular(file)?.toString("utf8") ?? "";
  const lines = text.split("\n");
  const plain = lines.filter((line) => PLAIN.test(line));
  if (plain.length < lines.length) moveInto(writeTemporary(directory, plain.join("\n"), 0o644), file);
  return /bare = true/i.test(plain.join("\n"));
}

export function noGit({ said }: GitAnswer): MemdirError {
  return new MemdirError("disk", `git cannot be run (${said}): install it, or set PATH`);
}

/** The repository and what was worked out from it. Only what bears our names: the folder may hold other things. */
function clearRepository({ cache }: Repository): void {
  try {
    const notes = readdirSync(cache).filter((name) => /^history-[0-9a-f]{16}\.json$/.test(name));
    for (const name of [FOLDER, ...notes]) rmSync(join(cache, name), { recursive: true, force: true, maxRetries: 3 });
  } catch (error) {
    throw diskError(error, "clear", cache);
  }
}
