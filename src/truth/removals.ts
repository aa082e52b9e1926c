/** Lines that commits removed: those that a file held before a change and does not hold after it. */

import { type Git, runGit } from "../project/git.ts";
import type { Change, Commit } from "./history.ts";
import { isManifest, type RemovedLine } from "./manifests.ts";
import { judgeLine, MAX_FILE_BYTES, type Occurrence, openScan } from "./occurrences.ts";
import { isSource, judgeUsage } from "./usage.ts";

export interface Removal extends Occurrence {
  commit: Commit;
}

export interface Removals {
  /** Newest first; of those that are alike in a file only the newest. */
  words: ReadonlyMap<string, readonly Removal[]>;
  /** Whether one of the texts that changed since a time, in seconds since 1970, held the word in code then. */
  wasThere(word: string, time: number, isBorn: (file: string) => boolean): boolean;
  isWhole: boolean;
}

/** Some 100,000 texts, which are streamed; anything beyond this limit is unknown. */
const LIMITS = { timeoutMs: 30_000, maxBytes: 2 ** 31 };

/**
 * Lines of source that held one of the words. Every text is read once: that takes git less than half as long as comparing it
 * with the next one, and few texts hold a word that is no longer in the code.
 */
export async function searchPast(git: Git, history: readonly Change[], words: Iterable<string>): Promise<Removals> {
  const found = new Map([...words].map((word): [string, Removal[]] => [word, []]));
  if (found.size === 0) return { words: found, wasThere: () => true, isWhole: true };
  // Versions of a file one after the other.
  const byPath = new Map<string, Change[] | null>();
  const changes = history.filter((change) => {
    const known = byPath.get(change.path);
    if (known) known.push(change);
    else if (known === undefined) byPath.set(change.path, isSource(change.path) ? [change] : null);
    return byPath.get(change.path) !== null;
  });
  const texts = new Set([...byPath.values()].flatMap((own) => own?.map(({ before }) => before) ?? []));
  const mentions = openMentions(found.keys());
  // Git works alone while its texts are awaited: two of them take half as long.
  const all = [...texts];
  const halves = [all.slice(0, all.length / 2), all.slice(all.length / 2)];
  await Promise.all(halves.map((half) => catBlobs(git, new Set(half), mentions.open())));
  const isUnread = (hash: string | null): hash is string => hash !== null && !mentions.isRead(hash);
  const relevant = changes.filter(({ before }) => mentions.of(before).length > 0);
  await catBlobs(git, new Set(relevant.map(({ after }) => after).filter(isUnread)), mentions.open());
  addRemovals(relevant, mentions, found);
  return { words: found, wasThere: openPast(byPath, mentions, found), isWhole: ![...texts].some(isUnread) };
}

/** A file's text at a time is the one before its first change since. */
function openPast(
  byPath: ReadonlyMap<string, readonly Change[] | null>,
  mentions: Mentions,
  found: ReadonlyMap<string, readonly Removal[]>,
): Removals["wasThere"] {
  return (word, time, isBorn) =>
    (found.get(word) ?? []).some(({ file }) => {
      const first = byPath.get(file)?.findLast(({ commit }) => commit.time > time);
      if (first === undefined || !isBorn(file)) return false;
      return mentions
        .of(first.before)
        .some((each) => each.word === word && judgeUsage(file, each.line, each.column, each.length) !== "comment");
    });
}

function addRemovals(changes: readonly Change[], mentions: Mentions, found: ReadonlyMap<string, Removal[]>): void {
  const seen = new Set<string>();
  for (const { path, before, after, commit } of changes) {
    // What a text holds that is too large to be read is not known: nothing is removed for certain.
    if (after !== null && mentions.isTooLarge(after)) continue;
    for (const { word, line, column, length } of without(mentions.of(before), mentions.of(after))) {
      const judged = judgeLine(path, line, column, length);
      const key = `${word} ${judged.usage} ${judged.isOption} ${judged.value} ${path}`;
      if (!seen.has(key)) found.get(word)?.push({ file: path, line: 0, commit, ...judged });
      seen.add(key);
    }
  }
}

/** More package files than this are those of examples and fixtures. */
const MAX_MANIFESTS = 300;

/** Newest first: lines of package files. */
export async function readManifestRemovals(git: Git, history: readonly Change[]): Promise<RemovedLine[]> {
  const all = history.filter(({ path }) => isManifest(path));
  const files = [...new Set(all.map(({ path }) => path))].sort((a, b) => a.split("/").length - b.split("/").length);
  const nearest = new Set(files.slice(0, MAX_MANIFESTS));
  const changes = all.filter(({ path }) => nearest.has(path));
  const lines = new Map<string | null, string[]>();
  const take = (hash: string, text: Buffer | null) => lines.set(hash, text?.toString("utf8").split("\n") ?? []);
  const hashes = changes.flatMap(({ before, after }) => (after === null ? [before] : [before, after]));
  await catBlobs(git, new Set(hashes), take);
  return changes.flatMap(({ path, before, after, commit }) =>
    without(lines.get(before) ?? [], lines.get(after) ?? [])
      .filter((text) => text.length < MAX_LINE)
      .map((text) => ({ file: path, text, commit })),
  );
}

/** A word in a line. */
interface Mention {
  word: string;
  line: string;
  column: number;
  length: number;
}

/** Where its line starts in a text. */
interface Place {
  mention: Mention;
  start: number;
}

type Mentions = ReturnType<typeof openMentions>;

/** A longer line is data. */
const MAX_LINE = 2_000;
/** Where git looks for a NUL to tell binary files. */
const HEAD_BYTES = 8_000;

function isBinary(text: Buffer): boolean {
  const at = text.indexOf(0);
  return at >= 0 && at < HEAD_BYTES;
}

const NEWLINE = 10;
const NONE: readonly Mention[] = [];

/**
 * Versions of a file come one after the other and share most of their text: only the lines between the first and the last
 * difference are searched, and equal mentions are one object.
 */
function openMentions(words: Iterable<string>) {
  const scan = openScan(words);
  const known = new Map<string, Mention>();
  const byBlob = new Map<string | null, readonly Mention[]>();
  const tooLarge = new Set<string>();
  const scanLines = (text: Buffer, from: number, to: number) => {
    const places: Place[] = [];
    scan(text, from, to, (word, at, end) => {
      const start = text.lastIndexOf(NEWLINE, at) + 1;
      const newline = text.indexOf(NEWLINE, end);
      const stop = newline < 0 ? text.length : newline;
      if (stop - start > MAX_LINE) return;
      const mention = { word, line: text.toString("latin1", start, stop), column: at - start, length: end - at };
      const key = `${mention.column} ${word} ${mention.line}`;
      if (!known.has(key)) known.set(key, mention);
      places.push({ mention: known.get(key) as Mention, start });
    });
    return places;
  };
  return {
    open(): TakeText {
      let last: { text: Buffer; places: Place[] } = { text: Buffer.alloc(0), places: [] };
      return (hash, text) => {
        byBlob.set(hash, NONE);
        if (text === null) tooLarge.add(hash);
        if (text === null || isBinary(text)) return;
        const { from, to } = findDifference(last.text, text);
        const moved = text.length - last.text.length;
        const places = [
          ...last.places.filter(({ start }) => start < from),
          ...scanLines(text, from, to),
          ...last.places
            .filter(({ start }) => start + moved >= to)
            .map((each) => ({ ...each, start: each.start + moved })),
        ];
        last = { text, places };
        if (places.length > 0)
          byBlob.set(
            hash,
            places.map(({ mention }) => mention),
          );
      };
    },
    isRead: (hash: string) => byBlob.has(hash),
    isTooLarge: (hash: string) => tooLarge.has(hash),
    of: (hash: string | null) => byBlob.get(hash) ?? NONE,
  };
}

/** As long as a line: a closer look would take longer than to read it. */
const NEAR = 64;

/** The lines of the second text from the first to the last that differs. */
function findDifference(a: Buffer, b: Buffer): { from: number; to: number } {
  const most = Math.min(a.length, b.length);
  const head = countSame(most, (at, end) => a.compare(b, at, end, at, end) === 0);
  const [endA, endB] = [a.length, b.length];
  const tail = countSame(most - head, (at, end) => a.compare(b, endB - end, endB - at, endA - end, endA - at) === 0);
  const newline = b.indexOf(NEWLINE, endB - tail);
  return { from: head === 0 ? 0 : b.lastIndexOf(NEWLINE, head - 1) + 1, to: newline < 0 ? endB : newline + 1 };
}

function countSame(most: number, isSame: (at: number, end: number) => boolean): number {
  let count = 0;
  if (most < NEAR || !isSame(0, NEAR)) return count;
  for (let size = 64 * NEAR; size >= NEAR; size >>= 1)
    while (count + size <= most && isSame(count, count + size)) count += size;
  return count;
}

/** What occurs more often than among the others. */
function without<T>(all: readonly T[], others: readonly T[]): T[] {
  const left = new Map<T, number>();
  for (const each of others) left.set(each, (left.get(each) ?? 0) + 1);
  return all.filter((each) => {
    const count = left.get(each) ?? 0;
    if (count > 0) left.set(each, count - 1);
    return count === 0;
  });
}

type TakeText = (hash: string, text: Buffer | null) => void;

async function catBlobs(git: Git, hashes: ReadonlySet<string>, take: TakeText): Promise<void> {
  if (hashes.size === 0) return;
  const input = `${[...hashes].join("\n")}\n`;
  await runGit(git, ["cat-file", "--batch", "--buffer"], { ...LIMITS, input, take: openBlobs(take) });
}

/** `HASH blob SIZE`, a line break, that many bytes, a line break; or `HASH missing`. The text is null if it is too large for source. */
function openBlobs(take: TakeText): (chunk: Buffer) => void {
  let head = "";
  let hash = "";
  /** Bytes that are yet to come, with the line break. */
  let open = 0;
  let parts: Buffer[] | null = null;
  return (chunk) => {
    for (let at = 0; at < chunk.length; ) {
      if (open > 0) {
        const part = chunk.subarray(at, at + open);
        at += part.length;
        open -= part.length;
        parts?.push(part);
        // The line break at its end does no harm.
        if (open === 0) take(hash, parts && (parts.length === 1 ? part : Buffer.concat(parts)));
        continue;
      }
      const newline = chunk.indexOf(NEWLINE, at);
      const end = newline < 0 ? chunk.length : newline;
      head += chunk.toString("latin1", at, end);
      at = end + 1;
      if (newline < 0) continue;
      hash = head.slice(0, head.indexOf(" "));
      const size = Number(head.slice(head.lastIndexOf(" ")));
      open = Number.isNaN(size) ? 0 : size + 1;
      head = "";
      parts = open > MAX_FILE_BYTES ? null : [];
    }
  };
}
