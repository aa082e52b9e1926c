import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import fc from "fast-check";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { findNameProblem, makeFolders, resolveInside } from "../../src/disk/fence.ts";
import { MemdirError } from "../../src/errors.ts";

const top = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "memdir-fence-")));
afterAll(() => fs.rmSync(top, { recursive: true, force: true }));

let root: string;
let count = 0;
beforeEach(() => {
  root = path.join(top, String(count++), "memory");
  fs.mkdirSync(path.join(root, "sub"), { recursive: true });
  fs.writeFileSync(path.join(root, "a.md"), "a");
});

function beside(name: string): string {
  return path.join(path.dirname(root), name);
}

function refusal(directory: string, name: string): MemdirError {
  try {
    const found = resolveInside(directory, name);
    throw new Error(`not refused: ${JSON.stringify(name)} became ${found}`);
  } catch (error) {
    expect(error).toBeInstanceOf(MemdirError);
    expect((error as MemdirError).code).toBe("outside");
    return error as MemdirError;
  }
}

describe("by its text", () => {
  it.each(["a.md", "new.md", "sub/b.md", "sub/deep/er/c.md", "..a.md", "a..b.md", "...", ".hidden", "ü 漢字.md"])(
    "%j is fine",
    (name) => {
      expect(resolveInside(root, name)).toBe(path.join(root, name));
    },
  );

  it.each([
    "",
    "..",
    ".",
    "../a.md",
    "../../etc/passwd",
    "sub/../../a.md",
    "sub/../a.md",
    "sub/..",
    "./a.md",
    "sub/./a.md",
    "sub//a.md",
    "//a.md",
    "sub/",
    "/etc/passwd",
    "C:\\a.md",
    "C:/a.md",
    "c:a.md",
    "\\\\host\\share",
    "..\\a.md",
    "sub\\a.md",
    "a\0.md",
    "a.md\0",
    "\0",
  ])("%j is refused", (name) => {
    refusal(root, name);
    expect(findNameProblem(name)).not.toBeNull();
  });

  it.each([
    ["once", "%2e%2e%2fa.md"],
    ["once, upper case", "%2E%2E%2Fa.md"],
    ["half", "..%2fa.md"],
    ["dots only", "%2e%2e"],
    ["a backslash", "..%5ca.md"],
    ["a NUL", "a%00.md"],
    ["absolute", "%2fetc%2fpasswd"],
    ["with a broken sequence", "%2e%2e%2f%ff.md"],
    ["twice", "%252e%252e%252fa.md"],
    ["three times", "%25252e%25252e%25252fa.md"],
    ["full-width, encoded", "%EF%BC%8E%EF%BC%8E%EF%BC%8Fa.md"],
  ])("percent-encoding is refused: %s", (_, name) => {
    refusal(root, name);
  });

  it.each(["．．／a.md", "．．", "a／b.md", "..／a.md", "．．＼a.md", "sub/．．/．．/a.md", "․․/a.md", "‥/a.md"])(
    "look-alikes are refused: %j",
    (name) => {
      refusal(root, name);
    },
  );

  it.each(["50%.md", "sub/50% more.md", "sub/a%20b.md", "100%25.md", "and so on….md", "sub/ﬁn.md", "½.md"])(
    "%j only looks odd and is fine",
    (name) => {
      expect(resolveInside(root, name)).toBe(path.join(root, name));
    },
  );

  it("the message shows the name shortened and says why", () => {
    const error = refusal(root, `${"x".repeat(500)}/../a`);
    expect(error.message.length).toBeLessThan(250);
    expect(error.message).toContain("..");
    expect(refusal(root, "a\u001b[31m\n\0").message).toContain(String.raw`"a\u001b[31m\n\u0000"`);
  });
});

describe("on the disk", () => {
  it("C-6 a sibling that shares a prefix is outside", () => {
    fs.mkdirSync(beside("memory-other"));
    fs.symlinkSync(beside("memory-other"), path.join(root, "link"));
    refusal(root, "link/a.md");
    refusal(root, "../memory-other/a.md");
  });

  it("C-7 a link as the last part is refused, dangling or not, wherever it leads", () => {
    fs.writeFileSync(beside("secret.md"), "x");
    fs.symlinkSync(beside("nowhere.md"), path.join(root, "dangling.md"));
    fs.symlinkSync(beside("secret.md"), path.join(root, "out.md"));
    fs.symlinkSync("a.md", path.join(root, "in.md"));
    fs.symlinkSync("self.md", path.join(root, "self.md"));
    for (const name of ["dangling.md", "out.md", "in.md", "self.md"])
      expect(refusal(root, name).message).toContain("symbolic link");
    expect(fs.existsSync(beside("nowhere.md"))).toBe(false);
  });

  it("C-8 the root itself may be a link", () => {
    fs.symlinkSync(root, beside("link"));
    expect(resolveInside(beside("link"), "a.md")).toBe(path.join(beside("link"), "a.md"));
    expect(resolveInside(beside("link"), "sub/new/x.md")).toBe(path.join(beside("link"), "sub/new/x.md"));
    fs.symlinkSync(top, path.join(root, "out"));
    refusal(beside("link"), "out/a.md");
  });

  it("a linked folder that leads out is refused, also for files that do not exist yet", () => {
    fs.mkdirSync(beside("elsewhere"));
    fs.symlinkSync(beside("elsewhere"), path.join(root, "out"));
    fs.symlinkSync("..", path.join(root, "sub", "up"));
    fs.symlinkSync("../..", path.join(root, "sub", "upper"));
    refusal(root, "out/a.md");
    refusal(root, "out/deep/er/a.md");
    refusal(root, "sub/upper/a.md");
    expect(resolveInside(root, "sub/up/a.md")).toBe(path.join(root, "sub/up/a.md"));
  });

  it("a linked folder that stays inside is fine", () => {
    fs.symlinkSync("sub", path.join(root, "alias"));
    expect(resolveInside(root, "alias/new.md")).toBe(path.join(root, "alias/new.md"));
  });

  it("a folder that is a dangling link is refused", () => {
    fs.symlinkSync(beside("nowhere"), path.join(root, "gone"));
    refusal(root, "gone/a.md");
    refusal(root, "gone/deep/a.md");
  });

  it("links that lead in a circle are refused", () => {
    fs.symlinkSync("two", path.join(root, "one"));
    fs.symlinkSync("one", path.join(root, "two"));
    refusal(root, "one");
    refusal(root, "one/a.md");
    refusal(root, "one/deep/a.md");
  });

  it("a root that does not exist yet", () => {
    expect(resolveInside(beside("later/memory"), "sub/a.md")).toBe(beside("later/memory/sub/a.md"));
    fs.symlinkSync(root, beside("linked"));
    expect(resolveInside(beside("linked/later"), "a.md")).toBe(beside("linked/later/a.md"));
  });

  it("a file in the place of a folder, and names that no disk takes, are no surprise", () => {
    for (const name of ["a.md/b.md", "x".repeat(5000), `${"x".repeat(300)}/a.md`, "\ud800.md"]) {
      try {
        expect(resolveInside(root, name).startsWith(root)).toBe(true);
      } catch (error) {
        expect(error, name.slice(0, 20)).toBeInstanceOf(MemdirError);
      }
    }
  });
});

it("whatever the name, the path is refused or its deepest existing ancestor lies inside", () => {
  fs.mkdirSync(beside("memory-other"));
  fs.symlinkSync(beside("memory-other"), path.join(root, "out"));
  fs.symlinkSync("sub", path.join(root, "in"));
  fs.symlinkSync("loop", path.join(root, "loop"));
  fs.symlinkSync("nowhere", path.join(root, "gone"));
  const realRoot = fs.realpathSync(root);
  const part = fc.constantFrom(
    ..."a.md|sub|in|out|loop|gone|new|..|.|/|\\|//|%2e|%2f|%5c|%25|．|／|C:|\0| |~|memory|memory-other|…|\ud800".split(
      "|",
    ),
  );
  const name = fc.oneof(
    fc.array(part, { maxLength: 6 }).map((parts) => parts.join("")),
    fc.array(part, { maxLength: 6 }).map((parts) => parts.join("/")),
    fc.string({ unit: "binary", maxLength: 40 }),
  );
  fc.assert(
    fc.property(name, (relative) => {
      let found: string;
      try {
        found = resolveInside(root, relative);
      } catch (error) {
        if (error instanceof MemdirError && error.code === "outside") return;
        throw error;
      }
      expect(found.startsWith(root + path.sep)).toBe(true);
      let at = found;
      while (!fs.lstatSync(at, { throwIfNoEntry: false })) at = path.dirname(at);
      const real = fs.realpathSync(at);
      expect(real === realRoot || real.startsWith(realRoot + path.sep)).toBe(true);
    }),
    { numRuns: 1500 },
  );
});

describe("making folders", () => {
  it("gives those that were missing, and keeps the mode it was given", () => {
    const top = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "memdir-folders-")));
    const [one, two] = [path.join(top, "one"), path.join(top, "one", "two")];
    expect(makeFolders(two, 0o700)).toEqual([one, two]);
    expect(makeFolders(two, 0o700)).toEqual([]);
    if (process.platform !== "win32") expect(fs.statSync(one).mode & 0o777).toBe(0o700);
    fs.rmSync(top, { recursive: true });
  });

  // Node's own never ends there.
  it.runIf(process.platform === "linux")("ends where nothing can be made", () => {
    expect(() => makeFolders("/proc/memdir/folder")).toThrow(/ENOENT/);
  });
});
