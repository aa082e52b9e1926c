/**
 * Loads what Claude Code loads at start, in its order: managed, user, then every directory from the outermost to the working
 * directory, then added ones. A file comes once, directly followed by its imports. Whatever is not loaded is listed with the reason.
 */

import { readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import picomatch from "picomatch";
import { type Config, isOn, SETTING_SOURCES } from "../config.ts";
import { isWithin, readRegular, realPath, statOrNull } from "../disk/fence.ts";
import { attempt } from "../errors.ts";
import { type Project, trustKey } from "../project/locate.ts";
import { stripForClient } from "../text/lines.ts";
import { type InstructionFile, type InstructionSource, LABELS, type SkippedFile } from "./file.ts";
import { findImports, resolveImport } from "./imports.ts";
import { readRulePaths } from "./rule-paths.ts";

/** A rule that waits until a matching file is touched. */
export interface WaitingRule {
  path: string;
  source: InstructionSource;
  patterns: string[];
  /** The folder that the patterns are relative to. */
  base: string;
}

export interface Loaded {
  files: InstructionFile[];
  skipped: SkippedFile[];
  waiting: WaitingRule[];
  /** Everything that was loaded: paths as found, and real paths with the name each was loaded under. */
  paths: Set<string>;
  reals: Map<string, string>;
  /** By device and inode, for files with more than one name. */
  inodes: Map<string, string>;
  /** Everything whose appearance, change or removal would change what is loaded at start. */
  watched: Set<string>;
}

/** As many hops as the client follows. */
const MAX_HOPS = 4;

/** The client skips anything larger. */
const MAX_BYTES = 4 * 1024 * 1024;

export async function loadAtStart(scope: InstructionScope): Promise<Loaded> {
  const loaded: Loaded = {
    files: [],
    skipped: [],
    waiting: [],
    paths: new Set(),
    reals: new Map(),
    inodes: new Map(),
    watched: new Set(),
  };
  const load = loader(scope, loaded, true);
  await load.file(join(scope.managedDir, "CLAUDE.md"), "managed");
  await load.rules(join(scope.managedDir, ".claude", "rules"), "managed", scope.cwd);
  await load.file(join(scope.claudeDir, "CLAUDE.md"), "user");
  await load.rules(join(scope.claudeDir, "rules"), "user", scope.cwd);
  const before = loaded.files.length;
  const chain = ancestorsOf(scope.cwd);
  for (const directory of [...chain, ...scope.addDirs]) await load.directory(directory);
  const byClient = scope.agents && !loaded.files.slice(before).some(isClaudeFile);
  for (const directory of chain) {
    if (byClient || scope.allAgents) await load.agents(directory);
    else load.shadowAgents(directory);
    if (scope.allAgents) await load.others(directory);
  }
  return loaded;
}

/** CLAUDE.md and CLAUDE.local.md of the project, wherever they are; rules do not count. */
export function isClaudeFile(file: InstructionFile): boolean {
  return file.importedBy === null && /[/\\]CLAUDE(\.local)?\.md$/.test(file.path);
}

/** Outermost first, the directory itself last. */
function ancestorsOf(directory: string): string[] {
  const parent = dirname(directory);
  return parent === directory ? [directory] : [...ancestorsOf(parent), directory];
}

/** The ways in which files are loaded; `trim` at start, not when nested. */
export function loader(scope: InstructionScope, loaded: Loaded, trim: boolean) {
  /** The real path of the waiting rule whose imports are followed: it must not be loaded through them. */
  let following: string | null = null;
  const skip = (path: string, reason: string) => void loaded.skipped.push({ path, reason });

  async function file(
    path: string,
    source: InstructionSource,
    importedBy: string | null = null,
    hops = 0,
  ): Promise<boolean> {
    const text = admit(path, source);
    if (text === null) return false;
    const stripped = stripForClient(text);
    const content = trim ? stripped.trim() : stripped;
    loaded.paths.add(path);
    loaded.reals.set(realPath(path), path);
    if (content.trim() === "") skip(path, "empty");
    else loaded.files.push({ path, label: LABELS[source], source, content, size: content.length, importedBy });
    await imports(stripped, path, source, hops);
    return content.trim() !== "";
  }

  /** The file's text, or null when it is not loaded; a missing file is not worth mentioning. */
  function admit(path: string, source: InstructionSource): string | null {
    loaded.watched.add(path);
    const stat = statOrNull(path);
    if (!stat) return null;
    if (!scope.kinds.has(source)) return refuse(path, `${source} files are not among the setting sources`);
    if (source !== "managed" && scope.isExcluded(path)) return refuse(path, "excluded by claudeMdExcludes");
    if (!stat.isFile()) return refuse(path, "not a file");
    if (stat.size > MAX_BYTES) return refuse(path, `too large (${stat.size} bytes, the limit is ${MAX_BYTES})`);
    if (loaded.paths.has(path)) return null;
    if (isKnown(path)) {
      // A later touch must not add it under this name.
      if (!trim) loaded.paths.add(path);
      return refuse(path, `the same file as ${loaded.reals.get(realPath(path))}, which is loaded already`);
    }
    if (trim && stat.nlink > 1) {
      const inode = `${stat.dev} ${stat.ino}`;
      const other = loaded.inodes.get(inode) ?? path;
      if (other !== path) return refuse(path, `the same file as ${other}, which is loaded already`);
      loaded.inodes.set(inode, path);
    }
    try {
      return readRegular(path, { follow: true })?.toString("utf8") ?? refuse(path, "not a file");
    } catch (error) {
      return refuse(path, `cannot be read (${(error as NodeJS.ErrnoException).code})`);
    }
  }

  function isKnown(path: string): boolean {
    return loaded.paths.has(path) || loaded.reals.has(realPath(path));
  }

  function refuse(path: string, reason: string): null {
    skip(path, reason);
    return null;
  }

  async function imports(text: string, path: string, source: InstructionSource, hops: number): Promise<void> {
    for (const target of await findImports(text)) {
      const resolved = resolveImport(target, { folder: dirname(realPath(path)), home: scope.home });
      if ("refused" in resolved) skip(`@${target}`, `not imported by ${path}: ${resolved.refused}`);
      else if (hops >= MAX_HOPS) skip(resolved.path, `more than ${MAX_HOPS} imports deep`);
      else if (loaded.reals.has(realPath(resolved.path)) || realPath(resolved.path) === following) continue;
      else if (source !== "user" && !scope.externalApproved && isExternal(scope, resolved.path)) {
        skip(resolved.path, `imported by ${path} from outside the working directory, which needs your approval`);
      } else if (!statOrNull(resolved.path)) {
        loaded.watched.add(resolved.path);
        skip(resolved.path, `imported by ${path}, but missing`);
      } else await file(resolved.path, source, path, hops + 1);
    }
  }

  /** Links may lead out of the folder; only the user's own rules follow them anywhere. */
  function listed(folder: string, source: InstructionSource, ending?: string): string[] {
    // `.claude` and `rules` may be links that lead away; their parent may be reached through any link.
    const home = join(realPath(dirname(dirname(folder))), basename(dirname(folder)), basename(folder));
    const mayReach = (path: string) =>
      source === "user" || scope.externalApproved || isWithin(home, path) || !isExternal(scope, path);
    const { files, folders, closed } = listRuleFiles(folder, mayReach, ending);
    for (const each of folders) loaded.watched.add(each);
    const away = files.filter((path) => !mayReach(path));
    for (const path of [...closed, ...away])
      skip(path, "a link leads out of the working directory, which needs your approval");
    return files.filter(mayReach);
  }

  async function rules(folder: string, source: InstructionSource, base: string): Promise<void> {
    for (const path of listed(folder, source)) await rule(path, source, base);
  }

  async function rule(path: string, source: InstructionSource, base: string): Promise<void> {
    const isWaiting = loaded.waiting.some((each) => each.path === path);
    const text = isWaiting || isKnown(path) ? null : admit(path, source);
    if (text === null) return;
    const paths = readRulePaths(text);
    for (const problem of paths.problems) skip(path, problem);
    if (paths.kind === "always") await file(path, source);
    else if (paths.kind === "never") skip(path, paths.problem);
    else {
      loaded.waiting.push({ path, source, patterns: paths.patterns, base });
      // The client follows the imports of a waiting rule at once.
      following = realPath(path);
      await imports(stripForClient(text), path, source, 0);
      following = null;
    }
  }

  /** What one directory of the chain adds. */
  async function directory(folder: string): Promise<void> {
    const { shadowed } = scope;
    const isShadowed = shadowed && isWithin(shadowed.root, folder) && !isWithin(shadowed.worktree, folder);
    if (!isShadowed) {
      await file(join(folder, "CLAUDE.md"), "project");
      await file(join(folder, ".claude", "CLAUDE.md"), "project");
      await rules(join(folder, ".claude", "rules"), "project", folder);
    }
    await file(join(folder, "CLAUDE.local.md"), "local");
  }

  async function agents(folder: string): Promise<void> {
    await file(join(folder, "AGENTS.md"), "project");
    await file(join(folder, ".claude", "AGENTS.md"), "project");
  }

  /** What other agents read: Claude Code does not load it, so only on request. */
  async function others(folder: string): Promise<void> {
    await file(join(folder, "GEMINI.md"), "project");
    await file(join(folder, ".github", "copilot-instructions.md"), "project");
    for (const path of listed(join(folder, ".cursor", "rules"), "project", ".mdc")) await file(path, "project");
  }

  function shadowAgents(folder: string): void {
    const path = join(folder, "AGENTS.md");
    const reason = scope.agents
      ? "a CLAUDE.md of the project is loaded instead"
      : "AGENTS.md is switched off in the settings";
    if (statOrNull(path)) skip(path, reason);
  }

  return { file, rules, directory, agents, others, shadowAgents };
}

/** Deep enough for any real tree; loops of links end at folders already seen. */
const MAX_DEPTH = 16;

/** More rules than anyone has; a link to a whole disk ends here. */
const MAX_ENTRIES = 5000;

/**
 * `mayEnter` is called with the real path of every folder before it is listed. `files` are paths as found, except for links: a linked
 * rule is identified by its real path. `folders` were listed, `closed` are linked ones that were not entered.
 */
function listRuleFiles(folder: string, mayEnter: (real: string) => boolean, ending = ".md") {
  const found = new Set<string>();
  const seen = new Set<string>();
  const closed: string[] = [];
  let left = MAX_ENTRIES;

  const visit = (at: string, depth: number): void => {
    const real = realPath(at);
    if (seen.has(real) || depth > MAX_DEPTH || !statOrNull(at)?.isDirectory()) return;
    if (!mayEnter(real)) return void closed.push(at);
    seen.add(real);
    for (const entry of attempt(() => readdirSync(real, { withFileTypes: true }), [])) {
      if (left-- <= 0) return;
      const path = join(real, entry.name);
      const stat = entry.isSymbolicLink() ? statOrNull(path) : entry;
      if (stat?.isDirectory()) visit(path, depth + 1);
      else if (stat?.isFile() && entry.name.endsWith(ending)) found.add(entry.isSymbolicLink() ? realPath(path) : path);
    }
  };
  visit(folder, 0);
  return { files: [...found].sort(), folders: [folder, ...seen], closed };
}

// --- What decides which instruction files count: folders, settings and approvals, collected once.

export type InstructionScope = ReturnType<typeof openScope>;

export interface ScopeOptions {
  addDirs?: readonly string[] | undefined;
  settingSources?: readonly ("user" | "project" | "local")[] | undefined;
  /** Seed 000's switches. */
  includeManaged?: boolean | undefined;
  includeUser?: boolean | undefined;
  /** Also AGENTS.md next to a CLAUDE.md, and the files of other agents: GEMINI.md, Cursor's and Copilot's. */
  allAgents?: boolean | undefined;
}

const AGENTS_PLUGIN = "cc-plugin-agents-md@builtin";

export function openScope(project: Project, config: Config, options: ScopeOptions = {}) {
  const settings = SETTING_SOURCES.map((source) => config.settings[source]);
  const patterns = settings.flatMap((each) => each.claudeMdExcludes ?? []);
  const matches = patterns.map((pattern) => picomatch(pattern, { dot: true }));
  const sources = options.settingSources ?? ["user", "project", "local"];
  const addDirsOn = isOn(config.env.CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD);
  const { gitRoot, worktreeRoot } = project;
  const inside =
    gitRoot !== null && worktreeRoot !== null && gitRoot !== worktreeRoot && isWithin(gitRoot, worktreeRoot);
  return {
    cwd: project.cwd,
    home: config.home,
    claudeDir: config.claudeDir,
    managedDir: config.managedDir,
    /** Directories that the user added on the command line. */
    addDirs: addDirsOn ? (options.addDirs ?? []) : [],
    /** Which kinds are loaded at all (`--setting-sources`). */
    kinds: new Set<InstructionSource>([
      ...(options.includeManaged === false ? [] : (["managed"] as const)),
      ...sources.filter((source) => source !== "user" || options.includeUser !== false),
    ]),
    isExcluded: (path: string) => matches.some((match) => match(path)),
    /** Imports and linked rules may lead out of the working directory. */
    externalApproved: trustKey(project) in config.approvedImports || isApproved(project, config),
    /** Also the files of other agents, whatever Claude Code does. */
    allAgents: options.allAgents === true,
    /** Claude Code reads AGENTS.md through a plugin that can be switched off. */
    agents: !settings.some((each) => each.enabledPlugins?.[AGENTS_PLUGIN] === false),
    /** For a linked worktree inside its own repository: that repository's root, whose checked-in files the worktree has itself. */
    shadowed: inside ? { root: gitRoot, worktree: worktreeRoot } : null,
  };
}

/** Claude Code's own record of the user's approval, kept under the git root; ours is `approvedImports` in memdir.json. */
function isApproved(project: Project, config: Config): boolean {
  const moved = config.claudeDir !== join(config.home, ".claude");
  const file = moved ? join(config.claudeDir, ".claude.json") : join(config.home, ".claude.json");
  const record = attempt(() => JSON.parse(readRegular(file, { follow: true })?.toString("utf8") ?? ""), null);
  return record?.projects?.[project.gitRoot ?? project.cwd]?.hasClaudeMdExternalIncludesApproved === true;
}

/** Outside the working directory, links resolved: what a project file may not reach without approval. */
function isExternal(scope: InstructionScope, path: string): boolean {
  return !isWithin(scope.cwd, realPath(path));
}
