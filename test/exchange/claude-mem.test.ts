/** claude-mem's database: rows as they come, and a real file where Node has SQLite. */

import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { type Database, readClaudeMem } from "../../src/exchange/claude-mem.ts";
import { makeTemporary } from "../temporary.ts";
import { errorOf } from "../world.ts";

type Rows = Record<string, unknown>[];

const OBSERVATION = {
  id: 7,
  memory_session_id: "s",
  project: "shop",
  text: null,
  type: "bugfix",
  title: "Fixed the retry loop",
  subtitle: "The client retried for ever on 401",
  facts: '["401 is final", "The limit is 3"]',
  narrative: "The retry loop did not look at the status.",
  concepts: '["gotcha"]',
  files_read: '["src/client.ts"]',
  files_modified: '["src/client.ts", "src/retry.ts"]',
  created_at: "2025-10-01T10:00:00.000Z",
  created_at_epoch: 1_759_312_800_000,
};
const SUMMARY = {
  id: 3,
  project: "shop",
  request: "Make the client give up",
  investigated: "The loop",
  learned: "A status of 401 never changes by waiting.",
  completed: "Limit of three",
  next_steps: null,
  notes: "",
  created_at: "2025-10-01T11:00:00.000Z",
};

/** Answers the three questions that are asked; nothing else is. */
function fake(tables: Record<string, Rows>): (path: string) => Database {
  return () => ({
    prepare(sql) {
      const table = /FROM (\w+)/.exec(sql)?.[1] as string;
      const names = Object.keys(tables).map((name) => ({ name }));
      return { all: () => (table === "sqlite_master" ? names : (tables[table] as Rows)) };
    },
    close: () => {},
  });
}

describe("claude-mem", () => {
  it("reads observations and summaries of the project, as the output of tools", () => {
    const openDatabase = fake({
      observations: [OBSERVATION, { ...OBSERVATION, id: 8, project: "other" }],
      session_summaries: [SUMMARY, { ...SUMMARY, id: 4, learned: "", completed: null }],
    });
    const { found, problems } = readClaudeMem("x.db", { project: "shop", openDatabase });
    expect(problems).toEqual([]);
    expect(found).toMatchObject([
      {
        name: "Fixed the retry loop",
        description: "The client retried for ever on 401",
        at: "2025-10-01T10:00:00.000Z",
        origin: { from: "claude-mem", id: "7" },
        trust: "tool",
      },
      { name: "Make the client give up", type: "project", origin: { id: "summary-3" }, trust: "tool" },
    ]);
    expect(found[0]?.body).toBe(
      "The retry loop did not look at the status.\n\n- 401 is final\n- The limit is 3\n\nFiles: src/client.ts, src/retry.ts\n\nTags: gotcha",
    );
    expect(found[1]?.body).toContain("**Learned:** A status of 401 never changes by waiting.");
    expect(readClaudeMem("x.db", { project: null, openDatabase }).found).toHaveLength(3);
  });

  it("reads the first shape, with a text and nothing else, and broken lists", () => {
    const row = {
      id: 1,
      sdk_session_id: "s",
      project: "shop",
      text: "The queue is drained at night.",
      type: "x",
      facts: "[1,",
      created_at_epoch: 1n,
    };
    const { found, problems } = readClaudeMem("x.db", { project: "shop", openDatabase: fake({ observations: [row] }) });
    expect(found).toMatchObject([{ name: "The queue is drained at night.", body: "The queue is drained at night." }]);
    expect(problems).toEqual(["the database has no table session_summaries"]);
  });

  it("names the projects there are when none is this one", () => {
    const openDatabase = fake({ observations: [OBSERVATION], session_summaries: [] });
    expect(readClaudeMem("x.db", { project: "mine", openDatabase }).problems).toEqual([
      "nothing of the project mine; there is shop: --all takes everything",
    ]);
  });
});

const sqlite = process.getBuiltinModule("node:sqlite" as "node:fs") as unknown as
  | { DatabaseSync: new (path: string) => { exec(sql: string): void; close(): void } }
  | undefined;

it.skipIf(sqlite !== undefined)("says which Node it needs where there is no SQLite", async () => {
  const read = async () => readClaudeMem("x.db", { project: null });
  expect((await errorOf(read())).message).toMatch(/needs the SQLite of Node 22\.13 or newer, and this is v2/);
});

// Node before 22.13 has no SQLite without a flag.
describe.skipIf(sqlite === undefined)("a real database", () => {
  it("is read and stays as it is; another file is refused", async () => {
    const top = makeTemporary("claude-mem");
    const file = path.join(top, "claude-mem.db");
    const database = new (sqlite as NonNullable<typeof sqlite>).DatabaseSync(file);
    database.exec(`
      CREATE TABLE observations (id INTEGER PRIMARY KEY AUTOINCREMENT, memory_session_id TEXT NOT NULL, project TEXT NOT NULL,
        text TEXT, type TEXT NOT NULL, title TEXT, subtitle TEXT, facts TEXT, narrative TEXT, concepts TEXT, files_read TEXT,
        files_modified TEXT, prompt_number INTEGER, created_at TEXT NOT NULL, created_at_epoch INTEGER NOT NULL);
      CREATE TABLE session_summaries (id INTEGER PRIMARY KEY AUTOINCREMENT, memory_session_id TEXT NOT NULL, project TEXT NOT NULL,
        request TEXT, investigated TEXT, learned TEXT, completed TEXT, next_steps TEXT, files_read TEXT, files_edited TEXT,
        notes TEXT, prompt_number INTEGER, created_at TEXT NOT NULL, created_at_epoch INTEGER NOT NULL);
      INSERT INTO observations (memory_session_id, project, type, title, narrative, created_at, created_at_epoch)
        VALUES ('s', 'shop', 'discovery', 'Found it', 'It was in the cache.', '2025-10-01', 1759312800000);
    `);
    database.close();
    const before = fs.readFileSync(file);
    expect(readClaudeMem(file, { project: "shop" }).found).toMatchObject([{ name: "Found it" }]);
    expect(fs.readFileSync(file).equals(before)).toBe(true);
    fs.writeFileSync(path.join(top, "text.db"), "no database, by far");
    for (const other of [path.join(top, "text.db"), top]) {
      const read = async () => readClaudeMem(other, { project: null });
      expect((await errorOf(read())).code).toBe("usage");
    }
  });
});
