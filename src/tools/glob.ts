/** The Glob tool: finds files by name, newest first. */

import { type Dirent, readdirSync } from "node:fs";
import { isAbsolute, join, sep } from "node:path";
import { setImmediate } from "node:timers/promises";
import { lstatOrNull } from "../disk/fence.ts";
import { attempt } from "../errors.ts";
import { filled, required, text } from "../input.ts";
import type { Tool } from "../model/tool.ts";
import { literally, spread } from "../text/pattern.ts";
import { isPseudo, withFolder } from "./file.ts";
import { defineTool, fenced, findTarget, permitRead, showPath, type Workbench } from "./workbench.ts";

/** As many as Claude Code shows. */
const MAX_NAMES = 100;

/** Skipped unless named: what is in them is not the user's work. */
export const SKIPPED: readonly string[] = [".git", "node_modules"];

const FIELDS = { pattern: required(filled(text())), path: text() };

export function openGlob(bench: Workbench, limits = WALK_LIMITS): Tool {
  return defineTool("Glob", FIELDS, async ({ pattern: given, path }, call) => {
    const pattern = sep === "\\" ? given.replaceAll(sep, "/") : given;
    const { folder, rest } = splitPattern(pattern);
    if (rest.split(/[/{},]/).includes("..")) {
      throw bench.fence === null ? new Error("`..` can only stand at the start of a pattern") : fenced(bench);
    }
    const target = findTarget(bench, joinFolder(path || ".", folder));
    await permitRead(bench, call, target);
    if (isPseudo(target.real) || !lstatOrNull(target.real)?.isDirectory())
      throw new Error(`${target.shown} is not a folder`);
    const compiled = compilePattern(rest);
    const found: TimedFile[] = [];
    let cut = "";
    const files = walkFiles(target.real, {
      signal: call.signal,
      limits,
      enter: (parts) => {
        const name = parts.at(-1) ?? "";
        return compiled.mayHold(parts) && (!SKIPPED.includes(name) || compiled.names.has(name));
      },
      onCut: (reason) => {
        cut = reason;
      },
    });
    for await (const file of files) {
      // Within a fence links are ignored: they may lead out.
      if ((file.isLink && bench.fence !== null) || !compiled.matches(file.parts)) continue;
      // Here, where the walk's limit and pauses count.
      found.push({ path: join(target.path, ...file.parts), time: timeOf(file.path) });
    }
    return report(bench, pattern, found, cut);
  });
}

/** The folder that the pattern starts with, and the rest, which always has the last part. */
function splitPattern(pattern: string): { folder: string; rest: string } {
  const parts = pattern.split("/");
  const magic = parts.findIndex((part) => /[*?[{\\]/.test(part));
  const at = Math.min(magic < 0 ? parts.length - 1 : magic, parts.length - 1);
  const folder = parts.slice(0, at).join("/");
  return { folder: at > 0 && folder === "" ? "/" : folder, rest: parts.slice(at).join("/") };
}

function joinFolder(path: string, folder: string): string {
  if (folder === "") return path;
  return isAbsolute(folder) || folder === "~" || folder.startsWith("~/") ? folder : `${path}/${folder}`;
}

/** Zero for missing files. */
export function timeOf(path: string): number {
  return lstatOrNull(path)?.mtimeMs ?? 0;
}

interface TimedFile {
  path: string;
  time: number;
}

export function newestFirst(files: readonly TimedFile[]): string[] {
  return files.toSorted((a, b) => b.time - a.time || (a.path < b.path ? -1 : 1)).map(({ path }) => path);
}

function report(bench: Workbench, pattern: string, found: readonly TimedFile[], cut: string): string {
  const note = cut ? `\n[The search ended ${cut}; look in a smaller folder to see everything.]` : "";
  if (found.length === 0) {
    const hint = pattern.includes("/") || pattern.includes("**") ? "" : `; **/${pattern} looks in folders below, too`;
    return `no files match ${pattern}${hint}${note}`;
  }
  const names = newestFirst(found)
    .slice(0, MAX_NAMES)
    .map((path) => showPath(bench, path));
  const more = found.length - names.length;
  const rest = more > 0 ? `\n[${more.toLocaleString("en-US")} more files match; narrow the pattern to see them.]` : "";
  return names.join("\n") + rest + note;
}

/** A pattern with more alternatives is a mistake or an attack. */
const MAX_ALTERNATIVES = 1000;

/** Throws for a pattern with too many alternatives. */
export function compilePattern(text: string) {
  const globs = expandBraces(text.normalize("NFC")).map(parseGlob);
  return {
    /** `parts` are the names from the folder that the pattern starts in. */
    matches: (parts: readonly string[]) => globs.some((glob) => walkStates(glob, parts).has(glob.length)),
    /** Whether something below this folder could match. */
    mayHold: (parts: readonly string[]) =>
      globs.some((glob) => {
        const states = walkStates(glob, parts);
        states.delete(glob.length);
        return states.size > 0;
      }),
    /** The names that it spells out, to decide which skipped folders were meant. */
    names: new Set(globs.flat().flatMap((part) => (part === "**" ? [] : (part.literal ?? [])))),
  };
}

type Part = "**" | { test: RegExp /** The name that it spells out, if it does. */; literal: string | null };

/** The indexes of the parts that may come next; the number of parts when the glob can end here. No backtracking, so no pattern is slow. */
function walkStates(glob: readonly Part[], names: readonly string[]): Set<number> {
  let states = new Set<number>();
  enter(states, glob, 0);
  for (const name of names) {
    const next = new Set<number>();
    for (const state of states) {
      const part = glob[state];
      if (part === "**") enter(next, glob, state);
      else if (part?.test.test(name.normalize("NFC"))) enter(next, glob, state + 1);
    }
    states = next;
  }
  return states;
}

/** `**` also matches no folder at all. */
function enter(states: Set<number>, glob: readonly Part[], state: number): void {
  states.add(state);
  if (glob[state] === "**") enter(states, glob, state + 1);
}

function parseGlob(text: string): Part[] {
  const parts: Part[] = [];
  for (const name of text.split("/")) {
    if (name === "" || name === ".") continue;
    if (name !== "**") parts.push(parseName(name));
    else if (parts.at(-1) !== "**") parts.push("**");
  }
  // At the end it means everything inside, but not the folder itself.
  if (parts.at(-1) === "**") parts.push(parseName("*"));
  return parts;
}

/** Stars, one character, an escaped one, a class, anything else. */
const TOKEN = /\*+|\?|\\(.)|\[([!^]?)(.[^\]]*)\]|./gsu;

function parseName(name: string): Part {
  const pieces = [""];
  let literal: string | null = "";
  for (const [token, escaped, not, members] of name.matchAll(TOKEN)) {
    const isPlain = token !== "?" && members === undefined && !token.startsWith("*");
    literal = literal !== null && isPlain ? literal + (escaped ?? token) : null;
    if (token.startsWith("*")) pieces.push("");
    else if (isPlain) pieces[pieces.length - 1] += literally(escaped ?? token);
    else pieces[pieces.length - 1] += members ? `[${not && "^"}${members.replace(/[\\\][^]/g, "\\$&")}]` : ".";
  }
  // A class such as `[z-a]` matches nothing.
  return { test: attempt(() => new RegExp(spread(pieces), "su"), /(?!)/), literal };
}

/** Braces may be nested; a group without a comma is not a group. */
function expandBraces(text: string): string[] {
  const done: string[] = [];
  const open = [{ text, from: 0 }];
  for (let next = open.pop(); next; next = open.pop()) {
    const group = findGroup(next.text, next.from);
    if (!group) done.push(next.text);
    for (const choice of group?.choices.toReversed() ?? []) {
      const before = next.text.slice(0, group?.start);
      open.push({ text: before + choice + next.text.slice(group?.end), from: before.length });
    }
    if (done.length + open.length > MAX_ALTERNATIVES)
      throw new Error("the pattern has too many alternatives in braces");
  }
  return done;
}

function findGroup(text: string, from: number): { start: number; end: number; choices: string[] } | null {
  for (let start = text.indexOf("{", from); start >= 0; start = text.indexOf("{", start + 1)) {
    let depth = 0;
    const cuts = [start];
    for (let i = start; i < text.length; i++) {
      const c = text[i];
      if (c === "\\") i++;
      else if (c === "{") depth++;
      else if (c === "," && depth === 1) cuts.push(i);
      else if (c === "}" && --depth === 0) {
        cuts.push(i);
        if (cuts.length === 2) break;
        const choices = cuts.slice(1).map((cut, n) => text.slice((cuts[n] as number) + 1, cut));
        return { start, end: i + 1, choices };
      }
    }
  }
  return null;
}

// --- Walks the files below a folder, sorted by name: bounded in time and number, and without following links.

/** `parts` are the names from where the walk began. */
type Found = { path: string; parts: string[]; isLink: boolean };

interface WalkOptions {
  signal: AbortSignal;
  /** Whether to walk into a folder. */
  enter: (parts: readonly string[]) => boolean;
  limits: typeof WALK_LIMITS;
  /** Called with the reason when the walk ends before it has seen everything. */
  onCut: (reason: string) => void;
}

/** A large repository is walked completely; a home directory is not, and should not be. */
export const WALK_LIMITS = { maxEntries: 300_000, maxMs: 20_000 };

/** The event loop runs, and an abort is noticed, at least this often. */
const ENTRIES_PER_TURN = 500;

/** `top` must be a real path. Folders that cannot be read are skipped. */
export async function* walkFiles(top: string, { signal, enter, limits, onCut }: WalkOptions): AsyncGenerator<Found> {
  const started = performance.now();
  const open: string[][] = [[]];
  let entries = 0;
  let turn = 0;
  for (let parts = open.pop(); parts; parts = open.pop()) {
    const folders: string[][] = [];
    for (const entry of listFolder(join(top, ...parts))) {
      if (++entries > limits.maxEntries) return onCut(`after ${limits.maxEntries.toLocaleString("en-US")} entries`);
      if (entries - turn >= ENTRIES_PER_TURN) {
        turn = entries;
        await setImmediate();
        stopIfAborted(signal);
        if (performance.now() - started > limits.maxMs) return onCut(`after ${Math.ceil(limits.maxMs / 1000)} seconds`);
      }
      const below = [...parts, entry.name];
      if (entry.isDirectory()) {
        if (enter(below)) folders.push(below);
      } else if (entry.isFile() || entry.isSymbolicLink()) {
        yield { path: join(top, ...below), parts: below, isLink: entry.isSymbolicLink() };
      }
    }
    stopIfAborted(signal);
    open.push(...folders.reverse());
  }
}

export function stopIfAborted(signal: AbortSignal): void {
  if (signal.aborted) throw new Error("stopped by the user before it was done");
}

function listFolder(path: string): Dirent[] {
  const entries = attempt(() => withFolder(path, (folder) => readdirSync(folder, { withFileTypes: true })), []);
  return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
}
