import fs from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { openGlob } from "../../src/tools/glob.ts";
import { makeBench } from "./bench.ts";

it("finds files, the newest first", async () => {
  const bench = makeBench();
  for (const [i, name] of ["src/a.ts", "src/deep/b.ts", "c.ts", "d.js"].entries()) {
    fs.utimesSync(bench.put(name, ""), 1000 + i, 1000 + i);
  }
  expect(await bench.run("Glob", { pattern: "**/*.ts" })).toBe("c.ts\nsrc/deep/b.ts\nsrc/a.ts");
  expect(await bench.run("Glob", { pattern: "*.ts", path: "src" })).toBe("src/a.ts");
  expect(await bench.run("Glob", { pattern: "src/**/*.{ts,js}" })).toBe("src/deep/b.ts\nsrc/a.ts");
  expect(await bench.run("Glob", { pattern: `${bench.at("src")}/*` })).toBe("src/a.ts");
  expect(await bench.run("Glob", { pattern: "c.ts" })).toBe("c.ts");
  expect(await bench.run("Glob", { pattern: "src/a.ts" })).toBe("src/a.ts");
  expect(await bench.run("Glob", { pattern: "../project/*.js" })).toBe("d.js");
  expect(bench.asked).toEqual([]);
});

it("says when there is nothing, and what would look further", async () => {
  const bench = makeBench();
  bench.put("src/a.ts", "");
  expect(await bench.run("Glob", { pattern: "*.ts" })).toBe("no files match *.ts; **/*.ts looks in folders below, too");
  expect(await bench.run("Glob", { pattern: "**/*.py" })).toBe("no files match **/*.py");
  expect(await bench.fail("Glob", { pattern: "*", path: "nowhere" })).toBe("nowhere is not a folder");
  expect(await bench.fail("Glob", { pattern: "*", path: "src/a.ts" })).toBe("src/a.ts is not a folder");
});

it("passes over .git and node_modules unless they are named", async () => {
  const bench = makeBench();
  for (const name of ["a.js", "node_modules/x/b.js", "sub/node_modules/c.js", ".git/d.js", ".hidden/e.js"])
    bench.put(name, "");
  expect((await bench.run("Glob", { pattern: "**/*.js" })).split("\n").sort()).toEqual([".hidden/e.js", "a.js"]);
  expect(await bench.run("Glob", { pattern: "**/node_modules/*.js" })).toBe("sub/node_modules/c.js");
  expect(await bench.run("Glob", { pattern: "node_modules/**/*.js" })).toBe("node_modules/x/b.js");
  expect(await bench.run("Glob", { pattern: "*.js", path: ".git" })).toBe(".git/d.js");
});

it("shows 100 and says how many more there are", async () => {
  const bench = makeBench();
  for (let i = 0; i < 130; i++) bench.put(`f${i}.txt`, "");
  const lines = (await bench.run("Glob", { pattern: "*.txt" })).split("\n");
  expect(lines).toHaveLength(101);
  expect(lines.at(-1)).toBe("[30 more files match; narrow the pattern to see them.]");
});

it("ends after so many entries and says so", async () => {
  const bench = makeBench();
  for (let i = 0; i < 20; i++) bench.put(`f${i}.txt`, "");
  const tool = openGlob(bench, { maxEntries: 10, maxMs: 1000 });
  const signal = new AbortController().signal;
  expect(await tool.run({ pattern: "*.txt" }, { id: "", signal })).toContain("[The search ended after 10 entries;");
});

it("lists links, but does not go into linked folders", async () => {
  const bench = makeBench();
  bench.put("sub/a.txt", "");
  fs.symlinkSync("..", bench.at("sub/up"));
  fs.symlinkSync("a.txt", bench.at("sub/link.txt"));
  fs.symlinkSync(bench.outside, bench.at("out"));
  fs.writeFileSync(path.join(bench.outside, "b.txt"), "");
  expect((await bench.run("Glob", { pattern: "**/*.txt" })).split("\n").sort()).toEqual(["sub/a.txt", "sub/link.txt"]);
});

it("asks before it looks outside, also when a link or the pattern leads there", async () => {
  for (const input of [
    { pattern: "*", path: "../outside" },
    { pattern: "../outside/*" },
    { pattern: "*", path: "out" },
    { pattern: "out/*" },
    { pattern: "/etc/*" },
  ]) {
    const bench = makeBench({ answer: () => "deny" });
    fs.symlinkSync(bench.outside, bench.at("out"));
    expect(await bench.fail("Glob", input)).toContain("was not read: the user did not allow");
    expect(bench.asked).toMatchObject([{ kind: "read outside", tool: "Glob" }]);
  }
});

it("heeds a stop", async () => {
  const bench = makeBench();
  expect(await bench.fail("Glob", { pattern: "**" }, AbortSignal.abort())).toContain("stopped");
});

it("a name with a line end does not look like two", async () => {
  const bench = makeBench();
  bench.put("a\nb.txt", "");
  expect(await bench.run("Glob", { pattern: "*.txt" })).toBe('"a\\nb.txt"');
});

it("`..` in the middle of a pattern is refused", async () => {
  const bench = makeBench();
  expect(await bench.fail("Glob", { pattern: "*/../../*" })).toContain("only stand at the start");
  expect(await bench.fail("Glob", { pattern: "{..,a}/*" })).toContain("only stand at the start");
});
