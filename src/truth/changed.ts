/** Which memories speak of what changed since a commit. */

import { MemdirError } from "../errors.ts";
import { type Git, readGit } from "../project/git.ts";
import type { Finding } from "./claim.ts";

/** Both names of what was renamed; with what is staged, as before a commit. Files themselves are not read: that would run filters. */
export async function readChanged(git: Git, revision: string): Promise<Set<string>> {
  const isName = revision !== "" && !revision.startsWith("-") && !revision.includes("\0");
  const commit = isName ? await readGit(git, ["rev-parse", "--verify", "--quiet", `${revision}^{commit}`]) : null;
  if (commit === null)
    throw new MemdirError(
      "usage",
      `--changed-since ${JSON.stringify(revision)}: there is no such commit; give a branch, a tag or a hash`,
    );
  const args = ["diff", "--name-only", "-z", "--no-renames", "--ignore-submodules=all", commit.toString("utf8").trim()];
  const listing = await readGit(git, args);
  if (listing === null)
    throw new MemdirError(
      "usage",
      `what changed since ${revision} cannot be read: run \`git diff ${revision}\` and see what is wrong`,
    );
  return new Set(
    listing
      .toString("utf8")
      .split("\0")
      .filter((file) => file !== ""),
  );
}

/** Whether a verdict was read from one of these files. */
export function isTouched(findings: readonly Finding[], changed: ReadonlySet<string>): boolean {
  return findings.some(({ files }) =>
    files?.some((file) => changed.has(file) || [...changed].some((each) => each.startsWith(`${file}/`))),
  );
}
