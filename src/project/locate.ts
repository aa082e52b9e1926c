/** Where a project's memory directory is: option, environment, settings, else computed from the project's path; and which files in a directory are memories. */

import fs from "node:fs";
import path from "node:path";
import { type Config, type ProjectScope, SETTING_SOURCES, type SettingSource } from "../config.ts";
import { findWorktreeRoot, isWithin, readRegular, realPath, statOrNull } from "../disk/fence.ts";
import { attempt, MemdirError } from "../errors.ts";
import { sha256 } from "../text/hash.ts";

/** Which project this is, and where its memories are. */
export interface Location {
  /** Absolute path of the memory directory; it need not exist yet. */
  dir: string;
  /** What determined the directory; `computed` if it was derived from the project's path. */
  source: "option" | "env" | "settings" | "computed";
  /** What named it, for messages: an option, a variable, a key and its file, or the keying. */
  via: string;
  /** Sources that named something that may not be used; the next source was used instead. */
  rejected: { via: string; value: string; reason: string }[];
  /** A directory outside the repository that its own settings ask for: used only once the user has approved it. */
  untrusted: { via: string; dir: string; root: string } | null;
  /** The project's working directory, root and checkout. */
  project: Project;
}

export interface LocateOptions {
  cwd: string;
  /** Its `env` is the environment that counts. */
  config: Config;
  /** The --memory-dir option; unlike the other sources it may be relative, to `cwd`. */
  memoryDir?: string | undefined;
  /** What `findProject` returned for `cwd`, if it was called already. */
  here?: Project;
}

/** Own name first, then the aliases (C21). */
const VARIABLES = ["MEMDIR_MEMORY_DIR", "CLAUDE_MEMORY_DIR", "CLAUDE_COWORK_MEMORY_PATH_OVERRIDE"];

/** Throws only for a bad `memoryDir`, which the caller can correct. Other sources that are refused are reported. */
export function locate(options: LocateOptions): Location {
  const { config, memoryDir } = options;
  const project = scopeProject(options.here ?? findProject(options.cwd), config.projectScope);
  const location: Location = { dir: "", source: "computed", via: "", rejected: [], untrusted: null, project };

  if (memoryDir !== undefined) {
    const checked = check(isWhole(memoryDir) ? memoryDir : path.resolve(options.cwd, memoryDir), config, project);
    if ("path" in checked) return { ...location, dir: checked.path, source: "option", via: "--memory-dir" };
    const advice = "give a directory of its own, such as ~/my-memories";
    throw new MemdirError("usage", `--memory-dir ${JSON.stringify(memoryDir)}: ${checked.reason}; ${advice}`);
  }

  for (const candidate of candidatesOf(config)) {
    const { via, value } = candidate;
    const checked = check(value, config, project);
    if ("reason" in checked) {
      location.rejected.push({ via, value, reason: checked.reason });
    } else if (candidate.fromRepository && !isAllowed(checked.path, config, project)) {
      location.untrusted ??= { via, dir: checked.path, root: trustKey(project) };
    } else {
      const untrusted = location.untrusted?.dir === checked.path ? null : location.untrusted;
      return { ...location, dir: checked.path, source: candidate.source, via, untrusted };
    }
  }

  const base = findBase(config, project, location.rejected);
  const { name, via } = findName(config, project, location.rejected);
  return { ...location, dir: path.join(base, "projects", name, config.memoryFolder), via };
}

/** What the user should know about it. */
export function warningsOf({ rejected, untrusted }: Location): string[] {
  const warnings = rejected.map(({ via, value, reason }) => `${via} (${JSON.stringify(value)}) is not used: ${reason}`);
  if (!untrusted) return warnings;
  const asked = `${untrusted.via} asks for the memory directory ${untrusted.dir}, outside the repository`;
  return [...warnings, `${asked}; it is not used until you run \`memdir trust accept directory\``];
}

/** The key under which the user file's `trusted` knows a project: one for all its worktrees. */
export function trustKey(project: Project): string {
  return project.gitRoot ?? project.root;
}

function candidatesOf(config: Config) {
  const env = { source: "env" as const, fromRepository: false };
  const named = VARIABLES.map((via) => ({ ...env, via, value: config.env[via] }));
  // The client knows only the first key, so in any file it outranks the second.
  const set = (["autoMemoryDirectory", "memoryDir"] as const).flatMap((key) =>
    SETTING_SOURCES.map((source) => {
      const { file, [key]: value } = config.settings[source];
      const fromRepository = REPOSITORY_SOURCES.has(source);
      return { source: "settings" as const, via: `${key} in ${file}`, value, fromRepository };
    }),
  );
  return [...named, ...set].flatMap(({ value, ...rest }) => (value ? [{ ...rest, value }] : []));
}

/** Both arrive with a clone: nothing keeps a repository from committing its local settings. */
const REPOSITORY_SOURCES: ReadonlySet<SettingSource> = new Set(["project", "local"]);

function check(value: string, config: Config, project: Project): { path: string } | { reason: string } {
  const checked = checkDirectoryPath(value, config.home);
  if ("reason" in checked) return checked;
  if (statOrNull(checked.path)?.isFile()) return { reason: "it is a file, not a directory" };
  // Whoever works inside a memory directory under version control is in such a repository.
  const isMemories = fs.existsSync(path.join(checked.path, "MEMORY.md"));
  const repository = isMemories ? null : project.worktreeRoot;
  const reason =
    refusedPlace(checked.path, config.home, { repository }) ??
    refusedPlace(realPath(checked.path), realPath(config.home), { repository });
  return reason === null ? checked : { reason };
}

function isWhole(value: string): boolean {
  return value === "" || value.startsWith("~") || value.startsWith("\\\\") || path.isAbsolute(value);
}

/** A repository may choose a directory inside itself; any other only if the user has approved exactly that one. */
function isAllowed(dir: string, config: Config, project: Project): boolean {
  const key = trustKey(project);
  const approved = Object.hasOwn(config.trusted, key) ? config.trusted[key] : undefined;
  if (approved !== undefined && path.resolve(approved) === dir) return true;
  const real = realPath(dir);
  const inGit = real.split(path.sep).some((part) => part.toLowerCase() === ".git");
  if (inGit) return false;
  const tops = [project.worktreeRoot, project.gitRoot ?? project.root].filter((top) => top !== null);
  // If the home directory is a repository, everything private is "inside" it.
  const home = realPath(config.home);
  return tops.some((top) => isWithin(top, real) && !isWithin(top, home));
}

function findBase(config: Config, project: Project, rejected: Location["rejected"]): string {
  const via = "CLAUDE_CODE_REMOTE_MEMORY_DIR";
  const value = config.env[via];
  if (!value) return config.claudeDir;
  const checked = check(value, config, project);
  if ("path" in checked) return checked.path;
  rejected.push({ via, value, reason: checked.reason });
  return config.claudeDir;
}

function findName(config: Config, project: Project, rejected: Location["rejected"]): { name: string; via: string } {
  const { directories, keying } = config;
  const key = project.root;
  const asked: { via: string; name: string | undefined }[] = [
    { via: "CLAUDE_CODE_PROJECT_DIR_NAME", name: config.env.CLAUDE_CODE_PROJECT_DIR_NAME || undefined },
    { via: `directories in ${config.userFile}`, name: Object.hasOwn(directories, key) ? directories[key] : undefined },
    { via: `keying in ${config.userFile}`, name: typeof keying === "object" ? keying.name : undefined },
  ];
  for (const { via, name } of asked) {
    if (name === undefined) continue;
    const reason = refusedName(name);
    if (reason === null) return { name, via };
    rejected.push({ via, value: name, reason });
  }
  if (keying === "sha256-16") return { name: sha256Key(project.root), via: "sha256-16" };
  const rule = config.profile === "code-assist" ? separatorSlug : slugOf;
  return { name: rule(project.root), via: "slug" };
}

/** Claude Code's limit before it cuts and appends a hash. */
const MAX_SLUG_CHARS = 200;

/** Claude Code's own rule, byte for byte, so that both find the same folder. Like Claude Code, it does not normalise the path. */
export function slugOf(path: string): string {
  const slug = path.replace(/[^a-zA-Z0-9]/g, "-");
  return slug.length <= MAX_SLUG_CHARS ? slug : `${slug.slice(0, MAX_SLUG_CHARS)}-${hash36(path)}`;
}

/** code-assist's rule: only the separators are replaced. */
export function separatorSlug(path: string): string {
  return path.replace(/[/\\]/g, "-");
}

/** mini-claude's rule: the first 16 hex digits of the path's sha256. */
export function sha256Key(path: string): string {
  return sha256(path).slice(0, 16);
}

/** The 32-bit hash of Java's strings, over UTF-16 units. */
function hash36(text: string): string {
  let hash = 0;
  for (let at = 0; at < text.length; at++) hash = (Math.imul(31, hash) + text.charCodeAt(at)) | 0;
  return Math.abs(hash).toString(36);
}

// --- Whether a configured path may be a memory directory, and whether a text may be one part of a path.

interface PathCheckOptions {
  platform?: NodeJS.Platform;
  /** The repository the call is about: its top folder may not double as the memory directory. */
  repository?: string | null;
}

/** The normalised path, or why it is refused. Looks at the text only, never at the disk. */
export function checkDirectoryPath(
  value: string,
  home: string,
  options: PathCheckOptions = {},
): { path: string } | { reason: string } {
  const { platform = process.platform, repository = null } = options;
  const paths = platform === "win32" ? path.win32 : path.posix;
  if (value.trim() === "") return { reason: "it is empty" };
  if (value.includes("\0")) return { reason: "it holds a NUL byte" };
  if (/^[\\/]{2}/.test(value)) return { reason: "it is a network (UNC) path" };

  let candidate = value;
  if (value.startsWith("~")) {
    const rest = /^~[/\\]?(.*)$/s.exec(value)?.[1] ?? "";
    const named = value.length > 1 && !(value[1] === "/" || (platform === "win32" && value[1] === "\\"));
    if (named) return { reason: "it must be absolute or start with ~/" };
    const below = paths.normalize(rest || ".").replace(/[/\\]+$/, "");
    if (below === "." || below === "..")
      return { reason: "it names the home directory or its parent, not one below it" };
    if (/^\.\.[/\\]/.test(below)) return { reason: "it leaves the home directory with .." };
    candidate = paths.join(home, rest);
  }
  if (!paths.isAbsolute(candidate)) return { reason: "it is relative; it must be absolute or start with ~/" };
  if (platform === "win32" && !/^[a-zA-Z]:[\\/]/.test(candidate)) return { reason: "it names no drive" };

  const normal = paths
    .normalize(candidate)
    .replace(/(?<=.)[/\\]+$/, "")
    .normalize("NFC");
  if (platform === "win32" && /^[a-zA-Z]:\\?$/.test(normal)) return { reason: "it is the root of a drive" };
  if (normal.length < 3) return { reason: "it is the root of the file system or too close to it" };
  const reason = refusedPlace(normal, home, { platform, repository });
  return reason === null ? { path: normal } : { reason };
}

/** Why a directory, however it was spelt, is too large a place to be a memory directory; null if it is not. */
function refusedPlace(dir: string, home: string, options: PathCheckOptions = {}): string | null {
  const { platform = process.platform, repository = null } = options;
  const paths = platform === "win32" ? path.win32 : path.posix;
  const toHome = paths.relative(dir, home);
  if (toHome === "") return "it is the home directory itself";
  if (!paths.isAbsolute(toHome) && toHome.split(paths.sep)[0] !== "..") return "the home directory is inside it";
  if (repository !== null && paths.relative(dir, repository) === "") {
    return "it is the top of the repository itself; choose a folder below it, such as .claude/memory";
  }
  return null;
}

/** File systems allow 255 bytes for a name. */
const MAX_NAME_BYTES = 255;

/** Why a text may not be used as one part of a path, or null. Also refuses what decodes to a separator or `..`. */
export function refusedName(name: string): string | null {
  if (name.trim() === "") return "it is empty";
  if (Buffer.byteLength(name) > MAX_NAME_BYTES) return "it is too long for a file name";
  for (const form of [name, name.normalize("NFKC"), attempt(() => decodeURIComponent(name), name)]) {
    if (/[/\\]/.test(form)) return "it holds a path separator";
    if (form.includes("..") || form === ".") return "it holds ..";
    // biome-ignore lint/suspicious/noControlCharactersInRegex: this looks for them
    if (/[\0-\x1f\x7f]/.test(form)) return "it holds a control character";
  }
  return null;
}

// --- Which project a directory belongs to: the nearest `.git`, and for a linked worktree the repository it was made from.

export interface Project {
  /** The working directory, links resolved. */
  cwd: string;
  /** The directory from which the memory directory's name is derived. */
  root: string;
  /** The main checkout of the repository, shared by all its worktrees; a bare repository's own directory. */
  gitRoot: string | null;
  /** The top of this checkout, with `.git` in it. */
  worktreeRoot: string | null;
  insideGit: boolean;
}

/** Reads a few small files and starts no process, as every command needs it. */
export function findProject(cwd: string, options: { projectScope?: ProjectScope } = {}): Project {
  const real = realPath(cwd);
  const worktreeRoot = findWorktreeRoot(real);
  const gitRoot = worktreeRoot && (findMainRoot(worktreeRoot) ?? worktreeRoot);
  const project = { cwd: real, root: real, gitRoot, worktreeRoot, insideGit: worktreeRoot !== null };
  return scopeProject(project, options.projectScope ?? "repository");
}

/** The same project with the root that the settings ask for, which are known only once the project is. */
function scopeProject(project: Project, scope: ProjectScope): Project {
  const { cwd, gitRoot, worktreeRoot } = project;
  return { ...project, root: { repository: gitRoot, worktree: worktreeRoot, cwd }[scope] ?? cwd };
}

/**
 * The main checkout that a linked worktree belongs to, or null if it is not a linked worktree. Both sides must name each other:
 * a `.git` file is only text, and a downloaded folder could otherwise name any repository and get its memories.
 */
function findMainRoot(worktreeRoot: string): string | null {
  const gitFile = path.join(worktreeRoot, ".git");
  const gitDir = readGitFile(gitFile);
  if (gitDir === null) return null;
  const commonText = readLine(path.join(gitDir, "commondir"));
  if (commonText === null) return null;
  const common = realPath(path.resolve(gitDir, commonText));
  if (path.dirname(realPath(gitDir)) !== path.join(common, "worktrees")) return null;
  const backLink = readLine(path.join(gitDir, "gitdir"));
  if (backLink === null || realPath(path.resolve(gitDir, backLink)) !== realPath(gitFile)) return null;
  return checkoutOf(common);
}

/** `<root>/.git` -> `<root>`; a submodule's git directory -> its checkout; a bare repository -> itself. */
function checkoutOf(common: string): string {
  if (path.basename(common) === ".git") return path.dirname(common);
  const worktree = /^\s*worktree\s*=\s*"?([^"\n]+?)"?\s*$/m.exec(readSmall(path.join(common, "config")) ?? "")?.[1];
  if (worktree === undefined) return common;
  const checkout = realPath(path.resolve(common, worktree));
  const back = readGitFile(path.join(checkout, ".git"));
  return back !== null && realPath(back) === common ? checkout : common;
}

export function readGitFile(file: string): string | null {
  const target = /^gitdir:\s*(.+)$/.exec(readLine(file) ?? "")?.[1];
  return target === undefined ? null : path.resolve(path.dirname(file), target);
}

/** The first line of a small file. */
export function readLine(file: string): string | null {
  const line = readSmall(file)?.split(/\r?\n/, 1)[0]?.trim();
  return line || null;
}

/** Git's own files of this kind are tiny; more than this is something else. */
const MAX_BYTES = 64 * 1024;

function readSmall(file: string): string | null {
  return attempt(() => readRegular(file, { follow: true, maxBytes: MAX_BYTES })?.toString("utf8") ?? null, null);
}

// --- Whose a directory is: `.memdir/project.json`, so that a collision or a move is noticed.

export interface Owner {
  /** Every root the directory served, the latest first. */
  roots: string[];
  rootCommit: string | null;
  remote: string | null;
  /** The user allowed several projects to use it. */
  shared: boolean;
  /** When this was written, ISO. */
  at: string;
}

export function ownerFile(dir: string): string {
  return path.join(dir, ".memdir", "project.json");
}

/** Null when there is no record or it cannot be read; that is not an error. */
export function readOwner(dir: string): Owner | null {
  const { roots, rootCommit, remote, shared, at } =
    attempt(() => JSON.parse(readSmall(ownerFile(dir)) ?? ""), null) ?? {};
  if (!Array.isArray(roots)) return null;
  return {
    roots: roots.filter((root) => typeof root === "string"),
    rootCommit: textOrNull(rootCommit),
    remote: textOrNull(remote),
    shared: shared === true,
    at: textOrNull(at) ?? "",
  };
}

/** Whether the record names this project, or there is no need of one: only a computed directory can be shared by accident. */
export function isRecorded({ dir, source, project }: Location): boolean {
  return source !== "computed" || readOwner(dir)?.roots.includes(project.root) === true;
}

function textOrNull(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}

// --- Which files of a directory are memories, and what was passed over and why.

export const INDEX_FILE = "MEMORY.md";
export const OVERFLOW_FILE = "MEMORY.more.md";

export interface Walked {
  /** Paths below the directory, with `/`, sorted. */
  files: string[];
  /** Symbolic links named like memories: listed, never followed. */
  links: string[];
  skipped: { path: string; reason: string }[];
  /** Every folder that was looked into; "" is the directory itself. */
  folders: string[];
  /** The time of each folder just before it was looked into. */
  folderTimes: number[];
}

/** Folders below the directory: deep enough for every known layout; a loop of bind mounts ends here. Nothing is written deeper. */
export const MAX_DEPTH = 8;

/** Daily logs are raw material, not memories. */
const DAILY_LOGS = /^logs\/\d{4}$/;

/** Whether a path below the directory is that of a daily log, in either known shape. */
export function isDailyLog(file: string): boolean {
  return /^logs\/\d{4}\//.test(file);
}

/** Whether a file is a memory by its path: others may lie in the directory and change with it, but have no line in the index. */
export function isMemoryFile(file: string): boolean {
  const name = file.slice(file.lastIndexOf("/") + 1);
  return name.endsWith(".md") && name !== INDEX_FILE && file !== OVERFLOW_FILE && !isDailyLog(file);
}

/** Throws `usage` if there are more than `most` files and folders. */
export function walk(directory: string, recursive = true, most = Number.POSITIVE_INFINITY): Walked {
  const walked: Walked = { files: [], links: [], skipped: [], folders: [], folderTimes: [] };
  let left = most;
  visit(directory, "", 0, recursive, walked, (entries) => {
    left -= entries;
    if (left < 0)
      throw new MemdirError("usage", `${directory} has more than ${most} files and folders: name a folder within it`);
  });
  walked.files.sort();
  return walked;
}

function visit(
  root: string,
  folder: string,
  depth: number,
  recursive: boolean,
  walked: Walked,
  count: (entries: number) => void,
): void {
  let entries: fs.Dirent[];
  let mtimeMs: number;
  const place = folder === "" ? root : path.join(root, folder);
  try {
    mtimeMs = fs.statSync(place).mtimeMs;
    entries = fs.readdirSync(place, { withFileTypes: true });
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? "unknown error";
    if (code !== "ENOENT") walked.skipped.push({ path: folder || ".", reason: `cannot be read (${code})` });
    return;
  }
  count(entries.length);
  // A folder with a state folder of its own is a directory of its own, as the mirror of a team's memory below a project's.
  if (folder !== "" && entries.some(({ name }) => name === ".memdir")) return;
  walked.folders.push(folder);
  walked.folderTimes.push(mtimeMs);
  for (const entry of entries) {
    const name = entry.name;
    if (name.startsWith(".")) continue;
    const file = folder === "" ? name : `${folder}/${name}`;
    if (entry.isFile()) {
      if (name.endsWith(".md") && name !== INDEX_FILE && file !== OVERFLOW_FILE) walked.files.push(file);
    } else if (entry.isDirectory()) {
      if (DAILY_LOGS.test(file)) continue;
      if (name.endsWith(".md")) walked.skipped.push({ path: file, reason: "a directory named like a memory" });
      if (!recursive) continue;
      if (depth < MAX_DEPTH) visit(root, file, depth + 1, recursive, walked, count);
      else walked.skipped.push({ path: file, reason: `more than ${MAX_DEPTH} folders deep` });
    } else if (entry.isSymbolicLink()) {
      if (name.endsWith(".md") && name !== INDEX_FILE) walked.links.push(file);
      else if (!name.endsWith(".md"))
        walked.skipped.push({ path: file, reason: "a symbolic link: memdir does not follow links" });
    } else if (name.endsWith(".md")) {
      walked.skipped.push({ path: file, reason: "not a regular file" });
    }
  }
}

/** Far more than a person has: a folder with more is not looked through to its end. */
const MAX_COUNTED = 20_000;

/** How many memories a directory holds, without opening one. */
export function countMemories(directory: string, recursive: boolean): number {
  return attempt(() => walk(directory, recursive, MAX_COUNTED).files.length, MAX_COUNTED);
}
