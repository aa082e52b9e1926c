import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { endEntry, type FileChange } from "../../src/store/journal.ts";
import { mainOf, makeWorld, note, sha256, type World } from "../world.ts";

/** The pid of a process that lived and is gone. */
const DEAD_PID = Number(execFileSync(process.execPath, ["-e", "console.log(process.pid)"], { encoding: "utf8" }));

async function start(names = ["a", "b"]) {
  const world = makeWorld();
  const memdir = await world.open();
  for (const name of names) await memdir.save(note(name));
  return { world, memdir };
}

/** Writes what a writer killed after its intent leaves: images and a journal line without its end. */
function intend(
  world: World,
  action: string,
  changes: Record<string, { before: string | null; after: string | null }>,
  more: object = {},
): void {
  const files: FileChange[] = Object.entries(changes).map(([file, { before, after }]) => {
    if (before !== null) fs.writeFileSync(world.path(".memdir/images", sha256(before)), before);
    return { file, before: before === null ? null : sha256(before), after: after === null ? null : sha256(after) };
  });
  const line = { id: "77", at: world.now.toISOString(), by: "test", action, reason: "", files, ...more };
  fs.appendFileSync(world.path(".memdir/journal.jsonl"), `${JSON.stringify(line)}\n`);
}

function lastLine(world: World): unknown {
  return JSON.parse(world.read(".memdir/journal.jsonl").trim().split("\n").at(-1) ?? "");
}

function text(name: string, description: string): string {
  return `---\nname: ${name}\ndescription: ${description}\ntype: user\n---\n\nBody.\n`;
}

describe("after a writer was killed, opening", () => {
  it("drops a save whose file was not moved yet", async () => {
    const { world } = await start();
    const index = world.index();
    intend(world, "save", { "user_c.md": { before: null, after: text("c", "d") } });
    const memdir = await world.open();
    expect(lastLine(world)).toEqual({ id: "77", end: "dropped" });
    expect(world.index()).toBe(index);
    expect((await memdir.history()).map(({ id }) => id)).toEqual(["1", "2"]);
  });

  it("reads the journal only where it went on since the last change ended", async () => {
    const { world } = await start();
    const recorded = () => JSON.parse(world.read(".memdir/index.base").split("\n", 1)[0] ?? "").journal;
    const size = () => fs.statSync(world.path(".memdir/journal.jsonl")).size;
    expect(recorded()).toBe(size());
    intend(world, "save", { "user_c.md": { before: null, after: text("c", "d") } });
    expect(recorded()).toBeLessThan(size());
    await world.open();
    expect(recorded()).toBe(size());
  });

  it("finishes a save whose file was moved: the line follows", async () => {
    const { world } = await start();
    world.write("user_c.md", text("c", "d"));
    intend(world, "save", { "user_c.md": { before: null, after: text("c", "d") } });
    const memdir = await world.open();
    expect(lastLine(world)).toEqual({ id: "77", end: "done" });
    expect(world.index()).toContain("- [c](user_c.md) — d\n");
    await memdir.undo("77");
    expect(world.exists("user_c.md")).toBe(false);
  });

  it("finishes an update: the line gets the new words", async () => {
    const { world } = await start();
    const before = world.read("user_a.md");
    const after = before.replace("about a", "new words");
    world.write("user_a.md", after);
    intend(world, "save", { "user_a.md": { before, after } });
    const memdir = await world.open();
    expect(world.index()).toBe("- [a](user_a.md) — new words\n- [b](user_b.md) — about b\n");
    await memdir.undo("77");
    expect(world.read("user_a.md")).toBe(before);
    expect(world.index()).toBe("- [a](user_a.md) — about a\n- [b](user_b.md) — about b\n");
  });

  it("finishes a forget whose file was removed, drops one whose file was not", async () => {
    const { world } = await start();
    const [a, b] = [world.read("user_a.md"), world.read("user_b.md")];
    fs.rmSync(world.path("user_a.md"));
    intend(world, "forget", { "user_a.md": { before: a, after: null } });
    const memdir = await world.open();
    expect(world.index()).toBe("- [b](user_b.md) — about b\n");
    await memdir.undo("77");
    expect(world.read("user_a.md")).toBe(a);
    intend(world, "forget", { "user_b.md": { before: b, after: null } });
    await world.open();
    expect(lastLine(world)).toEqual({ id: "77", end: "dropped" });
    expect(world.index()).toContain("user_b.md");
  });

  it("a rename that had moved half is whole again: one file, one line", async () => {
    const { world } = await start();
    const before = world.read("user_a.md");
    const after = before.replace("name: a", "name: z");
    world.write("user_z.md", after);
    intend(world, "rename", { "user_z.md": { before: null, after }, "user_a.md": { before, after: null } });
    const memdir = await world.open();
    expect(await memdir.list()).toHaveLength(2);
    expect(world.index().trim().split("\n")).toHaveLength(2);
    for (const { file } of await memdir.list()) expect(world.index()).toContain(`(${file})`);
  });

  it("the undo of a rename that had removed one and not yet written the other loses nothing", async () => {
    const { world } = await start();
    const before = world.read("user_a.md");
    const after = before.replace("name: a", "name: z");
    fs.rmSync(world.path("user_a.md"));
    intend(world, "undo", { "user_a.md": { before, after: null }, "user_z.md": { before: null, after } });
    const memdir = await world.open();
    expect(await memdir.list()).toHaveLength(2);
    expect(world.index().trim().split("\n")).toHaveLength(2);
  });

  it("a prune that had removed half is taken back or finished, not left", async () => {
    const { world } = await start(["a", "b", "c"]);
    const changes = Object.fromEntries(
      ["user_a.md", "user_b.md", "user_c.md"].map((file) => [file, { before: world.read(file), after: null }]),
    );
    fs.rmSync(world.path("user_a.md"));
    intend(world, "prune", changes);
    const memdir = await world.open();
    const left = (await memdir.list()).length;
    expect([0, 3]).toContain(left);
    expect(world.index().trim().split("\n").filter(Boolean)).toHaveLength(left);
  });

  it("another program's later edit stays", async () => {
    const { world } = await start();
    world.write("user_c.md", "edited by hand since");
    intend(world, "save", { "user_c.md": { before: null, after: text("c", "d") } });
    await world.open();
    expect(world.read("user_c.md")).toBe("edited by hand since");
    expect(world.index()).toContain("(user_c.md)");
  });

  it("an entry with its end is left alone, and so is a torn one", async () => {
    const { world, memdir } = await start();
    intend(world, "save", { "user_c.md": { before: null, after: "x" } });
    endEntry(mainOf(memdir), "77", "done");
    fs.appendFileSync(world.path(".memdir/journal.jsonl"), '{"id":"78","at":"');
    const before = world.read(".memdir/journal.jsonl");
    await world.open();
    expect(world.read(".memdir/journal.jsonl")).toBe(before);
  });

  it("a read-only directory of files is listed all the same", async () => {
    const { world } = await start();
    intend(world, "save", { "user_c.md": { before: null, after: "x" } });
    fs.mkdirSync(world.path("user_c.md"));
    const memdir = await world.open();
    expect(await memdir.list()).toHaveLength(2);
  });
});

describe("temporary files", () => {
  const MINUTE = 60_000;

  it("of a dead writer go at once, of a living one when they are over a minute old", async () => {
    const { world } = await start();
    const files = {
      [`file-${DEAD_PID}-x-0`]: 0,
      [`cache-${DEAD_PID}-x-1`]: 0,
      [`file-${process.ppid}-young-0`]: MINUTE / 2,
      [`file-${process.ppid}-old-0`]: 2 * MINUTE,
      "no-name-of-ours": 2 * MINUTE,
    };
    for (const [name, ageMs] of Object.entries(files)) world.write(`.memdir/tmp/${name}`, "half a fi", { ageMs });
    await world.open();
    expect(fs.readdirSync(world.path(".memdir/tmp"))).toEqual([`file-${process.ppid}-young-0`]);
  });

  it("with our own pid, of a process that had it before, go when they are over a minute old", async () => {
    const { world } = await start();
    world.write(`.memdir/tmp/file-${process.pid}-old-0`, "half", { ageMs: 2 * MINUTE });
    await world.open();
    expect(fs.readdirSync(world.path(".memdir/tmp"))).toEqual([]);
  });

  it("that hold another program's index: its hand-written lines go back", async () => {
    const { world } = await start();
    world.write(`.memdir/tmp/index-${DEAD_PID}-x-0`, `# Their heading\n${world.index()}Their line.\n`);
    await world.open();
    expect(world.index()).toContain("# Their heading\n");
    expect(world.index()).toContain("Their line.\n");
    expect(world.index().match(/user_a\.md/g)).toHaveLength(1);
    expect(fs.readdirSync(world.path(".memdir/tmp"))).toEqual([]);
  });

  it("a link in their place is removed, and what it leads to is not read", async () => {
    const { world } = await start();
    const before = world.index();
    const outside = path.join(world.top, "outside");
    fs.writeFileSync(outside, "private words\n");
    fs.symlinkSync(outside, world.path(".memdir", "tmp", `index-${DEAD_PID}-x-0`));
    await world.open();
    expect(world.index()).toBe(before);
    expect(world.grep("private words")).toEqual(["outside"]);
    expect(fs.readdirSync(world.path(".memdir/tmp"))).toEqual([]);
  });

  it("a pointer that another program had added to the swapped-out index goes back, too", async () => {
    const { world } = await start();
    world.write("theirs.md", text("Theirs", "d"));
    world.write(`.memdir/tmp/index-${DEAD_PID}-x-0`, `${world.index()}- [In their words](theirs.md)\n`);
    const memdir = await world.open();
    await memdir.save(note("c"));
    await memdir.rebuildIndex();
    expect(world.index()).toContain("- [In their words](theirs.md)\n");
  });
});
