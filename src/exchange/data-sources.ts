/** Readers of data: the knowledge graph of MCP's server-memory, exports of mem0 and memdir's own, all of them JSON, and the SQLite database of claude-mem. */

import { attempt, MemdirError } from "../errors.ts";
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
  const item = (typeof value === "object" && value !== null ? value : { memory: value }) as Item;
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
  if (typeof value !== "object" || value === null) return null;
  const row = value as Item;
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

// --- claude-mem: observations and summaries of sessions, read with Node's own SQLite.

/** As much of Node's `DatabaseSync` as it takes. */
export interface Database {
  prepare(sql: string): { all(): unknown[] };
  close(): void;
}

/**
 * `project`: only what belongs to it, which claude-mem knows by its folder's name; null for all of them. `openDatabase` is
 * Node's own unless a test gives another.
 */
export function readClaudeMem(
  path: string,
  { project, openDatabase = openSqlite }: { project: string | null; openDatabase?: (path: string) => Database },
): Harvest {
  let database: Database | null = null;
  try {
    database = openDatabase(path);
    return readTables(database, project);
  } catch (error) {
    if (error instanceof MemdirError) throw error;
    const message = `${path} cannot be read as claude-mem's database (${(error as Error).message}): give its claude-mem.db`;
    throw new MemdirError("usage", message, { cause: error });
  } finally {
    database?.close();
  }
}

function readTables(database: Database, project: string | null): Harvest {
  const rowsOf = (sql: string) => database.prepare(sql).all() as Item[];
  const tables = new Set(rowsOf("SELECT name FROM sqlite_master WHERE type = 'table'").map((row) => row.name));
  const problems: string[] = [];
  const read = (table: string, make: (row: Item) => Imported | null): Imported[] => {
    if (!tables.has(table)) {
      problems.push(`the database has no table ${table}`);
      return [];
    }
    const all = rowsOf(`SELECT * FROM ${table} ORDER BY id DESC LIMIT ${MAX_MEMORIES + 1}`);
    if (all.length > MAX_MEMORIES) problems.push(`only the newest ${MAX_MEMORIES} rows of ${table} are read`);
    return all
      .slice(0, MAX_MEMORIES)
      .filter(isOurs)
      .flatMap((row) => make(row) ?? []);
  };
  const isOurs = (row: Item) => project === null || row.project === project || row.merged_into_project === project;
  const found = [...read("observations", observationOf), ...read("session_summaries", summaryOf)];
  if (found.length === 0 && project !== null && tables.has("observations")) {
    const names = rowsOf("SELECT DISTINCT project FROM observations ORDER BY project LIMIT 20");
    const some = names.map((row) => textOf(row.project)).filter((name) => name !== "");
    if (some.length > 0)
      problems.push(`nothing of the project ${project}; there is ${some.join(", ")}: --all takes everything`);
  }
  return { found, problems };
}

/** What a model made of the output of tools is trusted no more than that. */
function observationOf(row: Item): Imported | null {
  const facts = listOf(row.facts).map((fact) => `- ${fact}`);
  const files = [...new Set([...listOf(row.files_modified), ...listOf(row.files_read)])];
  const tags = listOf(row.concepts);
  const told = [textOf(row.narrative) || textOf(row.text), facts.join("\n")].filter((part) => part !== "");
  if (told.length === 0 && textOf(row.subtitle) === "") return null;
  const more = files.length > 0 ? [`Files: ${files.join(", ")}`] : [];
  if (tags.length > 0) more.push(`Tags: ${tags.join(", ")}`);
  return {
    name: textOf(row.title) || describeBody(told.join("\n")),
    description: textOf(row.subtitle) || describeBody(told.join("\n")),
    body: [...told, ...more].join("\n\n"),
    at: timeOf(row.created_at_epoch) ?? timeOf(row.created_at),
    origin: { from: "claude-mem", id: String(row.id) },
    trust: "tool",
  };
}

const PARTS = [
  ["request", "Asked"],
  ["investigated", "Looked at"],
  ["learned", "Learned"],
  ["completed", "Done"],
  ["next_steps", "Next"],
  ["notes", "Notes"],
] as const;

/** Only a summary that says what was learnt or done: a request alone is not a memory. */
function summaryOf(row: Item): Imported | null {
  if (textOf(row.learned) === "" && textOf(row.completed) === "") return null;
  const parts = PARTS.flatMap(([key, title]) => (textOf(row[key]) === "" ? [] : [`**${title}:** ${textOf(row[key])}`]));
  return {
    name: describeBody(textOf(row.request)) || describeBody(textOf(row.learned) || textOf(row.completed)),
    description: describeBody(textOf(row.learned) || textOf(row.completed)),
    type: "project",
    body: parts.join("\n\n"),
    at: timeOf(row.created_at_epoch) ?? timeOf(row.created_at),
    origin: { from: "claude-mem", id: `summary-${row.id}` },
    trust: "tool",
  };
}

/** Lists are kept as JSON. */
function listOf(value: unknown): string[] {
  return attempt(() => textsOf(JSON.parse(textOf(value) || "[]")), []);
}

/** Opened for reading only: the program that owns it may be running. */
function openSqlite(path: string): Database {
  const sqlite = process.getBuiltinModule("node:sqlite" as "node:fs") as unknown as
    | { DatabaseSync: new (path: string, options: { readOnly: boolean }) => Database }
    | undefined;
  if (sqlite) return new sqlite.DatabaseSync(path, { readOnly: true });
  const message = `claude-mem's database needs the SQLite of Node 22.13 or newer, and this is ${process.version}: run memdir with a newer Node`;
  throw new MemdirError("usage", message);
}
