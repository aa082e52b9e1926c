/**
 * What happened to files that no longer exist: renamed or deleted, when and by which commit. Read once for all claims.
 */

import { join } from "node:path";
import { statOrNull } from "../disk/fence.ts";
import { type Git, readGit, runGit } from "../project/git.ts";

export interface Commit {
  hash: string;
  /** YYYY-MM-DD */
  day: string;
  /** Seconds since 1970. */
  time: number;
}

export function commitOf(hash: string, seconds: string): Commit {
  const time = Number(seconds);
  return {
    hash: hash.slice(0, 10),
    day: Number.isFinite(time) ? new Date(time * 1000).toISOString().slice(0, 10) : "",
    time,
  };
}

export const NO_COMMIT: Commit = { hash: "", day: "", time: 0 };

export interface FileEvent {
  commit: Commit;
  /** The new path of a rename; null for a deletion. */
  to: string | null;
}

/** What is known about a file that was deleted, or that git does not see as renamed. */
export interface DeletedFile {
  path: string;
  /** The object that holds its last text. */
  blob: string;
  commit: Commit;
}

export interface History {
  /** By the path before the event, the newest one. */
  events: ReadonlyMap<string, FileEvent>;
  byName: ReadonlyMap<string, readonly string[]>;
  /** Files of a folder that were deleted or renamed away. */
  inFolder: ReadonlyMap<string, readonly string[]>;
  /** The commit that first added a file, as far as history was read. */
  added: ReadonlyMap<string, Commit>;
  /** Newest first. */
  deleted: readonly DeletedFile[];
  /** Whether every commit was read. */
  isWhole: boolean;
  notes: string[];
}

/** Ten years of a busy team; more would take too long. */
const MAX_COMMITS = 20_000;
const LIMITS = { timeoutMs: 15_000, maxBytes: 256 << 20 };
/** A folder's first files show what happened to it. */
const MAX_PER_FOLDER = 200;

export const NO_HISTORY: History = {
  events: new Map(),
  byName: new Map(),
  inFolder: new Map(),
  added: new Map(),
  deleted: [],
  isWhole: false,
  notes: [],
};

/** How far back changes are read. */
export interface Reach {
  /** Arguments of `git log` that name the commits. */
  commits: string[];
  /** Null if all of them are read. */
  cut: string | null;
  isShallow: boolean;
}

/** Null when there are no commits. A limit of `git log` itself would count only the commits that it shows. */
export async function findReach(
  git: Git,
  { maxCommits = MAX_COMMITS, since }: { maxCommits?: number | undefined; since?: number | undefined } = {},
): Promise<Reach | null> {
  const dated = since === undefined ? [] : [`--since=${Math.floor(since)}`];
  const [counted, isShallow] = await Promise.all([
    readGit(git, ["rev-list", "--count", `--max-count=${maxCommits + 1}`, ...dated, "HEAD", "--"]),
    isShallowClone(git),
  ]);
  if (counted === null) return null;
  const count = Number(counted.toString("latin1"));
  if (count <= maxCommits) return { isShallow, commits: [...dated, "HEAD"], cut: null };
  const next = ["log", "--max-count=1", `--skip=${maxCommits}`, "--format=%H %ct", "HEAD", "--"];
  const [hash = "", time = ""] = (await readGit(git, next))?.toString("latin1").trim().split(" ") ?? [];
  const cut = `only the newest ${maxCommits} commits were checked, back to ${commitOf(hash, time).day}`;
  return { isShallow, commits: [...dated, "HEAD", `^${hash}`], cut };
}

/** A file marks it; for a linked worktree or a folder inside a checkout, git knows where that file is. */
async function isShallowClone(git: Git): Promise<boolean> {
  const own = join(git.root, ".git");
  if (statOrNull(own)?.isDirectory()) return statOrNull(join(own, "shallow")) !== null;
  return (await readGit(git, ["rev-parse", "--is-shallow-repository"]))?.toString("latin1").trim() === "true";
}

export async function readHistory(git: Git, reach: Reach | null): Promise<History> {
  if (reach === null) return { ...NO_HISTORY, notes: ["there are no commits, so moves and removals are unknown"] };
  // A commit that moves more files than this is searched for exact copies only: comparing thousands of pictures takes half a minute.
  const renames = ["-M", "-l200", "--no-rename-empty"];
  const form = ["-z", "--format=%x01%H %ct", "--raw", "--no-abbrev", ...renames, "--diff-filter=ADR"];
  // The first commit only adds: nothing of it is asked for, and it may be the largest of all.
  const settings = ["log.showRoot=false"];
  const parser = openParser();
  const args = ["log", ...form, ...reach.commits, "--"];
  const { code } = await runGit(git, args, { ...LIMITS, settings, take: parser.take });
  const notes: string[] = [];
  if (reach.isShallow) notes.push("this is a shallow clone, so earlier history is unknown");
  if (reach.cut !== null) notes.push(reach.cut);
  if (code !== 0) notes.push("git took too long, so only the newest part of the history was checked");
  return { ...parser.result(), isWhole: notes.length === 0, notes };
}

interface Parser {
  take(chunk: Buffer): void;
  result(): Pick<History, "events" | "byName" | "inFolder" | "added" | "deleted">;
}

/** No more than this are requested. */
const MAX_DELETED = 20_000;
/** `:100644 000000 HASH HASH D`; of ordinary files the old text is kept in mind. */
const CHANGE = /^\n?:(\d+) \d+ ([0-9a-f]+) [0-9a-f]+ ([A-Z])\d*$/;

/** NUL between all parts: a commit, then a change and one or two names, again and again; newest commit first. */
function openParser(): Parser {
  const events = new Map<string, FileEvent>();
  let rest: Buffer = Buffer.alloc(0);
  let commit = NO_COMMIT;
  let status = "";
  let blob: string | null = null;
  let from: string | null = null;
  const texts: DeletedFile[] = [];
  const births = new Map<string, Commit>();
  let added = new Map<string, string[]>();
  let deleted: string[] = [];
  const note = (path: string, to: string | null) => {
    if (!events.has(path)) events.set(path, { commit, to });
  };
  /** A file that was rewritten while it moved: deleted here, and one of its name added there, by the same commit. */
  const closeCommit = () => {
    for (const path of deleted) {
      const twins = added.get(nameOf(path)) ?? [];
      note(path, twins.length === 1 && !COMMON.test(nameOf(path)) ? (twins[0] as string) : null);
    }
    deleted = [];
    added = new Map();
  };
  const takePart = (part: string) => {
    if (status === "" && part.startsWith("\x01")) {
      closeCommit();
      const [hash = "", time = ""] = part.slice(1).split(" ");
      commit = commitOf(hash, time);
    } else if (status === "") {
      const [, mode = "", old = "", letter = ""] = CHANGE.exec(part) ?? [];
      status = letter;
      blob = mode.startsWith("100") ? old : null;
    } else if (status === "R") {
      if (from === null) from = part;
      else {
        note(from, part);
        from = null;
        status = "";
      }
    } else {
      if (status === "D") {
        deleted.push(part);
        if (blob !== null && texts.length < MAX_DELETED) texts.push({ path: part, blob, commit });
      } else {
        births.set(part, commit);
        added.set(nameOf(part), [...(added.get(nameOf(part)) ?? []).slice(0, 2), part]);
      }
      status = "";
    }
  };
  return {
    take(chunk) {
      const data = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      let at = 0;
      for (let nul = data.indexOf(0); nul >= 0; nul = data.indexOf(0, at)) {
        takePart(data.toString("utf8", at, nul));
        at = nul + 1;
      }
      rest = data.subarray(at);
    },
    result() {
      closeCommit();
      return { events, added: births, deleted: texts, ...indexOf(events.keys()) };
    },
  };
}

/** Every folder has one of these: a new one is not the old one moved. */
const COMMON =
  /^(?:index\.\w+|__init__\.py|mod\.rs|main\.\w+|lib\.rs|README\.md|package\.json|Dockerfile|Makefile|doc\.go|types\.ts|utils?\.\w+)$/;

function indexOf(paths: Iterable<string>): Pick<History, "byName" | "inFolder"> {
  const byName = new Map<string, string[]>();
  const inFolder = new Map<string, string[]>();
  const put = (map: Map<string, string[]>, key: string, path: string) => {
    const list = map.get(key);
    if (!list) map.set(key, [path]);
    else if (list.length < MAX_PER_FOLDER) list.push(path);
  };
  for (const path of paths) {
    put(byName, nameOf(path), path);
    for (let at = path.lastIndexOf("/"); at > 0; at = path.lastIndexOf("/", at - 1))
      put(inFolder, path.slice(0, at), path);
  }
  return { byName, inFolder };
}

export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
