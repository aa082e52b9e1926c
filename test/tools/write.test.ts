import fs from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { makeBench } from "./bench.ts";

const isRoot = process.getuid?.() === 0;
const posix = process.platform !== "win32";

it("makes a new file and the folders that it needs", async () => {
  const bench = makeBench();
  expect(await bench.run("Write", { file_path: "a/b/c.txt", content: "one\ntwo\n" })).toBe(
    "created a/b/c.txt (2 lines)",
  );
  expect(bench.get("a/b/c.txt")).toBe("one\ntwo\n");
  expect(bench.kept).toEqual(["before c.txt", "after c.txt"]);
  expect(bench.touched).toEqual([{ path: bench.at("a/b/c.txt") }]);
  expect(fs.readdirSync(bench.at("a/b"))).toEqual(["c.txt"]);
  expect(bench.asked).toMatchObject([
    { kind: "edit", tool: "Write", summary: "Write a/b/c.txt", detail: "+one\n+two\n+" },
  ]);
});

it("B10.6 refuses to write over a file that was not read, or only in part, or that changed since", async () => {
  const bench = makeBench();
  bench.put("a.txt", "one\ntwo\n");
  const write = { file_path: "a.txt", content: "new\n" };
  expect(await bench.fail("Write", write)).toContain("has not been read yet; read it first");
  await bench.run("Read", { file_path: "a.txt", limit: 1 });
  expect(await bench.fail("Write", write)).toContain("line 2");
  await bench.run("Read", { file_path: "a.txt" });
  bench.put("a.txt", "somebody else\n");
  expect(await bench.fail("Write", write)).toContain("has changed since it was read; read it again");
  expect(bench.get("a.txt")).toBe("somebody else\n");
  await bench.run("Read", { file_path: "a.txt" });
  expect(await bench.run("Write", write)).toBe("updated a.txt (1 line)");
  expect(bench.get("a.txt")).toBe("new\n");
  // What was written is known.
  expect(await bench.run("Write", { ...write, content: "newer" })).toBe("updated a.txt (1 line)");
  expect(bench.asked).toHaveLength(1);
});

it.runIf(posix)("keeps the mode, and new files get the user's own", async () => {
  const bench = makeBench();
  fs.chmodSync(bench.put("run.sh", "old"), 0o755);
  await bench.run("Read", { file_path: "run.sh" });
  await bench.run("Write", { file_path: "run.sh", content: "new" });
  expect(fs.statSync(bench.at("run.sh")).mode & 0o777).toBe(0o755);
  await bench.run("Write", { file_path: "new.txt", content: "" });
  expect(fs.statSync(bench.at("new.txt")).mode & 0o777).toBe(0o666 & ~process.umask());
});

it("through a link it writes what the link leads to", async () => {
  const bench = makeBench();
  bench.put("real.txt", "old");
  fs.symlinkSync("real.txt", bench.at("link.txt"));
  await bench.run("Read", { file_path: "real.txt" });
  await bench.run("Write", { file_path: "link.txt", content: "new" });
  expect(fs.readlinkSync(bench.at("link.txt"))).toBe("real.txt");
  expect(bench.get("real.txt")).toBe("new");
  fs.symlinkSync("target.txt", bench.at("dangling.txt"));
  await bench.run("Write", { file_path: "dangling.txt", content: "made" });
  expect(bench.get("target.txt")).toBe("made");
  expect(bench.asked[0]?.summary).toBe("Write link.txt, which is real.txt");
});

it("asks before it writes anywhere, and says when that is outside", async () => {
  const bench = makeBench({ answer: () => "deny" });
  const file = path.join(bench.outside, "a.txt");
  expect(await bench.fail("Write", { file_path: file, content: "x" })).toContain(
    "was not changed: the user did not allow",
  );
  expect(bench.asked[0]?.summary).toBe(`Write ${file} (outside the working directory)`);
  expect(fs.existsSync(file)).toBe(false);
  expect(bench.kept).toEqual([]);
});

it("shows what changes to whom it asks", async () => {
  const bench = makeBench();
  bench.put("a.txt", "1\n2\n3\n4\n5\n6\n7\n8\n9\n");
  await bench.run("Read", { file_path: "a.txt" });
  await bench.run("Write", { file_path: "a.txt", content: "1\n2\n3\n4\nfive\n6\n7\n8\n9\n" });
  expect(bench.asked[0]?.detail).toBe(" 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8");
});

it("a file that changes while the user thinks is not written over", async () => {
  const bench = makeBench({
    answer: () => {
      bench.put("a.txt", "theirs");
      return "allow";
    },
  });
  bench.put("a.txt", "old");
  await bench.run("Read", { file_path: "a.txt" });
  expect(await bench.fail("Write", { file_path: "a.txt", content: "ours" })).toContain("has changed since");
  expect(bench.get("a.txt")).toBe("theirs");
});

it("a file that appears or changes at the last moment is not written over", async () => {
  const bench = makeBench({
    history: { before: (file) => fs.writeFileSync(file, "theirs"), after: () => {} },
  });
  expect(await bench.fail("Write", { file_path: "new.txt", content: "ours" })).toContain(
    "someone else created it just now",
  );
  bench.put("a.txt", "old");
  await bench.run("Read", { file_path: "a.txt" });
  expect(await bench.fail("Write", { file_path: "a.txt", content: "ours" })).toContain("changed just now");
  expect(bench.get("new.txt")).toBe("theirs");
  expect(bench.get("a.txt")).toBe("theirs");
  expect(fs.readdirSync(bench.at()).sort()).toEqual([".git", "a.txt", "new.txt"]);
});

it("without a copy of the old content nothing is changed", async () => {
  const bench = makeBench({
    history: {
      before: () => {
        throw new Error("no room for a copy");
      },
      after: () => {},
    },
  });
  bench.put("a.txt", "old");
  await bench.run("Read", { file_path: "a.txt" });
  expect(await bench.fail("Write", { file_path: "a.txt", content: "new" })).toBe(
    "a.txt was not changed: no room for a copy",
  );
  expect(bench.get("a.txt")).toBe("old");
});

it("refuses a directory, a file in place of a folder, and half a character", async () => {
  const bench = makeBench();
  fs.mkdirSync(bench.at("dir"));
  bench.put("file", "x");
  expect(await bench.fail("Write", { file_path: "dir", content: "x" })).toContain("it is a directory");
  expect(await bench.fail("Write", { file_path: "file/x", content: "x" })).toContain("a part of its path is a file");
  expect(await bench.fail("Write", { file_path: "a", content: "\udc00" })).toContain("surrogate");
});

it.skipIf(isRoot || !posix)("refuses a file that is read-only, and a folder that is", async () => {
  const bench = makeBench();
  fs.chmodSync(bench.put("a.txt", "old"), 0o444);
  await bench.run("Read", { file_path: "a.txt" });
  expect(await bench.fail("Write", { file_path: "a.txt", content: "new" })).toContain("no permission");
  fs.mkdirSync(bench.at("dir"), { mode: 0o555 });
  expect(await bench.fail("Write", { file_path: "dir/a.txt", content: "new" })).toContain("no permission");
});

it("files of the store are written through it, without asking, and known as they then are", async () => {
  const written: unknown[] = [];
  const bench = makeBench({
    answer: () => "deny",
    store: {
      owns: (file) => file.includes("memory"),
      async write(file, text, base) {
        written.push([path.basename(file), text, base]);
        fs.writeFileSync(file, `---\n---\n${text}`);
        return { notices: ["one relative date"] };
      },
      remark: () => null,
    },
  });
  fs.mkdirSync(bench.at("memory"));
  expect(await bench.run("Write", { file_path: "memory/a.md", content: "new" })).toBe(
    "created memory/a.md (1 line)\none relative date",
  );
  // The store changed the form: what lies there counts as known.
  await bench.run("Edit", { file_path: "memory/a.md", old_string: "new", new_string: "newer" });
  expect(written).toEqual([
    ["a.md", "new", null],
    ["a.md", "---\n---\nnewer", "---\n---\nnew"],
  ]);
  expect(bench.kept).toEqual([]);
  expect(bench.asked).toEqual([]);
  expect(await bench.fail("Write", { file_path: "a.md", content: "x" })).toContain("did not allow");
});

it("a stop before it is written leaves everything as it was", async () => {
  const controller = new AbortController();
  const bench = makeBench({
    answer: () => {
      controller.abort();
      return "allow";
    },
  });
  expect(await bench.fail("Write", { file_path: "a.txt", content: "x" }, controller.signal)).toContain("stopped");
  expect(fs.existsSync(bench.at("a.txt"))).toBe(false);
});

it.runIf(process.platform === "linux")("a folder that is swapped for a link meanwhile leads nowhere", async () => {
  const bench = makeBench({
    history: {
      before: () => {
        fs.renameSync(bench.at("dir"), bench.at("moved"));
        fs.symlinkSync(bench.outside, bench.at("dir"));
      },
      after: () => {},
    },
  });
  fs.mkdirSync(bench.at("dir"));
  expect(await bench.fail("Write", { file_path: "dir/a.txt", content: "x" })).toMatch(
    /moved or linked|file, not a folder|circle/,
  );
  expect(fs.readdirSync(bench.outside)).toEqual([]);
});
