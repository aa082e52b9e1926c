import fs from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { runOf } from "../../src/cli/command.ts";
import { slugOf } from "../../src/project/locate.ts";
import { sessions as verb } from "../../src/verbs/sessions.ts";
import { errorOf, makeWorld, type World } from "../world.ts";
import { hearCall } from "./call.ts";

const run = runOf(verb);

async function sessions(world: World, args: string[], options: { all?: boolean; limit?: string; json?: boolean } = {}) {
  const { json, ...rest } = options;
  const heard = hearCall(world, { args, options: rest, json: json === true });
  const code = await run(heard.call);
  return { code, printed: [...heard.printed, ...heard.warned], answer: heard.answers[0], progress: heard.progress };
}

function put(world: World, folder: string, id: string, at: string, ...texts: string[]): void {
  const dir = path.join(world.home, ".claude", "projects", folder);
  fs.mkdirSync(dir, { recursive: true });
  const lines = texts.map((content) => ({
    type: "user",
    uuid: content,
    parentUuid: null,
    cwd: world.project,
    timestamp: at,
    message: { role: "user", content },
  }));
  fs.writeFileSync(path.join(dir, `${id}.jsonl`), lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
}

const FIRST = "11111111-0000-4000-8000-000000000001";
const SECOND = "22222222-0000-4000-8000-000000000002";
const OTHER = "33333333-0000-4000-8000-000000000003";

function furnish(): World {
  const world = makeWorld();
  const here = slugOf(world.project);
  put(world, here, FIRST, "2026-03-10T11:15:00.000Z", "Why is the \x1b[31mpool\x07 full?", "And the queue?");
  put(world, here, SECOND, "2026-02-01T10:00:00.000Z", "Write the notes");
  put(world, "-other", OTHER, "2026-03-09T10:00:00.000Z", "A pool elsewhere");
  return world;
}

describe("memdir sessions", () => {
  test("B1.13 lists the sessions of this folder, newest first, one line each", async () => {
    const { code, printed, progress } = await sessions(furnish(), []);
    expect(code).toBe(0);
    expect(printed).toEqual([
      "11111111  45 min ago      2  Why is the pool full?",
      "22222222  2026-02-01      1  Write the notes",
    ]);
    expect(progress).toEqual(["reading sessions 0/2", "reading sessions 1/2", "reading sessions 2/2", "end"]);
  });

  test("B1.13 as JSON", async () => {
    const world = furnish();
    const { answer, printed } = await sessions(world, [], { json: true, limit: "1" });
    const file = path.join(world.home, ".claude", "projects", slugOf(world.project), `${FIRST}.jsonl`);
    expect(printed).toEqual([]);
    expect(JSON.stringify(answer)).toBe(
      JSON.stringify([
        {
          id: FIRST,
          at: "2026-03-10T11:15:00.000Z",
          title: "Why is the pool full?",
          messages: 2,
          path: file,
          started: "2026-03-10T11:15:00.000Z",
          cwd: world.project,
          bytes: fs.statSync(file).size,
        },
      ]),
    );
  });

  test("--all looks at every project and says which", async () => {
    const world = furnish();
    const { printed } = await sessions(world, [], { all: true });
    expect(printed.map((line) => line.slice(0, 8))).toEqual(["11111111", "33333333", "22222222"]);
    expect(printed[1]).toBe(`33333333  1 d ago         1  A pool elsewhere ${world.project}`);
  });

  test("B1.13 search shows the place that was found", async () => {
    const world = furnish();
    const { printed } = await sessions(world, ["search", "POOL", "full"]);
    expect(printed).toEqual(["11111111  45 min ago      2  Why is the pool full?", "    Why is the pool full?"]);
    const { answer } = await sessions(world, ["search", "pool"], { all: true, json: true });
    expect(answer).toMatchObject([
      { id: FIRST, score: expect.any(Number), line: "Why is the pool full?", role: "user" },
      { id: OTHER, score: expect.any(Number), line: "A pool elsewhere" },
    ]);
  });

  test("nothing there is said kindly, and is no failure", async () => {
    const world = makeWorld();
    const empty = await sessions(world, []);
    expect([empty.code, empty.printed[0]]).toEqual([0, "No sessions yet."]);
    expect((await sessions(world, [], { all: true })).printed).toEqual(["No sessions yet."]);
    expect((await sessions(world, ["search", "x"])).printed[0]).toBe("Nothing found.");
    expect((await sessions(world, [], { json: true })).answer).toEqual([]);
  });

  test("C26 seed 001's sessions belong here unless they name another folder", async () => {
    const world = makeWorld();
    const put001 = (id: string, line: object) => {
      const dir = path.join(world.home, ".claude", "sessions", id);
      fs.mkdirSync(dir, { recursive: true });
      fs.writeFileSync(path.join(dir, "transcript.jsonl"), `${JSON.stringify(line)}\n`);
    };
    put001("first", { role: "user", content: "hello" });
    put001("second", { type: "user", cwd: "/elsewhere", message: { role: "user", content: "hello" } });
    const ids = (rows: unknown) => (rows as { id: string }[]).map(({ id }) => id).sort();
    expect(ids((await sessions(world, [], { json: true })).answer)).toEqual(["first"]);
    expect(ids((await sessions(world, [], { json: true, all: true })).answer)).toEqual(["first", "second"]);
  });

  test("a wrong call says what is right", async () => {
    const world = makeWorld();
    expect((await errorOf(sessions(world, ["serach", "x"]))).message).toMatch(/memdir sessions search WORDS/);
    expect((await errorOf(sessions(world, ["search"]))).code).toBe("usage");
    expect((await errorOf(sessions(world, [], { limit: "many" }))).code).toBe("usage");
  });
});
