/** The log of what was surfaced: whole lines from many processes, bounded, and never a reason to fail. */

import { execFile } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { build } from "esbuild";
import { describe, expect, it } from "vitest";
import { type Door, logSurfaced, readSurfaceLog } from "../../src/recall/surface-log.ts";
import { makeTemporary } from "../temporary.ts";

const AT = new Date("2026-03-10T12:00:00.000Z");

function entry(file: string, more: { prompt?: string; why?: string[]; at?: Date; door?: Door } = {}) {
  const { prompt = "how do we deploy", why = ["words: deploy"], at = AT, door = "hook" } = more;
  return { at, session: "s1", door, prompt, memories: [{ file, scope: "project", why }] };
}

const logOf = (dir: string) => path.join(dir, ".memdir", "surfaced.jsonl");

describe("the surface log", () => {
  it("keeps when, where, by which door and why, and nothing of the prompt", () => {
    const dir = makeTemporary("surface", "memory");
    logSurfaced(dir, entry("a.md", { prompt: "my very private words" }));
    logSurfaced(dir, { ...entry("b.md", { door: "mcp" }), session: null });
    expect(readSurfaceLog(dir)).toEqual([
      {
        at: AT.toISOString(),
        session: "s1",
        door: "hook",
        prompt: expect.any(Number),
        memories: [{ file: "a.md", scope: "project", why: ["words: deploy"] }],
      },
      expect.objectContaining({ session: null, door: "mcp" }),
    ]);
    expect(fs.readFileSync(logOf(dir), "utf8")).not.toContain("private");
    expect(fs.readFileSync(path.join(dir, ".memdir", ".gitignore"), "utf8")).toBe("*\n");
    if (process.platform !== "win32") expect(fs.statSync(logOf(dir)).mode & 0o777).toBe(0o600);
  });

  it("writes nothing when nothing was shown, and makes no directory", () => {
    const dir = path.join(makeTemporary("surface", "memory"), "gone");
    logSurfaced(dir, { ...entry("a.md"), memories: [] });
    logSurfaced(dir, entry("a.md"));
    expect(fs.existsSync(dir)).toBe(false);
    expect(readSurfaceLog(dir)).toEqual([]);
  });

  it("drops the older half beyond a megabyte, and every line stays whole", () => {
    const dir = makeTemporary("surface", "memory");
    const why = Array.from({ length: 6 }, (_, at) => `${at}${"x".repeat(150)}`);
    for (let at = 0; at < 1500; at++) logSurfaced(dir, entry(`m${at}.md`, { why }));
    const sizes = [logOf(dir), `${logOf(dir)}.1`].map((file) => fs.statSync(file).size);
    expect(sizes.reduce((sum, size) => sum + size)).toBeLessThan(1.01 * (1 << 20));
    const files = readSurfaceLog(dir).map(({ memories }) => memories[0]?.file);
    expect(files.at(-1)).toBe("m1499.md");
    expect(files).toEqual(Array.from({ length: files.length }, (_, at) => `m${1500 - files.length + at}.md`));
    expect(fs.readdirSync(path.join(dir, ".memdir")).sort()).toEqual([
      ".gitignore",
      "surfaced.jsonl",
      "surfaced.jsonl.1",
    ]);
  });

  it("passes over torn and foreign lines", () => {
    const dir = makeTemporary("surface", "memory");
    fs.mkdirSync(path.join(dir, ".memdir"));
    const bad = [
      '{"at":"2026',
      "null",
      "[]",
      "{}",
      '{"at":"never","door":"cli","memories":[]}',
      "\u0000\ud800",
      '{"at":5}',
    ];
    fs.writeFileSync(logOf(dir), `${bad.join("\n")}\n{"at":"2026-03-0`);
    logSurfaced(dir, entry("a.md", { why: ["lone \ud800 surrogate"] }));
    expect(readSurfaceLog(dir)).toHaveLength(1);
    expect(readSurfaceLog(dir)[0]?.memories[0]?.why).toEqual(["lone \ufffd surrogate"]);
  });

  it.skipIf(process.platform === "win32")("follows no link, neither at the log nor at its folder", () => {
    const top = makeTemporary("surface", "memory");
    const target = path.join(top, "victim");
    fs.writeFileSync(target, "precious");
    const dir = path.join(top, "memory");
    fs.mkdirSync(path.join(dir, ".memdir"), { recursive: true });
    fs.symlinkSync(target, logOf(dir));
    logSurfaced(dir, entry("a.md"));
    expect(fs.readFileSync(target, "utf8")).toBe("precious");
    expect(readSurfaceLog(dir)).toEqual([]);
    const other = path.join(top, "other");
    fs.mkdirSync(path.join(top, "elsewhere"));
    fs.mkdirSync(other);
    fs.symlinkSync(path.join(top, "elsewhere"), path.join(other, ".memdir"));
    logSurfaced(other, entry("a.md"));
    expect(fs.readdirSync(path.join(top, "elsewhere"))).toEqual([]);
    expect(readSurfaceLog(other)).toEqual([]);
  });

  it("a folder in its place is no log, and no failure", () => {
    const dir = makeTemporary("surface", "memory");
    fs.mkdirSync(logOf(dir), { recursive: true });
    logSurfaced(dir, entry("a.md"));
    expect(readSurfaceLog(dir)).toEqual([]);
  });

  it("takes whole lines from several processes at once", async () => {
    const dir = makeTemporary("surface", "memory");
    const program = path.join(dir, "program.mjs");
    const contents = `
      import { logSurfaced } from ${JSON.stringify(path.resolve("src/recall/surface-log.ts"))};
      const [name, dir] = process.argv.slice(2);
      for (let at = 0; at < 100; at++) logSurfaced(dir, { at: new Date(0), session: null, door: "cli", prompt: "p",
        memories: [{ file: name + at + ".md", scope: "project", why: ["x".repeat(100)] }] });`;
    await build({
      stdin: { contents, resolveDir: process.cwd() },
      bundle: true,
      platform: "node",
      format: "esm",
      outfile: program,
    });
    const run = promisify(execFile);
    await Promise.all(["a", "b", "c"].map((name) => run(process.execPath, [program, name, dir])));
    const files = readSurfaceLog(dir).map(({ memories }) => memories[0]?.file);
    expect(new Set(files).size).toBe(300);
  });
});
