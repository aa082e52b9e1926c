/** The six commands as the model knows them: what they do and what they say. */
import fs from "node:fs";
import { describe, expect, it } from "vitest";
import { openTool, wordsOf } from "./tool.ts";

const POSIX = process.platform !== "win32";

describe("create", () => {
  it("keeps a file as given, in any folder and of any kind", async () => {
    const { world, create } = await openTool();
    expect(await create("/memories/todo.txt", "one\ntwo")).toBe("File created successfully at: /memories/todo.txt");
    expect(await create("/memories/a/b/c.xml", "<x/>")).toBe("File created successfully at: /memories/a/b/c.xml");
    expect(await create("/memories/plan.md", "# Plan\r\n\r\n- first")).toContain("/memories/plan.md");
    expect([world.read("todo.txt"), world.read("a/b/c.xml"), world.read("plan.md")]).toEqual([
      "one\ntwo",
      "<x/>",
      "# Plan\r\n\r\n- first",
    ]);
  });

  it.each([
    ["without frontmatter", "just words"],
    ["with frontmatter of its own", "---\ntitle: x\n---\nwords\n"],
    ["with frontmatter as memdir writes it", "---\nname: x\ndescription: y\ntype: user\n---\nwords\n"],
    ["with frontmatter that has no end", "---\nname: x\nwords\n"],
    ["that begins with a rule", "---\n\nwords\n\n---\n"],
    ["that is empty", ""],
    ["with a byte order mark and CRLF", "\uFEFF# x\r\ny\r\n"],
    ["with trailing space and no last break", "a  \n\n\n b\t"],
  ])("keeps a memory %s byte for byte, and shows it so", async (_, text) => {
    const { world, create, view } = await openTool();
    await create("/memories/x.md", text);
    expect(world.read("x.md")).toBe(text);
    const lines = (await view("/memories/x.md")).split("\n").slice(1);
    expect(lines.map((line) => line.slice(7)).join("\n")).toBe(text.replaceAll("\r\n", "\n"));
  });

  it("never overwrites: neither a file nor a folder", async () => {
    const { world, create } = await openTool();
    await create("/memories/here/a.txt", "first");
    expect(await wordsOf(create("/memories/here/a.txt", "second"))).toBe("File /memories/here/a.txt already exists");
    expect(await wordsOf(create("/memories/here"))).toBe("File /memories/here already exists");
    expect(await wordsOf(create("/memories"))).toBe("File /memories already exists");
    expect(await wordsOf(create("/memories/here/a.txt/b.txt"))).toBe(
      "The path /memories/here/a.txt is not a directory.",
    );
    expect(world.read("here/a.txt")).toBe("first");
  });

  it.runIf(POSIX)("makes files and folders that only the user can read", async () => {
    const { world, create } = await openTool();
    await create("/memories/a/b/c.txt");
    await create("/memories/a/b/d.md");
    const modeOf = (file: string) => (fs.statSync(world.path(file)).mode & 0o777).toString(8);
    expect(["a", "a/b", "a/b/c.txt", "a/b/d.md"].map(modeOf)).toEqual(["700", "700", "600", "600"]);
  });

  it("refuses half a character, which no file can hold", async () => {
    const { world, create, tool } = await openTool();
    expect(await wordsOf(create("/memories/x.txt", "a\ud83d!"))).toContain("`file_text` contains half a character");
    await create("/memories/x.txt", "ab!");
    const replaced = tool.str_replace({ path: "/memories/x.txt", old_str: "b", new_str: "\ud83d" });
    expect(await wordsOf(replaced)).toContain("`new_str` contains half a character");
    expect(world.read("x.txt")).toBe("ab!");
  });

  it("refuses a file over the limit", async () => {
    const { world, create, tool } = await openTool({ maxFileBytes: 2048 });
    expect(await wordsOf(create("/memories/x.txt", "ä".repeat(2000)))).toBe(
      "File /memories/x.txt would be 3.9K, but the limit is 2K: split it",
    );
    world.write("big.txt", "x".repeat(5000));
    // What is too large already may become smaller.
    await tool.str_replace({ path: "/memories/big.txt", old_str: "x".repeat(5000), new_str: "y".repeat(4000) });
    expect(world.read("big.txt")).toBe("y".repeat(4000));
  });
});

describe("view of a folder", () => {
  it("lists two levels, sorted, with sizes; folders end in a slash", async () => {
    const { world, create, view } = await openTool();
    world.write("b.txt", "x".repeat(5632));
    world.write("a.txt", "");
    world.write("sub/deep/file.txt", "x".repeat(512));
    world.write("sub/deep/deeper/unseen.txt", "x".repeat(512));
    world.write(".hidden", "no");
    world.write("sub/.hidden/x", "no");
    world.write("node_modules/x.js", "no");
    await create("/memories/z.txt", "z");
    const shown = (await view("/memories")).split("\n").filter((line) => !line.includes("MEMORY.md"));
    expect(shown).toEqual([
      "Here're the files and directories up to 2 levels deep in /memories, excluding hidden items and node_modules:",
      expect.stringMatching(/^6\.5K\t\/memories$/),
      "0B\t/memories/a.txt",
      "5.5K\t/memories/b.txt",
      "1K\t/memories/sub/",
      "1K\t/memories/sub/deep/",
      "1B\t/memories/z.txt",
    ]);
    expect((await view("/memories/sub/")).split("\n").slice(1)).toEqual([
      "1K\t/memories/sub",
      "1K\t/memories/sub/deep/",
      "512B\t/memories/sub/deep/deeper/",
      "512B\t/memories/sub/deep/file.txt",
    ]);
  });

  it("shows an empty directory before the first memory, and makes nothing", async () => {
    const { world, view } = await openTool();
    for (const path of ["/memories", "/memories/", "/memories/.", "/memories//"])
      expect((await view(path)).split("\n").slice(1)).toEqual(["0B\t/memories"]);
    expect(fs.existsSync(world.dir)).toBe(false);
  });

  it.runIf(POSIX)("leaves out links, fifos and what points nowhere", async () => {
    const { world, view } = await openTool();
    world.write("a.txt", "a");
    fs.symlinkSync("nowhere", world.path("dangling.txt"));
    fs.symlinkSync("a.txt", world.path("link.txt"));
    fs.symlinkSync("/", world.path("root"));
    expect((await view("/memories")).split("\n").slice(2)).toEqual(["1B\t/memories/a.txt"]);
  });

  it("cuts a long list and says how much is missing", async () => {
    const { world, view } = await openTool({ maxViewChars: 200 });
    for (let i = 10; i < 40; i++) world.write(`note-${i}.txt`, "");
    const shown = await view("/memories");
    expect(shown).toContain("note-10.txt");
    expect(shown).toMatch(/\[cut at 200 characters: \d+ more; \/memories\/MEMORY\.md lists the memories\]$/);
  });

  it("says that a path does not exist", async () => {
    const { view } = await openTool();
    expect(await wordsOf(view("/memories/none.txt"))).toBe(
      "The path /memories/none.txt does not exist. Please provide a valid path.",
    );
  });
});

describe("view of a file", () => {
  const FIVE = "Line 1\nLine 2\nLine 3\nLine 4\nLine 5";

  it("numbers lines six wide", async () => {
    const { create, view } = await openTool();
    await create("/memories/x.txt", "Line 1\nLine 2\n");
    expect(await view("/memories/x.txt")).toBe(
      "Here's the content of /memories/x.txt with line numbers:\n     1\tLine 1\n     2\tLine 2\n     3\t",
    );
  });

  it.each([
    [
      [2, 4],
      [2, 4],
    ],
    [
      [4, -1],
      [4, 5],
    ],
    [
      [-3, 2],
      [1, 2],
    ],
    [
      [0, 99],
      [1, 5],
    ],
    [
      [5, 5],
      [5, 5],
    ],
  ])("shows the lines of the range %j", async (range, [first, last]) => {
    const { create, view } = await openTool();
    await create("/memories/x.txt", FIVE);
    const numbers = (await view("/memories/x.txt", range)).split("\n").slice(1).map(Number.parseFloat);
    expect([numbers[0], numbers.at(-1)]).toEqual([first, last]);
  });

  it.each([[[6, 9]], [[4, 2]], [[1]], [[1.5, 2]], [["1", "2"]], ["all"]])("refuses the range %j", async (range) => {
    const { create, tool } = await openTool();
    await create("/memories/x.txt", FIVE);
    const words = await wordsOf(tool.view({ path: "/memories/x.txt", view_range: range as number[] }));
    expect(words).toContain("Invalid `view_range` parameter");
    expect(words).toContain("[1, 5]");
  });

  it("cuts a long text at a line, as the API tells the model, and says how to go on", async () => {
    const { create, view } = await openTool();
    await create("/memories/long.txt", Array.from({ length: 2000 }, (_, i) => `line ${i + 1}`).join("\n"));
    const shown = await view("/memories/long.txt");
    const next = Number(/view_range \[(\d+), 2000\] shows what follows\]$/.exec(shown)?.[1]);
    expect(shown.length).toBeLessThan(16_200);
    expect(shown.split("\n").at(-2)).toBe(`${String(next - 1).padStart(6)}\tline ${next - 1}`);
    expect(await view("/memories/long.txt", [next, 2000])).toContain(`\tline ${next}\n`);
  });

  it("cuts a line that alone is too long", async () => {
    const { create, view } = await openTool({ maxViewChars: 100 });
    await create("/memories/x.txt", `${"x".repeat(300)}\nlast`);
    expect((await view("/memories/x.txt")).split("\n").slice(1)).toEqual([
      `     1\t${"x".repeat(93)}`,
      "[cut at 100 characters: view_range [2, 2] shows what follows]",
    ]);
    expect(await view("/memories/x.txt", [1, 1])).toMatch(/\[cut at 100 characters: the line continues\]$/);
  });

  it("refuses more lines than have numbers", async () => {
    const { create, view } = await openTool();
    await create("/memories/huge.txt", "line\n".repeat(1_000_000));
    expect(await wordsOf(view("/memories/huge.txt"))).toBe(
      "File /memories/huge.txt has too many lines (1000001). Maximum is 999,999 lines.",
    );
  });

  it("shows a picture as one, by what it holds", async () => {
    const { world, tool } = await openTool();
    const png = Buffer.from("89504e470d0a1a0a0000000d49484452", "hex");
    world.write("shot.dat", png);
    expect(await tool.view({ path: "/memories/shot.dat" })).toEqual([
      { type: "image", source: { type: "base64", media_type: "image/png", data: png.toString("base64") } },
    ]);
    world.write("huge.png", Buffer.concat([png, Buffer.alloc(6 << 20)]));
    expect(await wordsOf(tool.view({ path: "/memories/huge.png" }))).toContain("too large for an image");
  });

  it("shows text that is no UTF-8 as well as it can, and no other bytes", async () => {
    const { world, view } = await openTool();
    world.write("latin.txt", Buffer.from("caf\xe9", "latin1"));
    world.write("x.bin", Buffer.from([1, 0, 2]));
    expect(await view("/memories/latin.txt")).toContain("\tcaf\uFFFD");
    expect(await wordsOf(view("/memories/x.bin"))).toContain("Unsupported file type for /memories/x.bin");
  });
});

describe("str_replace", () => {
  it("replaces one place and shows the lines around it", async () => {
    const { world, create, tool } = await openTool();
    await create("/memories/x.txt", "a\nb\nc\nOld Text\ne\nf\ng");
    expect(await tool.str_replace({ path: "/memories/x.txt", old_str: "Old Text", new_str: "New\nText" })).toBe(
      "The memory file has been edited. Here is the snippet showing the change (with line numbers):\n" +
        "     2\tb\n     3\tc\n     4\tNew\n     5\tText\n     6\te\n     7\tf",
    );
    expect(world.read("x.txt")).toBe("a\nb\nc\nNew\nText\ne\nf\ng");
  });

  it("says when the text is missing, and where it stands several times", async () => {
    const { world, create, tool } = await openTool();
    await create("/memories/x.txt", "Hello\nMiddle\nHello");
    const replace = (old_str: string) => wordsOf(tool.str_replace({ path: "/memories/x.txt", old_str, new_str: "Hi" }));
    expect(await replace("Bye")).toBe(
      "No replacement was performed, old_str `Bye` did not appear verbatim in /memories/x.txt.",
    );
    expect(await replace("Hello")).toBe(
      "No replacement was performed. Multiple occurrences of old_str `Hello` in lines: 1, 3. Please ensure it is unique",
    );
    expect(await replace("")).toContain("old_str is empty");
    expect(world.read("x.txt")).toBe("Hello\nMiddle\nHello");
  });

  it("refuses a folder, a missing file and text that is no text", async () => {
    const { world, create, tool } = await openTool();
    await create("/memories/d/x.txt");
    world.write("latin.txt", Buffer.from("caf\xe9 old", "latin1"));
    const replace = (path: string, old_str = "old") => wordsOf(tool.str_replace({ path, old_str, new_str: "new" }));
    expect(await replace("/memories/d")).toBe("The path /memories/d is not a file.");
    expect(await replace("/memories")).toBe("The path /memories is not a file.");
    expect(await replace("/memories/none.txt")).toBe(
      "The path /memories/none.txt does not exist. Please provide a valid path.",
    );
    expect(await replace("/memories/latin.txt")).toContain("not UTF-8 text");
    expect(await replace("/memories/d/x.txt", 7 as unknown as string)).toBe("`old_str` must be a string");
    expect(fs.readFileSync(world.path("latin.txt"), "latin1")).toBe("caf\xe9 old");
  });
});

describe("insert", () => {
  it.each([
    [0, "First Line", "First Line\nLine 1\nLine 2"],
    [1, "Inserted Line", "Line 1\nInserted Line\nLine 2"],
    [2, "Last Line", "Line 1\nLine 2\nLast Line"],
    [1, "with a break\n", "Line 1\nwith a break\nLine 2"],
    [1, "with two\n\n", "Line 1\nwith two\n\nLine 2"],
  ])("puts text behind line %i", async (insert_line, insert_text, expected) => {
    const { world, create, tool } = await openTool();
    await create("/memories/x.txt", "Line 1\nLine 2");
    expect(await tool.insert({ path: "/memories/x.txt", insert_line, insert_text })).toBe(
      "The file /memories/x.txt has been edited.",
    );
    expect(world.read("x.txt")).toBe(expected);
  });

  it.each([10, -1, 0.5, Number.NaN, "1"])("refuses the line %s", async (insert_line) => {
    const { world, create, tool } = await openTool();
    await create("/memories/x.txt", "Line 1\nLine 2");
    expect(
      await wordsOf(tool.insert({ path: "/memories/x.txt", insert_line: insert_line as number, insert_text: "x" })),
    ).toBe(
      `Invalid \`insert_line\` parameter: ${insert_line}. It should be within the range of lines of the file: [0, 2]`,
    );
    expect(world.read("x.txt")).toBe("Line 1\nLine 2");
  });

  it("says that a file does not exist", async () => {
    const { tool } = await openTool();
    expect(await wordsOf(tool.insert({ path: "/memories/no.txt", insert_line: 0, insert_text: "x" }))).toBe(
      "The path /memories/no.txt does not exist. Please provide a valid path.",
    );
  });
});

describe("delete", () => {
  it("removes a file, and a folder with all that is in it", async () => {
    const { world, create, tool } = await openTool();
    for (const path of ["a.txt", "d/b.txt", "d/e/c.md"]) await create(`/memories/${path}`);
    expect(await tool.delete({ path: "/memories/a.txt" })).toBe("Successfully deleted /memories/a.txt");
    expect(await tool.delete({ path: "/memories/d/" })).toBe("Successfully deleted /memories/d");
    expect(world.exists("a.txt") || world.exists("d")).toBe(false);
    expect(await wordsOf(tool.delete({ path: "/memories/d" }))).toBe("The path /memories/d does not exist");
  });

  it("removes an empty folder", async () => {
    const { world, tool } = await openTool();
    fs.mkdirSync(world.path("d/e"), { recursive: true });
    await tool.delete({ path: "/memories/d" });
    expect(world.exists("d")).toBe(false);
  });

  it("leaves a folder alone that holds something which undo could not bring back", async () => {
    const { world, create, tool } = await openTool();
    await create("/memories/d/a.txt");
    world.write("d/.git/config", "x");
    expect(await wordsOf(tool.delete({ path: "/memories/d" }))).toContain("/memories/d/.git, which is hidden");
    expect(world.read("d/a.txt")).toBe("A note.\n");
  });
});

describe("rename", () => {
  it("moves a file, also into folders that are not there yet", async () => {
    const { world, create, tool } = await openTool();
    await create("/memories/old.txt", "words");
    expect(await tool.rename({ old_path: "/memories/old.txt", new_path: "/memories/n/d/new.txt" })).toBe(
      "Successfully renamed /memories/old.txt to /memories/n/d/new.txt",
    );
    expect([world.read("n/d/new.txt"), world.exists("old.txt")]).toEqual(["words", false]);
  });

  it("moves a folder with all that is in it, bytes that are no text included", async () => {
    const { world, create, tool } = await openTool();
    await create("/memories/a/x.md", "words");
    world.write("a/b/y.bin", Buffer.from([0, 255, 1]));
    fs.mkdirSync(world.path("a/empty"));
    await tool.rename({ old_path: "/memories/a", new_path: "/memories/z/a" });
    expect([world.exists("a"), world.read("z/a/x.md"), world.exists("z/a/empty")]).toEqual([false, "words", true]);
    expect([...fs.readFileSync(world.path("z/a/b/y.bin"))]).toEqual([0, 255, 1]);
    await tool.rename({ old_path: "/memories/z/a/empty", new_path: "/memories/empty" });
    expect([world.exists("z/a/empty"), world.exists("empty")]).toEqual([false, true]);
  });

  it("refuses a missing source, a target that is there, and a folder inside itself", async () => {
    const { world, create, tool } = await openTool();
    await create("/memories/d/a.txt", "a");
    await create("/memories/b.txt", "b");
    const rename = (old_path: string, new_path: string) => wordsOf(tool.rename({ old_path, new_path }));
    expect(await rename("/memories/no.txt", "/memories/x.txt")).toBe("The path /memories/no.txt does not exist");
    expect(await rename("/memories/d/a.txt", "/memories/b.txt")).toBe("The destination /memories/b.txt already exists");
    expect(await rename("/memories/d/a.txt", "/memories")).toBe("The destination /memories already exists");
    expect(await rename("/memories/d", "/memories/d")).toBe("The destination /memories/d already exists");
    expect(await rename("/memories/d", "/memories/d/e")).toContain("into itself");
    expect(await rename("/memories/d", "/memories/b.txt/e")).toBe("The path /memories/b.txt is not a directory.");
    expect([world.read("d/a.txt"), world.read("b.txt")]).toEqual(["a", "b"]);
  });
});

describe("the index", () => {
  it.each([
    ["a NUL byte", "a\0b"],
    ["three megabytes", "x".repeat(3_000_000)],
  ])("takes no more than a memory may hold: %s", async (_, text) => {
    const { world, create, tool } = await openTool();
    await create("/memories/MEMORY.md", "# Mine\n");
    await expect(tool.insert({ path: "/memories/MEMORY.md", insert_line: 1, insert_text: text })).rejects.toThrow();
    expect(world.index()).toBe("# Mine\n");
  });
});
