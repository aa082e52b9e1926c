/** What the SDK's own file system backend was measured to do wrong: each case once, done right here. */
import fs from "node:fs";
import { describe, expect, it } from "vitest";
import { openTool, wordsOf } from "./tool.ts";

const path = "/memories/x.txt";

describe("gaps of the reference", () => {
  it.each(["/memories", "/memories/", "/memories/.", "/memories//", "/memories/./", "/memories/.//."])(
    "1: deleting the whole root is refused, spelled as %s",
    async (root) => {
      const { world, create, tool } = await openTool();
      await create(path, "kept");
      expect(await wordsOf(tool.delete({ path: root }))).toBe("Cannot delete the /memories directory itself");
      expect(world.read("x.txt")).toBe("kept");
    },
  );

  it.each([undefined, null])("2: new_str of %s takes the text out and writes no word for it", async (new_str) => {
    const { world, create, tool } = await openTool();
    await create(path, "one two three");
    await tool.str_replace({ path, old_str: " two", new_str });
    await tool.str_replace({ path, old_str: " three" });
    expect(world.read("x.txt")).toBe("one");
  });

  it.each(["$&", "$1", "$$", "$`", "$'", "$<name>"])("3: %s in new_str stays as it is", async (new_str) => {
    const { world, create, tool } = await openTool();
    await create(path, "before old after");
    await tool.str_replace({ path, old_str: "old", new_str });
    expect(world.read("x.txt")).toBe(`before ${new_str} after`);
  });

  it("4: an old_str of several lines is found", async () => {
    const { world, create, tool } = await openTool();
    await create(path, "a\nb\nc\nd\n");
    const said = await tool.str_replace({ path, old_str: "b\nc\n", new_str: "B\n" });
    expect(world.read("x.txt")).toBe("a\nB\nd\n");
    expect(said).toContain("     2\tB\n     3\td");
  });

  it("4: also in a file with CRLF, which keeps its breaks", async () => {
    const { world, create, tool } = await openTool();
    await create(path, "a\r\nb\r\nc\r\n");
    await tool.str_replace({ path, old_str: "a\nb", new_str: "A\nx\nB" });
    await tool.insert({ path, insert_line: 1, insert_text: "new\n" });
    await tool.str_replace({ path, old_str: "c", new_str: "C\nD" });
    expect(world.read("x.txt")).toBe("A\r\nnew\r\nx\r\nB\r\nC\r\nD\r\n");
  });

  it("5: two hits on one line are two, also when they overlap", async () => {
    const { world, create, tool } = await openTool();
    await create(path, "no\nold and old\naaa");
    expect(await wordsOf(tool.str_replace({ path, old_str: "old", new_str: "new" }))).toContain("in lines: 2. Please");
    expect(await wordsOf(tool.str_replace({ path, old_str: "aa", new_str: "b" }))).toContain("in lines: 3. Please");
    expect(world.read("x.txt")).toBe("no\nold and old\naaa");
  });

  it("6: /memoriesfoo.txt is no other name of /memories/foo.txt", async () => {
    const { create, view, tool } = await openTool();
    await create("/memories/foo.txt");
    for (const work of [
      view("/memoriesfoo.txt"),
      create("/memoriesbar.txt"),
      tool.delete({ path: "/memoriesfoo.txt" }),
      tool.rename({ old_path: "/memories/foo.txt", new_path: "/memories2/foo.txt" }),
    ])
      expect(await wordsOf(work)).toMatch(/^Path must start with \/memories, got: \/memories\w/);
  });

  it.each(["/memories", "/memories/", "/memories/."])(
    "7: renaming the root is refused in words, as %s",
    async (root) => {
      const { world, create, tool } = await openTool();
      await create(path, "kept");
      expect(await wordsOf(tool.rename({ old_path: root, new_path: "/memories/sub" }))).toBe(
        "Cannot rename the /memories directory itself",
      );
      expect(world.read("x.txt")).toBe("kept");
    },
  );

  it.each(["%2e%2e%2fx.txt", "%2E%2E/x.txt", "a%2fb.txt", "%252e%252e%252fx.txt", "..%5cx.txt"])(
    "8: the encoded path %s is no literal name",
    async (name) => {
      const { world, create } = await openTool();
      expect(await wordsOf(create(`/memories/${name}`))).toContain("would escape /memories directory");
      expect(fs.existsSync(world.dir)).toBe(false);
    },
  );

  it("writes nothing and makes no folder when a command fails", async () => {
    const { world, create, tool } = await openTool();
    await wordsOf(tool.str_replace({ path, old_str: "a", new_str: "b" }));
    await wordsOf(tool.insert({ path, insert_line: 0, insert_text: "b" }));
    await wordsOf(tool.delete({ path }));
    await wordsOf(tool.rename({ old_path: path, new_path: "/memories/new/y.txt" }));
    await wordsOf(create("/memories/sub/../x.txt"));
    expect(fs.existsSync(world.dir)).toBe(false);
  });
});
