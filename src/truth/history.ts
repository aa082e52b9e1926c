/** What happened to files: renamed, deleted or changed, when and by which commit. Read once for all claims. */

import { join } from "node:path";
import { statOrNull } from "../disk/fence.ts";
import { type Git, readGit, runGit } from "../project/git.ts";

export interface Commit {
  hash: string;
  /** Seconds since 1970. */
  time: number;
}

export const NO_COMMIT: Commit = { hash: "", time: 0 };

/** `4f2c1ab093 on 2026-10-02` */
export function describeCommit({ hash, time }: Commit): string {
  return `${hash} on ${dayOf(time)}`;
}

/** YYYY-MM-DD of seconds since 1970. */
export function dayOf(seconds: number): string {
  return Number.isFinite(seconds) ? new Date(seconds * 1000).toISOString().slice(0, 10) : "";
}

export interface FileEvent {
  commit: Commit;
  /** The new path of a rename; null for a deletion. */
  to: string | null;
}

/** A commit that changed, renamed or deleted a file. */
export interface Change {
  /** Before the change. */
  path: string;
  /** The objects that hold its text before and after; `after` is null for a deletion. */
  before: string;
  after: string | null;
  commit: Commit;
}

export type History = typeof NO_HISTORY;

/** Ten years of a busy team; more would take too long. */
const MAX_COMMITS = 20_000;
const LIMITS = { timeoutMs: 15_000, maxBytes: 256 << 20 };
/** A folder's first files show what happened to it. */
const MAX_PER_FOLDER = 200;

/** How far back it is read. */
export interface HistoryLimits {
  maxCommits?: number | undefined;
  /** Seconds since 1970. */
  since?: number | undefined;
}

export async function readHistory(git: Git, limits: HistoryLimits): Promise<History> {
  const reach = await findReach(git, limits);
  if (reach === null) return { ...NO_HISTORY, notes: ["there are no commits, so moves and removals are unknown"] };
  // A commit that moves more files than this is searched for exact copies only: comparing thousands of pictures takes half a minute.
  let { code, cut, parsed } = await readChanges(git, reach, ["-M", "-l200"]);
  // A partial clone lacks the texts to compare.
  if (code !== 0 && cut === null) ({ code, parsed } = await readChanges(git, reach, ["-M100%"]));
  const notes: string[] = [];
  if (reach.isShallow) notes.push("this is a shallow clone, so earlier history is unknown");
  if (reach.cut !== null) notes.push(reach.cut);
  if (code !== 0) notes.push("git did not finish, so only the newest part of the history was checked");
  return { ...parsed, isWhole: notes.length === 0, notes };
}

async function readChanges(git: Git, { commits }: Reach, renames: readonly string[]) {
  const form = ["-z", "--format=%x01%H %ct", "--raw", "--no-abbrev", "--no-rename-empty", "--diff-filter=ADMR"];
  // The first commit only adds: nothing of it is asked for, and it may be the largest of all.
  const settings = ["log.showRoot=false"];
  const parser = openParser();
  const args = ["log", ...form, ...renames, ...commits, "--"];
  const { code, cut } = await runGit(git, args, { ...LIMITS, settings, take: parser.take });
  return { code, cut, parsed: parser.result() };
}

interface Reach {
  /** Arguments of `git log` that name the commits. */
  commits: string[];
  /** Null if all of them are read. */
  cut: string | null;
  isShallow: boolean;
}

/** Null when there are no commits. A limit of `git log` itself would count only the commits that it shows. */
async function findReach(git: Git, { maxCommits = MAX_COMMITS, since }: HistoryLimits): Promise<Reach | null> {
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
  const cut = `only the newest ${maxCommits} commits were checked, back to ${dayOf(Number(time))}`;
  return { isShallow, commits: [...dated, "HEAD", `^${hash}`], cut };
}

/** A file marks it; for a linked worktree or a folder inside a checkout, git knows where that file is. */
async function isShallowClone(git: Git): Promise<boolean> {
  const own = join(git.root, ".git");
  if (statOrNull(own)?.isDirectory()) return statOrNull(join(own, "shallow")) !== null;
  return (await readGit(git, ["rev-parse", "--is-shallow-repository"]))?.toString("latin1").trim() === "true";
}

/** Some 60 MB; ten years of a busy team have fewer. */
const MAX_CHANGES = 300_000;

/** NUL between all parts: a commit, then a change and one or two names, again and again; newest commit first. */
function openParser() {
  const events = new Map<string, FileEvent>();
  const changes: Change[] = [];
  const births = new Map<string, Commit>();
  let commit = NO_COMMIT;
  /** `:100644 000000 HASH HASH D` in its parts. */
  let change: string[] | null = null;
  let from: string | null = null;
  let added = new Map<string, string[]>();
  let deleted: string[] = [];
  const note = (path: string, to: string | null) => {
    if (!events.has(path)) events.set(path, { commit, to });
  };
  /** A file that was rewritten while it moved: deleted here, and one of its name added there, by the same commit. */
  const closeCommit = () => {
    for (const path of deleted) {
      const [twin, ...others] = added.get(nameOf(path)) ?? [];
      const isMoved = twin !== undefined && others.length === 0 && !COMMON.test(nameOf(path));
      note(path, isMoved ? twin : null);
      // It was there before, elsewhere.
      if (isMoved) births.delete(twin);
    }
    deleted = [];
    added = new Map();
  };
  const takeChange = ([mode = "", , before = "", after = "", kind = ""]: string[], path: string, to: string) => {
    const status = kind[0];
    if (status === "R") note(path, to);
    else if (status === "D") deleted.push(path);
    else if (status === "A") {
      births.set(path, commit);
      added.set(nameOf(path), [...(added.get(nameOf(path)) ?? []).slice(0, 2), path]);
    }
    if (status !== "A" && before !== after && /:100/.test(mode) && changes.length < MAX_CHANGES)
      changes.push({ path, before, after: status === "D" ? null : after, commit });
  };
  const takePart = (part: string) => {
    if (change === null && part.startsWith("\x01")) {
      closeCommit();
      const [hash = "", time = ""] = part.slice(1).split(" ");
      commit = { hash: hash.slice(0, 10), time: Number(time) };
    } else if (change === null) change = part.split(" ");
    else if (change[4]?.startsWith("R") && from === null) from = part;
    else {
      takeChange(change, from ?? part, part);
      change = from = null;
    }
  };
  return {
    take: openParts(0, takePart),
    result() {
      closeCommit();
      return {
        /** By the path before the event, the newest one. */
        events,
        /** The commit that first added a file, as far as history was read. */
        added: births,
        /** Of source and package files, newest first. */
        changes,
        ...indexOf(events.keys()),
      };
    },
  };
}

/** What git prints, in the parts that end with this byte. */
export function openParts(end: number, take: (part: string) => void): (chunk: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0);
  return (chunk) => {
    const data = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    let at = 0;
    for (let stop = data.indexOf(end); stop >= 0; stop = data.indexOf(end, at)) {
      take(data.toString("utf8", at, stop));
      at = stop + 1;
    }
    rest = data.subarray(at);
  };
}

/** Every folder has one of these: a new one is not the old one moved. */
const COMMON =
  /^(?:index\.\w+|__init__\.py|mod\.rs|main\.\w+|lib\.rs|README\.md|package\.json|Dockerfile|Makefile|doc\.go|types\.ts|utils?\.\w+)$/;

function indexOf(paths: Iterable<string>) {
  const byName = new Map<string, string[]>();
  /** Files of a folder that were deleted or renamed away. */
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

/** `isWhole`: whether every commit was read. */
export const NO_HISTORY = { ...openParser().result(), isWhole: false, notes: [] as string[] };

export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
