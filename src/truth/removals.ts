/** What commits took out: lines with wanted words, and entries of package files. One look at the changes for all claims. */

import { type Git, streamGit } from "./git.ts";
import { type Commit, dayOf, type Reach } from "./history.ts";
import { isSource } from "./hit.ts";
import { isManifest, type RemovedLine } from "./manifests.ts";
import { judgeLine, type Place } from "./occurrences.ts";
import { openScan } from "./words.ts";

export interface Removal extends Place {
  commit: Commit;
}

export interface Removals {
  /** Newest first. */
  words: ReadonlyMap<string, readonly Removal[]>;
  isWhole: boolean;
}

/** Changes are much more than names; what is older than this reaches is unknown. */
const LIMITS = { timeoutMs: 20_000, maxBytes: 1 << 30 };
const MAX_PER_WORD = 40;
const MAX_LINES = 20_000;
const MAX_LINE = 2_000;

export const NO_REMOVALS: Removals = { words: new Map(), isWhole: false };

/** What a short history's changes may take in memory before anybody knows which words are wanted. */
const AHEAD = { timeoutMs: 20_000, maxBytes: 64 << 20 };

/** The changes as git prints them, asked for while something else is done. Null when they are many: then they are streamed. */
export async function readChangesAhead(git: Git, reach: Reach | null): Promise<Buffer[] | null> {
  if (!reach?.isShort) return null;
  const chunks: Buffer[] = [];
  const end = await streamGit(git, [...CHANGES, ...reach.commits, "--"], (chunk) => void chunks.push(chunk), AHEAD);
  return end === "done" ? chunks : null;
}

/** Newest first: lines of source that held one of the words. */
export async function readRemovals(
  git: Git,
  words: Iterable<string>,
  reach: Reach,
  ahead: readonly Buffer[] | null,
): Promise<Removals> {
  const found = new Map<string, Removal[]>();
  for (const word of words) found.set(word, []);
  const take = openParser(found, null);
  for (const chunk of ahead ?? []) take(chunk);
  const end = ahead ? "done" : await streamGit(git, [...CHANGES, ...reach.commits, "--"], take, LIMITS);
  return { words: found, isWhole: end === "done" && reach.cut === null };
}

/** More package files than this are those of examples and fixtures. */
const MAX_MANIFESTS = 300;

/** Newest first: lines of these files. Named one by one, as git is slow with patterns. */
export async function readManifestRemovals(git: Git, reach: Reach, files: readonly string[]): Promise<RemovedLine[]> {
  const lines: RemovedLine[] = [];
  const nearest = [...new Set(files)].sort((a, b) => a.split("/").length - b.split("/").length).slice(0, MAX_MANIFESTS);
  const args = ["--literal-pathspecs", ...CHANGES, ...reach.commits, "--", ...nearest];
  await streamGit(git, args, openParser(new Map(), lines), LIMITS);
  return lines;
}

/** Nothing that the repository configures takes part, and the form is the same everywhere. */
const CHANGES = [
  ...["log", "-p", "-U0", "-M", "--diff-filter=DMR", "--format=%x01%H %ct", "--no-ext-diff", "--no-textconv"],
  ...["--no-color", "--src-prefix=a/", "--dst-prefix=b/", "--ignore-submodules=all"],
];

const [MINUS, AT, COMMIT, NEWLINE] = [45, 64, 1, 10];

/** Only inside a hunk a `-` begins a removed line. */
function openParser(found: Map<string, Removal[]>, lines: RemovedLine[] | null): (chunk: Buffer) => void {
  const scan = openScan(found.keys());
  let rest: Buffer = Buffer.alloc(0);
  let commit: Commit = { hash: "", day: "" };
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
      commit = { hash: hash.slice(0, 10), day: dayOf(Number(time)) };
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
