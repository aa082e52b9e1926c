/** Who wrote a memory of the team and when: from git for the repository, from the notes of the last sync for a server's mirror. */

import type { Env } from "../config.ts";
import { findHead, readGit } from "../project/git.ts";
import {
  type Authors,
  type Authorship,
  cleanAuthor,
  prepareDirectory,
  readCache,
  readSynced,
  type Store,
  writeCache,
} from "../store/store.ts";

/** Thousands of commits that touch the folder: older ones are not worth a second. */
const MAX_COMMITS = 5_000;
/** Enough for a long history on a slow disk; a longer wait looks as if it hangs. */
const TIMEOUT_MS = 10_000;

/** One call of git, kept until the repository has another commit. Never throws: who is not known is not in it. */
export async function readAuthors(directory: Store, env: Env): Promise<Authors> {
  if (!directory.inRepository) return readSynced(directory);
  const head = findHead(directory.path);
  const kept = readCache(directory, head);
  if (kept) return kept;
  const format = "--format=%x00%H%x00%aN%x00%aI";
  const listing = ["--name-status", "--relative", "--no-renames", "-z", `--max-count=${MAX_COMMITS}`];
  const git = { root: directory.path, env };
  const log = await readGit(git, ["log", format, ...listing, "--", "."], { timeoutMs: TIMEOUT_MS });
  if (log === null) return new Map();
  const authors = parseLog(log.toString("utf8"));
  try {
    if (head !== null) prepareDirectory(directory);
    if (head !== null) writeCache(directory, head, authors);
  } catch (error) {
    // A checkout that may only be read.
    directory.log(`authors are not kept: ${(error as Error).message}`);
  }
  return authors;
}

/** Records begin with an empty part and the commit; then come status and path, in turn. Newest first: the first one of a path counts. */
function parseLog(output: string): Map<string, Authorship> {
  const authors = new Map<string, Authorship>();
  const seen = new Set<string>();
  const parts = output.split("\0");
  let current: Authorship = { author: "", at: "" };
  for (let i = 0; i < parts.length; ) {
    const part = parts[i] as string;
    if (part === "") {
      if (/^[0-9a-f]{40,64}$/.test(parts[i + 1] ?? "")) {
        current = { author: cleanAuthor(parts[i + 2] ?? ""), at: parts[i + 3] ?? "" };
        i += 4;
      } else i++;
      continue;
    }
    const path = parts[i + 1] ?? "";
    i += 2;
    if (path === "" || seen.has(path)) continue;
    seen.add(path);
    // Removed and perhaps created again since: that one is not committed yet.
    if (part.trim() !== "D") authors.set(path, current);
  }
  return authors;
}
