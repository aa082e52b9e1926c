import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import {
  type FileHistory,
  openFileHistory,
  planRewind,
  type RewindStep,
  rewindFiles,
} from "../../src/session/file-history.ts";
import { makeWorld, type World } from "../world.ts";

let world: World;
let dir: string;
let history: FileHistory;

const at = (name: string) => path.join(world.project, name);
const put = (name: string, content: string | Uint8Array) => {
  history.before(at(name));
  fs.mkdirSync(path.dirname(at(name)), { recursive: true });
  fs.writeFileSync(at(name), content);
  history.after(at(name));
};
const text = (name: string) => fs.readFileSync(at(name), "utf8");
const exists = (name: string) => fs.lstatSync(at(name), { throwIfNoEntry: false }) !== undefined;
const stepOf = (steps: readonly RewindStep[], name: string) => steps.find((step) => step.path === at(name));
const POSIX = process.platform !== "win32";

beforeEach(() => {
  world = makeWorld();
  dir = path.join(world.home, ".claude", "file-history", "s1");
  history = openFileHistory(
    { dir, cwd: world.project, note: () => {} },
    { now: () => world.now, log: (message) => world.logged.push(message) },
  );
  for (const name of ["a.ts", "b.ts"]) fs.writeFileSync(at(name), `${name} one\n`);
});

describe("rewind", () => {
  it("B10.4 restores every file to what it was at the prompt, and takes that back", () => {
    history.checkpoint("m1", "first");
    put("a.ts", "a.ts two\n");
    history.checkpoint("m2", "second");
    put("a.ts", "a.ts three\n");
    put("b.ts", "b.ts two\n");
    history.checkpoint("m3", "third");
    put("new/deep/c.ts", "c\n");
    put("new/deep/d.ts", "d\n");

    const report = rewindFiles(history, "m2");
    expect(report.steps.map(({ action }) => action)).toEqual(["restore", "restore", "remove", "remove"]);
    expect([text("a.ts"), text("b.ts")]).toEqual(["a.ts two\n", "b.ts one\n"]);
    expect(exists("new")).toBe(false);

    expect(history.checkpoints().at(-1)).toMatchObject({ id: report.undo, kind: "rewind", files: 4 });
    const back = rewindFiles(history, report.undo as string);
    expect([text("a.ts"), text("b.ts"), text("new/deep/c.ts")]).toEqual(["a.ts three\n", "b.ts two\n", "c\n"]);
    expect(back.undo).not.toBe(report.undo);
    rewindFiles(history, "m1");
    expect(text("a.ts")).toBe("a.ts one\n");
    expect(fs.readdirSync(world.project).filter((name) => name.startsWith(".memdir"))).toEqual([]);
  });

  it("B10.4 does nothing and keeps nothing when all is as it was", () => {
    history.checkpoint("m1", "");
    put("a.ts", "a.ts one\n");
    const report = rewindFiles(history, "m1");
    expect(report).toEqual({ undo: null, steps: [{ path: at("a.ts"), action: "none", outside: false }] });
    expect(history.checkpoints()).toHaveLength(1);
  });

  it("B10.4 brings back a file and a folder that were deleted", () => {
    put("dir/c.ts", "c\n");
    history.checkpoint("m1", "");
    fs.rmSync(at("dir"), { recursive: true });
    expect(planRewind(history, "m1")).toMatchObject([{ action: "restore", outside: true }]);
    rewindFiles(history, "m1");
    expect(text("dir/c.ts")).toBe("c\n");
  });

  it("B10.4 leaves folders that hold something else, or were there before", () => {
    fs.mkdirSync(at("before"));
    history.checkpoint("m1", "");
    put("before/c.ts", "c\n");
    put("made/sub/d.ts", "d\n");
    fs.writeFileSync(at("made/theirs.ts"), "theirs\n");
    rewindFiles(history, "m1");
    expect([exists("before"), exists("made/theirs.ts"), exists("made/sub")]).toEqual([true, true, false]);
  });

  it("B10.4 reports outside edits and loses none", () => {
    history.checkpoint("m1", "");
    put("a.ts", "ours\n");
    put("b.ts", "ours\n");
    fs.writeFileSync(at("a.ts"), "theirs\n");
    expect(planRewind(history, "m1").map(({ outside }) => outside)).toEqual([true, false]);
    history.checkpoint("m2", "");
    expect(planRewind(history, "m1").map(({ outside }) => outside)).toEqual([true, false]);
    const { undo } = rewindFiles(history, "m1");
    expect(text("a.ts")).toBe("a.ts one\n");
    expect(planRewind(history, undo as string).map(({ outside }) => outside)).toEqual([false, false]);
    rewindFiles(history, undo as string);
    expect(text("a.ts")).toBe("theirs\n");
  });

  it.skipIf(!POSIX)("B10.4 brings back the mode, and its own copies are the owner's alone", () => {
    for (const mode of [0o755, 0o444, 0o640]) {
      fs.rmSync(at("a.ts"), { force: true });
      fs.writeFileSync(at("a.ts"), `mode ${mode}\n`);
      fs.chmodSync(at("a.ts"), mode);
      history.checkpoint(`m${mode}`, "");
      history.before(at("a.ts"));
      fs.rmSync(at("a.ts"));
      put("a.ts", "changed\n");
      rewindFiles(history, `m${mode}`);
      expect(text("a.ts")).toBe(`mode ${mode}\n`);
      expect(fs.statSync(at("a.ts")).mode & 0o777).toBe(mode);
    }
    for (const name of fs.readdirSync(dir)) expect(fs.statSync(path.join(dir, name)).mode & 0o077).toBe(0);
    history.checkpoint("chmod", "");
    fs.chmodSync(at("a.ts"), 0o600);
    expect(planRewind(history, "chmod")).toMatchObject([{ action: "restore", outside: false }]);
    rewindFiles(history, "chmod");
    expect(fs.statSync(at("a.ts")).mode & 0o777).toBe(0o640);
  });

  it("B10.4 refuses links and directories in the place of a file, and goes on with the others", () => {
    fs.mkdirSync(at("dir"));
    fs.mkdirSync(at("elsewhere"));
    for (const name of ["dir/c.ts", "elsewhere/c.ts", "d.ts", "target.ts"]) fs.writeFileSync(at(name), "one\n");
    history.checkpoint("m1", "");
    for (const name of ["a.ts", "b.ts", "dir/c.ts", "d.ts", "new.ts"]) put(name, "ours\n");
    fs.rmSync(at("a.ts"));
    fs.symlinkSync(at("target.ts"), at("a.ts"));
    fs.rmSync(at("dir"), { recursive: true });
    fs.symlinkSync(at("elsewhere"), at("dir"));
    fs.rmSync(at("d.ts"));
    fs.mkdirSync(at("d.ts"));
    fs.rmSync(at("new.ts"));
    fs.symlinkSync(at("target.ts"), at("new.ts"));

    const { steps } = rewindFiles(history, "m1");
    expect(stepOf(steps, "a.ts")).toMatchObject({
      action: "refused",
      outside: true,
      reason: "there is a symbolic link",
    });
    expect(stepOf(steps, "dir/c.ts")).toMatchObject({ action: "refused", reason: /a link on the way/ });
    expect(stepOf(steps, "d.ts")).toMatchObject({ action: "refused", reason: "there is a directory" });
    expect(stepOf(steps, "new.ts")).toMatchObject({ action: "refused", reason: "there is a symbolic link" });
    expect(stepOf(steps, "b.ts")).toMatchObject({ action: "restore" });
    expect(text("b.ts")).toBe("b.ts one\n");
    expect([text("target.ts"), text("elsewhere/c.ts"), exists("new.ts")]).toEqual(["one\n", "one\n", true]);
  });

  it.skipIf(!POSIX)("B10.4 does not wait on a fifo", () => {
    history.checkpoint("m1", "");
    put("a.ts", "ours\n");
    fs.rmSync(at("a.ts"));
    execFileSync("mkfifo", [at("a.ts")]);
    history.checkpoint("m2", "");
    expect(planRewind(history, "m1")).toMatchObject([{ action: "refused", reason: /not a regular file/ }]);
  });

  it("B10.4 refuses to go back to what could not be kept", () => {
    history.checkpoint("m1", "");
    put("a.ts", "ours\n");
    fs.rmSync(at("a.ts"));
    fs.mkdirSync(at("a.ts"));
    history.checkpoint("m2", "");
    fs.rmdirSync(at("a.ts"));
    put("b.ts", "ours\n");
    expect(planRewind(history, "m2")).toMatchObject([
      { action: "refused", reason: /at that time: there was a directory/ },
      { action: "restore" },
    ]);
    rewindFiles(history, "m1");
    expect([text("a.ts"), text("b.ts")]).toEqual(["a.ts one\n", "b.ts one\n"]);
  });

  it("B10.4 refuses damaged and missing copies and leaves the file as it is", () => {
    history.checkpoint("m1", "");
    put("a.ts", "ours\n");
    const [copy] = fs.readdirSync(dir) as [string];
    fs.chmodSync(path.join(dir, copy), 0o600);
    fs.writeFileSync(path.join(dir, copy), "a.ts 0ne\n");
    expect(rewindFiles(history, "m1")).toMatchObject({ undo: null, steps: [{ action: "refused", reason: /damaged/ }] });
    fs.rmSync(path.join(dir, copy));
    expect(planRewind(history, "m1")).toMatchObject([{ action: "refused", reason: /missing/ }]);
    fs.symlinkSync(at("b.ts"), path.join(dir, copy));
    expect(planRewind(history, "m1")).toMatchObject([{ action: "refused", reason: /symbolic link/ }]);
    expect(text("a.ts")).toBe("ours\n");
  });

  it("B10.4 refuses one file when its folder cannot be made, and goes on with the others", () => {
    put("dir/c.ts", "c\n");
    put("a.ts", "two\n");
    history.checkpoint("m1", "");
    fs.rmSync(at("dir"), { recursive: true });
    fs.writeFileSync(at("dir"), "a file now\n");
    put("a.ts", "three\n");
    const { steps } = rewindFiles(history, "m1");
    expect(steps).toMatchObject([{ action: "restore" }, { action: "refused", reason: /cannot restore .*c\.ts/ }]);
    expect([text("dir"), text("a.ts")]).toEqual(["a file now\n", "two\n"]);
  });

  it("B10.4 refuses when the present cannot be kept, and changes nothing", () => {
    history.checkpoint("m1", "");
    put("new.ts", "ours\n");
    fs.rmSync(dir, { recursive: true, force: true });
    fs.mkdirSync(path.dirname(dir), { recursive: true });
    fs.writeFileSync(dir, "a file where the copies go");
    const { steps } = rewindFiles(history, "m1");
    expect(steps).toMatchObject([{ action: "refused", reason: /what is there now could not be kept/ }]);
    expect(text("new.ts")).toBe("ours\n");
    expect(world.logged.join()).toMatch(/file history: cannot keep a copy/);
  });

  it("B10.4 works for binary, empty and large files", () => {
    const large = Buffer.alloc(9 << 20, "abcdefgh\0\xff", "latin1");
    const contents = { empty: Buffer.alloc(0), binary: Buffer.from([0, 0xff, 0xed, 0xa0, 0x80, 13, 10]), large };
    for (const [name, content] of Object.entries(contents)) fs.writeFileSync(at(name), content);
    history.checkpoint("m1", "");
    for (const name of Object.keys(contents)) put(name, "changed");
    rewindFiles(history, "m1");
    for (const [name, content] of Object.entries(contents))
      expect(fs.readFileSync(at(name)).equals(content)).toBe(true);
  });

  it("names a checkpoint that it does not know", () => {
    expect(() => rewindFiles(history, "nowhere")).toThrow(/there is no checkpoint "nowhere"/);
  });
});
