/** One look at the project for all claims of a run: files, words, history, changes, branches. */

import type { Claim } from "./claim.ts";
import { type Git, readGit } from "./git.ts";
import { findReach, type History, NO_HISTORY, type Reach, readHistory } from "./history.ts";
import { isManifest, type Manifests, type RemovedEntries, readManifests, removedEntries } from "./manifests.ts";
import { type Occurrences, type Place, searchTree } from "./occurrences.ts";
import { NO_REMOVALS, type Removals, readChangesAhead, readManifestRemovals, readRemovals } from "./removals.ts";
import { readTree, type Tree } from "./tree.ts";

export interface Look {
  tree: Tree;
  history: History;
  found: Occurrences;
  removals: Removals;
  manifests: Manifests;
  removed: RemovedEntries;
  refs: Refs;
  /** Paths that git ignores: that they are not here means nothing. */
  ignored: ReadonlySet<string>;
  /** Names and files of memories. */
  memories: ReadonlySet<string>;
  today: string;
  /** What could not be looked at. */
  notes: string[];
}

export interface Refs {
  branches: ReadonlySet<string>;
  tags: ReadonlySet<string>;
  /** Every hash that was asked for -> whether there is such a commit. */
  commits: ReadonlyMap<string, boolean>;
  /** All branches of the remote are fetched here, or there is no remote, and all their commits are. */
  isWhole: boolean;
}

export interface LookOptions {
  memories: ReadonlySet<string>;
  today: string;
  onProgress?: ((done: number, total: number) => void) | undefined;
}

/** What needs no claim to be looked at: git works on it while claims are found. */
export interface Start {
  tree: Promise<Tree>;
  reach: Promise<Reach | null>;
  history: Promise<History>;
  changes: Promise<readonly Buffer[] | null>;
}

export function startLook(git: Git, maxCommits?: number): Start {
  const reach = findReach(git, maxCommits);
  return {
    tree: readTree(git),
    reach,
    history: reach.then((found) => readHistory(git, found)),
    changes: reach.then((found) => readChangesAhead(git, found)),
  };
}

export async function lookAt(git: Git, start: Start, claims: readonly Claim[], options: LookOptions): Promise<Look> {
  const [tree, reach] = await Promise.all([start.tree, start.reach]);
  const local = claims.filter(({ kind }) => kind !== "date" && kind !== "url" && kind !== "link");
  const unseen = claims.filter((claim) => claim.kind === "path" && !isThere(tree, claim.text)).map(({ text }) => text);
  const refsRead = tree.isGit ? readRefs(git, claims) : Promise.resolve(NO_REFS);
  const isBuilt = local.some(({ kind }) => kind === "package" || kind === "script");
  const manifests = isBuilt ? readManifests(tree) : NO_MANIFESTS;
  const history = tree.isGit ? await start.history : NO_HISTORY;
  const ignoredRead = readIgnored(
    git,
    tree,
    unseen.filter((path) => !history.events.has(path)),
  );
  const built = isBuilt && reach ? [...tree.files, ...history.events.keys()].filter(isManifest) : [];
  const removed = removedEntries(reach && built.length > 0 ? await readManifestRemovals(git, reach, built) : []);
  const words = new Set(local.flatMap((claim) => (isKnownPackage(claim, removed) ? wordsOf(claim) : [])));
  const search = await searchTree(tree, words, (done) => options.onProgress?.(done, tree.files.size));
  const lost = reach ? lostWords(local, search.found) : new Set<string>();
  const removals = reach && lost.size > 0 ? await readRemovals(git, lost, reach, await start.changes) : NO_REMOVALS;
  const isBlind = lost.size > 0 && !removals.isWhole;
  return {
    tree,
    history,
    found: search.found,
    removals,
    manifests,
    removed,
    refs: await refsRead,
    ignored: await ignoredRead,
    memories: options.memories,
    today: options.today,
    notes: [...tree.notes, ...history.notes, ...search.notes, ...(isBlind ? [BLIND] : [])],
  };
}

const BLIND = "not all changes were looked through: what was removed long ago stays unknown";

/** Every second word may be a package's name: only what was one is looked for. */
function isKnownPackage({ kind, text, declared }: Claim, { packages }: RemovedEntries): boolean {
  return kind !== "package" || declared || packages.has(text) || packages.has(text.toLowerCase());
}

const NO_REFS: Refs = { branches: new Set(), tags: new Set(), commits: new Map(), isWhole: false };
const NO_MANIFESTS: Manifests = { packages: new Map(), scripts: new Map(), targets: new Map(), isAny: false };

function isThere(tree: Tree, path: string): boolean {
  const clean = path.replace(/\/$/, "");
  return tree.files.has(clean) || tree.folders.has(clean);
}

/** The words that decide about a claim. */
export function wordsOf(claim: Claim): string[] {
  const { kind, text } = claim;
  if (kind === "symbol") return partsOf(text);
  if (kind === "env" || kind === "package") return [text];
  if (kind === "flag") return flagForms(text);
  return [];
}

/** The name itself, and what it belongs to. */
export function partsOf(symbol: string): string[] {
  return symbol.split(/\.|::|#|->/).slice(-2);
}

/** `--dry-run` is `dry_run` or `dryRun` where options are fields. */
export function flagForms(flag: string): string[] {
  const name = flag.replace(/^--/, "");
  const snake = name.replaceAll("-", "_");
  const camel = name.replace(/[-_]([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
  return [...new Set([name, snake, camel])];
}

/** In code, not only in a text or a comment. */
export function isSolid({ hit }: Pick<Place, "hit">): boolean {
  return hit === "definition" || hit === "code";
}

/** Words to look for among changes: what is amiss now. */
function lostWords(claims: readonly Claim[], found: Occurrences): Set<string> {
  const words = new Set<string>();
  for (const claim of claims) {
    if (claim.kind !== "symbol" && claim.kind !== "env" && claim.kind !== "flag") continue;
    for (const word of wordsOf(claim)) if (isLost(claim, word, found)) words.add(word);
  }
  return words;
}

function isLost({ kind, file, text }: Claim, word: string, found: Occurrences): boolean {
  const places = found.get(word) ?? [];
  if (kind === "flag" && word !== text.replace(/^--/, "")) return !places.some(({ hit }) => hit === "definition");
  if (kind !== "symbol") return !places.some(({ hit }) => hit !== "comment");
  if (!places.some(isSolid)) return true;
  const [owner = "", name = owner] = partsOf(text);
  if (name !== word) return false;
  if (file !== undefined) return !places.some((place) => isSolid(place) && place.file.endsWith(file));
  const homes = new Set((found.get(owner) ?? []).filter(({ hit }) => hit === "definition").map((place) => place.file));
  return homes.size > 0 && !places.some((place) => homes.has(place.file));
}

async function readRefs(git: Git, claims: readonly Claim[]): Promise<Refs> {
  const isAsked = claims.some(({ kind }) => kind === "branch" || kind === "tag");
  const hashes = [...new Set(claims.filter(({ kind }) => kind === "commit").map(({ text }) => text))];
  if (!isAsked && hashes.length === 0) return NO_REFS;
  const [shallow, listing, fetched, objects] = await Promise.all([
    readGit(git, ["rev-parse", "--is-shallow-repository"]),
    isAsked ? readGit(git, ["for-each-ref", "--format=%(refname)"]) : null,
    isAsked ? readGit(git, ["config", "--get-regexp", "^remote\\..*\\.fetch$"]) : null,
    hashes.length > 0 ? readGit(git, ["cat-file", "--batch-check=%(objecttype)"], `${hashes.join("\n")}\n`) : null,
  ]);
  const names = (listing?.toString("utf8") ?? "").split("\n");
  const branches = names.flatMap((name) => {
    const local = /^refs\/heads\/(.+)$/.exec(name)?.[1] ?? /^refs\/remotes\/[^/]+\/(.+)$/.exec(name)?.[1];
    return local ? [local] : [];
  });
  const tags = names.flatMap((name) => (name.startsWith("refs/tags/") ? [name.slice("refs/tags/".length)] : []));
  const kinds = objects?.toString("utf8").split("\n");
  return {
    branches: new Set(branches),
    tags: new Set(tags),
    commits: new Map(kinds ? hashes.map((hash, i) => [hash, !/missing$/.test(kinds[i] ?? "missing")]) : []),
    isWhole: shallow?.toString("latin1").trim() === "false" && (fetched === null || fetched.includes("*")),
  };
}

async function readIgnored(git: Git, tree: Tree, paths: readonly string[]): Promise<Set<string>> {
  const asked = paths.filter((path) => !path.includes("\n"));
  if (!tree.isGit || asked.length === 0) return new Set();
  const output = await readGit(git, ["check-ignore", "-z", "--stdin", "--no-index"], `${asked.join("\0")}\0`);
  return new Set((output?.toString("utf8") ?? "").split("\0").filter((path) => path !== ""));
}
