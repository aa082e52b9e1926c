import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const src = fileURLToPath(new URL("../../src", import.meta.url));

/** The runner itself, and the agent's shell, which runs whatever the agent writes. */
const MAY_START_GIT = ["project/git.ts", "tools/bash.ts"];

/** Calls of node:child_process, or of our own runner of children, with git as the program, also as a template or behind a variable of that name. */
const STARTS_GIT =
  /\b(?:spawn|exec|execFile|fork|runChild)(?:Sync)?\s*\(\s*(?:["'`]git\b|git\b|GIT\b)|["'`]git(?:\.exe)?["'`]\s*,\s*\[/;

it("git is started in one file only", () => {
  const files = readdirSync(src, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map((entry) => path.join(entry.parentPath, entry.name));
  const found = files
    .filter((file) => STARTS_GIT.test(readFileSync(file, "utf8")))
    .map((file) => path.relative(src, file).replaceAll("\\", "/"));
  expect(found.filter((file) => !MAY_START_GIT.includes(file))).toEqual([]);
  expect(STARTS_GIT.test('execFile("git", ["status"])')).toBe(true);
  expect(STARTS_GIT.test("spawn(\n      'git', args")).toBe(true);
});
