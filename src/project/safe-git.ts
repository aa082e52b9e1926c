/** How git is asked about a repository that may be anybody's: nothing of its settings is run, nothing is fetched, nothing is written. */

import type { Env } from "../config.ts";

/** The arguments before the command; `settings` are further ones of the form `key=value`. */
export function safeGitArgs(...settings: readonly string[]): string[] {
  return ["--no-pager", "--no-optional-locks", ...[...SETTINGS, ...settings].flatMap((setting) => ["-c", setting])];
}

const SETTINGS = [
  "core.fsmonitor=false",
  "core.hooksPath=/dev/null",
  // A bare repository that lies among the files of another one is no repository of the user's.
  "safe.bareRepository=explicit",
  // Names in other scripts as they are; what is dangerous in them is still quoted.
  "core.quotePath=false",
  "color.ui=false",
];

/** The environment, without what would point git elsewhere or run something. */
export function safeGitEnv(env: Env): Record<string, string | undefined> {
  const own = Object.entries(env).filter(([name]) => !PLACES.includes(name));
  return { ...Object.fromEntries(own), ...SAFE_ENV };
}

/** Set while git itself runs a program, as in a hook; they would point all commands at that repository. */
const PLACES = [
  "GIT_DIR",
  "GIT_WORK_TREE",
  "GIT_INDEX_FILE",
  "GIT_COMMON_DIR",
  "GIT_OBJECT_DIRECTORY",
  "GIT_PREFIX",
  "GIT_EXTERNAL_DIFF",
];

const SAFE_ENV = {
  GIT_TERMINAL_PROMPT: "0",
  GIT_OPTIONAL_LOCKS: "0",
  // Missing objects of a partial clone stay missing; versions that do not know the first heed the second.
  GIT_NO_LAZY_FETCH: "1",
  GIT_ALLOW_PROTOCOL: "none",
  LC_ALL: "C",
};
