/** Names from the wild: each is saved inside the directory or refused with exit 2, and nothing is made outside it. */

import fs from "node:fs";
import path from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { openMemdir } from "../../src/open.ts";
import { openSandbox, type Ran, type Sandbox } from "./run.ts";

let box: Sandbox;
let before: string[];
/** Everything but the memory directory itself. */
const outside = (of: Sandbox = box) => of.tree(`${of.dir()}/`, path.join(of.cwd, ".git"));

const NAMES: [string, string][] = [
  ["parent", "../x"],
  ["parents", "../../../../x"],
  ["backslashes", "..\\..\\x"],
  ["absolute", "/etc/passwd"],
  ["drive", "C:\\Windows\\x"],
  ["UNC", "\\\\server\\share"],
  ["percent-encoded", "%2e%2e%2fx"],
  ["twice encoded", "%252e%252e%252fx"],
  ["fullwidth dots", "．．／x"],
  ["one-dot leader", "․․/x"],
  ["reserved", "CON"],
  ["reserved with ending", "aux.md"],
  ["the index", "MEMORY.md"],
  ["the state folder", ".memdir/journal"],
  ["hidden", ".hidden"],
  ["only dots", "..."],
  ["only emoji", "🎉🎉"],
  ["only CJK", "部署流程"],
  ["right-to-left", "\u202Egnp.exe"],
  ["newline", "two\nlines"],
  ["leading dash", "-rf"],
  ["quotes", `"'\`$(touch x)`],
  ["link text", "a](http://evil) [b"],
  ["comment", "<!-- hidden -->"],
  ["lone surrogate escaped by the shell", "\uFFFD"],
  ["very long", "n".repeat(10_000)],
  ["long emoji", "👩‍👩‍👧‍👦".repeat(18)],
  ["trailing space and dot", "name. "],
  ["a colon", "a: b # c"],
];

const saved = new Map<string, Ran>();

beforeAll(async () => {
  box = openSandbox();
  await box.save("first");
  before = outside();
  // Four at a time: the order does not matter, and a process costs most of its time in starting.
  const queue = [...NAMES];
  const worker = async () => {
    for (let next = queue.shift(); next; next = queue.shift()) saved.set(next[1], await box.save(next[1], ["--json"]));
  };
  await Promise.all([worker(), worker(), worker(), worker()]);
});

describe("save", () => {
  test.each(NAMES)("%s", (_, name) => {
    const ran = saved.get(name) as Ran;
    expect([0, 2]).toContain(ran.code);
    if (ran.code === 0) {
      const { file, path: where } = JSON.parse(ran.out);
      expect(path.dirname(where)).toBe(box.dir());
      expect(path.basename(where)).toBe(file);
      expect(file).toMatch(/^user_[\p{L}\p{N}\p{M}_]+\.md$/u);
      expect(Buffer.byteLength(file)).toBeLessThanOrEqual(255);
      expect(fs.statSync(where).isFile()).toBe(true);
    } else {
      expect(JSON.parse(ran.err).error.message.length).toBeLessThan(400);
    }
  });

  test("nothing was made outside the directory", () => {
    expect(outside()).toEqual(before);
    expect(saved.size).toBe(NAMES.length);
  });

  test("all that were saved are listed, each with one line of the index that leads to it", async () => {
    const rows = await box.json(["list"]);
    const { index } = await box.json(["index"]);
    expect(index.split("\n")).toHaveLength(rows.length);
    for (const { file, problems } of rows) {
      expect(index).toContain(`(${file})`);
      expect(problems).toEqual([]);
    }
    // Found again by the name it was given, unless that reads like a path.
    const found = await box.json(["show", "部署流程"]);
    expect(found.file).toBe("user_部署流程.md");
    expect((await box.json(["show", "🎉🎉"])).body).toBe("About 🎉🎉.");
  });

  test("names longer than a title are refused with 2", async () => {
    const ran = await box.save("n".repeat(201));
    expect(ran.code).toBe(2);
    expect(ran.err).toMatch(/^memdir: the name has 201 characters, the limit is 200/);
  });

  test("NUL cannot be passed to a program; the library refuses it", async () => {
    const memdir = await openMemdir({ cwd: box.cwd, env: box.env });
    const save = memdir.save({ type: "user", name: "a\0/../b", body: "x" });
    await expect(save).rejects.toMatchObject({ code: "usage", message: expect.stringContaining("NUL") });
    await expect(memdir.show("\0")).rejects.toMatchObject({ code: expect.stringMatching(/outside|not-found|usage/) });
    expect(outside()).toEqual(before);
  });
});

describe("one name, several spellings", () => {
  test("NFC and NFD are the same memory", async () => {
    await box.save("Café".normalize("NFC"), [], "composed");
    const again = await box.save("Café".normalize("NFD"), ["--json"], "decomposed");
    expect(JSON.parse(again.out)).toMatchObject({ file: "user_café.md", action: "updated" });
    const all = await Promise.all(["NFC", "NFD"].map((form) => box.json(["show", "Café".normalize(form)])));
    for (const memory of all) expect(memory.body).toBe("decomposed");
  });

  test("names that differ in case only are one memory, and are found by either", async () => {
    const one = JSON.parse((await box.save("Build Tool", ["--json"], "upper")).out);
    const two = JSON.parse((await box.save("build tool", ["--json"], "lower")).out);
    expect(two).toMatchObject({ action: "updated", file: one.file });
    const bodies = await Promise.all(["Build Tool", "build tool"].map((name) => box.json(["show", name])));
    expect(bodies.map((memory) => memory.body)).toEqual(["lower", "lower"]);
  });

  test("different names that slug alike do not overwrite each other", async () => {
    const files = [];
    for (const name of ["c++ style", "c style", "c# style"])
      files.push(JSON.parse((await box.save(name, ["--json"])).out).file);
    expect(files).toEqual(["user_c_style.md", "user_c_style_2.md", "user_c_style_3.md"]);
    expect((await box.json(["show", "c# style"])).body).toBe("About c# style.");
  });
});

describe("other commands", () => {
  let other: Sandbox;
  let untouched: string[];
  beforeAll(async () => {
    other = openSandbox();
    await other.save("first");
    untouched = outside(other);
  });

  const PATHS = [
    "../x",
    "../../project/.git/config",
    "/etc/passwd",
    "%2e%2e%2fetc%2fpasswd",
    "．．/x",
    ".memdir/journal.jsonl",
    "..",
  ];
  test.each(["show", "forget", "edit"])("%s refuses paths with 2", async (command) => {
    const all = await Promise.all(PATHS.map((name) => other.run([command, name], { env: { EDITOR: "true" } })));
    for (const ran of all) expect(ran).toMatchObject({ code: 2, out: "" });
    expect(outside(other)).toEqual(untouched);
  });

  test("rename cannot move a memory out", async () => {
    for (const name of ["../../x", "/tmp/x", "%2e%2e%2fx"]) {
      const renamed = await other.json(["rename", "first", name]);
      expect(path.dirname(renamed.path)).toBe(other.dir());
      await other.json(["undo"]);
    }
    expect(outside(other)).toEqual(untouched);
  });

  test("a link in the directory is listed with its problem, never followed; forget removes only the link", async () => {
    const secret = other.put("secret.md", "---\nname: secret\ntype: user\n---\n\nprivate words\n");
    fs.symlinkSync(secret, path.join(other.dir(), "user_link.md"));
    const row = (await other.json(["list"])).find((r: { file: string }) => r.file === "user_link.md");
    expect(row.problems[0]).toMatch(/symbolic link/);
    const [shown, found] = await Promise.all([other.run(["show", "user_link.md"]), other.run(["search", "private"])]);
    expect(shown.code).toBe(3);
    expect(shown.out + shown.err).not.toContain("private words");
    expect(found.out).toBe("Nothing found.\n");
    await other.json(["forget", "user_link.md"]);
    expect(fs.existsSync(secret)).toBe(true);
    expect(fs.existsSync(path.join(other.dir(), "user_link.md"))).toBe(false);
  });
});
