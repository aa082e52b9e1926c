/** Who wrote which file of the branch last, and when, and what was removed: read from history once, then kept by commit. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { moveInto, PRIVATE_MODE, writeTemporary } from "../disk/atomic.ts";
import { isDamage, type Repository } from "./git-repository.ts";

/** The last commit that changed a path. */
export interface Touch {
  /** "" when it removed the path. */
  blob: string;
  commit: string;
  author: string;
  at: string;
}

/** What is known of the branch at its commit `tip`. */
export interface History {
  tip: string;
  touches: Map<string, Touch>;
  /** sha256 of the text by blob; "" for what is no text. */
  hashes: Map<string, string>;
  /** Whether it lies on disk as it is. */
  isKept: boolean;
}

/** A branch with more commits has no authors and no tombstones from before; a sync a minute fills it in two weeks. */
const MAX_COMMITS = 20_000;
const FORMAT = 1;

/** Whatever is kept is only believed where it belongs to an ancestor of `tip`. */
export async function readHistory(repository: Repository, tip: string): Promise<History> {
  const kept = readKept(repository);
  if (kept?.tip === tip) return kept;
  const touches = (kept && (await readSince(repository, kept, tip))) ?? (await readAll(repository, tip));
  return { tip, touches, hashes: kept?.hashes ?? new Map(), isKept: false };
}

/** Every change of one path, oldest first. */
export async function readTouches(repository: Repository, tip: string, path: string): Promise<Touch[]> {
  const output = await repository.local([...LOG, tip, "--", path]);
  const touches: Touch[] = [];
  for (const { changes, ...commit } of parseLog(output).toReversed()) {
    const change = changes.find((one) => one.path === path);
    // A changed mode is no new version.
    if (change && change.blob !== touches.at(-1)?.blob) touches.push({ ...commit, blob: change.blob });
  }
  return touches;
}

/** Written beside the repository; a failure costs only time. */
export function keepHistory(repository: Repository, history: History): void {
  if (history.isKept) return;
  const text = JSON.stringify({
    format: FORMAT,
    tip: history.tip,
    touches: [...history.touches].map(([path, { blob, commit, author, at }]) => [path, blob, commit, author, at]),
    hashes: [...history.hashes],
  });
  try {
    moveInto(writeTemporary(repository.cache, text, PRIVATE_MODE, "history", false), fileOf(repository), false);
  } catch {
    repository.log(`what is known of ${repository.address.name} cannot be kept in ${repository.cache}`);
  }
}

function fileOf(repository: Repository): string {
  return join(repository.cache, `history-${repository.key}.json`);
}

function readKept(repository: Repository): History | null {
  try {
    const kept = JSON.parse(readFileSync(fileOf(repository), "utf8"));
    if (kept.format !== FORMAT || typeof kept.tip !== "string") return null;
    const touches = new Map<string, Touch>();
    for (const row of kept.touches) {
      if (!Array.isArray(row) || row.length !== 5 || !row.every((cell) => typeof cell === "string")) return null;
      const [path, blob, commit, author, at] = row as [string, string, string, string, string];
      touches.set(path, { blob, commit, author, at });
    }
    return { tip: kept.tip, touches, hashes: new Map(kept.hashes), isKept: true };
  } catch {
    return null;
  }
}

/**
 * A merge counts as one change against its first parent, so that the commits on the way add up to the tree. Renames are a
 * removal and a new file.
 */
const LOG = [
  "log",
  "--first-parent",
  "-m",
  "--raw",
  "-z",
  "--no-renames",
  "--no-abbrev",
  "--no-ext-diff",
  "--no-textconv",
  "--no-show-signature",
  "--no-decorate",
  "--no-color",
  "--root",
  "--encoding=UTF-8",
  "--format=%x01%H%x02%P%x02%an%x02%ae%x02%at%x02",
];

async function readAll(repository: Repository, tip: string): Promise<Map<string, Touch>> {
  return addCommits(new Map(), parseLog(await repository.local([...LOG, `--max-count=${MAX_COMMITS}`, tip, "--"])));
}

/** Null where the kept commit is not one that this one grew out of. */
async function readSince(repository: Repository, kept: History, tip: string): Promise<Map<string, Touch> | null> {
  try {
    const args = [...LOG, `--max-count=${MAX_COMMITS}`, tip, `^${kept.tip}`, "--"];
    const commits = parseLog(await repository.local(args));
    return commits.at(-1)?.parent === kept.tip ? addCommits(kept.touches, commits) : null;
  } catch (error) {
    // The kept commit is not here any more.
    if (isDamage(error)) return null;
    throw error;
  }
}

function addCommits(touches: Map<string, Touch>, newestFirst: Commit[]): Map<string, Touch> {
  for (const { changes, commit, author, at } of newestFirst.toReversed())
    for (const { path, blob } of changes) {
      if (touches.get(path)?.blob !== blob || blob === "") touches.set(path, { blob, commit, author, at });
    }
  return touches;
}

interface Commit {
  commit: string;
  parent: string;
  author: string;
  at: string;
  changes: { path: string; blob: string }[];
}

/** With -z: fields of the format, then for every file ":modes ids status" NUL path NUL. */
function parseLog(output: Buffer): Commit[] {
  const commits: Commit[] = [];
  let raw: string | null = null;
  for (const part of output.toString("utf8").split("\0")) {
    if (raw !== null) {
      const [, , , blob = "", status = ""] = raw.split(" ");
      commits.at(-1)?.changes.push({ path: part, blob: status.startsWith("D") ? "" : blob });
      raw = null;
      continue;
    }
    const head = part.indexOf("\x01") >= 0 ? parseHead(part) : null;
    if (head) commits.push(head);
    const line = part.slice(part.lastIndexOf("\x02") + 1).trim();
    if (line.startsWith(":")) raw = line;
  }
  return commits;
}

function parseHead(part: string): Commit | null {
  const fields = part.slice(part.indexOf("\x01") + 1).split("\x02");
  const [commit = "", parents = "", name = "", email = "", seconds = ""] = fields;
  if (!/^[0-9a-f]{40}$/.test(commit)) return null;
  const at = new Date(Number(seconds) * 1000);
  return {
    commit,
    parent: parents.split(" ")[0] ?? "",
    author: name.trim() || email.trim(),
    at: Number.isNaN(at.getTime()) ? "" : at.toISOString(),
    changes: [],
  };
}
