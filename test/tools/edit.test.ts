import fs from "node:fs";
import path from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { applyMatches, findMatches, lineEditsOf } from "../../src/tools/edit.ts";
import { linesOf } from "../../src/tools/file.ts";
import { makeBench } from "./bench.ts";

async function reading(content: string | Uint8Array, file = "a.txt") {
  const bench = makeBench();
  bench.put(file, content);
  await bench.run("Read", { file_path: file });
  const edit = (old_string: string, new_string: string, more = {}) => ({
    file_path: file,
    old_string,
    new_string,
    ...more,
  });
  return { bench, edit };
}

it("changes the one place and shows it", async () => {
  const { bench, edit } = await reading("one\ntwo\nthree\nfour\nfive\nsix\n");
  expect(await bench.run("Edit", edit("four", "4a\n4b"))).toBe(
    "edited a.txt:\n    2→two\n    3→three\n    4→4a\n    5→4b\n    6→five\n    7→six",
  );
  expect(bench.get("a.txt")).toBe("one\ntwo\nthree\n4a\n4b\nfive\nsix\n");
  expect(bench.kept).toEqual(["before a.txt", "after a.txt"]);
  expect(bench.asked).toMatchObject([{ kind: "edit", tool: "Edit", summary: "Edit a.txt" }]);
});

it("B10.6 B11.15 refuses an edit of a file that was not read, and one that changed since, and says to read it again", async () => {
  const bench = makeBench();
  bench.put("a.txt", "one\ntwo\n");
  const edit = { file_path: "a.txt", old_string: "two", new_string: "2" };
  expect(await bench.fail("Edit", edit)).toContain("has not been read yet; read it first");
  // Also when the text is not there: nothing is told about a file that was not read.
  expect(await bench.fail("Edit", { ...edit, old_string: "nowhere" })).toContain("has not been read yet");
  await bench.run("Read", { file_path: "a.txt" });
  bench.put("a.txt", "one\ntwo\nthree\n");
  expect(await bench.fail("Edit", edit)).toContain("has changed since it was read; read it again");
  expect(bench.get("a.txt")).toBe("one\ntwo\nthree\n");
  // The same content again is no change, whatever its time.
  bench.put("a.txt", "one\ntwo\n");
  await bench.run("Edit", edit);
  expect(bench.get("a.txt")).toBe("one\n2\n");
});

it("B10.6 of a file read in part only what was read can be edited, before and after an edit", async () => {
  const bench = makeBench();
  bench.put("a.txt", Array.from({ length: 20 }, (_, i) => `line ${i + 1};\n`).join(""));
  await bench.run("Read", { file_path: "a.txt", offset: 5, limit: 4 });
  const edit = (old_string: string, new_string: string) => ({ file_path: "a.txt", old_string, new_string });
  expect(await bench.fail("Edit", edit("line 3;", "x"))).toContain("line 3 of");
  expect(await bench.fail("Edit", edit("line 8;\nline 9;", "x"))).toContain("line 9 of");
  await bench.run("Edit", edit("line 6;", "line 6a;\nline 6b;"));
  await bench.run("Edit", edit("line 8;", "line eight;"));
  expect(await bench.fail("Edit", edit("line 9;", "x"))).toContain("line 10 of");
  // Without its end the line joins the next one, which was not read.
  expect(await bench.fail("Edit", edit("eight;\n", "eight;"))).toContain("line 10 of");
});

it("refuses what is not unique, unless all are meant", async () => {
  const { bench, edit } = await reading("a b\nc\na\na a\n");
  expect(await bench.fail("Edit", edit("a", "x"))).toBe(
    "old_string occurs 4 times in a.txt (lines 1, 3, 4): add lines around it until it is unique, or set replace_all",
  );
  expect(await bench.run("Edit", edit("a", "x", { replace_all: true }))).toContain("edited a.txt in 4 places:");
  expect(bench.get("a.txt")).toBe("x b\nc\nx\nx x\n");
});

describe("what was not found", () => {
  it.each([
    ["if (a) {\n\treturn b;\n}\n", "if (a) {\n  return b;\n}", "lines 1-3 differ from it only in whitespace"],
    ["foo  (bar)\n", "foo (bar)", "line 1 differs from it only in whitespace"],
    ["one\ntwo\n", "one\r\ntwo\r\n", "lines 1-2 differ from it only in whitespace (tabs, spaces or line ends)"],
    ["one\n", "    1→one", "leave out the number and arrow"],
    ["one\n", "three", "read the file again and copy the text exactly"],
    ["one\n\n", "\n\n\n", "read the file again"],
  ])("%j in %j", async (content, old, message) => {
    const { bench, edit } = await reading(content);
    expect(await bench.fail("Edit", edit(old, "new"))).toContain(message);
    expect(bench.get("a.txt")).toBe(content);
  });

  it("shows the lines to copy", async () => {
    const { bench, edit } = await reading("x\n\tif (a)\n\t\tb()\n");
    expect(await bench.fail("Edit", edit("  if (a)\n    b()\n", "c"))).toContain("    2→\tif (a)\n    3→\t\tb()");
  });
});

describe("how the file was written stays", () => {
  it("CRLF", async () => {
    const { bench, edit } = await reading("one\r\ntwo\r\nthree\r\n");
    await bench.run("Edit", edit("one\ntwo", "1\n2\n2b"));
    expect(bench.get("a.txt")).toBe("1\r\n2\r\n2b\r\nthree\r\n");
    await bench.run("Edit", edit("2b\r\nthree", "3"));
    expect(bench.get("a.txt")).toBe("1\r\n2\r\n3\r\n");
    await bench.run("Edit", edit("3", "3\n4"));
    expect(bench.get("a.txt")).toBe("1\r\n2\r\n3\r\n4\r\n");
  });

  it("mixed line ends, each where it is", async () => {
    const { bench, edit } = await reading("a\nb\r\nc\nd\r\ne\r\n");
    await bench.run("Edit", edit("b\nc", "B\nC"));
    expect(bench.get("a.txt")).toBe("a\nB\r\nC\nd\r\ne\r\n");
  });

  it("the byte order mark", async () => {
    const { bench, edit } = await reading("\ufeffone\ntwo\n");
    await bench.run("Edit", edit("one", "1"));
    expect(bench.get("a.txt")).toBe("\ufeff1\ntwo\n");
  });

  it("a last line without an end, and $ in the new text", async () => {
    const { bench, edit } = await reading("one\ntwo");
    await bench.run("Edit", edit("two", "$& $1 $$"));
    expect(bench.get("a.txt")).toBe("one\n$& $1 $$");
  });

  it("bytes that are no UTF-8: such a file is not edited", async () => {
    const { bench, edit } = await reading(Buffer.from([0xe9, 0x0a, 0x78]));
    expect(await bench.fail("Edit", edit("x", "y"))).toContain("not UTF-8");
  });
});

it("an empty old_string makes a new file, or fills an empty one, and nothing else", async () => {
  const { bench, edit } = await reading("", "empty.txt");
  expect(await bench.run("Edit", { ...edit("", "one\n"), file_path: "new.txt" })).toBe("created new.txt (1 line)");
  expect(await bench.run("Edit", edit("", "one\n"))).toBe("updated empty.txt (1 line)");
  expect(await bench.fail("Edit", edit("", "two\n"))).toContain("is not empty");
});

it("refuses a missing file, an edit that changes nothing, a binary file", async () => {
  const { bench, edit } = await reading("one\n");
  expect(await bench.fail("Edit", { ...edit("a", "b"), file_path: "b.txt" })).toBe(
    "b.txt does not exist; did you mean a.txt in the same folder?",
  );
  fs.writeFileSync(path.join(bench.outside, "secret.txt"), "");
  expect(await bench.fail("Edit", { ...edit("a", "b"), file_path: "../outside/secrets.txt" })).toMatch(
    /secrets\.txt does not exist$/,
  );
  expect(await bench.fail("Edit", edit("one", "one"))).toContain("the same");
  bench.put("a.bin", Buffer.from([0, 1]));
  expect(await bench.fail("Edit", { ...edit("a", "b"), file_path: "a.bin" })).toContain("has not been read yet");
});

it("everything can be deleted", async () => {
  const { bench, edit } = await reading("one\n");
  expect(await bench.run("Edit", edit("one\n", ""))).toContain("(the file is empty now)");
  expect(bench.get("a.txt")).toBe("");
});

it("edits of one turn build on one another", async () => {
  const { bench, edit } = await reading("one\ntwo\nthree\n");
  await Promise.all([
    bench.run("Edit", edit("one", "1")),
    bench.run("Edit", edit("two", "2")),
    bench.run("Edit", edit("three", "3")),
  ]);
  expect(bench.get("a.txt")).toBe("1\n2\n3\n");
});

it("edits of one turn build on one another in a store, which takes its time", async () => {
  const bench = makeBench({
    store: {
      owns: () => true,
      async write(file, text, base) {
        if (fs.readFileSync(file, "utf8") !== base) throw new Error("another person wrote it");
        await new Promise(setImmediate);
        fs.writeFileSync(file, text);
        return { notices: [] };
      },
      remark: () => null,
    },
  });
  bench.put("a.md", "one\ntwo\n");
  await bench.run("Read", { file_path: "a.md" });
  await Promise.all([
    bench.run("Edit", { file_path: "a.md", old_string: "one", new_string: "1" }),
    bench.run("Edit", { file_path: "a.md", old_string: "two", new_string: "2" }),
  ]);
  expect(bench.get("a.md")).toBe("1\n2\n");
});

it("many matches in a large file are found in good time", async () => {
  const { bench, edit } = await reading("a\r\n".repeat(100_000));
  await bench.run("Read", { file_path: "a.txt", limit: 1 });
  expect(await bench.fail("Edit", edit("a", "b", { replace_all: true }))).toMatch(/lines \d+-100000/);
});

describe("for every text and edit", () => {
  const texts = fc.string({ unit: fc.constantFrom("a", "b", "\n", "\r\n"), maxLength: 30 });
  const olds = fc.string({ unit: fc.constantFrom("a", "b", "\n"), minLength: 1, maxLength: 4 });
  const news = fc.string({ unit: fc.constantFrom("a", "c", "\n"), maxLength: 4 });

  it("the result is what replacing in the text without CR gives", () => {
    fc.assert(
      fc.property(texts, olds, news, (text, old, fresh) => {
        const changed = applyMatches(text, findMatches(text, old, fresh));
        const flat = (each: string) => each.replaceAll("\r\n", "\n");
        expect(flat(changed)).toBe(flat(text).split(old).join(fresh));
      }),
    );
  });

  it("the lines said to change are all that change, and become as many as said", () => {
    fc.assert(
      fc.property(texts, olds, news, (text, old, fresh) => {
        const matches = findMatches(text, old, fresh);
        const edits = lineEditsOf(text, matches);
        const before = text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
        const after = applyMatches(text, matches).match(/[^\n]*\n|[^\n]+$/g) ?? [];
        const rebuilt: string[] = [];
        let line = 1;
        for (const { from, to, into } of edits) {
          expect(from).toBeGreaterThanOrEqual(line);
          rebuilt.push(...before.slice(line - 1, from - 1));
          rebuilt.push(...after.slice(rebuilt.length, rebuilt.length + into));
          line = to + 1;
        }
        rebuilt.push(...before.slice(line - 1));
        expect(rebuilt).toEqual(after);
        expect(linesOf(text).length).toBe(before.length);
      }),
    );
  });
});
