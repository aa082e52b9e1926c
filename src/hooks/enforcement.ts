/** Whether a call of a tool breaks a rule that the user wants enforced. */

import { join, relative, resolve, sep } from "node:path";
import { createContext, Script } from "node:vm";
import { realPath } from "../disk/fence.ts";
import { matchesPaths } from "../instructions/rule-paths.ts";
import { compilePattern, matchesTool } from "../store/store.ts";
import { commandOf, isPatch, namedFiles, patchOf, type ToolCall, usualName, WRITERS } from "./event.ts";
import type { Rule } from "./rules.ts";

interface Enforcement {
  /** What relative paths are relative to. */
  cwd: string;
  /** What the globs of rules are relative to. */
  root: string;
  /** What `~` in a glob means. */
  home: string;
  /** Called for a rule that took too long and was skipped. */
  onSkip: (rule: Rule) => void;
  /** Whether time is up for the rules of others, who may bring any number of slow ones. The user's own are always checked. */
  isLate: () => boolean;
  /** Whether the user made or accepted it. Nothing else of a rule is looked at before. */
  isInForce: (rule: Rule) => boolean;
}

/** A good expression takes microseconds; one that tries every way to split a text would take years. */
const PATTERN_MS = 100;
/** How often to try again on a machine so busy that a process gets no time within a tenth of a second. */
const MAX_ATTEMPTS = 10;
/** More text than a model writes in one call. */
const MAX_TEXT_CHARS = 1 << 20;

/** The first rule that the call breaks. */
export function findBroken(rules: readonly Rule[], call: ToolCall, how: Enforcement): Rule | null {
  const usual = usualName(call.name);
  // A rule against Edit covers every tool that writes files, but not the other way round.
  const names = [usual, ...(WRITERS.has(usual) ? ["Edit"] : [])];
  const isMeant = (tool: string) =>
    matchesTool(tool, call.name) || names.some((name) => matchesTool(usualName(tool), name));
  const meant = rules.filter((rule) => rule.tools.some(isMeant) && how.isInForce(rule));
  if (meant.length === 0) return null;
  const text = textOf(usual, call.input).slice(0, MAX_TEXT_CHARS);
  const test = openTest();
  for (const rule of meant) {
    if (rule.isShared && how.isLate()) continue;
    if (isPath(rule, call, how) && isPattern(rule, text, test, how)) return rule;
  }
  return null;
}

/** The text that a pattern is tested on. */
function textOf(name: string, input: ToolCall["input"]): string {
  const { content, new_string: put, new_source: cell } = input;
  const known: unknown[] = name === "Bash" ? [commandOf(input)] : [];
  if (WRITERS.has(name))
    known.push(...namedFiles(input), content, put, cell, ...editsOf(input), addedIn(patchOf(input)));
  const texts = known.filter((value) => typeof value === "string");
  return texts.join("\n") || JSON.stringify(input) || "";
}

function editsOf({ edits }: ToolCall["input"]): unknown[] {
  return Array.isArray(edits) ? edits.map((edit) => (edit as { new_string?: unknown } | null)?.new_string) : [];
}

/** Added lines only, as for an edit: removed lines and context were there before. */
function addedIn(patch: string): string {
  if (!isPatch(patch)) return patch;
  const lines = patch.split("\n").filter((line) => line.startsWith("+"));
  return lines.map((line) => line.slice(1)).join("\n");
}

/** By its name and by its real path, so that links make no difference. */
function isPath({ paths }: Rule, { input }: ToolCall, { cwd, root, home }: Enforcement): boolean {
  if (paths.length === 0) return true;
  const anywhere = paths.flatMap((path) => wholePath(path, home));
  return namedFiles(input).some((name) => {
    const file = resolve(cwd, name.startsWith("~/") ? join(home, name.slice(2)) : name);
    const ways = [relative(root, file), relative(realPath(root), realPath(file))];
    if (ways.some((way) => matchesPaths(paths, slashed(way)))) return true;
    return anywhere.length > 0 && [file, realPath(file)].some((each) => matchesPaths(anywhere, slashed(each)));
  });
}

/** The absolute form of a glob, if it may have one; with a leading slash it may also be relative to the project. */
function wholePath(glob: string, home: string): string[] {
  if (glob.startsWith("~/")) return [`/${slashed(home)}${glob.slice(1)}`];
  return glob.startsWith("/") ? [glob] : /^[A-Za-z]:[\\/]/.test(glob) ? [`/${slashed(glob)}`] : [];
}

/** As globs are matched: with `/` as separator, and without a leading one. */
function slashed(path: string): string {
  return path.split(sep).join("/").replace(/^\//, "");
}

type Test = (pattern: RegExp, text: string) => boolean;

function isPattern(rule: Rule, text: string, test: Test, { onSkip }: Enforcement): boolean {
  if (rule.pattern === null) return true;
  const pattern = compilePattern(rule.pattern);
  if (!pattern) return false;
  try {
    return test(pattern, text);
  } catch {
    onSkip(rule);
    return false;
  }
}

/** Throws when the time is up: an expression cannot be interrupted in any other way. */
function openTest(): Test {
  let script: Script | null = null;
  const box: { pattern: RegExp | null; text: string } = { pattern: null, text: "" };
  return (pattern, text) => {
    if (!script) createContext(box);
    script ??= new Script("pattern.test(text)");
    Object.assign(box, { pattern, text });
    for (let attempt = 1; ; attempt++) {
      const before = process.cpuUsage();
      try {
        return script.runInContext(box, { timeout: PATTERN_MS }) === true;
      } catch (error) {
        const { user, system } = process.cpuUsage(before);
        // The clock ran while the machine was busy with other processes, which says nothing about the expression.
        if ((user + system) / 1000 > PATTERN_MS / 2 || attempt === MAX_ATTEMPTS) throw error;
      }
    }
  };
}
