/**
 * Changes in a JSON text that leave every other byte alone: comments, order, indentation and line endings stay as the user
 * wrote them. Comments and trailing commas are accepted, even where the client itself does not accept them.
 */

import { getNodeValue, type Node, type ParseError, parseTree, printParseErrorCode } from "jsonc-parser";
import { MemdirError } from "../errors.ts";

export type { Node };

type Container = "object" | "array";

/** Throws `broken`, with the place. */
export function parseJson(text: string, file: string): Node {
  const errors: ParseError[] = [];
  let root: Node | undefined;
  try {
    root = parseTree(text, errors, { allowTrailingComma: true });
  } catch (cause) {
    throw new MemdirError("broken", `${file} is nested too deeply to be changed; fix it by hand`, { cause });
  }
  const [first] = errors;
  if (first || !root) {
    const what = first ? printParseErrorCode(first.error) : "no value";
    const words = what.replace(/([a-z])([A-Z])/g, "$1 $2").toLowerCase();
    throw new MemdirError(
      "broken",
      `${file}:${placeOf(text, first?.offset ?? 0)} is not valid JSON (${words}); fix it`,
    );
  }
  return root;
}

/** The value of a key, or null. Throws `broken` when it is there twice: which one counts is up to the client. */
export function findValue(object: Node, key: string, text: string, file: string): Node | null {
  const found = (object.children ?? []).filter((property) => property.children?.[0]?.value === key);
  const [first, second] = found;
  if (first && second) {
    const lines = `${lineOf(text, first.offset)} and ${lineOf(text, second.offset)}`;
    throw new MemdirError("broken", `${file} has the key "${key}" twice (lines ${lines}); remove one of them`);
  }
  return first?.children?.[1] ?? null;
}

export function expectType(node: Node, type: Container, name: string, text: string, file: string): Node {
  if (node.type === type) return node;
  const place = `${file}:${placeOf(text, node.offset)}`;
  const wanted = type === "object" ? "an object" : "a list";
  throw new MemdirError("broken", `${place}: ${name} is not ${wanted}; make it one`);
}

/** A new last child: of an object under `key`, of a list with `key` null. */
export function insertChild(text: string, parent: Node, key: string | null, value: unknown): string {
  const last = parent.children?.at(-1);
  const at = last ? endOf(last) : parent.offset + 1;
  const comma = last ? commaAfter(text, at) : null;
  // Where the last one has a comma behind it, the new last one has, too.
  const finish = comma === null ? "" : ",";
  const label = key === null ? "" : JSON.stringify(key);
  if (isOnOneLine(text, parent)) {
    const space = /[:,] /.test(text.slice(parent.offset, endOf(parent))) ? " " : "";
    const content = `${label}${label && `:${space}`}${JSON.stringify(value)}${finish}`;
    const to = comma === null ? at : comma + 1;
    return splice(text, to, to, `${last && comma === null ? "," : ""}${last ? space : ""}${content}`);
  }
  const { unit, eol } = styleOf(text);
  const outer = indentAt(text, parent.offset);
  const first = parent.children?.[0];
  const indent = first && isFirstOfLine(text, first.offset) ? indentAt(text, first.offset) : `${outer}${unit}`;
  const rendered = JSON.stringify(value, null, unit).replaceAll("\n", `${eol}${indent}`);
  const content = `${eol}${indent}${label}${label && ": "}${rendered}${finish}`;
  if (!last) {
    const end = endOf(parent) - 1;
    const inner = text.slice(at, end).trimEnd();
    return splice(text, at + inner.length, end, `${content}${eol}${outer}`);
  }
  const to = skipLineRest(text, comma === null ? at : comma + 1);
  const inserted = splice(text, to, to, content);
  return comma === null ? splice(inserted, at, at, ",") : inserted;
}

/** Takes a property or an item out, with its comma, and with its lines when nothing else is on them. */
export function removeChild(text: string, parent: Node, child: Node): string {
  const siblings = parent.children ?? [];
  const previous = siblings[siblings.indexOf(child) - 1];
  const after = commaAfter(text, endOf(child));
  let { from, to } = wholeLines(text, child.offset, after === null ? endOf(child) : after + 1);
  let left = text;
  const before = previous && after === null ? commaAfter(text, endOf(previous)) : null;
  if (before !== null) {
    left = splice(left, before, before + 1, "");
    from -= 1;
    to -= 1;
  }
  left = splice(left, from, to, "");
  if (siblings.length > 1) return left;
  const shrunk = text.length - left.length;
  const inside = left.slice(parent.offset + 1, parent.offset + parent.length - 1 - shrunk);
  return inside.trim() === "" ? splice(left, parent.offset + 1, parent.offset + 1 + inside.length, "") : left;
}

export function replaceNode(text: string, node: Node, value: unknown): string {
  const { unit, eol } = styleOf(text);
  const isLine = !/[\r\n]/.test(text.slice(node.offset, endOf(node)));
  const rendered = isLine
    ? JSON.stringify(value)
    : JSON.stringify(value, null, unit).replaceAll("\n", `${eol}${indentAt(text, node.offset)}`);
  return splice(text, node.offset, endOf(node), rendered);
}

/** Puts what `from` has at `node` in the place of `target`, as it is written there. */
export function restoreNode(text: string, target: Node, from: string, node: Node): string {
  return splice(text, target.offset, endOf(target), from.slice(node.offset, endOf(node)));
}

/** The value at the path; undefined when there is none. Throws `broken`. */
export function readAt(text: string, at: readonly string[], file: string): unknown {
  const { node, missing } = walk(text, at, file);
  return missing.length > 0 ? undefined : getNodeValue(node);
}

/** The value at the path, or the innermost object on the way and the keys that it lacks. Throws `broken`. */
export function walk(text: string, at: readonly string[], file: string): { node: Node; missing: readonly string[] } {
  let node = expectType(parseJson(text, file), "object", "the file", text, file);
  for (const [depth, key] of at.entries()) {
    const value = findValue(node, key, text, file);
    if (!value) return { node, missing: at.slice(depth) };
    if (depth < at.length - 1) expectType(value, "object", `"${key}"`, text, file);
    node = value;
  }
  return { node, missing: [] };
}

/** Also removes what held only this, if we had made it. */
export function removeAt(text: string, at: readonly string[], file: string, made: ReadonlySet<string> | null): string {
  const { node } = walk(text, at, file);
  const property = node.parent as Node;
  const left = removeChild(text, property.parent as Node, property);
  const outer = at.slice(0, -1);
  if (outer.length === 0 || (made && !made.has(outer.join("/")))) return left;
  const { node: holder } = walk(left, outer, file);
  return (holder.children ?? []).length === 0 ? removeAt(left, outer, file, made) : left;
}

/** Clients take an empty file for an empty object. */
export function startJson(text: string | null, start: Readonly<Record<string, unknown>> = {}): string {
  return text === null || text.trim() === "" ? `${JSON.stringify(start, null, 2)}\n` : text;
}

export function lineOf(text: string, offset: number): number {
  return text.slice(0, offset).split("\n").length;
}

export function splice(text: string, from: number, to: number, put: string): string {
  return text.slice(0, from) + put + text.slice(to);
}

export function eolOf(text: string): string {
  return text.includes("\r\n") ? "\r\n" : "\n";
}

function placeOf(text: string, offset: number): string {
  return `${lineOf(text, offset)}:${offset - text.lastIndexOf("\n", offset - 1)}`;
}

function endOf(node: Node): number {
  return node.offset + node.length;
}

/** Written on one line, it stays so; an empty one only inside such a line. */
function isOnOneLine(text: string, node: Node): boolean {
  const isLine = !/[\r\n]/.test(text.slice(node.offset, endOf(node)));
  if (!isLine || (node.children ?? []).length > 0) return isLine;
  const around = node.parent?.type === "property" ? node.parent.parent : node.parent;
  return around !== undefined && isOnOneLine(text, around);
}

/** The indentation of the first indented key: the outermost one in every usual layout. */
function styleOf(text: string): { unit: string; eol: string } {
  const indent = /\n([ \t]+)["{[]/.exec(text)?.[1] ?? "  ";
  return { unit: indent.startsWith("\t") ? "\t" : indent, eol: eolOf(text) };
}

function indentAt(text: string, offset: number): string {
  return /^[ \t]*/.exec(text.slice(lineStart(text, offset)))?.[0] ?? "";
}

function isFirstOfLine(text: string, offset: number): boolean {
  return text.slice(lineStart(text, offset), offset).trim() === "" && lineStart(text, offset) > 0;
}

function lineStart(text: string, offset: number): number {
  return text.lastIndexOf("\n", offset - 1) + 1;
}

/** Where the comma after a value is, comments passed over; null when something else comes. */
function commaAfter(text: string, offset: number): number | null {
  const trivia = /(?:\s+|\/\/[^\r\n]*|\/\*[\s\S]*?\*\/)*/y;
  trivia.lastIndex = offset;
  const at = offset + (trivia.exec(text)?.[0].length ?? 0);
  return text[at] === "," ? at : null;
}

/** Behind comments on the rest of the line, which belong to what is before them. */
function skipLineRest(text: string, offset: number): number {
  const rest = /(?:[ \t]*(?:\/\/[^\r\n]*|\/\*[^\r\n]*?\*\/))*/y;
  rest.lastIndex = offset;
  return offset + (rest.exec(text)?.[0].length ?? 0);
}

/** The range, widened to whole lines when it shares them with nothing, else to the blanks before it. */
function wholeLines(text: string, from: number, to: number): { from: number; to: number } {
  const rest = /[ \t]*(?:\r?\n|$)/y;
  rest.lastIndex = to;
  const tail = rest.exec(text)?.[0];
  if (isFirstOfLine(text, from) && tail !== undefined) return { from: lineStart(text, from), to: to + tail.length };
  const before = text.slice(0, from).trimEnd();
  // What follows must not end up behind a comment.
  const mayBeComment = isFirstOfLine(text, from) && before.slice(lineStart(before, before.length)).includes("//");
  return { from: mayBeComment ? from : before.length, to };
}
