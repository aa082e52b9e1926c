import { createHash } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { MemdirError } from "../../src/errors.ts";
import { type FileHistory, openFileHistory, planRewind, rewindFiles } from "../../src/session/file-history.ts";
import { makeWorld, sha256, type World } from "../world.ts";

type Line = { type: string } & Record<string, unknown>;

let world: World;
let dir: string;
let lines: Line[];
let history: FileHistory;

const at = (name: string) => path.join(world.project, name);
const open = (from: readonly Line[] = []) =>
  openFileHistory(
    { dir, cwd: world.project, note: (line) => lines.push(JSON.parse(JSON.stringify(line))) },
    { now: () => world.now, log: (text) => world.logged.push(text) },
    from,
  );
const put = (name: string, content: string | Uint8Array) => {
  history.before(at(name));
  fs.mkdirSync(path.dirname(at(name)), { recursive: true });
  fs.writeFileSync(at(name), content);
  history.after(at(name));
};
const text = (name: string) => fs.readFileSync(at(name), "utf8");
const copies = () => (fs.existsSync(dir) ? fs.readdirSync(dir).sort() : []);
const failure = (work: () => void): MemdirError => {
  try {
    work();
  } catch (error) {
    if (error instanceof MemdirError) return error;
  }
  throw new Error("no MemdirError was thrown");
};

beforeEach(() => {
  world = makeWorld();
  dir = path.join(world.home, ".claude", "file-history", "s1");
  lines = [];
  history = open();
  fs.writeFileSync(at("a.ts"), "one\n", { mode: 0o755 });
});

describe("file history", () => {
  it("B10.4, B11.12 keeps a copy and a line before the first change, in Claude Code's shape", () => {
    history.checkpoint("m1", "first");
    put("a.ts", "two\n");
    put("a.ts", "three\n");
    put("sub/new.ts", "new\n");
    const name = `${createHash("sha256").update(at("a.ts")).digest("hex").slice(0, 16)}@v1`;
    expect(copies()).toEqual([name]);
    expect(fs.readFileSync(path.join(dir, name), "utf8")).toBe("one\n");
    if (process.platform !== "win32") {
      expect(fs.statSync(dir).mode & 0o777).toBe(0o700);
      expect(fs.statSync(path.join(dir, name)).mode & 0o777).toBe(0o700);
    }
    const time = world.now.toISOString();
    expect(lines[0]).toEqual({
      type: "file-history-snapshot",
      messageId: "m1",
      snapshot: { messageId: "m1", trackedFileBackups: {}, timestamp: time },
      isSnapshotUpdate: false,
      kind: "prompt",
      label: "first",
    });
    expect(lines.at(-1)).toMatchObject({
      isSnapshotUpdate: true,
      snapshot: {
        messageId: "m1",
        timestamp: time,
        trackedFileBackups: {
          [path.join("sub", "new.ts")]: { backupFileName: null, version: 1, backupTime: time, missingFolders: 1 },
        },
      },
    });
    const files = lines.map(({ snapshot }) => (snapshot as { trackedFileBackups: object }).trackedFileBackups);
    expect(files.findLast((each) => "a.ts" in each)).toMatchObject({
      "a.ts": { backupFileName: name, version: 1, hash: sha256("one\n"), written: sha256("three\n") },
    });
    // Only what is new: a line with every file for every file would grow with their square.
    expect(files.slice(1).every((each) => Object.keys(each).length === 1)).toBe(true);
    expect(lines.every(({ type }) => type === "file-history-snapshot")).toBe(true);
  });

  it("B10.4 keeps a changed file again at the next prompt, whoever changed it, and an unchanged one not", () => {
    history.checkpoint("m1", "");
    fs.writeFileSync(at("b.ts"), "b\n");
    put("a.ts", "two\n");
    put("b.ts", "b\n");
    history.checkpoint("m2", "");
    expect(copies()).toHaveLength(3);
    fs.writeFileSync(at("a.ts"), "theirs\n");
    history.checkpoint("m3", "");
    history.checkpoint("m4", "");
    expect(copies().map((name) => name.replace(/.*@/, ""))).toEqual(expect.arrayContaining(["v1", "v2", "v3"]));
    expect(copies()).toHaveLength(4);
    expect(history.checkpoints().map(({ id, files }) => [id, files])).toEqual([
      ["m1", 1],
      ["m2", 1],
      ["m3", 0],
      ["m4", 0],
    ]);
  });

  it("B10.4 makes a copy again whose file is gone from the folder", () => {
    history.checkpoint("m1", "");
    put("a.ts", "two\n");
    history.checkpoint("m2", "");
    fs.rmSync(dir, { recursive: true });
    history.checkpoint("m3", "");
    put("a.ts", "three\n");
    rewindFiles(history, "m3");
    expect(text("a.ts")).toBe("two\n");
  });

  it("B10.4 passes over copies that a killed process left, and never writes into one", () => {
    history.checkpoint("m1", "");
    put("a.ts", "two\n");
    const [left] = copies() as [string];
    history = open([]);
    history.checkpoint("m1", "");
    put("a.ts", "three\n");
    expect(copies()).toEqual([left, left.replace("@v1", "@v2")]);
    expect(fs.readFileSync(path.join(dir, left), "utf8")).toBe("one\n");
    rewindFiles(history, "m1");
    expect(text("a.ts")).toBe("two\n");
  });

  it("B10.4 throws when nothing can be kept, so that the change is not made", () => {
    history.checkpoint("m1", "");
    fs.mkdirSync(at("dir"));
    expect(failure(() => history.before(at("dir")))).toMatchObject({
      code: "disk",
      message: /dir.* not changed.*directory/,
    });
    fs.symlinkSync(at("loop"), at("loop"));
    expect(failure(() => history.before(at("loop"))).code).toBe("disk");
    fs.writeFileSync(path.dirname(dir), "a file where the folder should be");
    expect(failure(() => history.before(at("a.ts")))).toMatchObject({
      code: "disk",
      message: /nothing is changed.*a\.ts/,
    });
    expect(lines).toHaveLength(1);
  });

  it("B11.12 keeps nothing that the transcript does not hold", () => {
    let isFull = false;
    const note = (line: Line) => {
      if (isFull) throw Object.assign(new Error("full"), { code: "ENOSPC" });
      lines.push(line);
    };
    history = openFileHistory(
      { dir, cwd: world.project, note },
      { now: () => world.now, log: (message) => world.logged.push(message) },
    );
    history.checkpoint("m1", "");
    isFull = true;
    expect(failure(() => history.before(at("a.ts")))).toMatchObject({ code: "disk", message: /disk is full/ });
    expect(copies()).toEqual([]);
    isFull = false;
    history.before(at("a.ts"));
    fs.writeFileSync(at("a.ts"), "two\n");
    isFull = true;
    history.after(at("a.ts"));
    expect(world.logged.join()).toMatch(/disk is full/);
    expect(failure(() => history.checkpoint("m2", "")).code).toBe("disk");
    expect(history.checkpoints().map(({ id }) => id)).toEqual(["m1"]);
    expect(copies()).toHaveLength(1);
  });

  it("B10.4 tracks what a link leads to", () => {
    fs.symlinkSync(at("a.ts"), at("link"));
    history.checkpoint("m1", "");
    put("link", "two\n");
    rewindFiles(history, "m1");
    expect(text("a.ts")).toBe("one\n");
    expect(fs.lstatSync(at("link")).isSymbolicLink()).toBe(true);
  });

  it("B10.4 takes a change before any prompt for one after the start", () => {
    put("a.ts", "two\n");
    expect(history.checkpoints()).toMatchObject([{ id: "start", files: 1 }]);
  });

  it("B10.4 keeps the newest 100 checkpoints and only the copies that they need", () => {
    fs.writeFileSync(at("still.ts"), "never changes\n");
    for (let prompt = 1; prompt <= 130; prompt++) {
      history.checkpoint(`m${prompt}`, "");
      put("a.ts", `version ${prompt}\n`);
      put("still.ts", "never changes\n");
    }
    const ids = history.checkpoints().map(({ id }) => id);
    expect(ids).toHaveLength(100);
    expect([ids[0], ids.at(-1)]).toEqual(["m31", "m130"]);
    expect(copies()).toHaveLength(101);
    history = open(lines);
    expect(history.checkpoints().map(({ id }) => id)).toEqual(ids);
    // The oldest one is not dropped for the sake of the one that a rewind makes.
    expect(rewindFiles(history, "m31").steps.filter(({ action }) => action === "refused")).toEqual([]);
    expect(text("a.ts")).toBe("version 30\n");
    expect(history.checkpoints()).toHaveLength(100);
    expect(failure(() => planRewind(history, "m31"))).toMatchObject({ code: "not-found", message: /m31/ });
  });

  it("B11.12 survives resume", () => {
    history.checkpoint("m1", "first");
    put("a.ts", "two\n");
    put("__proto__", "x");
    put(path.join("..", "outside.ts"), "out\n");
    history.checkpoint("m2", "second");
    put("a.ts", "three\n");
    const resumed = open(lines);
    expect(resumed.checkpoints()).toEqual(history.checkpoints());
    expect(planRewind(resumed, "m1")).toEqual(planRewind(history, "m1"));
    expect(planRewind(resumed, "m1").map(({ action, outside }) => [action, outside])).toEqual([
      ["remove", false],
      ["remove", false],
      ["restore", false],
    ]);
  });

  it("B11.12 skips lines and entries that make no sense", () => {
    history.checkpoint("m1", "");
    put("a.ts", "two\n");
    const good = lines.at(-1) as Line;
    const entry = { backupFileName: "0123456789abcdef@v1", version: 1, backupTime: "" };
    const withEntries = (entries: unknown): Line => ({
      type: "file-history-snapshot",
      messageId: "bad",
      snapshot: { messageId: "bad", trackedFileBackups: entries, timestamp: 5 },
      isSnapshotUpdate: "yes",
      unkept: [1],
    });
    const bad = [
      null,
      [],
      { type: "user" },
      { type: "file-history-snapshot" },
      { ...good, snapshot: null },
      { ...good, messageId: 7 },
      withEntries([]),
      withEntries({
        "": entry,
        "nul\0": entry,
        up: { ...entry, backupFileName: "../../../.ssh/id" },
        odd: { ...entry, backupFileName: 5 },
        version: { ...entry, version: -1 },
        hash: { ...entry, hash: "x", mode: 1, size: 1 },
        none: null,
      }),
    ] as unknown as Line[];
    const resumed = open([...bad, good, ...bad]);
    expect(resumed.checkpoints()).toMatchObject([
      { id: "m1", files: 1 },
      { id: "bad", files: 0 },
    ]);
    expect(planRewind(resumed, "m1").map((step) => step.path)).toEqual([at("a.ts")]);
  });

  it("B11.12 reads lines of Claude Code, which hold no hashes", () => {
    fs.mkdirSync(dir, { recursive: true });
    fs.writeFileSync(path.join(dir, "0123456789abcdef@v1"), "old\n");
    const entry = (backupFileName: string | null) => ({
      backupFileName,
      version: 1,
      backupTime: "2026-03-01T00:00:00Z",
    });
    fs.writeFileSync(at("b.ts"), "b");
    fs.writeFileSync(at("c.ts"), "c");
    const trackedFileBackups = {
      "a.ts": entry("0123456789abcdef@v1"),
      "b.ts": entry(null),
      "c.ts": entry("00000000000000ff@v1"),
    };
    history = open([
      {
        type: "file-history-snapshot",
        messageId: "m1",
        snapshot: { messageId: "m1", trackedFileBackups, timestamp: "2026-03-01T00:00:00Z" },
        isSnapshotUpdate: false,
      },
    ]);
    expect(rewindFiles(history, "m1").steps.map(({ action }) => action)).toEqual(["restore", "remove", "refused"]);
    expect(text("a.ts")).toBe("old\n");
    expect(fs.existsSync(at("b.ts"))).toBe(false);
  });

  it("keeps labels short and well-formed, and ids once", () => {
    history.checkpoint("m1", `${"x".repeat(199)}😀`);
    history.checkpoint("m1", "again");
    const [only, ...others] = history.checkpoints();
    expect(others).toEqual([]);
    expect(only?.label).toBe(`${"x".repeat(199)}\uFFFD`);
  });
});
