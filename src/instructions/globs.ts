/** Patterns of `paths` rules, matched as Claude Code was seen to match them: like gitignore, with braces on top. */

/** A rule names a handful of file kinds; a pattern with more alternatives is a mistake or an attack, and matches nothing. */
const MAX_ALTERNATIVES = 1_000;
/** Characters made while expanding all patterns of one rule: a thousand alternatives of ordinary length fit twice. */
const MAX_EXPANDED_CHARACTERS = 200_000;

export interface Expanded {
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
  if (file === "" || file.startsWith("..") || file.startsWith("/") || file.startsWith("./")) return false;
  const parts = file.toLowerCase().split("/");
  // For each folder on the way and the file itself: did the last pattern that matched it take it?
  const taken = new Uint8Array(parts.length);
  for (const pattern of expandPatterns(patterns).patterns) {
    const glob = compile(pattern);
    if (!glob) continue;
    const end = glob.folderOnly ? parts.length - 1 : parts.length;
    for (const at of matchedParts(glob, parts)) {
      if (at < end) taken[at] = glob.negated ? 0 : 1;
    }
  }
  return taken.includes(1);
}

/** False when no file whatever can match, so that the author can be told. Braces must be expanded before. */
export function canMatch(pattern: string): boolean {
  const glob = compile(pattern);
  return glob !== null && !glob.negated;
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

/** What one UTF-16 unit of a name may be: itself, any one, any run, or one of a class. */
type Token = { kind: "unit"; unit: string } | { kind: "one" } | { kind: "run" } | CharacterClass;
interface CharacterClass {
  kind: "class";
  negated: boolean;
  ranges: [string, string][];
}
/** The tokens of one path part, or any number of parts. */
type Segment = Token[] | "**";

interface Glob {
  negated: boolean;
  folderOnly: boolean;
  segments: Segment[];
}

/** Null for a pattern that matches nothing: a comment, an open class, or parts that no relative path has (`.`, `..`, none). */
function compile(pattern: string): Glob | null {
  if (pattern.startsWith("#")) return null;
  const negated = pattern.startsWith("!");
  let body = negated ? pattern.slice(1) : pattern;
  const folderOnly = body.endsWith("/");
  if (folderOnly) body = body.slice(0, -1);
  const anchored = body.includes("/");
  if (body.startsWith("/")) body = body.slice(1);

  const segments: Segment[] = anchored ? [] : ["**"];
  const names = body.split("/");
  for (const [i, name] of names.entries()) {
    if (name === "" || name === "." || name === "..") return null;
    if (name === "**" && names.length > 1) {
      if (segments.at(-1) !== "**") segments.push("**");
      // At the end it stands for what is inside, not for the folder itself.
      if (i === names.length - 1) segments.push([{ kind: "run" }]);
      continue;
    }
    const tokens = tokenize(name);
    if (!tokens) return null;
    segments.push(tokens);
  }
  return { negated, folderOnly, segments };
}

function tokenize(name: string): Token[] | null {
  const tokens: Token[] = [];
  for (let i = 0; i < name.length; i++) {
    const c = name[i] as string;
    if (c === "*") {
      if (tokens.at(-1)?.kind !== "run") tokens.push({ kind: "run" });
    } else if (c === "?") tokens.push({ kind: "one" });
    else if (c === "[") {
      const read = readClass(name, i + 1);
      if (!read) return null;
      tokens.push(read.token);
      i = read.close;
    } else if (c === "\\") {
      i++;
      if (i === name.length) return null;
      tokens.push({ kind: "unit", unit: (name[i] as string).toLowerCase() });
    } else tokens.push({ kind: "unit", unit: c.toLowerCase() });
  }
  return tokens;
}

/** The class whose text starts at `from`, behind its bracket. Null when it is never closed. */
function readClass(name: string, from: number): { token: CharacterClass; close: number } | null {
  const negated = name[from] === "!" || name[from] === "^";
  const ranges: [string, string][] = [];
  let i = negated ? from + 1 : from;
  while (i < name.length && name[i] !== "]") {
    if (name[i] === "\\") i++;
    const low = name[i];
    if (low === undefined) return null;
    let high = low;
    const end = name[i + 2];
    if (name[i + 1] === "-" && end !== undefined && end !== "]") {
      high = end;
      i += 2;
    }
    ranges.push([low, high]);
    i++;
  }
  return i < name.length ? { token: { kind: "class", negated, ranges }, close: i } : null;
}

/**
 * The indexes of the parts at which the glob, read from the base, can end. All ends are found in one pass with the set of
 * segments that may come next, so that many `**` cost no more than parts times segments.
 */
function matchedParts(glob: Glob, parts: readonly string[]): number[] {
  const { segments } = glob;
  const ends: number[] = [];
  let states = new Set<number>();
  enter(states, segments, 0);
  for (const [at, part] of parts.entries()) {
    const next = new Set<number>();
    for (const state of states) {
      const segment = segments[state];
      if (segment === undefined) continue;
      if (segment === "**") enter(next, segments, state);
      else if (matchesName(segment, part)) enter(next, segments, state + 1);
    }
    if (next.size === 0) break;
    if (next.has(segments.length)) ends.push(at);
    states = next;
  }
  return ends;
}

/** `**` may stand for no part at all, so the segment behind it is open too. It never stands last. */
function enter(states: Set<number>, segments: readonly Segment[], state: number): void {
  states.add(state);
  if (segments[state] === "**") states.add(state + 1);
}

/** Going back to the last `*` only is enough, and keeps this at name times tokens. */
function matchesName(tokens: readonly Token[], name: string): boolean {
  let at = 0;
  let token = 0;
  let runToken = -1;
  let runAt = 0;
  while (at < name.length) {
    const t = tokens[token];
    if (t?.kind === "run") {
      runToken = token++;
      runAt = at;
    } else if (t && matchesUnit(t, name[at] as string)) {
      token++;
      at++;
    } else if (runToken >= 0) {
      token = runToken + 1;
      at = ++runAt;
    } else return false;
  }
  while (tokens[token]?.kind === "run") token++;
  return token === tokens.length;
}

function matchesUnit(token: Token, unit: string): boolean {
  if (token.kind === "unit") return token.unit === unit;
  if (token.kind !== "class") return true;
  const capital = unit.toUpperCase();
  // Some letters have no single capital: "ß" would become two.
  const upper = capital.length === 1 ? capital : unit;
  const inside = token.ranges.some(([low, high]) => (low <= unit && unit <= high) || (low <= upper && upper <= high));
  return inside !== token.negated;
}
