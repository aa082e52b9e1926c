/** What decides which instruction files count: folders, settings and approvals, collected once. */

import { join } from "node:path";
import picomatch from "picomatch";
import { type Config, isOn, SETTING_SOURCES } from "../config.ts";
import { isWithin, readRegular, realPath } from "../disk/fence.ts";
import { attempt } from "../errors.ts";
import { type Project, trustKey } from "../project/locate.ts";
import type { InstructionSource } from "./file.ts";

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
export function isExternal(scope: InstructionScope, path: string): boolean {
  return !isWithin(scope.cwd, realPath(path));
}
