/** Patterns of `paths` rules, matched as Claude Code was seen to match them: like gitignore, with braces on top. */

import ignore from "ignore";

/** A rule names a handful of file kinds; a pattern with more alternatives is a mistake or an attack, and matches nothing. */
const MAX_ALTERNATIVES = 1_000;
/** Characters made while expanding all patterns of one rule: a thousand alternatives of ordinary length fit twice. */
const MAX_EXPANDED_CHARACTERS = 200_000;
/** `*`, `?` and classes in one pattern; with more, the expression made of it takes long to compile. */
const MAX_WILDCARDS = 32;
/**
 * `**` is tried at every folder, and that for every folder on the way: a pattern takes the number of folders to the power
 * of its `**` plus one. All patterns of a rule share these steps.
 */
const MAX_STEPS = 10_000_000;
/** No system opens a longer path. */
const MAX_PATH_LENGTH = 4_096;

interface Expanded {
  /** Without braces and without a trailing `/**`; empty ones are gone. */
  patterns: string[];
  /** As written: these have more alternatives than the budget allows and never match. */
  refused: string[];
}

/**
 * Whether `file` is named by the patterns. `file` is relative to the patterns' base, with `/` between its parts; what lies
 * outside the base (`../x`, `/x`) never matches.
 *
 * As in gitignore a pattern that matches a folder takes everything below it, a later pattern wins over an earlier one, and
 * `!x` cannot bring back what a matched folder holds.
 */
export function matchesPaths(patterns: readonly string[], file: string): boolean {
  if (file.startsWith("..") || file.length > MAX_PATH_LENGTH || !ignore.isPathValid(file)) return false;
  const depth = file.split("/").length;
  let steps = 0;
  const sound = expandPatterns(patterns).patterns.filter((pattern) => {
    if (!isSound(pattern)) return false;
    steps += depth ** pattern.split("**").length;
    return steps <= MAX_STEPS;
  });
  return ignore().add(sound).ignores(file);
}

/** False when no file whatever can match, so that the author can be told. Braces must be expanded before. */
export function canMatch(pattern: string): boolean {
  return !pattern.startsWith("!") && isSound(pattern);
}

/** Whether a pattern means something: no comment, no open class, no parts that no relative path has, not too many wildcards. */
function isSound(pattern: string): boolean {
  if (pattern.startsWith("#")) return false;
  const parts = pattern.replace(/^!/, "").replace(/\/$/, "").replace(/^\//, "").split("/");
  if (parts.some((part) => part === "" || part === "." || part === "..")) return false;
  if ((pattern.match(/\*+|[?[]/g)?.length ?? 0) > MAX_WILDCARDS) return false;
  // A class ends within its part of the path, and a backslash stands before something.
  return parts.every((part) => /^(?:\\.|\[(?:\\.|[^\]\\])*\]|[^[\\])*$/s.test(part));
}

/** The patterns as they are matched: one for each alternative in braces, in the order written. */
export function expandPatterns(patterns: readonly string[]): Expanded {
  const expanded: Expanded = { patterns: [], refused: [] };
  const budget = { characters: MAX_EXPANDED_CHARACTERS };
  for (const pattern of patterns) {
    const alternatives = expandBraces(pattern, budget);
    if (!alternatives) expanded.refused.push(pattern);
    for (const alternative of alternatives ?? []) {
      // `src/**` means `src`, and so is not anchored at the base.
      const kept = alternative.endsWith("/**") ? alternative.slice(0, -3) : alternative;
      if (kept !== "") expanded.patterns.push(kept);
    }
  }
  return expanded;
}

/**
 * A group reaches from the first `{` to the first `}` after it, so nested groups fall apart and match little; `{1..3}` has
 * one alternative, its own text; an empty group ends the expansion. Null when the budget does not suffice.
 */
function expandBraces(pattern: string, budget: { characters: number }): string[] | null {
  const done: string[] = [];
  const open = [pattern];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    budget.characters -= next.length;
    if (budget.characters < 0 || done.length + open.length >= MAX_ALTERNATIVES) return null;
    const from = next.indexOf("{");
    const to = from < 0 ? -1 : next.indexOf("}", from);
    if (to < 0 || to === from + 1) {
      done.push(next);
      continue;
    }
    const alternatives = next.slice(from + 1, to).split(",");
    if (alternatives.length > MAX_ALTERNATIVES) return null;
    for (const alternative of alternatives.reverse()) {
      open.push(next.slice(0, from) + alternative.trim() + next.slice(to + 1));
    }
  }
  return done;
}
