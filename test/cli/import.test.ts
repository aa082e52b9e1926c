/** `memdir import`, called in process. */

import fs from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { runOf } from "../../src/cli/command.ts";
import { slugOf } from "../../src/project/locate.ts";
import { import as importAll } from "../../src/verbs/exchange.ts";
import { errorOf, makeWorld, type World } from "../world.ts";
import { type CallOptions, hearCall } from "./call.ts";

const run = runOf(importAll);

function put(world: World, file: string, text: string): string {
  const at = path.join(world.home, file);
  fs.mkdirSync(path.dirname(at), { recursive: true });
  fs.writeFileSync(at, text);
  return at;
}

async function call(world: World, options: CallOptions, code = 0) {
  const heard = hearCall(world, options);
  expect(await run(heard.call)).toBe(code);
  return heard;
}

const SUMMARY =
  "## Tips\n\nCheck the feature flags before you look for a missing endpoint.\n\n## Tools\n\nThe build needs Go.\n";

it("lists what it finds on this machine, and changes nothing", async () => {
  const world = makeWorld();
  put(world, ".codex/memories/memory_summary.md", SUMMARY);
  put(world, ".gemini/GEMINI.md", "## Gemini Added Memories\n- One\n- Two\n- Three\n");
  const other = put(world, `.claude/projects/${slugOf("/other")}/memory/a.md`, "Words.");
  put(world, ".claude-mem/claude-mem.db", "no database");
  const { answers } = await call(world, { json: true });
  expect(answers[0]).toMatchObject([
    { source: "claude-code", path: path.dirname(other), memories: 1, problem: null },
    { source: "codex", memories: 2 },
    { source: "gemini", memories: 3 },
    { source: "claude-mem", memories: 0, problem: expect.any(String) },
  ]);
  const { printed, warned } = await call(world, {});
  expect(printed.join("\n")).toMatch(/^codex +2 {2}.*memories$/m);
  expect(warned).toHaveLength(1);
  expect(fs.existsSync(world.dir)).toBe(false);
  const nothing = await call(makeWorld(), {});
  expect(nothing.printed[0]).toBe("Nothing to import was found in the usual places.");
});

it("shows what would come in, takes it in, knows it again, and undo takes all of it back", async () => {
  const world = makeWorld();
  put(world, ".codex/memories/memory_summary.md", SUMMARY);
  const dry = await call(world, { args: ["codex"], options: { "dry-run": true } });
  expect(dry.printed).toEqual([
    `would import 2 memories from ${path.join(world.home, ".codex", "memories")}`,
    "    [project] Tips (project_tips.md)",
    "    [project] Tools (project_tools.md)",
  ]);
  expect(fs.existsSync(world.dir)).toBe(false);
  const done = await call(world, { args: ["codex"], json: true });
  expect(done.answers[0]).toMatchObject({ source: "codex", dryRun: false, imported: [{}, {}], skipped: [], undo: "1" });
  expect(done.progress.at(-1)).toBe("end");
  expect(fs.existsSync(world.path(".memdir", "project.json"))).toBe(true);
  const again = await call(world, { args: ["codex"] });
  expect(again.printed).toEqual([
    expect.stringMatching(/^imported 0 memories from /),
    "2 memories were imported before",
  ]);
  await (await world.open()).undo();
  expect(await (await world.open()).list()).toEqual([]);
});

it("reads a path relative to the working directory, with the user's word on the type, and names what it leaves out", async () => {
  const world = makeWorld();
  fs.writeFileSync(path.join(world.project, "style.mdc"), "Write names as nouns.\n");
  fs.mkdirSync(path.join(world.project, "notes"));
  fs.writeFileSync(path.join(world.project, "notes", "token.md"), `ghp_${"a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"}\n`);
  await call(world, { args: ["cursor", "style.mdc"], options: { type: "feedback" } });
  expect(world.read("feedback_style.md")).toContain("importedFrom: cursor#style.mdc");
  const { printed, warned } = await call(world, { args: ["markdown", "notes"] }, 2);
  expect(printed[0]).toMatch(/^imported 0 memories from /);
  expect(warned[0]).toMatch(/^memdir: note: "token" is left out: it holds what looks like a secret \(github-token\)/);
});

it("says what to do about a source, a path or a type that it does not know", async () => {
  const world = makeWorld();
  put(world, `.claude/projects/${slugOf("/other")}/memory/a.md`, "Words.");
  const problem = async (options: CallOptions) => (await errorOf(run(hearCall(world, options).call))).message;
  expect(await problem({ args: ["nonsense"] })).toMatch(/no source "nonsense": it is one of claude-code, codex/);
  expect(await problem({ args: ["codex"] })).toMatch(/memories is not there: give its place: memdir import codex PATH/);
  expect(await problem({ args: ["mem0", "gone.json"] })).toMatch(/gone\.json is not there: check the path/);
  expect(await problem({ args: ["mem0"] })).toBe("mem0 has no usual place: give a path, `memdir import mem0 PATH`");
  expect(await problem({ args: ["claude-code"] })).toMatch(/such as .*-other.*memory$/);
  expect(await problem({ args: ["codex"], options: { type: "rule" } })).toMatch(/--type must be one of .*, not "rule"/);
});
