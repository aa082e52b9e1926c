import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { moveCursor, readCursor, sinceCursor } from "../../src/learn/extraction-gates.ts";
import { makeTemporary } from "../temporary.ts";

const SESSION = "0b5e7c1a-0000-4000-8000-000000000001";
const AT = "2026-03-10T12:00:00.000Z";
const at = (message: string) => ({ message, at: AT });
const dirOf = () => path.join(makeTemporary("cursor", "memory"), "memory");
const fileIn = (dir: string) => path.join(dir, ".memdir", "cursors", `${SESSION}.json`);

function put(dir: string, content: string | Buffer): void {
  fs.mkdirSync(path.dirname(fileIn(dir)), { recursive: true });
  fs.writeFileSync(fileIn(dir), content);
}

describe("the cursor", () => {
  it("is kept per session, for the user alone, hidden from git", () => {
    const dir = dirOf();
    expect(readCursor(dir, SESSION)).toBeNull();
    expect(moveCursor(dir, SESSION, { from: null, to: at("b"), ids: ["a", "b"] })).toBe(true);
    expect(readCursor(dir, SESSION)).toEqual(at("b"));
    expect(readCursor(dir, "another-session")).toBeNull();
    if (process.platform !== "win32") expect(fs.statSync(fileIn(dir)).mode & 0o777).toBe(0o600);
    expect(fs.readFileSync(path.join(dir, ".memdir", ".gitignore"), "utf8")).toBe("*\n");
    expect(fs.readdirSync(path.dirname(fileIn(dir)))).toEqual([`${SESSION}.json`]);
  });

  it.each(["../../escape", "a/b", "con", "", "ä\0b", ".hidden", "x".repeat(500)])(
    "takes the session %j for a name only",
    (session) => {
      const dir = dirOf();
      moveCursor(dir, session, { from: null, to: at("a"), ids: ["a"] });
      expect(readCursor(dir, session)?.message).toBe("a");
      expect(fs.readdirSync(path.join(dir, ".memdir", "cursors"))[0]).toMatch(/^_[0-9a-f]{32}\.json$/);
    },
  );

  it.each<[string, string | Buffer]>([
    ["empty", ""],
    ["half", '{"message":"a'],
    ["a list", "[]"],
    ["null", "null"],
    ["a number for an id", '{"message":1}'],
    ["an empty id", '{"message":""}'],
    ["binary", Buffer.from([0, 255, 254])],
    ["huge", JSON.stringify({ message: "x".repeat(10_000) })],
  ])("garbled is none: %s", (_, content) => {
    const dir = dirOf();
    put(dir, content);
    expect(readCursor(dir, SESSION)).toBeNull();
    expect(moveCursor(dir, SESSION, { from: null, to: at("a"), ids: ["a"] })).toBe(true);
    expect(readCursor(dir, SESSION)?.message).toBe("a");
  });

  it.skipIf(process.platform === "win32")("follows no link and waits for no fifo", () => {
    const dir = dirOf();
    const outside = makeTemporary("outside", "memory");
    fs.writeFileSync(path.join(outside, `${SESSION}.json`), JSON.stringify(at("a")));
    put(dir, "");
    fs.rmSync(fileIn(dir));
    fs.symlinkSync(path.join(outside, `${SESSION}.json`), fileIn(dir));
    expect(readCursor(dir, SESSION)).toBeNull();
    fs.rmSync(fileIn(dir));
    execFileSync("mkfifo", [fileIn(dir)]);
    expect(readCursor(dir, SESSION)).toBeNull();

    fs.rmSync(path.dirname(fileIn(dir)), { recursive: true });
    fs.symlinkSync(outside, path.dirname(fileIn(dir)));
    expect(readCursor(dir, SESSION)).toBeNull();
    expect(() => moveCursor(dir, SESSION, { from: null, to: at("b"), ids: ["b"] })).toThrow();
    expect(fs.readFileSync(path.join(outside, `${SESSION}.json`), "utf8")).toContain('"a"');
  });

  it("is not moved back by a slower process, nor past one that knows more", () => {
    const dir = dirOf();
    const ids = ["a", "b", "c"];
    moveCursor(dir, SESSION, { from: null, to: at("c"), ids });
    expect(moveCursor(dir, SESSION, { from: null, to: at("b"), ids })).toBe(false);
    expect(moveCursor(dir, SESSION, { from: at("a"), to: at("b"), ids: ["a", "b"] })).toBe(false);
    expect(readCursor(dir, SESSION)?.message).toBe("c");
    // Compaction has taken "c", and everything was looked at again.
    expect(moveCursor(dir, SESSION, { from: at("c"), to: at("y"), ids: ["x", "y"] })).toBe(true);
    expect(readCursor(dir, SESSION)?.message).toBe("y");
  });

  it("C-5 leaves what is behind it, and everything when its message is gone", () => {
    const messages = ["a", "b", "c"].map((id) => ({ id }));
    expect(sinceCursor(messages, null)).toHaveLength(3);
    expect(sinceCursor(messages, at("b"))).toEqual([{ id: "c" }]);
    expect(sinceCursor(messages, at("c"))).toEqual([]);
    expect(sinceCursor(messages, at("gone"))).toHaveLength(3);
  });
});
