/** Who wrote a memory of the team and when: from git for the repository, from the notes of the last sync for a server's mirror. */

import type { Env } from "../config.ts";
import { findHead, lastCommits } from "../project/git.ts";
import {
  type Authors,
  cleanAuthor,
  prepareDirectory,
  readCache,
  readSynced,
  type Store,
  writeCache,
} from "../store/store.ts";

/** Enough for a long history on a slow disk; a longer wait looks as if it hangs. */
const TIMEOUT_MS = 10_000;

/** One call of git, kept until the repository has another commit. Never throws: who is not known is not in it. */
export async function readAuthors(directory: Store, env: Env): Promise<Authors> {
  if (!directory.inRepository) return readSynced(directory);
  const head = findHead(directory.path);
  const kept = readCache(directory, head);
  if (kept) return kept;
  const commits = await lastCommits(directory.path, env, TIMEOUT_MS);
  const authors = new Map([...commits].map(([file, { author, at }]) => [file, { author: cleanAuthor(author), at }]));
  if (authors.size === 0) return authors;
  try {
    if (head !== null) prepareDirectory(directory);
    if (head !== null) writeCache(directory, head, authors);
  } catch (error) {
    // A checkout that may only be read.
    directory.log(`authors are not kept: ${(error as Error).message}`);
  }
  return authors;
}
