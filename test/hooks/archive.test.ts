import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { archiveTranscript } from "../../src/hooks/stop.ts";
import { slugOf } from "../../src/project/locate.ts";
import { makeTemporary } from "../temporary.ts";

const SESSION = "5a0c0000-0000-4000-8000-000000000001";
const CWD = "/work/some project";

function makePlace() {
  const top = makeTemporary("archive", "memory");
  const claudeDir = path.join(top, ".claude");
  fs.mkdirSync(claudeDir);
  const transcript = path.join(top, `${SESSION}.jsonl`);
  const folder = path.join(claudeDir, "memdir-archive", slugOf(CWD));
  const archive = (more: object = {}) =>
    archiveTranscript({ transcript, session: SESSION, cwd: CWD, claudeDir, ...more });
  return { top, claudeDir, transcript, folder, copy: path.join(folder, `${SESSION}.jsonl`), archive };
}

describe("the archive", () => {
  it("keeps a copy for the user alone, and a new one only when there is more", () => {
    const { transcript, folder, copy, archive } = makePlace();
    fs.writeFileSync(transcript, "one\n");
    expect(archive()).toBe(true);
    expect(fs.readFileSync(copy, "utf8")).toBe("one\n");
    expect([fs.statSync(copy).mode & 0o777, fs.statSync(folder).mode & 0o777]).toEqual([0o600, 0o700]);
    expect(archive()).toBe(false);
    fs.appendFileSync(transcript, "two\n");
    expect(archive()).toBe(true);
    expect(fs.readFileSync(copy, "utf8")).toBe("one\ntwo\n");
    // A host that began the file anew does not take away what was kept.
    fs.writeFileSync(transcript, "x\n");
    expect(archive()).toBe(false);
    expect(fs.readFileSync(copy, "utf8")).toBe("one\ntwo\n");
    expect(fs.readdirSync(folder)).toEqual([`${SESSION}.jsonl`]);
  });

  it("copies 50 MB byte for byte", () => {
    const { transcript, copy, archive } = makePlace();
    fs.writeFileSync(transcript, Buffer.alloc(50 << 20, "0123456789abcde\n"));
    expect(archive()).toBe(true);
    expect(fs.readFileSync(copy).equals(fs.readFileSync(transcript))).toBe(true);
  });

  it("has no place for what is empty, huge, a link, a fifo, a folder or not there", () => {
    const { top, claudeDir, transcript, archive } = makePlace();
    expect(archive()).toBe(false);
    fs.writeFileSync(transcript, "");
    expect(archive()).toBe(false);
    fs.truncateSync(transcript, 201 << 20);
    expect(archive()).toBe(false);
    fs.rmSync(transcript);
    fs.writeFileSync(path.join(top, "secret"), "secret");
    fs.symlinkSync(path.join(top, "secret"), transcript);
    expect(archive()).toBe(false);
    fs.rmSync(transcript);
    execFileSync("mkfifo", [transcript]);
    expect(archive()).toBe(false);
    fs.rmSync(transcript);
    fs.mkdirSync(transcript);
    expect(archive()).toBe(false);
    expect(fs.readdirSync(claudeDir)).toEqual([]);
  });

  it("takes no name that leads elsewhere", () => {
    const { claudeDir, transcript, archive } = makePlace();
    fs.writeFileSync(transcript, "one\n");
    for (const session of ["", ".", "..", "../x", "a/b", "a\\b", ".hidden", "x".repeat(200), "a\0b"]) {
      expect(archive({ session })).toBe(false);
    }
    expect(fs.readdirSync(claudeDir)).toEqual([]);
  });

  it("is not written through a link, nor does a link in a copy's place lead away", () => {
    const { top, claudeDir, transcript, folder, copy, archive } = makePlace();
    fs.writeFileSync(transcript, "one\n");
    const elsewhere = path.join(top, "elsewhere");
    fs.mkdirSync(elsewhere);
    fs.symlinkSync(elsewhere, path.join(claudeDir, "memdir-archive"));
    expect(() => archive()).toThrow(/is a link/);
    fs.rmSync(path.join(claudeDir, "memdir-archive"));
    fs.mkdirSync(folder, { recursive: true });
    fs.symlinkSync(path.join(elsewhere, "x"), copy);
    expect(archive()).toBe(true);
    expect(fs.lstatSync(copy).isFile()).toBe(true);
    expect(fs.readdirSync(elsewhere)).toEqual([]);
  });

  it("clears up after a copy that was killed half-way, and leaves one that is still at work", () => {
    const { transcript, folder, archive } = makePlace();
    fs.writeFileSync(transcript, "one\n");
    fs.mkdirSync(folder, { recursive: true });
    const [dead, own, living] = [
      `.copy-999999999-${SESSION}.jsonl`,
      `.copy-${process.pid}-${SESSION}.jsonl`,
      `.copy-${process.ppid}-${SESSION}.jsonl`,
    ];
    for (const name of [dead, own, living]) fs.writeFileSync(path.join(folder, name), "half");
    expect(archive()).toBe(true);
    expect(fs.readdirSync(folder).sort()).toEqual([living, `${SESSION}.jsonl`].sort());
  });
});
