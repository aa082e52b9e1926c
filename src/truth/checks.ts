/** A verdict for each claim, from one look at the project. Never "gone" where that is not certain. */

import { checkFlag, checkSymbol, checkVariable } from "./check-names.ts";
import { checkPath } from "./check-paths.ts";
import type { Claim, Finding } from "./claim.ts";
import type { Look } from "./look.ts";
import type { Removed } from "./manifests.ts";

type Answer = Omit<Finding, "claim">;

/** What may be something else and is not known here is no claim: it is left out. */
export function checkClaims(look: Look, claims: readonly Claim[]): Finding[] {
  const findings: Finding[] = [];
  const said = new Set<string>();
  for (const claim of claims) {
    const answer = CHECKS[claim.kind](look, claim);
    if (claim.loose && answer.verdict === "unknown" && claim.kind !== "url") continue;
    // One word may be a name and a package: once is enough.
    if (said.has(claim.text)) continue;
    if (answer.verdict !== "unknown") said.add(claim.text);
    findings.push({ claim, ...answer });
  }
  return findings;
}

const CHECKS: Record<Claim["kind"], (look: Look, claim: Claim) => Answer> = {
  path: checkPath,
  symbol: checkSymbol,
  env: checkVariable,
  flag: checkFlag,
  script: checkScript,
  package: checkPackage,
  branch: checkBranch,
  tag: checkTag,
  commit: checkCommit,
  date: checkDate,
  url: checkUrl,
  link: checkLink,
};

function checkScript({ manifests, removed }: Look, claim: Claim): Answer {
  const isNpm = (claim.program ?? "npm") === "npm";
  const file = isNpm ? manifests.scripts.get(claim.text)?.file : manifests.targets.get(claim.text);
  if (file !== undefined) return { verdict: "holds", evidence: `in ${file}`, files: [file] };
  const removal = (isNpm ? removed.scripts : removed.targets).get(claim.text);
  if (!removal)
    return claim.declared
      ? { verdict: "gone", evidence: "no package file has it" }
      : unknown("no package file ever had it");
  const [renamed] =
    [...manifests.scripts].find(([, { command }]) => isNpm && command !== "" && command === removal.command) ?? [];
  if (renamed !== undefined)
    return {
      verdict: "moved",
      evidence: `now called ${renamed}: renamed by ${byWhom(removal)}`,
      to: renamed,
      fix: renamed,
      files: [removal.file],
    };
  return { verdict: "gone", evidence: `taken out of ${removal.file} by ${byWhom(removal)}`, files: [removal.file] };
}

function checkPackage({ manifests, removed, found }: Look, claim: Claim): Answer {
  const name = claim.text;
  const file = manifests.packages.get(name) ?? manifests.packages.get(name.toLowerCase());
  if (file !== undefined) return { verdict: "holds", evidence: `in ${file}`, files: [file] };
  const removal = removed.packages.get(name) ?? removed.packages.get(name.toLowerCase());
  const use = (found.get(name) ?? []).find(
    ({ hit, isOption }) => hit === "code" || hit === "definition" || (hit === "text" && isOption),
  );
  if (use) return { verdict: "holds", evidence: `used in ${use.file}:${use.line}`, files: [use.file] };
  if (removal)
    return {
      verdict: "gone",
      evidence: `no longer a dependency: taken out of ${removal.file} by ${byWhom(removal)}`,
      files: [removal.file],
    };
  return claim.declared
    ? { verdict: "gone", evidence: "no package file has it" }
    : unknown("no package file ever had it");
}

function checkBranch({ refs, tree }: Look, claim: Claim): Answer {
  if (refs.branches.has(claim.text) || refs.branches.has(claim.text.replace(/^origin\//, "")))
    return { verdict: "holds", evidence: "there is such a branch" };
  if (!tree.isGit || !refs.isWhole || refs.branches.size === 0) return unknown("not all branches are here");
  return { verdict: "gone", evidence: "there is no such branch, here or on a remote" };
}

function checkTag({ refs, tree }: Look, claim: Claim): Answer {
  if (refs.tags.has(claim.text) || refs.tags.has(`v${claim.text}`))
    return { verdict: "holds", evidence: "there is such a tag" };
  // Where no tag at all is fetched, one that is missing says nothing.
  if (!tree.isGit || !refs.isWhole || refs.tags.size === 0) return unknown("tags are not here");
  return { verdict: "gone", evidence: "there is no such tag" };
}

function checkCommit({ refs, tree }: Look, claim: Claim): Answer {
  const isThere = refs.commits.get(claim.text);
  if (isThere) return { verdict: "holds", evidence: "there is such a commit" };
  if (isThere === undefined || !tree.isGit || !refs.isWhole || claim.loose) return unknown("not all commits are here");
  return { verdict: "gone", evidence: "there is no such commit" };
}

function checkDate({ today }: Look, { day }: Claim): Answer {
  if (day === undefined || !/^\d{4}-\d\d-\d\d$/.test(day)) return unknown("not a day");
  return day < today
    ? { verdict: "expired", evidence: `${day} has passed` }
    : { verdict: "holds", evidence: `${day} is to come` };
}

/** No network: only whether it can be one. */
function checkUrl(_: Look, { text }: Claim): Answer {
  return unknown(URL.canParse(text) ? "addresses are not opened" : "not a whole address");
}

function checkLink({ memories, tree }: Look, claim: Claim): Answer {
  const target = decode(claim.text).replace(/^\.\//, "");
  const isThere =
    memories.has(target) ||
    memories.has(target.replace(/\.md$/, "")) ||
    tree.files.has(target) ||
    tree.byName.has(target.slice(target.lastIndexOf("/") + 1));
  if (isThere) return { verdict: "holds", evidence: "there is such a memory" };
  // A name in brackets may be of a memory that is still to be written.
  return claim.loose || target.startsWith("/") || target.startsWith("..")
    ? unknown("there is no such memory yet")
    : { verdict: "gone", evidence: "there is no such memory" };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function unknown(evidence: string): Answer {
  return { verdict: "unknown", evidence };
}

function byWhom({ commit }: Removed): string {
  return `${commit.hash} on ${commit.day}`;
}
