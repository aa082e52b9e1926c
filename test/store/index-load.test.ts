import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { CLIENT_LIMITS, measureIndex } from "../../src/store/index-line.ts";
import { cutIndex } from "../../src/store/index-load.ts";
import { DAY, HOUR, makeWorld, note } from "../world.ts";

function cut(text: string) {
  return cutIndex(text, CLIENT_LIMITS);
}

function lines(count: number, line = (i: number) => `- [m${i}](m${i}.md)`): string {
  return Array.from({ length: count }, (_, i) => line(i + 1)).join("\n");
}

describe("cutIndex", () => {
  it("B4.11 200 lines are loaded, line 201 is not", () => {
    expect(cut(`${lines(200)}\n`)).toMatchObject({ lines: 200, truncated: false, warning: null });
    const over = cut(`${lines(201)}\n`);
    expect(over.index).toBe(lines(200));
    expect(over).toMatchObject({
      lines: 201,
      truncated: true,
      warning: { lines: 201, chars: null, cutLines: 1, firstCutLine: 201 },
    });
  });

  it("B4.12 C12 25,000 UTF-16 units are loaded, one more is not", () => {
    const text = lines(100, () => "x".repeat(249));
    const full = `${text}${"y".repeat(25_000 - text.length)}`;
    expect(cut(`${full}\n`)).toMatchObject({ chars: 25_000, truncated: false });
    const over = cut(`${full}z`);
    expect(over).toMatchObject({
      chars: 25_001,
      truncated: true,
      warning: { lines: null, chars: 25_001, cutLines: 1, firstCutLine: 100 },
    });
    expect(over.index).toBe(lines(99, () => "x".repeat(249)));
  });

  it("C12 characters are UTF-16 units, not bytes", () => {
    expect(cut("é".repeat(25_000)).truncated).toBe(false);
    expect(cut("😀".repeat(12_500)).truncated).toBe(false);
    expect(cut("😀".repeat(12_501)).truncated).toBe(true);
  });

  it("B4.13 cuts lines first, then at the last newline", () => {
    const over = cut(lines(250, () => "x".repeat(149)));
    expect(over.index).toBe(lines(166, () => "x".repeat(149)));
    expect(over.warning).toMatchObject({ lines: 250, chars: 37_499, cutLines: 84, firstCutLine: 167 });
  });

  it("B4.13 a newline exactly at the cap is where it is cut", () => {
    const over = cut(`${"x".repeat(25_000)}\nrest`);
    expect(over.index).toBe("x".repeat(25_000));
    expect(over.warning).toMatchObject({ cutLines: 1, firstCutLine: 2 });
  });

  it("B4.15 197 KB in 200 lines", () => {
    const text = lines(200, (i) => `- [m${i}](m${i}.md) ${"x".repeat(985)}`);
    expect(text.length).toBeGreaterThan(197_000);
    const over = cut(text);
    expect(over.index.length).toBeLessThanOrEqual(25_000);
    expect(text.startsWith(`${over.index}\n`)).toBe(true);
    expect(over.warning).toMatchObject({ lines: null, chars: text.length });
  });

  it("B4.13 one giant line is cut inside, never inside a character", () => {
    expect(cut("x".repeat(30_000)).index).toHaveLength(25_000);
    const emoji = cut(`x${"😀".repeat(20_000)}`);
    expect(emoji.index).toHaveLength(24_999);
    expect(emoji.index.isWellFormed()).toBe(true);
    expect(emoji.warning).toMatchObject({ cutLines: null, firstCutLine: null, chars: 40_001 });
    expect(emoji.warning?.message).toMatch(/the line is cut after/);
  });

  it("a giant first line with others behind it names what is cut", () => {
    const over = cut(`${"x".repeat(30_000)}\nsecond\nthird`);
    expect(over.index).toHaveLength(25_000);
    expect(over.warning?.message).toMatch(/30013 characters/);
    expect(over.warning).toMatchObject({ cutLines: 2, firstCutLine: 2 });
  });

  it("B4.14 the warning names reason, size, the first cut line and the remedy", () => {
    const message = cut(`${lines(200)}\n- [The lost one](lost.md) — gone`).warning?.message ?? "";
    expect(message).toContain("201 lines (limit 200)");
    expect(message).toContain('1 line from line 201 on ("- [The lost one](lost.md) — gone")');
    expect(message).toContain("memdir index --rebuild");
    const both = cut(lines(250, () => "x".repeat(149))).warning?.message ?? "";
    expect(both).toContain("250 lines (limit 200) and 37499 characters (limit 25000)");
  });

  it("the numbers are of the whole index although only lines were cut", () => {
    const over = cut(lines(250, (i) => (i <= 200 ? "x".repeat(100) : "y".repeat(200))));
    expect(over.index.split("\n")).toHaveLength(200);
    expect(over.warning).toMatchObject({ lines: 250, chars: 30_249 });
  });

  it("B2.14 C12 frontmatter and block comments are neither counted nor shown", () => {
    const text = `---\nname: x\n${"# pad\n".repeat(50)}---\n<!--\n${"pad\n".repeat(50)}-->\n\n${lines(200)}\n`;
    expect(cut(text)).toMatchObject({ lines: 200, truncated: false, index: lines(200) });
    expect(measureIndex(text).lines).toBe(200);
  });

  it("C12 blank lines around are trimmed, those inside count", () => {
    expect(cut(`\n\n${lines(200)}\n\n\n`)).toMatchObject({ lines: 200, truncated: false });
    expect(cut(`${lines(100)}\n\n${lines(100)}`)).toMatchObject({ lines: 201, truncated: true });
  });

  it("C-1 a CR counts and is not shown; a BOM neither", () => {
    const text = lines(200, () => "x".repeat(124)).replaceAll("\n", "\r\n");
    expect(text.length).toBe(200 * 124 + 199 * 2);
    expect(cut(text)).toMatchObject({ chars: 25_198, truncated: true });
    expect(cut("\uFEFFa\r\nb\r\n")).toMatchObject({ index: "a\nb", chars: 4 });
  });

  it("C12 both limits can be set", () => {
    expect(cutIndex(lines(10), { maxLines: 5, maxChars: 1000 }).index).toBe(lines(5));
    expect(cutIndex("abc\ndef", { maxLines: 5, maxChars: 5 }).index).toBe("abc");
  });
});

describe("loadIndex", () => {
  it('B4.10 is "" without a directory', async () => {
    const world = makeWorld();
    expect(await (await world.open()).index()).toMatchObject({
      dir: world.dir,
      index: "",
      lines: 0,
      truncated: false,
      overflow: [],
    });
    expect(fs.existsSync(world.dir)).toBe(false);
  });

  it("B1.9 C13 loading never changes MEMORY.md", async () => {
    const world = makeWorld();
    const text = `---\nx: y\n---\n${lines(300)}\r\n\r\n`;
    world.write("MEMORY.md", text);
    const view = await (await world.open()).index();
    expect(view.index.split("\n")).toHaveLength(200);
    expect(world.read("MEMORY.md")).toBe(text);
  });

  it("C13 the files of the overflow page are named", async () => {
    const world = makeWorld();
    world.write("MEMORY.md", "- [a](a.md)\n");
    world.write("MEMORY.more.md", "- [a](a.md)\n- [b](b.md)\n");
    expect((await (await world.open()).index()).overflow).toEqual(["b.md"]);
  });

  it("an empty index, a dangling link and a directory in its place are an empty index", async () => {
    for (const make of [
      (path: string) => fs.writeFileSync(path, ""),
      (path: string) => fs.symlinkSync("nowhere.md", path),
      (path: string) => fs.mkdirSync(path),
    ]) {
      const world = makeWorld();
      world.write("a.md", "a");
      make(world.path("MEMORY.md"));
      expect(await (await world.open()).index()).toMatchObject({ index: "", lines: 0 });
    }
  });

  it("a link of the user's own is followed; one in a repository that leads out of the directory is not", async () => {
    const world = makeWorld();
    const outside = path.join(world.top, "outside");
    fs.writeFileSync(outside, "private words");
    fs.mkdirSync(world.dir, { recursive: true });
    fs.symlinkSync(outside, world.path("MEMORY.md"));
    const own = await world.open();
    expect((await own.index()).index).toBe("private words");
    expect(await own.prompt({ section: "index" })).toContain("private words");
    const inRepository = (...names: string[]) => path.join(world.project, ...names);
    const places = [
      [inRepository(".claude", "memory"), { scope: "team" }],
      [inRepository(".claude", "agent-memory-local", "x"), { scope: "agent:x@local" }],
      [inRepository("mem"), { memoryDir: inRepository("mem") }],
    ] as const;
    for (const [folder, options] of places) {
      fs.mkdirSync(folder, { recursive: true });
      const file = path.join(folder, "MEMORY.md");
      fs.symlinkSync(outside, file);
      const memdir = await world.open(options);
      const message = "MEMORY.md is a link that leads out of the directory, so it is not read: replace it with a file.";
      expect(await memdir.index()).toMatchObject({ index: "", lines: 0, warning: { message } });
      expect(await memdir.prompt({ section: "index" })).not.toContain("private words");
      expect((await memdir.doctor()).filter(({ ok }) => !ok)).toMatchObject([
        { name: "index", detail: expect.stringContaining(message) },
      ]);
      fs.rmSync(file);
      fs.symlinkSync("inside.md", file);
      fs.writeFileSync(path.join(folder, "inside.md"), "words of the team");
      expect((await memdir.index()).index).toBe("words of the team");
    }
  });
});

describe("a missing MEMORY.md is generated as the client does", () => {
  it("of a giant only the header is read", async () => {
    const world = makeWorld();
    world.write("giant.md", "---\nname: giant\ndescription: what is at its top\ntype: user\n---\n\nBody.\n");
    // More than can be read at once; nothing of it is on disk.
    fs.truncateSync(world.path("giant.md"), 3 * 2 ** 30);
    expect((await (await world.open()).index()).index).toBe("- [giant](giant.md) — what is at its top");
  });

  it("stem as title, newest first, subfolders included, name ignored; it is written where a session starts", async () => {
    const world = makeWorld();
    world.write("old.md", "---\nname: Another name\ndescription: The old one\n---\n", { ageMs: 5 * DAY });
    world.write("project/new.md", "---\ndescription: The new one\n---\n", { ageMs: HOUR });
    world.write("plain.md", "no frontmatter\n", { ageMs: 2 * DAY });
    const expected = "- [new](project/new.md) — The new one\n- [plain](plain.md)\n- [old](old.md) — The old one";
    const memdir = await world.open();
    // To look is not to write.
    expect((await memdir.index()).index).toBe(expected);
    expect(world.exists("MEMORY.md")).toBe(false);
    expect((await memdir.context([])).memory.index).toBe(expected);
    expect(world.index()).toBe(`${expected}\n`);
  });

  it("what is skipped: dot files, links, other endings, MEMORY.md below, brackets in names", async () => {
    const world = makeWorld();
    for (const file of [".hidden.md", ".git/x.md", "a.MD", "a.txt", "sub/MEMORY.md", "a[1].md", "b(2).md"])
      world.write(file, "x");
    world.write("real.md", "x");
    fs.symlinkSync("real.md", world.path("link.md"));
    expect((await (await world.open()).index()).index).toBe("- [real](real.md)");
  });

  it.each(["42", "true", "null", "[a, b]", "{ a: b }", "", "3.14"])(
    "a description of %j is not shown",
    async (value) => {
      const world = makeWorld();
      world.write("a.md", `---\nname: a\ndescription: ${value}\n---\n`);
      expect((await (await world.open()).index()).index).toBe("- [a](a.md)");
    },
  );

  it("a line is cut to 150 characters with …", async () => {
    const world = makeWorld();
    world.write("a.md", `---\ndescription: ${"x".repeat(200)}\n---\n`);
    const { index } = await (await world.open()).index();
    expect(index).toHaveLength(150);
    expect(index).toMatch(/^- \[a\]\(a\.md\) — x+…$/);
  });

  it("stops at 140 lines, or at 17,500 characters", async () => {
    const many = makeWorld();
    for (let i = 0; i < 150; i++) many.write(`m${i}.md`, "x");
    expect(await (await many.open()).index()).toMatchObject({ lines: 140, warning: null });
    const long = makeWorld();
    for (let i = 100; i < 250; i++) long.write(`m${i}.md`, `---\ndescription: ${"x".repeat(200)}\n---\n`);
    const { chars, lines: count } = await (await long.open()).index();
    expect(count).toBe(115);
    expect(chars).toBeGreaterThan(17_300);
    expect(chars).toBeLessThanOrEqual(17_500);
  });

  it("not when MEMORY.md exists, even empty, and not without memories", async () => {
    const world = makeWorld();
    world.write("a.md", "x");
    world.write("MEMORY.md", "");
    expect((await (await world.open()).index()).index).toBe("");
    const empty = makeWorld();
    fs.mkdirSync(empty.dir, { recursive: true });
    await (await empty.open()).index();
    expect(empty.files()).toEqual([]);
  });

  it("a later save keeps the generated lines and adds its own", async () => {
    const world = makeWorld();
    world.write("a.md", "---\nname: A\ndescription: d\ntype: user\n---\n");
    const memdir = await world.open();
    await memdir.context([]);
    await memdir.save(note("b"));
    expect(world.index()).toBe("- [a](a.md) — d\n- [b](user_b.md) — about b\n");
  });
});
