/** Our entries among a client's hooks, in the layout that Claude Code, Codex and Gemini CLI share: event, groups, commands. */

import { isOurHook } from "./command.ts";
import { expectType, findValue, insertChild, type Node, parseJson, removeChild, replaceNode } from "./json-text.ts";
import type { AddContext, RemoveContext } from "./part-context.ts";
import { removeAt, startJson, walk } from "./value-part.ts";

export interface HookEntry {
  type: "command";
  command: string;
  /** In the client's own unit. */
  timeout: number;
  name?: string;
}

export interface HooksPart {
  kind: "hooks";
  file: string;
  why: string;
  hooks: Readonly<Record<string, HookEntry>>;
}

/** A timeout that the user chose stays; of several entries of ours for one event only the first does. */
export function addHooks(text: string | null, { file, hooks }: HooksPart, { known, made }: AddContext): string {
  let now = startJson(text);
  for (const [event, entry] of Object.entries(hooks)) {
    const all = new Set([...known, entry.command]);
    for (let ours = findOurs(now, event, file, all); ours.length > 1; ours = findOurs(now, event, file, all)) {
      now = removeEntry(now, ours.at(-1) as OurEntry);
    }
    const [ours] = findOurs(now, event, file, all);
    if (ours) {
      if (ours.command.value !== entry.command) now = replaceNode(now, ours.command, entry.command);
      continue;
    }
    const { node, missing } = walk(now, ["hooks", event], file);
    const group = { hooks: [entry] };
    if (missing.length === 0) now = insertChild(now, expectType(node, "array", `"${event}"`, now, file), null, group);
    else {
      if (missing.length === 2) made.add("hooks");
      made.add(`hooks/${event}`);
      now = insertChild(now, node, missing[0] as string, missing.length === 2 ? { [event]: [group] } : [group]);
    }
  }
  return now;
}

/** Every entry of ours for any event: an older version may have asked for others. */
export function removeHooks(text: string, { file }: HooksPart, { known, made }: RemoveContext): string {
  if (text.trim() === "") return text;
  let now = text;
  for (const event of eventsOf(text, file)) {
    let isChanged = false;
    for (let [ours] = findOurs(now, event, file, known); ours; [ours] = findOurs(now, event, file, known)) {
      now = removeEntry(now, ours);
      isChanged = true;
    }
    const isOurEvent = made === null || made.has(`hooks/${event}`);
    if (!isChanged || !isOurEvent) continue;
    const { node } = walk(now, ["hooks", event], file);
    if ((node.children ?? []).length === 0) now = removeAt(now, ["hooks", event], file, made);
  }
  return now;
}

/** The command that the file names for an event, or null. */
export function readHook(text: string, part: HooksPart, event: string, known: ReadonlySet<string>): string | null {
  const [ours] = findOurs(text, event, part.file, known);
  return ours ? String(ours.command.value) : null;
}

interface OurEntry {
  list: Node;
  group: Node;
  entry: Node;
  command: Node;
}

function findOurs(text: string, event: string, file: string, known: ReadonlySet<string>): OurEntry[] {
  const { node: list, missing } = walk(text, ["hooks", event], file);
  if (missing.length > 0 || list.type !== "array") return [];
  return (list.children ?? []).flatMap((group) => {
    const inner = group.type === "object" ? findValue(group, "hooks", text, file) : null;
    return (inner?.type === "array" ? (inner.children ?? []) : []).flatMap((entry) => {
      const command = entry.type === "object" ? findValue(entry, "command", text, file) : null;
      return command && isOurHook(command.value, known) ? [{ list, group, entry, command }] : [];
    });
  });
}

/** A group that held only ours goes with it. */
function removeEntry(text: string, { list, group, entry }: OurEntry): string {
  const inner = entry.parent as Node;
  return inner.children?.length === 1 ? removeChild(text, list, group) : removeChild(text, inner, entry);
}

function eventsOf(text: string, file: string): string[] {
  const root = expectType(parseJson(text, file), "object", "the file", text, file);
  const hooks = findValue(root, "hooks", text, file);
  if (hooks?.type !== "object") return [];
  return [...new Set((hooks.children ?? []).map((property) => String(property.children?.[0]?.value)))];
}
