import fs from "node:fs";
import path from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { filesInCommand } from "../../src/instructions/instructions.ts";
import { ends } from "../hang.ts";
import { makeWorld } from "../world.ts";

const world = makeWorld();
const cwd = world.project;
const NAMES = [
  "a.txt",
  "b.txt",
  "my file.txt",
  'quo"te.txt',
  "it's.txt",
  "-dash.txt",
  "päth.txt",
  "a&b.txt",
  "$HOME",
  "*.txt",
];
fs.mkdirSync(path.join(cwd, "dir"));
for (const name of [...NAMES, "dir/c.txt"]) fs.writeFileSync(path.join(cwd, name), "");

const named = (command: string) => filesInCommand(command, cwd).map((file) => path.relative(cwd, file));

describe("B0.19: the files that a shell command names", () => {
  it.each([
    ["plain words, in order, once", "cat b.txt a.txt b.txt ./a.txt", ["b.txt", "a.txt"]],
    ["double quotes", 'cat "my file.txt"', ["my file.txt"]],
    ["single quotes", "cat 'my file.txt'", ["my file.txt"]],
    ["an escaped space", "cat my\\ file.txt", ["my file.txt"]],
    ["an escaped quote outside quotes", "cat it\\'s.txt", ["it's.txt"]],
    ["an escaped quote inside double quotes", 'cat "quo\\"te.txt"', ['quo"te.txt']],
    ["a double quote in single quotes", "cat 'quo\"te.txt'", ['quo"te.txt']],
    ["a single quote in double quotes", 'cat "it\'s.txt"', ["it's.txt"]],
    [
      "pipes, lists, redirections and groups",
      "(cat<a.txt|sort>b.txt)&&cat dir/c.txt;x&",
      ["a.txt", "b.txt", "dir/c.txt"],
    ],
    ["operators in quotes are no operators", 'cat "a&b.txt"', ["a&b.txt"]],
    ["options are no files", "cat -dash.txt --file a.txt", ["a.txt"]],
    ["after the dot and slash an option is a file", "cat ./-dash.txt", ["-dash.txt"]],
    ["folders and missing files do not count", "ls dir missing.txt . /", []],
    ["nothing is expanded", "cat $HOME *.txt ~", ["$HOME", "*.txt"]],
    ["absolute paths", `cat ${cwd}/dir/c.txt`, ["dir/c.txt"]],
    ["several lines", "cat a.txt\ncat b.txt\r\ncat päth.txt", ["a.txt", "b.txt", "päth.txt"]],
    ["a quote that is not closed", 'cat a.txt "b.txt', ["a.txt", "b.txt"]],
    ["a backslash at the end", "cat a.txt \\", ["a.txt"]],
    ["nothing", "", []],
    ["empty quotes", `cat "" ''`, []],
    ["a word quoted in part", 'cat dir/"c.txt" my" "file.txt', ["dir/c.txt", "my file.txt"]],
  ])("%s", (_, command, expected) => {
    expect(named(command)).toEqual(expected);
  });

  it("runs nothing", () => {
    named("touch made.txt; $(touch made.txt) `touch made.txt`");
    expect(fs.existsSync(path.join(cwd, "made.txt"))).toBe(false);
  });

  it.each([
    ["one word", `cat ${"x".repeat(10_240)} a.txt`],
    ["open quotes", `cat a.txt ${'"\\'.repeat(5_120)}`],
    ["mixed quotes", `cat a.txt ${`"'`.repeat(5_120)}`],
    ["backslashes", `cat a.txt ${"\\".repeat(10_240)}`],
    ["many words", `cat a.txt ${"word ".repeat(2_048)}`],
    ["a quoted text", `cat a.txt "${"word ".repeat(2_048)}"`],
    ["a deep path", `cat a.txt ${"d/".repeat(5_120)}`],
  ])("10 KB of %s do not hang", (_, command) => {
    expect(ends(() => named(command))).toEqual(["a.txt"]);
  });

  it("never throws, and names only existing files", () => {
    const piece = fc.oneof(
      fc.constantFrom(...NAMES, "dir/c.txt", '"', "'", "\\", " ", "|", "\0", "\n", "-", "/", "..", "dir"),
      fc.string({ unit: "binary", maxLength: 8 }),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        const files = filesInCommand(pieces.join(""), cwd);
        expect(new Set(files).size).toBe(files.length);
        for (const file of files) expect(fs.statSync(file).isFile()).toBe(true);
      }),
      { numRuns: 300 },
    );
  });

  it("any existing name is found when it is quoted as a shell would want it", () => {
    const single = (name: string) => `'${name.replaceAll("'", `'\\''`)}'`;
    const escaped = (name: string) => name.replace(/[^\w.]/gu, "\\$&");
    for (const name of NAMES.filter((each) => !each.startsWith("-"))) {
      expect(named(`cat ${single(name)}`), single(name)).toEqual([name]);
      expect(named(`cat ${escaped(name)}`), escaped(name)).toEqual([name]);
    }
  });
});
