/** The one way to run git: it runs no program that a repository names, asks nothing on a terminal and ends in time. */

import { readdirSync } from "node:fs";
import { join, relative, resolve, sep } from "node:path";
import { findProgram, runChild } from "../child-group.ts";
import { type Env, processEnv } from "../config.ts";
import { findWorktreeRoot, readRegular, realPath, statOrNull } from "../disk/fence.ts";
import { attempt } from "../errors.ts";
import { readGitFile, readLine } from "./locate.ts";

export interface Git {
  /** Where git runs. */
  root: string;
  env: Env;
  signal?: AbortSignal | undefined;
  /** A bare repository that memdir made, and whose configuration it keeps plain. */
  directory?: string;
  /**
   * What git may speak, for GIT_ALLOW_PROTOCOL; nothing by default. It needs `directory`: credential helpers and the ssh
   * command then come from the user's own configuration, and any other repository could name its own.
   */
  protocols?: string;
}

export interface GitCall {
  input?: Uint8Array | string;
  timeoutMs?: number;
  maxBytes?: number;
  /** Further settings, `key=value`. */
  settings?: readonly string[];
  /** Takes the output as it comes; `output` is then empty. */
  take?: (chunk: Buffer) => void;
}

export interface GitAnswer {
  /** Null when git did not run to its end: `cut` says why. */
  code: number | null;
  /** Up to `maxBytes`, also when git was stopped. */
  output: Buffer;
  /** The end of standard error. May hold credentials: show it only through `Remote.mask`. */
  said: string;
  /** "refused": the repository has filters that cannot be switched off. */
  cut: "timeout" | "stopped" | "too much" | "no git" | "refused" | null;
}

/** Local commands take milliseconds; a disk that has to spin up takes seconds. */
const TIMEOUT_MS = 60_000;
const MAX_OUTPUT_BYTES = 256 << 20;
const MAX_SAID_CHARS = 16_000;

/**
 * `args` begins with the command. Throws only for a command that is not in COMMANDS; whatever git does is in the answer.
 */
export async function runGit(git: Git, args: readonly string[], call: GitCall = {}): Promise<GitAnswer> {
  const [command = "", ...rest] = args;
  const options = COMMANDS[command];
  if (options === undefined) throw new Error(`git ${command} has not been checked for programs that it may run`);
  if (git.protocols !== undefined && git.directory === undefined)
    throw new Error(`git ${command} may only use the network from memdir's own repository`);
  const filters = command === "status" ? await findFilterSwitches(git) : [];
  if (filters === null) return unfinished("refused");
  const settings = [...SETTINGS, ...(git.protocols ? [] : OFFLINE), ...filters, ...(call.settings ?? [])];
  const where = git.directory === undefined ? [] : [`--git-dir=${git.directory}`];
  // check-ignore takes paths, and rejects this option.
  const paths = command === "check-ignore" ? [] : ["--literal-pathspecs"];
  const before = ["--no-pager", "--no-optional-locks", ...paths, ...where];
  return run(git, [...before, ...settings.flatMap((each) => ["-c", each]), command, ...options, ...rest], call);
}

/** What git prints, or null when it fails. */
export async function readGit(git: Git, args: readonly string[], call?: GitCall): Promise<Buffer | null> {
  const { code, output } = await runGit(git, args, call);
  return code === 0 ? output : null;
}

const NO_DRIVERS = ["--no-ext-diff", "--no-textconv"];

/**
 * The commands in use, each with the options that keep out what a setting cannot. A program is named by the configuration,
 * never by attributes alone, and under a fixed key (see SETTINGS) or under the name of a driver. Of the drivers, these
 * commands reach textconv and external diffs, switched off here, and filters, which only `status` uses. None of them merges,
 * checks out, commits with an editor or reads trailers; an alias cannot replace a command of git's own.
 */
const COMMANDS: Readonly<Record<string, readonly string[]>> = {
  branch: [],
  "cat-file": [],
  "check-attr": [],
  "check-ignore": [],
  config: [],
  // Without --cached it would read the files themselves, through filters.
  diff: ["--cached", ...NO_DRIVERS],
  "fast-import": [],
  fetch: ["--no-recurse-submodules"],
  "for-each-ref": [],
  gc: [],
  // Without a template there are no hooks.
  init: ["--template="],
  log: ["--no-show-signature", ...NO_DRIVERS],
  "ls-files": [],
  "ls-tree": [],
  "merge-base": [],
  "merge-file": [],
  push: ["--no-verify", "--no-signed", "--recurse-submodules=no"],
  remote: [],
  "rev-list": [],
  "rev-parse": [],
  // A submodule that is looked into is another repository, with its own configuration.
  status: ["--ignore-submodules=dirty"],
  "update-ref": [],
};

const SETTINGS = [
  // Empty rather than `false`, which versions before 2.36 would take for a program's name.
  "core.fsmonitor=",
  "core.hooksPath=/dev/null",
  "core.alternateRefsCommand=:",
  "log.showSignature=false",
  ...["commit.gpgSign=false", "tag.gpgSign=false", "push.gpgSign=false"],
  ...["gpg.program=", "gpg.openpgp.program=", "gpg.x509.program=", "gpg.ssh.program=", "gpg.ssh.defaultKeyCommand="],
  // A bare repository among the files of another one is not one that the user made.
  "safe.bareRepository=explicit",
  "fetch.recurseSubmodules=false",
  "diff.submodule=short",
  "status.submoduleSummary=false",
  // Nothing is tidied up unless memdir asks for it.
  "gc.auto=0",
  "maintenance.auto=false",
  "fetch.writeCommitGraph=false",
  "core.logAllRefUpdates=false",
  // The form of the output is the same everywhere. Names in other scripts are printed as they are.
  "core.quotePath=false",
  "color.ui=false",
  "status.branch=false",
  "status.relativePaths=true",
  "diff.relative=false",
  "diff.renameLimit=1000",
  "log.showRoot=true",
  "init.defaultBranch=memdir",
  "transfer.credentialsInUrl=allow",
  "advice.pushUpdateRejected=true",
];

/** Only used by connections, and none are made: a second safeguard. */
const OFFLINE = ["core.sshCommand=", "core.gitProxy=", "core.askPass=", "credential.helper="];

/** A repository with more filters, or with odd ones, is suspicious. */
const MAX_FILTER_LISTING = 10_000;

/**
 * Switches off every filter, also the user's own: LFS runs what a repository names as its extensions. Null when that
 * cannot be done: a name with `=` in it cannot be given on the command line.
 */
async function findFilterSwitches(git: Git): Promise<string[] | null> {
  const args = ["config", "--null", "--name-only", "--get-regexp", "^filter\\."];
  const { code, output } = await runGit(git, args, { maxBytes: MAX_FILTER_LISTING });
  if (code === 1) return [];
  if (code !== 0) return null;
  const keys = output.toString("utf8").split("\0");
  const names = new Set(keys.map((key) => key.slice("filter.".length, key.lastIndexOf("."))));
  names.delete("");
  if ([...names].some((name) => !/^[\w. -]+$/.test(name))) return null;
  const off = ["clean=", "smudge=", "process=", "required=false"];
  return [...names].flatMap((name) => off.map((setting) => `filter.${name}.${setting}`));
}

/**
 * The user's own variables that stay. Others lead to another repository, as they do while git runs a hook, start programs
 * or make git print what may not be shown.
 */
const KEPT =
  /^GIT_(CONFIG_(GLOBAL|SYSTEM|NOSYSTEM|COUNT|(KEY|VALUE)_\d+)|EXEC_PATH|CEILING_DIRECTORIES|DISCOVERY_ACROSS_FILESYSTEM|(SSL|HTTP|SSH|PROXY)(_\w+)?|ASKPASS)$/;

function gitEnv({ env, directory, protocols }: Git): NodeJS.ProcessEnv {
  const own = Object.entries(env).filter(([name]) => !/^GIT_/i.test(name) || KEPT.test(name));
  return {
    ...Object.fromEntries(own),
    ...(directory !== undefined && { GIT_NO_REPLACE_OBJECTS: "1" }),
    ...(protocols === undefined && { GIT_ASKPASS: "" }),
    GIT_ALLOW_PROTOCOL: protocols ?? "none",
    // Missing objects of a partial clone stay missing; versions that do not know this one heed the protocols.
    GIT_NO_LAZY_FETCH: "1",
    GIT_OPTIONAL_LOCKS: "0",
    GIT_DEFAULT_HASH: "sha1",
    GIT_EDITOR: ":",
    GIT_SEQUENCE_EDITOR: ":",
    // Nothing is asked, neither here nor in a window.
    GIT_TERMINAL_PROMPT: "0",
    SSH_ASKPASS_REQUIRE: "never",
    GCM_INTERACTIVE: "never",
    LC_ALL: "C",
  };
}

function unfinished(cut: GitAnswer["cut"], said = ""): GitAnswer {
  return { code: null, output: Buffer.alloc(0), said, cut };
}

/** Git removes its own lock files on SIGTERM; ssh may not listen at all. */
const GRACE_MS = 500;

async function run(git: Git, args: readonly string[], call: GitCall): Promise<GitAnswer> {
  const { input, timeoutMs = TIMEOUT_MS, maxBytes = MAX_OUTPUT_BYTES } = call;
  if (git.signal?.aborted) return unfinished("stopped");
  const program = findProgram(git.env, "git", { cwd: git.root });
  if (program === null) return unfinished("no git", "it is not in PATH, outside the project");
  const chunks: Buffer[] = [];
  const take = call.take ?? ((chunk: Buffer) => void chunks.push(chunk));
  let bytes = 0;
  let said = "";
  // In a group of its own, ssh and helpers end with it, and there is no terminal that ssh could ask on.
  const { code, cut, problem } = await runChild<"too much">(program.file, args, {
    ...{ cwd: git.root, input, timeoutMs, signal: git.signal, graceMs: GRACE_MS },
    env: gitEnv({ ...git, env: program.env }),
    onOut(chunk, stop) {
      const room = maxBytes - bytes;
      bytes += chunk.length;
      if (room > 0) take(chunk.length > room ? chunk.subarray(0, room) : chunk);
      if (bytes > maxBytes) stop("too much");
    },
    onErr(chunk) {
      said = (said + chunk.toString("utf8")).slice(-MAX_SAID_CHARS);
    },
  });
  if (cut === "not started") return unfinished("no git", problem);
  return { code: cut === null ? code : null, output: Buffer.concat(chunks), said, cut };
}

// --- When the files of a directory were last committed: their age where a checkout has reset every file time.

/** A listing does not wait longer; the newest commits come first, so what has come by then is right. */
const LISTING_MS = 3000;
const MAX_LISTING_BYTES = 64 << 20;
/** Of those that touch the directory: files older than these are simply old. */
const MAX_COMMITS = 20_000;

export interface LastCommit {
  ms: number;
  author: string;
  /** ISO time. */
  at: string;
}

export async function lastCommitTimes(dir: string): Promise<Map<string, number>> {
  const commits = await lastCommits(dir, processEnv());
  return new Map([...commits].map(([file, { ms }]) => [file, ms]));
}

/**
 * Paths below `dir` with the last commit that changed their text: a file that was only renamed within `dir` is as old as it
 * was. Empty outside git; after a very long history, or where git takes too long, without the oldest.
 */
export async function lastCommits(dir: string, env: Env, timeoutMs = LISTING_MS): Promise<Map<string, LastCommit>> {
  const form = ["--format=%x00%ct %aI %aN", "--name-status", "--relative", "-M100%", "-z"];
  const args = ["log", ...form, `--max-count=${MAX_COMMITS}`, "--", "."];
  const { output } = await runGit({ root: dir, env }, args, { timeoutMs, maxBytes: MAX_LISTING_BYTES });
  return parseLog(output.toString("utf8").split("\0"));
}

/** An empty part and a head begin a commit; then a status and one name, or two for a rename, again and again. */
function parseLog(parts: readonly string[]): Map<string, LastCommit> {
  const commits = new Map<string, LastCommit>();
  /** Names before a rename, with the name of today; null for one that another file had before, or that was removed. */
  const today = new Map<string, string | null>();
  const nameToday = (name: string) => (today.has(name) ? (today.get(name) as string | null) : name);
  let commit: LastCommit = { ms: 0, author: "", at: "" };
  // The last part is empty, or was cut off.
  for (let i = 0; i < parts.length - 1; ) {
    const status = (parts[i] as string).trim();
    const name = parts[i + 1] as string;
    if (status === "") {
      const [, seconds, at = "", author = ""] = /^(\d+) (\S+) (.*)$/s.exec(name.trimEnd()) ?? [];
      if (seconds !== undefined) commit = { ms: Number(seconds) * 1000, author, at };
      i += 2;
    } else if (status.startsWith("R")) {
      const to = parts[i + 2] ?? "";
      today.set(name, nameToday(to));
      today.set(to, null);
      i += 3;
    } else {
      const known = nameToday(name);
      // What was removed, and perhaps created again since, is not committed yet.
      if (status === "D" && known !== null && !commits.has(known)) today.set(name, null);
      else if (known !== null && !commits.has(known)) commits.set(known, commit);
      i += 2;
    }
  }
  return commits;
}

/** Names of refs of a very large repository; more is not read. */
const MAX_BYTES = 8 << 20;
const HASH = /^[0-9a-f]{40,64}$/;

/** Null where nothing is committed yet, outside a repository, and for ways of storing refs that this does not know. */
export function findHead(path: string): string | null {
  try {
    const root = findWorktreeRoot(path);
    if (root === null) return null;
    const gitDir = findGitDir(root);
    const head = readLine(join(gitDir, "HEAD")) ?? "";
    const ref = /^ref: (refs\/[^\0]+)$/.exec(head)?.[1];
    if (ref === undefined) return HASH.test(head) ? head : null;
    if (ref.split("/").includes("..")) return null;
    const common = resolve(gitDir, readLine(join(gitDir, "commondir")) ?? ".");
    const loose = readLine(join(gitDir, ref)) ?? readLine(join(common, ref)) ?? "";
    return HASH.test(loose) ? loose : findPacked(join(common, "packed-refs"), ref);
  } catch {
    return null;
  }
}

function findGitDir(root: string): string {
  return readGitFile(join(root, ".git")) ?? join(root, ".git");
}

/** By folder and state of git's index: hooks ask for every agent with each event, and an index can have megabytes. */
const tracked = new Map<string, boolean>();

/** Whether git's index has a file below the folder: it came with the repository, or will go with it. True where the index cannot be read. */
export function isTracked(folder: string): boolean {
  const real = realPath(folder);
  const root = findWorktreeRoot(real);
  if (root === null) return false;
  const gitDir = findGitDir(root);
  const stat = statOrNull(join(gitDir, "index"));
  if (stat === null) return false;
  const key = [real, stat.ino, stat.mtimeMs, stat.ctimeMs, stat.size].join(" ");
  const found =
    tracked.get(key) ?? attempt(() => isIndexed(gitDir, `${relative(root, real).split(sep).join("/")}/`), true);
  tracked.set(key, found);
  return found;
}

function isIndexed(gitDir: string, folder: string): boolean {
  const index = readRegular(join(gitDir, "index"));
  if (index === null) return true;
  // Version 4 leaves out the start of each path that the one before it has, and a split index is in two files.
  const isWhole = index.readUInt32BE(4) < 4 && !readdirSync(gitDir).some((name) => name.startsWith("sharedindex."));
  return !isWhole || index.includes(folder);
}

function findPacked(file: string, ref: string): string | null {
  const text = readRegular(file, { maxBytes: MAX_BYTES })?.toString("utf8") ?? "";
  const line = text.split("\n").find((line) => line.endsWith(` ${ref}`));
  const hash = line?.split(" ")[0] ?? "";
  return HASH.test(hash) ? hash : null;
}
