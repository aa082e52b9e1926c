/** Importing claude-mem's database: observations and summaries of sessions, read with Node's own SQLite. */

import { attempt, MemdirError } from "../errors.ts";
import { describeBody, type Harvest, type Imported, MAX_MEMORIES, textOf, textsOf, timeOf } from "./imported.ts";

type Row = Record<string, unknown>;

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
  const rowsOf = (sql: string) => database.prepare(sql).all() as Row[];
  const tables = new Set(rowsOf("SELECT name FROM sqlite_master WHERE type = 'table'").map((row) => row.name));
  const problems: string[] = [];
  const read = (table: string, make: (row: Row) => Imported | null): Imported[] => {
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
  const isOurs = (row: Row) => project === null || row.project === project || row.merged_into_project === project;
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
function observationOf(row: Row): Imported | null {
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
function summaryOf(row: Row): Imported | null {
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
