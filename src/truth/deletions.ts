/** What stood in files that commits deleted: they are few, and most of what is no longer there went with one of them. */

import { type Git, runGit } from "../project/git.ts";
import type { DeletedFile } from "./history.ts";
import { isSource } from "./hit.ts";
import { judgeLine } from "./occurrences.ts";
import type { Removal } from "./removals.ts";
import { openScan, type WordScan } from "./words.ts";

/** More than this is the whole of a project, given up. What is left out is found among the changes. */
const MAX_FILES = 2_000;
const LIMITS = { timeoutMs: 10_000, maxBytes: 32 << 20 };
/** As of changes: a longer line is data. */
const MAX_LINE = 2_000;
const MAX_PER_WORD = 40;
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
  const { output } = await runGit(git, ["cat-file", "--batch", "--buffer"], { ...LIMITS, input });
  const scan = openScan(found.keys());
  let nth = 0;
  for (const text of blobsOf(output)) {
    const file = files[nth++] as DeletedFile;
    if (text && !text.subarray(0, HEAD_BYTES).includes(0)) searchText(file, text, scan, found);
  }
  return found;
}

/** `HASH blob SIZE`, a line break, so many bytes, a line break; or `HASH missing`. One that is cut off is left out. */
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
