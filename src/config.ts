/** Settings: defaults < user file < project file < environment; the only reader of process.env. */

import os from "node:os";
import path from "node:path";
import {
  BOOLEAN,
  type ClaudeSettings,
  COUNT,
  type HookConfig,
  type JsonFile,
  type Kind,
  type LearnConfig,
  OBJECT,
  oneOf,
  openJson,
  readClaudeSettings,
  readHookConfig,
  readLearnConfig,
  SETTING_SOURCES,
  type SettingSource,
  TEXT_BY_NAME,
  TEXTS,
  take,
} from "./settings.ts";
import type { Env } from "./world.ts";

export type { ClaudeSettings, Env, SettingSource };
export { SETTING_SOURCES };
export type Profile = "claude" | "code-assist" | "mini-claude" | "own";
export type Keying = "slug" | "sha256-16" | { name: string };
export type ProjectScope = "repository" | "worktree" | "cwd";

export interface Config {
  home: string;
  /** `~/.claude`, or CLAUDE_CONFIG_DIR or the profile's own directory instead. */
  claudeDir: string;
  managedDir: string;
  /** Our own user file, which also holds what the user approved. */
  userFile: string;
  profile: Profile;
  keying: Keying;
  projectScope: ProjectScope;
  scopeLayout: "separate" | "shared";
  /** The folder below the project's folder that holds the memories; code-assist has none. */
  memoryFolder: "memory" | "";
  index: { maxLines: number; maxChars: number };
  /** The age in whole days from which a memory is called recent, stale, old; below all of them it is fresh. */
  ageDays: { recent: number; stale: number; old: number };
  /** How recall finds the meaning of a prompt: not at all, by a table of words, or by the model. The model makes memories' vectors in both cases. */
  meaning: "off" | "words" | "minilm";
  /** Whether the team's directory takes part when all scopes are listed. */
  team: boolean;
  /** Root of a project -> the one directory outside it that the user allowed its repository to choose. */
  trusted: Readonly<Record<string, string>>;
  /** Root of a project -> a folder name instead of the slug, for projects whose slugs collide. */
  directories: Readonly<Record<string, string>>;
  /** Root of a project -> where its team shares memories: server, team and repository as one URL. */
  teams: Readonly<Record<string, string>>;
  /** Root of a project -> when the user allowed its instruction files to import from outside the working directory. */
  approvedImports: Readonly<Record<string, string>>;
  /** Root of a project -> what its agent's tools may do without asking. */
  permitted: Readonly<Record<string, readonly string[]>>;
  learn: LearnConfig;
  hooks: HookConfig;
  /** Whether a model is told the state of the git repository. */
  gitInstructions: boolean;
  settings: Readonly<Record<SettingSource, ClaudeSettings>>;
  /** The environment as given, then the `env` blocks of settings for names that it lacks. */
  env: Env;
  /** Why Claude Code's auto memory is off, else null. */
  disabled: string | null;
  claudeMdsDisabled: boolean;
  /** Settings files that could not be read and values that were ignored. */
  problems: string[];
}

export interface ConfigOptions {
  cwd: string;
  env: Env;
  /** The directory whose `.claude` holds the project's settings. */
  projectRoot: string;
  /** Claude Code's `--setting-sources`: which of its files count. Managed settings always do. */
  settingSources?: readonly ("user" | "project" | "local")[];
  platform?: NodeJS.Platform;
}

export function processEnv(): Env {
  return process.env;
}

/** Must not throw: what is wrong with a file or a value goes to `problems`, and the default is used. */
export function readConfig(options: ConfigOptions): Config {
  const { cwd, env, projectRoot, platform = process.platform } = options;
  const problems: string[] = [];
  const home = env.HOME || env.USERPROFILE || os.homedir();

  const asked = profileOf(env.MEMDIR_PROFILE);
  if (env.MEMDIR_PROFILE && !asked) problems.push(`MEMDIR_PROFILE must be one of ${PROFILE_NAMES}; it is ignored`);
  const userFile = path.join(claudeDirOf(asked ?? "claude", home, cwd, env), "memdir.json");
  const userJson = openJson(userFile, problems);
  const user = readOwn(userJson, "user");
  const profile = asked ?? user.profile ?? "claude";
  const preset = PROFILES[profile];
  const claudeDir = claudeDirOf(profile, home, cwd, env);
  const managedDir = env.MEMDIR_MANAGED_DIR || preset.managedDir || MANAGED_DIRS[platform] || "/etc/claude-code";

  // In the home directory the project's file is the user's.
  const projectFile = path.join(projectRoot, ".claude", "memdir.json");
  const project = projectFile === userFile ? {} : readOwn(openJson(projectFile, problems), "project");
  const settings = readClaudeSettings(
    { claudeDir, managedDir, projectRoot, sources: options.settingSources },
    problems,
  );
  const effective = mergeEnv(env, settings, problems);

  return {
    home,
    claudeDir,
    managedDir,
    userFile,
    profile,
    keying: user.keying ?? preset.keying,
    projectScope: project.projectScope ?? user.projectScope ?? preset.projectScope,
    scopeLayout: project.scopeLayout ?? user.scopeLayout ?? "separate",
    memoryFolder: preset.memoryFolder,
    index: { maxLines: 200, maxChars: 25_000, ...user.index, ...project.index },
    ageDays: ascending({ ...AGE_DAYS, ...user.ageDays, ...project.ageDays }, problems),
    meaning: meaningOf(env.MEMDIR_MEANING) ?? project.meaning ?? user.meaning ?? "words",
    team: isOff(env.TEAMMEM) ? false : isOn(env.TEAMMEM) || (user.team ?? true),
    trusted: user.trusted ?? {},
    directories: user.directories ?? {},
    teams: user.teams ?? {},
    approvedImports: user.approvedImports ?? {},
    permitted: user.permitted ?? {},
    learn: readLearnConfig(userJson, env),
    hooks: readHookConfig(userJson),
    gitInstructions: !isOn(effective.CLAUDE_CODE_REMOTE) && wantsGit(settings),
    settings,
    env: effective,
    disabled: whyDisabled(effective, settings),
    claudeMdsDisabled: isOn(effective.CLAUDE_CODE_DISABLE_CLAUDE_MDS) || isOn(effective.CLAUDE_CODE_SIMPLE),
    problems,
  };
}

interface Preset {
  folder: string;
  movable: boolean;
  managedDir: string | null;
  keying: Keying;
  projectScope: ProjectScope;
  memoryFolder: "memory" | "";
}

const CLAUDE: Preset = {
  folder: ".claude",
  movable: true,
  managedDir: null,
  keying: "slug",
  projectScope: "repository",
  memoryFolder: "memory",
};

/** Where each product keeps its files. CLAUDE_CONFIG_DIR moves `.claude` only, not the products that never used it. */
const PROFILES: Record<Profile, Preset> = {
  claude: CLAUDE,
  "code-assist": { ...CLAUDE, managedDir: "/etc/code-assist", memoryFolder: "" },
  "mini-claude": { ...CLAUDE, folder: ".mini-claude", movable: false, keying: "sha256-16", projectScope: "cwd" },
  own: { ...CLAUDE, folder: ".memdir", movable: false },
};
const PROFILE_NAMES = Object.keys(PROFILES).join(", ");

const MANAGED_DIRS: Partial<Record<NodeJS.Platform, string>> = {
  darwin: "/Library/Application Support/ClaudeCode",
  win32: "C:\\Program Files\\ClaudeCode",
};

const AGE_DAYS = { recent: 2, stale: 8, old: 31 };

/** A switch counts too: on is the default. */
function meaningOf(value: unknown): Config["meaning"] | undefined {
  if (value === "words" || value === "minilm") return value;
  if (value === true || (typeof value === "string" && isOn(value))) return "words";
  return value === false || (typeof value === "string" && isOff(value)) ? "off" : undefined;
}

function profileOf(value: unknown): Profile | undefined {
  return typeof value === "string" && Object.hasOwn(PROFILES, value) ? (value as Profile) : undefined;
}

function claudeDirOf(profile: Profile, home: string, cwd: string, env: Env): string {
  const preset = PROFILES[profile];
  if (preset.movable && env.CLAUDE_CONFIG_DIR) return path.resolve(cwd, env.CLAUDE_CONFIG_DIR);
  return path.join(home, preset.folder);
}

const KEYING: Kind<Keying> = {
  expected: '"slug", "sha256-16" or { "name": "…" }',
  accept: (value) => {
    if (value === "slug" || value === "sha256-16") return value;
    const name = OBJECT.accept(value)?.name;
    return typeof name === "string" ? { name } : undefined;
  },
};

const TEXTS_BY_NAME: Kind<Record<string, string[]>> = {
  expected: "an object of lists of texts",
  accept: (value) => {
    const object = OBJECT.accept(value);
    const isListed = object && Object.values(object).every((list) => TEXTS.accept(list));
    return isListed ? (object as Record<string, string[]>) : undefined;
  },
};

interface OwnSettings {
  profile?: Profile;
  keying?: Keying;
  projectScope?: ProjectScope;
  scopeLayout?: Config["scopeLayout"];
  index?: Partial<Config["index"]>;
  ageDays?: Partial<Config["ageDays"]>;
  meaning?: Config["meaning"];
  team?: boolean;
  trusted?: Record<string, string>;
  directories?: Record<string, string>;
  teams?: Record<string, string>;
  approvedImports?: Record<string, string>;
  permitted?: Record<string, string[]>;
}

/** Keys that reach outside a repository: its own file may not set them. */
const USER_ONLY = [
  "profile",
  "keying",
  "team",
  "trusted",
  "directories",
  "teams",
  "approvedImports",
  "permitted",
  "learn",
  "hooks",
] as const;

function readOwn(file: JsonFile, source: "user" | "project"): OwnSettings {
  const own: OwnSettings = {
    projectScope: take(file, "projectScope", oneOf(["repository", "worktree", "cwd"])),
    scopeLayout: take(file, "scopeLayout", oneOf(["separate", "shared"])),
    index: readCounts(file, "index", ["maxLines", "maxChars"]),
    ageDays: readCounts(file, "ageDays", ["recent", "stale", "old"]),
    meaning: take(file, "meaning", { expected: '"off", "words" or "minilm"', accept: meaningOf }),
  };
  if (source === "project") {
    for (const key of USER_ONLY.filter((key) => file.values[key] !== undefined)) {
      file.problems.push(`${file.path}: "${key}" is not taken from a repository; set it in your own memdir.json`);
    }
    return own;
  }
  return {
    ...own,
    profile: take(file, "profile", { expected: `one of ${PROFILE_NAMES}`, accept: profileOf }),
    keying: take(file, "keying", KEYING),
    team: take(file, "team", BOOLEAN),
    trusted: take(file, "trusted", TEXT_BY_NAME),
    directories: take(file, "directories", TEXT_BY_NAME),
    teams: take(file, "teams", TEXT_BY_NAME),
    approvedImports: take(file, "approvedImports", TEXT_BY_NAME),
    permitted: take(file, "permitted", TEXTS_BY_NAME),
  };
}

function readCounts<K extends string>(file: JsonFile, key: string, names: readonly K[]): Partial<Record<K, number>> {
  const values = take(file, key, OBJECT) ?? {};
  const inner: JsonFile = { path: `${file.path}: ${key}`, values, problems: file.problems };
  const counts: Partial<Record<K, number>> = {};
  for (const name of names) {
    const count = take(inner, name, COUNT);
    if (count !== undefined) counts[name] = count;
  }
  return counts;
}

function ascending(days: Config["ageDays"], problems: string[]): Config["ageDays"] {
  if (days.recent <= days.stale && days.stale <= days.old) return days;
  problems.push(`"ageDays" of memdir.json must increase from recent to stale to old; the defaults are used`);
  return AGE_DAYS;
}

/** What a repository may put into the environment: switches, but never a path, which could be `~/.ssh`. */
const REPOSITORY_SWITCH = /^CLAUDE_CODE_(DISABLE_[A-Z_]+|SIMPLE|ADDITIONAL_DIRECTORIES_CLAUDE_MD)$/;
const PLACE = /^(MEMDIR_.*|CLAUDE_CONFIG_DIR|CLAUDE_MEMORY_DIR|CLAUDE_CODE_PROJECT_DIR_NAME|CLAUDE_.*_MEMORY_.*)$/;

function mergeEnv(env: Env, settings: Record<SettingSource, ClaudeSettings>, problems: string[]): Env {
  const merged: Record<string, string | undefined> = { ...env };
  for (const source of SETTING_SOURCES) {
    const { file, env: block = {} } = settings[source];
    for (const [name, value] of Object.entries(block)) {
      const allowed = source === "managed" || source === "user" || REPOSITORY_SWITCH.test(name);
      if (!allowed && PLACE.test(name)) problems.push(`${file}: env ${name} is not taken from a repository`);
      if (allowed && merged[name] === undefined) merged[name] = value;
    }
  }
  return merged;
}

/** The strongest source that sets it; on by default. */
function wantsGit(settings: Record<SettingSource, ClaudeSettings>): boolean {
  const source = SETTING_SOURCES.find((name) => settings[name].includeGitInstructions !== undefined);
  return source === undefined || settings[source].includeGitInstructions !== false;
}

/** In the client's order: environment, bare mode, remote without storage, settings, else on. */
function whyDisabled(env: Env, settings: Record<SettingSource, ClaudeSettings>): string | null {
  if (isOn(env.CLAUDE_CODE_DISABLE_AUTO_MEMORY)) return "CLAUDE_CODE_DISABLE_AUTO_MEMORY is set";
  if (isOff(env.CLAUDE_CODE_DISABLE_AUTO_MEMORY)) return null;
  if (isOn(env.CLAUDE_CODE_SIMPLE)) return "CLAUDE_CODE_SIMPLE is set";
  if (isOn(env.CLAUDE_CODE_REMOTE) && !env.CLAUDE_CODE_REMOTE_MEMORY_DIR) {
    return "CLAUDE_CODE_REMOTE is set without CLAUDE_CODE_REMOTE_MEMORY_DIR";
  }
  const source = SETTING_SOURCES.find((name) => settings[name].autoMemoryEnabled !== undefined);
  if (!source || settings[source].autoMemoryEnabled) return null;
  return `autoMemoryEnabled is false in ${settings[source].file}`;
}

export function isOn(value: string | undefined): boolean {
  return /^\s*(1|true|yes|on)\s*$/i.test(value ?? "");
}

function isOff(value: string | undefined): boolean {
  return /^\s*(0|false|no|off)\s*$/i.test(value ?? "");
}
