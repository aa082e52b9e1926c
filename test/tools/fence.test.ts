import fs from "node:fs";
import path from "node:path";
import { Worker } from "node:worker_threads";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { openFolderAt, readFileAt } from "../../src/tools/file.ts";
import { openTools } from "../../src/tools/tools.ts";
import { type Bench, makeBench } from "./bench.ts";

const SECRET = "the-secret-plan";
const posix = process.platform !== "win32";

/** A fenced folder with a note, and secrets everywhere around it. */
function makeFence(more = {}): Bench {
  const bench = makeBench({ fence: "memory", ...more });
  bench.put("note.md", "a note\n");
  bench.put("sub/deep.md", "a deep note\n");
  fs.writeFileSync(path.join(bench.cwd, "secret.md"), SECRET);
  fs.mkdirSync(path.join(bench.cwd, "memory-too"));
  fs.writeFileSync(path.join(bench.cwd, "memory-too", "secret.md"), SECRET);
  fs.writeFileSync(path.join(bench.outside, "secret.md"), SECRET);
  return bench;
}

/** Everything below the top that is not behind the fence, to see that nothing was touched. */
function around(bench: Bench): string[] {
  const list = (folder: string): string[] =>
    fs.readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
      const at = path.join(folder, entry.name);
      if (at === bench.fence || entry.name === ".git") return [];
      return entry.isDirectory() ? [at, ...list(at)] : [`${at} ${fs.readFileSync(at, "utf8")}`];
    });
  return list(path.dirname(bench.cwd)).sort();
}

const refusal = (bench: Bench) => `only ${bench.fence} can be used here, without links out of it; give a path below it`;

/** Each tool that takes a path, with a call that would read, find or write at it. */
const CALLS: [name: "Read" | "Write" | "Edit" | "Glob" | "Grep", input: (path: string) => Record<string, unknown>][] = [
  ["Read", (file_path) => ({ file_path })],
  ["Write", (file_path) => ({ file_path, content: "broken in" })],
  ["Edit", (file_path) => ({ file_path, old_string: SECRET, new_string: "broken in" })],
  ["Edit", (file_path) => ({ file_path, old_string: "", new_string: "broken in" })],
  ["Glob", (each) => ({ pattern: "**", path: each })],
  ["Glob", (each) => ({ pattern: `${each}/*` })],
  ["Grep", (each) => ({ pattern: ".", path: each, output_mode: "content" })],
];

const WAYS_OUT: [title: string, path: (bench: Bench) => string][] = [
  ["..", () => ".."],
  ["../secret.md", () => "../secret.md"],
  ["../missing.md", () => "../missing.md"],
  ["sub/../../secret.md", () => "sub/../../secret.md"],
  ["missing/../../secret.md", () => "missing/../../secret.md"],
  ["an absolute path", (bench) => path.join(bench.cwd, "secret.md")],
  ["an absolute path with ..", (bench) => `${bench.fence}/../secret.md`],
  ["an absolute path to nothing", (bench) => path.join(bench.cwd, "missing", "x.md")],
  ["the folder above", (bench) => bench.cwd],
  ["a folder whose name begins alike", (bench) => `${bench.fence}-too/secret.md`],
  ["/", () => "/"],
  ["/etc/passwd", () => "/etc/passwd"],
  ["//etc/passwd", () => "//etc/passwd"],
  ["/proc/self/root/etc/passwd", () => "/proc/self/root/etc/passwd"],
  ["/proc/self/cwd", () => "/proc/self/cwd/package.json"],
  ["~", () => "~"],
  ["~/x", () => "~/secret.md"],
  ["percent-encoding", () => "%2e%2e/secret.md"],
  ["percent-encoding of the slash", () => "..%2fsecret.md"],
  ["double percent-encoding", () => "%252e%252e%252fsecret.md"],
  ["full-width dots", () => "\uff0e\uff0e/secret.md"],
  ["a full-width slash", () => "..\uff0fsecret.md"],
  ["backslashes", () => "..\\secret.md"],
  ["a drive", () => "C:\\secret.md"],
  ["a NUL", () => "note.md\0/../../secret.md"],
  ["a NUL behind a way out", () => "../secret.md\0.md"],
  ["the fence in other letters", (bench) => path.join(bench.cwd, "MEMORY", "note.md")],
];

describe("no way out by text", () => {
  for (const [title, out] of WAYS_OUT) {
    it.each(CALLS)(`${title}: %s`, async (tool, input) => {
      const bench = makeFence();
      const before = around(bench);
      const message = await bench.run(tool, input(out(bench))).catch((error: Error) => error.message);
      // In a pattern a backslash only makes the next character a plain one.
      if (!message.startsWith("no files match") || !out(bench).includes("\\")) expect(message).toBe(refusal(bench));
      expect(around(bench)).toEqual(before);
      expect(bench.asked).toEqual([]);
    });
  }
});

describe.runIf(posix)("no way out by links", () => {
  const links: [title: string, make: (bench: Bench) => string][] = [
    [
      "a link to a file",
      (bench) => {
        fs.symlinkSync(path.join(bench.cwd, "secret.md"), bench.at("link"));
        return "link";
      },
    ],
    [
      "a relative link",
      (bench) => {
        fs.symlinkSync("../secret.md", bench.at("link"));
        return "link";
      },
    ],
    [
      "a link to a folder",
      (bench) => {
        fs.symlinkSync(bench.outside, bench.at("link"));
        return "link";
      },
    ],
    [
      "a file behind a linked folder",
      (bench) => {
        fs.symlinkSync(bench.outside, bench.at("link"));
        return "link/secret.md";
      },
    ],
    [
      "nothing behind a linked folder",
      (bench) => {
        fs.symlinkSync(bench.outside, bench.at("link"));
        return "link/missing.md";
      },
    ],
    [
      "a new folder behind a linked folder",
      (bench) => {
        fs.symlinkSync(bench.outside, bench.at("link"));
        return "link/new/missing.md";
      },
    ],
    [
      "a dangling link",
      (bench) => {
        fs.symlinkSync(path.join(bench.outside, "missing.md"), bench.at("link"));
        return "link";
      },
    ],
    [
      "a dangling folder",
      (bench) => {
        fs.symlinkSync(path.join(bench.outside, "missing"), bench.at("link"));
        return "link/x.md";
      },
    ],
    [
      "a chain of links",
      (bench) => {
        fs.symlinkSync("two", bench.at("one"));
        fs.symlinkSync("sub/three", bench.at("two"));
        fs.symlinkSync(bench.outside, bench.at("sub/three"));
        return "one/secret.md";
      },
    ],
    [
      "a circle of links",
      (bench) => {
        fs.symlinkSync("two", bench.at("one"));
        fs.symlinkSync("one", bench.at("two"));
        return "one/secret.md";
      },
    ],
    [
      "a link to the root",
      (bench) => {
        fs.symlinkSync("/", bench.at("link"));
        return "link/etc/passwd";
      },
    ],
    [
      "a link up from within",
      (bench) => {
        fs.symlinkSync("../..", bench.at("sub/up"));
        return "sub/up/secret.md";
      },
    ],
  ];
  for (const [title, make] of links) {
    it.each(CALLS)(`${title}: %s`, async (tool, input) => {
      const bench = makeFence();
      const given = make(bench);
      const before = around(bench);
      const message = await bench.fail(tool, input(given));
      expect(message).toBe(refusal(bench));
      expect(around(bench)).toEqual(before);
      expect(fs.readFileSync(path.join(bench.outside, "secret.md"), "utf8")).toBe(SECRET);
    });
  }

  it("links met on the way are nothing to a search", async () => {
    const bench = makeFence();
    fs.symlinkSync(bench.outside, bench.at("folder"));
    fs.symlinkSync(path.join(bench.outside, "secret.md"), bench.at("file.md"));
    fs.symlinkSync(path.join(bench.outside, "missing"), bench.at("dangling.md"));
    fs.symlinkSync("..", bench.at("up"));
    fs.symlinkSync(path.join(bench.outside, "secret.md"), bench.at(".gitignore"));
    const names = (await bench.run("Glob", { pattern: "**" })).split("\n").sort();
    expect(names).toEqual(["note.md", "sub/deep.md"]);
    for (const pattern of [
      "{folder,up}/*",
      "*/*",
      "**/secret.md",
      "*/../*",
      "{..,sub}/*",
      "[.][.]/*",
      "\\../*",
      "?.?/*",
      "..*",
    ]) {
      const found = await bench.run("Glob", { pattern }).catch((error: Error) => error.message);
      expect(found).not.toContain("secret.md\n");
      expect(found).toMatch(/^(?:sub\/deep\.md|no files match .*|only .* can be used here.*)$/s);
    }
    expect(await bench.run("Grep", { pattern: ".", output_mode: "content" })).toBe(
      "note.md:1:a note\nsub/deep.md:1:a deep note",
    );
    expect(await bench.run("Grep", { pattern: SECRET })).toBe("no matches");
  });

  it("a hard link is a file like any other", async () => {
    const bench = makeFence();
    fs.linkSync(path.join(bench.cwd, "secret.md"), bench.at("hard.md"));
    expect(await bench.run("Read", { file_path: "hard.md" })).toContain(SECRET);
    await bench.run("Write", { file_path: "hard.md", content: "mine" });
    // It was replaced, not written into.
    expect(fs.readFileSync(path.join(bench.cwd, "secret.md"), "utf8")).toBe(SECRET);
  });
});

describe.runIf(process.platform === "linux")("a link that is swapped in between", () => {
  it("is noticed by what was opened", () => {
    const bench = makeFence();
    const real = bench.at("dir", "secret.md");
    fs.symlinkSync(bench.outside, bench.at("dir"));
    expect(() => readFileAt(real, 1000)).toThrow("moved or linked");
    fs.mkdirSync(path.join(bench.outside, "sub"));
    for (const names of [["dir"], ["dir", "new"], ["dir", "sub"], ["dir", "sub", "new"], ["dir", "sub", "new", "er"]]) {
      expect(() => openFolderAt(bench.at(...names))).toThrow();
      expect(() => openFolderAt(bench.at(...names), { make: true })).toThrow();
    }
    expect(fs.readdirSync(bench.outside, { recursive: true }).sort()).toEqual(["secret.md", "sub"]);
  });

  it("before a write leads nowhere", async () => {
    for (const file of ["dir/new.md", "dir/secret.md", "dir/sub/new.md", "dir/sub/more/new.md"]) {
      const bench = makeFence({
        history: {
          before: () => {
            fs.renameSync(bench.at("dir"), bench.at("moved"));
            fs.symlinkSync(bench.outside, bench.at("dir"));
          },
          after: () => {},
        },
      });
      bench.put("dir/secret.md", "inside\n");
      fs.mkdirSync(path.join(bench.outside, "sub"));
      await bench.run("Read", { file_path: "dir/secret.md" });
      await bench.fail("Write", { file_path: file, content: "broken in" });
      expect(fs.readdirSync(bench.outside, { recursive: true }).sort()).toEqual(["secret.md", "sub"]);
      expect(fs.readFileSync(path.join(bench.outside, "secret.md"), "utf8")).toBe(SECRET);
    }
  });

  it("again and again never lets a secret through", async () => {
    const bench = makeFence();
    bench.put("dir/secret.md", "inside\n");
    fs.symlinkSync(bench.outside, bench.at("link"));
    const swapper = new Worker(
      `const fs = require("node:fs"); const { at } = require("node:worker_threads").workerData;
       require("node:worker_threads").parentPort.postMessage("on");
       for (;;) { try {
         fs.renameSync(at + "/dir", at + "/aside"); fs.renameSync(at + "/link", at + "/dir");
         fs.renameSync(at + "/dir", at + "/link"); fs.renameSync(at + "/aside", at + "/dir");
       } catch {} }`,
      { eval: true, workerData: { at: bench.at() } },
    );
    await new Promise((resolve) => swapper.once("message", resolve));
    try {
      for (let i = 0; i < 300; i++) {
        const shown = [
          await bench.run("Read", { file_path: "dir/secret.md" }).catch((error: Error) => error.message),
          await bench.run("Glob", { pattern: "dir/*" }).catch((error: Error) => error.message),
        ].join("\n");
        expect(shown).not.toContain(SECRET);
        await bench.run("Write", { file_path: `dir/new-${i}.md`, content: "x" }).catch(() => {});
      }
      for (let i = 0; i < 10; i++) {
        const found = await bench.run("Grep", { pattern: ".", output_mode: "content" });
        expect(found).not.toContain(SECRET);
      }
    } finally {
      await swapper.terminate();
    }
    expect(fs.readdirSync(bench.outside)).toEqual(["secret.md"]);
  });
});

describe("inside", () => {
  it("everything works, without asking, by relative and absolute paths", async () => {
    const bench = makeFence();
    expect(await bench.run("Read", { file_path: "note.md" })).toBe("    1→a note");
    expect(await bench.run("Read", { file_path: bench.at("sub/deep.md") })).toBe("    1→a deep note");
    expect(await bench.run("Read", { file_path: "sub/../note.md" })).toBe("    1→a note");
    expect(await bench.run("Write", { file_path: "new/x.md", content: "x" })).toBe("created new/x.md (1 line)");
    await bench.run("Edit", { file_path: "note.md", old_string: "a note", new_string: "the note" });
    expect(bench.get("note.md")).toBe("the note\n");
    expect(await bench.run("Grep", { pattern: "note" })).toContain("sub/deep.md");
    expect(await bench.run("Glob", { pattern: "*.md", path: bench.fence })).toBe("note.md");
    expect(await bench.run("Glob", { pattern: `${bench.fence}/sub/*` })).toBe("sub/deep.md");
    expect(bench.asked).toEqual([]);
  });

  it("names that only look odd are names", async () => {
    const bench = makeFence();
    for (const name of ["..a.md", "a..b.md", "100%.md", "ü 漢字.md", "-rf"]) {
      await bench.run("Write", { file_path: name, content: "x" });
      expect(bench.get(name)).toBe("x");
    }
  });

  it("a missing file is said to be missing, with near names from inside only", async () => {
    const bench = makeFence();
    expect(await bench.fail("Read", { file_path: "notes.md" })).toContain("did you mean note.md");
    expect(await bench.fail("Read", { file_path: "secret.md" })).toBe("secret.md does not exist");
  });

  it("a fence that does not exist yet is made by the first write", async () => {
    const bench = makeFence();
    fs.rmSync(bench.fence as string, { recursive: true });
    expect(await bench.fail("Read", { file_path: "note.md" })).toContain("does not exist");
    expect(await bench.fail("Read", { file_path: "../secret.md" })).toBe(refusal(bench));
    await bench.run("Write", { file_path: "note.md", content: "x" });
    expect(bench.get("note.md")).toBe("x");
  });

  it.runIf(posix)("a fence that is reached through a link is the same by both names", async () => {
    const first = makeFence();
    const link = path.join(first.cwd, "linked-memory");
    fs.symlinkSync(first.fence as string, link);
    const tools = openTools({ ...first, fence: link });
    const read = tools.find(({ name }) => name === "Read");
    const call = { id: "", signal: new AbortController().signal };
    for (const file_path of ["note.md", `${link}/note.md`, `${first.fence}/note.md`]) {
      expect(await read?.run({ file_path }, call)).toBe("    1→a note");
    }
    await expect(read?.run({ file_path: `${first.cwd}/secret.md` }, call)).rejects.toThrow(
      `only ${link} can be used here`,
    );
  });

  it("there is no Bash", () => {
    expect(openTools(makeFence()).map(({ name }) => name)).toEqual(["Read", "Write", "Edit", "Glob", "Grep"]);
    expect(openTools(makeFence(), ["Bash"])).toEqual([]);
  });
});

it("whatever is strung together, no secret is read and nothing is written outside", async () => {
  const bench = makeFence();
  if (posix) fs.symlinkSync(bench.outside, bench.at("link"));
  const before = around(bench);
  const piece = fc.constantFrom(
    "..",
    ".",
    "/",
    "sub",
    "link",
    "secret.md",
    "note.md",
    "%2e",
    "%2f",
    "\\",
    "~",
    bench.cwd,
    "memory",
    "*",
    "\0",
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(piece, { minLength: 1, maxLength: 7 }),
      fc.constantFrom("", "/"),
      async (pieces, between) => {
        const given = pieces.join(between);
        for (const [tool, input] of CALLS.filter(([name]) => name !== "Grep")) {
          const shown = await bench.run(tool, input(given)).catch((error: Error) => error.message);
          expect(shown).not.toContain(SECRET);
        }
      },
    ),
    { numRuns: 150 },
  );
  expect(around(bench)).toEqual(before);
  expect(fs.readFileSync(path.join(bench.cwd, "secret.md"), "utf8")).toBe(SECRET);
});
