/** When the files of a directory were last committed: their age where a checkout has reset every file time. */

import { lstatSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { processEnv } from "../config.ts";
import { readRegular } from "../disk/regular.ts";
import { runGit } from "./git.ts";

/** A listing does not wait longer; the newest commits come first, so what has come by then is right. */
const LIMITS = { timeoutMs: 3000, maxBytes: 64 << 20 };
/** Of those that touch the directory: files older than these are simply old. */
const MAX_COMMITS = 20_000;

/**
 * Paths below `dir` with the time of the last commit that changed their text: a file that was only renamed within `dir` is
 * as old as it was. Empty outside git; after a very long history, or where git takes too long, without the oldest.
 */
export async function lastCommitTimes(dir: string): Promise<Map<string, number>> {
  const form = ["--format=%x00%ct", "--name-status", "--relative", "-M100%", "-z", `--max-count=${MAX_COMMITS}`];
  const { output } = await runGit({ root: dir, env: processEnv() }, ["log", ...form, "--", "."], LIMITS);
  return parseLog(output.toString("utf8").split("\0"));
}

/** An empty part and a time begin a commit; then a status and one name, or two for a rename, again and again. */
function parseLog(parts: readonly string[]): Map<string, number> {
  const times = new Map<string, number>();
  /** Names before a rename, with the name of today; null for one that another file had before. */
  const today = new Map<string, string | null>();
  const nameToday = (name: string) => (today.has(name) ? (today.get(name) as string | null) : name);
  let time = 0;
  // The last part is empty, or was cut off.
  for (let i = 0; i < parts.length - 1; ) {
    const status = (parts[i] as string).trim();
    const name = parts[i + 1] as string;
    if (status === "") {
      if (/^\d+\n?$/.test(name)) time = Number(name) * 1000;
      i += 2;
    } else if (status.startsWith("R")) {
      const to = parts[i + 2] ?? "";
      today.set(name, nameToday(to));
      today.set(to, null);
      i += 3;
    } else {
      const known = nameToday(name);
      if (known !== null && !times.has(known)) times.set(known, time);
      i += 2;
    }
  }
  return times;
}

/** Names of refs of a very large repository; more is not read. */
const MAX_BYTES = 8 << 20;
const HASH = /^[0-9a-f]{40,64}$/;

/** Null where nothing is committed yet, outside a repository, and for ways of storing refs that this does not know. */
export function findHead(path: string): string | null {
  try {
    const gitDir = findGitDir(path);
    if (gitDir === null) return null;
    const head = readLine(join(gitDir, "HEAD"));
    const ref = /^ref: (refs\/[^\0]+)$/.exec(head)?.[1];
    if (ref === undefined) return HASH.test(head) ? head : null;
    if (ref.split("/").includes("..")) return null;
    const common = resolve(gitDir, readLine(join(gitDir, "commondir")) || ".");
    const loose = readLine(join(gitDir, ref)) || readLine(join(common, ref));
    return HASH.test(loose) ? loose : findPacked(join(common, "packed-refs"), ref);
  } catch {
    return null;
  }
}

function findGitDir(path: string): string | null {
  for (let at = path; ; at = dirname(at)) {
    const stat = lstatSync(join(at, ".git"), { throwIfNoEntry: false });
    if (stat?.isDirectory()) return join(at, ".git");
    const target = stat?.isFile() ? /^gitdir:\s*(.+)$/.exec(readLine(join(at, ".git")))?.[1] : undefined;
    if (target !== undefined) return resolve(at, target);
    if (dirname(at) === at) return null;
  }
}

function findPacked(file: string, ref: string): string | null {
  const text = readRegular(file, { maxBytes: MAX_BYTES })?.toString("utf8") ?? "";
  const line = text.split("\n").find((line) => line.endsWith(` ${ref}`));
  const hash = line?.split(" ")[0] ?? "";
  return HASH.test(hash) ? hash : null;
}

function readLine(file: string): string {
  return readRegular(file, { maxBytes: MAX_BYTES })?.toString("utf8").split("\n", 1)[0]?.trim() ?? "";
}
