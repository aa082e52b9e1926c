/** A bare git remote in a temporary folder, and clients of it, each with a cache of its own. */

import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Env } from "../../src/config.ts";
import { type GitRemoteOptions, openGitRemote } from "../../src/team/git-remote.ts";
import type { RemoteEntry } from "../../src/team/protocol.ts";
import type { Remote, RemoteChange, RemoteOutcome } from "../../src/team/remote.ts";
import type { World } from "../../src/world.ts";
import { makeTemporary } from "../temporary.ts";

export interface GitPlace {
  top: string;
  remote: string;
  env: Env;
  now: Date;
  logged: string[];
  open(who: string, options?: Partial<GitRemoteOptions & World>): Remote;
  cacheOf(who: string): string;
  /** Git in the remote. */
  git(...args: string[]): string;
  /** What somebody does by hand in a checkout of the branch, committed and pushed. */
  byHand(work: (folder: string) => void, options?: { force?: boolean; amend?: boolean }): void;
}

export function makeGitPlace(): GitPlace {
  const top = makeTemporary("git", "memory");
  const remote = path.join(top, "remote.git");
  const home = path.join(top, "home");
  fs.mkdirSync(home);
  const env: Env = { PATH: process.env.PATH, HOME: home, GIT_CONFIG_NOSYSTEM: "1" };
  const run = (cwd: string, ...args: string[]) =>
    execFileSync("git", args, {
      cwd,
      encoding: "utf8",
      env: {
        ...env,
        GIT_AUTHOR_NAME: "hand",
        GIT_AUTHOR_EMAIL: "hand@example.invalid",
        GIT_COMMITTER_NAME: "hand",
        GIT_COMMITTER_EMAIL: "hand@example.invalid",
      },
      stdio: ["ignore", "pipe", "pipe"],
    }).trim();
  run(top, "-c", "init.defaultBranch=main", "init", "--quiet", "--bare", remote);
  const place: GitPlace = {
    top,
    remote,
    env,
    now: new Date("2026-03-10T12:00:00.000Z"),
    logged: [],
    cacheOf: (who) => path.join(top, "caches", who),
    open: (who, options = {}) =>
      openGitRemote(
        {
          now: () => place.now,
          env,
          log: (message) => place.logged.push(message),
          random: Math.random,
          sleep: (ms, signal) => sleep(ms, undefined, { signal }),
          ...options,
        },
        { remote, cache: place.cacheOf(who), who: { name: who, email: `${who}@example.invalid` }, ...options },
      ),
    git: (...args) => run(remote, ...args),
    byHand(work, { force = false, amend = false } = {}) {
      const folder = path.join(top, "by-hand");
      fs.rmSync(folder, { recursive: true, force: true });
      run(top, "clone", "--quiet", "--branch", "memdir", remote, folder);
      work(folder);
      run(folder, "add", "--all");
      run(folder, "commit", "--quiet", "--allow-empty", "-m", "by hand", ...(amend ? ["--amend"] : []));
      run(folder, "push", "--quiet", ...(force ? ["--force"] : []), "origin", "HEAD:memdir");
    },
  };
  return place;
}

export async function put(
  remote: Remote,
  file: string,
  text: string,
  expected: string | null = null,
): Promise<RemoteOutcome> {
  const change: RemoteChange = { kind: "put", path: file, text, expected };
  return (await remote.apply([change]))[0] as RemoteOutcome;
}

export async function find(remote: Remote, file: string): Promise<RemoteEntry | undefined> {
  return (await remote.list()).entries.find((entry) => entry.path === file);
}

export async function readText(remote: Remote, file: string): Promise<string | undefined> {
  const entry = await find(remote, file);
  return entry && (await remote.fetch([entry])).get(file);
}
