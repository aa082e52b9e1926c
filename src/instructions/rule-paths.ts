/**
 * When a rule applies: the `paths` of its frontmatter, read and matched as Claude Code was seen to do it.
 *
 * The client reads YAML. Where that fails it puts quotes around the values that hold special characters, line by line, and
 * reads again; where that fails too there are no `paths`, and the rule is loaded at start.
 */

import ignore from "ignore";
import { type Field, keyEnd, parseDocument } from "../text/frontmatter.ts";

type RulePaths =
  /** No `paths`, or an empty one (a number, a map, `**`): loaded at start. */
  | { kind: "always" }
  /** Loaded on the first touch of a file that `matchesPaths(patterns, file)`. */
  | { kind: "when"; patterns: string[] }
  /** No file can match, so the client never loads it. */
  | { kind: "never"; problem: string };

/** Reports of each kind of bad pattern; a thousand alternatives in braces are one mistake. */
const MAX_REPORTED = 5;

/** A YAML value as far as `paths` needs it: texts, lists of them, and null for everything else. */
type Value = string | Value[] | null;

/** What a rule file's frontmatter says about when it applies. `text` is the whole file. Must not throw; `problems` say what to fix. */
export function readRulePaths(text: string): RulePaths & { problems: string[] } {
  const source = text.startsWith("\uFEFF") ? text.slice(1) : text;
  const frontmatter = /^---[ \t]*\r?\n([\s\S]*?)---(?:\s|$)/.exec(source)?.[1];
  if (frontmatter === undefined) {
    const isOpen = /^---[ \t]*\r?\n/.test(source) && /^paths:/m.test(source);
    const problem = "the frontmatter that begins in line 1 has no closing `---`; its `paths` is not seen";
    return { kind: "always", problems: isOpen ? [problem] : [] };
  }
  const { value, problems } = readPathsField(frontmatter);
  return decide(splitPatterns(value), problems);
}

function decide(patterns: string[], problems: string[]): RulePaths & { problems: string[] } {
  const expanded = expandPatterns(patterns);
  const dead = expanded.patterns.filter((pattern) => !pattern.startsWith("!") && !canMatch(pattern));
  const report = (bad: readonly string[], words: (pattern: string) => string) =>
    problems.push(...bad.slice(0, MAX_REPORTED).map((each) => `the pattern "${shorten(each)}" ${words(each)}`));
  const across = patterns.filter((pattern) => pattern.includes("\n"));
  report(expanded.refused, () => "has too many alternatives in braces and matches nothing");
  report(dead, (pattern) => `matches nothing${hint(pattern)}`);
  report(across, () => "spans lines; write a list, or commas between patterns");
  const isAll = expanded.refused.length === 0 && expanded.patterns.every((pattern) => pattern === "**");
  if (isAll) return { kind: "always", problems };
  if (expanded.patterns.some(canMatch)) return { kind: "when", patterns, problems };
  const problem = problems[0] ?? "`paths` only takes files out (`!`), it names none";
  return { kind: "never", problem, problems: problems.length > 0 ? problems : [problem] };
}

function hint(pattern: string): string {
  if (pattern.startsWith("./")) return `; write "${shorten(pattern.slice(2))}"`;
  if (pattern.startsWith("../")) return "; files above the rule's own directory are never matched";
  if (pattern.includes("[")) return '; a "[" is never closed';
  return "";
}

function shorten(pattern: string): string {
  const line = pattern.replaceAll(/\s+/g, " ");
  return line.length > 80 ? `${line.slice(0, 80)}…` : line;
}

/** Split at commas, except in braces; list items are split, too. */
function splitPatterns(value: Value): string[] {
  if (value === null) return [];
  if (typeof value !== "string") return value.flatMap(splitPatterns);
  const patterns: string[] = [];
  let depth = 0;
  let start = 0;
  for (let i = 0; i <= value.length; i++) {
    const c = value[i];
    if (c === "{") depth++;
    else if (c === "}") depth = Math.max(0, depth - 1);
    else if (c === undefined || (c === "," && depth === 0)) {
      patterns.push(value.slice(start, i).trim());
      start = i + 1;
    }
  }
  return patterns.filter((pattern) => pattern !== "");
}

function readPathsField(frontmatter: string): { value: Value; problems: string[] } {
  const strict = readStrictly(frontmatter);
  if (strict.problems.length === 0) return strict;
  const mended = readStrictly(quoteValues(frontmatter));
  if (mended.problems.length === 0) return { value: mended.value, problems: strict.problems };
  const isNamed = /^paths\s*:/m.test(frontmatter);
  const lost = isNamed ? ["`paths` could not be read, so the rule is loaded at start"] : [];
  return { value: null, problems: [...strict.problems, ...lost] };
}

const SPECIAL = /[{}[\]*&#!|>%@`]|: /;

/** Quotes values with characters that have a meaning in YAML. Lists and nested lines stay as they are. */
function quoteValues(frontmatter: string): string {
  const lines = frontmatter.split(/\r?\n/).map((line) => {
    const match = /^([A-Za-z_-]+):\s+(\S.*)$/.exec(line);
    const value = match?.[2];
    if (!match || value === undefined || /^(["']).*\1$/.test(value) || !SPECIAL.test(value)) return line;
    return `${match[1]}: "${value.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
  });
  return lines.join("\n");
}

/** The value of `paths`; with problems it is not YAML, and nothing in it counts. */
function readStrictly(frontmatter: string): { value: Value; problems: string[] } {
  const document = parseDocument(`---\n${frontmatter}\n---\n`);
  const problems = [...document.problems];
  let value: Value = null;
  for (const field of document.fields) {
    const read = field.indent === document.fields[0]?.indent ? readField(field, document.text) : undefined;
    if (read === undefined) problems.push(`"${shorten(field.key)}" is not valid YAML; put its value in quotes`);
    else if (field.key === "paths") value = read;
  }
  return { value, problems };
}

/** Undefined when this is not YAML: the lenient reader accepts more than the client does. */
function readField(field: Field, text: string): Value | undefined {
  const raw = text.slice(field.start, field.end);
  const newline = raw.indexOf("\n");
  const colon = keyEnd(newline < 0 ? raw : raw.slice(0, newline));
  // `key:value` is one text, not a key with a value.
  if (!/\s/.test(raw[colon + 1] ?? "\n")) return undefined;
  if (field.style === "quoted" || field.style === "block") return field.value as string;
  if (field.style === "plain") return readPlain(field.value as string, false);
  if (field.style === "map")
    return field.fields.every((inner) => readField(inner, text) !== undefined) ? null : undefined;
  if (field.style === "empty") return null;
  const rest = raw.slice(colon + 1).trim();
  if (rest.startsWith("[")) return readFlowList(rest.slice(1, rest.lastIndexOf("]")));
  return readBlockList(field.value as string[], raw.slice(colon + 1));
}

/** Items are already decoded; `raw` shows which were in quotes. */
function readBlockList(items: readonly string[], raw: string): Value | undefined {
  const marks = raw.split("\n").filter((line) => /^\s*-(\s|$)/.test(line));
  const depth = marks[0]?.indexOf("-");
  const starts = marks.filter((line) => line.indexOf("-") === depth).map((line) => line.trim().slice(1).trim());
  const values = items.map((item, i) => {
    if (/^["']/.test(starts[i] ?? "")) return item;
    if (item.startsWith("[") && item.endsWith("]")) return readFlowList(item.slice(1, -1));
    // A map in a list is valid but has no meaning.
    const isMap = /^[^\s"'{[*&!%@`][^#]*?:(\s|$)/.test(item) || /^\{[^{}]*\}$/.test(item);
    return isMap ? null : readPlain(item, false);
  });
  return values.includes(undefined) ? undefined : (values as Value[]);
}

/** The inside of `[…]`, which may span several lines. */
function readFlowList(inside: string): Value | undefined {
  const values: Value[] = [];
  const item = /(?:"([^"\\]*(?:\\.[^"\\]*)*)"|'([^']*(?:''[^']*)*)'|([^,"'\s][^,]*))?\s*(?:,|$)/sy;
  let at = skipBlank(inside, 0);
  while (at < inside.length) {
    item.lastIndex = at;
    const match = item.exec(inside);
    if (!match) return undefined;
    const [whole, double, single, plain] = match;
    const quoted = double?.replaceAll(/\\(.)/gs, "$1") ?? single?.replaceAll("''", "'");
    const value = quoted ?? readPlain((plain ?? "").trim().replaceAll(/\s+/g, " "), true);
    if (value === undefined) return undefined;
    values.push(value);
    at = skipBlank(inside, at + whole.length);
  }
  return values;
}

/** Blanks are skipped by hand: the expression could split them in many ways, and would try each. */
function skipBlank(text: string, from: number): number {
  let at = from;
  while (at < text.length && (text[at] as string).trim() === "") at++;
  return at;
}

/** Unquoted text: null for what YAML reads as a number, a boolean or nothing; undefined for what it refuses. */
function readPlain(text: string, inFlow: boolean): Value | undefined {
  const comment = text.search(/(^|\s)#/);
  const value = (comment < 0 ? text : text.slice(0, comment)).trim();
  if (/^[&!]/.test(value)) {
    const space = value.search(/\s/);
    return space < 0 ? null : readPlain(value.slice(space).trim(), inFlow);
  }
  if (/^[*%@`,[\]{}|>"']/.test(value) || /^[-?:](\s|$)/.test(value)) return undefined;
  if (/:(\s|$)/.test(value) || (inFlow && /[[\]{}]/.test(value))) return undefined;
  if (value === "" || /^(~|null|true|false)$/i.test(value)) return null;
  return /^[-+]?(\d+(\.\d*)?|\.\d+)(e[-+]?\d+)?$|^0[xo][\da-f]+$|^[-+]?\.(inf|nan)$/i.test(value) ? null : value;
}

/** A rule names a handful of file kinds; a pattern with more alternatives is a mistake or an attack, and matches nothing. */
const MAX_ALTERNATIVES = 1_000;
/** Characters produced by expanding all patterns of one rule: enough for twice a thousand alternatives of ordinary length. */
const MAX_EXPANDED_CHARACTERS = 200_000;
/** `*`, `?` and classes in one pattern; with more, the resulting expression takes long to compile. */
const MAX_WILDCARDS = 32;
/**
 * `**` is tried at every folder of the path: a pattern takes the number of folders to the power
 * of its `**` plus one. All patterns of a rule share these steps.
 */
const MAX_STEPS = 10_000_000;
/** No system opens a longer path. */
const MAX_PATH_LENGTH = 4_096;

/**
 * Whether `file` matches the patterns. `file` is relative to the patterns' base, with `/` between its parts; anything
 * outside the base (`../x`, `/x`) never matches.
 *
 * As in gitignore, a pattern that matches a folder matches everything below it, a later pattern wins over an earlier one, and
 * `!x` cannot bring back what is in a matched folder.
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

/** False when no file can ever match, so that the author can be warned. Braces must be expanded before. */
export function canMatch(pattern: string): boolean {
  return !pattern.startsWith("!") && isSound(pattern);
}

/** Whether a pattern is valid: not a comment, no open class, no parts that a relative path cannot have, not too many wildcards. */
function isSound(pattern: string): boolean {
  if (pattern.startsWith("#")) return false;
  const parts = pattern.replace(/^!/, "").replace(/\/$/, "").replace(/^\//, "").split("/");
  if (parts.some((part) => part === "" || part === "." || part === "..")) return false;
  if ((pattern.match(/\*+|[?[]/g)?.length ?? 0) > MAX_WILDCARDS) return false;
  // A class ends within its part of the path, and a backslash escapes something.
  return parts.every((part) => /^(?:\\.|\[(?:\\.|[^\]\\])*\]|[^[\\])*$/s.test(part));
}

/**
 * The patterns as they are matched: one for each alternative in braces, in the order written, without a trailing `/**`; empty ones
 * are dropped. `refused`, as written, have more alternatives than the budget allows and never match.
 */
export function expandPatterns(patterns: readonly string[]) {
  const expanded = { patterns: [] as string[], refused: [] as string[] };
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
 * A group extends from the first `{` to the first `}` after it, so nested groups break apart and match little; `{1..3}` has
 * one alternative, its own text; an empty group ends the expansion. Null when the budget is exceeded.
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
