/** The `enforce` block of a memory: a rule that is not only remembered but checked before a tool is called. */

import type { Field, FieldValue } from "../text/frontmatter.ts";
import { findField, parseDocument } from "../text/frontmatter.ts";
import { type Header, type Memory, parseMemory } from "./memory.ts";

/** What is denied. At least one of pattern and paths is given; where both are, both must match. */
export interface Enforced {
  name: string;
  file: string;
  /** Names of tools, `*` in them stands for anything. */
  tools: string[];
  /** A regular expression on what the tool is given. */
  pattern: string | null;
  /** Globs on the files it works on. */
  paths: string[];
  /** Why, for the one who wanted to call it. */
  message: string;
}

const KEYS: readonly string[] = ["tool", "pattern", "path", "message"];

/** The rule of a memory file, or null: no block, one that cannot be used, or a memory that may not command. */
export function findEnforced(file: string, content: string | Buffer): Enforced | null {
  const text = content.toString();
  // Nearly all memories end here.
  if (!text.includes("enforce")) return null;
  const block = readBlock(text);
  if (!block) return null;
  const memory = parseMemory(file, content);
  if (memory.type !== "feedback" || !isUsersWord(memory)) return null;
  const { tools, pattern, paths, problems } = readRule(block);
  if (problems.some(({ isFatal }) => isFatal)) return null;
  const message = textOf(block, "message", false) || memory.description || memory.name;
  return { name: memory.name, file, tools, pattern, paths, message };
}

/** What is wrong with a memory's block, in words for a person; [] also for a memory that has none. */
export function lintEnforce(memory: Memory, text: string): string[] {
  const block = readBlock(text);
  if (!block) return [];
  const found = readRule(block).problems.map(({ message }) => message);
  if (memory.type !== "feedback") found.push(`only memories of type feedback are enforced, this one is ${memory.type}`);
  if (!isUsersWord(memory))
    found.push(`only what the user said is enforced, and this memory's source is "${memory.source?.by}"`);
  return found;
}

/** With `m`, as a command may have several lines; `(?i)` at its beginning as elsewhere. Null for what is no expression. */
export function compilePattern(pattern: string): RegExp | null {
  const isAnyCase = pattern.startsWith("(?i)");
  try {
    return new RegExp(isAnyCase ? pattern.slice("(?i)".length) : pattern, isAnyCase ? "im" : "m");
  } catch {
    return null;
  }
}

/** A memory that does not say where it came from was written by hand. What was read or concluded may inform, never forbid. */
function isUsersWord({ source }: Header): boolean {
  return source === null || source.by.toLowerCase() === "user";
}

interface Block {
  value: FieldValue;
  fields: readonly Field[];
}

/** At the top, or under `metadata`, where Claude Code moves what it does not know. */
function readBlock(text: string): Block | null {
  const { fields } = parseDocument(text);
  return findField(fields, ["enforce"]) ?? findField(fields, ["metadata", "enforce"]);
}

interface Problem {
  message: string;
  /** Nothing can be enforced. */
  isFatal: boolean;
}

function readRule(block: Block): Pick<Enforced, "tools" | "pattern" | "paths"> & { problems: Problem[] } {
  const problems: Problem[] = [];
  const add = (message: string, isFatal = true) => problems.push({ message, isFatal });
  const values = typeof block.value === "object" && !Array.isArray(block.value) ? block.value : null;
  if (!values) add(`"enforce" must hold lines such as \`pattern: …\`, one rule in each memory`);
  for (const key of Object.keys(values ?? {})) {
    if (!KEYS.includes(key)) add(`"enforce" does not know ${JSON.stringify(key)}, only ${KEYS.join(", ")}`, false);
  }
  for (const key of ["tool", "pattern", "message"] as const) {
    if (values?.[key] !== undefined && typeof values[key] !== "string")
      add(`"${key}" must be a text: put it in quotes`);
  }
  const pattern = textOf(block, "pattern") || null;
  const paths = pathsOf(block);
  if (values && pattern === null && paths.length === 0) add(`"enforce" has neither a pattern nor a path`);
  if (pattern !== null && !compilePattern(pattern))
    add(`the pattern is not a regular expression: ${reasonOf(pattern)}`);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: what "\b" in double quotes becomes
  if (pattern !== null && /[\x00-\x08\x0b\x0c\x0e-\x1f]/.test(pattern))
    add("the pattern holds a control character: in double quotes a backslash must be doubled; use single ones");
  const tools = (textOf(block, "tool") || "*").split("|").map((name) => name.trim());
  return { tools: tools.filter((name) => name !== ""), pattern, paths, problems };
}

/** The engine's own words, without the pattern that it repeats. */
function reasonOf(pattern: string): string {
  try {
    new RegExp(pattern.replace(/^\(\?i\)/, ""), "m");
    return "";
  } catch (error) {
    return (error as Error).message.split(": ").at(-1) ?? "";
  }
}

function pathsOf(block: Block): string[] {
  const values = block.value as Record<string, FieldValue>;
  const list = Array.isArray(values?.path) ? values.path : [textOf(block, "path")];
  return list.flatMap((path) => (typeof path === "string" && path.trim() !== "" ? [path.trim()] : []));
}

/** Where a text is not in quotes, what follows a lone `#` is a remark; a message may hold one. */
function textOf({ value, fields }: Block, key: string, withRemark = true): string {
  const text = (value as Record<string, FieldValue>)?.[key];
  if (typeof text !== "string") return "";
  const isPlain = fields.find((field) => field.key === key)?.style === "plain";
  return (isPlain && withRemark ? text.replace(/\s+#\s.*$/, "") : text).trim();
}
