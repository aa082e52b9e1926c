/** Settings of the hooks: what happens at the end of a turn, what is checked before a tool is called, how long anything may take. */

import { BOOLEAN, COUNT, type JsonFile, OBJECT, oneOf, take } from "./settings.ts";

/** Hooks may add 10,000 characters in all: what is longer, a host moves into a file. */
export const MAX_HOOK_CHARS = 9_500;

/** At the end of a turn: a process beside the session looks through it, the agent itself is asked to, nobody does. */
const STOP_MODES = ["detached", "continue", "off"] as const;
export type StopMode = (typeof STOP_MODES)[number];

export interface HookConfig {
  stop: StopMode;
  /** Whether transcripts are copied away before the host removes them. */
  archive: boolean;
  /** After so many milliseconds a hook begins nothing more that takes time. */
  deadlineMs: number;
  /** Whether rules with an `enforce` block deny calls. */
  enforce: boolean;
  /** Whether memories are exchanged with the team's server when a session starts and when a turn ends. */
  sync: boolean;
  /** Whether a model looks for memories beside a turn that has begun. */
  prefetch: boolean;
}

/** A person waits for every prompt: a second is what they forgive. */
export const HOOK_DEFAULTS: HookConfig = {
  stop: "detached",
  archive: false,
  deadlineMs: 1_000,
  enforce: true,
  sync: false,
  prefetch: false,
};

/** `file` is the user's own: a repository neither switches off the user's rules nor copies their conversations. */
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
