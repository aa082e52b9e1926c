/** Which directories a project has, one for each scope (user, project, team, each agent), and which one is written to. */

import fs from "node:fs";
import path from "node:path";
import { type Config, type ConfigOptions, type Env, readConfig } from "../config.ts";
import { isWithin, readPart, realPath, statOrNull, withRegular } from "../disk/fence.ts";
import { attempt, MemdirError } from "../errors.ts";
import { isTracked } from "./git.ts";
import {
  countMemories,
  findProject,
  type Location,
  locate,
  type Project,
  refusedName,
  separatorSlug,
  sha256Key,
  slugOf,
} from "./locate.ts";

/** Which project to open, and which of its memories. */
export interface PlaceOptions {
  /** The working directory of the project. */
  cwd: string;
  /** Used instead of the directory that the environment, settings or project determine. */
  memoryDir?: string | undefined;
  /** Restricts every verb to one scope: user, project, team, agent:NAME. */
  scope?: string | undefined;
  /** Used instead of `process.env`. */
  env?: Env | undefined;
  /** Used instead of the system clock. */
  now?: (() => Date) | undefined;
  /** Receives messages about problems that did not stop anything. Without it, nothing is logged. */
  log?: ((message: string) => void) | undefined;
  /** Who is asking: recorded in the journal, and as the source of what is saved through tools. */
  by?: string | undefined;
  /** Set to false to leave out the directories of older layouts. */
  withOlder?: boolean | undefined;
  /** Like Claude Code's --setting-sources. */
  settingSources?: ConfigOptions["settingSources"];
}

export function findPlace(options: PlaceOptions, env: Env): { config: Config; location: Location } {
  const here = findProject(options.cwd);
  const config = readConfig({ ...options, env, projectRoot: here.worktreeRoot ?? here.cwd });
  return { config, location: locate({ ...options, config, here }) };
}

export function findDirectories(options: PlaceOptions, config: Config, location: Location) {
  const context = { config, project: location.project, dir: location.dir };
  const open = (scope: ScopeDirectory, readOnly = false, recursive = true) => ({
    path: scope.dir,
    scope: scope.scope,
    inRepository: scope.committable,
    readOnly,
    recursive,
    limits: config.index,
    ageDays: config.ageDays,
    now: options.now ?? (() => new Date()),
    by: options.by ?? "library",
    log: options.log ?? (() => {}),
  });
  const scope = scopeDirectory(options.scope ?? "project", context);
  const main = open(scope);
  const others = options.scope ? [] : listScopes(context, scope).map((each) => open(each));
  // An explicit directory stands alone.
  const older =
    options.withOlder !== false && main.path === location.dir && location.source === "computed"
      ? findOlderDirectories({ config, project: location.project, dir: location.dir })
      : [];
  const olderScope = { scope: "project", committable: false };
  const directories = [
    main,
    ...others.filter((directory) => directory.path !== main.path),
    ...older.map(({ dir, recursive }) => open({ ...olderScope, dir }, true, recursive)),
  ];
  return { main, directories, older };
}

export interface ScopeDirectory {
  /** As the user may name it again: `agent:NAME@user`, never the short form. */
  scope: string;
  dir: string;
  /** Meant to be committed: file times there are those of the clone and say nothing about age (C15). */
  committable: boolean;
}

export interface ScopeContext {
  config: Config;
  project: Project;
  /** The project's memory directory, as located. */
  dir: string;
}

const SCOPE_NAMES = "user, project, team, agent:NAME, agent:NAME@user, agent:NAME@project, agent:NAME@local";

export function scopeDirectory(scope: string, context: ScopeContext): ScopeDirectory {
  const { config } = context;
  if (scope === "project") return projectDirectory(context);
  if (scope === "user") return { scope, dir: userMemoryDir(config), committable: false };
  if (scope === "team") return findMirror(context) ?? teamInRepository(context);
  if (scope.startsWith("agent:")) return agentDirectory(scope.slice("agent:".length), context);
  throw new MemdirError("usage", `there is no scope ${JSON.stringify(scope)}; choose one of ${SCOPE_NAMES}`);
}

/** Every scope that exists on disk, the project's first, each directory once. Hooks do this for every event: nothing is looked up twice. */
export function listScopes(context: ScopeContext, project = projectDirectory(context)): ScopeDirectory[] {
  const named = (name: string) => attempt(() => scopeDirectory(name, context), null);
  // A team may share through its server and through the repository.
  const ways = context.config.team ? [findMirror, teamInRepository] : [];
  const team = ways.map((find) => attempt(() => find(context), null));
  const scopes = [project, named("user"), ...team, ...listAgentScopes(context).map(named)];
  const seen = new Set<string>();
  const found: ScopeDirectory[] = [];
  for (const scope of scopes) {
    if (scope === null || !statOrNull(scope.dir)?.isDirectory()) continue;
    const real = realPath(scope.dir);
    if (!seen.has(real)) found.push(scope);
    seen.add(real);
  }
  return found;
}

/** The team's memories, which are committed with the repository. */
export function getTeamMemDir(projectRoot: string): string {
  return path.join(projectRoot, ".claude", "memory");
}

/** Where the memories of a team's server are kept on this machine. */
export function mirrorOf(dir: string): string {
  return path.join(dir, "team");
}

/** A memory's file in the team's directory, in the folder of its type. Throws where a name would lead out of it. */
export function getTeamMemPath(projectRoot: string, type: string, name: string): string {
  const stem = name.endsWith(".md") ? name.slice(0, -".md".length) : name;
  for (const [what, part] of [["type", type] as const, ["name", stem] as const]) {
    const reason = refusedName(part);
    if (reason) throw new MemdirError("usage", `the ${what} ${JSON.stringify(part)} cannot be a file name: ${reason}`);
  }
  return path.join(getTeamMemDir(projectRoot), type, `${stem}.md`);
}

/** The checkout with the team and agent directories: each worktree has its own, as git tracks them. */
export function repositoryOf(project: Project): string {
  return project.worktreeRoot ?? project.root;
}

/** Null if the project has not joined a team. A link in its place could send private files to the server, or write the server's into private folders. */
function findMirror({ config, project, dir }: ScopeContext): ScopeDirectory | null {
  if (!Object.hasOwn(config.teams, project.root)) return null;
  const mirror = mirrorOf(dir);
  if (realPath(mirror) !== mirrorOf(realPath(dir))) {
    throw new MemdirError(
      "outside",
      `${mirror} is a link, but must be a directory of the team's memories: remove the link`,
    );
  }
  return { scope: "team", dir: mirror, committable: false };
}

function teamInRepository({ project }: ScopeContext): ScopeDirectory {
  return inRepository("team", getTeamMemDir(repositoryOf(project)), project, true);
}

function userMemoryDir(config: Config): string {
  return path.join(config.claudeDir, "memory");
}

function projectDirectory({ config, project, dir }: ScopeContext): ScopeDirectory {
  // If the home directory is a repository, `~/.claude` is inside it and still private.
  const isPrivate = isWithin(realPath(config.claudeDir), realPath(dir));
  const inside = project.insideGit && !isPrivate && isWithin(repositoryOf(project), realPath(dir));
  return { scope: "project", dir, committable: inside };
}

function agentDirectory(text: string, context: ScopeContext): ScopeDirectory {
  const { config, project } = context;
  const at = text.lastIndexOf("@");
  const name = agentName(at === -1 ? text : text.slice(0, at));
  const asked = at === -1 ? null : text.slice(at + 1);
  if (asked !== null && asked !== "user" && asked !== "project" && asked !== "local") {
    const valid = "agent:NAME@user, agent:NAME@project or agent:NAME@local";
    throw new MemdirError("usage", `there is no agent scope ${JSON.stringify(asked)}; write ${valid}`);
  }
  const repository = repositoryOf(project);
  const agentScope = asked ?? findAgentScope(name, config, repository);
  const scope = `agent:${name}@${agentScope}`;
  if (config.scopeLayout === "shared") {
    // 004's layout: all agents of a scope share one directory. What is an agent's own never goes to a server.
    const shared = agentScope === "local" ? teamInRepository(context) : scopeDirectory(agentScope, context);
    return { ...shared, scope };
  }
  const dir = agentDirectories(name, config, repository)[agentScope];
  if (agentScope === "user") return { scope, dir, committable: false };
  // A local one is the user's alone, unless somebody has committed it all the same.
  return inRepository(scope, dir, project, agentScope === "project" || isTracked(dir));
}

/** A repository could contain `.claude/memory` as a link to any of the user's folders; so its directories must stay inside it. */
function inRepository(scope: string, dir: string, project: Project, committable: boolean): ScopeDirectory {
  const repository = repositoryOf(project);
  if (!isWithin(realPath(repository), realPath(dir))) {
    const remedy = "replace the link with a directory, or name the target with --memory-dir";
    throw new MemdirError("outside", `${dir} is a link that leads out of ${repository}; ${remedy}`);
  }
  return { scope, dir, committable: project.insideGit && committable };
}

function listAgentScopes({ config, project }: ScopeContext): string[] {
  if (config.scopeLayout === "shared") return [];
  const parents = Object.entries(agentDirectories("", config, repositoryOf(project)));
  const scopes = parents.flatMap(([agentScope, parent]) =>
    listEntries(parent)
      .filter((entry) => !entry.name.startsWith(".") && statOrNull(path.join(parent, entry.name))?.isDirectory())
      .map((entry) => `agent:${entry.name}@${agentScope}`),
  );
  return scopes.sort();
}

export type AgentScope = "user" | "project" | "local";

/** The folder name of an agent; plugins' agents are called `plugin:agent`. */
function agentName(text: string): string {
  const name = text.replaceAll(":", "-");
  const reason = refusedName(name);
  if (reason === null) return name;
  throw new MemdirError("usage", `the agent name ${JSON.stringify(text)} cannot be used: ${reason}; write agent:NAME`);
}

export function agentDirectories(name: string, config: Config, repository: string): Record<AgentScope, string> {
  return {
    project: path.join(repository, ".claude", "agent-memory", name),
    local: path.join(repository, ".claude", "agent-memory-local", name),
    user: path.join(config.claudeDir, "agent-memory", name),
  };
}

/** What the agent's definition says, else where it already has memories, else the project's. */
function findAgentScope(name: string, config: Config, repository: string): AgentScope {
  for (const folder of [path.join(repository, ".claude"), config.claudeDir]) {
    const declared = readMemoryLine(path.join(folder, "agents", `${name}.md`));
    if (declared) return declared;
  }
  const directories = agentDirectories(name, config, repository);
  const existing = (["project", "local", "user"] as const).find((scope) => fs.existsSync(directories[scope]));
  return existing ?? "project";
}

/** A definition starts with its frontmatter; the prompt after it can be long. */
const HEAD_BYTES = 16 * 1024;

function readMemoryLine(file: string): AgentScope | null {
  const read = (fd: number) => readPart(fd, 0, HEAD_BYTES).toString("utf8");
  const head = attempt(() => withRegular(file, read, { follow: true }), null) ?? "";
  const frontmatter = /^\uFEFF?---[ \t]*\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)/.exec(head)?.[1] ?? "";
  const value = /^memory:[ \t]*["']?(user|project|local)["']?[ \t]*(?:#.*)?\r?$/m.exec(frontmatter)?.[1];
  return (value as AgentScope | undefined) ?? null;
}

// --- Directories in which other versions and products, or another keying of ours, kept memories of the same project.

type OlderLayout = "slug" | "flat-000" | "sha256-16" | "mini-claude" | "cwd-slug" | "worktree-slug";

export interface OlderDirectory {
  dir: string;
  layout: OlderLayout;
  /** False where the directory also holds other things in subfolders, as the flat layout does. */
  recursive: boolean;
}

/** Only those that hold a memory, and never the directory in use. Nothing is changed: they are for reading and migrating. */
export function findOlderDirectories(options: { config: Config; project: Project; dir: string }): OlderDirectory[] {
  const seen = new Set([realPath(options.dir)]);
  const found: OlderDirectory[] = [];
  for (const older of candidatesOf(options.config, options.project)) {
    const real = realPath(older.dir);
    if (seen.has(real)) continue;
    seen.add(real);
    if (countMemories(older.dir, older.recursive) > 0) found.push(older);
  }
  return found;
}

/** `memory/` at the top of the repository, where many projects keep what their agents share; null if it is in use or is none. */
export function findTopMemory({ worktreeRoot }: Project, used: readonly { path: string }[]): string | null {
  const dir = path.join(worktreeRoot ?? "", "memory");
  if (worktreeRoot === null || !statOrNull(path.join(dir, "MEMORY.md"))?.isFile()) return null;
  return used.some((each) => realPath(each.path) === realPath(dir)) ? null : dir;
}

function candidatesOf(config: Config, project: Project): OlderDirectory[] {
  const { cwd, root, worktreeRoot } = project;
  const projects = path.join(config.claudeDir, "projects");
  const mini = path.join(config.home, ".mini-claude", "projects");
  const rows: [layout: OlderLayout, base: string, name: string][] = [
    ["slug", projects, slugOf(root)],
    ["flat-000", projects, separatorSlug(root)],
    ["flat-000", projects, slugOf(root)],
    ["worktree-slug", projects, slugOf(worktreeRoot ?? root)],
    ["cwd-slug", projects, slugOf(cwd)],
  ];
  for (const [layout, base] of [["sha256-16", projects] as const, ["mini-claude", mini] as const])
    if (hasHashes(base)) for (const at of [root, cwd]) rows.push([layout, base, sha256Key(at)]);
  return rows.map(([layout, base, name]) => {
    // Claude Code keeps transcripts beside `memory`, so in a flat folder only its own files are memories.
    const recursive = layout !== "flat-000";
    return { dir: path.join(base, name, recursive ? "memory" : ""), layout, recursive };
  });
}

/** Hashing needs a module that is slow to load: only where a folder has such a name. */
function hasHashes(projects: string): boolean {
  return listEntries(projects).some((entry) => /^[0-9a-f]{16}$/.test(entry.name));
}

/** The entries of a folder in a fixed order; none if it cannot be read. */
export function listEntries(folder: string): fs.Dirent[] {
  // Asked first: an error takes far longer to make than an answer.
  const entries = statOrNull(folder) ? attempt(() => fs.readdirSync(folder, { withFileTypes: true }), []) : [];
  return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
}

// --- Where a project's sessions are: in Claude Code's folder for the working directory, unlike memories, which a repository shares.

export function sessionsFolder(config: Config, { cwd }: Project): string {
  return path.join(projectsFolder(config), slugOf(cwd));
}

/** The folders of all projects. */
function projectsFolder({ claudeDir }: Config): string {
  return path.join(claudeDir, "projects");
}

/** The folders in which sessions are looked for: this project's, or those of all, and seed 001's folder. */
export function sessionPlaces(config: Config, project: Project, all = false): { dirs: string[]; older: string } {
  const projects = projectsFolder(config);
  const names = all ? attempt(() => fs.readdirSync(projects), []) : [slugOf(project.cwd)];
  const dirs = names.map((name) => path.join(projects, name));
  return { dirs, older: path.join(config.claudeDir, "sessions") };
}

/** Seed 001's layout keeps the sessions of all projects together: those of other projects are left out. */
export function isSessionHere(
  session: { path: string; cwd: string | null },
  config: Config,
  project: Project,
): boolean {
  return session.cwd === null || session.cwd === project.cwd || isWithin(projectsFolder(config), session.path);
}
