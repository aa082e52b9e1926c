/** The daily log on real files: its place and form, many writers, what stands in the way, and both shapes read. */

import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { beforeEach, describe, expect, it } from "vitest";
import { appendLog, logPath, readLogs } from "../../src/memory/daily-log.ts";
import type { Store } from "../../src/store/store.ts";
import { localDay } from "../../src/text/local-day.ts";
import { errorOf, mainOf, makeWorld, note, type World } from "../world.ts";

let world: World;
let directory: Store;
beforeEach(async () => {
  world = makeWorld();
  directory = mainOf(await world.open());
});

/** A time on the user's own clock. */
const at = (hours: number, minutes = 0, day = 10) => ({ now: () => new Date(2026, 2, day, hours, minutes) });
const TODAY = "logs/2026/03/2026-03-10.md";

describe("appending", () => {
  it("B9.3 C24 one line after the other in logs/YYYY/MM/YYYY-MM-DD.md of the memory directory", async () => {
    expect(await appendLog(directory, "moved the build to node 22", at(9, 5))).toEqual({
      path: world.path("logs", "2026", "03", "2026-03-10.md"),
      line: "- 09:05 moved the build to node 22",
    });
    await appendLog(directory, "  and back \n", at(23, 59));
    await appendLog(directory, "a new day", at(0, 0, 11));
    expect(world.read(TODAY)).toBe("- 09:05 moved the build to node 22\n- 23:59 and back\n");
    expect(world.read("logs/2026/03/2026-03-11.md")).toBe("- 00:00 a new day\n");
    if (process.platform !== "win32") {
      expect(fs.statSync(world.path(TODAY)).mode & 0o777).toBe(0o600);
      expect(fs.statSync(path.dirname(world.path(TODAY))).mode & 0o777).toBe(0o700);
    }
  });

  it("B9.3 the index is untouched, and a log is no memory", async () => {
    const memdir = await world.open();
    await memdir.save(note("one"));
    const index = world.index();
    await appendLog(directory, "deployed zebra", at(9));
    world.write("logs/2026/03/10/3f2a-a title.md", "# zebra\n");
    expect(world.index()).toBe(index);
    expect((await memdir.list()).map(({ name }) => name)).toEqual(["one"]);
    expect(await memdir.search("zebra")).toEqual([]);
    await memdir.rebuildIndex();
    expect(world.index()).not.toMatch(/logs|zebra/);
  });

  it.each([
    ["several lines", "one\ntwo\n\n  three", "- 09:00 one\n  two\n\n    three\n"],
    ["a line that looks like an entry", "one\n- 10:00 two", "- 09:00 one\n  - 10:00 two\n"],
    ["CRLF and CR", "one\r\ntwo\rthree\r\n", "- 09:00 one\n  two\n  three\n"],
    ["NUL and half a character", "a\0b \ud800", "- 09:00 ab \ufffd\n"],
    ["other scripts", "配置 🦓", "- 09:00 配置 🦓\n"],
  ])("%s", async (_, text, written) => {
    await appendLog(directory, text, at(9));
    expect(world.read(TODAY)).toBe(written);
  });

  it("begins a line of its own behind one that was not ended", async () => {
    world.write(TODAY, "by hand");
    await appendLog(directory, "x", at(9));
    expect(world.read(TODAY)).toBe("by hand\n- 09:00 x\n");
  });

  it.each([
    ["nothing", " \n\0", "usage", /nothing to log/],
    ["far too much", "x ".repeat(40_000), "usage", /longer than 65536 bytes/],
    [
      "a secret",
      "token is ghp_16C7e42F292c6912E7710c838347Ae178B4a",
      "secret",
      /nothing was logged.* on line 1\); remove it/,
    ],
  ])("refuses %s, and makes nothing", async (_, text, code, message) => {
    const error = await errorOf(appendLog(directory, text, at(9)));
    expect(error).toMatchObject({ code, message: expect.stringMatching(message) });
    expect(world.grep("16C7e42F292c")).toEqual([]);
    expect(`${error.message}${JSON.stringify(error.details)}`).not.toContain("16C7e42F292c");
    expect(world.files()).toEqual([]);
  });

  it("refuses a directory that is only read", async () => {
    const error = await errorOf(appendLog({ ...directory, readOnly: true }, "x", at(9)));
    expect(error.code).toBe("usage");
  });

  it.each([
    ["the file", "elsewhere", TODAY],
    ["the month", "home", path.dirname(TODAY)],
    ["the folder of logs", "home", "logs"],
  ])("refuses when %s is a link that leads away", async (_, target, link) => {
    fs.mkdirSync(path.dirname(world.path(link)), { recursive: true });
    fs.symlinkSync(path.join(world.top, target), world.path(link));
    expect((await errorOf(appendLog(directory, "swallowed", at(9)))).code).toBe("outside");
    expect(world.grep("swallowed")).toEqual([]);
    expect(readLogs(directory)).toEqual([]);
  });

  it("refuses a folder in the file's place, a file in a folder's place", async () => {
    fs.mkdirSync(world.path(TODAY), { recursive: true });
    expect((await errorOf(appendLog(directory, "x", at(9)))).message).toMatch(/cannot write to .*EISDIR/);
    world.write("logs/2027", "a file");
    const later = { now: () => new Date(2027, 0, 1) };
    expect((await errorOf(appendLog(directory, "x", later))).message).toMatch(/logs/);
  });

  it.skipIf(process.platform === "win32")("a fifo does not hold it up", async () => {
    fs.mkdirSync(path.dirname(world.path(TODAY)), { recursive: true });
    execFileSync("mkfifo", [world.path(TODAY)]);
    expect((await errorOf(appendLog(directory, "x", at(9)))).message).toMatch(/not a regular file/);
    expect(readLogs(directory)).toEqual([]);
  });

  it("B9.3 eight processes append at once, and no entry is lost or mixed", async () => {
    const script = path.join(world.top, "appender.mjs");
    await build({
      stdin: {
        contents: `
          import { appendLog } from "../../src/memory/daily-log.ts";
          const [path, who] = process.argv.slice(2);
          const directory = { path, readOnly: false, inRepository: false, log: console.error };
          for (let i = 0; i < 40; i++)
            await appendLog(directory, who + " " + i + "\\n" + (who + " ").repeat(500), { now: () => new Date(2026, 2, 10, 9) });
        `,
        resolveDir: path.dirname(fileURLToPath(import.meta.url)),
        loader: "ts",
      },
      outfile: script,
      bundle: true,
      platform: "node",
      format: "esm",
      logLevel: "error",
    });
    const codes = await Promise.all(
      [..."abcdefgh"].map(async (who) => {
        const child = spawn(process.execPath, [script, directory.path, who], {
          stdio: ["ignore", "inherit", "inherit"],
        });
        return (await once(child, "exit"))[0];
      }),
    );
    expect(codes).toEqual(Array(8).fill(0));
    // An empty line may come between two that were written at the same moment.
    const entries = world
      .read(TODAY)
      .split(/^(?=- )/m)
      .map((entry) => entry.replace(/\n+$/, "\n"));
    const expected = [..."abcdefgh"].flatMap((who) =>
      Array.from({ length: 40 }, (_, i) => `- 09:00 ${who} ${i}\n  ${`${who} `.repeat(500).trim()}\n`),
    );
    expect(entries.sort()).toEqual(expected.sort());
  });
});

describe("reading", () => {
  it("B9.3 C24 both shapes, oldest first", () => {
    world.write(TODAY, "\ufeff- 09:00 x\n");
    world.write("logs/2026/03/10/3f2a-a title.md", "session\n");
    world.write("logs/2025/12/2025-12-31.md", "old\n");
    world.write("logs/2026/03/09/b.md", "before\n");
    expect(readLogs(directory)).toEqual([
      { day: "2025-12-31", path: world.path("logs", "2025", "12", "2025-12-31.md"), text: "old\n" },
      { day: "2026-03-09", path: world.path("logs", "2026", "03", "09", "b.md"), text: "before\n" },
      { day: "2026-03-10", path: world.path("logs", "2026", "03", "10", "3f2a-a title.md"), text: "session\n" },
      { day: "2026-03-10", path: world.path("logs", "2026", "03", "2026-03-10.md"), text: "- 09:00 x\n" },
    ]);
    expect(readLogs(directory, { since: "2026-03-10" }).map(({ text }) => text)).toEqual(["session\n", "- 09:00 x\n"]);
    expect(readLogs(directory, { since: "2026-03-11" })).toEqual([]);
  });

  it("is empty where there are none", () => {
    expect(readLogs(directory)).toEqual([]);
    expect(world.logged).toEqual([]);
  });

  it("passes over what is no log", () => {
    for (const file of [
      "logs/notes.md",
      "logs/2026/2026-03-10.md",
      "logs/2026/03/2026-04-10.md",
      "logs/2026/03/2026-03-10.txt",
      "logs/2026/02/2026-02-30.md",
      "logs/2026/13/01/x.md",
      "logs/2026/03/10/.tmp.md",
      "logs/2026/03/10/deep/x.md",
      "logs/26/03/10/x.md",
    ])
      world.write(file, "x");
    expect(readLogs(directory)).toEqual([]);
  });

  it("leaves out links and what is huge or unreadable, and says so", () => {
    world.write("secret.md", "x");
    world.write("logs/2026/03/2026-03-01.md", "x".repeat(5 << 20));
    world.write("logs/2026/03/2026-03-03.md", "kept");
    fs.symlinkSync(world.path("secret.md"), world.path("logs/2026/03/2026-03-02.md"));
    fs.symlinkSync(world.home, world.path("logs/2026/03/04"));
    expect(readLogs(directory).map(({ text }) => text)).toEqual(["kept"]);
    expect(world.logged.join()).toMatch(/2026-03-01\.md is skipped/);
  });
});

it("the day is the one of the local clock", () => {
  const late = new Date(2026, 2, 10, 23, 59);
  expect(localDay(late)).toBe("2026-03-10");
  expect(logPath(directory, late)).toBe(world.path("logs", "2026", "03", "2026-03-10.md"));
});
