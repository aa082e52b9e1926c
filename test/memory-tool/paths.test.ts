/** Paths that lead out of the directory, or to what is not the model's. */
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { MemoryToolHandlers } from "../../src/memory-tool/memory-tool.ts";
import { openTool, type TestTool, wordsOf } from "./tool.ts";

const POSIX = process.platform !== "win32";

/** Every command on one path. */
const COMMANDS: [string, (tool: MemoryToolHandlers, path: string) => Promise<unknown>][] = [
  ["view", (tool, path) => tool.view({ path })],
  ["create", (tool, path) => tool.create({ path, file_text: "x" })],
  ["str_replace", (tool, path) => tool.str_replace({ path, old_str: "a", new_str: "b" })],
  ["insert", (tool, path) => tool.insert({ path, insert_line: 0, insert_text: "x" })],
  ["delete", (tool, path) => tool.delete({ path })],
  ["rename from", (tool, path) => tool.rename({ old_path: path, new_path: "/memories/free.txt" })],
  ["rename to", (tool, path) => tool.rename({ old_path: "/memories/mine.txt", new_path: path })],
];

/** A file of the model's, and one beside the directory that it must not reach. */
async function openTarget(): Promise<TestTool & { secret: string }> {
  const target = await openTool();
  target.world.write("mine.txt", "mine");
  const secret = path.join(target.world.dir, "..", "secret.txt");
  fs.writeFileSync(secret, "a secret");
  return { ...target, secret };
}

/** Every file of the world, for a look at what changed. */
function snapshot(top: string): Record<string, string> {
  const entries = fs.readdirSync(top, { recursive: true, withFileTypes: true }) as fs.Dirent[];
  const files = entries.filter((entry) => entry.isFile()).map((entry) => path.join(entry.parentPath, entry.name));
  return Object.fromEntries(files.sort().map((file) => [file, fs.readFileSync(file, "utf8")]));
}

describe.each(COMMANDS)("%s", (_, run) => {
  it.each([
    "/memories/../secret.txt",
    "/memories/..",
    "/memories/sub/../../secret.txt",
    "/memories/sub/../mine.txt",
    "/memories/..\\secret.txt",
    "/memories/sub\\x.txt",
    "/memories/%2e%2e/secret.txt",
    "/memories/%2e%2e%2fsecret.txt",
    "/memories/..%2fsecret.txt",
    "/memories/%252e%252e%252fsecret.txt",
    "/memories/．．/secret.txt",
    "/memories/‥/secret.txt",
    "/memories/a／b.txt",
    "/memories/a\0b.txt",
    "/memories/a%00b.txt",
    "/memories/C:/secret.txt",
    "/memories/../memory_backup/x.txt",
  ])("refuses %j as leading out", async (path) => {
    const { world, tool } = await openTarget();
    const before = snapshot(world.top);
    const words = await wordsOf(run(tool, path));
    expect(words).toContain("would escape /memories directory");
    expect(words).not.toContain("\0");
    expect(snapshot(world.top)).toEqual(before);
  });

  it.each([
    "",
    "/",
    "/etc/passwd",
    "memories/mine.txt",
    "mine.txt",
    "/memoriesmine.txt",
    "/Memories/mine.txt",
    " /memories/mine.txt",
    "~/mine.txt",
    "file:///memories/mine.txt",
  ])("refuses %j as no path of the directory", async (path) => {
    const { world, tool } = await openTarget();
    const before = snapshot(world.top);
    expect(await wordsOf(run(tool, path))).toMatch(/^Path must start with \/memories, got: /);
    expect(snapshot(world.top)).toEqual(before);
  });

  it.each([undefined, null, 7, {}, ["/memories/mine.txt"]])("refuses %j, which is no text", async (path) => {
    const { tool } = await openTarget();
    expect(await wordsOf(run(tool, path as unknown as string))).toMatch(/path` must be a string such as/);
  });

  it.runIf(POSIX).each([
    ["a link to a file outside", "leaf", "leaf"],
    ["a file behind a link to a folder outside", "out", "out/secret.txt"],
    ["a new file behind a link to a folder outside", "out", "out/new/x.txt"],
    ["a link to a folder whose name begins alike", "sibling", "sibling/secret.txt"],
    ["a link to nothing", "dangling", "dangling"],
    ["a file behind a link to nothing", "dangling", "dangling/x.txt"],
    ["a link to itself", "loop", "loop"],
    ["a file behind a link to itself", "loop", "loop/x.txt"],
    ["a link to a file inside", "inner", "inner"],
  ])("refuses %s", async (_, link, file) => {
    const { world, tool, secret } = await openTarget();
    const sibling = `${world.dir}_backup`;
    fs.mkdirSync(sibling);
    fs.copyFileSync(secret, path.join(sibling, "secret.txt"));
    const targets: Record<string, string> = {
      leaf: secret,
      out: path.dirname(secret),
      sibling,
      dangling: path.join(world.dir, "..", "nothing"),
      loop: "loop",
      inner: "mine.txt",
    };
    fs.symlinkSync(targets[link] as string, world.path(link));
    const before = snapshot(world.top);
    expect(await wordsOf(run(tool, `/memories/${file}`))).toMatch(
      /^Path would escape \/memories directory via symlink/,
    );
    expect([snapshot(world.top), fs.lstatSync(world.path(link)).isSymbolicLink()]).toEqual([before, true]);
  });

  it.each(["/memories/.memdir/journal.jsonl", "/memories/.memdir", "/memories/.env", "/memories/a/.git/config"])(
    "neither sees nor touches %s",
    async (path) => {
      const { world, tool, create } = await openTarget();
      await create("/memories/first.md");
      world.write(".env", "a");
      world.write("a/.git/config", "a");
      const before = snapshot(world.top);
      expect(await wordsOf(run(tool, path))).toMatch(/does not exist|must not begin with a dot/);
      expect(snapshot(world.top)).toEqual(before);
    },
  );

  it.runIf(POSIX)("does not reach the hidden folder through a link beside it", async () => {
    const { world, tool, create } = await openTarget();
    await create("/memories/first.md");
    fs.symlinkSync(".memdir", world.path("peek"));
    const before = snapshot(world.top);
    expect(await wordsOf(run(tool, "/memories/peek/journal.jsonl"))).toMatch(/does not exist|begin with a dot/);
    expect(snapshot(world.top)).toEqual(before);
  });

  it("is not held up by names of any length", async () => {
    const { world, tool } = await openTarget();
    const before = snapshot(world.top);
    for (const path of [`/memories/${"x".repeat(300)}.txt`, `/memories/${"x/".repeat(3000)}y.txt`]) {
      const words = await wordsOf(run(tool, path));
      expect(words).toMatch(/does not exist|longer than 255 bytes|too deep/);
      expect(words.length).toBeLessThan(500);
    }
    expect(snapshot(world.top)).toEqual(before);
  });

  it.runIf(POSIX)("does not wait for a fifo", async () => {
    const { world, tool } = await openTarget();
    execFileSync("mkfifo", [world.path("pipe")]);
    expect(await wordsOf(run(tool, "/memories/pipe"))).toMatch(/Unsupported file type|already exists/);
    expect(fs.lstatSync(world.path("pipe")).isFIFO()).toBe(true);
  });
});

it("nothing outside changes, whatever path is put together", async () => {
  const { world, tool } = await openTarget();
  const outside = () => Object.entries(snapshot(world.top)).filter(([file]) => !file.startsWith(world.dir + path.sep));
  const before = outside();
  const units = ["..", ".", "/", "\\", "%2e", "%2f", "%5c", "%25", "．", "／", "a", "b.md", "~", "\0", " ", "memories"];
  const paths = fc.string({ unit: fc.constantFrom(...units), maxLength: 8 }).map((rest) => `/memories${rest}`);
  await fc.assert(
    fc.asyncProperty(paths, fc.nat(COMMANDS.length - 1), async (given, which) => {
      const [, run] = COMMANDS[which] as (typeof COMMANDS)[0];
      await run(tool, given).catch((error) => expect(error).toHaveProperty("code"));
    }),
    { numRuns: 300 },
  );
  expect(outside()).toEqual(before);
  expect(fs.readdirSync(world.dir).filter((name) => /^\.(?!memdir$)/.test(name))).toEqual([]);
});

describe("names", () => {
  it.each(["con", "CON.md", "nul.txt", "Aux.tar.gz", "com1", "lpt9.md", "prn .txt", "sub/con.md", "nul/x.md"])(
    "refuses to make %s, which is a device on Windows",
    async (name) => {
      const { create } = await openTool();
      expect(await wordsOf(create(`/memories/${name}`))).toContain("is the name of a device on Windows");
    },
  );

  it.each([
    "a.",
    "a ",
    "sub /x.md",
    "ab:c.md",
    "a?.md",
    "a*.md",
    'a".md',
    "a<b>.md",
    "a|b.md",
    "a\nb.md",
    "a\u0007.md",
  ])("refuses to make %j, which not every system can hold", async (name) => {
    const { create, tool } = await openTool();
    await create("/memories/mine.txt");
    expect(await wordsOf(create(`/memories/${name}`))).toMatch(/^Cannot write/);
    expect(await wordsOf(tool.rename({ old_path: "/memories/mine.txt", new_path: `/memories/${name}` }))).toMatch(
      /^Cannot write/,
    );
  });

  it.each(["MEMDIR~1", "memdir~1/journal.jsonl", "ab~12.md"])(
    "refuses to make %s, a short name on Windows",
    async (name) => {
      const { create } = await openTool();
      expect(await wordsOf(create(`/memories/${name}`))).toContain("may be the short name of another file");
    },
  );

  it.each(["memory.md", "Memory.md", "memory.MORE.md"])("refuses %s beside the index", async (name) => {
    const { create } = await openTool();
    expect(await wordsOf(create(`/memories/${name}`))).toContain("only in its capitals");
  });

  it("goes as deep as memdir looks for memories", async () => {
    const { create, memdir } = await openTool();
    await create(`/memories/${"d/".repeat(8)}x.md`);
    expect(await memdir.list()).toHaveLength(1);
    expect(await wordsOf(create(`/memories/${"d/".repeat(9)}x.md`))).toContain("it is nested too deeply");
  });

  it("takes names of every script, with spaces and per cent signs", async () => {
    const { create, view } = await openTool();
    for (const name of ["日本語.md", "naïve café.txt", "100% sure.md", "ﬁle.txt", "a..b.md", "console.md", "😀.md"]) {
      await create(`/memories/${name}`);
      expect(await view(`/memories/${name}`)).toContain(`/memories/${name} with`);
    }
  });

  it("knows a name in both spellings of its accents", async () => {
    const { create, view } = await openTool();
    await create("/memories/caf\u00e9.md", "coffee");
    expect(await view("/memories/cafe\u0301.md")).toContain("coffee");
    expect(await wordsOf(create("/memories/cafe\u0301.md"))).toContain("already exists");
  });

  it.runIf(POSIX)("reaches a file that a person named in a way which it may not choose itself", async () => {
    const { world, view, tool } = await openTool();
    world.write("what: now?.md", "words");
    expect(await view("/memories/what: now?.md")).toContain("words");
    await tool.rename({ old_path: "/memories/what: now?.md", new_path: "/memories/now.md" });
    expect(world.read("now.md")).toBe("words");
  });

  it.runIf(POSIX)("follows a link between folders of the directory, to the file's own name", async () => {
    const { world, create, memdir } = await openTool();
    await create("/memories/real/a.md");
    fs.symlinkSync("real", world.path("alias"));
    await create("/memories/alias/b.md");
    expect(world.files()).toContain("real/b.md");
    expect((await memdir.history()).at(-1)?.files.map(({ file }) => file)).toEqual(["real/b.md"]);
  });

  it("tells the model nothing of the machine's folders", async () => {
    const { world, create } = await openTool();
    fs.mkdirSync(path.dirname(world.dir), { recursive: true });
    fs.writeFileSync(world.dir, "a file stands here");
    const words = await wordsOf(create("/memories/x.md"));
    expect(words).toContain("/memories");
    expect(words).not.toContain(world.top);
  });
});
