/** What went wrong in hooks, which say nothing where they fail: a few lines in the user's cache, for `doctor` and the next session. */

import { homedir } from "node:os";
import type { Env } from "../config.ts";
import { openStateIn, quietly, type StateLog } from "../store/store.ts";
import { cacheFolder, makeCacheFolder } from "./cache-folder.ts";

interface Fault {
  /** ISO time. */
  at: string;
  event: string;
  message: string;
}

const MAX_MESSAGE_CHARS = 300;

/** Must not throw: where nothing can be written, nothing is noted. */
export function noteFault(env: Env, { at, event, error }: { at: Date; event: string; error: unknown }): void {
  // A host that went away without listening is no error of ours.
  if ((error as NodeJS.ErrnoException)?.code === "EPIPE") return;
  const fault: Fault = { at: at.toISOString(), event: event.slice(0, 40), message: describe(error, env) };
  append(env, fault);
}

/** Oldest first. Lines that cannot be read are passed over. Must not throw. */
export function readFaults(env: Env): Fault[] {
  return logOf(env)
    .read()
    .flatMap((line) => ("told" in line ? [] : [line]));
}

/** Those that no session was told of yet. */
export function readNewFaults(env: Env): Fault[] {
  const lines = logOf(env).read();
  const last = lines.findLastIndex((line) => "told" in line);
  return lines.slice(last + 1).flatMap((line) => ("told" in line ? [] : [line]));
}

/** From now on only what comes after is new. */
export function markTold(env: Env, at: Date): void {
  append(env, { told: true, at: at.toISOString() });
}

/**
 * What may be kept of an error: a parser quotes the text that it was given, which may hold anything, and a path tells of
 * other people's folders.
 */
export function describe(error: unknown, env: Env): string {
  const { name = "Error", message = "" } = error instanceof Error ? error : { message: String(error) };
  const home = env.HOME || env.USERPROFILE || homedir();
  const text = name === "SyntaxError" ? "what was read is no JSON" : message;
  return `${name === "Error" ? "" : `${name}: `}${text.split("\n")[0]}`
    .replaceAll(home, "~")
    .replace(/(?<![~\w.])(?:[A-Za-z]:)?[\\/][^\s'"`:,;]*[\\/]([^\s'"`:,;\\/]+)/g, "…/$1")
    .replace(/"[^"]*"/g, '"…"')
    .slice(0, MAX_MESSAGE_CHARS)
    .toWellFormed();
}

function append(env: Env, line: object): void {
  quietly(() => {
    makeCacheFolder(cacheFolder(env));
    logOf(env).append([line]);
  });
}

function logOf(env: Env): StateLog<Fault | { told: true }> {
  return openStateIn(cacheFolder(env)).log("faults.jsonl", parse);
}

function parse(value: unknown): Fault | { told: true } | null {
  const { at, event, message, told } = value as Record<string, unknown>;
  if (told === true) return { told };
  const isFault = typeof at === "string" && typeof event === "string" && typeof message === "string";
  return isFault && !Number.isNaN(Date.parse(at)) ? { at, event, message } : null;
}
