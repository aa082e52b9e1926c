/** Every setting in one table, and what counts: defaults < user file < project file < environment. The only reader of process.env. */

import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { attempt, isObject, MemdirError } from "./errors.ts";
import type { Env } from "./world.ts";

export type { Env };
export type SettingSource = "managed" | "local" | "project" | "user";
/** Strongest first. */
export const SETTING_SOURCES: readonly SettingSource[] = ["managed", "local", "project", "user"];

/** Hooks may add 10,000 characters in all: hosts move anything longer into a file. */
export const MAX_HOOK_CHARS = 9_500;

// --- What a value must be, in words and as a check that returns undefined for anything else.

interface Kind<T> {
  expected: string;
  accept: (value: unknown) => T | undefined;
}

type Accept<T> = Kind<T>["accept"];

const booleanOf: Accept<boolean> = (value) => (typeof value === "boolean" ? value : undefined);
const textOf: Accept<string> = (value) => (typeof value === "string" ? value : undefined);
const textsOf: Accept<string[]> = (value) =>
  Array.isArray(value) && value.every((item) => typeof item === "string") ? value : undefined;
const objectOf: Accept<Record<string, unknown>> = (value) => (isObject(value) ? value : undefined);
const amountOf: Accept<number> = (value) =>
  typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : undefined;

const BOOLEAN: Kind<boolean> = { expected: "true or false", accept: booleanOf };
const TEXT: Kind<string> = { expected: "a text", accept: textOf };
const TEXTS: Kind<string[]> = { expected: "a list of texts", accept: textsOf };
const OBJECT: Kind<Record<string, unknown>> = { expected: "an object", accept: objectOf };
const AMOUNT: Kind<number> = { expected: "a number of at least zero", accept: amountOf };
const COUNT: Kind<number> = {
  expected: "a whole number above zero",
  accept: (value) => (Number.isSafeInteger(value) && (value as number) > 0 ? (value as number) : undefined),
};
const TEXT_BY_NAME = mapOf("an object of texts", textOf);
const TEXTS_BY_NAME = mapOf("an object of lists of texts", textsOf);
const ENV_BLOCK = mapOf("an object of texts", (value) =>
  ["string", "number", "boolean"].includes(typeof value) ? String(value) : undefined,
);
/** Some values are lists of versions; only the plain switches concern us. */
const SWITCHES: Kind<Record<string, boolean>> = { expected: "an object", accept: (value) => keep(value, booleanOf) };

function oneOf<T extends string>(...values: readonly T[]): Kind<T> {
  return { expected: `one of ${values.join(", ")}`, accept: (value) => values.find((item) => item === value) };
}

function mapOf<T>(expected: string, accept: Accept<T>): Kind<Record<string, T>> {
  const whole = (value: unknown) => {
    const kept = keep(value, accept);
    return kept && Object.keys(kept).length === Object.keys(value as object).length ? kept : undefined;
  };
  return { expected, accept: whole };
}

function keep<T>(value: unknown, accept: Accept<T>): Record<string, T> | undefined {
  const entries = Object.entries(objectOf(value) ?? {}).map(([key, item]) => [key, accept(item)] as const);
  return objectOf(value) && (Object.fromEntries(entries.filter(([, item]) => item !== undefined)) as Record<string, T>);
}

/** Per million tokens, in the user's currency. */
export interface Price {
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
}

/** Cache prices that are not given are those of input. */
function priceOf(value: unknown): Price | undefined {
  const { input, output, cacheRead = input, cacheWrite = input } = objectOf(value) ?? {};
  const price = { input, output, cacheRead, cacheWrite };
  return Object.values(price).every((part) => amountOf(part) !== undefined) ? (price as Price) : undefined;
}

const PRICES = mapOf(
  'an object such as { "anthropic/*": { "input": 3, "output": 15, "cacheRead": 0.3, "cacheWrite": 3.75 } }',
  priceOf,
);

export type Keying = "slug" | "sha256-16" | { name: string };

const KEYING: Kind<Keying> = {
  expected: '"slug", "sha256-16" or { "name": "…" }',
  accept: (value) => {
    if (value === "slug" || value === "sha256-16") return value;
    const name = textOf(objectOf(value)?.name);
    return name === undefined ? undefined : { name };
  },
};

/** Earlier versions had two ways to find the meaning of a prompt, by these names. */
const FORMER_MEANINGS: ReadonlySet<unknown> = new Set(["words", "minilm"]);

function meaningOf(value: unknown): boolean | undefined {
  if (FORMER_MEANINGS.has(value)) return true;
  return typeof value === "string" ? switchOf(value) : booleanOf(value);
}

// --- The table. docs/configuration.md is made of it.

export interface Setting<T> {
  kind: Kind<T>;
  /** What counts where nothing sets it. */
  value: T;
  says: string;
  /** The environment variable that overrides it. */
  variable?: string | undefined;
}

function setting<T>(kind: Kind<T>, value: NoInfer<T>, says: string, variable?: string): Setting<T> {
  return { kind, value, says, variable };
}

export type SettingTable = { readonly [name: string]: Setting<unknown> | SettingTable };
type Values<Table> = { [Name in keyof Table]: Table[Name] extends Setting<infer T> ? T : Values<Table[Name]> };

const PROJECT_SCOPE = oneOf("repository", "worktree", "cwd");
/** What happens with what was learnt: nothing is extracted, nothing is written, the user decides, it is saved. */
const LEARN_MODE = oneOf("off", "read-only", "inbox", "auto");

const TEAM_MODE = oneOf("off", "read-only", "inbox");

/** What a repository's own file may set, too. */
const SHARED = {
  projectScope: setting<ProjectScope | null>(
    PROJECT_SCOPE,
    null,
    "What shares one memory directory; the profile decides by default.",
  ),
  scopeLayout: setting(oneOf("separate", "shared"), "separate", "Whether every agent has its own directory."),
  index: {
    maxLines: setting(COUNT, 200, "How many lines of MEMORY.md the client loads."),
    maxChars: setting(COUNT, 25_000, "How many characters of MEMORY.md the client loads, in UTF-16 units."),
  },
  ageDays: {
    recent: setting(COUNT, 2, "The age in whole days at which a memory is no longer fresh."),
    stale: setting(COUNT, 8, "The age at which it is called stale."),
    old: setting(COUNT, 31, "The age at which it is called old."),
  },
  meaning: setting(
    { expected: "true or false", accept: meaningOf },
    true,
    "Whether recall uses the meaning of a prompt as well as its words.",
    "MEMDIR_MEANING",
  ),
} satisfies SettingTable;

/** What reaches outside of a repository, spends money or decides what is remembered about the user: theirs alone. */
const PRIVATE = {
  profile: setting(
    oneOf("claude", "code-assist", "mini-claude", "own"),
    "claude",
    "Whose folders and names are used.",
    "MEMDIR_PROFILE",
  ),
  keying: setting<Keying | null>(KEYING, null, "How a project's folder is named; the profile decides by default."),
  team: setting(BOOLEAN, true, "Whether the team's directory is included when all scopes are listed.", "TEAMMEM"),
  trusted: setting(TEXT_BY_NAME, {}, "By project: the one outside directory that its repository may choose."),
  directories: setting(TEXT_BY_NAME, {}, "By project: a folder name to use instead of its own, if two collide."),
  teams: setting(TEXT_BY_NAME, {}, "By project: the URL where its team shares memories."),
  approvedImports: setting(TEXT_BY_NAME, {}, "By project: when you allowed its instructions to import from outside."),
  acceptedRules: setting(TEXTS_BY_NAME, {}, "By project: which of its team's rules are enforced, by content."),
  refusedRules: setting(TEXTS_BY_NAME, {}, "By project: which of them you refused, and are not asked about again."),
  permitted: setting(TEXTS_BY_NAME, {}, "By project: what the agent's tools may do without asking."),
  learn: {
    mode: setting(LEARN_MODE, "auto", "What happens to what was learnt, for your own scopes.", "MEMDIR_LEARN"),
    teamMode: setting(
      TEAM_MODE,
      "inbox",
      "The same for the team's scope, which others read: nothing is saved there without you.",
    ),
    everyTurns: setting(COUNT, 1, "After how many turns to extract."),
    // About twenty extractions on a working day, and a long session's share of them.
    tokensPerDay: setting(
      COUNT,
      200_000,
      "The limit for background work; your own prompts are neither counted nor refused.",
    ),
    tokensPerSession: setting(COUNT, 50_000, "The same, per session."),
    costPerDay: setting<number | null>(AMOUNT, null, "A limit in money, based on `prices`."),
    prices: setting(PRICES, {}, "Prices per million tokens, by provider and model; `*` matches anything."),
    model: setting<string | null>(
      TEXT,
      null,
      "The model for background learning: `claude-code`, `codex`, `gemini-cli` or `opencode/PROVIDER/MODEL` with its own login, or a provider's model; `off` for none. Without one, it learns offline.",
      "MEMDIR_MODEL",
    ),
    notes: setting(BOOLEAN, true, "Whether to take notes in long sessions."),
  },
  hooks: {
    stop: setting(
      oneOf("detached", "continue", "off"),
      "detached",
      "At the end of a turn, a background process extracts from it (detached), the agent itself is asked to (continue), or nothing happens (off).",
    ),
    archive: setting(BOOLEAN, false, "Whether to copy transcripts before the host removes them."),
    // People wait for every prompt: a second is acceptable.
    deadlineMs: setting(COUNT, 1_000, "After this many milliseconds, a hook starts no more work that takes time."),
    enforce: setting(BOOLEAN, true, "Whether rules with an `enforce` block deny calls."),
    sync: setting(BOOLEAN, false, "Whether sessions sync with the team's server."),
    prefetch: setting(BOOLEAN, false, "Whether a model searches for memories in the background during a turn."),
  },
} satisfies SettingTable;

export const SETTINGS = { shared: SHARED as SettingTable, private: PRIVATE as SettingTable };

export type LearnConfig = Values<typeof PRIVATE>["learn"];
export type LearnMode = LearnConfig["mode"];
export type HookConfig = Values<typeof PRIVATE>["hooks"];
export type Profile = Values<typeof PRIVATE>["profile"];
export type ProjectScope = "repository" | "worktree" | "cwd";

/** The settings in effect. Those that the profile decides are never null here. */
export interface Config extends Omit<Values<typeof SHARED & typeof PRIVATE>, "keying" | "projectScope"> {
  /** The user's home directory. */
  home: string;
  /** `~/.claude`, or CLAUDE_CONFIG_DIR or the profile's own directory instead. */
  claudeDir: string;
  /** Where an administrator's settings and instructions are, such as `/etc/claude-code`. */
  managedDir: string;
  /** memdir's own settings file of the user, which also holds what the user approved. */
  userFile: string;
  /** How the folder name of a project's memories is made: from its path, from a hash of it, or fixed. */
  keying: Keying;
  /** What counts as one project: the repository with all its worktrees, one worktree, or the working directory. */
  projectScope: ProjectScope;
  /** The folder below the project's folder that holds the memories; code-assist has none. */
  memoryFolder: "memory" | "";
  /** Whether the model is told the state of the git repository. */
  gitInstructions: boolean;
  /** What was read from each settings file of Claude Code. */
  settings: Readonly<Record<SettingSource, ClaudeSettings>>;
  /** The environment as given, then the `env` blocks of settings for names that it lacks. */
  env: Env;
  /** Why Claude Code's auto memory is off, else null. */
  disabled: string | null;
  /** True when it is off only because the repository's own settings say so. The user's rules are still enforced then. */
  disabledByRepository: boolean;
  /** True when instruction files and the index are switched off (CLAUDE_CODE_DISABLE_CLAUDE_MDS or CLAUDE_CODE_SIMPLE). */
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
  settingSources?: readonly ("user" | "project" | "local")[] | undefined;
  platform?: NodeJS.Platform;
}

export function processEnv(): Env {
  return process.env;
}

/** Throws `usage` for a user without one, as containers with a bare user id have it. */
export function homeOf(env: Env): string {
  const home = env.HOME || env.USERPROFILE || attempt(os.homedir, "");
  if (home) return home;
  throw new MemdirError("usage", "this user has no home directory; set HOME to a folder for settings and memories");
}

/** Must not throw but where there is no home: what is wrong with a file or a value goes to `problems`, and the default is used. */
export function readConfig(options: ConfigOptions): Config {
  const { cwd, env, projectRoot, platform = process.platform } = options;
  const problems: string[] = [];
  const home = homeOf(env);

  const asked = fromEnv(env, "MEMDIR_PROFILE", PRIVATE.profile.kind, problems);
  const userFile = path.join(claudeDirOf(asked ?? "claude", home, cwd, env), "memdir.json");
  const user = openJson(userFile, problems);
  const own = settle(PRIVATE, [user]);
  const profile = asked ?? own.profile;
  const preset = PROFILES[profile];
  const claudeDir = claudeDirOf(profile, home, cwd, env);
  const managedDir = env.MEMDIR_MANAGED_DIR || preset.managedDir || MANAGED_DIRS[platform] || "/etc/claude-code";

  // In the home directory the project's file is the user's.
  const projectFile = path.join(projectRoot, ".claude", "memdir.json");
  const project = projectFile === userFile ? [] : [openJson(projectFile, problems)];
  const shared = settle(SHARED, [user, ...project]);
  for (const file of project) refusePrivate(file);
  const settings = readClaudeSettings({ ...options, claudeDir, managedDir }, problems);
  const effective = mergeEnv(env, settings, problems);
  const disabled = whyDisabled(effective, settings);
  const mode = fromEnv(env, "MEMDIR_LEARN", LEARN_MODE, problems) ?? own.learn.mode;

  return {
    ...own,
    ...shared,
    home,
    claudeDir,
    managedDir,
    userFile,
    profile,
    keying: own.keying ?? preset.keying,
    projectScope: shared.projectScope ?? preset.projectScope,
    memoryFolder: preset.memoryFolder,
    ageDays: ascending(shared.ageDays, problems),
    meaning: meaningOf(env.MEMDIR_MEANING) ?? shared.meaning,
    team: switchOf(env.TEAMMEM) ?? own.team,
    learn: { ...own.learn, mode, model: learnModelOf(env.MEMDIR_MODEL?.trim() || own.learn.model) },
    gitInstructions: !isOn(effective.CLAUDE_CODE_REMOTE) && (strongest(settings, "includeGitInstructions") ?? true),
    settings,
    env: effective,
    disabled,
    disabledByRepository: disabled !== null && isOnWithoutRepository(env, settings),
    claudeMdsDisabled: isOn(effective.CLAUDE_CODE_DISABLE_CLAUDE_MDS) || isOn(effective.CLAUDE_CODE_SIMPLE),
    problems,
  };
}

/** "off" is an answer, too: whoever gave it is not asked again. */
function learnModelOf(name: string | null | undefined): string | null {
  const wanted = name?.trim() ?? "";
  return wanted === "" || wanted.toLowerCase() === "off" ? null : wanted;
}

/** What the files say, the last one first, else the table's own value. */
function settle<Table extends SettingTable>(table: Table, files: readonly JsonFile[]): Values<Table> {
  const values = Object.entries(table).map(([name, each]) => {
    if (!isSetting(each)) {
      const parts = files.map((file) => inside(file, name));
      return [name, settle(each, parts)];
    }
    const given = files.map((file) => take(file, name, each.kind));
    return [name, given.findLast((value) => value !== undefined) ?? each.value];
  });
  return Object.fromEntries(values);
}

export function isSetting(each: Setting<unknown> | SettingTable): each is Setting<unknown> {
  return "kind" in each && "says" in each;
}

function refusePrivate({ path, values, problems }: JsonFile): void {
  for (const name of Object.keys(PRIVATE).filter((key) => values[key] !== undefined))
    problems.push(`${path}: "${name}" is not taken from a repository; set it in your own memdir.json`);
}

function fromEnv<T>(env: Env, name: string, kind: Kind<T>, problems: string[]): T | undefined {
  const asked = env[name]?.trim();
  if (!asked) return undefined;
  const value = kind.accept(asked.toLowerCase()) ?? kind.accept(switchOf(asked) === false ? "off" : undefined);
  if (value === undefined) problems.push(`${name} must be ${kind.expected}; it is ignored`);
  return value;
}

function ascending(days: Config["ageDays"], problems: string[]): Config["ageDays"] {
  if (days.recent <= days.stale && days.stale <= days.old) return days;
  problems.push(`"ageDays" of memdir.json must increase from recent to stale to old; the defaults are used`);
  return settle(SHARED.ageDays, []);
}

interface Preset extends Pick<Config, "keying" | "projectScope" | "memoryFolder"> {
  folder: string;
  movable: boolean;
  managedDir: string | null;
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

const MANAGED_DIRS: Partial<Record<NodeJS.Platform, string>> = {
  darwin: "/Library/Application Support/ClaudeCode",
  win32: "C:\\Program Files\\ClaudeCode",
};

function claudeDirOf(profile: Profile, home: string, cwd: string, env: Env): string {
  const preset = PROFILES[profile];
  if (preset.movable && env.CLAUDE_CONFIG_DIR) return path.resolve(cwd, env.CLAUDE_CONFIG_DIR);
  return path.join(home, preset.folder);
}

// --- Claude Code's settings files: the keys that concern memory, instructions and commits; all others are left unread.

const CLAUDE_KEYS = {
  autoMemoryEnabled: BOOLEAN,
  autoMemoryDirectory: TEXT,
  memoryDir: TEXT,
  env: ENV_BLOCK,
  claudeMdExcludes: TEXTS,
  enabledPlugins: SWITCHES,
  // The older switch for both texts of `attribution`.
  includeCoAuthoredBy: BOOLEAN,
  includeGitInstructions: BOOLEAN,
};
/** What commits and pull requests end with; "" is nothing. */
const ATTRIBUTION_KEYS = { commit: TEXT, pr: TEXT };

type Taken<Keys> = { [Key in keyof Keys]?: Keys[Key] extends Kind<infer T> ? T : never };

export interface ClaudeSettings extends Taken<typeof CLAUDE_KEYS> {
  /** Where it was read, for messages; the file need not exist. */
  file: string;
  attribution?: Taken<typeof ATTRIBUTION_KEYS>;
}

type ClaudePlaces = Pick<ConfigOptions, "projectRoot" | "settingSources"> & Pick<Config, "claudeDir" | "managedDir">;

function readClaudeSettings(places: ClaudePlaces, problems: string[]): Record<SettingSource, ClaudeSettings> {
  const { claudeDir, managedDir, projectRoot, settingSources: sources = ["user", "project", "local"] } = places;
  const files = {
    user: path.join(claudeDir, "settings.json"),
    project: path.join(projectRoot, ".claude", "settings.json"),
    local: path.join(projectRoot, ".claude", "settings.local.json"),
  };
  const read = (source: keyof typeof files): ClaudeSettings => {
    // In the home directory the project's file is the user's: read twice, it would count as a repository's.
    const twice = source === "project" && files.project === files.user && sources.includes("user");
    const counts = sources.includes(source) && !twice;
    return counts ? pickSettings(openJson(files[source], problems)) : { file: files[source] };
  };
  const parts = [path.join(managedDir, "managed-settings.json"), ...listDropIns(managedDir)];
  const policy = parts.map((file) => pickSettings(openJson(file, problems))).reduce(overlay);
  return { managed: policy, local: read("local"), project: read("project"), user: read("user") };
}

/** Documented for administrators: later names win, hidden files are skipped. */
function listDropIns(managedDir: string): string[] {
  const dir = path.join(managedDir, "managed-settings.d");
  const isThere = attempt(() => fs.statSync(dir, { throwIfNoEntry: false }) !== undefined, false);
  const names = isThere ? attempt(() => fs.readdirSync(dir), []) : [];
  const listed = names.filter((name) => name.endsWith(".json") && !name.startsWith("."));
  return listed.sort().map((name) => path.join(dir, name));
}

function pickSettings(file: JsonFile): ClaudeSettings {
  const attribution = inside(file, "attribution");
  return {
    file: file.path,
    ...takeAll(file, CLAUDE_KEYS),
    ...(objectOf(file.values.attribution) && { attribution: takeAll(attribution, ATTRIBUTION_KEYS) }),
  };
}

function takeAll<Keys extends Record<string, Kind<unknown>>>(file: JsonFile, keys: Keys): Taken<Keys> {
  const taken = Object.entries(keys).map(([key, kind]) => [key, take(file, key, kind)] as const);
  return Object.fromEntries(taken.filter(([, value]) => value !== undefined)) as Taken<Keys>;
}

/** Lists are joined, objects merged; else the top one counts. */
function overlay(base: ClaudeSettings, top: ClaudeSettings): ClaudeSettings {
  const before = base as unknown as Record<string, unknown>;
  const merged = Object.entries(top).map(([key, value]) => {
    const [a, b] = [textsOf(before[key]), textsOf(value)];
    if (a && b) return [key, [...a, ...b]];
    return [key, objectOf(value) ? { ...objectOf(before[key]), ...value } : value];
  });
  return { ...base, ...Object.fromEntries(merged) };
}

/** What the strongest source that sets it says. */
function strongest(settings: Config["settings"], key: "includeGitInstructions" | "autoMemoryEnabled") {
  return SETTING_SOURCES.map((source) => settings[source][key]).find((value) => value !== undefined);
}

/** What a repository may put into the environment: switches, but never a path, which could be `~/.ssh`. */
const REPOSITORY_SWITCH = /^CLAUDE_CODE_(DISABLE_[A-Z_]+|SIMPLE|ADDITIONAL_DIRECTORIES_CLAUDE_MD)$/;
const PLACE = /^(MEMDIR_.*|CLAUDE_CONFIG_DIR|CLAUDE_MEMORY_DIR|CLAUDE_CODE_PROJECT_DIR_NAME|CLAUDE_.*_MEMORY_.*)$/;

function mergeEnv(env: Env, settings: Config["settings"], problems: string[]): Env {
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

/** In the client's order: environment, bare mode, remote without storage, settings, else on. */
function whyDisabled(env: Env, settings: Config["settings"]): string | null {
  const isSwitched = switchOf(env.CLAUDE_CODE_DISABLE_AUTO_MEMORY);
  if (isSwitched !== undefined) return isSwitched ? "CLAUDE_CODE_DISABLE_AUTO_MEMORY is set" : null;
  if (isOn(env.CLAUDE_CODE_SIMPLE)) return "CLAUDE_CODE_SIMPLE is set";
  if (isOn(env.CLAUDE_CODE_REMOTE) && !env.CLAUDE_CODE_REMOTE_MEMORY_DIR) {
    return "CLAUDE_CODE_REMOTE is set without CLAUDE_CODE_REMOTE_MEMORY_DIR";
  }
  if (strongest(settings, "autoMemoryEnabled") !== false) return null;
  const source = SETTING_SOURCES.find((name) => settings[name].autoMemoryEnabled === false) as SettingSource;
  return `autoMemoryEnabled is false in ${settings[source].file}`;
}

/** Claude Code also puts the variables of its settings into the environment of what it starts: these are not the user's. */
function isOnWithoutRepository(env: Env, settings: Config["settings"]): boolean {
  const { managed, user, local, project } = settings;
  const isOwn = ([name, value]: [string, unknown]) =>
    [local, project].every(({ env: block }) => block?.[name] !== value);
  const own = { managed, user, local: { file: local.file }, project: { file: project.file } };
  return whyDisabled(mergeEnv(Object.fromEntries(Object.entries(env).filter(isOwn)), own, []), own) === null;
}

export function isOn(value: string | undefined): boolean {
  return switchOf(value) === true;
}

/** Undefined for what is no switch. */
function switchOf(value: string | undefined): boolean | undefined {
  if (/^\s*(1|true|yes|on)\s*$/i.test(value ?? "")) return true;
  return /^\s*(0|false|no|off)\s*$/i.test(value ?? "") ? false : undefined;
}

// --- JSON files with every value checked: what is wrong is a problem, never an exception.

interface JsonFile {
  path: string;
  values: Record<string, unknown>;
  problems: string[];
}

/** Settings files have a few kilobytes; anything larger is not one. */
const MAX_BYTES = 4 * 1024 * 1024;

/** A missing or empty file has no values. Must not throw. */
export function openJson(file: string, problems: string[]): JsonFile {
  const opened: JsonFile = { path: file, values: {}, problems };
  let text: string;
  try {
    // Most of these files do not exist, and creating an error takes far longer than returning undefined.
    const stat = fs.statSync(file, { throwIfNoEntry: false });
    if (!stat) return opened;
    if (!stat.isFile() || stat.size > MAX_BYTES) {
      problems.push(`${file}: ${stat.isFile() ? "larger than 4 MB" : "not a file"}; it is ignored`);
      return opened;
    }
    text = fs.readFileSync(file, "utf8").replace(/^\uFEFF/, "");
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? "unknown error";
    if (code !== "ENOENT" && code !== "ENOTDIR") problems.push(`${file}: cannot be read (${code}); it is ignored`);
    return opened;
  }
  if (text.trim() === "") return opened;
  try {
    const values = objectOf(JSON.parse(text));
    if (values) return { ...opened, values };
    problems.push(`${file}: must hold one JSON object; it is ignored`);
  } catch (error) {
    // As Claude Code does: it ignores a settings file with a comment or a trailing comma as a whole.
    const advice = "fix it (comments and trailing commas are not allowed); until then it is ignored";
    problems.push(`${file}: not valid JSON${placeOf(error, text)}; ${advice}`);
  }
  return opened;
}

/** The engine's message quotes the text, which may contain a key: only the line number is passed on. */
function placeOf(error: unknown, text: string): string {
  const position = /position (\d+)/.exec(String(error))?.[1];
  return position ? ` (line ${text.slice(0, Number(position)).split("\n").length})` : "";
}

function take<T>(file: JsonFile, key: string, kind: Kind<T>): T | undefined {
  const value = file.values[key];
  if (value === undefined || value === null) return undefined;
  const accepted = kind.accept(value);
  if (accepted === undefined) file.problems.push(`${file.path}: "${key}" must be ${kind.expected}; it is ignored`);
  return accepted;
}

/** The object under a key, as a file of its own. */
function inside(file: JsonFile, key: string): JsonFile {
  return { ...file, path: `${file.path}: ${key}`, values: take(file, key, OBJECT) ?? {} };
}
