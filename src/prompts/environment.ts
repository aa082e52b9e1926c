/** What a model is told of where it works: the `<env>` block, and the state of the git repository. */

/** Null and empty values are left out: a label without a value would only invite guesses. */
export interface Environment {
  cwd: string;
  isGitRepository: boolean;
  addedDirs: readonly string[];
  platform: string;
  osVersion: string | null;
  /** What the model is, in a few words. */
  model: string | null;
  /** Until when the model knows the world. */
  cutoff: string | null;
}

/** A repository as it was when a conversation began. */
export interface GitState {
  /** Null when HEAD is detached. */
  branch: string | null;
  /** Where changes are to end up; null when nothing tells. */
  defaultBranch: string | null;
  userName: string | null;
  /** In git's short format, "" when clean; null when it could not be read. */
  status: string | null;
  /** Whether there is more than `status` shows. */
  statusCut: boolean;
  /** Newest first, each "hash subject". */
  commits: readonly string[];
}

/** Equal input gives equal bytes. No date in it: it must stay the same from day to day. */
export function buildEnvironment(environment: Environment): string {
  const { cwd, isGitRepository, addedDirs, platform, osVersion, model, cutoff } = environment;
  const lines = [
    labelled("Working directory", cwd),
    `Is a git repository: ${isGitRepository ? "yes" : "no"}`,
    ...listed("Additional working directories", addedDirs),
    labelled("Platform", platform),
    labelled("OS version", osVersion),
    labelled("Model", model),
    labelled("Knowledge cut-off", cutoff),
  ];
  return `<env>\n${lines.filter((line) => line !== "").join("\n")}\n</env>`;
}

export function buildGitState(git: GitState): string {
  const names = [
    git.branch === null ? "Branch: none (HEAD is detached)" : labelled("Branch", git.branch),
    labelled("Default branch", git.defaultBranch),
    labelled("Git user", git.userName),
  ];
  return [
    "The git repository as it was when this conversation began. This is a snapshot and is not updated: run git to see the present state.",
    names.filter((line) => line !== "").join("\n"),
    statusOf(git),
    git.commits.length === 0 ? "Commits: none yet" : `Latest commits:\n${git.commits.map(oneLine).join("\n")}`,
  ].join("\n\n");
}

/** What is said instead of a status without lines. */
const CLEAN = "(clean)";

function statusOf({ status, statusCut }: GitState): string {
  if (status === null) return "Status: could not be read; run `git status --short`";
  if (!statusCut) return `Status:\n${status === "" ? CLEAN : status}`;
  const note = "(cut here, there is more: run `git status --short` to see all of it)";
  return `Status:\n${status === "" ? note : `${status}\n${note}`}`;
}

function listed(label: string, values: readonly string[]): string[] {
  const [first, ...more] = values.filter((value) => value !== "");
  if (first === undefined) return [];
  return [`${label}: ${oneLine(first)}`, ...more.map((value) => `  ${oneLine(value)}`)];
}

function labelled(label: string, value: string | null): string {
  return value === null || value.trim() === "" ? "" : `${label}: ${oneLine(value)}`;
}

/** A directory may be called anything. One with a line break in its name is shown as JSON, and none can end the block. */
function oneLine(value: string): string {
  const quoted = BREAKS.test(value) ? JSON.stringify(value).replace(UNESCAPED, escapeCharacter) : value;
  return quoted.replace(/<(?=\s*\/?\s*env\b)/gi, "&lt;");
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const BREAKS = /[\x00-\x1f\x7f-\x9f\u2028\u2029]/;
/** What JSON leaves as it is. */
const UNESCAPED = /[\x7f-\x9f\u2028\u2029]/g;

function escapeCharacter(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
