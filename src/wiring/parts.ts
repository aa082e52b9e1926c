/** memdir's parts of a client's files: how each kind is added, removed again to the byte, and read. */

import { isDeepStrictEqual } from "node:util";
import { getNodeValue } from "jsonc-parser";
import * as v from "valibot";
import { MemdirError } from "../errors.ts";
import { findMarked, putMarked } from "../text/lines.ts";
import {
  expectType,
  findValue,
  insertChild,
  type Node,
  parseJson,
  readAt,
  removeAt,
  removeChild,
  replaceNode,
  restoreNode,
  startJson,
  walk,
} from "./json-text.ts";
import { addTable, readTable, removeTable, replaceTable, sliceTable } from "./toml-table.ts";

const texts = v.array(v.string());
const record = v.record(v.string(), v.unknown());
/** `why`: what it is for, in words. */
const anyPart = { file: v.string(), why: v.string() };

/** An event's entry: what the client starts for it. */
const COMMAND = v.looseObject({ type: v.literal("command"), command: v.string() });
/** An event's entry: the tool of a connected server that the client calls for it, with the fields of the event that the tool gets. */
const TOOL = v.looseObject({
  ...{ type: v.literal("mcp_tool"), server: v.string(), tool: v.string() },
  input: v.record(v.string(), v.string()),
});

export type HookEntry = v.InferOutput<typeof COMMAND> | v.InferOutput<typeof TOOL>;

/** Also for what is read from a receipt: anything else must not be acted on. */
export const PART = v.variant("kind", [
  /**
   * A server's entry in a JSON file. `at`: keys from the outermost on; the last one is memdir's. `value`: fields that must be
   * so; others that the user added stay. `start`: what else a new file holds.
   */
  v.object({
    ...{ kind: v.literal("value"), ...anyPart },
    at: v.pipe(texts, v.minLength(1)),
    value: record,
    start: v.optional(record),
  }),
  /**
   * Entries in the layout of hooks that Claude Code, Codex and Gemini CLI share: event, groups, commands or tools of a server.
   * `without`: events that an earlier version, or another form, asked for.
   */
  v.object({
    ...{ kind: v.literal("hooks"), ...anyPart },
    hooks: v.record(v.string(), v.union([COMMAND, TOOL])),
    without: v.optional(texts),
  }),
  /** A table of a TOML file. `values`: keys that must be so; others that the user added stay. */
  v.object({
    ...{ kind: v.literal("table"), ...anyPart },
    table: v.pipe(texts, v.minLength(1)),
    values: v.record(v.string(), v.union([v.string(), texts])),
  }),
  /** A few lines in a Markdown file, between two marks that are invisible when it is rendered. */
  v.object({ kind: v.literal("block"), ...anyPart, text: v.string() }),
  /** A whole file of memdir's. `mark`: a line that every version of it holds. */
  v.object({ kind: v.literal("file"), ...anyPart, text: v.string(), mark: v.string() }),
]);

export type Part = v.InferOutput<typeof PART>;
type PartOf<K extends Part["kind"]> = Extract<Part, { kind: K }>;

/** What a part makes the client start. */
export type Endpoint =
  | { kind: "hook"; command: string; event: string }
  | { kind: "tool"; event: string; server: Server | null }
  | { kind: "plugin"; file: string }
  | Server;

export interface Server {
  kind: "server";
  command: string;
  args: string[];
  env: Record<string, string>;
}

/** `known` are lines of hooks that memdir put into this file before; texts have no byte order mark. All throw `broken` for a text that cannot be changed safely. */
interface Kind<P extends Part> {
  /** The text with the part in it; the same text when it is there already. Containers that were made for it are added to `made`, as keys joined by `/`. */
  add(text: string | null, part: P, known: ReadonlySet<string>, made: Set<string>): string;
  /**
   * The text without the part: the same text when it is not in it, null when the file is to go. Containers in `made` go when they
   * are empty; null: no receipt says what memdir did, so only what is exactly as memdir writes it goes, with any container. An
   * entry that `original`, the text before memdir, has in the same place comes back as it was.
   */
  remove(
    text: string,
    part: P,
    known: ReadonlySet<string>,
    made: ReadonlySet<string> | null,
    original?: string | null,
  ): string | null;
  /** What the text makes the client start; true for a part that starts nothing, null when the part is missing. */
  read(text: string, part: P, known: ReadonlySet<string>): Endpoint | true | null;
}

const value: Kind<PartOf<"value">> = {
  add(text, { file, at, value, start = {} }, _known, made) {
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
  },
  remove(text, { file, at, value }, _known, made, original) {
    if (text.trim() === "") return text;
    const { node, missing } = walk(text, at, file);
    if (missing.length > 0 || !isOurServer(getNodeValue(node), value, made !== null)) return text;
    const earlier = original?.trim() ? walk(original, at, file) : null;
    if (!earlier || earlier.missing.length > 0) return removeAt(text, at, file, made);
    return restoreNode(text, node, original as string, earlier.node);
  },
  read(text, { at, file }) {
    const { command, args, env, environment } = (readAt(text, at, file) ?? {}) as Record<string, unknown>;
    return Array.isArray(command) ? asServer(command[0], command.slice(1), environment) : asServer(command, args, env);
  },
};

/** The prompt's event, as the clients call it. */
const PROMPT_EVENTS = ["UserPromptSubmit", "BeforeAgent"];

const hooks: Kind<PartOf<"hooks">> = {
  /** A timeout that the user chose stays; of several entries of ours for one event only the first does. */
  add(text, { file, hooks, without = [] }, known, made) {
    let now = removeEvents(startJson(text), without, file, known, made);
    for (const [event, entry] of Object.entries(hooks)) {
      const all = new Set([...known, ...(entry.type === "command" ? [entry.command] : [])]);
      const findDouble = () => findOurs(now, event, file, all).slice(1).findLast(isWritten(all));
      for (let double = findDouble(); double; double = findDouble()) now = removeEntry(now, double);
      const [ours] = findOurs(now, event, file, all);
      if (ours) {
        now = changeEntry(now, ours.entry, entry, file);
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
  },
  /** Every entry of ours for any event: an older version may have asked for others. */
  remove(text, { file, hooks }, known, made, original) {
    if (text.trim() === "") return text;
    // Memdir wires all of its events: one of them alone is what the user wrote.
    const events = eventsOf(text, file);
    const isWired = (event: string) =>
      events.includes(event) && findOurs(text, event, file, known).some(isWritten(known));
    if (made === null && !Object.keys(hooks).every(isWired)) return text;
    return removeEvents(text, events, file, known, made, original);
  },
  read(text, { file, hooks }, known) {
    const event = PROMPT_EVENTS.find((name) => name in hooks);
    const [ours] = event ? findOurs(text, event, file, known) : [];
    if (!event || !ours) return null;
    const entry = getNodeValue(ours.entry);
    return isOurTool(entry)
      ? { kind: "tool", event, server: null }
      : { kind: "hook", command: String(entry.command), event };
  },
};

const table: Kind<PartOf<"table">> = {
  add: (text, { table, values, file }) => addTable(text ?? "", table, values, file),
  remove(text, { table, values, file }, _known, made, original) {
    const there = readTable(text, table, file);
    if (there === null || !isOurServer(there, values, made !== null)) return text;
    const earlier = original ? sliceTable(original, table, file) : null;
    return earlier === null ? removeTable(text, table, file) : replaceTable(text, table, earlier, file);
  },
  read(text, { table, file }) {
    const values = readTable(text, table, file);
    return asServer(values?.command, values?.args, {});
  },
};

/** Not those of `memdir export`, which may be in the same file. */
const BEGIN = "<!-- memdir-init:begin -->";
const END = "<!-- memdir-init:end -->";

const block: Kind<PartOf<"block">> = {
  add(text, part) {
    const before = text ?? "";
    return putMarked(before, findBlock(before, part.file), `${BEGIN}\n${part.text.trim()}\n${END}`);
  },
  /** With one blank line before it: the one that was added. */
  remove(text, { file }) {
    const range = findBlock(text, file);
    if (!range) return text;
    const before = text.slice(0, range.from).replace(/(^|\n)\r?\n$/, "$1");
    return before + text.slice(range.to).replace(/^\r?\n/, "");
  },
  read: (text) => (text.includes(BEGIN) ? true : null),
};

const file: Kind<PartOf<"file">> = {
  add(text, part) {
    if (text !== null && text.trim() !== "" && !text.includes(part.mark)) {
      throw new MemdirError("broken", `${part.file} is not memdir's; move it away, as memdir needs this name`);
    }
    return part.text;
  },
  remove(text, part) {
    if (text === part.text) return null;
    if (!text.includes(part.mark)) return text;
    throw new MemdirError("broken", `${part.file} was changed by hand; look at it and remove it yourself`);
  },
  read(text, part) {
    if (!text.includes(part.mark)) return null;
    return part.file.endsWith(".js") ? { kind: "plugin", file: part.file } : true;
  },
};

const KINDS: { [K in Part["kind"]]: Kind<PartOf<K>> } = { value, hooks, table, block, file };

export function kindOf(part: Part): Kind<Part> {
  return KINDS[part.kind] as Kind<Part>;
}

/** Lines of hooks that the parts name. */
export function commandsOf(parts: readonly Part[]): Set<string> {
  return new Set(
    parts.flatMap((part) =>
      part.kind === "hooks" ? Object.values(part.hooks).flatMap((h) => (h.type === "command" ? [h.command] : [])) : [],
    ),
  );
}

/** The form of our entry for each event that has one. */
export function readForms(text: string, file: string, known: ReadonlySet<string>): Map<string, HookEntry["type"]> {
  if (text.trim() === "") return new Map();
  const forms = eventsOf(text, file).flatMap((event): [string, HookEntry["type"]][] => {
    const [ours] = findOurs(text, event, file, known);
    return ours ? [[event, getNodeValue(ours.entry).type]] : [];
  });
  return new Map(forms);
}

function asServer(command: unknown, args: unknown, env: unknown): Server | null {
  if (typeof command !== "string" || !Array.isArray(args)) return null;
  const named = Object.entries(v.is(record, env) ? env : {}).filter(([, value]) => typeof value === "string");
  return { kind: "server", command, args: args.map(String), env: Object.fromEntries(named) as Record<string, string> };
}

/** The usual place of the program, for an installation that is gone. */
const USUAL_SERVER = /[\\/]memdir[\\/]dist[\\/]cli\.js$/;

/**
 * Whether an entry is memdir's. By the receipt: it starts the program that memdir had put there, whatever the user added. Without
 * one: it is what memdir writes and nothing else, of this installation or of one in the usual place.
 */
function isOurServer(there: unknown, written: Readonly<Record<string, unknown>>, isKnown: boolean): boolean {
  if (!v.is(record, there)) return false;
  const [now, ours] = [lineOf(there), lineOf(written)];
  const program = ours[1] ?? "";
  if (isKnown) return now.includes(program);
  const moved = now.length === ours.length && USUAL_SERVER.test(String(now[1])) ? now : ours;
  const expected = {
    ...written,
    ...("args" in written ? { command: moved[0], args: moved.slice(1) } : { command: moved }),
  };
  return now.at(-1) === ours.at(-1) && isDeepStrictEqual({ ...there }, expected);
}

/** The program and its arguments, in either of the two layouts. */
function lineOf({ command, args }: Readonly<Record<string, unknown>>): unknown[] {
  return [command, args ?? []].flat();
}

interface OurEntry {
  list: Node;
  group: Node;
  entry: Node;
}

function findOurs(text: string, event: string, file: string, known: ReadonlySet<string>): OurEntry[] {
  const { node: list, missing } = walk(text, ["hooks", event], file);
  if (missing.length > 0 || list.type !== "array") return [];
  return (list.children ?? []).flatMap((group) => {
    const inner = group.type === "object" ? findValue(group, "hooks", text, file) : null;
    return (inner?.type === "array" ? (inner.children ?? []) : []).flatMap((entry) => {
      const value = entry.type === "object" ? getNodeValue(entry) : {};
      return isOurHook(value.command, known) || isOurTool(value) ? [{ list, group, entry }] : [];
    });
  });
}

/** The server's tool, by the name that memdir's server has in every client. */
function isOurTool({ type, server, tool }: Record<string, unknown>): boolean {
  return type === "mcp_tool" && server === "memdir" && tool === "hook";
}

/** In the same form only what differs; from one form to the other all of it but the timeout. */
function changeEntry(text: string, node: Node, wanted: HookEntry, file: string): string {
  const there = getNodeValue(node);
  if (there.type !== wanted.type) {
    const timeout = there.timeout ?? wanted.timeout;
    return replaceNode(text, node, { ...wanted, ...(timeout === undefined ? {} : { timeout }) });
  }
  const key = wanted.type === "command" ? "command" : "input";
  const value = wanted.type === "command" ? wanted.command : wanted.input;
  const part = findValue(node, key, text, file);
  if (!part) return insertChild(text, node, key, value);
  return isDeepStrictEqual(getNodeValue(part), value) ? text : replaceNode(text, part, value);
}

/** Every entry of ours for these events, and what was made to hold them; one that `original` had comes back as it was. */
function removeEvents(
  text: string,
  events: readonly string[],
  file: string,
  known: ReadonlySet<string>,
  made: ReadonlySet<string> | null,
  original?: string | null,
): string {
  let now = text;
  for (const event of events) {
    const before = now;
    const findWritten = () => findOurs(now, event, file, known).filter(isWritten(known));
    const [earlier] = original?.trim() ? findOurs(original, event, file, known) : [];
    const rest = earlier ? 1 : 0;
    for (let ours = findWritten(); ours.length > rest; ours = findWritten())
      now = removeEntry(now, ours.at(-1) as OurEntry);
    const [first] = earlier ? findWritten() : [];
    if (earlier && first) now = restoreNode(now, first.entry, original as string, earlier.entry);
    if (now === before || (made !== null && !made.has(`hooks/${event}`))) continue;
    const { node } = walk(now, ["hooks", event], file);
    if ((node.children ?? []).length === 0) now = removeAt(now, ["hooks", event], file, made);
  }
  return now;
}

/** Also for an installation that is gone: the lines that the receipt knows, and the usual place. */
function isOurHook(command: unknown, known: ReadonlySet<string>): boolean {
  if (typeof command !== "string") return false;
  return known.has(command) || /[\\/]memdir[\\/]dist[\\/]hook\.cjs["']?\s*$/.test(command);
}

/** Whether memdir wrote it: a user who writes the line by hand quotes it in another way. */
function isWritten(known: ReadonlySet<string>): (ours: OurEntry) => boolean {
  return ({ entry }) => {
    const { command } = getNodeValue(entry);
    return typeof command !== "string" || known.has(command) || /^"[^"]+" "[^"]+"$/.test(command);
  };
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

function findBlock(text: string, file: string) {
  const message = `${file} has memdir's marks (${BEGIN}, ${END}) not as one pair; fix or remove them`;
  return findMarked(text, new RegExp(BEGIN, "g"), new RegExp(END, "g"), new MemdirError("broken", message));
}
