import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import type { Remote } from "../../src/team/remote.ts";
import { makeTemporary } from "../temporary.ts";
import { openDiskRemote } from "./disk-remote.ts";
import { describeRemote, memory } from "./remote-contract.ts";

const now = () => new Date("2026-03-10T12:00:00.000Z");

describeRemote("disk", async () => {
  const folder = path.join(makeTemporary("disk-store", "memory"), "shared");
  return {
    open: (who) => openDiskRemote({ folder, who, now }),
    cleanup: () => fs.rmSync(folder, { recursive: true, force: true }),
  };
});

describe("a shared folder", () => {
  function make(): { folder: string; remote: Remote } {
    const folder = path.join(makeTemporary("disk-store", "memory"), "shared");
    return { folder, remote: openDiskRemote({ folder, who: "ann", now }) };
  }
  const live = async (remote: Remote) => {
    const { entries } = await remote.list();
    return remote.fetch(entries);
  };

  it("holds the memories as files, and takes in what others write with their own programs", async () => {
    const { folder, remote } = make();
    await remote.apply([{ kind: "put", path: "sub/a.md", text: memory("a"), expected: null }]);
    expect(fs.readFileSync(path.join(folder, "sub/a.md"), "utf8")).toBe(memory("a"));
    fs.writeFileSync(path.join(folder, "sub/a.md"), memory("by hand"));
    fs.writeFileSync(path.join(folder, "b.md"), memory("new"));
    expect(await live(remote)).toEqual(
      new Map([
        ["sub/a.md", memory("by hand")],
        ["b.md", memory("new")],
      ]),
    );
    expect((await remote.versions("sub/a.md")).map(({ text, author }) => [text, author])).toEqual([
      [memory("a"), "ann"],
      [memory("by hand"), ""],
    ]);
    const before = fs.readFileSync(path.join(folder, ".memdir-store/book.json"), "utf8");
    await remote.list();
    expect(fs.readFileSync(path.join(folder, ".memdir-store/book.json"), "utf8")).toBe(before);
  });

  it("puts back files that vanished without a tombstone", async () => {
    const { folder, remote } = make();
    await remote.apply([{ kind: "put", path: "a.md", text: memory("a"), expected: null }]);
    fs.rmSync(path.join(folder, "a.md"));
    expect(await live(remote)).toEqual(new Map([["a.md", memory("a")]]));
    expect(fs.readFileSync(path.join(folder, "a.md"), "utf8")).toBe(memory("a"));
  });

  it("finishes what a killed writer had acknowledged, and forgets what it had not", async () => {
    const { folder, remote } = make();
    await remote.apply([
      { kind: "put", path: "a.md", text: memory("1"), expected: null },
      { kind: "put", path: "b.md", text: memory("b"), expected: null },
    ]);
    const book = path.join(folder, ".memdir-store/book.json");
    const old = fs.readFileSync(book, "utf8");
    const oldFile = fs.readFileSync(path.join(folder, "a.md"));
    await remote.apply([{ kind: "put", path: "a.md", text: memory("2"), expected: "1" }]);
    // The book was written, the file not.
    const page = JSON.parse(fs.readFileSync(book, "utf8"));
    for (const line of page.lines) if (line.path === "a.md") line.stamp = null;
    fs.writeFileSync(book, JSON.stringify(page));
    fs.writeFileSync(path.join(folder, "a.md"), oldFile);
    expect((await live(remote)).get("a.md")).toBe(memory("2"));
    expect(fs.readFileSync(path.join(folder, "a.md"), "utf8")).toBe(memory("2"));
    // The version was written, the book not.
    fs.writeFileSync(book, old);
    fs.writeFileSync(path.join(folder, "a.md"), oldFile);
    expect((await remote.versions("a.md")).map(({ text }) => text)).toEqual([memory("1")]);
  });

  it("reads and writes through no link, and leaves alone what is no text", async () => {
    const { folder, remote } = make();
    await remote.list();
    const outside = makeTemporary("disk-store-outside", "memory");
    fs.writeFileSync(path.join(outside, "x.md"), "secret");
    fs.symlinkSync(path.join(outside, "x.md"), path.join(folder, "link.md"));
    fs.symlinkSync(outside, path.join(folder, "sub"));
    fs.mkdirSync(path.join(folder, "dir.md"));
    fs.writeFileSync(path.join(folder, "binary.md"), Buffer.from([0xff, 0xfe, 0]));
    fs.writeFileSync(path.join(folder, "huge.md"), Buffer.alloc(300_000, 97));
    expect((await remote.list()).entries).toEqual([]);
    const outcomes = await remote.apply(
      ["link.md", "sub/y.md", "dir.md"].map(
        (file) => ({ kind: "put", path: file, text: memory("x"), expected: null }) as const,
      ),
    );
    expect(outcomes.map(({ kind }) => kind)).toEqual(["refused", "refused", "refused"]);
    expect(fs.readdirSync(outside)).toEqual(["x.md"]);
    expect(fs.readFileSync(path.join(outside, "x.md"), "utf8")).toBe("secret");
  });

  it("is a network that is down when the drive is not there", async () => {
    const folder = path.join(makeTemporary("disk-store", "memory"), "not", "mounted");
    const remote = openDiskRemote({ folder, who: "ann", now });
    await expect(remote.list()).rejects.toMatchObject({ code: "network" });
    expect(fs.existsSync(path.dirname(folder))).toBe(false);
  });

  it("takes over from a dead writer of this machine", async () => {
    const { folder, remote } = make();
    await remote.list();
    fs.writeFileSync(path.join(folder, ".memdir-store/writer"), `${(await import("node:os")).hostname()} 1 dead`);
    await remote.apply([{ kind: "put", path: "a.md", text: memory("a"), expected: null }]);
    expect(fs.existsSync(path.join(folder, ".memdir-store/writer"))).toBe(false);
  });
});
