/** Every case that the SDK's own tests have for its file system backend, in our words: ours must do what that backend does, step by step and file by file. */

import fs from "node:fs";
import path from "node:path";
import { BetaLocalFilesystemMemoryTool } from "@anthropic-ai/sdk/tools/memory/node";
import { describe, expect, it } from "vitest";
import { openMemdir } from "../../src/index.ts";
import { openMemoryTool } from "../../src/memory-tool/memory-tool.ts";
import { makeTemporary } from "../temporary.ts";
import { makeWorld } from "../world.ts";

type Command = Readonly<Record<string, unknown>> & { command: string };
type Tool = Record<string, (command: Command) => Promise<unknown>>;

interface Case {
  checks: string;
  /** Links and folders beside the memories, below the folder that holds `memories`. */
  given?(folder: string): void;
  steps: readonly Command[];
}

const at = (name: string) => `/memories/${name}`;
const create = (name: string, file_text = "some text") => ({ command: "create", path: at(name), file_text });
const view = (name: string, more: object = {}) => ({ command: "view", path: at(name), ...more });
const replace = (name: string, old_str: string, new_str: string) => ({
  ...{ command: "str_replace", path: at(name), old_str, new_str },
});
const insert = (name: string, insert_line: number, insert_text: string) => ({
  ...{ command: "insert", path: at(name), insert_line, insert_text },
});
const remove = (name: string) => ({ command: "delete", path: at(name) });
const rename = (from: string, to: string) => ({ command: "rename", old_path: at(from), new_path: at(to) });

const POEM = "roses\nviolets\nsugar";
/** One line more than line numbers have room for. */
const TOO_LONG = "\n".repeat(999_999);

function link(to: string) {
  return (folder: string) => {
    fs.mkdirSync(path.join(folder, to), { recursive: true });
    fs.writeFileSync(path.join(folder, to, "diary.txt"), "not yours");
    fs.symlinkSync(path.join(folder, to), path.join(folder, "memories", "away"), "dir");
  };
}

const CASES: readonly Case[] = [
  { checks: "a file is created", steps: [create("one.txt")] },
  { checks: "folders above a new file are created", steps: [create("far/away/one.txt")] },
  { checks: "a file that exists is not created again", steps: [create("one.txt"), create("one.txt", "other")] },
  { checks: "a file is viewed with line numbers", steps: [create("one.txt", POEM), view("one.txt")] },
  { checks: "a folder is viewed", steps: [create("f/one.txt"), create("f/two.txt"), view("f")] },
  { checks: "a part of a file is viewed", steps: [create("one.txt", POEM), view("one.txt", { view_range: [2, 3] })] },
  { checks: "a missing file cannot be viewed", steps: [view("none.txt")] },
  { checks: "a file of too many lines cannot be viewed", steps: [create("long.txt", TOO_LONG), view("long.txt")] },
  { checks: "a text is replaced", steps: [create("one.txt", POEM), replace("one.txt", "violets", "lilies")] },
  { checks: "a text that is not there is not replaced", steps: [create("one.txt"), replace("one.txt", "x-x", "y")] },
  {
    checks: "a text that is there twice is not replaced",
    steps: [create("one.txt", "tea\nmilk\ntea"), replace("one.txt", "tea", "coffee")],
  },
  { checks: "nothing is replaced in a missing file", steps: [replace("none.txt", "a", "b")] },
  { checks: "a line is inserted between two", steps: [create("one.txt", POEM), insert("one.txt", 1, "daisies")] },
  { checks: "a line is inserted at the top", steps: [create("one.txt", POEM), insert("one.txt", 0, "daisies")] },
  { checks: "a line is inserted at the end", steps: [create("one.txt", POEM), insert("one.txt", 3, "daisies")] },
  { checks: "nothing is inserted into a missing file", steps: [insert("none.txt", 0, "daisies")] },
  { checks: "nothing is inserted after the end", steps: [create("one.txt", POEM), insert("one.txt", 99, "daisies")] },
  { checks: "a file is deleted", steps: [create("one.txt"), remove("one.txt")] },
  { checks: "a folder is deleted", steps: [create("f/one.txt"), remove("f")] },
  { checks: "a missing file is not deleted", steps: [remove("none.txt")] },
  { checks: "the memories themselves are not deleted", steps: [{ command: "delete", path: "/memories" }] },
  { checks: "a file is renamed", steps: [create("one.txt"), rename("one.txt", "two.txt")] },
  { checks: "a file is moved into new folders", steps: [create("one.txt"), rename("one.txt", "far/away/two.txt")] },
  { checks: "a missing file is not renamed", steps: [rename("none.txt", "two.txt")] },
  {
    checks: "a file does not replace another",
    steps: [create("one.txt"), create("two.txt"), rename("one.txt", "two.txt")],
  },
  { checks: "a path elsewhere is refused", steps: [{ ...create("x"), path: "/elsewhere/one.txt" }] },
  { checks: "a path that climbs out is refused", steps: [create("../../../etc/hosts")] },
  { checks: "a link to a neighbour with a like name", given: link("memories_old"), steps: [view("away/diary.txt")] },
  {
    checks: "a path to a neighbour with a like name",
    given: link("memories_old"),
    steps: [view("../memories_old/diary.txt")],
  },
  { checks: "nothing is viewed through a link", given: link("outside"), steps: [view("away/diary.txt")] },
  { checks: "nothing is created through a link", given: link("outside"), steps: [create("away/mine.txt")] },
  {
    checks: "nothing is created in a folder behind a link",
    given: link("outside"),
    steps: [create("away/f/mine.txt")],
  },
  { checks: "the directory is the user's alone", steps: [] },
  { checks: "a file is the user's alone", steps: [create("one.txt")] },
  { checks: "folders above a file are the user's alone", steps: [create("f/one.txt")] },
  { checks: "folders above a renamed file are too", steps: [create("one.txt"), rename("one.txt", "f/two.txt")] },
  { checks: "and a file that was edited", steps: [create("one.txt", POEM), replace("one.txt", "roses", "tulips")] },
];

describe("the SDK's own cases", () => {
  it("are 37", () => {
    expect(CASES).toHaveLength(37);
  });

  it.each(CASES)("$checks", async ({ given = () => {}, steps }) => {
    const [theirs, ours] = [makeTemporary("theirs", "memory"), makeTemporary("ours", "memory")];
    const reference = (await BetaLocalFilesystemMemoryTool.init(theirs)) as unknown as Tool;
    // Ours makes its directory with the first file: a link cannot be put there before.
    fs.mkdirSync(path.join(ours, "memories"), { mode: 0o700 });
    const world = makeWorld();
    const memoryDir = path.join(ours, "memories");
    const memdir = await openMemdir({ cwd: world.project, env: world.env, memoryDir });
    const tool = openMemoryTool(memdir) as unknown as Tool;
    for (const folder of [theirs, ours]) given(folder);
    for (const step of steps) {
      const [wanted, got] = [await runOn(reference, step), await runOn(tool, step)];
      if ("failed" in wanted) expect(got).toEqual({ failed: expect.stringContaining(wanted.failed) });
      else expect(withoutFolderSizes(got)).toEqual(withoutFolderSizes(wanted));
    }
    expect(listFiles(ours)).toEqual(listFiles(theirs));
  });
});

type Outcome = { said: unknown } | { failed: string };

async function runOn(tool: Tool, step: Command): Promise<Outcome> {
  try {
    return { said: await tool[step.command]?.(step) };
  } catch (error) {
    return { failed: (error as Error).message };
  }
}

/** The file system's there, the sum of what is shown here. */
function withoutFolderSizes(outcome: Outcome): Outcome {
  return "said" in outcome ? { said: String(outcome.said).replace(/^\S+(\t\/memories\/f)$/m, "$1") } : outcome;
}

/** Every file and folder with its mode and text. The journal is only here. */
function listFiles(folder: string): Record<string, string> {
  const entries = fs.readdirSync(folder, { recursive: true, withFileTypes: true });
  const shown = entries.map((entry) => {
    const full = path.join(entry.parentPath, entry.name);
    const mode = (fs.lstatSync(full).mode & 0o777).toString(8);
    return [
      path.relative(folder, full),
      entry.isFile() ? `${mode} ${fs.readFileSync(full, "utf8").slice(0, 99)}` : mode,
    ];
  });
  return Object.fromEntries(shown.filter(([name]) => !name?.startsWith("memories/.memdir")));
}
