/** The transport's own bare repository: created when it is missing, recreated when it is damaged, used by one process at a time; and what it exchanges with its remote. */

import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Env } from "../config.ts";
import { moveInto, readRegular, writeTemporary } from "../disk/fence.ts";
import { diskError, MemdirError, onDisk } from "../errors.ts";
import { type GitAnswer, type GitCall, runGit } from "../project/git.ts";
import { openStateIn } from "../store/store.ts";
import { sha256 } from "../text/hash.ts";
import { type GitAddress, noGit } from "./git-address.ts";

interface RepositoryOptions {
  address: GitAddress;
  branch: string;
  /** The folder that holds it, with its lock; other remotes may use the same one. */
  cache: string;
  env: Env;
  log: (message: string) => void;
  /** For one command that talks to the remote. */
  timeoutMs: number;
}

/** One held lock on a repository that is there. */
export type Repository = ReturnType<typeof describeRepository>;

/** What the transport knows of a branch is in these refs: `tip` as the remote last had it, `pending` not yet accepted. */
export function refOf(repository: Repository, kind: "tip" | "pending" | `before/${string}`): string {
  return `refs/memdir/${repository.key}/${kind}`;
}

/** Marks failures that a fresh repository fixes: everything in it can be fetched again. */
export class Damage extends Error {}

/** Runs `work` with the lock held; if the repository turns out to be damaged, once more with a new one. */
export async function withRepository<T>(
  options: RepositoryOptions,
  signal: AbortSignal | undefined,
  work: (repository: Repository) => Promise<T>,
): Promise<T> {
  const { cache, address, timeoutMs, log } = options;
  let release = () => {};
  try {
    // As long as two commands of the holder may take.
    const wait = { timeoutMs: 2 * timeoutMs, ...(signal && { signal }) };
    const failed = (error: unknown) => {
      throw diskError(error, "lock", cache);
    };
    release = await openStateIn(cache, true).lock("lock").wait(wait).catch(failed);
    const repository = describeRepository(options, signal);
    for (let attempt = 1; ; attempt++) {
      try {
        await makeRepository(repository);
        return await work(repository);
      } catch (error) {
        if (!(error instanceof Damage) || signal?.aborted) throw error;
        const message = `git fails in ${cache} (${error.message}): remove that folder and try again`;
        if (attempt > 1) throw new MemdirError("disk", message);
        log(`the copy of ${address.name} in ${cache} is damaged; it is fetched again`);
        clearRepository(repository);
      }
    }
  } catch (error) {
    if (!signal?.aborted) throw error;
    const message = `stopped before the sync with ${address.name} was done: run it again, nothing is half done`;
    throw new MemdirError("network", message, { cause: signal.reason });
  } finally {
    release();
  }
}

function describeRepository(options: RepositoryOptions, signal: AbortSignal | undefined) {
  const { cache, env, address, branch } = options;
  const git = { root: cache, directory: join(cache, FOLDER), env, protocols: address.protocols, signal };
  const ask = async (args: readonly string[], call: GitCall = {}) => {
    const answer = await runGit(git, args, call);
    if (answer.cut === "no git") throw noGit(answer);
    return answer;
  };
  return {
    ...options,
    /** Apart for every remote and branch: names of refs and files. */
    key: sha256(`${address.name}\n${branch}`).slice(0, 16),
    signal,
    /** Whatever came of it; `local` is the one to use where failure has no meaning. */
    ask,
    /** A command that needs no remote. Throws Damage when git fails: all that it needs is here. */
    async local(args: readonly string[], call?: GitCall): Promise<Buffer> {
      const answer = await ask(args, call);
      if (answer.code !== 0)
        throw new Damage(address.mask(answer.said) || `git ${args[0]}: ${answer.cut ?? answer.code}`);
      return answer.output;
    },
  };
}

const FOLDER = "repository.git";

async function makeRepository(repository: Repository): Promise<void> {
  const { cache, signal, address } = repository;
  const directory = join(cache, FOLDER);
  if (existsSync(join(directory, "HEAD")) && existsSync(join(directory, "objects"))) {
    if (!keepPlain(directory)) throw new Damage("its configuration is not that of a repository");
    return;
  }
  clearRepository(repository);
  const { code, said } = await repository.ask(["init", "--quiet", "--bare"]);
  const message = `cannot make a repository in ${cache} (${address.mask(said)}): check that it is writable`;
  if (code !== 0 && !signal?.aborted) throw new MemdirError("disk", message);
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

/** The repository alone: what was worked out from its history holds for every copy of that. */
function clearRepository({ cache }: Repository): void {
  onDisk("clear", cache, () => rmSync(join(cache, FOLDER), { recursive: true, force: true, maxRetries: 3 }));
}

/** The branch's last commit as the remote last showed it; null for none. */
export async function readTip(repository: Repository): Promise<string | null> {
  const args = ["rev-parse", "--quiet", "--verify", `${refOf(repository, "tip")}^{commit}`];
  const answer = await repository.ask(args);
  // A ref that names something that is not there fails too, with words.
  if (answer.code === 0) return answer.output.toString("latin1").trim();
  if (answer.code === 1 && answer.said.trim() === "") return null;
  throw new Damage(repository.address.mask(answer.said) || "a ref cannot be read");
}

/** Asks the remote. Null when it has no such branch. */
export async function fetchTip(repository: Repository): Promise<string | null> {
  const before = await readTip(repository);
  const { address, branch, timeoutMs } = repository;
  const refspec = `+refs/heads/${branch}:${refOf(repository, "tip")}`;
  const args = ["fetch", "--quiet", "--no-tags", "--update-shallow", "--", address.url];
  const answer = await repository.ask([...args, refspec], { timeoutMs });
  if (answer.code !== 0) {
    if (answer.cut !== null || !/couldn't find remote ref/i.test(answer.said))
      throw failure(repository, answer, "read");
    if (before !== null) await keepLost(repository, before, true);
    return null;
  }
  const tip = await readTip(repository);
  if (before === tip) return tip;
  await tidy(repository);
  const isRewritten =
    before !== null && tip !== null && (await repository.ask(["merge-base", "--is-ancestor", before, tip])).code !== 0;
  if (isRewritten) await keepLost(repository, before, false);
  return tip;
}

/** Null when the remote took it, else its words for "another push was faster". Throws when it is unclear, or will never be accepted. */
export async function pushCommit(repository: Repository, commit: string): Promise<string | null> {
  const { address, branch, timeoutMs } = repository;
  const options = ["--porcelain", "--no-follow-tags", "--no-thin"];
  const args = ["push", ...options, "--", address.url, `${commit}:refs/heads/${branch}`];
  const answer = await repository.ask(args, { timeoutMs });
  if (answer.code === 0) {
    const input = `update ${refOf(repository, "tip")} ${commit}\ndelete ${refOf(repository, "pending")}\n`;
    await repository.local(["update-ref", "--stdin"], { input });
    await tidy(repository);
    return null;
  }
  const refused = /^!\t[^\t]*\t(.*)$/m.exec(answer.output.toString("utf8"))?.[1];
  if (answer.cut === null && refused !== undefined && FASTER.test(refused)) return address.mask(refused);
  throw failure(repository, answer, "write to", refused);
}

/** The words of git and of its servers for "the branch is not what you think it is". */
const FASTER =
  /non-fast-forward|fetch first|stale info|failed to update ref|cannot lock ref|failed to lock|reference already exists|incorrect old value|needs force/i;

/** What the remote does not have any more stays in the cache, for a person to look at. */
async function keepLost(repository: Repository, lost: string, isGone: boolean): Promise<void> {
  const { address, branch, cache, log } = repository;
  const kept = refOf(repository, `before/${lost}`);
  const drop = isGone ? `delete ${refOf(repository, "tip")}\n` : "";
  await repository.local(["update-ref", "--stdin"], { input: `update ${kept} ${lost}\n${drop}` });
  const what = isGone
    ? "is gone from the remote and is created again"
    : "was rewritten; texts here that it no longer has are kept and sent again";
  log(`the branch ${branch} of ${address.name} ${what}; its former state is kept as ${kept} in ${cache}`);
}

/** Cheap while there is little to do; not worth a failure. */
async function tidy(repository: Repository): Promise<void> {
  await repository.ask(["gc", "--auto", "--quiet"], { settings: ["gc.auto=2000", "gc.autoDetach=false"] });
}

/** What git says when its own repository is the trouble, not the remote or the line. */
const OWN_TROUBLE =
  /bad object|loose object|object file .* is empty|bad config|not a git repository: '|unable to parse object|did not send all necessary|\.lock': File exists|packfile .* (cannot|does not|is far)|missing (blob|tree|commit)|invalid sha1 pointer|bad tree|not a valid ref|cannot update the ref|unable to create temporary/i;

function failure(repository: Repository, answer: GitAnswer, doing: string, refused?: string): unknown {
  const { address, timeoutMs } = repository;
  const late = `${address.name} did not answer within ${timeoutMs / 1000} s: check the network and try again, nothing is half done`;
  if (answer.cut === "timeout") return new MemdirError("network", late);
  // A folder as remote has troubles of its own, which come as the words of the other side.
  if (refused === undefined && OWN_TROUBLE.test(answer.said) && !/^remote: (fatal|error)/m.test(answer.said))
    return new Damage(reasonOf(repository, answer.said));
  const reason = refused ? address.mask(refused) : reasonOf(repository, answer.said);
  return new MemdirError("network", `cannot ${doing} ${address.name}: ${reason}; ${remedyFor(answer.said)}`);
}

function reasonOf({ address }: Repository, said: string): string {
  const lines = said.split("\n").map((line) => line.trim());
  const reason = lines.find((line) => /^(fatal|error|ssh|remote: (error|fatal)):? /i.test(line));
  const last = lines.filter((line) => line !== "").at(-1);
  return address.mask(reason ?? last ?? "git gave no reason").replace(/^(fatal|error): /, "");
}

function remedyFor(said: string): string {
  if (/could not read (Username|Password)|Authentication failed|Permission denied|403|401/i.test(said))
    return "sign in once with git in a terminal (git ls-remote), memdir never asks for passwords";
  if (/Host key verification failed/i.test(said)) return "connect once with ssh in a terminal to accept its key";
  if (/does not appear to be a git repository|not found|does not exist/i.test(said))
    return "check the name, and make the repository if there is none";
  return "check the network and try again, nothing is half done";
}
