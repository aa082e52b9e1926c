/** A branch of any git remote as a remote: a user's memories on several machines without a server. */

import { createHash } from "node:crypto";
import { MemdirError } from "../errors.ts";
import type { World } from "../world.ts";
import { findBranchProblem, parseGitAddress } from "./git-address.ts";
import {
  type Branch,
  type BranchEntry,
  findAncestors,
  NO_BRANCH,
  readBranch,
  readTexts,
  readTouches,
  revisionOf,
} from "./git-branch.ts";
import { Damage, fetchTip, pushCommit, type Repository, readTip, refOf, withRepository } from "./git-repository.ts";
import { describeClash, openNames, type RemoteEntry } from "./protocol.ts";
import { type Had, type Remote, type RemoteChange, type RemoteOutcome, refuseChange } from "./remote.ts";

export interface GitRemoteOptions {
  /** An https or ssh URL, `host:path`, or a folder. */
  remote: string;
  /** A branch of its own, made by the first push without a parent. */
  branch?: string | undefined;
  /** A folder of ours: a bare repository, its lock, what was worked out from it. All of it can be removed at any time. */
  cache: string;
  who: { name: string; email: string };
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

/** A pass reads texts and versions in several calls: they need not all ask the remote again. */
const FRESH_MS = 5_000;

export function openGitRemote(outside: Outside, options: GitRemoteOptions): Remote {
  const { branch: branchName = "memdir", cache, timeoutMs = TIMEOUT_MS } = options;
  const { env, log } = outside;
  const address = parseGitAddress(options.remote, options.cwd);
  const problem = findBranchProblem(branchName);
  if (problem !== null)
    throw new MemdirError("usage", `the branch ${JSON.stringify(branchName)} cannot be used: ${problem}`);
  const where = { address, branch: branchName, cache, env, log, timeoutMs };
  let known: Branch | null = null;
  let readAt = Number.NEGATIVE_INFINITY;

  const open = <T>(signal: AbortSignal | undefined, work: (opened: Opened) => Promise<T>) =>
    withRepository(where, signal, (repository) => {
      const at = async (tip: string | null) => {
        if (tip === null) return NO_BRANCH;
        if (known?.tip !== tip) known = await readBranch(repository, tip);
        return known;
      };
      const refresh = async () => at(await fetchTip(repository));
      const recent = async () => {
        const tip = performance.now() - readAt < FRESH_MS ? await readTip(repository) : null;
        if (tip !== null) return at(tip);
        const branch = await refresh();
        readAt = performance.now();
        return branch;
      };
      return work({ repository, at, refresh, recent });
    });

  return {
    name: `${address.name}#${branchName}`,

    list: (signal) =>
      open(signal, async ({ refresh }) => {
        const { entries } = await refresh();
        readAt = Number.NEGATIVE_INFINITY;
        const sorted = [...entries.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
        return { id: `git:${address.name}#${branchName}`, entries: sorted.map(entryOf) };
      }),

    fetch: (entries, signal) =>
      open(signal, async ({ repository, recent }) =>
        entries.length === 0 ? new Map() : fetchTexts(repository, await recent(), entries),
      ),

    apply: (changes, signal) =>
      open(signal, async (opened) => (changes.length === 0 ? [] : applyChanges(opened, outside, options.who, changes))),

    findLost: (had, signal) =>
      open(signal, async ({ repository }) => findLost(repository, await readTip(repository), had)),

    versions: (path, signal) =>
      open(signal, async ({ repository, recent }) => readVersions(repository, await recent(), path)),
  };
}

interface Opened {
  repository: Repository;
  /** The branch at a commit; worked out once. */
  at(tip: string | null): Promise<Branch>;
  /** The branch as the remote has it now. */
  refresh(): Promise<Branch>;
  /** The branch as the remote had it a moment ago. */
  recent(): Promise<Branch>;
}

function entryOf({ blob: _, ...entry }: BranchEntry): RemoteEntry {
  return entry;
}

async function fetchTexts(repository: Repository, { entries }: Branch, wanted: readonly RemoteEntry[]) {
  const still = wanted.flatMap(({ path, revision }) => {
    const there = entries.get(path);
    return there && !there.deleted && there.revision === revision ? [there] : [];
  });
  const texts = await readTexts(repository, new Set(still.map(({ blob }) => blob)));
  return new Map(
    still.map(({ path, blob }) => {
      const text = texts.get(blob);
      if (text === undefined) throw new Damage(`the text of ${path} is missing`);
      return [path, text];
    }),
  );
}

/** By ancestry: the commit that brought a version is still behind the tip, or that version is lost. */
async function findLost(repository: Repository, tip: string | null, had: readonly Had[]): Promise<Set<string>> {
  const known = tip === null ? new Set<string>() : await findAncestors(repository, tip, had.map(commitOf));
  return new Set(had.flatMap((version) => (known.has(commitOf(version)) ? [] : [version.path])));
}

function commitOf({ revision }: Had): string {
  return revision.slice(revision.indexOf("-") + 1);
}

async function readVersions(repository: Repository, branch: Branch, path: string) {
  if (branch.tip === null || !branch.entries.has(path)) return [];
  const touches = await readTouches(repository, branch.tip, path);
  const texts = await readTexts(repository, new Set(touches.flatMap(({ blob }) => blob || [])));
  return touches.map((touch) => {
    const { blob, author, at } = touch;
    return { revision: revisionOf(touch), author, at, text: texts.get(blob) ?? null };
  });
}

/**
 * First against the branch as it was last seen: if the remote takes the push, it was the same. Whatever does not hold there is
 * asked again against the remote's newest, so that an answer other than "done" is never an old one.
 */
async function applyChanges(
  { repository, at: branchAt, refresh }: Opened,
  { now, random, sleep }: Outside,
  who: GitRemoteOptions["who"],
  changes: readonly RemoteChange[],
): Promise<RemoteOutcome[]> {
  const outcomes = changes.map((change) => refuseChange(change));
  const { name } = repository.address;
  let branch = await branchAt(await readTip(repository));
  let isFresh = false;
  let unmoved = 0;
  for (let pushes = 0; ; ) {
    const verdicts = judgeChanges(branch, changes, outcomes);
    const writes = verdicts.filter((verdict) => verdict?.kind === "write");
    // Only a write proves itself, by being accepted.
    if (!isFresh && verdicts.some((verdict) => verdict && verdict.kind !== "write")) {
      branch = await refresh();
      isFresh = true;
      continue;
    }
    for (const [i, verdict] of verdicts.entries()) if (verdict?.kind !== "write") outcomes[i] ??= verdict;
    if (writes.length === 0) return outcomes as RemoteOutcome[];
    const committer = `${personOf(who)} ${Math.floor(now().getTime() / 1000)} +0000`;
    const commit = await makeCommit(repository, branch, writes, committer);
    const refused = await pushCommit(repository, commit);
    if (refused === null) {
      for (const { at, change, blob } of writes)
        outcomes[at] = { kind: "done", path: change.path, revision: revisionOf({ blob, commit }) };
      if (!outcomes.includes(null)) return outcomes as RemoteOutcome[];
      branch = await branchAt(commit);
      isFresh = true;
      continue;
    }
    const faster = `others kept writing to ${name} faster than we could: run it again, nothing is half done`;
    if (++pushes >= MAX_PUSHES) throw new MemdirError("network", faster);
    // A push over a line takes a few hundred milliseconds; waits grow to a second.
    await sleep(random() * Math.min(1000, 25 * 2 ** pushes), repository.signal).catch(() => {});
    const before = branch.tip;
    branch = await refresh();
    unmoved = isFresh && branch.tip === before ? unmoved + 1 : 0;
    const advice = "no other client writes there; look at the remote for a lock that was left behind";
    if (unmoved >= MAX_UNMOVED)
      throw new MemdirError("network", `${name} does not accept changes (${refused}): ${advice}`);
    isFresh = true;
  }
}

/** A change that is ready for a commit; its revision is known when there is one. */
interface Write {
  kind: "write";
  /** Its place among the changes. */
  at: number;
  change: RemoteChange;
  /** "" for a removal. */
  blob: string;
}

/**
 * Pure. One verdict for each change that has no outcome yet, against the branch with all other writes; null for the others, and for a
 * change behind another one of the same path that is about to be written: ask again after it.
 */
function judgeChanges(
  branch: Branch,
  changes: readonly RemoteChange[],
  outcomes: readonly (RemoteOutcome | null)[],
): (RemoteOutcome | Write | null)[] {
  const writing = new Map<string, Write>();
  const verdicts = changes.map((change, at) => {
    if (outcomes[at] || writing.has(change.path)) return null;
    const verdict = judge(branch, change, at);
    if (verdict.kind === "write") writing.set(change.path, verdict);
    return verdict;
  });
  // Names that some disk cannot distinguish are never both there.
  const names = openNames();
  if (writing.size > 0) for (const path of namesOn(branch)) if (writing.get(path)?.blob !== "") names.claim(path);
  return verdicts.map((verdict) => {
    if (verdict?.kind !== "write" || verdict.blob === "") return verdict;
    const { path } = verdict.change;
    const other = branch.others.has(path) ? path : names.claim(path);
    // The name may be free when the other one is gone.
    return other === null ? verdict : { kind: "refused", path, reason: describeClash(other), isPassing: true };
  });
}

function namesOn({ entries, others }: Branch): string[] {
  return [...others, ...[...entries.values()].flatMap(({ path, deleted }) => (deleted ? [] : [path]))];
}

function judge(branch: Branch, change: RemoteChange, at: number): RemoteOutcome | Write {
  const { path, expected, kind } = change;
  const blob = kind === "put" ? blobOf(change.text) : "";
  const there = branch.entries.get(path);
  const live = there && !there.deleted ? there : null;
  if (kind === "remove" && live === null) return { kind: "done", path, revision: there?.revision ?? change.expected };
  if (kind === "put" && live?.blob === blob) return { kind: "done", path, revision: live.revision };
  const holds = expected === (live?.revision ?? null) || (live === null && expected === there?.revision);
  if (!holds) return { kind: "stale", path };
  return { kind: "write", at, change, blob };
}

function blobOf(text: string): string {
  const bytes = Buffer.from(text);
  return createHash("sha1").update(`blob ${bytes.length}\0`).update(bytes).digest("hex");
}

/**
 * The id of the new commit, held by the pending ref until the remote has it. Made without index or working tree, in one stream
 * for blobs, tree and commit: thousands of memories are one process. Cut off, it makes nothing (`done`).
 */
async function makeCommit(repository: Repository, { tip }: Branch, writes: readonly Write[], committer: string) {
  const ref = refOf(repository, "pending");
  const data = (text: string) => `data ${Buffer.byteLength(text)}\n${text}\n`;
  const input = [
    // What a killed process left there is not a parent.
    `feature done\nreset ${ref}\n\ncommit ${ref}\nmark :1\ncommitter ${committer}\n`,
    data(formatMessage(writes)),
    tip === null ? "" : `from ${tip}\n`,
    // Removals first: a folder may take the place of a file.
    ...writes.map(({ change }) => (change.kind === "remove" ? `D ${change.path}\n` : "")),
    ...writes.map(({ change }) =>
      change.kind === "put" ? `M 100644 inline ${change.path}\n${data(change.text)}` : "",
    ),
    "\nget-mark :1\ndone\n",
  ].join("");
  const output = await repository.local(["fast-import", "--quiet", "--force", "--date-format=raw"], { input });
  const commit = output.toString("latin1").trim();
  if (!/^[0-9a-f]{40}$/.test(commit)) throw new Damage("fast-import named no commit");
  return commit;
}

/** What git's format of a person cannot hold is left out. */
function personOf({ name, email }: GitRemoteOptions["who"]): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is left out
  const plain = (text: string) => text.replace(/[\x00-\x1f\x7f<>]+/g, " ").trim();
  return `${plain(name) || "memdir"} <${plain(email)}>`;
}

function formatMessage(writes: readonly Write[]): string {
  const removed = writes.filter(({ change }) => change.kind === "remove").length;
  const written = writes.length - removed;
  const only = writes.length === 1 ? writes[0]?.change : undefined;
  if (only) return `memdir: ${only.kind === "put" ? "write" : "remove"} ${only.path}\n`;
  const parts = [written > 0 && `write ${written}`, removed > 0 && `remove ${removed}`].filter(Boolean);
  return `memdir: ${parts.join(", ")}\n`;
}
