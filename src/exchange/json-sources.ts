/** Readers of JSON: the knowledge graph of MCP's server-memory, exports of mem0, and memdir's own. */

import { attempt, isObject } from "../errors.ts";
import { isMemoryType, type MemoryType, parseMemory, trustOf } from "../store/store.ts";
import { sha256 } from "../text/hash.ts";
import { count } from "../text/sanitise.ts";
import {
  describeBody,
  type Harvest,
  type Imported,
  MAX_MEMORIES,
  nameBody,
  readFile,
  textOf,
  textsOf,
  timeOf,
} from "./imported.ts";

type Item = Record<string, unknown>;

interface Entity {
  name: string;
  kind: string;
  observations: string[];
}

type Relation = { to: string; kind: string };

/** JSON lines, a memory for each entity with its relations; a broken line is counted and skipped. */
export const readServerMemory = (path: string): Harvest => readFile(path, readGraph);

function readGraph(text: string): Harvest {
  const entities = new Map<string, Entity>();
  const relations = new Map<string, Relation[]>();
  let broken = 0;
  for (const line of text.split("\n").filter((each) => each.trim() !== "")) {
    const { type, name, entityType, observations, from, to, relationType } = (parse(line) ?? {}) as Item;
    if (type === "entity" && textOf(name) !== "") {
      const known = entities.get(textOf(name))?.observations ?? [];
      const all = [...new Set([...known, ...textsOf(observations)])];
      entities.set(textOf(name), { name: textOf(name), kind: textOf(entityType), observations: all });
    } else if (type === "relation" && textOf(from) !== "" && textOf(to) !== "") {
      const own = relations.get(textOf(from)) ?? [];
      own.push({ to: textOf(to), kind: textOf(relationType) || "is related to" });
      relations.set(textOf(from), own);
    } else broken++;
  }
  const problems = broken === 0 ? [] : [`skipped ${count(broken, "line")}: neither an entity nor a relation`];
  const loose = [...relations].reduce((sum, [from, own]) => sum + (entities.has(from) ? 0 : own.length), 0);
  if (loose > 0) problems.push(`skipped ${count(loose, "relation")}: the entity that it starts from is missing`);
  if (entities.size > MAX_MEMORIES)
    problems.push(`only the first ${MAX_MEMORIES} of ${entities.size} entities are imported`);
  const all = [...entities.values()].slice(0, MAX_MEMORIES);
  return { found: all.flatMap((entity) => entityMemory(entity, relations.get(entity.name) ?? []) ?? []), problems };
}

/** Null for a mere name. An agent wrote it down of its own accord: a conclusion. */
function entityMemory({ name, kind, observations }: Entity, own: readonly Relation[]): Imported | null {
  const facts = observations.map((fact) => `- ${fact.replaceAll("\n", "\n  ")}`);
  const links = own.map((relation) => `- ${relation.kind} [[${relation.to}]]`);
  if (facts.length + links.length === 0) return null;
  const told = observations[0] ?? own.map((relation) => `${relation.kind} ${relation.to}`).join(", ");
  return {
    name,
    description: kind === "" ? told : `${kind}: ${told}`,
    type: /^(?:user|default_user)$/i.test(name) ? "user" : null,
    body: [facts.join("\n"), links.join("\n")].filter((part) => part !== "").join("\n\n"),
    origin: { from: "server-memory", id: name },
    trust: "inferred",
  };
}

/** A list of memories, bare or under `results`, `memories` or `data`, or a line each. */
export function readMem0(path: string): Harvest {
  return readFile(path, (text) => {
    const whole = parse(text);
    const items = whole === undefined ? linesOf(text) : listIn(whole, "results", "memories", "data");
    if (items === null) return { found: [], problems: ["it contains no list of memories; is it an export of mem0?"] };
    return takeFirst(items, mem0Memory, "without text");
  });
}

/** `empty` says what the skipped items lack. */
function takeFirst(items: readonly unknown[], read: (item: unknown) => Imported | null, empty: string): Harvest {
  const first = items.slice(0, MAX_MEMORIES);
  const found = first.flatMap((item) => read(item) ?? []);
  const skipped = first.length - found.length;
  const problems: string[] = [];
  if (items.length > first.length)
    problems.push(`only the first ${MAX_MEMORIES} of ${items.length} memories are imported`);
  if (skipped > 0) problems.push(`skipped ${count(skipped, "entry", "entries")} ${empty}`);
  return { found, problems };
}

function linesOf(text: string): unknown[] | null {
  const parsed = text
    .split("\n")
    .map(parse)
    .filter((value) => value !== undefined);
  return parsed.length > 0 ? parsed : null;
}

/** The list itself, or the first one under these keys. */
function listIn(value: unknown, ...keys: string[]): unknown[] | null {
  if (Array.isArray(value)) return value;
  return keys.map((key) => (value as Item | null)?.[key]).find((list) => Array.isArray(list)) ?? null;
}

/** Undefined for what is not JSON. */
function parse(text: string): unknown {
  return attempt<unknown, undefined>(() => JSON.parse(text), undefined);
}

/** A model drew it from what was said: a conclusion. */
function mem0Memory(value: unknown): Imported | null {
  const item: Item = isObject(value) ? value : { memory: value };
  const said = [item.memory, item.text, item.content].map(textOf).find((text) => text !== "");
  if (said === undefined) return null;
  const tags = [...textsOf(item.categories), ...textsOf((item.metadata as Item | null)?.categories)];
  return {
    name: nameBody(said),
    description: describeBody(said),
    body: tags.length === 0 ? said : `${said}\n\nTags: ${[...new Set(tags)].join(", ")}`,
    at: timeOf(item.updated_at) ?? timeOf(item.created_at),
    origin: { from: "mem0", id: textOf(item.id) || sha256(said).slice(0, 12) },
    trust: "inferred",
  };
}

export function readMemdirJson(path: string): Harvest {
  return readFile(path, (text) => {
    const rows = listIn(parse(text), "memories");
    if (rows === null) return { found: [], problems: ["it is not JSON of `memdir export --format json`"] };
    return takeFirst(rows, ownMemory, "without name and text");
  });
}

/** The file's text counts unless the fields beside it were changed: then they do. */
function ownMemory(value: unknown): Imported | null {
  if (!isObject(value)) return null;
  const row: Item = value;
  const type: MemoryType | null = isMemoryType(row.type) ? row.type : null;
  const file = textOf(row.file);
  const text = typeof row.text === "string" ? row.text : "";
  const name = textOf(row.name);
  const body = textOf(row.body);
  if (name === "" && body === "" && text === "") return null;
  const own = text === "" ? null : parseMemory(file, text);
  const agrees = own !== null && own.name === name && own.type === (type ?? own.type) && own.body.trim() === body;
  return {
    name: name || (own?.name ?? ""),
    description: textOf(row.description),
    type,
    body,
    when: textsOf(row.when),
    at: timeOf(row.modified) ?? timeOf(row.created),
    origin: { from: "json", id: [textOf(row.scope), file || name].filter((part) => part !== "").join("/") },
    // Fields without their file could be by anyone.
    trust: own === null ? "inferred" : trustOf(own.source),
    ...(agrees ? { text } : {}),
    ...(file === "" ? {} : { file }),
  };
}
