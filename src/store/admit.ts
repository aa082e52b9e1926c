/**
 * The one gate for every writer: what a text must be before it becomes a memory. Save, edit, MCP, the memory tool, import,
 * extraction, dream and sync all pass it, whatever else they check for themselves.
 */

import { isUtf8 } from "node:buffer";
import { attempt, type ErrorCode, isObject, MemdirError } from "../errors.ts";
import { INDEX_FILE } from "../project/locate.ts";
import { type Field, type FieldValue, findField, parseDocument } from "../text/frontmatter.ts";
import { findRelativeDates, type RelativeDate } from "../text/relative-dates.ts";
import { findSecrets, redactSecrets, type SecretFinding } from "../text/secrets.ts";
import {
  type Header,
  type Memory,
  mayBecome,
  parseHeader,
  parseMemory,
  sameName,
  type Trust,
  trustOf,
} from "./memory.ts";

export interface Draft {
  file: string;
  /** The whole text that is to be written; null removes the file. */
  text: string | Uint8Array | null;
  /** What the file holds now; null for a new one. */
  before: string | Uint8Array | null;
}

export interface Gate {
  /** How far whoever writes is trusted. */
  trust: Trust;
  /** Mask secrets instead of refusing them. */
  redact?: boolean;
  /** The text is kept word for word, whether or not its frontmatter can be read: the memory tool promises that to its model. */
  anyForm?: boolean;
}

/** Why a text cannot be written as it is. */
export interface Objection {
  rule: "form" | "size" | "secret" | "trust" | "enforced";
  code: ErrorCode;
  message: string;
  /** For programs; never holds a secret's value. */
  details?: unknown;
}

export interface Admitted {
  text: string;
  /** What was masked. */
  notices: string[];
}

/** A memory is a page. A larger text belongs in a file of the project, with a memory that says where it is. */
export const MAX_MEMORY_BYTES = 256 * 1024;

/** The text as it may be written, with what was masked. Throws the first objection. */
export function admit(draft: Draft, gate: Gate): Admitted {
  const [first] = findObjections(draft, gate);
  if (first) throw asError(first);
  const text = decode(draft.text ?? "");
  const masked = gate.redact ? findNewSecrets(text, draft.before) : [];
  return { text: redactSecrets(text, masked), notices: masked.map((found) => `masked: ${nameSecret(found)}`) };
}

/** Everything that is wrong with it, for those who can fix several things at once. Never throws. */
export function findObjections({ file, text, before }: Draft, { trust, redact, anyForm }: Gate): Objection[] {
  const rule = trust === "user" ? [] : objectToRule(file, before, text);
  if (text === null) return rule;
  const form = objectToBytes(file, text);
  if (form) return [form];
  const words = decode(text);
  const secrets = redact ? [] : findNewSecrets(words, before);
  return [
    ...(anyForm || file === INDEX_FILE ? [] : objectToFrontmatter(file, words, before)),
    ...(secrets.length > 0 ? [objectToSecrets(secrets.map(nameSecret))] : []),
    ...(trust === "user" ? [] : objectToTrust(file, words, before)),
    ...rule,
  ];
}

/** The text of bytes that somebody gave, or an error that says what is wrong with them. */
export function readGiven(bytes: Uint8Array, what: string, maxBytes = MAX_MEMORY_BYTES): string {
  const objection = objectToBytes(what, bytes, maxBytes);
  if (objection) throw asError(objection);
  return decode(bytes);
}

/** A text that a program gave, as it is. Throws `usage`, naming the field: what is not a text has no meaning, and half a character would be lost. */
export function checkGiven(value: unknown, field: string): string {
  const refuse = (problem: string) => new MemdirError("usage", `the ${field} ${problem}`);
  if (value === undefined || value === null) throw refuse("is missing: give a string");
  if (typeof value !== "string")
    throw refuse(`must be a string, not ${Array.isArray(value) ? "a list" : `of type ${typeof value}`}`);
  if (value.includes("\0")) throw refuse("contains a NUL character: remove it");
  if (!value.isWellFormed()) throw refuse("contains half a character (a lone surrogate): remove it");
  return value;
}

export function secretError(found: readonly string[]): MemdirError {
  return asError(objectToSecrets(found));
}

function asError({ code, message, details }: Objection): MemdirError {
  return new MemdirError(code, message, { details });
}

/** Dates such as "next Thursday", which mean nothing when they are read weeks later; those that were there before do not count. */
export async function findNewDates(text: string, before: string, saidOn: Date): Promise<RelativeDate[]> {
  const known = new Set(before.split("\n"));
  const lines = text.split("\n");
  return (await findRelativeDates(text, saidOn)).filter(({ line }) => !known.has(lines[line - 1] ?? ""));
}

/** Another memory of this type and name: names are compared without case and after NFC. */
export function findNamesake<H extends Pick<Header, "file" | "type" | "name">>(
  others: Iterable<H>,
  { file, type, name }: Pick<Header, "file" | "type" | "name">,
): H | null {
  for (const other of others)
    if (other.file !== file && other.type === type && sameName(other.name, name)) return other;
  return null;
}

function objectToBytes(what: string, text: string | Uint8Array, maxBytes = MAX_MEMORY_BYTES): Objection | null {
  const bytes = typeof text === "string" ? Buffer.byteLength(text) : text.length;
  const advice = "save the part that matters, and say where the rest is kept";
  if (bytes > maxBytes) {
    const size = `it is ${Math.ceil(bytes / 1024)} KB and the limit is ${maxBytes / 1024} KB`;
    return { rule: "size", code: "usage", message: `${what} was not saved: ${size}; ${advice}` };
  }
  const isText = typeof text === "string" ? text.isWellFormed() : isUtf8(text);
  const hasNul = typeof text === "string" ? text.includes("\0") : text.includes(0);
  if (isText && !hasNul) return null;
  const reason = isText ? "it contains a NUL byte" : "it is not valid UTF-8";
  return { rule: "form", code: "usage", message: `${what} was not saved: ${reason}; ${advice}` };
}

/** A file whose frontmatter could not be read before either may be improved step by step. */
function objectToFrontmatter(file: string, text: string, before: Draft["before"]): Objection[] {
  const [problem] = parseDocument(text).problems;
  if (problem === undefined || (before !== null && parseDocument(decode(before)).problems.length > 0)) return [];
  const message = `${file} was not saved, its frontmatter cannot be read: ${problem}`;
  return [{ rule: "form", code: "broken", message }];
}

/** Values that were there before do not count: a file that holds a secret can still be fixed. */
function findNewSecrets(text: string, before: Draft["before"]): SecretFinding[] {
  const known = before === null ? "" : decode(before);
  return findSecrets(text).filter(({ start, end }) => known === "" || !known.includes(text.slice(start, end)));
}

function nameSecret({ rule, line }: SecretFinding): string {
  return `${rule} in line ${line}`;
}

function objectToSecrets(found: readonly string[]): Objection {
  const what = found.slice(0, 5).join(", ") + (found.length > 5 ? ` and ${found.length - 5} more` : "");
  const message = `not saved, it holds what looks like a secret: ${what}; remove the value and note where it is kept, or save with --redact to mask it`;
  return { rule: "secret", code: "secret", message, details: found };
}

/** How to work, and who the user is, only they can say, or accept. What was there before is not this writer's doing. */
function objectToTrust(file: string, text: string, before: Draft["before"]): Objection[] {
  const isBarred = ({ type, source }: Header) => !mayBecome(type, trustOf(source));
  const header = parseHeader(file, text);
  if (!isBarred(header) || (before !== null && isBarred(parseHeader(file, decode(before))))) return [];
  const origin = trustOf(header.source) === "tool" ? "what a tool printed" : "what a document says";
  const message = `${file} was not saved: ${origin} cannot become a ${header.type} memory, only the user can say that; save it as project or reference`;
  return [{ rule: "trust", code: "untrusted", message }];
}

/** What is enforced is the user's word: nothing less trusted makes such a rule, changes it or removes it. */
function objectToRule(file: string, before: Draft["before"], after: Draft["text"]): Objection[] {
  const ruleIn = (text: string | Uint8Array | null) => (text === null ? null : describeRule(file, decode(text)));
  if (ruleIn(before) === ruleIn(after)) return [];
  const message = `nothing was changed: ${file} holds a rule that is enforced (\`enforce\`), which only the user makes, changes or removes`;
  return [{ rule: "enforced", code: "conflict", message }];
}

function decode(text: string | Uint8Array): string {
  return typeof text === "string" ? text : Buffer.from(text.buffer, text.byteOffset, text.length).toString("utf8");
}

// --- The `enforce` block of a memory: a rule that is not only remembered but checked before a tool is called.

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

/** All that decides what is denied and until when, to compare; null for no rule. */
export function describeRule(file: string, content: string | Buffer): string | null {
  const rule = findEnforced(file, content);
  return rule && JSON.stringify({ ...rule, file: "", expires: parseHeader(file, content).expires });
}

/** What is wrong with a memory's block, in words for a person; [] also for a memory that has none. `isShared`: others write in its directory, too. */
export function lintEnforce(memory: Memory, text: string, isShared = false): string[] {
  const block = readBlock(text);
  if (!block) return [];
  const { tools, problems } = readRule(block);
  const found = problems.map(({ message }) => message);
  if (isShared && meansEveryTool(tools))
    found.push("a rule that is shared cannot be about every tool, and is ignored: name its tools, as in `tool: Bash`");
  if (memory.type !== "feedback") found.push(`only memories of type feedback are enforced, this one is ${memory.type}`);
  if (!isUsersWord(memory))
    found.push(`only what the user said is enforced, and this memory's source is "${memory.source?.by}"`);
  return found;
}

/** Regardless of case; `*` in the rule's name for a tool stands for anything. */
export function matchesTool(tool: string, name: string): boolean {
  if (!tool.includes("*")) return tool.toLowerCase() === name.toLowerCase();
  const parts = tool.split("*").map((part) => part.replace(/[.+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${parts.join(".*")}$`, "is").test(name);
}

/** What an agent cannot work without: a rule that is about all of these stops it altogether. */
const USUAL_TOOLS = ["Bash", "Read", "Write", "Edit", "Glob", "Grep", "Task", "WebFetch", "mcp__server__tool"];

/** Users may forbid themselves anything; nobody may forbid it to others. */
export function meansEveryTool(tools: readonly string[]): boolean {
  return USUAL_TOOLS.every((name) => tools.some((tool) => matchesTool(tool, name)));
}

/** With `m`, as a command may have several lines; `(?i)` at its beginning as elsewhere. Null for what is no expression. */
export function compilePattern(pattern: string): RegExp | null {
  const isAnyCase = pattern.startsWith("(?i)");
  return attempt(() => new RegExp(isAnyCase ? pattern.slice("(?i)".length) : pattern, isAnyCase ? "im" : "m"), null);
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
  const values = isObject(block.value) ? block.value : null;
  if (!values) add(`"enforce" must hold lines such as \`pattern: …\`, one rule in each memory`);
  for (const key of Object.keys(values ?? {})) {
    if (!KEYS.includes(key)) add(`"enforce" does not know ${JSON.stringify(key)}, only ${KEYS.join(", ")}`, false);
  }
  for (const key of ["tool", "pattern", "message"] as const) {
    if (values?.[key] !== undefined && typeof values[key] !== "string")
      add(`"${key}" must be a string: put it in quotes`);
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
