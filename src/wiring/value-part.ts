/** A server's entry in a JSON file: what a client shall start, under our name. */

import { isDeepStrictEqual } from "node:util";
import { getNodeValue } from "jsonc-parser";
import { expectType, findValue, insertChild, type Node, parseJson, removeChild, replaceNode } from "./json-text.ts";
import type { AddContext, RemoveContext } from "./part-context.ts";

export interface ValuePart {
  kind: "value";
  file: string;
  why: string;
  /** Keys from the outermost on; the last one is ours. */
  at: readonly string[];
  /** Fields that must be so; further ones that the user added stay. */
  value: Readonly<Record<string, unknown>>;
  /** What a new file holds besides. */
  start?: Readonly<Record<string, unknown>>;
}

export function addValue(text: string | null, part: ValuePart, { made }: AddContext): string {
  const { file, at, value, start = {} } = part;
  let now = startJson(text, start);
  const { node, missing } = walk(now, at, file);
  if (missing.length > 0) {
    for (let depth = at.length - missing.length; depth < at.length - 1; depth++)
      made.add(at.slice(0, depth + 1).join("/"));
    const inner = missing.slice(1).reduceRight<unknown>((held, key) => ({ [key]: held }), value);
    return insertChild(now, node, missing[0] as string, inner);
  }
  if (node.type !== "object") return replaceNode(now, node, value);
  for (const [key, wanted] of Object.entries(value)) {
    const entry = walk(now, at, file).node;
    const there = findValue(entry, key, now, file);
    if (!there) now = insertChild(now, entry, key, wanted);
    else if (!isDeepStrictEqual(getNodeValue(there), wanted)) now = replaceNode(now, there, wanted);
  }
  return now;
}

export function removeValue(text: string, { file, at }: ValuePart, { made }: RemoveContext): string {
  if (text.trim() === "") return text;
  const { missing } = walk(text, at, file);
  return missing.length > 0 ? text : removeAt(text, at, file, made);
}

/** Also takes out what held only this, if we had made it. */
export function removeAt(text: string, at: readonly string[], file: string, made: ReadonlySet<string> | null): string {
  const { node } = walk(text, at, file);
  const property = node.parent as Node;
  const left = removeChild(text, property.parent as Node, property);
  const outer = at.slice(0, -1);
  if (outer.length === 0 || (made && !made.has(outer.join("/")))) return left;
  const { node: holder } = walk(left, outer, file);
  return (holder.children ?? []).length === 0 ? removeAt(left, outer, file, made) : left;
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

/** An empty file is what a client makes of it: nothing. */
export function startJson(text: string | null, start: Readonly<Record<string, unknown>> = {}): string {
  return text === null || text.trim() === "" ? `${JSON.stringify(start, null, 2)}\n` : text;
}
