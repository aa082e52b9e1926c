/** What a memory gains by lying in a memdir directory: an index line, a journal that can be taken back, a guard for secrets. */
import fs from "node:fs";
import { describe, expect, it } from "vitest";
import { openMemoryTool } from "../../src/memory-tool/memory-tool.ts";
import { note } from "../world.ts";
import { openTool, wordsOf } from "./tool.ts";

/** Made here, so that no scanner of the repository takes it for a real one. */
const TOKEN = ["ghp", "16C7e42F292c6912E7710c838347Ae178B4a"].join("_");

describe("a memory of the tool", () => {
  it("is listed, searched and recalled like any other", async () => {
    const { create, memdir, world } = await openTool();
    await create(
      "/memories/deploys.md",
      "---\nname: deploys\ndescription: never on a Friday\n---\nNever deploy on Friday.",
    );
    await create("/memories/sub/flaky.md", "The login test is flaky on Windows.");
    expect((await memdir.list()).map(({ file }) => file)).toEqual(["deploys.md", "sub/flaky.md"]);
    expect(world.index()).toBe("- [deploys](deploys.md) — never on a Friday\n- [flaky](sub/flaky.md)\n");
    expect((await memdir.search("Friday")).map(({ file }) => file)).toEqual(["deploys.md"]);
    expect((await memdir.recall("why is the login test flaky?")).memories.map(({ file }) => file)).toEqual([
      "sub/flaky.md",
    ]);
  });

  it("is not written with half a character, nor as a second one of its name", async () => {
    const { create, tool, world } = await openTool();
    await create("/memories/a.md", "---\nname: a\ndescription: d\n---\nBody.");
    expect(await wordsOf(create("/memories/half.md", "half \ud83d"))).toContain("half a character");
    expect(await wordsOf(create("/memories/b.md", "---\nname: A\n---\nBody."))).toContain('called "a" already');
    expect(await wordsOf(create("/memories/A.md", "Body."))).toContain("a.md has the same name");
    await create("/memories/c.md", "Body.");
    const moved = tool.rename({ old_path: "/memories/c.md", new_path: "/memories/A.md" });
    expect(await wordsOf(moved)).toContain("a.md has the same name");
    await tool.rename({ old_path: "/memories/c.md", new_path: "/memories/C.md" });
    expect(world.files()).toEqual(["C.md", "MEMORY.md", "a.md"]);
    // Notes without a name of their own are known by their files.
    await create("/memories/sub/C.md", "Body.");
  });

  it("moves its index line with its description and its name", async () => {
    const { create, tool, world } = await openTool();
    await create("/memories/a.md", "---\nname: a\ndescription: old words\n---\nBody.");
    await tool.str_replace({ path: "/memories/a.md", old_str: "old words", new_str: "new words" });
    expect(world.index()).toBe("- [a](a.md) — new words\n");
    await tool.rename({ old_path: "/memories/a.md", new_path: "/memories/b/c.md" });
    expect(world.index()).toBe("- [a](b/c.md) — new words\n");
    await tool.rename({ old_path: "/memories/b/c.md", new_path: "/memories/c.txt" });
    expect(world.index()).toBe("");
    await tool.rename({ old_path: "/memories/c.txt", new_path: "/memories/c.md" });
    expect(world.index()).toBe("- [a](c.md) — new words\n");
    await tool.delete({ path: "/memories/c.md" });
    expect(world.index()).toBe("");
  });

  it("keeps a line that a person worded through a rename", async () => {
    const { create, tool, world } = await openTool();
    await create("/memories/a.md");
    world.write("MEMORY.md", "# Mine\n- [My words](a.md) — read this first\n");
    await tool.rename({ old_path: "/memories/a.md", new_path: "/memories/b.md" });
    expect(world.index()).toBe("# Mine\n- [My words](b.md) — read this first\n");
  });

  it("keeps its age when it is renamed, and its date of change when it is edited", async () => {
    const { world, memdir, tool } = await openTool();
    const { file } = await memdir.save(note("tabs"));
    world.now = new Date("2026-04-01T00:00:00.000Z");
    await tool.str_replace({ path: `/memories/${file}`, old_str: "Body of tabs.", new_str: "Uses tabs." });
    expect(world.read(file)).toContain("modified: 2026-04-01T00:00:00.000Z");
    const lines = world.read(file).split("\n").length;
    await tool.insert({ path: `/memories/${file}`, insert_line: lines, insert_text: "Always." });
    expect(world.read(file)).toMatch(/Uses tabs\.\n+Always\.$/);
    world.age(file, 86_400_000);
    const { mtimeMs } = fs.statSync(world.path(file));
    await tool.rename({ old_path: `/memories/${file}`, new_path: "/memories/t.md" });
    expect(fs.statSync(world.path("t.md")).mtimeMs).toBe(mtimeMs);
  });
});

describe("the journal", () => {
  it("has one entry for each change, by whom the Memdir was opened", async () => {
    const { create, tool, memdir } = await openTool({ open: { by: "memory-tool" } });
    await create("/memories/a.md", "one");
    await tool.insert({ path: "/memories/a.md", insert_line: 1, insert_text: "two" });
    await tool.rename({ old_path: "/memories/a.md", new_path: "/memories/d/b.md" });
    await create("/memories/d/c.txt", "c");
    await tool.delete({ path: "/memories/d" });
    const history = await memdir.history();
    expect(history.map(({ action, by, files }) => [action, by, files.map(({ file }) => file)])).toEqual([
      ["save", "memory-tool", ["a.md"]],
      ["edit", "memory-tool", ["a.md"]],
      ["rename", "memory-tool", ["d/b.md", "a.md"]],
      ["save", "memory-tool", ["d/c.txt"]],
      ["forget", "memory-tool", ["d/b.md", "d/c.txt"]],
    ]);
  });

  it("takes back every command, one after the other", async () => {
    const { create, tool, memdir, world } = await openTool();
    await create("/memories/a.md", "one");
    await tool.str_replace({ path: "/memories/a.md", old_str: "one", new_str: "two" });
    await tool.rename({ old_path: "/memories/a.md", new_path: "/memories/b.md" });
    await tool.delete({ path: "/memories/b.md" });
    expect(world.index()).toBe("");
    await memdir.undo();
    expect([world.read("b.md"), world.index()]).toEqual(["two", "- [b](b.md)\n"]);
    await memdir.undo();
    expect([world.read("a.md"), world.exists("b.md"), world.index()]).toEqual(["two", false, "- [a](a.md)\n"]);
    await memdir.undo();
    expect(world.read("a.md")).toBe("one");
    await memdir.undo();
    expect([world.exists("a.md"), world.index()]).toEqual([false, ""]);
  });

  it("takes back a folder that was deleted or renamed as one step, with the index as it was", async () => {
    const { create, tool, memdir, world } = await openTool();
    for (const name of ["d/a.md", "d/e/b.md", "other.md"]) await create(`/memories/${name}`, name);
    const index = "# Mine\n\n- [First](d/a.md) — worded\n- [other](other.md)\n\n- [b](d/e/b.md)\n";
    world.write("MEMORY.md", index);
    for (const work of [
      () => tool.delete({ path: "/memories/d" }),
      () => tool.rename({ old_path: "/memories/d", new_path: "/memories/f" }),
    ]) {
      await work();
      expect(world.exists("d")).toBe(false);
      await memdir.undo();
      expect([world.read("d/a.md"), world.read("d/e/b.md"), world.index()]).toEqual(["d/a.md", "d/e/b.md", index]);
    }
  });
});

describe("secrets", () => {
  it("are refused wherever they would be written, and stand in no file", async () => {
    const { create, tool, world } = await openTool();
    await create("/memories/a.md", "one");
    await create("/memories/a.txt", "one");
    const words = await Promise.all(
      [
        create("/memories/b.md", `line\ntoken ${TOKEN}`),
        create("/memories/b.txt", `line\ntoken ${TOKEN}`),
        create(`/memories/${TOKEN}.md`, "x"),
        create("/memories/MEMORY2.md", `line\ntoken ${TOKEN}`),
        tool.str_replace({ path: "/memories/a.md", old_str: "one", new_str: TOKEN }),
        tool.insert({ path: "/memories/a.txt", insert_line: 0, insert_text: TOKEN }),
        tool.insert({ path: "/memories/MEMORY.md", insert_line: 0, insert_text: TOKEN }),
        tool.rename({ old_path: "/memories/a.txt", new_path: `/memories/${TOKEN}` }),
      ].map(wordsOf),
    );
    for (const said of words) {
      expect(said).toMatch(/^Nothing was written: .*github-token on line/);
      expect(said).not.toContain(TOKEN);
    }
    expect(world.grep(TOKEN)).toEqual([]);
  });

  it("that stood in a file before do not keep it from being mended", async () => {
    const { world, tool } = await openTool();
    world.write("a.md", `first\ntoken ${TOKEN}\n`);
    await tool.insert({ path: "/memories/a.md", insert_line: 0, insert_text: "zero" });
    await tool.str_replace({ path: "/memories/a.md", old_str: `token ${TOKEN}`, new_str: "token: in the vault" });
    expect(world.read("a.md")).toBe("zero\nfirst\ntoken: in the vault\n");
  });
});

describe("MEMORY.md", () => {
  it("is seen and edited as the model wishes, and lines of memories come back by themselves", async () => {
    const { create, tool, view, world } = await openTool();
    await create("/memories/MEMORY.md", "# Mine\n");
    await create("/memories/a.md");
    expect(await view("/memories/MEMORY.md")).toContain("     2\t- [a](a.md)");
    await tool.insert({ path: "/memories/MEMORY.md", insert_line: 1, insert_text: "Be brief." });
    await tool.str_replace({ path: "/memories/MEMORY.md", old_str: "- [a](a.md)\n" });
    expect(world.index()).toBe("# Mine\nBe brief.\n- [a](a.md)\n");
    await tool.str_replace({ path: "/memories/MEMORY.md", old_str: "[a](a.md)", new_str: "[A](a.md) — in my words" });
    await create("/memories/b.md");
    expect(world.index()).toBe("# Mine\nBe brief.\n- [A](a.md) — in my words\n- [b](b.md)\n");
  });

  it("comes back whole with undo: words that a person wrote are not lost", async () => {
    const { create, tool, world, memdir } = await openTool();
    await create("/memories/a.md");
    const mine = "# Mine\n\nAlways greet Bo first.\n\n- [a](a.md)\n";
    world.write("MEMORY.md", mine);
    await tool.str_replace({ path: "/memories/MEMORY.md", old_str: mine, new_str: "nothing\n" });
    expect(world.index()).toContain("nothing\n");
    expect(world.index()).toContain("- [a](a.md)\n");
    await memdir.undo();
    expect(world.index()).toBe(mine);
    expect(await wordsOf(tool.insert({ path: "/memories/MEMORY.md", insert_line: 99, insert_text: "x" }))).toContain(
      "Invalid `insert_line`",
    );
    expect(world.index()).toBe(mine);
  });

  it("is neither deleted nor moved, and nothing takes its place", async () => {
    const { create, tool, world } = await openTool();
    await create("/memories/x.txt");
    await create("/memories/a.md");
    const index = world.index();
    expect(await wordsOf(tool.delete({ path: "/memories/MEMORY.md" }))).toContain("cannot be deleted; edit it instead");
    expect(await wordsOf(tool.rename({ old_path: "/memories/MEMORY.md", new_path: "/memories/o.md" }))).toContain(
      "cannot be renamed",
    );
    expect(await wordsOf(tool.rename({ old_path: "/memories/x.txt", new_path: "/memories/MEMORY.more.md" }))).toContain(
      "cannot be replaced with another file",
    );
    expect(await wordsOf(create("/memories/MEMORY.more.md"))).toContain("maintained by memdir");
    expect(world.index()).toBe(index);
  });

  it("in a folder is a file like any other", async () => {
    const { create, tool, world } = await openTool();
    await create("/memories/sub/MEMORY.md", "- [x](x.md)\n");
    await tool.str_replace({ path: "/memories/sub/MEMORY.md", old_str: "x.md", new_str: "y.md" });
    await tool.delete({ path: "/memories/sub/MEMORY.md" });
    expect([world.exists("sub/MEMORY.md"), world.index()]).toEqual([false, ""]);
  });
});

describe("calls at the same time", () => {
  it.each(["/memories/a.md", "/memories/a.txt", "/memories/MEMORY.md"])("lose no words of %s", async (path) => {
    const { create, tool, world, memdir } = await openTool();
    const other = openMemoryTool(memdir);
    await create(path, "top\n");
    const words = Array.from({ length: 50 }, (_, i) => `word ${i}`);
    await Promise.all(
      words.map((insert_text, i) => (i % 2 ? tool : other).insert({ path, insert_line: 1, insert_text })),
    );
    const lines = world.read(path.slice("/memories/".length)).trimEnd().split("\n");
    expect(lines.toSorted()).toEqual(["top", ...words].toSorted());
  });

  it("give a name to one of them only", async () => {
    const { create, world } = await openTool();
    const done = await Promise.allSettled(["one", "two", "three"].map((text) => create("/memories/a.md", text)));
    expect(done.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected", "rejected"]);
    expect(world.read("a.md")).toBe("one");
  });

  it("find a file or miss it, when another one takes it away", async () => {
    const { create, tool, world } = await openTool();
    await create("/memories/a.md", "a");
    const [renamed, deleted] = await Promise.allSettled([
      tool.rename({ old_path: "/memories/a.md", new_path: "/memories/b.md" }),
      tool.delete({ path: "/memories/a.md" }),
    ]);
    expect([renamed.status, deleted.status].sort()).toEqual(["fulfilled", "rejected"]);
    const left = renamed.status === "fulfilled" ? ["b.md"] : [];
    expect(world.files().filter((file) => file !== "MEMORY.md")).toEqual(left);
  });
});

it("/memories is the scope that the Memdir was opened for", async () => {
  const { create, world } = await openTool({ open: { scope: "user" } });
  await create("/memories/me.md", "I use tabs.");
  expect(fs.existsSync(world.dir)).toBe(false);
  expect(world.grep("I use tabs.")).toEqual([expect.stringContaining("me.md")]);
});
