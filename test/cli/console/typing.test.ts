/** The console's primitives on a real pseudo-terminal, through a small program of the fixtures. */
import { createHash } from "node:crypto";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openPty, type PtyOptions } from "../../pty.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const top = fs.mkdtempSync(path.join(os.tmpdir(), "memdir-typing-"));
const program = path.join(top, "typing.mjs");
afterAll(() => fs.rmSync(top, { recursive: true, force: true }));
beforeAll(async () => {
  await build({
    absWorkingDir: root,
    entryPoints: ["test/cli/console/fixtures/typing.ts"],
    outfile: program,
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20",
    logLevel: "silent",
  });
});

let count = 0;
async function start(options: PtyOptions & { history?: string } = {}) {
  const history = options.history ?? path.join(top, `history-${count++}.jsonl`);
  const pty = openPty(process.execPath, [program, history], {
    ...options,
    env: { PATH: process.env.PATH, HOME: top, ...options.env },
  });
  await pty.waitFor(options.env?.TERM === "dumb" ? /ready/ : /type he/);
  return Object.assign(pty, { historyFile: history });
}
const shown = (screen: string[]) => screen.join("\n").trimEnd().split("\n");
const hash = (text: string) => createHash("sha256").update(text).digest("hex").slice(0, 12);

// Windows has no signals, and its terminal draws what a program writes in its own way.
describe.skipIf(process.platform === "win32")("typing on a terminal", () => {
  it("sends a line, echoes it once, and leaves with Ctrl-D", async () => {
    const pty = await start();
    pty.write("hello there");
    await pty.waitFor(/^> hello there$/m);
    pty.press("enter");
    await pty.waitFor(/read "hello there"\n> type here/);
    expect(shown(pty.screen())).toEqual(["ready", "> hello there", 'read "hello there"', "> type here"]);
    pty.press("ctrl-d");
    await pty.waitFor(/left/);
    expect(await pty.exit).toBe(0);
    expect(shown(pty.screen())).toEqual(["ready", "> hello there", 'read "hello there"', "left"]);
    expect(pty.cursor().visible).toBe(true);
    expect(pty.raw().lastIndexOf("\x1b[?2004l")).toBeGreaterThan(pty.raw().lastIndexOf("\x1b[?2004h"));
  });

  it("takes 5,000 pasted lines whole, shown as a note", async () => {
    const pty = await start({ cols: 60, rows: 12 });
    const pasted = Array.from({ length: 5000 }, (_, i) => `line ${i}: some words, 你好, and "quotes" \\ too`).join(
      "\n",
    );
    pty.write("look: ");
    pty.paste(pasted);
    await pty.waitFor(/> look: \[pasted text #1, 5000 lines\]/);
    pty.press("enter");
    await pty.waitFor(new RegExp(`read 5000 lines ${hash(`look: ${pasted}`)}`));
    expect(pty.history().length).toBeLessThan(12);
  });

  it("works on 40 columns and on 10", async () => {
    for (const cols of [40, 10]) {
      const pty = await start({ cols, rows: 20 });
      const text = "the quick brown fox jumps over the lazy dog again and again and again";
      pty.write(text);
      await pty.waitFor((screen) => screen.join("").replace(/\s/g, "").includes(text.replace(/\s/g, "")));
      for (const line of pty.screen()) expect(line.length).toBeLessThanOrEqual(cols);
      pty.press("home");
      pty.write("X");
      await pty.waitFor(/^(> )?Xthe/m);
      pty.press("ctrl-c");
      await pty.waitFor(/^> type he/m);
      expect(shown(pty.screen()).length).toBe(2);
    }
  });

  it("types Chinese over the edge and deletes it by character", async () => {
    const pty = await start({ cols: 20, rows: 10 });
    pty.write("你好世界你好世界你好世界");
    await pty.waitFor((screen) => shown(screen)[1] === "> 你好世界你好世界" && shown(screen)[2] === "  你好世界");
    expect(pty.cursor()).toMatchObject({ row: 2, column: 10 });
    pty.press("backspace", "backspace", "backspace", "backspace", "backspace");
    await pty.waitFor((screen) => shown(screen)[1] === "> 你好世界你好世");
    pty.write("👩‍👩‍👧e\u0301");
    pty.press("backspace", "backspace", "enter");
    await pty.waitFor(/read "你好世界你好世\n"\n> type here/);
  });

  it("stops what runs with Ctrl-C and keeps what was typed meanwhile", async () => {
    const pty = await start();
    pty.write("/work\r");
    await pty.waitFor(/Working 0s/);
    pty.write("next words");
    await pty.waitFor(/Working.*\n> next words/);
    pty.press("ctrl-c");
    await pty.waitFor(/stopped\n> next words/);
    pty.press("enter");
    await pty.waitFor(/read "next words"/);
    expect(pty.screen().join("\n")).not.toContain("Working");
  });

  it("keeps what was sent while something ran for afterwards, and gives it back when that is stopped", async () => {
    const pty = await start();
    pty.write("/work\r");
    await pty.waitFor(/Working/);
    pty.write("later\r");
    await pty.waitFor(/waits: later\n>$/m);
    pty.press("ctrl-c");
    await pty.waitFor(/stopped\n> later/);
    pty.press("enter");
    await pty.waitFor(/read "later"/);
  });

  it("leaves after Ctrl-C twice at an empty prompt, saying so first", async () => {
    const pty = await start();
    pty.write("text");
    await pty.waitFor(/> text/);
    pty.press("ctrl-c");
    await pty.waitFor(/> type here/);
    pty.press("ctrl-c");
    await pty.waitFor(/Ctrl-C again leaves/);
    pty.write("x");
    await pty.waitFor((screen) => !screen.join().includes("again leaves"));
    pty.press("backspace", "ctrl-c");
    await pty.waitFor(/Ctrl-C again leaves/);
    pty.press("ctrl-c");
    expect(await pty.exit).toBe(0);
  });

  it("completes commands from a list", async () => {
    const pty = await start();
    pty.write("/h");
    await pty.waitFor(/> \/h\n› \/help\s+what help does\n {2}\/history\s+what history does/);
    pty.press("down", "tab");
    await pty.waitFor(/^> \/history$/m);
    expect(pty.screen().join()).not.toContain("what help does");
    pty.press("enter");
    await pty.waitFor(/read "\/history "/);
    pty.write("/hel");
    await pty.waitFor(/what help does/);
    pty.press("enter", "enter");
    await pty.waitFor(/read "\/help "/);
    pty.write("/help");
    await pty.waitFor(/what help does/);
    pty.press("enter");
    await pty.waitFor(/read "\/help"/);
    pty.write("/wo");
    await pty.waitFor(/what work does/);
    pty.press("escape");
    await pty.waitFor((screen) => !screen.join().includes("what work does"));
  });

  it("brings earlier prompts back, by their beginning and by search, also in the next session", async () => {
    const first = await start();
    for (const text of ["fix one", "run two", "fix\\\rthree"]) {
      first.write(`${text}\r`);
      await first.waitFor(new RegExp(`read "${text.replace("\\\r", "\\\\n")}"`));
    }
    first.press("ctrl-d");
    await first.exit;
    const pty = await start({ history: first.historyFile });
    pty.press("up");
    await pty.waitFor(/> fix\n {2}three/);
    pty.press("up", "up");
    await pty.waitFor(/> run two/);
    pty.press("down", "down");
    await pty.waitFor(/> type here/);
    pty.write("fix o");
    pty.press("up");
    await pty.waitFor(/> fix one$/m);
    pty.press("ctrl-u", "ctrl-r");
    pty.write("TWO");
    await pty.waitFor(/> run two\nsearch: TWO/);
    pty.press("enter", "enter");
    await pty.waitFor(/read "run two"/);
  });

  it("writes several lines with backslash, Alt-Enter, Shift-Enter and Ctrl-J", async () => {
    const pty = await start();
    pty.write("a\\\rb");
    pty.press("alt-enter");
    pty.write("c");
    pty.press("ctrl-j");
    pty.write("d");
    pty.press("shift-enter");
    pty.write("e");
    await pty.waitFor(/> a\n {2}b\n {2}c\n {2}d\n {2}e/);
    pty.press("up", "up", "end");
    pty.write("!");
    await pty.waitFor(/ {2}c!\n {2}d/);
    pty.press("enter");
    await pty.waitFor(new RegExp(`read 5 lines ${hash("a\nb\nc!\nd\ne")}`));
    expect(shown(pty.screen()).slice(1, 6)).toEqual(["> a", "  b", "  c!", "  d", "  e"]);
  });

  it("asks, and takes a key, the arrows or Esc for an answer", async () => {
    const pty = await start({ cols: 40 });
    for (const [press, answer] of [
      ["y", "y"],
      ["N", "n"],
      ["\x1b[B\x1b[B\r", "a"],
      ["\x1b", "null"],
      ["\x03", "null"],
      ["\rx?a", "a"],
    ]) {
      pty.write("/ask\r");
      await pty.waitFor(/Run npm test\?\n {2}y {2}yes, once\n {2}a {2}always\n {2}n {2}no/);
      for (const key of press === "\rx?a" ? press : [press ?? ""]) {
        pty.write(key);
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      await pty.waitFor(new RegExp(`answer: ${answer}\n> type here`));
      pty.press("ctrl-l");
      await pty.waitFor((screen) => shown(screen).length === 1 && shown(screen)[0] === "> type here");
    }
  });

  it("draws again when the terminal changes its size, and leaves nothing behind", async () => {
    const pty = await start({ cols: 60, rows: 12 });
    pty.write("some words that fill a good part of the line here");
    await pty.waitFor(/line here/);
    for (const [cols, rows] of [
      [30, 12],
      [20, 8],
      [70, 20],
      [40, 6],
      [60, 12],
    ] as const) {
      pty.resize(cols, rows);
      await pty.waitFor((screen) => {
        const typed = screen.join("").replace(/[\s>]/g, "");
        return typed.split("somewordsthatfill").length === 2 && typed.endsWith("linehere");
      });
    }
    await pty.waitFor(
      (screen) => shown(screen).join("|") === "ready|> some words that fill a good part of the line here",
    );
    expect(pty.history().filter((line) => line.includes("some")).length).toBe(1);
  });

  it("streams Markdown above the input while it is typed in", async () => {
    const pty = await start({ cols: 40, rows: 10 });
    pty.write("/stream\r");
    pty.write("meanwhile");
    await pty.waitFor(/- item 39\n> meanwhile/);
    const all = pty.history();
    expect(all.filter((line) => line.includes("meanwhile")).length).toBe(1);
    expect(all.slice(2, 10)).toEqual(["Title", "", "Some bold words.", "", "  js", "  let a = 1;", "", "- item 0"]);
    expect(all.filter((line) => /^- item/.test(line))).toEqual(Array.from({ length: 40 }, (_, i) => `- item ${i}`));
  });

  it("has no colour with NO_COLOR", async () => {
    const plain = await start({ env: { NO_COLOR: "1" } });
    plain.write("/stream\r");
    await plain.waitFor(/item 39/);
    plain.press("ctrl-d");
    await plain.exit;
    expect(plain.raw().replaceAll("\x1b[0m", "")).not.toMatch(/\[[\d;]*m/);
  });

  it("gives the terminal back after a crash, and to another program for a while", async () => {
    const pty = await start();
    pty.write("/vi\r");
    await pty.waitFor(/edited something\n> type here/);
    pty.write("/crash\r");
    expect(await pty.exit).not.toBe(0);
    await pty.waitFor(/crashed on purpose/);
    expect(pty.cursor().visible).toBe(true);
    expect(pty.raw().lastIndexOf("\x1b[?2004l")).toBeGreaterThan(pty.raw().lastIndexOf("\x1b[?2004h"));
    expect(pty.screen().join("\n")).not.toContain("type here");
  });

  it("takes a signal as Ctrl-C and a hang-up as the end", async () => {
    const pty = await start();
    pty.write("/work\r");
    await pty.waitFor(/Working/);
    pty.kill("SIGINT");
    await pty.waitFor(/stopped\n> type here/);
    pty.kill("SIGHUP");
    await pty.exit;
  });
});
