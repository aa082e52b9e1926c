/** The facts about the project for all claims of a run: files, words, history, changes, branches. */

import { type Git, readGit, runGit } from "../project/git.ts";
import { type Claim, partsOf, wordsOf } from "./claim.ts";
import { type History, type HistoryLimits, NO_HISTORY, nameOf, readHistory } from "./history.ts";
import { type Entries, isManifest, readManifests, removedEntries } from "./manifests.ts";
import { type Occurrence, type Occurrences, type Search, searchTree } from "./occurrences.ts";
import { readManifestRemovals, searchPast } from "./removals.ts";
import { readTree, type Tree } from "./tree.ts";
import { isSolid, isTest } from "./usage.ts";

export type Facts = Awaited<ReturnType<typeof gatherFacts>>;

export interface FactOptions {
  /** Names and files of memories. */
  memories: ReadonlySet<string>;
  homes?: readonly string[] | undefined;
  today: string;
  onProgress?: ((done: number, total: number) => void) | undefined;
}

/** What does not depend on claims: git works on it while claims are found. */
export function startFacts(git: Git, limits: HistoryLimits) {
  return { tree: readTree(git), history: readHistory(git, limits) };
}

export async function gatherFacts(
  git: Git,
  start: ReturnType<typeof startFacts>,
  claims: readonly Claim[],
  options: FactOptions,
) {
  const tree = await start.tree;
  const local = claims.filter(({ kind }) => kind !== "date" && kind !== "url" && kind !== "link");
  const refsRead = tree.isGit ? readRefs(git, claims) : Promise.resolve(NO_REFS);
  const isBuilt = local.some(({ kind }) => kind === "package" || kind === "script");
  const files = isBuilt ? [...tree.files].filter(isManifest) : [];
  const historyRead = tree.isGit ? start.history : Promise.resolve(NO_HISTORY);
  // Git works on them while the files are read.
  const removedRead = historyRead.then(async ({ changes }) =>
    removedEntries(isBuilt ? await readManifestRemovals(git, changes) : []),
  );
  const ignoredRead = historyRead.then((history) =>
    readIgnored(git, unseenPaths(tree, history, claims, options.homes)),
  );
  const search = await searchWords(tree, local, removedRead, options.onProgress);
  const history = await historyRead;
  const missing = new Set(local.flatMap((claim) => missingWordsOf(claim, search.found)));
  const removals = await searchPast(git, history.changes, missing);
  return {
    tree,
    history,
    found: search.found,
    /** Missing names in files that are not read as source: generated, minified, vendored. */
    elsewhere: await searchElsewhere(tree, local, search),
    removals,
    manifests: readManifests(tree.root, files),
    removed: await removedRead,
    refs: await refsRead,
    /** Paths that git ignores: their absence means nothing. */
    ignored: await ignoredRead,
    memories: options.memories,
    /** Folders from which memories may name paths, "" for the top: a project below it has its store, and often its paths, to itself. */
    homes: ["", ...(options.homes ?? [])],
    today: options.today,
    /** What could not be checked. */
    notes: [...tree.notes, ...history.notes, ...search.notes, ...(removals.isWhole ? [] : [BLIND])],
  };
}

/** What claims name, and the removed files that they may mean. */
function unseenPaths(
  { isGit, files, folders }: Tree,
  { byName, inFolder }: History,
  claims: readonly Claim[],
  homes: readonly string[] = [],
): string[] {
  const paths = new Set<string>();
  for (const { kind, text } of isGit ? claims : []) {
    if (kind === "link") for (const home of homes) paths.add(`${home}/${text}`);
    if (kind === "link") paths.add(text);
    const path = text.replace(/\/$/, "");
    if (kind !== "path" || files.has(path) || folders.has(path)) continue;
    for (const each of [text, path, ...(byName.get(nameOf(path)) ?? []), ...(inFolder.get(path) ?? [])])
      paths.add(each);
  }
  return [...paths].filter((path) => !/\n|^\/|(?:^|\/)\.\.(?:\/|$)/.test(path));
}

async function searchElsewhere(tree: Tree, claims: readonly Claim[], { found, others }: Search): Promise<Occurrences> {
  const names = claims.flatMap((claim) => (claim.kind === "symbol" ? (partsOf(claim.text).at(-1) ?? []) : []));
  const missing = names.filter((name) => !found.get(name)?.some(({ usage }) => usage !== "comment"));
  return (await searchTree(tree, missing, { made: others })).found;
}

/** Every second word may be a package's name: only what was one is looked for, and that is known later than the rest. */
async function searchWords(
  tree: Tree,
  claims: readonly Claim[],
  removedRead: Promise<Entries>,
  onProgress: FactOptions["onProgress"],
): Promise<Search> {
  const isOpen = ({ kind, declared }: Claim) => kind !== "package" || declared;
  const words = new Set(claims.filter(isOpen).flatMap(wordsOf));
  const search = await searchTree(tree, words, { onFile: (done) => onProgress?.(done, tree.files.size) });
  const packages = (await removedRead).package;
  const isKnown = ({ text }: Claim) => !words.has(text) && (packages.has(text) || packages.has(text.toLowerCase()));
  const late = new Set(claims.filter((claim) => !isOpen(claim) && isKnown(claim)).map(({ text }) => text));
  if (late.size === 0) return search;
  const more = await searchTree(tree, late);
  return { ...search, found: new Map([...search.found, ...more.found]) };
}

const BLIND = "not all changes were searched, so removals from long ago are unknown";

const NO_REFS = {
  branches: new Set<string>(),
  tags: new Set<string>(),
  /** Every requested hash -> whether the commit exists. */
  commits: new Map<string, boolean>(),
  /** All branches of the remote are fetched here, or there is no remote, and all their commits are. */
  isWhole: false,
};

async function readRefs(git: Git, claims: readonly Claim[]): Promise<typeof NO_REFS> {
  const isAsked = claims.some(({ kind }) => kind === "branch" || kind === "tag");
  const hashes = [...new Set(claims.filter(({ kind }) => kind === "commit").map(({ text }) => text))];
  if (!isAsked && hashes.length === 0) return NO_REFS;
  const [shallow, listing, fetched, objects] = await Promise.all([
    readGit(git, ["rev-parse", "--is-shallow-repository"]),
    isAsked ? readGit(git, ["for-each-ref", "--format=%(refname)"]) : null,
    isAsked ? readGit(git, ["config", "--get-regexp", "^remote\\..*\\.fetch$"]) : null,
    hashes.length > 0
      ? readGit(git, ["cat-file", "--batch-check=%(objecttype)"], { input: `${hashes.join("\n")}\n` })
      : null,
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

/** Git refuses the whole list for one path that it will not look at, such as one behind a link: then that one is searched for. */
async function readIgnored(git: Git, paths: readonly string[]): Promise<Set<string>> {
  if (paths.length === 0) return new Set();
  const input = `${paths.join("\0")}\0`;
  const { code, output } = await runGit(git, ["check-ignore", "-z", "--stdin", "--no-index"], { input });
  if (code === 0) return new Set(output.toString("utf8").split("\0"));
  if (code === null || code === 1 || paths.length === 1) return new Set();
  const half = Math.ceil(paths.length / 2);
  return new Set([...(await readIgnored(git, paths.slice(0, half))), ...(await readIgnored(git, paths.slice(half)))]);
}

/** Words to search for in changes, without those that would not change a verdict. */
function missingWordsOf(claim: Claim, found: Occurrences): string[] {
  if (claim.kind === "value") return isOtherValue(claim, found) ? [claim.text] : [];
  if (claim.kind === "symbol") return wordsOf(claim).filter((word) => isMissingName(claim, word, found));
  if (claim.kind !== "env" && claim.kind !== "constant" && claim.kind !== "flag") return [];
  const [name = "", ...forms] = wordsOf(claim);
  const isHere =
    (found.get(name) ?? []).some(({ usage }) => usage !== "comment") ||
    forms.some((form) => (found.get(form) ?? []).some(({ usage }) => usage === "definition"));
  return isHere ? [] : [name, ...forms];
}

/** Where the code states the name's value plainly: in the file that the memory names, else outside of tests. */
export function statedAt({ text, file }: Claim, found: Occurrences): Occurrence[] {
  return (found.get(text) ?? []).filter(
    (place) =>
      place.value !== null &&
      place.usage === "definition" &&
      (file === undefined ? !isTest(place.file) : place.file === file || place.file.endsWith(`/${file}`)),
  );
}

/** One value, and another one than the memory says. */
function isOtherValue(claim: Claim, found: Occurrences): boolean {
  const values = new Set(statedAt(claim, found).map(({ value }) => value));
  return values.size === 1 && !values.has(claim.value ?? null);
}

function isMissingName({ file, text }: Claim, word: string, found: Occurrences): boolean {
  const parts = partsOf(text);
  const name = parts.at(-1) as string;
  const owner = parts[0] as string;
  const places = (found.get(word) ?? []).filter(isSolid);
  // What something belongs to matters only while it is there itself, and looks like a type.
  if (word !== name) return places.length === 0 && /^[A-Z]/.test(owner) && (found.get(name) ?? []).some(isSolid);
  if (places.length === 0) return true;
  return file !== undefined && !places.some((place) => place.file.endsWith(file));
}
