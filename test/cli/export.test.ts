/** `memdir export`, called in process. */

import fs from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { runOf } from "../../src/cli/command.ts";
import { export as exportAll } from "../../src/verbs/exchange.ts";
import { errorOf, makeWorld, note, type World } from "../world.ts";
import { type CallOptions, hearCall } from "./call.ts";

const run = runOf(exportAll);

async function filled(): Promise<World> {
  const world = makeWorld();
  const memdir = await world.open();
  await memdir.save(note("use pnpm", { type: "feedback" }));
  await memdir.save(note("my role"));
  return world;
}

async function call(world: World, options: CallOptions) {
  const heard = hearCall(world, options);
  expect(await run(heard.call)).toBe(0);
  return heard;
}

it("prints a document, JSON or a section when no output is named", async () => {
  const world = await filled();
  expect((await call(world, {})).printed[0]).toContain("## How to work\n\n### use pnpm");
  const json = await call(world, { options: { format: "json", type: "user" } });
  expect(JSON.parse(json.printed[0] as string).memories).toMatchObject([{ name: "my role" }]);
  const section = await call(world, { options: { format: "agents-md", output: "-" } });
  expect(section.printed[0]).toMatch(/^<!-- memdir:begin[\s\S]*\*\*use pnpm\*\*[\s\S]*<!-- memdir:end -->$/);
  expect(section.printed[0]).not.toContain("my role");
});

it("gives a pipe every byte, and a terminal nothing that moves its cursor", async () => {
  const world = makeWorld();
  world.write("project_make.md", "---\nname: make\ntype: project\n---\n\nRun:\n\n\tgo test \x1b[2J./...\n");
  expect((await call(world, {})).printed[0]).toContain("\tgo test \x1b[2J./...");
  expect((await call(world, { columns: 80 })).printed[0]).toContain("    go test ./...");
});

it("writes to a folder, a file or AGENTS.md, and tells what it left out", async () => {
  const world = await filled();
  world.write(
    "project_secret.md",
    `---\nname: s\ntype: project\n---\n\nghp_${"a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"}\n`,
  );
  const { printed, warned } = await call(world, { options: { output: "out/" } });
  expect(printed).toEqual([`exported 2 memories to ${path.join(world.project, "out")}/`]);
  expect(warned[0]).toMatch(/^memdir: note: project_secret\.md is left out: it holds what looks like a secret/);
  expect(fs.readdirSync(path.join(world.project, "out")).sort()).toEqual([
    ".memdir-export.json",
    "feedback_use_pnpm.md",
    "user_my_role.md",
  ]);
  const { answers } = await call(world, { options: { format: "agents-md", output: "AGENTS.md" }, json: true });
  expect(answers[0]).toMatchObject({ format: "agents-md", exported: ["feedback_use_pnpm.md"], removed: [] });
  expect(answers[0].text).toBeUndefined();
  const docs = path.join(world.project, "docs");
  fs.mkdirSync(docs);
  const inFolder = { format: "agents-md", output: "docs" };
  expect((await call(world, { options: inFolder })).printed).toEqual([
    `exported 1 memory to ${path.join(docs, "AGENTS.md")}`,
  ]);
  expect((await call(world, { options: inFolder, json: true })).answers[0].output).toBe(path.join(docs, "AGENTS.md"));
  expect((await call(world, { options: { format: "agents-md", output: "new/" } })).printed).toEqual([
    `exported 1 memory to ${path.join(world.project, "new", "AGENTS.md")}`,
  ]);
  expect(fs.readFileSync(path.join(world.project, "AGENTS.md"), "utf8")).toContain("use pnpm");
});

it("does not claim to have written AGENTS.md when there is nothing to put in it", async () => {
  const world = makeWorld();
  const { printed } = await call(world, { options: { format: "agents-md", output: "AGENTS.md" } });
  const file = path.join(world.project, "AGENTS.md");
  expect(printed).toEqual([`there are no memories to export: ${file} was not created`]);
  expect(fs.existsSync(file)).toBe(false);
});

it("says of several that they are left out, and why", async () => {
  const world = makeWorld();
  for (const name of ["a", "b"])
    world.write(`project_${name}.md`, `---\nname: ${name}\ntype: project\nsource: document\n---\n\nSaid.\n`);
  const asked = { format: "agents-md", output: "AGENTS.md" };
  expect((await call(world, { options: asked })).warned).toEqual([
    "memdir: note: 2 memories are left out, each because its words come from a document: as an instruction they would be more than that",
  ]);
  for (const name of ["a", "b"]) fs.writeFileSync(path.join(world.dir, `project_${name}.md`), Buffer.from([0xff]));
  expect((await call(world, { options: { output: "out.md" } })).warned).toEqual([
    "memdir: note: 2 memories are left out, each because it is not valid UTF-8",
  ]);
});

it("refuses a file of somebody else's without --force, and formats and types that there are not", async () => {
  const world = await filled();
  fs.writeFileSync(path.join(world.project, "notes.md"), "mine");
  const problem = async (options: CallOptions["options"]) =>
    (await errorOf(run(hearCall(world, { options: options ?? {} }).call))).message;
  expect(await problem({ output: "notes.md" })).toMatch(/notes\.md exists and is not an export of memdir.*--force/);
  expect(await problem({ format: "xml" })).toBe('--format must be one of markdown, json, agents-md, not "xml"');
  expect(await problem({ type: "rule" })).toMatch(/--type must be one of .*, not "rule"/);
  await call(world, { options: { output: "notes.md", force: true } });
  expect(fs.readFileSync(path.join(world.project, "notes.md"), "utf8")).toContain("use pnpm");
});
