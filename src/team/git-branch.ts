/** A branch as a list of memories: the tree of its last commit, with what its history says about each path. */

import { isUtf8 } from "node:buffer";
import * as v from "valibot";
import { openStateIn, quietly } from "../store/store.ts";
import { sha256 } from "../text/hash.ts";
import { Damage, type Repository } from "./git-repository.ts";
import { findEntryProblem, LIMITS, type RemoteEntry } from "./protocol.ts";

export interface BranchEntry extends RemoteEntry {
  /** "" for a tombstone. */
  blob: string;
}

export interface Branch {
  /** Null while the remote has no such branch. */
  tip: string | null;
  /** Memories and tombstones by path. */
  entries: ReadonlyMap<string, BranchEntry>;
  /** Paths of everything else in the tree: left alone, and in the way of a memory of that name. */
  others: ReadonlySet<string>;
}

export const NO_BRANCH: Branch = { tip: null, entries: new Map(), others: new Set() };

export async function readBranch(repository: Repository, tip: string): Promise<Branch> {
  const files = await readTree(repository, tip);
  const touches = await readHistory(repository, tip);
  const hashes = new Map<string, string>();
  const wanted = new Set(files.flatMap(({ blob, isMemory }) => (isMemory ? [blob] : [])));
  await readBlobs(repository, [...wanted], (blob, bytes) => void hashes.set(blob, isUtf8(bytes) ? sha256(bytes) : ""));
  if (hashes.size < wanted.size) throw new Damage("texts are missing");
  const entries = new Map<string, BranchEntry>();
  const others = new Set<string>();
  for (const { path, blob, isMemory } of files) {
    const hash = isMemory ? hashes.get(blob) : "";
    const touch = touches.get(path);
    // History that is cut off does not know the path, or knows it as it was.
    if (hash) entries.set(path, entryFor(path, hash, touch?.blob === blob ? touch : { ...UNKNOWN, blob }));
    else others.add(path);
  }
  for (const [path, touch] of touches)
    if (touch.blob === "" && !entries.has(path) && !others.has(path) && findEntryProblem(path) === null)
      entries.set(path, entryFor(path, "", touch));
  return { tip, entries, others };
}

const UNKNOWN = { commit: "", author: "", at: "" };

function entryFor(path: string, hash: string, touch: Touch): BranchEntry {
  const { blob, author, at } = touch;
  return { path, hash, revision: revisionOf(touch), deleted: blob === "", author, at, blob };
}

/** A text that comes back is a new version: the commit distinguishes them. */
export function revisionOf(touch: Pick<Touch, "blob" | "commit">): string {
  return `${touch.blob === "" ? "removed" : touch.blob.slice(0, 20)}-${touch.commit.slice(0, 20)}`;
}

/** Texts by blob; what is missing or no text is left out. */
export async function readTexts(repository: Repository, blobs: ReadonlySet<string>): Promise<Map<string, string>> {
  const texts = new Map<string, string>();
  await readBlobs(repository, [...blobs], (blob, bytes) => {
    if (isUtf8(bytes)) texts.set(blob, bytes.toString("utf8"));
  });
  return texts;
}

/** Everything in the tree; links, submodules and what is too large are not memories. */
async function readTree(repository: Repository, tip: string) {
  const output = await repository.local(["ls-tree", "-r", "-z", "--full-tree", "--long", tip]);
  const tooLarge: string[] = [];
  const rows = output.toString("latin1").split("\0").slice(0, -1);
  const files = rows.map((raw) => {
    const line = Buffer.from(raw, "latin1");
    const row = /^(\d+) (\w+) ([0-9a-f]+) +(\d+|-)\t(.*)$/s.exec(line.toString("utf8"));
    if (!row) throw new Damage("ls-tree says something else");
    const [, mode = "", , blob = "", size = "", path = ""] = row;
    const isNamed = mode.startsWith("100") && isUtf8(line) && findEntryProblem(path) === null;
    const fits = Number(size) <= LIMITS.memoryBytes;
    if (isNamed && !fits) tooLarge.push(path);
    return { path, blob, isMemory: isNamed && fits };
  });
  if (tooLarge.length > 0)
    repository.log(
      `${tooLarge.length} files on ${repository.address.name} are larger than ${LIMITS.memoryBytes} bytes and were skipped: ${tooLarge.slice(0, 5).join(", ")}`,
    );
  return files;
}

/** 500 texts of the largest size are 125 MB, below what one call may answer. */
const BATCH = 500;

async function readBlobs(
  repository: Repository,
  blobs: readonly string[],
  take: (blob: string, bytes: Buffer) => void,
) {
  for (let from = 0; from < blobs.length; from += BATCH) {
    const wanted = blobs.slice(from, from + BATCH);
    const output = await repository.local(["cat-file", "--batch"], { input: `${wanted.join("\n")}\n` });
    let at = 0;
    for (const blob of wanted) {
      const end = output.indexOf(10, at);
      if (end < 0) throw new Damage("cat-file ended early");
      const size = /^[0-9a-f]+ blob (\d+)$/.exec(output.toString("latin1", at, end))?.[1];
      at = end + 1;
      if (size === undefined) continue;
      take(blob, output.subarray(at, at + Number(size)));
      at += Number(size) + 1;
    }
  }
}

/** The last commit that changed a path; the blob is "" when it removed the path. */
const Touch = v.object({ blob: v.string(), commit: v.string(), author: v.string(), at: v.string() });
type Touch = v.InferOutput<typeof Touch>;

type Touches = Map<string, Touch>;

/** The last touch of each path on the way to the commit `tip`. */
const History = v.object({ tip: v.string(), touches: v.array(v.tuple([v.string(), Touch])) });

/** A branch with more commits has no authors and no tombstones from before; a sync a minute fills it in two weeks. */
const MOST = "--max-count=20000";

/** Reading all of a long history takes seconds: it is kept beside the repository, and only believed where it is of an ancestor of `tip`. */
async function readHistory(repository: Repository, tip: string): Promise<Touches> {
  const name = `history-${repository.key}`;
  const record = openStateIn(repository.cache).record(name, (value) => v.parse(History, value));
  const kept = record.read();
  const known = new Map(kept?.touches);
  if (kept?.tip === tip) return known;
  const touches =
    (kept && (await readSince(repository, kept.tip, known, tip))) ??
    addCommits(new Map(), parseLog(await repository.local([...LOG, MOST, tip, "--"])));
  if (!quietly(() => record.write({ tip, touches: [...touches] })))
    repository.log(`the history of ${repository.address.name} cannot be cached in ${repository.cache}`);
  return touches;
}

/** Those of the commits, given by the beginnings of their ids, that `tip` grew out of. Whatever is not here is not one of them. */
export async function findAncestors(repository: Repository, tip: string, commits: readonly string[]) {
  const asked = [...new Set(commits)].filter((commit) => /^[0-9a-f]{20,40}$/.test(commit));
  const lines = asked.map((commit) => `${commit}^{commit}\n`).join("");
  const answer = (await repository.local(["cat-file", "--batch-check=%(objectname)"], { input: lines })).toString(
    "latin1",
  );
  const whole = answer.split("\n").filter((line) => /^[0-9a-f]{40}$/.test(line));
  // What is reachable from them and not from the tip: one that is not behind it is among that itself.
  const beside = await repository.local(["rev-list", "--stdin"], { input: [...whole, `^${tip}`, ""].join("\n") });
  const others = new Set(beside.toString("latin1").split("\n"));
  return new Set(
    whole.flatMap((commit) => (others.has(commit) ? [] : asked.filter((start) => commit.startsWith(start)))),
  );
}

/** Every change of one path, oldest first. */
export async function readTouches(repository: Repository, tip: string, path: string): Promise<Touch[]> {
  const output = await repository.local([...LOG, tip, "--", path]);
  const touches: Touch[] = [];
  for (const { changes, ...commit } of parseLog(output).toReversed()) {
    const change = changes.find((one) => one.path === path);
    // A changed mode is not a new version.
    if (change && change.blob !== touches.at(-1)?.blob) touches.push({ ...commit, blob: change.blob });
  }
  return touches;
}

/**
 * A merge counts as one change against its first parent, so that the commits on the way add up to the tree. Renames are a
 * removal and a new file.
 */
const LOG = [
  ...["log", "--first-parent", "-m", "--raw", "-z", "--no-renames", "--no-abbrev", "--no-decorate", "--no-color"],
  ...["--root", "--encoding=UTF-8", "--format=%x01%H%x02%P%x02%an%x02%ae%x02%at%x02"],
];

/** Null where the kept commit is not one that this one grew out of. */
async function readSince(repository: Repository, before: string, known: Touches, tip: string): Promise<Touches | null> {
  try {
    const commits = parseLog(await repository.local([...LOG, MOST, tip, `^${before}`, "--"]));
    return commits.at(-1)?.parent === before ? addCommits(known, commits) : null;
  } catch (error) {
    // The kept commit is not here any more.
    if (error instanceof Damage) return null;
    throw error;
  }
}

function addCommits(touches: Touches, newestFirst: Commit[]): Touches {
  for (const { changes, commit, author, at } of newestFirst.toReversed())
    for (const { path, blob } of changes) {
      if (touches.get(path)?.blob !== blob || blob === "") touches.set(path, { blob, commit, author, at });
    }
  return touches;
}

type Commit = NonNullable<ReturnType<typeof parseHead>>;

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

function parseHead(part: string) {
  const fields = part.slice(part.indexOf("\x01") + 1).split("\x02");
  const [commit = "", parents = "", name = "", email = "", seconds = ""] = fields;
  if (!/^[0-9a-f]{40}$/.test(commit)) return null;
  const at = new Date(Number(seconds) * 1000);
  return {
    commit,
    parent: parents.split(" ")[0] ?? "",
    author: name.trim() || email.trim(),
    at: Number.isNaN(at.getTime()) ? "" : at.toISOString(),
    changes: [] as { path: string; blob: string }[],
  };
}
