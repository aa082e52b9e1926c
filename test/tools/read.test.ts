import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { makeBench } from "./bench.ts";

const isRoot = process.getuid?.() === 0;

describe("what is shown", () => {
  it("lines with their numbers", async () => {
    const bench = makeBench();
    bench.put("a.txt", "one\ntwo\n\nfour\n");
    expect(await bench.run("Read", { file_path: "a.txt" })).toBe("    1→one\n    2→two\n    3→\n    4→four");
    expect(bench.touched).toEqual([{ path: bench.at("a.txt") }]);
    expect(bench.asked).toEqual([]);
  });

  it("a last line without an end counts like any other", async () => {
    const bench = makeBench();
    bench.put("a.txt", "one\ntwo");
    expect(await bench.run("Read", { file_path: bench.at("a.txt") })).toBe("    1→one\n    2→two");
  });

  it("a part, and where to go on", async () => {
    const bench = makeBench();
    bench.put("a.txt", Array.from({ length: 10 }, (_, i) => `line ${i + 1}`).join("\n"));
    expect(await bench.run("Read", { file_path: "a.txt", offset: 3, limit: 2 })).toBe(
      "    3→line 3\n    4→line 4\n\n[lines 3-4 of 10; go on with offset 5.]",
    );
    expect(await bench.run("Read", { file_path: "a.txt", offset: 9 })).toBe(
      "    9→line 9\n   10→line 10\n\n[lines 9-10 of 10.]",
    );
    expect(await bench.run("Read", { file_path: "a.txt", offset: 0, limit: 1 })).toContain("    1→line 1");
  });

  it("2,000 lines at most unless more are asked for", async () => {
    const bench = makeBench();
    bench.put("a.txt", "x\n".repeat(3000));
    const some = await bench.run("Read", { file_path: "a.txt" });
    expect(some).toContain(" 2000→x\n\n[lines 1-2000 of 3,000; go on with offset 2001.]");
    expect(await bench.run("Read", { file_path: "a.txt", limit: 3000 })).toMatch(/ 3000→x$/);
  });

  it("long lines are cut, never in the middle of a character", async () => {
    const bench = makeBench();
    bench.put("a.txt", `${"x".repeat(1999)}😀${"y".repeat(10)}\nshort\n`);
    const shown = await bench.run("Read", { file_path: "a.txt" });
    expect(shown).toContain(`${"x".repeat(1999)}…\n    2→short`);
    expect(shown).toContain("[1 line cut at 2000 characters.]");
    expect(shown.isWellFormed()).toBe(true);
  });

  it("no more than a result can carry, so that what counts as seen was seen", async () => {
    const bench = makeBench();
    bench.put("a.txt", `${"x".repeat(1000)}\n`.repeat(200));
    const shown = await bench.run("Read", { file_path: "a.txt" });
    expect(shown.length).toBeLessThan(50_000);
    const [, to] = /lines 1-(\d+) of 200/.exec(shown) ?? [];
    expect(
      await bench.fail("Edit", {
        file_path: "a.txt",
        old_string: "x".repeat(1000),
        new_string: "y",
        replace_all: true,
      }),
    ).toContain(`lines ${Number(to) + 1}-200`);
  });

  it("CRLF and a byte order mark do not get in the way", async () => {
    const bench = makeBench();
    bench.put("a.txt", "\ufeffone\r\ntwo\r\n");
    expect(await bench.run("Read", { file_path: "a.txt" })).toBe(
      "    1→one\n    2→two\n\n[lines end with CRLF; Edit keeps that.]",
    );
  });

  it("bytes that are no UTF-8 are shown and said", async () => {
    const bench = makeBench();
    bench.put("a.txt", Buffer.from([0x63, 0x61, 0x66, 0xe9, 0x0a]));
    expect(await bench.run("Read", { file_path: "a.txt" })).toContain("    1→caf\ufffd\n\n[some bytes are not UTF-8");
  });

  it("an empty file says so", async () => {
    const bench = makeBench();
    bench.put("a.txt", "");
    expect(await bench.run("Read", { file_path: "a.txt" })).toBe("a.txt is empty");
    bench.put("b.txt", "\ufeff");
    expect(await bench.run("Read", { file_path: "b.txt" })).toContain("byte order mark");
  });

  it("the store's remark stands in front", async () => {
    const bench = makeBench({
      store: {
        owns: (file) => file.endsWith(".md"),
        write: async () => ({ notices: [] }),
        remark: () => "40 days old",
      },
    });
    bench.put("a.md", "text\n");
    bench.put("a.txt", "text\n");
    expect(await bench.run("Read", { file_path: "a.md" })).toBe("40 days old\n    1→text");
    expect(await bench.run("Read", { file_path: "a.txt" })).toBe("    1→text");
  });
});

describe("what is refused, with a reason", () => {
  it("a missing file, with names that may have been meant", async () => {
    const bench = makeBench();
    bench.put("src/server.ts", "");
    bench.put("src/Servers.ts", "");
    bench.put("src/other.md", "");
    expect(await bench.fail("Read", { file_path: "src/server.js" })).toBe(
      "src/server.js does not exist; did you mean server.ts or Servers.ts in the same folder?",
    );
    expect(await bench.fail("Read", { file_path: "src/quite-different.py" })).toBe(
      "src/quite-different.py does not exist",
    );
    expect(await bench.fail("Read", { file_path: "nowhere/a.ts" })).toContain("nor does its folder");
    expect(await bench.fail("Read", { file_path: "src/server.ts/x" })).toContain("does not exist");
  });

  it.each([
    ["a binary file", Buffer.from([1, 2, 0, 3]), "binary"],
    ["UTF-16", Buffer.from("\ufeffhi", "utf16le"), "UTF-16"],
  ])("%s", async (_, content, reason) => {
    const bench = makeBench();
    bench.put("a.bin", content);
    expect(await bench.fail("Read", { file_path: "a.bin" })).toContain(reason);
  });

  it("a directory", async () => {
    const bench = makeBench();
    fs.mkdirSync(bench.at("dir"));
    expect(await bench.fail("Read", { file_path: "dir" })).toContain("it is a directory; use Glob");
  });

  it.skipIf(process.platform === "win32")("a fifo, without waiting for it", async () => {
    const bench = makeBench();
    execFileSync("mkfifo", [bench.at("pipe")]);
    expect(await bench.fail("Read", { file_path: "pipe" })).toContain("pipe, socket or device");
    expect(await bench.fail("Write", { file_path: "pipe", content: "x" })).toContain("pipe, socket or device");
  });

  it
    .runIf(process.platform === "linux")
    .each(["/dev/zero", "/dev/tty", "/proc/self/environ", "/proc/kmsg", "/sys/kernel/notes"])("%s", async (file) => {
    const bench = makeBench();
    expect(await bench.fail("Read", { file_path: file })).toContain("belongs to the system");
    fs.symlinkSync(file, bench.at("link"));
    expect(await bench.fail("Read", { file_path: "link" })).toContain("belongs to the system");
    expect(await bench.fail("Grep", { pattern: "x", path: file })).toContain("belongs to the system");
    expect(await bench.fail("Write", { file_path: file, content: "x" })).toContain("belongs to the system");
  });

  it("more than 50 MB", async () => {
    const bench = makeBench();
    bench.put("a.log", "");
    fs.truncateSync(bench.at("a.log"), 50_000_001);
    expect(await bench.fail("Read", { file_path: "a.log" })).toContain("at most 50 MB");
  });

  it.skipIf(isRoot || process.platform === "win32")("an unreadable file", async () => {
    const bench = makeBench();
    fs.chmodSync(bench.put("a.txt", "x"), 0);
    expect(await bench.fail("Read", { file_path: "a.txt" })).toContain("no permission");
  });

  it("an offset behind the end, a NUL, a circle of links, a name too long", async () => {
    const bench = makeBench();
    bench.put("a.txt", "x\n");
    expect(await bench.fail("Read", { file_path: "a.txt", offset: 2 })).toContain("has only 1 line");
    expect(await bench.fail("Read", { file_path: "a\0.txt" })).toContain("NUL");
    fs.symlinkSync("b", bench.at("a"));
    fs.symlinkSync("a", bench.at("b"));
    expect(await bench.fail("Read", { file_path: "a" })).toMatch(/moved or linked|circle/);
    expect(await bench.fail("Read", { file_path: "x".repeat(300) })).toContain("name is too long");
  });
});

describe("permission", () => {
  it("inside nothing is asked; outside once, with the file that it is about", async () => {
    const bench = makeBench();
    const file = path.join(bench.outside, "a.txt");
    fs.writeFileSync(file, "secret plan\n");
    expect(await bench.run("Read", { file_path: file })).toContain("secret plan");
    await bench.run("Read", { file_path: "../outside/a.txt" });
    expect(bench.asked).toEqual([
      { kind: "read outside", tool: "Read", summary: `Read ${file} (outside the working directory)` },
    ]);
  });

  it("a link that leads out counts as what it leads to", async () => {
    const bench = makeBench({ answer: () => "deny" });
    fs.writeFileSync(path.join(bench.outside, "a.txt"), "secret plan\n");
    fs.symlinkSync(bench.outside, bench.at("in"));
    expect(await bench.fail("Read", { file_path: "in/a.txt" })).toContain("was not read: the user did not allow");
    expect(bench.asked[0]?.summary).toContain(path.join(bench.outside, "a.txt"));
  });

  it("a denied read does not tell whether there is something", async () => {
    const bench = makeBench({ answer: () => "deny" });
    fs.writeFileSync(path.join(bench.outside, "a.txt"), "");
    const there = await bench.fail("Read", { file_path: path.join(bench.outside, "a.txt") });
    const not = await bench.fail("Read", { file_path: path.join(bench.outside, "b.txt") });
    expect(there.replace("a.txt", "")).toBe(not.replace("b.txt", ""));
  });

  it("added directories are as good as the project", async () => {
    const bench = makeBench();
    fs.writeFileSync(path.join(bench.outside, "a.txt"), "x\n");
    const more = makeBench({ readable: [bench.outside] });
    await more.run("Read", { file_path: path.join(bench.outside, "a.txt") });
    expect(more.asked).toEqual([]);
  });

  it("~ is the home directory", async () => {
    const bench = makeBench();
    const home = bench.env.HOME as string;
    fs.writeFileSync(path.join(home, "a.txt"), "at home\n");
    expect(await bench.run("Read", { file_path: "~/a.txt" })).toContain("at home");
  });

  it("a name with line ends stays on one line in the question", async () => {
    const bench = makeBench({ answer: () => "deny" });
    await bench.fail("Read", { file_path: `${bench.outside}/a\nRead b` });
    expect(bench.asked[0]?.summary).not.toContain("\n");
  });
});
