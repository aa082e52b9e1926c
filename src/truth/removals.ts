/** Lines that commits removed, in changed and in deleted files, as far as they hold a wanted word. */

import { type Git, readGit, runGit } from "../project/git.ts";
import { type Commit, commitOf, type DeletedFile, NO_COMMIT, type Reach } from "./history.ts";
import { isSource } from "./hit.ts";
import { isManifest, type RemovedLine } from "./manifests.ts";
import { judgeLine, type Occurrence, openScan, type WordScan } from "./occurrences.ts";

export interface Removal extends Occurrence {
  commit: Commit;
}

export interface Removals {
  /** Newest first. */
  words: ReadonlyMap<string, readonly Removal[]>;
  isWhole: boolean;
}

/** Changes are much larger than names; anything beyond this limit is unknown. */
const LIMITS = { timeoutMs: 20_000, maxBytes: 1 << 29 };
const MAX_PER_WORD = 40;
const MAX_LINES = 20_000;
/** A longer line is data. */
const MAX_LINE = 2_000;

/** Nothing was requested. */
export const NO_REMOVALS: Removals = { words: new Map(), isWhole: true };

/** All changes, requested before it is known which words are wanted. */
export interface Changes {
  /** Newest first: lines of source that held one of the words. */
  search(words: Iterable<string>): Promise<Removals>;
  /** The result is not needed. */
  drop(): Promise<void>;
}

/** Few enough commits that half of their changes can be prepared and kept in memory. */
const SHORT_COMMITS = 3_000;
const AHEAD = { timeoutMs: 20_000, maxBytes: 64 << 20 };

/**
 * Git works on one commit after the other, and every one of 25 real stores names something that only all changes can tell about: the
 * newer half starts at once, while the files are read, and the rest on demand, in two processes.
 */
export function beginChanges(git: Git, reach: Reach, kept = AHEAD): Changes {
  const dropped = new AbortController();
  const signal = git.signal ? AbortSignal.any([git.signal, dropped.signal]) : dropped.signal;
  /** Whether it is complete. */
  const stream = async (commits: readonly string[], take: (chunk: Buffer) => void, limits: typeof LIMITS) => {
    if (commits.length === 0) return true;
    const input = `${commits.join("\n")}\n`;
    return (await runGit({ ...git, signal }, CHANGES_OF_GIVEN, { ...limits, take, input })).code === 0;
  };
  const chunks: Buffer[] = [];
  const begin = async () => {
    const commits = await listCommits(git, reach);
    const [half, most] = [0.5, 0.75].map((part) => Math.ceil((commits?.length ?? 0) * part));
    const parts = [commits?.slice(0, half) ?? [], commits?.slice(half, most) ?? [], commits?.slice(most) ?? []];
    const isShort = (commits?.length ?? 0) <= SHORT_COMMITS && !dropped.signal.aborted;
    const ahead = isShort ? stream(parts[0] ?? [], (chunk) => void chunks.push(chunk), kept) : null;
    return { isKnown: commits !== null, parts, ahead };
  };
  const begun = begin();
  return {
    async search(words) {
      const wanted = [...words];
      const { isKnown, parts, ahead } = await begun;
      const found = parts.map(() => new Map(wanted.map((word): [string, Removal[]] => [word, []])));
      const ends = await Promise.all(
        parts.map(async (commits, nth) => {
          const take = openParser(found[nth] as Map<string, Removal[]>, null);
          // More than is kept in memory is read again, as it comes.
          if (nth > 0 || (await ahead) !== true) return stream(commits, take, LIMITS);
          for (const chunk of chunks) take(chunk);
          return true;
        }),
      );
      return {
        words: new Map(wanted.map((word) => [word, found.flatMap((part) => part.get(word) ?? [])])),
        isWhole: isKnown && reach.cut === null && ends.every(Boolean),
      };
    },
    async drop() {
      dropped.abort();
      await (await begun).ahead;
    },
  };
}

async function listCommits(git: Git, reach: Reach): Promise<string[] | null> {
  const listing = await readGit(git, ["rev-list", "--no-merges", ...reach.commits, "--"]);
  if (listing === null) return null;
  const hashes = listing.toString("latin1").split("\n");
  return hashes.filter((hash) => hash !== "");
}

/** More package files than this are those of examples and fixtures. */
const MAX_MANIFESTS = 300;

/** Newest first: lines of these files. Named one by one, as git is slow with patterns. */
export async function readManifestRemovals(git: Git, reach: Reach, files: readonly string[]): Promise<RemovedLine[]> {
  const lines: RemovedLine[] = [];
  const nearest = [...new Set(files)].sort((a, b) => a.split("/").length - b.split("/").length).slice(0, MAX_MANIFESTS);
  const args = [...CHANGES, ...reach.commits, "--", ...nearest];
  await runGit(git, args, { ...LIMITS, take: openParser(new Map(), lines) });
  return lines;
}

/** Nothing that the repository configures takes part, and the form is the same everywhere. */
const CHANGES = [
  ...["log", "-p", "-U0", "-M", "-l50", "--diff-filter=DMR", "--format=%x01%H %ct"],
  ...["--no-color", "--src-prefix=a/", "--dst-prefix=b/", "--ignore-submodules=all"],
];

const CHANGES_OF_GIVEN = [...CHANGES, "--no-walk=unsorted", "--stdin"];

const [MINUS, AT, COMMIT, NEWLINE] = [45, 64, 1, 10];

/** Only inside a hunk a `-` begins a removed line. */
function openParser(found: Map<string, Removal[]>, lines: RemovedLine[] | null): (chunk: Buffer) => void {
  const scan = openScan(found.keys());
  let rest: Buffer = Buffer.alloc(0);
  let commit = NO_COMMIT;
  let file = "";
  let inHunk = false;
  let wanted = { source: false, manifest: false };
  const takeRemoved = (data: Buffer, from: number, to: number) => {
    if (lines && wanted.manifest && lines.length < MAX_LINES && to - from < MAX_LINE)
      lines.push({ file, text: data.toString("utf8", from, to), commit });
    if (!wanted.source || to - from > MAX_LINE || found.size === 0) return;
    scan.scan(data, from, to, (word, at, end) => {
      const removals = found.get(word) as Removal[];
      if (removals.length >= MAX_PER_WORD) return;
      removals.push({
        file,
        line: 0,
        commit,
        ...judgeLine(file, data.toString("latin1", from, to), at - from, end - at),
      });
    });
  };
  const takeLine = (data: Buffer, from: number, to: number) => {
    const first = data[from];
    if (inHunk && first === MINUS) takeRemoved(data, from + 1, to);
    else if (first === COMMIT) {
      const [hash = "", time = ""] = data.toString("latin1", from + 1, to).split(" ");
      commit = commitOf(hash, time);
      inHunk = false;
    } else if (first === AT) inHunk = true;
    else if (first === 100) inHunk = false;
    else if (!inHunk && first === MINUS) {
      file = pathOf(data.toString("utf8", from + 4, to));
      wanted = { source: isSource(file), manifest: isManifest(file) };
    }
  };
  return (chunk) => {
    const data = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    let at = 0;
    for (let end = data.indexOf(NEWLINE); end >= 0; end = data.indexOf(NEWLINE, at)) {
      takeLine(data, at, end);
      at = end + 1;
    }
    rest = data.subarray(at);
  };
}

/** `a/src/x.ts`, quoted when there is something odd in it. */
function pathOf(text: string): string {
  return text.replace(/^"?a\//, "").replace(/[\t"]*$/, "");
}

/** More than this is the whole of a project, given up. What is left out is found among the changes. */
const MAX_FILES = 2_000;
const DELETED_LIMITS = { timeoutMs: 10_000, maxBytes: 32 << 20 };
/** Where git looks for a NUL to tell binary files. */
const HEAD_BYTES = 8_000;

/** Newest first, for each of the words. */
export async function searchDeleted(
  git: Git,
  deleted: readonly DeletedFile[],
  words: Iterable<string>,
): Promise<Map<string, Removal[]>> {
  const found = new Map<string, Removal[]>();
  for (const word of words) found.set(word, []);
  const files = deleted.filter(({ path }) => isSource(path)).slice(0, MAX_FILES);
  if (files.length === 0 || found.size === 0) return found;
  const input = files.map(({ blob }) => `${blob}\n`).join("");
  const { output } = await runGit(git, ["cat-file", "--batch", "--buffer"], { ...DELETED_LIMITS, input });
  const scan = openScan(found.keys());
  let nth = 0;
  for (const text of blobsOf(output)) {
    const file = files[nth++] as DeletedFile;
    if (text && !text.subarray(0, HEAD_BYTES).includes(0)) searchText(file, text, scan, found);
  }
  return found;
}

/** `HASH blob SIZE`, a line break, that many bytes, a line break; or `HASH missing`. A truncated one is dropped. */
function* blobsOf(output: Buffer): Generator<Buffer | null> {
  for (let at = 0; at < output.length; ) {
    const newline = output.indexOf(10, at);
    if (newline < 0) return;
    const [, kind, size = ""] = output.toString("latin1", at, newline).split(" ");
    if (kind === "missing" || !/^\d+$/.test(size)) {
      yield null;
      at = newline + 1;
      continue;
    }
    const end = newline + 1 + Number(size);
    if (end > output.length) return;
    yield kind === "blob" ? output.subarray(newline + 1, end) : null;
    at = end + 1;
  }
}

function searchText({ path, commit }: DeletedFile, text: Buffer, scan: WordScan, found: Map<string, Removal[]>): void {
  scan.scan(text, 0, text.length, (word, at, end) => {
    const removals = found.get(word) as Removal[];
    if (removals.length >= MAX_PER_WORD) return;
    const start = text.lastIndexOf(10, at) + 1;
    const newline = text.indexOf(10, end);
    const stop = newline < 0 ? text.length : newline;
    if (stop - start > MAX_LINE) return;
    const line = text.toString("latin1", start, stop);
    removals.push({ file: path, line: 0, commit, ...judgeLine(path, line, at - start, end - at) });
  });
}
