/** A world for tests: a fresh home, a git project, a clock that stands still until it is set. Nothing global is read or changed. */

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import type { Env } from "../src/config.ts";
import { MemdirError } from "../src/errors.ts";
import type { Memdir } from "../src/memdir.ts";
import type { SaveRequest } from "../src/memory/save.ts";
import { type OpenOptions, openMemdir } from "../src/open.ts";
import { slugOf } from "../src/project/locate.ts";
import type { Store } from "../src/store/store.ts";
import { makeTemporary } from "./temporary.ts";

export interface World {
  /** Real path of everything below; removed after the test file. */
  top: string;
  home: string;
  project: string;
  /** The project's memory directory; made by the first save or `write`. */
  dir: string;
  env: Env;
  /** What the clock shows. */
  now: Date;
  /** What was logged. */
  logged: string[];
  open(options?: Partial<OpenOptions>): Promise<Memdir>;
  /** A file below the memory directory. */
  path(...names: string[]): string;
  read(file: string): string;
  write(file: string, content: string | Uint8Array, options?: { ageMs?: number }): void;
  exists(file: string): boolean;
  /** MEMORY.md, "" if there is none. */
  index(): string;
  /** Names of all files below the memory directory, the state folder left out. */
  files(): string[];
  /** Files below `top` that hold the text. */
  grep(text: string): string[];
  /** Sets a file's times to this long before the clock's. */
  age(file: string, ms: number): void;
  git(...args: string[]): string;
}

export const START = "2026-03-10T12:00:00.000Z";
export const HOUR = 3_600_000;
export const DAY = 24 * HOUR;

/** `settings` becomes the user's memdir.json. */
export function makeWorld(options: { settings?: object; env?: Env } = {}): World {
  // Every save waits for the disk several times, and no test looks at that.
  const top = makeTemporary("world", "memory");
  const home = path.join(top, "home");
  const project = path.join(top, "project");
  fs.mkdirSync(path.join(home, ".claude"), { recursive: true });
  fs.mkdirSync(project);
  if (options.settings) fs.writeFileSync(path.join(home, ".claude", "memdir.json"), JSON.stringify(options.settings));
  const env: Env = {
    PATH: process.env.PATH,
    HOME: home,
    MEMDIR_MANAGED_DIR: path.join(top, "managed"),
    GIT_CONFIG_NOSYSTEM: "1",
    // Loading the model of meaning takes longer than most tests; those about it say so.
    MEMDIR_MEANING: "0",
    ...options.env,
  };
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "init.defaultBranch=main", "-c", "commit.gpgsign=false", ...args], {
      cwd: project,
      encoding: "utf8",
      env: {
        ...env,
        GIT_AUTHOR_NAME: "test",
        GIT_AUTHOR_EMAIL: "test@example.invalid",
        GIT_COMMITTER_NAME: "test",
        GIT_COMMITTER_EMAIL: "test@example.invalid",
        GIT_AUTHOR_DATE: world.now.toISOString(),
        GIT_COMMITTER_DATE: world.now.toISOString(),
      },
      stdio: ["ignore", "pipe", "pipe"],
    }).trim();
  const dir = path.join(home, ".claude", "projects", slugOf(project), "memory");
  const world: World = {
    top,
    home,
    project,
    dir,
    env,
    now: new Date(START),
    logged: [],
    open: (more = {}) =>
      openMemdir({
        cwd: project,
        env,
        now: () => world.now,
        log: (message) => world.logged.push(message),
        by: "test",
        ...more,
      }),
    path: (...names) => path.join(dir, ...names),
    read: (file) => fs.readFileSync(path.join(dir, file), "utf8"),
    write(file, content, { ageMs } = {}) {
      fs.mkdirSync(path.dirname(path.join(dir, file)), { recursive: true });
      fs.writeFileSync(path.join(dir, file), content);
      if (ageMs !== undefined) world.age(file, ageMs);
    },
    exists: (file) => fs.lstatSync(path.join(dir, file), { throwIfNoEntry: false }) !== undefined,
    index: () => (world.exists("MEMORY.md") ? world.read("MEMORY.md") : ""),
    files: () => walk(dir).filter((file) => !file.startsWith(".memdir/")),
    grep: (text) => walk(top).filter((file) => fs.readFileSync(path.join(top, file)).includes(text)),
    age(file, ms) {
      const then = new Date(world.now.getTime() - ms);
      fs.utimesSync(path.join(dir, file), then, then);
    },
    git,
  };
  initRepository(project);
  return world;
}

/** What `git init` makes, without a process: nearly every test has a repository of its own. */
export function initRepository(folder: string): void {
  for (const name of ["objects", "refs"]) fs.mkdirSync(path.join(folder, ".git", name), { recursive: true });
  fs.writeFileSync(path.join(folder, ".git", "HEAD"), "ref: refs/heads/main\n");
  fs.writeFileSync(path.join(folder, ".git", "config"), "[core]\n\trepositoryformatversion = 0\n\tbare = false\n");
}

/** The first directory of a Memdir, for the functions below the verbs. */
export function mainOf(memdir: Memdir): Store {
  return memdir.directories[0] as Store;
}

/** A request with what a test does not care about filled in. */
export function note(name: string, more: Partial<SaveRequest> = {}): SaveRequest {
  return { type: "user", name, description: `about ${name}`, body: `Body of ${name}.`, ...more };
}

/** What a before-image is named by. */
export function sha256(data: string | Uint8Array): string {
  return createHash("sha256").update(data).digest("hex");
}

/** The error that the work ends with; a test fails when there is none. */
export async function errorOf(work: Promise<unknown>): Promise<MemdirError> {
  try {
    await work;
  } catch (error) {
    if (error instanceof MemdirError) return error;
    throw error;
  }
  throw new Error("no error was thrown");
}

function walk(root: string): string[] {
  if (!fs.existsSync(root)) return [];
  return (fs.readdirSync(root, { recursive: true, withFileTypes: true }) as fs.Dirent[])
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(root, path.join(entry.parentPath, entry.name)))
    .sort();
}
