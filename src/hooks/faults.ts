/** Errors of hooks, which fail silently: a few lines in the user's cache, for `doctor` and the next session. */

import { existsSync, mkdirSync } from "node:fs";
import { homedir, userInfo } from "node:os";
import { dirname, isAbsolute, join } from "node:path";
import type { Env } from "../config.ts";
import type { Check } from "../memory/doctor.ts";
import { openStateIn, quietly, type StateLog } from "../store/store.ts";

interface Fault {
  /** ISO time. */
  at: string;
  event: string;
  message: string;
}

const MAX_MESSAGE_CHARS = 300;

/** Must not throw: if the cache cannot be written, nothing is recorded. */
export function noteFault(env: Env, { at, event, error }: { at: Date; event: string; error: unknown }): void {
  // The host closed the pipe without reading: not an error of ours.
  if ((error as NodeJS.ErrnoException)?.code === "EPIPE") return;
  append(env, { at: at.toISOString(), event: event.slice(0, 40), message: describe(error, env) });
}

/** Oldest first. Skips unreadable lines. Must not throw. */
export function readFaults(env: Env, lines = logOf(env).read()): Fault[] {
  return lines.flatMap((line) => ("told" in line ? [] : [line]));
}

/** Those that no session has reported yet. */
export function readNewFaults(env: Env): Fault[] {
  const lines = logOf(env).read();
  return readFaults(env, lines.slice(lines.findLastIndex((line) => "told" in line) + 1));
}

/** Only later errors are new from now on. */
export function markTold(env: Env, at: Date): void {
  append(env, { told: true, at: at.toISOString() });
}

/** What may be kept of an error: parsers quote their input, which may contain anything, and paths name private folders. */
export function describe(error: unknown, env: Env): string {
  const { name = "Error", message = "" } = error instanceof Error ? error : { message: String(error) };
  const home = env.HOME || env.USERPROFILE || homedir();
  const text = name === "SyntaxError" ? "the input is not JSON" : message;
  return `${name === "Error" ? "" : `${name}: `}${text.split("\n")[0]}`
    .replaceAll(home, "~")
    .replace(/(?<![~\w.])(?:[A-Za-z]:)?[\\/][^\s'"`:,;]*[\\/]([^\s'"`:,;\\/]+)/g, "…/$1")
    .replace(/"[^"]*"/g, '"…"')
    .slice(0, MAX_MESSAGE_CHARS)
    .toWellFormed();
}

function append(env: Env, line: Fault | { told: true; at: string }): void {
  quietly(() => {
    const folder = cacheFolder(env);
    // One by one: a missing home is not created, and Node's `recursive` never returns under an automounter.
    for (const each of [dirname(folder), folder]) if (!existsSync(each)) mkdirSync(each, { mode: 0o700 });
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

/** Always in the user's own folders: a relative path would lead into the project, and `homedir` gives back a HOME that is one. */
export function cacheFolder({ XDG_CACHE_HOME = "", HOME = "" }: Env): string {
  if (isAbsolute(XDG_CACHE_HOME)) return join(XDG_CACHE_HOME, "memdir");
  const home = [HOME, homedir()].find(isAbsolute) ?? userInfo().homedir;
  return join(home, ".cache", "memdir");
}

/** Older errors have been fixed, or would have occurred again. */
const RECENT_MS = 7 * 86_400_000;
const MAX_SHOWN = 3;

export function examineFaults(env: Env, now: Date): Check {
  const recent = readFaults(env).filter(({ at }) => now.getTime() - Date.parse(at) < RECENT_MS);
  if (recent.length === 0) return { name: "hooks", ok: true, detail: "none failed in the last seven days", fix: null };
  const last = recent.slice(-MAX_SHOWN).map(({ at, event, message }) => {
    return `${at.slice(0, 16).replace("T", " ")} ${event || "no event"}: ${message}`;
  });
  return {
    name: "hooks",
    ok: false,
    detail: `${recent.length} failed in the last seven days, the last: ${last.reverse().join("; ")}`,
    fix: "fix what the message names; if it is one of memdir's own files, install memdir again",
  };
}
