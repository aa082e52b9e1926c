/** Who wrote a memory of the team and when: from git for the repository, from the notes of the last sync for a server's mirror. */

import type { Env } from "../config.ts";
import { isObject } from "../errors.ts";
import { findHead, lastCommits } from "../project/git.ts";
import { type Directory, prepareDirectory } from "./directory.ts";
import { openState, type StateRecord } from "./state.ts";

export interface Authorship {
  /** Made harmless and short; "" for a name that cannot be shown. */
  author: string;
  /** ISO time. */
  at: string;
}

/** By path below the directory. What is missing in it is not committed yet, or was never synced. */
export type Authors = ReadonlyMap<string, Authorship>;

const VERSION = 1;

type Place = Pick<Directory, "path" | "inRepository" | "scope">;

/** `Ada, 10 Nov 2026` for a memory of the team whose author is kept; null for all others. Never throws. */
export function findAuthor(directory: Place, file: string): string | null {
  const found = directory.scope === "team" ? peekAuthors(directory).get(file) : undefined;
  return (found && formatAuthorship(found)) || null;
}

/** Only what is kept, for where there is no time for a process. Never throws. */
export function peekAuthors(directory: Pick<Directory, "path" | "inRepository">): Authors {
  if (!directory.inRepository) return readSynced(directory);
  return readCache(directory, findHead(directory.path)) ?? new Map();
}

/** Enough for a long history on a slow disk; a longer wait looks as if it hangs. */
const TIMEOUT_MS = 10_000;

/** One call of git, kept until the repository has another commit. Never throws: who is not known is not in it. */
export async function readAuthors(directory: Directory, env: Env): Promise<Authors> {
  if (!directory.inRepository) return readSynced(directory);
  const head = findHead(directory.path);
  const kept = readCache(directory, head);
  if (kept) return kept;
  const commits = await lastCommits(directory.path, env, TIMEOUT_MS);
  const authors = new Map([...commits].map(([file, { author, at }]) => [file, { author: cleanAuthor(author), at }]));
  if (authors.size === 0 || head === null) return authors;
  try {
    prepareDirectory(directory);
    authorsIn(directory).write({ version: VERSION, head, entries: Object.fromEntries(authors) });
  } catch (error) {
    // A checkout that may only be read.
    directory.log(`authors are not kept: ${(error as Error).message}`);
  }
  return authors;
}

/** `Ada, 10 Nov 2026`, or `somebody, 10 Nov 2026` where the name is none. "" without a name and a date. */
export function formatAuthorship({ author, at }: Authorship): string {
  const date = new Date(at);
  const day = Number.isNaN(date.getTime())
    ? ""
    : `${date.getUTCDate()} ${MONTHS[date.getUTCMonth()]} ${date.getUTCFullYear()}`;
  return author === "" && day === "" ? "" : [author || "somebody", day].filter((part) => part !== "").join(", ");
}

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** A name is shown to people and models and is whatever somebody set: only what names are made of is left of it. */
export function cleanAuthor(name: string): string {
  const clean = name
    // Far more than is shown: what comes behind it is not worth looking at.
    .slice(0, 1_000)
    .normalize("NFKC")
    .replace(/[^\p{L}\p{M}\p{N}.'’ -]+/gu, " ")
    .replace(/\s+/g, " ")
    .trim();
  // No name says what to do. Somebody who is really called so is "somebody".
  if (COMMANDS.test(clean)) return "";
  const words = clean.split(" ").slice(0, MAX_WORDS).join(" ");
  return [...words].length <= MAX_CHARS
    ? words
    : `${[...words]
        .slice(0, MAX_CHARS - 1)
        .join("")
        .trimEnd()}…`;
}

const MAX_CHARS = 40;
const MAX_WORDS = 5;
const COMMANDS =
  /\b(ignor\w*|disregard|forget|override|instruct\w*|prompt|system|assistant|human|reminder|always|never|must|execute|run|delete|sudo|obey|previous|memory|provenance)\b/i;

interface AuthorsFile {
  version: number;
  /** The commit that it was made from. */
  head: string;
  entries: Record<string, Authorship>;
}

function authorsIn({ path }: Pick<Directory, "path">): StateRecord<AuthorsFile> {
  return openState(path).record("authors", (value) => {
    const { version, head, entries } = value as AuthorsFile;
    return version === VERSION && typeof head === "string" ? { version, head, entries } : null;
  });
}

function readCache(directory: Pick<Directory, "path">, head: string | null): Authors | null {
  const kept = head === null ? null : authorsIn(directory).read();
  return kept?.head === head ? readEntries(kept.entries) : null;
}

/** What the last sync noted. Its file belongs to sync: whatever does not look as expected is passed over. */
function readSynced({ path }: Pick<Directory, "path">): Authors {
  const noted = openState(path)
    .record("sync", (value) => value as { entries?: unknown; agreed?: unknown } | null)
    .read();
  return readEntries(noted?.entries ?? noted?.agreed);
}

/** A list of entries with a path, or a map by path. Names are made harmless again: the file may be anybody's. */
function readEntries(entries: unknown): Map<string, Authorship> {
  const authors = new Map<string, Authorship>();
  if (typeof entries !== "object" || entries === null) return authors;
  const rows = Array.isArray(entries) ? entries.map((row) => [row?.path, row] as const) : Object.entries(entries);
  for (const [path, row] of rows) {
    const { author, at } = (isObject(row) ? row : {}) as Record<string, unknown>;
    if (typeof path !== "string" || typeof author !== "string" || typeof at !== "string") continue;
    if (author !== "" || at !== "") authors.set(path, { author: cleanAuthor(author), at });
  }
  return authors;
}
