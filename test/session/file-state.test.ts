import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { type FileState, openFileState } from "../../src/session/file-state.ts";
import { makeWorld, type World } from "../world.ts";

let world: World;
let state: FileState;
let file: string;

const at = (name: string) => path.join(world.project, name);
const lines = (count: number) => Array.from({ length: count }, (_, line) => `line ${line + 1}\n`).join("");
const read = (name: string, range: { from: number; to: number } | null = null, into = state) =>
  into.note(name, { bytes: fs.readFileSync(name), lines: range });
const edit = (from: number, to = from) => ({ kind: "edit", lines: [{ from, to }] }) as const;
const WRITE = { kind: "write" } as const;

beforeEach(() => {
  world = makeWorld();
  state = openFileState();
  file = at("a.ts");
  fs.writeFileSync(file, lines(100));
});

describe("what the model has seen of files", () => {
  it("B10.6 refuses a change of a file that was not read, and allows a new file", () => {
    expect(state.check(file, WRITE)).toBe(`${file} has not been read yet; read it first, then change it`);
    expect(state.check(file, edit(1))).toMatch(/read it first/);
    expect(state.check(at("new.ts"), WRITE)).toBeNull();
    expect(state.check(at("no/such/folder/new.ts"), WRITE)).toBeNull();
    read(file);
    expect(state.check(file, WRITE)).toBeNull();
    expect(state.check(file, edit(50, 60))).toBeNull();
    state.forget(file);
    expect(state.check(file, WRITE)).toMatch(/read it first/);
    expect(state.bytes).toBe(0);
  });

  it("B10.6, B11.15 refuses a file that changed since, also with the same size and time, and says to read it again", () => {
    read(file);
    const { atime, mtime } = fs.statSync(file);
    fs.writeFileSync(file, lines(100).replace("line 1\n", "LINE 1\n"));
    fs.utimesSync(file, atime, mtime);
    expect(state.check(file, WRITE)).toBe(`${file} has changed since it was read; read it again, then change it`);
    read(file);
    expect(state.check(file, WRITE)).toBeNull();
  });

  it("B10.6 does not mind a touched file, nor one that was written anew with the same content", () => {
    read(file);
    fs.utimesSync(file, new Date(0), new Date(0));
    expect(state.check(file, WRITE)).toBeNull();
    fs.rmSync(file);
    fs.writeFileSync(file, lines(100));
    expect(state.check(file, edit(3))).toBeNull();
  });

  it("B10.6 counts a partial read only for what was read", () => {
    read(file, { from: 1, to: 39 });
    read(file, { from: 53, to: 60 });
    expect(state.check(file, edit(10, 39))).toBeNull();
    expect(state.check(file, edit(30, 55))).toBe(
      `lines 40-52 of ${file} were not read; read them first, then change it`,
    );
    expect(state.check(file, edit(61))).toMatch(/^line 61 of .* was not read; read/);
    expect(state.check(file, WRITE)).toMatch(/^lines 40-52 and 61-100 of .* were not read; read them first/);
    const several = [
      { from: 2, to: 3 },
      { from: 59, to: 61 },
    ];
    expect(state.check(file, { kind: "edit", lines: several })).toMatch(/^line 61 of/);
    // Text behind the end joins the last line.
    expect(state.check(file, edit(101))).toMatch(/^line 100 of/);
  });

  it("B10.6 takes a file read in parts for read, in any order", () => {
    read(file, { from: 51, to: 2000 });
    read(file, { from: 1, to: 30 });
    expect(state.check(file, WRITE)).not.toBeNull();
    read(file, { from: 25, to: 50 });
    expect(state.check(file, WRITE)).toBeNull();
    expect(state.capture()[0]?.lines).toBeNull();
    read(file, { from: 3, to: 4 });
    expect(state.check(file, WRITE)).toBeNull();
  });

  it("B10.6 forgets what was read of an older version", () => {
    read(file, { from: 1, to: 50 });
    fs.appendFileSync(file, "more\n");
    read(file, { from: 51, to: 101 });
    expect(state.check(file, edit(10))).toMatch(/^line 10 of/);
    expect(state.check(file, edit(99))).toBeNull();
  });

  it("B10.6 keeps what is known around an edit of ours", () => {
    read(file, { from: 10, to: 20 });
    const text = lines(100).replace("line 12\nline 13\n", "one\ntwo\nthree\nfour\n");
    fs.writeFileSync(file, text);
    state.noteEdit(file, { bytes: Buffer.from(text), edits: [{ from: 12, to: 13, into: 4 }] });
    expect(state.check(file, edit(10, 22))).toBeNull();
    expect(state.check(file, edit(9, 23))).toMatch(/^lines 9 and 23 of/);
  });

  it("B10.6 knows empty files, CRLF, and bytes that are no text", () => {
    for (const content of [
      Buffer.alloc(0),
      Buffer.from("a\r\nb\r\n"),
      Buffer.from([0xff, 0xd8, 0, 10, 0xed, 0xa0, 0x80]),
    ]) {
      fs.writeFileSync(file, content);
      read(file, { from: 1, to: 2 });
      expect(state.check(file, WRITE)).toBeNull();
    }
  });

  it("B10.6 takes all names of a file for one", () => {
    fs.mkdirSync(at("dir"));
    fs.symlinkSync(file, at("link"));
    fs.symlinkSync(world.project, at("dir/up"));
    read(at("link"), { from: 1, to: 60 });
    read(at("dir/up/dir/../a.ts"), { from: 61, to: 100 });
    expect(state.entries).toBe(1);
    expect(state.check(file, WRITE)).toBeNull();
    expect(state.capture()).toEqual([{ path: file, lines: null, at: 2 }]);
    state.forget(at("link"));
    expect(state.entries).toBe(0);
  });

  it("B10.6, B11.15 says clearly what stands in the way, and never hangs", () => {
    fs.mkdirSync(at("dir"));
    fs.symlinkSync(at("loop"), at("loop"));
    fs.symlinkSync(at("nothing"), at("dangling"));
    expect(state.check(at("dir"), WRITE)).toMatch(/there is a directory; .*read/);
    expect(state.check(at("loop"), WRITE)).toMatch(/there is a symbolic link; .*read/);
    expect(state.check(at("dangling"), WRITE)).toBeNull();
    expect(state.check(at("nothing"), edit(1))).toMatch(/does not exist; .*read/);
    expect(state.check(at("a\0b"), WRITE)).toMatch(/cannot be read .*; .*read/);
    expect(state.check(at("x".repeat(5000)), WRITE)).toMatch(/cannot be read \(ENAMETOOLONG\); .*read/);
    read(file);
    fs.rmSync(file);
    expect(state.check(file, edit(1))).toMatch(/is gone since it was read; .*read/);
    expect(state.check(file, WRITE)).toBeNull();
  });

  it.skipIf(process.platform === "win32")("B10.6 does not wait on a fifo", () => {
    execFileSync("mkfifo", [at("fifo")]);
    expect(state.check(at("fifo"), WRITE)).toMatch(/not a regular file; .*read/);
  });

  it.skipIf(process.platform === "win32" || process.getuid?.() === 0)("B10.6 says that a file cannot be read", () => {
    fs.chmodSync(file, 0);
    expect(state.check(file, WRITE)).toMatch(/cannot be read \(EACCES\); .*read/);
  });

  it("B10.8 is cloned for forks: neither side notices the other", () => {
    read(file, { from: 1, to: 10 });
    const fork = state.clone();
    expect(fork.check(file, edit(5))).toBeNull();
    expect(fork.bytes).toBe(state.bytes);
    read(file, null, fork);
    expect(fork.check(file, WRITE)).toBeNull();
    expect(state.check(file, WRITE)).not.toBeNull();
    state.clear();
    expect(fork.check(file, WRITE)).toBeNull();
    fork.clone().forget(file);
    expect(fork.entries).toBe(1);
  });

  it("B10.7 is captured newest first, then cleared", () => {
    for (const name of ["b", "c", "d"]) fs.writeFileSync(at(name), lines(9));
    read(at("b"));
    read(at("c"), { from: 2, to: 3 });
    read(at("d"), { from: 50, to: 60 });
    read(file);
    read(at("b"));
    const captured = state.capture();
    expect(captured.map((seen) => [path.basename(seen.path), seen.lines])).toEqual([
      ["b", null],
      ["a.ts", null],
      ["c", [{ from: 2, to: 3 }]],
    ]);
    expect(captured[0]?.at).toBeGreaterThan(captured[1]?.at ?? 0);
    state.clear();
    expect([state.entries, state.bytes, state.capture()]).toEqual([0, 0, []]);
    expect(state.check(file, WRITE)).toMatch(/read it first/);
  });

  it("B10.6 is bounded in entries: the one read longest ago must be read again", () => {
    state = openFileState({ maxEntries: 2 });
    for (const name of ["b", "c"]) fs.writeFileSync(at(name), name);
    read(file);
    read(at("b"));
    read(file);
    read(at("c"));
    expect(state.entries).toBe(2);
    expect(state.check(at("b"), WRITE)).toMatch(/read it first/);
    expect(state.check(file, WRITE)).toBeNull();
  });

  it("B10.6 is bounded in bytes, which the lines of partly read files count towards, whatever the files weigh", () => {
    state = openFileState({ maxBytes: 2500 });
    fs.writeFileSync(at("large"), Buffer.alloc(3 << 20, "x"));
    read(at("large"));
    expect(state.bytes).toBeLessThan(1000);
    fs.writeFileSync(at("long"), "x\n".repeat(2400));
    read(at("long"), { from: 1, to: 1 });
    expect(state.bytes).toBeLessThanOrEqual(2500);
    expect(state.check(at("large"), WRITE)).toMatch(/read it first/);
    const empty = openFileState({ maxBytes: 0 });
    read(file, null, empty);
    expect([empty.entries, empty.bytes]).toEqual([0, 0]);
  });
});
