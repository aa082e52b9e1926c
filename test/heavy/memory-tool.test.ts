/** The memory tool in two programs at once, on one file: every insert of both is kept. */

import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { afterEach, expect, test } from "vitest";
import { dist, makeWorld, removeWorlds } from "./fixtures/heavy.ts";

afterEach(removeWorlds);

const urlOf = (file: string) => pathToFileURL(path.join(dist, file)).href;
const INSERTS = 50;

const PROGRAM = `
import { openMemdir } from "${urlOf("index.js")}";
import { openMemoryTool } from "${urlOf("memory-tool.js")}";
const [dir, name] = process.argv.slice(1);
const tool = openMemoryTool(await openMemdir({ memoryDir: dir }));
await Promise.all(Array.from({ length: ${INSERTS} }, (_, i) =>
  tool.insert({ path: "/memories/notes.md", insert_line: 0, insert_text: name + " " + i })));
`;

test("100 of 100 inserts of two processes into one file are kept, each once", async () => {
  const { home } = makeWorld();
  const dir = path.join(home, "memories");
  mkdirSync(dir);
  writeFileSync(path.join(dir, "notes.md"), "the first line\n");
  const run = (name: string) =>
    promisify(execFile)(process.execPath, ["--input-type=module", "-e", PROGRAM, dir, name], { cwd: home });
  await Promise.all([run("ann"), run("bob")]);
  const lines = readFileSync(path.join(dir, "notes.md"), "utf8").trimEnd().split("\n");
  const expected = ["ann", "bob"].flatMap((name) => Array.from({ length: INSERTS }, (_, i) => `${name} ${i}`));
  expect(lines.toSorted()).toEqual([...expected, "the first line"].toSorted());
});
