/** A branch of any git remote as a remote: a user's memories on several machines without a server. */

import { MemdirError } from "../errors.ts";
import type { World } from "../world.ts";
import { findBranchProblem, parseGitAddress } from "./git-address.ts";
import {
  type Branch,
  type BranchEntry,
  NO_BRANCH,
  readBranch,
  readTexts,
  readTouches,
  revisionOf,
} from "./git-branch.ts";
import { entryOf, judgeChanges, makeCommit, refuseChange, type Who, type Write } from "./git-commit.ts";
import {
  damage,
  fetchTip,
  pushCommit,
  type Repository,
  type RepositoryOptions,
  readTip,
  withRepository,
} from "./git-repository.ts";
import type { RemoteEntry } from "./protocol.ts";
import type { Remote, RemoteChange, RemoteOutcome, RemoteVersion } from "./remote.ts";

export interface GitRemoteOptions {
  /** An https or ssh URL, `host:path`, or a folder. */
  remote: string;
  /** A branch of its own, made by the first push without a parent. */
  branch?: string | undefined;
  /** A folder of ours: a bare repository, its lock, what was worked out from it. All of it can be removed at any time. */
  cache: string;
  who: Who;
  /** What a relative path of a remote starts from; without it, such a remote is refused. */
  cwd?: string;
  /** For one command that talks to the remote. */
  timeoutMs?: number;
}

/** `random` spreads out clients that push at the same moment. */
type Outside = Pick<World, "now" | "env" | "log" | "random" | "sleep">;

/** A first fetch over a slow line takes this long; a remote that is silent for longer is gone. */
const TIMEOUT_MS = 120_000;

/** Every rejected push means that another client was accepted: with ten at once, one of them needs ten. */
const MAX_PUSHES = 12;

/** Others' pushes that are under way lock the branch for moments; one that stays locked is the remote's trouble. */
const MAX_UNMOVED = 4;

/** A pass fetches texts in several calls: they need not all ask the remote again. */
const FRESH_MS = 5_000;

export function openGitRemote(outside: Outside, options: GitRemoteOptions): Remote {
  const { branch: branchName = "memdir", cache, timeoutMs = TIMEOUT_MS } = options;
  const { env, log } = outside;
  const address = parseGitAddress(options.remote, options.cwd);
  const problem = findBranchProblem(branchName);
  if (problem !== null)
    throw new MemdirError("usage", `the branch ${JSON.stringify(branchName)} cannot be used: ${problem}`);
  const where: RepositoryOptions = { address, branch: branchName, cache, env, log, timeoutMs };
  let known: Branch | null = null;
  let checkedForFetch = Number.NEGATIVE_INFINITY;

  const open = <T>(signal: AbortSignal | undefined, work: (opened: Opened) => Promise<T>) =>
    withRepository(where, signal, (repository) => {
      const at = async (tip: string | null) => {
        if (tip === null) return NO_BRANCH;
        if (known?.tip !== tip) known = await readBranch(repository, tip);
        return known;
      };
      return work({ repository, at, refresh: async () => at(await fetchTip(repository)) });
    });

  return {
    name: `${address.name}#${branchName}`,

    list: (signal) =>
      open(signal, async ({ refresh }) => {
        const { entries } = await refresh();
        checkedForFetch = Number.NEGATIVE_INFINITY;
        const sorted = [...entries.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
        return { id: `git:${address.name}#${branchName}`, entries: sorted.map(entryOf) };
      }),

    fetch: (entries, signal) =>
      open(signal, async ({ repository, at, refresh }) => {
        if (entries.length === 0) return new Map();
        const isFresh = performance.now() - checkedForFetch < FRESH_MS;
        const tip = isFresh ? await readTip(repository) : null;
        const branch = await (tip === null ? refresh() : at(tip));
        if (tip === null) checkedForFetch = performance.now();
        return fetchTexts(repository, branch, entries);
      }),

    apply: (changes, signal) =>
      open(signal, async (opened) => (changes.length === 0 ? [] : applyChanges(opened, outside, options.who, changes))),

    versions: (path, signal) =>
      open(signal, async ({ repository, refresh }) => readVersions(repository, await refresh(), path)),
  };
}

interface Opened {
  repository: Repository;
  /** The branch at a commit; worked out once. */
  at(tip: string | null): Promise<Branch>;
  /** The branch as the remote has it now. */
  refresh(): Promise<Branch>;
}

/**
 * First against the branch as it was last seen: if the remote takes the push, it was the same. Whatever does not hold there is
 * asked again against the remote's newest, so that an answer other than "done" is never an old one.
 */
async function applyChanges(
  { repository, at: branchAt, refresh }: Opened,
  { now, random, sleep }: Outside,
  who: Who,
  changes: readonly RemoteChange[],
): Promise<RemoteOutcome[]> {
  const outcomes = changes.map(refuseChange);
  const { name } = repository.address;
  let branch = await branchAt(await readTip(repository));
  let isFresh = false;
  let unmoved = 0;
  for (let pushes = 0; ; ) {
    const verdicts = judgeChanges(branch, changes, outcomes);
    // Only a write proves itself, by being accepted.
    if (!isFresh && verdicts.some((verdict) => verdict !== null && verdict.kind !== "write")) {
      branch = await refresh();
      isFresh = true;
      continue;
    }
    const writes: Write[] = [];
    for (const [i, verdict] of verdicts.entries()) {
      if (verdict?.kind === "write") writes.push(verdict);
      else outcomes[i] ??= verdict;
    }
    if (writes.length === 0) return outcomes as RemoteOutcome[];
    const commit = await makeCommit(repository, branch, writes, { who, at: now() });
    const refused = await pushCommit(repository, commit);
    if (refused === null) {
      for (const { at, change, blob } of writes)
        outcomes[at] = { kind: "done", path: change.path, revision: revisionOf({ blob, commit }) };
      if (!outcomes.includes(null)) return outcomes as RemoteOutcome[];
      branch = await branchAt(commit);
      isFresh = true;
      continue;
    }
    if (++pushes >= MAX_PUSHES) {
      const message = `others kept writing to ${name} faster than we could: run it again, nothing is half done`;
      throw new MemdirError("network", message);
    }
    // A push over a line takes a few hundred milliseconds; waits grow to a second.
    await sleep(random() * Math.min(1000, 25 * 2 ** pushes), repository.signal).catch(() => {});
    const before = branch.tip;
    branch = await refresh();
    unmoved = isFresh && branch.tip === before ? unmoved + 1 : 0;
    if (unmoved >= MAX_UNMOVED) {
      const advice = "no other client writes there; look at the remote for a lock that was left behind";
      throw new MemdirError("network", `${name} does not accept changes (${refused}): ${advice}`);
    }
    isFresh = true;
  }
}

async function fetchTexts(
  repository: Repository,
  branch: Branch,
  wanted: readonly RemoteEntry[],
): Promise<Map<string, string>> {
  const still = wanted.flatMap((entry): BranchEntry[] => {
    const there = branch.entries.get(entry.path);
    return there && !there.deleted && there.revision === entry.revision ? [there] : [];
  });
  const texts = await readTexts(repository, new Set(still.map(({ blob }) => blob)));
  return new Map(
    still.map(({ path, blob }) => {
      const text = texts.get(blob);
      if (text === undefined) throw damage(`the text of ${path} is missing`);
      return [path, text];
    }),
  );
}

async function readVersions(repository: Repository, branch: Branch, path: string): Promise<RemoteVersion[]> {
  if (branch.tip === null || !branch.entries.has(path)) return [];
  const touches = await readTouches(repository, branch.tip, path);
  const texts = await readTexts(repository, new Set(touches.flatMap(({ blob }) => blob || [])));
  return touches.map((touch) => {
    const { blob, author, at } = touch;
    return { revision: revisionOf(touch), author, at, text: texts.get(blob) ?? null };
  });
}
