/** Settings files, Claude Code's and ours: JSON with every value checked; what is wrong is a problem, never an exception. */

import fs from "node:fs";
import path from "node:path";

export type SettingSource = "managed" | "local" | "project" | "user";
/** Strongest first. */
export const SETTING_SOURCES: readonly SettingSource[] = ["managed", "local", "project", "user"];

/** The keys of Claude Code's settings files that concern memory, instructions and commits; all others are left unread. */
export interface ClaudeSettings {
  /** Where it was read, for messages; the file need not exist. */
  file: string;
  autoMemoryEnabled?: boolean;
  autoMemoryDirectory?: string;
  memoryDir?: string;
  env?: Record<string, string>;
  claudeMdExcludes?: string[];
  additionalDirectories?: string[];
  enabledPlugins?: Record<string, boolean>;
  /** What commits and pull requests end with; "" is nothing. */
  attribution?: { commit?: string; pr?: string };
  /** The older switch for both. */
  includeCoAuthoredBy?: boolean;
  includeGitInstructions?: boolean;
}

export interface Places {
  claudeDir: string;
  managedDir: string;
  projectRoot: string;
  /** Which of the three count, as in Claude Code's `--setting-sources`; all when undefined. */
  sources: readonly ("user" | "project" | "local")[] | undefined;
}

export function readClaudeSettings(places: Places, problems: string[]): Record<SettingSource, ClaudeSettings> {
  const files = {
    user: path.join(places.claudeDir, "settings.json"),
    project: path.join(places.projectRoot, ".claude", "settings.json"),
    local: path.join(places.projectRoot, ".claude", "settings.local.json"),
  };
  const read = (source: "user" | "project" | "local"): ClaudeSettings => {
    const counts = places.sources?.includes(source) ?? true;
    // In the home directory the project's file is the user's: read twice, it would count as a repository's.
    const twice = source === "project" && files.project === files.user && (places.sources?.includes("user") ?? true);
    return counts && !twice ? pickSettings(openJson(files[source], problems)) : { file: files[source] };
  };
  const managed = path.join(places.managedDir, "managed-settings.json");
  const parts = [managed, ...listDropIns(path.join(places.managedDir, "managed-settings.d"))];
  const policy = parts.map((file) => pickSettings(openJson(file, problems))).reduce(overlay);
  return { managed: policy, local: read("local"), project: read("project"), user: read("user") };
}

/** Documented for administrators: later names win, hidden files are skipped. */
function listDropIns(dir: string): string[] {
  try {
    if (!fs.statSync(dir, { throwIfNoEntry: false })) return [];
    const names = fs.readdirSync(dir).filter((name) => name.endsWith(".json") && !name.startsWith("."));
    return names.sort().map((name) => path.join(dir, name));
  } catch {
    return [];
  }
}

function pickSettings(file: JsonFile): ClaudeSettings {
  if (Object.keys(file.values).length === 0) return { file: file.path };
  const permissions = take(file, "permissions", OBJECT) ?? {};
  const settings: ClaudeSettings = {
    file: file.path,
    autoMemoryEnabled: take(file, "autoMemoryEnabled", BOOLEAN),
    autoMemoryDirectory: take(file, "autoMemoryDirectory", TEXT),
    memoryDir: take(file, "memoryDir", TEXT),
    env: take(file, "env", ENV_BLOCK),
    claudeMdExcludes: take(file, "claudeMdExcludes", TEXTS),
    additionalDirectories: take({ ...file, values: permissions }, "additionalDirectories", TEXTS),
    enabledPlugins: take(file, "enabledPlugins", SWITCHES),
    attribution: readAttribution(file),
    includeCoAuthoredBy: take(file, "includeCoAuthoredBy", BOOLEAN),
    includeGitInstructions: take(file, "includeGitInstructions", BOOLEAN),
  };
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined)) as typeof settings;
}

function readAttribution(file: JsonFile): ClaudeSettings["attribution"] {
  const values = take(file, "attribution", OBJECT);
  if (!values) return undefined;
  const inner: JsonFile = { path: `${file.path}: attribution`, values, problems: file.problems };
  const [commit, pr] = [take(inner, "commit", TEXT), take(inner, "pr", TEXT)];
  return { ...(commit !== undefined && { commit }), ...(pr !== undefined && { pr }) };
}

function overlay(base: ClaudeSettings, top: ClaudeSettings): ClaudeSettings {
  const merged: ClaudeSettings = { ...base, ...top };
  if (base.env && top.env) merged.env = { ...base.env, ...top.env };
  if (base.enabledPlugins && top.enabledPlugins)
    merged.enabledPlugins = { ...base.enabledPlugins, ...top.enabledPlugins };
  if (base.attribution && top.attribution) merged.attribution = { ...base.attribution, ...top.attribution };
  for (const key of ["claudeMdExcludes", "additionalDirectories"] as const) {
    if (base[key] && top[key]) merged[key] = [...base[key], ...top[key]];
  }
  return merged;
}

export interface JsonFile {
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
    const values = OBJECT.accept(JSON.parse(text));
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

/** What a value must be, in words and as a check that returns undefined for anything else. */
export interface Kind<T> {
  expected: string;
  accept: (value: unknown) => T | undefined;
}

export function take<T>(file: JsonFile, key: string, kind: Kind<T>): T | undefined {
  const value = file.values[key];
  if (value === undefined || value === null) return undefined;
  const accepted = kind.accept(value);
  if (accepted === undefined) file.problems.push(`${file.path}: "${key}" must be ${kind.expected}; it is ignored`);
  return accepted;
}

export const BOOLEAN: Kind<boolean> = { expected: "true or false", accept: booleanOf };
const TEXT: Kind<string> = { expected: "a text", accept: textOf };
export const TEXTS: Kind<string[]> = {
  expected: "a list of texts",
  accept: (value) => (Array.isArray(value) && value.every((item) => typeof item === "string") ? value : undefined),
};
export const COUNT: Kind<number> = {
  expected: "a whole number above zero",
  accept: (value) => (Number.isSafeInteger(value) && (value as number) > 0 ? (value as number) : undefined),
};
export const OBJECT: Kind<Record<string, unknown>> = {
  expected: "an object",
  accept: (value) =>
    typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined,
};
export const TEXT_BY_NAME: Kind<Record<string, string>> = mapOf("texts", textOf);
const SWITCHES: Kind<Record<string, boolean>> = {
  expected: "an object",
  // Some values are lists of versions; only the plain switches concern us.
  accept: (value) => keep(value, booleanOf),
};
const ENV_BLOCK = mapOf("texts", (value) =>
  ["string", "number", "boolean"].includes(typeof value) ? String(value) : undefined,
);

export function oneOf<T extends string>(values: readonly T[]): Kind<T> {
  return { expected: `one of ${values.join(", ")}`, accept: (value) => values.find((item) => item === value) };
}

function mapOf<T>(what: string, accept: (value: unknown) => T | undefined): Kind<Record<string, T>> {
  return {
    expected: `an object of ${what}`,
    accept: (value) => {
      const kept = keep(value, accept);
      return kept && Object.keys(kept).length === Object.keys(value as object).length ? kept : undefined;
    },
  };
}

function keep<T>(value: unknown, accept: (value: unknown) => T | undefined): Record<string, T> | undefined {
  const object = OBJECT.accept(value);
  if (!object) return undefined;
  const entries = Object.entries(object).map(([key, item]) => [key, accept(item)] as const);
  return Object.fromEntries(entries.filter((entry): entry is readonly [string, T & {}] => entry[1] !== undefined));
}

function booleanOf(value: unknown): boolean | undefined {
  return typeof value === "boolean" ? value : undefined;
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

// --- Settings of the hooks: what happens at the end of a turn, what is checked before a tool is called, how long anything may take.

/** Hooks may add 10,000 characters in all: hosts move anything longer into a file. */
export const MAX_HOOK_CHARS = 9_500;

/** At the end of a turn: a background process extracts from it, the agent itself is asked to, or nothing happens. */
const STOP_MODES = ["detached", "continue", "off"] as const;
export type StopMode = (typeof STOP_MODES)[number];

export interface HookConfig {
  stop: StopMode;
  /** Whether transcripts are copied away before the host removes them. */
  archive: boolean;
  /** After so many milliseconds a hook starts no more work that takes time. */
  deadlineMs: number;
  /** Whether rules with an `enforce` block deny calls. */
  enforce: boolean;
  /** Whether memories are exchanged with the team's server when a session starts and when a turn ends. */
  sync: boolean;
  /** Whether a model searches for memories in the background of a turn. */
  prefetch: boolean;
}

/** People wait for every prompt: a second is acceptable. */
export const HOOK_DEFAULTS: HookConfig = {
  stop: "detached",
  archive: false,
  deadlineMs: 1_000,
  enforce: true,
  sync: false,
  prefetch: false,
};

/** `file` is the user's own: a repository must not switch off the user's rules or copy their conversations. */
export function readHookConfig(file: JsonFile): HookConfig {
  const values = take(file, "hooks", OBJECT) ?? {};
  const own: JsonFile = { path: `${file.path}: hooks`, values, problems: file.problems };
  return {
    stop: take(own, "stop", oneOf(STOP_MODES)) ?? HOOK_DEFAULTS.stop,
    archive: take(own, "archive", BOOLEAN) ?? HOOK_DEFAULTS.archive,
    deadlineMs: take(own, "deadlineMs", COUNT) ?? HOOK_DEFAULTS.deadlineMs,
    enforce: take(own, "enforce", BOOLEAN) ?? HOOK_DEFAULTS.enforce,
    sync: take(own, "sync", BOOLEAN) ?? HOOK_DEFAULTS.sync,
    prefetch: take(own, "prefetch", BOOLEAN) ?? HOOK_DEFAULTS.prefetch,
  };
}

// --- Settings of learning: what may be written by itself, how often, and what it may cost.

/** What happens with what was learnt: nothing is extracted, nothing is written, the user decides, it is saved. */
export const LEARN_MODES = ["off", "read-only", "inbox", "auto"] as const;
export type LearnMode = (typeof LEARN_MODES)[number];

/** Per million tokens, in the user's currency. */
export interface Price {
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
}

export interface LearnConfig {
  /** For the user's own scopes. */
  mode: LearnMode;
  /** For the team's scope, which others read. */
  teamMode: LearnMode;
  /** Extraction after every so many turns. */
  everyTurns: number;
  /** For background work; the user's own prompts are not counted and never refused. */
  tokensPerDay: number;
  tokensPerSession: number;
  /** Null: no limit in money. */
  costPerDay: number | null;
  /** By provider and model, `*` matches anything. */
  prices: Readonly<Record<string, Price>>;
  /** Whether notes are taken in long sessions. */
  notes: boolean;
}

/** About twenty extractions on a working day, and a long session's share of them. */
export const LEARN_DEFAULTS: LearnConfig = {
  mode: "auto",
  teamMode: "inbox",
  everyTurns: 1,
  tokensPerDay: 200_000,
  tokensPerSession: 50_000,
  costPerDay: null,
  prices: {},
  notes: true,
};

/** `file` is the user's own: a repository must not spend the user's money or decide what is remembered about them. */
export function readLearnConfig(file: JsonFile, env: Readonly<Record<string, string | undefined>>): LearnConfig {
  const values = take(file, "learn", OBJECT) ?? {};
  const own: JsonFile = { path: `${file.path}: learn`, values, problems: file.problems };
  const mode = take(own, "mode", oneOf(LEARN_MODES));
  return {
    mode: modeOf(env.MEMDIR_LEARN, file.problems) ?? mode ?? LEARN_DEFAULTS.mode,
    teamMode: take(own, "teamMode", oneOf(LEARN_MODES)) ?? LEARN_DEFAULTS.teamMode,
    everyTurns: take(own, "everyTurns", COUNT) ?? LEARN_DEFAULTS.everyTurns,
    tokensPerDay: take(own, "tokensPerDay", COUNT) ?? LEARN_DEFAULTS.tokensPerDay,
    tokensPerSession: take(own, "tokensPerSession", COUNT) ?? LEARN_DEFAULTS.tokensPerSession,
    costPerDay: take(own, "costPerDay", AMOUNT) ?? LEARN_DEFAULTS.costPerDay,
    prices: take(own, "prices", PRICES) ?? LEARN_DEFAULTS.prices,
    notes: take(own, "notes", BOOLEAN) ?? LEARN_DEFAULTS.notes,
  };
}

function modeOf(text: string | undefined, problems: string[]): LearnMode | undefined {
  const asked = text?.trim().toLowerCase();
  if (!asked) return undefined;
  const mode = LEARN_MODES.find((one) => one === asked) ?? (/^(0|false|no)$/.test(asked) ? "off" : undefined);
  if (!mode) problems.push(`MEMDIR_LEARN must be one of ${LEARN_MODES.join(", ")}; it is ignored`);
  return mode;
}

const AMOUNT: Kind<number> = {
  expected: "a number of at least zero",
  accept: (value) => (typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : undefined),
};

const PRICES: Kind<Record<string, Price>> = {
  expected: 'an object such as { "anthropic/*": { "input": 3, "output": 15, "cacheRead": 0.3, "cacheWrite": 3.75 } }',
  accept: (value) => {
    const object = OBJECT.accept(value);
    const entries = Object.entries(object ?? {}).map(([name, price]) => [name, priceOf(price)] as const);
    return object && entries.every(([, price]) => price)
      ? (Object.fromEntries(entries) as Record<string, Price>)
      : undefined;
  },
};

/** Cache prices that are not given are those of input. */
function priceOf(value: unknown): Price | null {
  const { input, output, cacheRead = input, cacheWrite = input } = OBJECT.accept(value) ?? {};
  const price = { input, output, cacheRead, cacheWrite };
  return Object.values(price).every((part) => AMOUNT.accept(part) !== undefined) ? (price as Price) : null;
}
