/** Inputs and sentences that several verbs share. */

import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { givenFileError, MemdirError } from "../errors.ts";
import { MEMORY_TYPES } from "../store/store.ts";
import { type Context, choice, flag, text } from "../verb.ts";

export const TYPE = choice(MEMORY_TYPES, "user, feedback, project or reference", "TYPE");
export const REDACT = flag("mask secrets instead of refusing");
export const REASON = text("a note for the journal");
export const NAME = text("a memory's name, file name, or file name without .md", "NAME");
export const YES = flag("do not ask for confirmation", { short: "y" });

interface Consent {
  "dry-run"?: boolean | undefined;
  yes?: boolean | undefined;
}

/** Whether a change that was shown is to be made: on a yes, or with `--yes`. Throws where there is no one to ask. */
export async function isAgreed(context: Context, input: Consent, question: string): Promise<boolean> {
  if (isBlind(context, input)) throw needsYes();
  return !input["dry-run"] && (input.yes === true || (await context.ask?.(question)) === true);
}

/** Whether a yes is needed, and there is no one to give it. */
export function isBlind({ ask }: Context, { "dry-run": isDry, yes }: Consent): boolean {
  return !isDry && !yes && ask === null;
}

export function needsYes(): MemdirError {
  return new MemdirError("usage", "nothing was changed: there is no terminal to ask on; --yes does it");
}

/** What the file holds that the user named with `option`. */
export function readNamedFile(option: string, file: string, cwd: string): Buffer {
  try {
    return readFileSync(resolve(cwd, file));
  } catch (error) {
    throw givenFileError(error, option, file);
  }
}

/**
 * Ends the process after so long, from a thread of its own: this one may be caught in a call that never returns. What is
 * killed loses nothing that was kept.
 */
export async function killAfter(ms: number): Promise<void> {
  const { Worker } = await import("node:worker_threads");
  new Worker(`setTimeout(() => process.kill(process.pid, "SIGKILL"), ${ms})`, { eval: true }).unref();
}
