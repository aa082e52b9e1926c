/** Which commit a checkout is at, from git's own files: no process, for where every millisecond counts. */

import { lstatSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { readRegular } from "../disk/regular.ts";

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
