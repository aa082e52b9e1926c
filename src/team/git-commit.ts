/** Changes as one commit: which of them hold against a branch, and the commit made without index or working tree. */

import { createHash } from "node:crypto";
import { type Branch, type BranchEntry, foldersOf } from "./git-branch.ts";
import { damage, type Repository, refOf } from "./git-repository.ts";
import { findEntryProblem, findTextProblem, type RemoteEntry } from "./protocol.ts";
import type { RemoteChange, RemoteOutcome } from "./remote.ts";

export interface Who {
  name: string;
  email: string;
}

/** A change that is ready for a commit; its revision is known when there is one. */
export interface Write {
  kind: "write";
  /** Its place among the changes. */
  at: number;
  change: RemoteChange;
  /** "" for a removal. */
  blob: string;
}

/** The answer to what no branch would take, whatever is on it; else null. */
export function refuseChange(change: RemoteChange): RemoteOutcome | null {
  const { path } = change;
  const reason = findEntryProblem(path) ?? (change.kind === "put" ? findTextProblem(change.text) : null);
  return reason === null ? null : { kind: "refused", path, reason };
}

/**
 * Pure. One verdict for each change that has no outcome yet, against the branch with the writes before it; null for the others,
 * and for a change behind another one of the same path that is about to be written: ask again after it.
 */
export function judgeChanges(
  branch: Branch,
  changes: readonly RemoteChange[],
  outcomes: readonly (RemoteOutcome | null)[],
): (RemoteOutcome | Write | null)[] {
  const writing = new Map<string, Write>();
  const newFolders = new Set<string>();
  return changes.map((change, at) => {
    const { path, kind } = change;
    if (outcomes[at] || writing.has(path)) return null;
    const verdict = judge(branch, change, at);
    if (verdict.kind !== "write") return verdict;
    const reason = kind === "put" ? findInTheWay(branch, path, writing, newFolders) : null;
    if (reason !== null) return { kind: "refused", path, reason };
    writing.set(path, verdict);
    if (kind === "put") for (const folder of foldersOf(path)) newFolders.add(folder);
    return verdict;
  });
}

/** The id of the new commit, held by the pending ref until the remote has it. */
export async function makeCommit(
  repository: Repository,
  branch: Branch,
  writes: readonly Write[],
  by: { who: Who; at: Date },
): Promise<string> {
  const input = formatImport(refOf(repository, "pending"), branch.tip, writes, by);
  const output = await repository.local(["fast-import", "--quiet", "--force", "--date-format=raw"], { input });
  const commit = output.toString("latin1").trim();
  if (!/^[0-9a-f]{40}$/.test(commit)) throw damage("fast-import named no commit");
  return commit;
}

function judge(branch: Branch, change: RemoteChange, at: number): RemoteOutcome | Write {
  const { path, expected } = change;
  const blob = change.kind === "put" ? blobOf(change.text) : "";
  const there = branch.entries.get(path);
  const live = there && !there.deleted ? there : null;
  if (change.kind === "remove" && live === null)
    return { kind: "done", path, revision: there?.revision ?? change.expected };
  if (change.kind === "put" && live?.blob === blob) return { kind: "done", path, revision: live.revision };
  const holds = expected === (live?.revision ?? null) || (live === null && expected === there?.revision);
  if (!holds) return { kind: "stale", path, current: there ? entryOf(there) : null };
  return { kind: "write", at, change, blob };
}

export function entryOf({ blob: _, ...entry }: BranchEntry): RemoteEntry {
  return entry;
}

/** Git has one thing under one name: a file where a folder is wanted, or the other way round, is never replaced. */
function findInTheWay(
  branch: Branch,
  path: string,
  writing: ReadonlyMap<string, Write>,
  newFolders: ReadonlySet<string>,
): string | null {
  if (branch.others.has(path)) return "something that is not a memory has that name on the branch";
  if (branch.folders.has(path) || newFolders.has(path)) return "a folder has that name on the branch";
  const isFile = (folder: string) => {
    const write = writing.get(folder);
    if (write) return write.blob !== "";
    return branch.others.has(folder) || branch.entries.get(folder)?.deleted === false;
  };
  const file = foldersOf(path).find(isFile);
  return file === undefined ? null : `${file} is a file on the branch, not a folder`;
}

function blobOf(text: string): string {
  const bytes = Buffer.from(text);
  return createHash("sha1").update(`blob ${bytes.length}\0`).update(bytes).digest("hex");
}

/** One stream for blobs, tree and commit: thousands of memories are one process. Cut off, it makes nothing (`done`). */
function formatImport(
  ref: string,
  tip: string | null,
  writes: readonly Write[],
  { who, at }: { who: Who; at: Date },
): Buffer {
  const parts: (string | Buffer)[] = ["feature done\n"];
  const data = (text: string) => {
    const bytes = Buffer.from(text);
    parts.push(`data ${bytes.length}\n`, bytes, "\n");
  };
  // What a killed process left there is not a parent.
  parts.push(`reset ${ref}\n\n`, `commit ${ref}\nmark :1\n`);
  parts.push(
    `committer ${plain(who.name) || "memdir"} <${plain(who.email)}> ${Math.floor(at.getTime() / 1000)} +0000\n`,
  );
  data(formatMessage(writes));
  if (tip !== null) parts.push(`from ${tip}\n`);
  // Removals first: a folder may take the place of a file.
  for (const { change } of writes) if (change.kind === "remove") parts.push(`D ${change.path}\n`);
  for (const { change } of writes) {
    if (change.kind !== "put") continue;
    parts.push(`M 100644 inline ${change.path}\n`);
    data(change.text);
  }
  parts.push("\nget-mark :1\ndone\n");
  return Buffer.concat(parts.map((part) => (typeof part === "string" ? Buffer.from(part) : part)));
}

/** What git's format of a person cannot hold is left out. */
function plain(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is left out
  return text.replace(/[\x00-\x1f\x7f<>]+/g, " ").trim();
}

function formatMessage(writes: readonly Write[]): string {
  const removed = writes.filter(({ change }) => change.kind === "remove").length;
  const written = writes.length - removed;
  const only = writes.length === 1 ? writes[0]?.change : undefined;
  if (only) return `memdir: ${only.kind === "put" ? "write" : "remove"} ${only.path}\n`;
  const parts = [written > 0 && `write ${written}`, removed > 0 && `remove ${removed}`].filter(Boolean);
  return `memdir: ${parts.join(", ")}\n`;
}
