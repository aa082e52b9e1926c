/** One thing of ours in a user's file: how it is put in, and how exactly it is taken out again. */

import { MemdirError } from "../errors.ts";
import { addBlock, type BlockPart, removeBlock } from "./block-part.ts";
import { addHooks, type HooksPart, removeHooks } from "./hooks-part.ts";
import type { AddContext, RemoveContext } from "./part-context.ts";
import { addTable, removeTable, type TablePart } from "./table-part.ts";
import { addValue, removeValue, type ValuePart } from "./value-part.ts";

export type Part = ValuePart | HooksPart | TablePart | BlockPart | FilePart;

/**
 * The text with the part in it; the same text when it is there already. `text` is null for a file that is not there, and holds
 * no byte order mark. Throws `broken` for a text that cannot be changed safely.
 */
export function addPart(text: string | null, part: Part, context: AddContext): string {
  switch (part.kind) {
    case "value":
      return addValue(text, part, context);
    case "hooks":
      return addHooks(text, part, context);
    case "table":
      return addTable(text, part);
    case "block":
      return addBlock(text, part);
    case "file":
      return addWhole(text, part);
  }
}

/** The text without the part: exactly the same text when it is not in it, null when the file is to go. Throws `broken`. */
export function removePart(text: string, part: Part, context: RemoveContext): string | null {
  switch (part.kind) {
    case "value":
      return removeValue(text, part, context);
    case "hooks":
      return removeHooks(text, part, context);
    case "table":
      return removeTable(text, part);
    case "block":
      return removeBlock(text, part);
    case "file":
      return removeWhole(text, part);
  }
}

/** Lines of hooks that the parts name. */
export function commandsOf(parts: readonly Part[]): Set<string> {
  return new Set(
    parts.flatMap((part) => (part.kind === "hooks" ? Object.values(part.hooks).map((h) => h.command) : [])),
  );
}

/** Whether a value that was read is a part of this version: whatever else it is, it must not be acted on. */
export function isPart(value: unknown): value is Part {
  if (!isObject(value) || !isText(value.file) || !isText(value.why)) return false;
  switch (value.kind) {
    case "value":
      return isTexts(value.at) && value.at.length > 0 && isObject(value.value);
    case "hooks":
      return (
        isObject(value.hooks) && Object.values(value.hooks).every((hook) => isObject(hook) && isText(hook.command))
      );
    case "table":
      return isTexts(value.table) && value.table.length > 0 && isObject(value.values);
    case "block":
      return isText(value.text);
    case "file":
      return isText(value.text) && isText(value.mark);
    default:
      return false;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every(isText);
}

/** A file that is ours as a whole, known by its first lines. */
interface FilePart {
  kind: "file";
  file: string;
  why: string;
  text: string;
  /** Stands in every version of it. */
  mark: string;
}

function addWhole(text: string | null, part: FilePart): string {
  if (text !== null && text.trim() !== "" && !text.includes(part.mark)) {
    throw new MemdirError("broken", `${part.file} is not memdir's; move it away, as memdir needs this name`);
  }
  return part.text;
}

/** What somebody changed is not ours to throw away. */
function removeWhole(text: string, part: FilePart): string | null {
  if (text === part.text) return null;
  if (!text.includes(part.mark)) return text;
  throw new MemdirError("broken", `${part.file} was changed by hand; look at it and remove it yourself`);
}
