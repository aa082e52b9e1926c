/** What went wrong in hooks, which say nothing where they fail: a few lines in the user's cache, for `doctor` and the next session. */

import { closeSync, constants, fstatSync, lstatSync, openSync, renameSync, writeFileSync, writeSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import type { Env } from "../config.ts";
import { readTail } from "../disk/regular.ts";
import { cacheFolder, makeCacheFolder } from "./cache-folder.ts";

interface Fault {
  /** ISO time. */
  at: string;
  event: string;
  message: string;
}

/** Some hundreds of lines: what matters is that there are any, and the last ones. */
const MAX_BYTES = 64 * 1024;
const MAX_MESSAGE_CHARS = 300;

/** Must not throw: where nothing can be written, nothing is noted. */
export function noteFault(env: Env, { at, event, error }: { at: Date; event: string; error: unknown }): void {
  // A host that went away without listening is no fault of ours.
  if ((error as NodeJS.ErrnoException)?.code === "EPIPE") return;
  const fault: Fault = { at: at.toISOString(), event: event.slice(0, 40), message: describe(error, env) };
  append(env, JSON.stringify(fault));
}

/** Oldest first. Lines that cannot be read are passed over. Must not throw. */
export function readFaults(env: Env): Fault[] {
  return readLines(env).flatMap((line) => ("told" in line ? [] : [line]));
}

/** Those that no session was told of yet. */
export function readNewFaults(env: Env): Fault[] {
  const lines = readLines(env);
  const last = lines.findLastIndex((line) => "told" in line);
  return lines.slice(last + 1).flatMap((line) => ("told" in line ? [] : [line]));
}

/** From now on only what comes after is new. */
export function markTold(env: Env, at: Date): void {
  append(env, JSON.stringify({ told: true, at: at.toISOString() }));
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

const APPEND =
  constants.O_WRONLY |
  constants.O_APPEND |
  constants.O_CREAT |
  (constants.O_NOFOLLOW ?? 0) |
  (constants.O_NONBLOCK ?? 0);

function append(env: Env, line: string): void {
  try {
    makeCacheFolder(cacheFolder(env));
    const file = fileOf(env);
    if ((lstatSync(file, { throwIfNoEntry: false })?.size ?? 0) > MAX_BYTES) shorten(file);
    const fd = openSync(file, APPEND, 0o600);
    try {
      // The break in front keeps this line whole when an earlier writer died in the middle of its own.
      if (fstatSync(fd).isFile()) writeSync(fd, `\n${line}\n`);
    } finally {
      closeSync(fd);
    }
  } catch {
    // A home that cannot be written to.
  }
}

/** The newer half stays. */
function shorten(file: string): void {
  const kept = readTail(file, MAX_BYTES / 2);
  const temporary = `${file}.${process.pid}`;
  writeFileSync(temporary, kept.slice(kept.indexOf("\n") + 1), { mode: 0o600, flag: "wx" });
  renameSync(temporary, file);
}

function readLines(env: Env): (Fault | { told: true })[] {
  try {
    return readTail(fileOf(env), MAX_BYTES * 2)
      .split("\n")
      .flatMap(parseLine);
  } catch {
    return [];
  }
}

function parseLine(text: string): (Fault | { told: true })[] {
  if (text === "") return [];
  try {
    const { at, event, message, told } = JSON.parse(text) as Record<string, unknown>;
    if (told === true) return [{ told }];
    const isFault = typeof at === "string" && typeof event === "string" && typeof message === "string";
    return isFault && !Number.isNaN(Date.parse(at)) ? [{ at, event, message }] : [];
  } catch {
    return [];
  }
}

function fileOf(env: Env): string {
  return join(cacheFolder(env), "faults.jsonl");
}
