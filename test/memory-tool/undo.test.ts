/** Files that are no memories: changed and brought back like those, without a line in the index. */
import fs from "node:fs";
import { expect, it } from "vitest";
import { openTool } from "./tool.ts";

it("a first file that is no memory makes no index", async () => {
  const { create, world, memdir } = await openTool();
  await create("/memories/a.txt");
  expect(world.files()).toEqual(["a.txt"]);
  await create("/memories/b.md");
  expect(world.index()).toBe("- [b](b.md)\n");
  await memdir.undo();
  await memdir.undo();
  expect(world.files().filter((file) => file !== "MEMORY.md")).toEqual([]);
});

it("undo brings back other files than memories, and gives them no line", async () => {
  const { create, tool, world, memdir } = await openTool();
  await create("/memories/a.md");
  await create("/memories/d/x.txt", "x");
  await create("/memories/d/b.md", "b");
  const index = world.index();
  for (const work of [
    () => tool.delete({ path: "/memories/d/x.txt" }),
    () => tool.rename({ old_path: "/memories/d/x.txt", new_path: "/memories/y.txt" }),
    () => tool.rename({ old_path: "/memories/d/x.txt", new_path: "/memories/y.md" }),
    () => tool.rename({ old_path: "/memories/d/b.md", new_path: "/memories/b.txt" }),
    () => tool.insert({ path: "/memories/d/x.txt", insert_line: 0, insert_text: "more" }),
    () => tool.delete({ path: "/memories/d" }),
    () => tool.rename({ old_path: "/memories/d", new_path: "/memories/e" }),
  ]) {
    await work();
    await memdir.undo();
    expect([world.read("d/x.txt"), world.read("d/b.md"), world.exists("y.txt")]).toEqual(["x", "b", false]);
    expect(world.index()).toBe(index);
  }
});

it("what a killed writer left of a file that is no memory is finished without a line", async () => {
  const { create, world, memdir, tool } = await openTool();
  await create("/memories/a.md");
  await create("/memories/x.txt", "x");
  // The end line of the entry is missing, as when the writer dies before it.
  const journal = fs.readFileSync(world.path(".memdir/journal.jsonl"), "utf8").trimEnd().split("\n");
  fs.writeFileSync(world.path(".memdir/journal.jsonl"), `${journal.slice(0, -1).join("\n")}\n`);
  await world.open();
  expect([world.index(), (await memdir.history()).length]).toEqual(["- [a](a.md)\n", 2]);
  await tool.delete({ path: "/memories/x.txt" });
  expect(world.index()).toBe("- [a](a.md)\n");
});
