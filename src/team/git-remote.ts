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
import {
  entryOf,
  judgeChanges,
  makeCommit,
  outcomeOf,
  refuseChange,
  type Verdict,
  type Who,
  type Write,
} from "./git-commit.ts";
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

/** Every rejected push means that another client was accepted: with ten at once, somebody needs ten. */
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

  /** The branch at a commit; worked out once. */
  async function branchAt(repository: Repository, tip: string | null): Promise<Branch> {
    if (tip === null) return NO_BRANCH;
    if (known?.tip !== tip) known = await readBranch(repository, tip);
    return known;
  }
  const refresh = async (repository: Repository) => branchAt(repository, await fetchTip(repository));

  return {
    name: `${address.name}#${branchName}`,

    list: (signal) =>
      withRepository(where, signal, async (repository) => {
        const { entries } = await refresh(repository);
        checkedForFetch = Number.NEGATIVE_INFINITY;
        const sorted = [...entries.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
        return { id: `git:${address.name}#${branchName}`, entries: sorted.map(entryOf) };
      }),

    fetch: (entries, signal) =>
      withRepository(where, signal, async (repository) => {
        if (entries.length === 0) return new Map();
        const isFresh = performance.now() - checkedForFetch < FRESH_MS;
        const tip = isFresh ? await readTip(repository) : null;
        if (tip !== null) return fetchTexts(repository, await branchAt(repository, tip), entries);
        const branch = await refresh(repository);
        checkedForFetch = performance.now();
        return fetchTexts(repository, branch, entries);
      }),

    apply: (changes, signal) =>
      withRepository(where, signal, async (repository) => {
        if (changes.length === 0) return [];
        return applyChanges({ repository, outside, who: options.who, refresh, branchAt }, changes);
      }),

    versions: (path, signal) =>
      withRepository(where, signal, async (repository) => {
        const branch = await refresh(repository);
        return branch.tip === null ? [] : readVersions(repository, branch, path);
      }),
  };
}

interface Applying {
  repository: Repository;
  outside: Outside;
  who: Who;
  refresh(repository: Repository): Promise<Branch>;
  branchAt(repository: Repository, tip: string | null): Promise<Branch>;
}

/**
 * First against the branch as it was last seen: if the remote takes the push, it was the same. Whatever does not hold there is
 * asked again against the remote's newest, so that an answer other than "done" is never an old one.
 */
async function applyChanges(applying: Applying, changes: readonly RemoteChange[]): Promise<RemoteOutcome[]> {
  const { repository, outside, who } = applying;
  const outcomes = changes.map(refuseChange);
  let branch = await applying.branchAt(repository, await readTip(repository));
  let isFresh = false;
  let unmoved = 0;
  for (let pushes = 0; ; ) {
    const open = outcomes.flatMap((outcome, at) => (outcome === null ? [at] : []));
    const verdicts = judgeChanges(
      branch,
      open.map((at) => changes[at] as RemoteChange),
    );
    if (!isFresh && verdicts.some(needsNewest)) {
      branch = await applying.refresh(repository);
      isFresh = true;
      continue;
    }
    const writes: { at: number; write: Write }[] = [];
    for (const [i, verdict] of verdicts.entries()) {
      const at = open[i] as number;
      if (verdict.kind === "write") writes.push({ at, write: verdict.write });
      else if (verdict.kind !== "later") outcomes[at] = verdict;
    }
    if (writes.length === 0) return outcomes as RemoteOutcome[];
    const by = { who, at: outside.now() };
    const commit = await makeCommit(
      repository,
      branch,
      writes.map(({ write }) => write),
      by,
    );
    const refused = await pushCommit(repository, commit);
    if (refused === null) {
      for (const { at, write } of writes) outcomes[at] = outcomeOf(write, commit);
      if (!outcomes.includes(null)) return outcomes as RemoteOutcome[];
      branch = await applying.branchAt(repository, commit);
      isFresh = true;
      continue;
    }
    if (++pushes >= MAX_PUSHES) throw tooBusy(repository);
    await pause(repository, pushes, outside);
    const before = branch.tip;
    branch = await applying.refresh(repository);
    unmoved = isFresh && branch.tip === before ? unmoved + 1 : 0;
    if (unmoved >= MAX_UNMOVED) throw stuck(repository, refused);
    isFresh = true;
  }
}

/** Only a write proves itself, by being accepted. */
function needsNewest(verdict: Verdict): boolean {
  return verdict.kind === "stale" || verdict.kind === "done" || verdict.kind === "refused";
}

function tooBusy({ address }: Repository): MemdirError {
  return new MemdirError(
    "network",
    `others kept writing to ${address.name} faster than we could: run it again, nothing is half done`,
  );
}

function stuck({ address }: Repository, reason: string): MemdirError {
  const advice = "nobody else writes there; look at the remote for a lock that was left behind";
  return new MemdirError("network", `${address.name} does not take changes (${reason}): ${advice}`);
}

/** A push over a line takes a few hundred milliseconds; waits grow to a second. */
async function pause({ signal }: Repository, round: number, { random, sleep }: Outside): Promise<void> {
  await sleep(random() * Math.min(1000, 25 * 2 ** round), signal).catch(() => {});
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
  const texts = await readTexts(
    repository,
    still.map((entry) => entry.blob),
  );
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
  const texts = await readTexts(
    repository,
    touches.map((touch) => touch.blob).filter((blob) => blob !== ""),
  );
  return touches.map((touch) => ({
    revision: revisionOf(touch),
    author: touch.author,
    at: touch.at,
    text: touch.blob === "" ? null : (texts.get(touch.blob) ?? null),
  }));
}
