/** Checks whether a path exists and, if not, where it went according to git. */

import { lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { readRegular } from "../disk/fence.ts";
import { attempt } from "../errors.ts";
import type { Claim, Finding } from "./claim.ts";
import type { Facts } from "./facts.ts";
import { type Commit, describeCommit, type FileEvent, type History, NO_COMMIT, nameOf } from "./history.ts";
import { addTo, once, shortNamesOf, type Tree } from "./tree.ts";

type Answer = Omit<Finding, "claim">;

/** Stops circular renames. */
const MAX_RENAMES = 50;
const MAX_COUNTED_BYTES = 4 << 20;

export function checkPath(facts: Facts, claim: Claim): Answer {
  const answer = findAnswer(facts, claim);
  // Git only stopped to track it, and it may well be on disk where it is used.
  const isUntracked = answer.verdict === "gone" && answer.files?.every((file) => facts.ignored.has(file));
  return isUntracked ? unknown("git ignores it") : answer;
}

export function unknown(evidence: string): Answer {
  return { verdict: "unknown", evidence };
}

export function holds(evidence: string, files?: string[]): Answer {
  return { verdict: "holds", evidence, ...(files && { files }) };
}

export function gone(evidence: string, files?: string[], by?: Commit): Answer {
  return { verdict: "gone", evidence, ...(files && { files }), ...(by && { by }) };
}

function findAnswer(facts: Facts, claim: Claim): Answer {
  const path = claim.text.replace(/\/$/, "");
  const here = findHere(facts, path);
  if (here !== null) return checkLine(facts, claim, here);
  if (facts.ignored.has(claim.text) || facts.ignored.has(path)) return unknown("git ignores it");
  const spelt = findSpelling(facts, path);
  if (spelt !== null) return checkLine(facts, claim, spelt);
  const exact = fateOf(facts, path);
  // A bare name may mean the others of that name; where none is left, whichever it was has gone.
  if (exact) return withFix(facts.tree.byName.has(path) ? { ...exact, isVague: true } : exact, claim);
  const longer = findLonger(facts, path);
  if (longer !== null) return checkLine(facts, claim, longer);
  const folder = fateOfFolder(facts, path);
  return fateOfLonger(facts, path) ?? (folder ? withFix(folder, claim) : neverKnown(facts, claim, path));
}

/** The same path in other letters: on many systems it is the same file. */
function findSpelling({ tree }: Facts, path: string): string | null {
  return spellingsOf(tree).get(path.toLowerCase()) ?? null;
}

const spellingsOf = once(({ files }: Tree) => new Map([...files].map((file) => [file.toLowerCase(), file])));

/** A bare name that several files have had. */
export function isGeneric({ history, tree }: Facts, path: string): boolean {
  if (path.includes("/")) return false;
  const same = new Set([...(history.byName.get(path) ?? []), ...(tree.byName.get(path) ?? [])]);
  return same.size > 1;
}

/** The whole old path is replaced by the whole new one; it is not clear how a shorter name would be written. */
function withFix(answer: Answer, { text }: Claim): Answer {
  return answer.to === undefined ? answer : { ...answer, fix: text.endsWith("/") ? `${answer.to}/` : answer.to };
}

/** At exactly this path, seen from the top or from a folder that a store is in. */
function findHere({ tree, homes }: Facts, path: string): string | null {
  for (const home of homes) {
    const found = findAt(tree, home === "" ? path : `${home}/${path}`);
    if (found !== null) return found;
  }
  return null;
}

/** Listed, or on disk but ignored. */
function findAt(tree: Tree, path: string): string | null {
  if (tree.files.has(path) || tree.folders.has(path)) return path;
  if (tree.missing.has(path) || path.split("/").includes("..")) return null;
  // It throws for a name that is invalid on this system. Git has no empty folders: one is a leftover of a deletion.
  const isThere = attempt(() => {
    const stat = lstatSync(join(tree.root, path), { throwIfNoEntry: false });
    return stat && !(stat.isDirectory() && readdirSync(join(tree.root, path)).length === 0);
  }, false);
  return isThere ? path : (tree.byStem.get(path) ?? null);
}

/** People omit leading folders and the extension. */
function findLonger({ tree }: Facts, path: string): string | null {
  const end = `/${path}`;
  const same = tree.byName.get(nameOf(path))?.find((file) => file === path || file.endsWith(end));
  if (same) return same;
  if (!path.includes("/")) return null;
  const short = shortNamesOf(tree)
    .get(nameOf(path))
    ?.find((each) => each.endsWith(end));
  return short === undefined ? null : (tree.byStem.get(short) ?? short);
}

function checkLine({ tree }: Facts, { lineNumber, text }: Claim, file: string): Answer {
  const exists = holds(`${file} exists`, [file]);
  if (lineNumber === undefined || !tree.files.has(file)) return exists;
  const lines = countLines(join(tree.root, file));
  // Another file of that name may be meant.
  const isLong = (each: string) => (countLines(join(tree.root, each)) ?? lineNumber) >= lineNumber;
  if (lines === null || lineNumber <= lines || tree.byName.get(text)?.some(isLong)) return exists;
  return { verdict: "changed", evidence: `${file} has ${lines} lines`, files: [file] };
}

function countLines(path: string): number | null {
  const bytes = attempt(() => readRegular(path, { maxBytes: MAX_COUNTED_BYTES }), null);
  if (bytes === null) return null;
  let lines = bytes.length > 0 && bytes.at(-1) !== 10 ? 1 : 0;
  for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, at + 1)) lines++;
  return lines;
}

/** Null if git has no record of its removal. */
function fateOf(facts: Facts, path: string): Answer | null {
  const { tree, history } = facts;
  if (tree.missing.has(path))
    return { ...gone("deleted in the working tree, but not committed yet", [path]), isUncommitted: true };
  const first = history.events.get(path);
  if (!first) return null;
  const by = first.commit;
  let event: FileEvent = first;
  for (let hops = 0; hops < MAX_RENAMES && event.to !== null; hops++) {
    const to: string = event.to;
    const evidence = `moved to ${to} by ${describeCommit(by)}`;
    if (tree.files.has(to)) return { verdict: "moved", evidence, to, files: [path, to], by };
    const next = history.events.get(to);
    if (!next) return gone(`${evidence}, and since removed`, [path, to], by);
    event = next;
  }
  return gone(`deleted by ${describeCommit(event.commit)}`, [path], event.commit);
}

/** The same for a path whose first folders, or whose ending, are left out. */
function fateOfLonger(facts: Facts, path: string): Answer | null {
  const end = `/${path}`;
  const same = facts.history.byName.get(nameOf(path))?.find((file) => file === path || file.endsWith(end));
  if (same) return fateOf(facts, same);
  if (!path.includes("/")) return null;
  const stem = stemsOf(facts.history)
    .get(nameOf(path))
    ?.find((file) => `/${file}`.startsWith(`${end}.`, file.lastIndexOf("/") - path.lastIndexOf("/")));
  return stem === undefined ? null : fateOf(facts, stem);
}

const stemsOf = once(({ events }: History) => {
  const stems = new Map<string, string[]>();
  for (const file of events.keys()) addTo(stems, nameOf(file).replace(/\.[^.]+$/, ""), file);
  return stems;
});

/** A folder has moved when most of its files have, to one place. */
function fateOfFolder(facts: Facts, folder: string): Answer | null {
  const files = facts.history.inFolder.get(folder);
  if (!files || files.length === 0) return null;
  const votes = new Map<string, number>();
  let newest = NO_COMMIT;
  for (const file of files) {
    const event = facts.history.events.get(file) as FileEvent;
    if (event.commit.time > newest.time) newest = event.commit;
    const to = fateOf(facts, file)?.to;
    if (to === undefined) continue;
    const below = file.slice(folder.length);
    const target = to.endsWith(below) ? to.slice(0, -below.length) : to.slice(0, Math.max(0, to.lastIndexOf("/")));
    votes.set(target, (votes.get(target) ?? 0) + 1);
  }
  const by = describeCommit(newest);
  const [to = "", count = 0] = [...votes].sort((a, b) => b[1] - a[1])[0] ?? [];
  if (to !== "" && count * 2 > files.length)
    return { verdict: "moved", evidence: `its files moved to ${to} by ${by}`, to, files: [...files], by: newest };
  return gone(`its last file was removed by ${by}`, [...files], newest);
}

/** A path that never existed is a mistake only if its folder exists: otherwise it may belong elsewhere. */
function neverKnown({ tree, history }: Facts, claim: Claim, path: string): Answer {
  if (claim.declared) return gone("the file does not exist");
  if (tree.submodules.some((module) => path.startsWith(`${module}/`))) return unknown("it is in a submodule");
  const slash = path.lastIndexOf("/");
  const isLocal = !claim.loose && slash > 0 && tree.folders.has(path.slice(0, slash)) && /\.[A-Za-z]\w*$/.test(path);
  if (!isLocal) return unknown("nothing with that name was ever here");
  const isCertain = history.isWhole || history.events.size === 0;
  const isBlind = history.notes.some((note) => note.includes("shallow") || note.includes("newest"));
  return isCertain && !isBlind
    ? gone("the file does not exist, and is not in git's history")
    : unknown("the history is incomplete");
}
