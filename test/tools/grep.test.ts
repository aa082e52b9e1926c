import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { openGrep } from "../../src/tools/grep.ts";
import { PATIENCE_MS } from "../until.ts";
import { makeBench } from "./bench.ts";

describe("what is shown", () => {
  const files = () => {
    const bench = makeBench();
    for (const [i, [name, text]] of Object.entries({
      "src/a.ts": "one\nTwo\nthree\nfour\nfive two\n",
      "src/b.ts": "nothing\n",
      "c.md": "two\r\n\r\nend\r\n",
    }).entries()) {
      fs.utimesSync(bench.put(name, text), 1000 + i, 1000 + i);
    }
    return bench;
  };

  it("files, the newest first", async () => {
    expect(await files().run("Grep", { pattern: "two" })).toBe("c.md\nsrc/a.ts");
  });

  it("lines", async () => {
    const bench = files();
    expect(await bench.run("Grep", { pattern: "two", output_mode: "content" })).toBe("c.md:1:two\nsrc/a.ts:5:five two");
    expect(await bench.run("Grep", { pattern: "two$", output_mode: "content", "-i": true })).toBe(
      "c.md:1:two\nsrc/a.ts:2:Two\nsrc/a.ts:5:five two",
    );
    expect(await bench.run("Grep", { pattern: "(?i)TWO", output_mode: "content", "-n": false, path: "c.md" })).toBe(
      "c.md:two",
    );
  });

  it("lines around them, each once, with a mark between groups", async () => {
    const bench = files();
    expect(await bench.run("Grep", { pattern: "Two|four", output_mode: "content", "-C": 1, path: "src" })).toBe(
      "src/a.ts-1-one\nsrc/a.ts:2:Two\nsrc/a.ts-3-three\nsrc/a.ts:4:four\nsrc/a.ts-5-five two",
    );
    expect(await bench.run("Grep", { pattern: "one|five", output_mode: "content", "-B": 1, "-A": 1 })).toBe(
      "src/a.ts:1:one\nsrc/a.ts-2-Two\n--\nsrc/a.ts-4-four\nsrc/a.ts:5:five two",
    );
  });

  it("counts", async () => {
    expect(await files().run("Grep", { pattern: "t", output_mode: "count" })).toBe("c.md:1\nsrc/a.ts:2\nsrc/b.ts:1");
  });

  it("files chosen by a pattern", async () => {
    const bench = files();
    expect(await bench.run("Grep", { pattern: "two", glob: "*.ts" })).toBe("src/a.ts");
    expect(await bench.run("Grep", { pattern: "two", glob: "src/*.{ts,js}" })).toBe("src/a.ts");
    expect(await bench.run("Grep", { pattern: "two", glob: "!*.ts" })).toBe("c.md");
  });

  it("across lines", async () => {
    const bench = files();
    const input = { pattern: "Two.three", output_mode: "content" };
    expect(await bench.run("Grep", input)).toBe("no matches");
    expect(await bench.run("Grep", { ...input, multiline: true })).toBe("src/a.ts:2:Two\nsrc/a.ts:3:three");
    expect(await bench.run("Grep", { pattern: "two\\n\\nend", multiline: true })).toBe("c.md");
    expect(await bench.run("Grep", { pattern: "^", multiline: true, output_mode: "count", path: "src/a.ts" })).toBe(
      "src/a.ts:5",
    );
  });

  it("no more than asked for", async () => {
    const bench = makeBench();
    for (let i = 0; i < 5; i++) bench.put(`${i}.txt`, "x\n".repeat(1000));
    const some = await bench.run("Grep", { pattern: "x", output_mode: "content", head_limit: 3 });
    expect(some).toBe(
      "0.txt:1:x\n0.txt:2:x\n0.txt:3:x\n[There is more; only the first 3 are shown. Narrow the search or raise head_limit.]",
    );
    expect((await bench.run("Grep", { pattern: "x", output_mode: "content" })).split("\n")).toHaveLength(251);
    expect((await bench.run("Grep", { pattern: "x", head_limit: 2 })).split("\n")).toHaveLength(3);
    expect((await bench.run("Grep", { pattern: "x", head_limit: 5 })).split("\n")).toHaveLength(5);
  });

  it("of a long line what is around the match", async () => {
    const bench = makeBench();
    bench.put("a.txt", `${"x".repeat(5000)}needle${"😀".repeat(5000)}\n`);
    const shown = await bench.run("Grep", { pattern: "needle", output_mode: "content" });
    expect(shown).toContain("xneedle😀");
    expect(shown.length).toBeLessThan(600);
    expect(shown.isWellFormed()).toBe(true);
  });
});

describe("what is searched", () => {
  it("not binary files, .git, node_modules, links, nor what .gitignore names", async () => {
    const bench = makeBench();
    for (const name of [
      "a.txt",
      ".git/b",
      "node_modules/c",
      "dist/d",
      "sub/x.log",
      "keep.log",
      "sub/dist2/e",
      "build/f",
    ]) {
      bench.put(name, "needle");
    }
    bench.put("bin", Buffer.from("needle\0"));
    bench.put(".gitignore", "# comment\n/dist/\n*.log\n!keep.log\ndist2\nbuild/\n\n{x\n");
    fs.symlinkSync("a.txt", bench.at("link"));
    fs.symlinkSync(bench.outside, bench.at("out"));
    fs.writeFileSync(path.join(bench.outside, "o.txt"), "needle");
    expect((await bench.run("Grep", { pattern: "needle" })).split("\n").sort()).toEqual(["a.txt", "keep.log"]);
    // What is named is searched.
    expect(await bench.run("Grep", { pattern: "needle", path: "dist" })).toBe("dist/d");
    expect(await bench.run("Grep", { pattern: "needle", path: "sub/x.log" })).toBe("sub/x.log");
    expect(await bench.run("Grep", { pattern: "needle", path: "link" })).toBe("link");
    expect(await bench.fail("Grep", { pattern: "needle", path: "bin" })).toContain("binary");
    expect(await bench.fail("Grep", { pattern: "needle", path: "a.tx" })).toContain("did you mean a.txt");
  });

  it("not files over 10 MB", async () => {
    const bench = makeBench();
    fs.truncateSync(bench.put("big.txt", "needle"), 10_000_001);
    expect(await bench.run("Grep", { pattern: "needle" })).toBe("no matches");
    expect(await bench.fail("Grep", { pattern: "needle", path: "big.txt" })).toContain("at most 10 MB");
  });

  it("many files in many batches", async () => {
    const bench = makeBench();
    for (let i = 0; i < 450; i++) bench.put(`d${i % 7}/${i}.txt`, i % 3 === 0 ? "needle\n" : "hay\n");
    expect((await bench.run("Grep", { pattern: "needle", head_limit: 1000 })).split("\n")).toHaveLength(150);
  });

  it("outside only with permission", async () => {
    const bench = makeBench({ answer: () => "deny" });
    expect(await bench.fail("Grep", { pattern: "x", path: bench.outside })).toContain("did not allow");
    expect(bench.asked).toMatchObject([{ kind: "read outside", tool: "Grep" }]);
  });
});

describe("patterns", () => {
  it("that are none are refused with the reason", async () => {
    const bench = makeBench();
    expect(await bench.fail("Grep", { pattern: "(a" })).toContain("not a valid regular expression");
    expect(await bench.fail("Grep", { pattern: "a**" })).toContain("not a valid regular expression");
  });

  it("in the wider syntax work, too", async () => {
    const bench = makeBench();
    bench.put("a.txt", "a-b interface{}\n漢字 😀\n");
    expect(await bench.run("Grep", { pattern: "a\\-b", output_mode: "count" })).toBe("a.txt:1");
    expect(await bench.run("Grep", { pattern: "interface{}", output_mode: "count" })).toBe("a.txt:1");
    expect(await bench.run("Grep", { pattern: "^漢字 .$", output_mode: "count" })).toBe("a.txt:1");
    expect(await bench.run("Grep", { pattern: "\\p{Script=Han}", output_mode: "count" })).toBe("a.txt:1");
  });

  it.each(["(a+)+$", "(a|aa)+$", "(.*a){30}b", "^(\\w+\\s?)*$"])("%s does not hold it up", async (pattern) => {
    const bench = makeBench();
    bench.put("0.txt", "aaab\n");
    bench.put("1.txt", `${"a".repeat(60)}!\n`);
    const signal = new AbortController().signal;
    const search = (maxMs: number) =>
      openGrep(bench, { maxMs }).run({ pattern: `^aaab$|${pattern}` }, { id: "", signal });
    // A slow machine gets more time, until it is done with the first file.
    let shown = await search(300);
    for (let maxMs = 1_200; String(shown).includes("ended at 0.txt") && maxMs < PATIENCE_MS; maxMs *= 4)
      shown = await search(maxMs);
    expect(shown).toMatch(/^0\.txt\n\[The search took too long and ended at 1\.txt; use a simpler pattern/);
  });

  it("a stop ends it even then", async () => {
    const bench = makeBench();
    bench.put("a.txt", `${"a".repeat(60)}!\n`);
    const controller = new AbortController();
    const running = bench.fail("Grep", { pattern: "(a+)+$" }, controller.signal);
    setTimeout(() => controller.abort(), 40);
    expect(await running).toContain("stopped by the user");
    expect(await bench.fail("Grep", { pattern: "a" }, AbortSignal.abort())).toContain("stopped by the user");
  });

  it("that are too large for the engine fail with a reason", async () => {
    const bench = makeBench();
    bench.put("a.txt", "a\n");
    const pattern = `${"(".repeat(100_000)}a${")".repeat(100_000)}`;
    expect(await bench.fail("Grep", { pattern })).toMatch(/not a valid regular expression|cannot be used|failed/);
  });
});
