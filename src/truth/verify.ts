/** Checks memories against the project: what they name, whether it holds, and what is recorded. */

import { join } from "node:path";
import { realPath } from "../disk/fence.ts";
import { MemdirError } from "../errors.ts";
import { type Git, readGit } from "../project/git.ts";
import { findBytes, parseMemory, type Row, type Store, signEntry } from "../store/store.ts";
import { localDay } from "../text/local-day.ts";
import type { World } from "../world.ts";
import { type Amendment, amend, fixText, stampText } from "./amendment.ts";
import { linkKey } from "./checks.ts";
import { type Finding, isProblem, isShown } from "./claim.ts";
import { type Examination, type Examined, examine, type MemoryVerdict, type Weighed } from "./examination.ts";
import { describe, type Problem } from "./problems.ts";
import { keepVerdicts } from "./verdicts.ts";
import { homesOf, readWritten } from "./written.ts";

export interface VerifyOptions {
  /** Only memories about what changed since this commit. */
  changedSince?: string | undefined;
  /** Write new paths for moved ones. */
  fix?: boolean | undefined;
  /** Stamp memories all of whose names exist as checked today. */
  stamp?: boolean | undefined;
  /** Also what is uncertain, what is in records of past work, and what was gone before the memory was written. */
  all?: boolean | undefined;
  /** The rows are all memories that exist: verdicts on others are removed. */
  isAll?: boolean | undefined;
  maxCommits?: number | undefined;
  onProgress?: ((done: number, total: number) => void) | undefined;
}

export interface VerifiedMemory {
  file: string;
  scope: string;
  /** `fixed`: it had problems, and all of them were fixed just now. */
  verdict: MemoryVerdict | "fixed";
  /** How many things it names that were looked up, and how many of them are not known here. */
  claims: number;
  unknown: number;
}

/** What checking memories found. */
export interface Verification {
  /** How many memories were checked. */
  checked: number;
  /** The problems, most certain first in each memory. */
  problems: Problem[];
  /** How many more `all` would show. */
  hidden: number;
  /** The verdict on each memory that was checked. */
  memories: VerifiedMemory[];
  /** Names that were replaced with `fix`: the old text and the new one. */
  fixed: { file: string; scope: string; from: string; to: string }[];
  /** How many memories were marked as checked today, with `stamp`. */
  stamped: number;
  /** Journal entries, `scope:id` outside the first directory. */
  undo: string[];
  /** What could not be checked. */
  notes: string[];
}

interface Subject extends Examined {
  directory: Store;
}

/** `git` runs at the top of the checkout, or in the folder that the project is. */
export async function verifyMemories(
  { now }: Pick<World, "now">,
  git: Git,
  directories: readonly Store[],
  rows: readonly Row[],
  options: VerifyOptions = {},
): Promise<Verification> {
  const changed = options.changedSince === undefined ? null : await readChanged(git, options.changedSince);
  const subjects = eachOnce(rows.flatMap((row) => readSubject(directories, row)));
  const names = namesOf(rows);
  const { maxCommits, onProgress, all = false } = options;
  const { writtenAt, since } = await datesOf(git, subjects);
  const homes = homesOf(git.root, directories);
  const examination = await examine(git, subjects, {
    ...{ names, today: localDay(now()), maxCommits, onProgress, writtenAt, homes },
    // What went before the oldest memory was written is reported on request only.
    since: all ? undefined : since,
  });
  // An interrupted check says nothing about a memory: earlier verdicts stay.
  if (git.signal?.aborted) throw new MemdirError("usage", "stopped before everything was checked; nothing was written");
  const judged = subjects
    .map((subject, i) => ({ subject, ...(examination.memories[i] as Examination["memories"][0]) }))
    .filter(({ findings }) => changed === null || isTouched(findings, changed));
  const written = await writeDown(git, directories, judged, now(), {
    ...options,
    isAll: options.isAll === true && changed === null,
  });
  const wrong = judged.flatMap((memory) => {
    const { left } = afterFix(memory, written.fixedFindings);
    return left
      .filter(({ verdict }) => isProblem(verdict))
      .sort((a, b) => b.confidence - a.confidence || a.claim.line - b.claim.line)
      .map((finding) => ({ finding, file: memory.subject.file, scope: memory.subject.directory.scope }));
  });
  const shown = wrong.filter(({ finding }) => all || isShown(finding));
  return {
    checked: judged.length,
    problems: shown.map(describe),
    hidden: wrong.length - shown.length,
    memories: judged.map(({ subject, findings, ...memory }) => ({
      file: subject.file,
      scope: subject.directory.scope,
      verdict: afterFix({ findings, ...memory }, written.fixedFindings).verdict,
      claims: findings.length,
      unknown: findings.filter((finding) => finding.verdict === "unknown").length,
    })),
    ...{ fixed: written.fixed, stamped: written.stamped, undo: written.undo },
    notes: examination.notes,
  };
}

/** What one memory claims, with the findings; nothing is written. `names`: of all memories that exist. */
export async function examineMemory(git: Git, directory: Store, row: Row, names: ReadonlySet<string>) {
  const subjects = readSubject([directory], row);
  const { writtenAt } = await datesOf(git, subjects);
  const homes = homesOf(git.root, [directory]);
  const { memories } = await examine(git, subjects, { names, today: localDay(directory.now()), writtenAt, homes });
  return memories[0] ?? { findings: [], silenced: [], verdict: "unchecked" as const };
}

/** What links may name, for `examineMemory`. */
export function namesOf(rows: readonly Row[]): Set<string> {
  return new Set(rows.flatMap(({ file, name }) => [linkKey(file), linkKey(name)]));
}

type Judged = { subject: Subject; verdict: MemoryVerdict; findings: Weighed[] };

/** When lines were written: by git or the journal, else as the memory's head or its file says. And the oldest of these times. */
async function datesOf(git: Git, subjects: readonly Subject[]) {
  const stores = [...new Set(subjects.map(({ directory }) => directory))];
  const written = new Map(
    await Promise.all(stores.map(async (store) => [store, await readWritten(git, store)] as const)),
  );
  // Not spread into Math.min: a file of a million lines would be a million arguments.
  let since = Number.POSITIVE_INFINITY;
  for (const { directory, file, text, written: date } of subjects) {
    since = Math.min(since, date.getTime() / 1000);
    for (const line of text.split("\n")) since = Math.min(since, written.get(directory)?.(file, line) ?? since);
  }
  return {
    writtenAt: (nth: number, line: string) => {
      const { directory, file, written: date } = subjects[nth] as Subject;
      return written.get(directory)?.(file, line) ?? date.getTime() / 1000;
    },
    since: Number.isFinite(since) ? since : undefined,
  };
}

/** Memories of the user's own scope are about all projects: that something is missing in this one proves nothing. */
function readSubject(directories: readonly Store[], row: Row): Subject[] {
  const directory = directories.find(({ scope, path }) => scope === row.scope && join(path, row.file) === row.path);
  if (!directory || row.unreadable) return [];
  try {
    const text = findBytes(directory, row.file)?.toString("utf8");
    if (text === undefined) return [];
    const { created, modified } = parseMemory(row.file, text);
    const written = new Date(modified ?? created ?? row.modified);
    return [{ file: row.file, text, written, isGeneral: row.scope === "user", directory }];
  } catch (error) {
    directory.log((error as Error).message);
    return [];
  }
}

/** A store may lie in another one that was named as a folder of memories: then both list its files. The first of the stores counts. */
function eachOnce(subjects: readonly Subject[]): Subject[] {
  const folders = new Map(
    [...new Set(subjects.map(({ directory }) => directory))].map((each) => [each, realPath(each.path)]),
  );
  const first = new Map<string, Subject>();
  for (const subject of subjects) {
    const path = join(folders.get(subject.directory) ?? "", subject.file);
    if (!first.has(path)) first.set(path, subject);
  }
  return [...first.values()];
}

async function writeDown(
  git: Git,
  directories: readonly Store[],
  judged: readonly Judged[],
  now: Date,
  options: VerifyOptions,
) {
  const head = (await readGit(git, ["rev-parse", "--verify", "--quiet", "HEAD"]))?.toString("utf8").trim() ?? "";
  const fixed: Verification["fixed"] = [];
  const fixedFindings = new Set<Finding>();
  const undo: string[] = [];
  let stamped = 0;
  for (const directory of directories) {
    const own = judged.filter(({ subject }) => subject.directory === directory);
    if (own.length === 0 || directory.readOnly) continue;
    const sign = (id: string) => signEntry(directories, directory, id);
    if (options.fix) {
      const fixes = own.map(({ subject: { file, text: base }, findings }) => {
        return { file, base, ...fixText(file, base, options.all ? findings : findings.filter(isShown)) };
      });
      const done = await amend(directory, "verify: new paths", fixes);
      if (done.undo !== null) undo.push(sign(done.undo));
      for (const { file, fixed: findings } of fixes.filter(({ file }) => done.files.includes(file)))
        for (const finding of findings) {
          fixedFindings.add(finding);
          fixed.push({ file, scope: directory.scope, from: finding.claim.text, to: finding.fix ?? "" });
        }
    }
    const stamps: Amendment[] = own.flatMap(({ subject, verdict }) => {
      const text = options.stamp && verdict === "holds" ? stampText(subject.file, subject.text, now) : null;
      return text === null ? [] : [{ file: subject.file, base: subject.text, text }];
    });
    const done = await amend(directory, "verified", stamps);
    stamped += done.files.length;
    if (done.undo !== null) undo.push(sign(done.undo));
    const news = own.map((memory) => {
      const { verdict, left } = afterFix(memory, fixedFindings);
      // Until it is checked again.
      return { file: memory.subject.file, verdict: verdict === "fixed" ? "unchecked" : verdict, findings: left };
    });
    await keepVerdicts(directory, head, news, options.isAll === true);
  }
  return { fixed, fixedFindings, stamped, undo };
}

/** What is left of a memory's findings, and what that makes of the memory. */
function afterFix({ verdict, findings }: Omit<Judged, "subject">, fixed: ReadonlySet<Finding>) {
  const left = findings.filter((finding) => !fixed.has(finding));
  const isFixed = left.length < findings.length && !left.some(isShown);
  return { verdict: isFixed ? ("fixed" as const) : verdict, left };
}

/** Both names of renamed files; includes what is staged. The files themselves are not read: that would run filters. */
async function readChanged(git: Git, revision: string): Promise<Set<string>> {
  const isName = revision !== "" && !revision.startsWith("-") && !revision.includes("\0");
  const commit = isName ? await readGit(git, ["rev-parse", "--verify", "--quiet", `${revision}^{commit}`]) : null;
  const missing = `--changed-since ${JSON.stringify(revision)}: the commit does not exist; give a branch, a tag or a hash`;
  if (commit === null) throw new MemdirError("usage", missing);
  const args = ["diff", "--name-only", "-z", "--no-renames", "--ignore-submodules=all", commit.toString("utf8").trim()];
  const listing = await readGit(git, args);
  const unread = `what changed since ${revision} cannot be read: run \`git diff ${revision}\` to see why`;
  if (listing === null) throw new MemdirError("usage", unread);
  return new Set(listing.toString("utf8").split("\0").filter(Boolean));
}

/** Whether a verdict was read from one of these files. */
function isTouched(findings: readonly Finding[], changed: ReadonlySet<string>): boolean {
  return findings.some(({ files }) =>
    files?.some((file) => changed.has(file) || [...changed].some((each) => each.startsWith(`${file}/`))),
  );
}
