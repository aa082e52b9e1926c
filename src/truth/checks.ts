/** A verdict for each claim, from the facts about the project. Never "gone" where that is not certain. */

import { attempt } from "../errors.ts";
import { checkPath, gone, holds, isGeneric, unknown } from "./check-paths.ts";
import { type Claim, type Finding, flagForms, partsOf } from "./claim.ts";
import { isCodeShaped } from "./claims-tokens.ts";
import { type Facts, statedAt } from "./facts.ts";
import { describeCommit, nameOf } from "./history.ts";
import type { Occurrence } from "./occurrences.ts";
import type { Removal } from "./removals.ts";
import { isSettings, isSolid, isTest } from "./usage.ts";

/** `kind` where the code tells it better than the memory. */
type Answer = Omit<Finding, "claim"> & { kind?: Claim["kind"] };

/** What may be something else and is unknown here does not count as a claim. */
export function checkClaims(facts: Facts, claims: readonly Claim[]): Finding[] {
  const findings: Finding[] = [];
  const said = new Set<string>();
  for (const claim of claims) {
    const { kind = claim.kind, ...answer } =
      claim.in === "plan" ? checkPlan(facts, claim) : CHECKS[claim.kind](facts, claim);
    const isIdle = answer.verdict === "unknown" && claim.kind !== "url";
    if (isIdle && (claim.loose || claim.in === "plan")) continue;
    // One word may be a name and a package: once is enough. What it is set to is another matter.
    if (said.has(claim.text) && claim.kind !== "value") continue;
    if (answer.verdict !== "unknown") said.add(claim.text);
    findings.push({ claim: kind === claim.kind ? claim : { ...claim, kind }, ...answer });
  }
  return findings;
}

/** Whether the thing was there at a time, in seconds since 1970; what came and went later is another one of that name. */
export function wasThere({ history, removals }: Facts, finding: Finding, time: number): boolean {
  const { claim, verdict, by, files = [] } = finding;
  if (!by || claim.declared || (verdict !== "gone" && verdict !== "moved")) return true;
  const isBorn = (file: string) => (history.added.get(file)?.time ?? 0) <= time;
  if (claim.kind === "path") {
    const alike = history.byName.get(nameOf(claim.text)) ?? [];
    return [...files, ...alike].some((file) => history.events.has(file) && isBorn(file));
  }
  const name = nameIn(claim);
  return verdict === "moved" || !removals.words.has(name) || removals.wasThere(name, time, isBorn);
}

function nameIn({ kind, text }: Claim): string {
  return kind === "symbol" ? (partsOf(text).at(-1) as string) : text;
}

const CHECKS: Record<Claim["kind"], (facts: Facts, claim: Claim) => Answer> = {
  path: checkPath,
  symbol: checkSymbol,
  env: checkVariable,
  constant: checkVariable,
  flag: checkFlag,
  script: checkScript,
  package: checkPackage,
  branch: checkBranch,
  tag: checkTag,
  commit: checkCommit,
  date: checkDate,
  url: checkUrl,
  link: checkLink,
  value: checkValue,
};

/** Said to be planned: a finding only where the file that holds it was added since. */
function checkPlan(facts: Facts, claim: Claim): Answer {
  if (claim.kind === "path" && isGeneric(facts, claim.text)) return unknown("several files have that name");
  const { verdict, files = [] } = CHECKS[claim.kind](facts, claim);
  const added = files.flatMap((file) => {
    const commit = facts.history.added.get(file);
    return commit && facts.tree.files.has(file) ? [{ file, commit }] : [];
  });
  const [first] = added.sort((a, b) => a.commit.time - b.commit.time);
  if (verdict !== "holds" || !first || added.length < files.length)
    return unknown("it is not there yet, or was already");
  const { file, commit: by } = first;
  return { verdict: "built", evidence: `${file} was added by ${describeCommit(by)}`, files: [file], by };
}

/** Only where the code states one value, and once stated the one that the memory gives: anything else may be another thing. */
function checkValue(facts: Facts, claim: Claim): Answer {
  const places = statedAt(claim, facts.found);
  const [place] = places;
  if (!place || places.some(({ value }) => value !== place.value)) return unknown("the code does not state one value");
  if (place.value === claim.value) return holdsAt(places);
  // What another file said is another setting of that name.
  const removal = facts.removals.words
    .get(claim.text)
    ?.find(({ value, file }) => value === claim.value && isSame(facts, place.file, file));
  if (!removal) return unknown("the code never stated this value there");
  const changed = `changed from ${claim.value} by ${describeCommit(removal.commit)}`;
  const evidence = `${place.file}:${place.line} says ${place.value}, ${changed}`;
  return { verdict: "changed", evidence, files: [place.file], by: removal.commit };
}

function checkScript({ manifests, removed, tree }: Facts, claim: Claim): Answer {
  const kind = (claim.program ?? "npm") === "npm" ? "script" : "target";
  const entry = manifests[kind].get(claim.text);
  if (entry) return holds(`in ${entry.file}`, [entry.file]);
  const removal = removed[kind].get(claim.text);
  if (!removal) return never(claim, "in any package file");
  const { command, file, commit: by } = removal;
  const renamed = [...manifests.script.values()].find((each) => command !== "" && each.command === command)?.name;
  if (renamed === undefined) return { ...goneBy(removal, "removed"), ...ofAnother(tree, removal) };
  const evidence = `now called ${renamed}: renamed by ${describeCommit(by)}`;
  return { verdict: "moved", evidence, to: renamed, fix: renamed, files: [file], by };
}

function checkPackage({ manifests, removed, found, tree }: Facts, claim: Claim): Answer {
  const nameOf = <Of>(all: ReadonlyMap<string, Of>) => all.get(claim.text) ?? all.get(claim.text.toLowerCase());
  const entry = nameOf(manifests.package);
  if (entry) return holds(`in ${entry.file}`, [entry.file]);
  const use = (found.get(claim.text) ?? []).find((each) => isSolid(each) || (each.usage === "text" && each.isOption));
  if (use) return holds(`used in ${use.file}:${use.line}`, [use.file]);
  const removal = nameOf(removed.package);
  if (!removal) return never(claim, "in any package file");
  return { ...goneBy(removal, "no longer a dependency: removed"), ...ofAnother(tree, removal) };
}

/** A package file below the top that went as a whole was that of a sample, or of a part that is no more: the memory may mean something else. */
function ofAnother({ files }: Facts["tree"], { file }: Pick<Removal, "file">): Pick<Answer, "isVague"> {
  return file.includes("/") && !files.has(file) ? { isVague: true } : {};
}

function checkBranch({ refs, tree }: Facts, claim: Claim): Answer {
  if (refs.branches.has(claim.text) || refs.branches.has(claim.text.replace(/^origin\//, "")))
    return holds("the branch exists");
  if (!tree.isGit || !refs.isWhole || refs.branches.size === 0) return unknown("not all branches are fetched");
  return gone("the branch does not exist locally or on a remote");
}

function checkTag({ refs, tree }: Facts, claim: Claim): Answer {
  if (refs.tags.has(claim.text) || refs.tags.has(`v${claim.text}`)) return holds("the tag exists");
  // If no tags are fetched at all, a missing one means nothing.
  if (!tree.isGit || !refs.isWhole || refs.tags.size === 0) return unknown("tags are not fetched");
  return gone("the tag does not exist");
}

function checkCommit({ refs, tree }: Facts, claim: Claim): Answer {
  const isThere = refs.commits.get(claim.text);
  if (isThere) return holds("the commit exists");
  if (isThere === undefined || !tree.isGit || !refs.isWhole || claim.loose)
    return unknown("not all commits are fetched");
  return gone("the commit does not exist");
}

function checkDate({ today }: Facts, { day }: Claim): Answer {
  if (day === undefined || !/^\d{4}-\d\d-\d\d$/.test(day)) return unknown("not a valid date");
  return day < today ? { verdict: "expired", evidence: `${day} has passed` } : holds(`${day} is in the future`);
}

/** Checks only the format; never uses the network. */
function checkUrl(_: Facts, { text }: Claim): Answer {
  return unknown(URL.canParse(text) ? "URLs are not opened" : "not a complete URL");
}

function checkLink({ memories, tree, ignored, homes }: Facts, claim: Claim): Answer {
  const target = attempt(() => decodeURIComponent(claim.text), claim.text).replace(/^\.\//, "");
  if (/^(?:\/|\.\.)/.test(target)) return unknown("it leads out of the memory directory");
  if (homes.some((home) => ignored.has(home === "" ? target : `${home}/${target}`))) return unknown("git ignores it");
  const name = target.slice(target.lastIndexOf("/") + 1);
  const isThere =
    memories.has(linkKey(target)) ||
    [name, `${name}.md`].some((file) => tree.byName.has(file)) ||
    tree.folders.has(target);
  return isThere ? holds("it exists") : gone("no memory or file has that name");
}

/** People and agents write one name in several ways: `use pnpm`, `use_pnpm`, `feedback-use-pnpm.md`. */
export function linkKey(name: string): string {
  return name
    .slice(name.lastIndexOf("/") + 1)
    .replace(/\.md$/i, "")
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, "-")
    .replace(/^(?:user|feedback|project|reference)-(?=.)/, "");
}

function goneBy({ file, commit }: Pick<Removal, "file" | "commit">, what: string): Answer {
  return gone(`${what} from ${file} by ${describeCommit(commit)}`, [file], commit);
}

function checkSymbol(facts: Facts, claim: Claim): Answer {
  const parts = partsOf(claim.text);
  const name = parts.at(-1) as string;
  const places = (facts.found.get(name) ?? []).filter(isSolid);
  if (places.length === 0) return checkMissing(facts, claim, name);
  const owner = parts.length > 1 ? (parts[0] as string) : "";
  // Who has a member cannot be told by its line: factories make members, and types inherit them.
  if (/^[A-Z]/.test(owner) && !facts.found.get(owner)?.some(isSolid))
    return findRemoval(facts, { ...claim, file: undefined } as Claim, owner) ?? holdsAt(places);
  if (owner !== "") return holdsAt(places);
  return (claim.file === undefined ? null : checkNamedFile(facts, claim, claim.file, name, places)) ?? holdsAt(places);
}

/** A name that strings, pages or generated files still hold may be alive in a way that cannot be seen here. */
function checkMissing(facts: Facts, claim: Claim, name: string): Answer {
  const named = (facts.found.get(name) ?? []).find(({ usage }) => usage === "text") ?? facts.elsewhere.get(name)?.[0];
  if (named) return unknown(`still named in ${named.file}:${named.line}`);
  const gone = findRemoval(facts, claim, name);
  if (!gone) return never(claim);
  // An ordinary word may be anything.
  return isCodeShaped(name) || claim.file !== undefined ? gone : { ...gone, isVague: true };
}

function holdsAt(places: readonly Occurrence[]): Answer {
  const best = places.find(({ usage }) => usage === "definition") ?? (places[0] as Occurrence);
  const files = [...new Set(places.map(({ file }) => file))];
  return holds(`${best.usage === "definition" ? "defined" : "used"} in ${best.file}:${best.line}`, files);
}

function never({ declared }: Claim, where = "in the code"): Answer {
  return declared ? gone(`it is not ${where}`) : unknown(`it was never ${where}`);
}

/** A name that was only used and never defined here belongs to a library. What tests define counts if nothing else did. */
function findRemoval(facts: Facts, claim: Claim, name: string): Answer | null {
  const removals = (facts.removals.words.get(name) ?? []).filter(isSolid);
  const definitions = removals.filter(({ usage }) => usage === "definition");
  const own =
    definitions.find(({ file }) => !isTest(file)) ??
    definitions[0] ??
    (claim.file === undefined ? undefined : removals.find(({ file }) => isSame(facts, file, claim.file as string)));
  return own ? goneBy(own, "no longer in the code: removed") : null;
}

/** A name in a given file has moved if it was removed from that file and is defined in another. */
function checkNamedFile(
  facts: Facts,
  claim: Claim,
  file: string,
  name: string,
  places: readonly Occurrence[],
): Answer | null {
  if (places.some((place) => isSame(facts, place.file, file))) return null;
  const removal = (facts.removals.words.get(name) ?? []).find(
    (each) => isSolid(each) && isSame(facts, each.file, file),
  );
  const homes = places.filter(({ usage, file: each }) => usage === "definition" && !isTest(each));
  const now = homes[0] ?? places.find(({ usage }) => usage === "definition");
  if (!now || !(removal || claim.declared)) return null;
  // Several files may have a function of that name, and always had.
  const isVague = homes.some(({ file: each }) => each !== now.file);
  const by = removal ? `, removed from ${file} by ${describeCommit(removal.commit)}` : "";
  const evidence = `now in ${now.file}:${now.line}${by}`;
  const more = { ...(removal && { by: removal.commit }), ...(isVague && { isVague }) };
  return { verdict: "moved", evidence, to: now.file, files: [file, now.file], ...more };
}

/** The file itself, its longer path, or what it was renamed to. */
function isSame({ history, tree }: Facts, file: string, said: string): boolean {
  if (file === said || file.endsWith(`/${said}`)) return true;
  const to = tree.files.has(said) ? null : history.events.get(said)?.to;
  return to !== null && to !== undefined && to === file;
}

/** A variable is usually named in a string, `getenv("X")`; what the code itself defines is a constant. */
function checkVariable(facts: Facts, claim: Claim): Answer {
  const places = (facts.found.get(claim.text) ?? []).filter(({ usage }) => usage !== "comment");
  if (places.length > 0) return { ...holdsAt(places), kind: variableKind(places) };
  const removals = (facts.removals.words.get(claim.text) ?? []).filter(({ usage }) => usage !== "comment");
  // What code only uses, and neither sets nor reads by its name in quotes, is a platform's.
  const own = removals.find(({ usage }) => usage !== "code");
  const removal = own ?? removals[0];
  if (!removal) return never(claim);
  const kind = variableKind(removals);
  const what = kind === "env" ? "no longer read anywhere: removed" : "no longer in the code: removed";
  return { ...goneBy(removal, what), kind, ...(own ? {} : { isVague: true }) };
}

/** Tests name constants in quotes to replace them. */
function variableKind(all: readonly Occurrence[]): "env" | "constant" {
  const places = all.filter(({ file }) => !isTest(file));
  const isDefined = places.some(({ usage, file }) => usage === "definition" && !isSettings(file));
  return isDefined && !places.some(({ usage }) => usage === "text") ? "constant" : "env";
}

function checkFlag(facts: Facts, claim: Claim): Answer {
  const [name = "", ...forms] = flagForms(claim.text);
  const named = (facts.found.get(name) ?? []).filter(({ usage }) => usage !== "comment");
  const fields = forms.flatMap((form) => (facts.found.get(form) ?? []).filter(({ usage }) => usage === "definition"));
  if (named.length > 0 || fields.length > 0) return holdsAt([...named, ...fields]);
  const removal =
    (facts.removals.words.get(name) ?? []).find(({ usage, isOption }) => usage !== "comment" && isOption) ??
    forms.flatMap((form) => facts.removals.words.get(form) ?? []).find(({ usage }) => usage === "definition");
  if (!removal) return never(claim);
  // Any program may have such an option: one has lost it only if it is still there, and if it is the one that the sentence names.
  const names = removal.file.toLowerCase().split(/[/.]/);
  const words = (claim.place?.text ?? "").split(/[^\p{L}\p{N}_-]+/u).map((word) => word.toLowerCase());
  const isThere = facts.tree.files.has(removal.file) || Boolean(facts.history.events.get(removal.file)?.to);
  const isBound = claim.declared || (isThere && names.some((name) => words.includes(name)));
  return { ...goneBy(removal, "no longer an option: removed"), ...(!isBound && { isVague: true }) };
}
