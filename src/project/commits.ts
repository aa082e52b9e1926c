/** When the files of a directory were last committed: their age where a checkout has reset every file time. */

import { processEnv } from "../config.ts";
import { safeGitArgs, safeGitEnv } from "./safe-git.ts";

/** Paths below `dir` with the time of their last commit; empty outside git, or when git takes too long. */
export async function lastCommitTimes(dir: string): Promise<Map<string, number>> {
  const log = [
    "log",
    "--no-show-signature",
    "--no-ext-diff",
    "--no-textconv",
    "--format=%x00%ct",
    "--name-only",
    "--relative",
    "--no-renames",
    "-z",
    "--",
    ".",
  ];
  const args = [...safeGitArgs(), "-C", dir, ...log];
  const options = { timeout: 3000, maxBuffer: 64 << 20, windowsHide: true, env: safeGitEnv(processEnv()) };
  // Loaded late: it is slow to load, and most listings need no git.
  const { execFile } = await import("node:child_process");
  const output = await new Promise<string>((done) => {
    execFile("git", args, options, (error, stdout) => done(error ? "" : stdout));
  });
  const times = new Map<string, number>();
  let time = 0;
  // With -z: NUL, the time, NUL or a line break, then the names, each ended by a NUL; newest commit first.
  for (const part of output.split(/\0|\n/)) {
    if (/^\d{9,}$/.test(part)) time = Number(part) * 1000;
    else if (part !== "" && !times.has(part)) times.set(part, time);
  }
  return times;
}
