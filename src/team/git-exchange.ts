/** The two words that are exchanged with a git remote: fetch and push. Our refs follow what the remote has, never the other way. */

import { MemdirError } from "../errors.ts";
import type { GitAnswer } from "../project/git.ts";
import { damage, type Repository, refOf } from "./git-repository.ts";

/** The branch's last commit as the remote last showed it; null for none. */
export async function readTip(repository: Repository): Promise<string | null> {
  const args = ["rev-parse", "--quiet", "--verify", `${refOf(repository, "tip")}^{commit}`];
  const answer = await repository.ask(args);
  // A ref that names something that is not there fails too, with words.
  if (answer.code === 0) return answer.output.toString("latin1").trim();
  if (answer.code === 1 && answer.said.trim() === "") return null;
  throw damage(repository.address.mask(answer.said) || "a ref cannot be read");
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
    if (before !== null) await keepLost(repository, before, "is gone from the remote and is made anew");
    return null;
  }
  const tip = await readTip(repository);
  if (before !== tip) await tidy(repository);
  if (before !== null && tip !== null && before !== tip && !(await isAncestor(repository, before, tip)))
    await keepLost(repository, before, "was rewritten by somebody; what the remote has now counts");
  return tip;
}

/** Null when the remote took it, else its words for "somebody was faster". Throws when it cannot be told, or never will be taken. */
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

async function isAncestor(repository: Repository, older: string, newer: string): Promise<boolean> {
  const { code } = await repository.ask(["merge-base", "--is-ancestor", older, newer]);
  return code === 0;
}

/** What the remote does not have any more stays in the cache, for a person to look at. */
async function keepLost(repository: Repository, lost: string, what: string): Promise<void> {
  const { address, branch, log } = repository;
  const kept = refOf(repository, `before/${lost}`);
  const drop = what.startsWith("is gone") ? `delete ${refOf(repository, "tip")}\n` : "";
  await repository.local(["update-ref", "--stdin"], { input: `update ${kept} ${lost}\n${drop}` });
  log(`the branch ${branch} of ${address.name} ${what}; its former state is kept as ${kept} in ${repository.cache}`);
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
  if (answer.cut === "timeout")
    return new MemdirError(
      "network",
      `${address.name} did not answer within ${timeoutMs / 1000} s: check the network and try again, nothing is half done`,
    );
  // A folder as remote has troubles of its own, which come as the words of the other side.
  if (refused === undefined && OWN_TROUBLE.test(answer.said) && !/^remote: (fatal|error)/m.test(answer.said))
    return damage(reasonOf(repository, answer.said));
  const reason = refused ? address.mask(refused) : reasonOf(repository, answer.said);
  return new MemdirError("network", `cannot ${doing} ${address.name}: ${reason}; ${remedyFor(answer.said)}`);
}

function reasonOf({ address }: Repository, said: string): string {
  const lines = said.split("\n").map((line) => line.trim());
  const telling = lines.find((line) => /^(fatal|error|ssh|remote: (error|fatal)):? /i.test(line));
  const last = lines.filter((line) => line !== "").at(-1);
  return address.mask(telling ?? last ?? "git gave no reason").replace(/^(fatal|error): /, "");
}

function remedyFor(said: string): string {
  if (/could not read (Username|Password)|Authentication failed|Permission denied|403|401/i.test(said))
    return "sign in once with git in a terminal (git ls-remote), memdir never asks for passwords";
  if (/Host key verification failed/i.test(said)) return "connect once with ssh in a terminal to accept its key";
  if (/does not appear to be a git repository|not found|does not exist/i.test(said))
    return "check the name, and make the repository if there is none";
  return "check the network and try again, nothing is half done";
}
