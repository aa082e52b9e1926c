/** The handlers in the hands of the SDK: its types, its helper, its way of reporting a failure. */
import { betaMemoryTool, type MemoryToolHandlers } from "@anthropic-ai/sdk/helpers/beta/memory";
import { runRunnableTool } from "@anthropic-ai/sdk/lib/tools/BetaRunnableTool";
import { BetaLocalFilesystemMemoryTool } from "@anthropic-ai/sdk/tools/memory/node";
import { describe, expect, it } from "vitest";
import { makeTemporary } from "../temporary.ts";
import { openTool } from "./tool.ts";

async function openRunner() {
  const { tool, world } = await openTool();
  // Also what the compiler has to say about it.
  const handlers: MemoryToolHandlers = tool;
  return { ...runnerOf(handlers), world };
}

function runnerOf(handlers: MemoryToolHandlers) {
  const memory = betaMemoryTool(handlers);
  const run = (input: object) => runRunnableTool(memory, input, {} as Parameters<typeof runRunnableTool>[2]);
  return { memory, run };
}

describe("betaMemoryTool", () => {
  it("is the tool of 2025-08-18", async () => {
    expect((await openRunner()).memory).toMatchObject({ type: "memory_20250818", name: "memory" });
  });

  it("runs every command", async () => {
    const { run, world } = await openRunner();
    const path = "/memories/a.md";
    const results = [
      await run({ command: "create", path, file_text: "one\n" }),
      await run({ command: "str_replace", path, old_str: "one", new_str: "two" }),
      await run({ command: "insert", path, insert_line: 1, insert_text: "three\n" }),
      await run({ command: "rename", old_path: path, new_path: "/memories/b.md" }),
      await run({ command: "view", path: "/memories/b.md" }),
      await run({ command: "delete", path: "/memories/b.md" }),
    ];
    expect(results.map(({ isError }) => isError)).toEqual(Array(6).fill(false));
    expect(results[4]?.content).toContain("     1\ttwo\n     2\tthree");
    expect(world.exists("b.md")).toBe(false);
  });

  it("reports failures with is_error, in the documented words", async () => {
    const { run } = await openRunner();
    await run({ command: "create", path: "/memories/a.md", file_text: "one" });
    expect(await run({ command: "create", path: "/memories/a.md", file_text: "two" })).toEqual({
      content: "Error: File /memories/a.md already exists",
      isError: true,
    });
    expect(await run({ command: "delete", path: "/memories/no.md" })).toEqual({
      content: "Error: The path /memories/no.md does not exist",
      isError: true,
    });
    expect(await run({ command: "insert", path: "/memories/a.md", insert_line: 9, insert_text: "x" })).toEqual({
      content: "Error: Invalid `insert_line` parameter: 9. It should be within the range of lines of the file: [0, 1]",
      isError: true,
    });
    expect(await run({ command: "view" })).toMatchObject({ isError: true });
    expect(await run({ command: "format" })).toMatchObject({ isError: true });
  });
});

describe("beside the SDK's own backend", () => {
  const at = (name: string) => `/memories/${name}`;
  const SCRIPT: object[] = [
    { command: "create", path: at("a.txt"), file_text: "one\ntwo\nthree\nfour\nfive\n" },
    { command: "create", path: at("a.txt"), file_text: "again" },
    { command: "create", path: at("sub/dir/b.md"), file_text: "" },
    { command: "create", path: at("c.txt"), file_text: "no last break" },
    { command: "create", path: at("size.txt"), file_text: "x".repeat(5632) },
    { command: "view", path: at("a.txt") },
    { command: "view", path: at("a.txt"), view_range: [2, 3] },
    { command: "view", path: at("a.txt"), view_range: [-5, -1] },
    { command: "view", path: at("sub/dir/b.md") },
    { command: "view", path: at("none.txt") },
    { command: "str_replace", path: at("a.txt"), old_str: "three", new_str: "3" },
    { command: "str_replace", path: at("a.txt"), old_str: "five", new_str: "5\n6" },
    { command: "str_replace", path: at("a.txt"), old_str: "seven", new_str: "7" },
    { command: "str_replace", path: at("a.txt"), old_str: "o", new_str: "0" },
    { command: "str_replace", path: at("none.txt"), old_str: "a", new_str: "b" },
    { command: "str_replace", path: at("sub"), old_str: "a", new_str: "b" },
    { command: "insert", path: at("a.txt"), insert_line: 0, insert_text: "zero\n" },
    { command: "insert", path: at("c.txt"), insert_line: 1, insert_text: "and more" },
    { command: "insert", path: at("sub/dir/b.md"), insert_line: 0, insert_text: "words" },
    { command: "insert", path: at("c.txt"), insert_line: 9, insert_text: "x" },
    { command: "insert", path: at("none.txt"), insert_line: 0, insert_text: "x" },
    { command: "insert", path: at("sub"), insert_line: 0, insert_text: "x" },
    { command: "view", path: at("a.txt") },
    { command: "view", path: at("c.txt") },
    { command: "rename", old_path: at("c.txt"), new_path: at("new/c.txt") },
    { command: "rename", old_path: at("none.txt"), new_path: at("x.txt") },
    { command: "rename", old_path: at("a.txt"), new_path: at("new/c.txt") },
    { command: "rename", old_path: at("sub"), new_path: at("moved") },
    { command: "rename", old_path: "/memories", new_path: at("x") },
    { command: "view", path: at("moved/dir/b.md") },
    { command: "delete", path: at("none.txt") },
    { command: "delete", path: "/memories" },
    { command: "delete", path: at("moved") },
    { command: "view", path: at("moved") },
    { command: "delete", path: at("a.txt") },
  ];

  it("says the same to every step of a script, and lists the same files", async () => {
    const ours = await openRunner();
    const theirs = runnerOf(await BetaLocalFilesystemMemoryTool.init(makeTemporary("reference", "memory")));
    for (const step of SCRIPT) expect([step, await ours.run(step)]).toEqual([step, await theirs.run(step)]);
    // Sizes of folders are the file system's there, and the index is only here.
    const list = async ({ run }: Pick<typeof theirs, "run">) =>
      String((await run({ command: "view", path: "/memories" })).content)
        .split("\n")
        .map((line) => line.replace(/^\S+(\t\/memories(\/.*\/)?)$/, "$1"))
        .filter((line) => !line.endsWith("MEMORY.md"));
    expect(await list(ours)).toEqual(await list(theirs));
  });

  it.each(["/etc/passwd", "/memories/../x.txt", "/memories/../../etc/passwd"])(
    "refuses %s in its words",
    async (path) => {
      const ours = await openRunner();
      const theirs = runnerOf(await BetaLocalFilesystemMemoryTool.init(makeTemporary("reference", "memory")));
      const said = (await theirs.run({ command: "view", path })).content as string;
      expect(await ours.run({ command: "view", path })).toEqual({
        content: expect.stringContaining(said),
        isError: true,
      });
    },
  );
});
