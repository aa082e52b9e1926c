import { execFileSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { findPrompt, openPromptHistory, searchPrompts } from "../../../src/cli/console/prompt-history.ts";

const top = fs.mkdtempSync(path.join(os.tmpdir(), "memdir-prompts-"));
afterAll(() => fs.rmSync(top, { recursive: true, force: true }));
let count = 0;
const fresh = () => path.join(top, `d${count++}`, "prompts.jsonl");
const now = () => new Date("2026-03-10T12:00:00.000Z");
const open = (file: string) => openPromptHistory(file, { now });
const windows = process.platform === "win32";

describe("prompt history", () => {
  it("keeps prompts for the next session, lines and all, in a file of the user's own", async () => {
    const file = fresh();
    const first = open(file);
    expect(first.prompts()).toEqual([]);
    for (const text of ["one", "two\nlines\t你好 \ud83d", "two\nlines\t你好 \ud83d", "three"]) first.add(text);
    expect(open(file).prompts()).toEqual(["one", "two\nlines\t你好 \ud83d", "three"]);
    if (!windows) expect(fs.statSync(file).mode & 0o777).toBe(0o600);
  });

  it("keeps no secrets and nothing that begins with a space", async () => {
    const file = fresh();
    const history = open(file);
    const secret = `use ${"ghp"}_${"a1B2c3D4e5F6".repeat(3)} please`;
    for (const text of [secret, " private", " \n ", "plain"]) expect(history.add(text)).toBeNull();
    expect(fs.readFileSync(file, "utf8")).not.toMatch(/ghp|private/);
    // Within the session the arrow still brings it back: it is on the screen anyway.
    expect(history.prompts()).toEqual([secret, "plain"]);
    expect(open(file).prompts()).toEqual(["plain"]);
  });

  it("reads the newest thousand, passing over what is broken", async () => {
    const file = fresh();
    fs.mkdirSync(path.dirname(file));
    const lines = Array.from({ length: 1500 }, (_, i) => JSON.stringify({ text: `p${i}` }));
    fs.writeFileSync(file, `\ufeff\n[]\nnull\n{"text":7}\n${lines.join("\n")}\r\n{"at":"x"}\nrubbish\n{"text":"half`);
    const history = open(file);
    expect(history.prompts().length).toBe(1000);
    expect(history.prompts().at(-1)).toBe("p1499");
    history.add("after half a line");
    expect(open(file).prompts().at(-1)).toBe("after half a line");
  });

  it("reads only the end of a huge file", () => {
    const file = fresh();
    fs.mkdirSync(path.dirname(file));
    const line = `${JSON.stringify({ text: "x".repeat(9000) })}\n`;
    fs.writeFileSync(file, `${line.repeat(1000)}${JSON.stringify({ text: "last" })}\n`);
    expect(open(file).prompts()).toEqual(["x".repeat(9000), "last"]);
  });

  it("takes turns with other processes", async () => {
    const file = fresh();
    const [one, two] = [open(file), open(file)];
    await Promise.all(Array.from({ length: 50 }, (_, i) => (i % 2 ? one : two).add(`prompt ${i}`)));
    expect(open(file).prompts().length).toBe(50);
  });

  it.skipIf(windows)("says what is wrong with the place and goes on", async () => {
    const fifo = path.join(top, "fifo");
    execFileSync("mkfifo", [fifo]);
    const link = path.join(top, "link");
    fs.writeFileSync(path.join(top, "target"), "");
    fs.symlinkSync(path.join(top, "target"), link);
    for (const file of [fifo, link, top, path.join(top, "target", "below")]) {
      const history = open(file);
      expect(history.add("words")).toContain("was not kept");
      expect(history.prompts()).toEqual(["words"]);
    }
    expect(fs.readFileSync(path.join(top, "target"), "utf8")).toBe("");
  });

  it("finds by beginning and by words", () => {
    const prompts = ["fix a", "run tests", "fix b", "fix b", "show"];
    expect(findPrompt(prompts, 5, -1, "")).toBe(4);
    expect(findPrompt(prompts, 5, -1, "fix")).toBe(3);
    expect(findPrompt(prompts, 3, -1, "fix")).toBe(0);
    expect(findPrompt(prompts, 0, -1, "fix")).toBe(null);
    expect(findPrompt(prompts, 0, 1, "fix")).toBe(2);
    expect(searchPrompts(prompts, 5, "TEST")).toBe(1);
    expect(searchPrompts(prompts, 1, "test")).toBe(null);
  });
});
