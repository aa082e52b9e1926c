import fs from "node:fs";
import { describe, expect, it } from "vitest";
import type { Memdir } from "../../src/memdir.ts";
import { type Entry, thinImages } from "../../src/store/journal.ts";
import { DAY, errorOf, HOUR, mainOf, makeWorld, note, sha256, type World } from "../world.ts";

const HAND = "# Memory Index\n\nProse.\n\n- [first](first.md) — by hand\n\n## User\n\n";

/** All that a person sees: memories, index and overflow page. */
function state(world: World): Record<string, string> {
  return Object.fromEntries(world.files().map((file) => [file, world.read(file)]));
}

async function start() {
  const world = makeWorld();
  world.write("first.md", "---\nname: first\ndescription: d\ntype: user\n---\n");
  world.write("MEMORY.md", HAND);
  const memdir = await world.open();
  for (const name of ["a", "b", "c"]) await memdir.save(note(name));
  world.now = new Date(world.now.getTime() + HOUR);
  return { world, memdir };
}

describe("the journal", () => {
  it("every change is in it with who, when, why and the hashes; the before-image lies beside it", async () => {
    const { world, memdir } = await start();
    const before = world.read("user_a.md");
    const { mtimeMs } = fs.statSync(world.path("user_a.md"));
    const index = world.index();
    await memdir.save(note("a", { description: "new", reason: "asked to" }));
    const entry = (await memdir.history()).at(-1);
    expect(entry).toEqual({
      id: "4",
      at: world.now.toISOString(),
      by: "test",
      action: "save",
      reason: "asked to",
      files: [{ file: "user_a.md", before: sha256(before), after: sha256(world.read("user_a.md")), mtimeMs }],
      pages: {
        before: { index: sha256(index), more: sha256("") },
        after: { index: sha256(world.index()), more: sha256("") },
      },
    });
    expect(world.read(`.memdir/images/${sha256(before)}`)).toBe(before);
  });

  it("names every verb, and history of one file only its own", async () => {
    const { world, memdir } = await start();
    await memdir.rename("b", "bee");
    const { text } = await memdir.text("a");
    await memdir.edit("a", text, `${text}More.\n`);
    await memdir.forget("c", { reason: "old" });
    await memdir.undo();
    world.now = new Date(world.now.getTime() + 400 * DAY);
    await memdir.prune({ type: "user", olderThanDays: 30, dryRun: false });
    const actions = (entries: { action: string }[]) => entries.map(({ action }) => action);
    expect(actions(await memdir.history())).toEqual([
      "save",
      "save",
      "save",
      "rename",
      "edit",
      "forget",
      "undo",
      "prune",
    ]);
    expect(actions(await memdir.history("user_bee.md"))).toEqual(["rename", "prune"]);
    expect(actions(await memdir.history("user_c"))).toEqual(["save", "forget", "undo", "prune"]);
  });

  it("is found by the memory's name, too", async () => {
    const { memdir } = await start();
    await memdir.save(note("Long name"));
    expect(await memdir.history("Long name")).toHaveLength(1);
  });

  it("a torn last line is passed over and does not swallow the next", async () => {
    const { world, memdir } = await start();
    fs.appendFileSync(world.path(".memdir/journal.jsonl"), '{"id":"4","at":"2026-');
    const again = await world.open();
    expect(await again.history()).toHaveLength(3);
    const { undo } = await again.save(note("d"));
    expect((await memdir.history()).map(({ id }) => id)).toEqual(["1", "2", "3", undo]);
    await memdir.undo(undo ?? "");
    expect(world.exists("user_d.md")).toBe(false);
  });

  it("a refused change leaves no entry", async () => {
    const { memdir, world } = await start();
    await errorOf(memdir.rename("a", "b"));
    await errorOf(memdir.forget("nothing"));
    expect(await memdir.history()).toHaveLength(3);
    expect(world.files()).toHaveLength(5);
  });

  it("a journal with a line longer than the tail that is read still counts on", async () => {
    const world = makeWorld();
    for (let i = 0; i < 600; i++)
      world.write(`user_m${i}.md`, `---\nname: m${i}\ntype: user\n---\n`, { ageMs: 99 * DAY });
    const memdir = await world.open();
    const pruned = await memdir.prune({ type: "user", olderThanDays: 9, dryRun: false });
    expect(pruned.memories).toHaveLength(600);
    expect(fs.statSync(world.path(".memdir/journal.jsonl")).size).toBeGreaterThan(64 * 1024);
    expect((await memdir.save(note("next"))).undo).toBe("2");
    await memdir.undo(pruned.undo ?? "");
    expect(await memdir.list()).toHaveLength(601);
    expect((await memdir.index()).truncated).toBe(false);
  });
});

describe("undo brings everything back byte for byte", () => {
  it("of a created memory", async () => {
    const { world, memdir } = await start();
    const before = state(world);
    const { undo } = await memdir.save(note("d"));
    expect(await memdir.undo(undo ?? "")).toMatchObject({ undone: undo, action: "save", files: ["user_d.md"] });
    expect(state(world)).toEqual(before);
  });

  it("of an updated memory", async () => {
    const { world, memdir } = await start();
    const before = state(world);
    const { undo } = await memdir.save(note("b", { description: "new words", body: "New." }));
    await memdir.undo(undo ?? "");
    expect(state(world)).toEqual(before);
  });

  it.each(["first", "a", "b", "c"])("of the forgotten memory %s: its line is back in its exact place", async (name) => {
    const { world, memdir } = await start();
    const before = state(world);
    const { undo } = await memdir.forget(name);
    expect(Object.keys(state(world))).toHaveLength(4);
    await memdir.undo(undo ?? "");
    expect(state(world)).toEqual(before);
  });

  const places = {
    first: "- [a.md](a.md) — d\n# T\n",
    middle: "# T\n- [b](b.md)\n- [a.md](a.md) — d\n- [c](c.md)\n",
    last: "# T\n\n- [a.md](a.md) — d\n",
    alone: "- [a.md](a.md) — d\n",
    "behind the second blank line": "# T\n\n- [b](b.md)\n\n- [a.md](a.md) — d\n- [c](c.md)\n",
    "behind a line that stands twice": "- x\n- y\n- x\n- [a.md](a.md) — d\n- z\n",
    "hand-worded": "# T\n- [My words](a.md) — mine\n- z\n",
    "with trailing blanks": "# T\n- [a.md](a.md) — d  \n- z\n",
    "without a break at the end": "# T\n- [a.md](a.md) — d",
    "behind a frontmatter": "---\nx: y\n---\n- [a.md](a.md) — d\n",
    CRLF: "# T\r\n\r\n- [a.md](a.md) — d\r\n- z\r\n",
    "two lines, apart": "## User\n- One thing [a.md]\n- z\n\n- Another thing [a.md]\n- z\n",
  };
  it.each(Object.entries(places))("of a forgotten memory, its line back in its exact place: %s", async (_, index) => {
    const world = makeWorld();
    for (const name of ["a", "b", "c"])
      world.write(`${name}.md`, `---\nname: ${name}.md\ndescription: d\ntype: user\n---\n`);
    world.write("MEMORY.md", index);
    // Taken in by an earlier change, so that the lines of the other files are not what changes here.
    const memdir = await world.open();
    await memdir.save(note("other"));
    await memdir.undo();
    const before = state(world);
    const { undo } = await memdir.forget("a.md");
    expect(world.index()).not.toContain("a.md");
    await memdir.undo(undo ?? "");
    expect(state(world)).toEqual(before);
  });

  it("of a forgotten memory with two lines", async () => {
    const { world, memdir } = await start();
    fs.appendFileSync(world.path("MEMORY.md"), "- Another thing about a [user_a.md]\n");
    const before = state(world);
    const { undo } = await memdir.forget("a");
    expect(world.index()).not.toContain("user_a.md");
    await memdir.undo(undo ?? "");
    expect(state(world)).toEqual(before);
  });

  it("of a renamed memory, in its own words and in others'", async () => {
    for (const name of ["a", "first"]) {
      const { world, memdir } = await start();
      const before = state(world);
      const { undo } = await memdir.rename(name, "another name");
      await memdir.undo(undo ?? "");
      expect(state(world)).toEqual(before);
    }
  });

  it("of an edited memory", async () => {
    const { world, memdir } = await start();
    const before = state(world);
    const { text } = await memdir.text("b");
    const { undo } = await memdir.edit("b", text, text.replace("name: b", "name: bee"));
    expect(world.index()).toContain("[bee](user_b.md)");
    await memdir.undo(undo ?? "");
    expect(state(world)).toEqual(before);
  });

  it("of many pruned memories at once, hand-worded lines and places included", async () => {
    const { world, memdir } = await start();
    const before = state(world);
    world.now = new Date(world.now.getTime() + 400 * DAY);
    const { undo, memories } = await memdir.prune({ type: "user", olderThanDays: 30, dryRun: false });
    expect(memories).toHaveLength(4);
    expect(world.files()).toEqual(["MEMORY.md"]);
    await memdir.undo(undo ?? "");
    expect(state(world)).toEqual(before);
  });

  it("of an undo, back and forth", async () => {
    const { world, memdir } = await start();
    const before = state(world);
    const { undo } = await memdir.forget("first");
    const forgotten = state(world);
    const once = await memdir.undo(undo ?? "");
    expect(state(world)).toEqual(before);
    const twice = await memdir.undo(once.undo);
    expect(state(world)).toEqual(forgotten);
    await memdir.undo(twice.undo);
    expect(state(world)).toEqual(before);
  });
});

describe("what is kept for undo", () => {
  it("is thinned by the writer: old contents go, the last ones stay, and undo says since when", async () => {
    const { world, memdir } = await start();
    const { undo: first } = await memdir.save(note("a", { description: "second" }));
    world.now = new Date(world.now.getTime() + 100 * DAY);
    const { undo: second } = await memdir.save(note("b", { description: "second" }));
    const directory = mainOf(memdir);
    const entry = (await memdir.history()).at(-1);
    thinImages(directory, entry as Entry, { entries: 1, days: 90, bytes: 1e6 });
    expect(await memdir.history()).toHaveLength(5);
    expect(fs.readdirSync(world.path(".memdir/images")).length).toBeGreaterThan(3);
    thinImages(directory, entry as Entry, { entries: 1, days: 90, bytes: 1e6 }, 1);
    expect(fs.readdirSync(world.path(".memdir/images"))).toHaveLength(4);
    const error = await errorOf(memdir.undo(first ?? ""));
    expect(error.message).toMatch(
      /entry 4 cannot be undone: the earlier content of user_a\.md is no longer in the journal; contents are kept for the last 500 changes and 90 days, at most 64 MB, here since 2026-06-18 \(entry 5\)/,
    );
    const before = world.index();
    await memdir.undo(second ?? "");
    expect(world.index()).toBe(before.replace("second\n- [c]", "about b\n- [c]"));
  });

  it("at most so many bytes, the newest first; the last change always whole", async () => {
    const { world, memdir } = await start();
    for (let i = 0; i < 5; i++) await memdir.save(note("a", { body: `${i} `.repeat(1000) }));
    const entries = await memdir.history();
    thinImages(mainOf(memdir), entries.at(-1) as Entry, { entries: 500, days: 90, bytes: 5000 }, 1);
    const isKept = ({ files }: Entry) => world.exists(`.memdir/images/${files[0]?.before}`);
    expect(entries.slice(3).map(isKept)).toEqual([false, false, false, true, true]);
    thinImages(mainOf(memdir), entries.at(-1) as Entry, { entries: 500, days: 90, bytes: 1 }, 1);
    expect(entries.slice(3).map(isKept)).toEqual([false, false, false, false, true]);
  });
});

describe("undo", () => {
  it("of what is undone already says so, and by which entry; once that is undone it works again", async () => {
    const { world, memdir } = await start();
    const { undo } = await memdir.forget("a");
    const undone = await memdir.undo(undo ?? "");
    const error = await errorOf(memdir.undo(undo ?? ""));
    expect(error).toMatchObject({ code: "conflict" });
    expect(error.message).toMatch(/^4 was already undone by 5; nothing was changed \(`memdir undo 5` brings/);
    await memdir.undo(undone.undo);
    expect(await memdir.undo()).toMatchObject({ undone: "4" });
    expect(world.exists("user_a.md")).toBe(true);
  });

  it("of an entry of an earlier version, with lines in place of pages, lists the memory again", async () => {
    const { world, memdir } = await start();
    const { undo } = await memdir.forget("a");
    const journal = world.read(".memdir/journal.jsonl").trim().split("\n");
    const intent = JSON.parse(journal.at(-2) ?? "");
    const lines = { "user_a.md": [{ text: "- [a](user_a.md) — about a\n", at: 6, after: "" }] };
    const old = [
      ...journal.slice(0, -2),
      JSON.stringify({ ...intent, lines }),
      JSON.stringify({ id: intent.id, end: "done" }),
    ];
    world.write(".memdir/journal.jsonl", `${old.join("\n")}\n`);
    await memdir.undo(undo ?? "");
    expect(world.index()).toContain("- [a](user_a.md) — about a\n");
  });

  it("keeps what was written into the index since, and moves no other line", async () => {
    const { world, memdir } = await start();
    const { undo } = await memdir.forget("b");
    const before = world.index();
    world.write("MEMORY.md", before.replace("Prose.", "Prose, and more of it."));
    await memdir.undo(undo ?? "");
    expect(world.index()).toBe(
      `${HAND.replace("Prose.", "Prose, and more of it.").trimEnd()}\n- [a](user_a.md) — about a\n- [b](user_b.md) — about b\n- [c](user_c.md) — about c\n\n`,
    );
  });

  it("without an id takes the last change that is neither an undo nor undone, step by step", async () => {
    const { world, memdir } = await start();
    await memdir.forget("c");
    expect((await memdir.undo()).undone).toBe("4");
    expect((await memdir.undo()).undone).toBe("3");
    expect((await memdir.undo()).undone).toBe("2");
    expect((await memdir.undo()).undone).toBe("1");
    expect(world.files()).toEqual(["MEMORY.md", "first.md"]);
    expect(world.index()).toBe(HAND);
    expect(await errorOf(memdir.undo())).toMatchObject({ code: "not-found", message: "there is nothing to undo" });
  });

  it("refuses when the file changed since, says so and changes nothing", async () => {
    const { world, memdir } = await start();
    const { undo } = await memdir.save(note("a", { description: "new" }));
    fs.appendFileSync(world.path("user_a.md"), "By hand.\n");
    const before = state(world);
    const error = await errorOf(memdir.undo(undo ?? ""));
    expect(error).toMatchObject({ code: "conflict" });
    expect(error.message).toMatch(/entry 4 is not undone: user_a\.md changed since/);
    expect(state(world)).toEqual(before);
    expect(await memdir.history()).toHaveLength(4);
  });

  it("refuses to bring a forgotten memory back over a new one of its file name", async () => {
    const { world, memdir } = await start();
    const { undo } = await memdir.forget("a");
    await memdir.save(note("a", { body: "Anew." }));
    expect(await errorOf(memdir.undo(undo ?? ""))).toMatchObject({ code: "conflict" });
    expect(world.read("user_a.md")).toContain("Anew.");
  });

  it("refuses all when one of many changed", async () => {
    const { world, memdir } = await start();
    world.now = new Date(world.now.getTime() + 400 * DAY);
    const { undo } = await memdir.prune({ type: "user", olderThanDays: 30, dryRun: false });
    world.write("user_b.md", "mine");
    expect(await errorOf(memdir.undo(undo ?? ""))).toMatchObject({ code: "conflict" });
    expect(world.files()).toEqual(["MEMORY.md", "user_b.md"]);
  });

  it.each([
    ["99", "not-found", /there is no change 99/],
    ["team:1", "not-found", /there is no change team:1/],
    ["x", "usage", /"x" is not the number of a change/],
    ["", "usage", /"" is not the number of a change/],
    ["team:", "usage", /"team:" is not the number of a change/],
  ])("the unknown id %j is refused as %s", async (id, code, message) => {
    const { memdir } = await start();
    expect(await errorOf(memdir.undo(id))).toMatchObject({ code, message: expect.stringMatching(message) });
  });

  it("says so when the earlier content is gone", async () => {
    const { world, memdir } = await start();
    const { undo } = await memdir.forget("a");
    fs.rmSync(world.path(".memdir/images"), { recursive: true });
    const error = await errorOf(memdir.undo(undo ?? ""));
    expect(error.message).toMatch(/user_a\.md is no longer in the journal/);
  });

  it("a damaged image is not taken for the content", async () => {
    const { world, memdir } = await start();
    const hash = sha256(world.read("user_a.md"));
    const { undo } = await memdir.forget("a");
    fs.appendFileSync(world.path(".memdir/images", hash), "x");
    expect(await errorOf(memdir.undo(undo ?? ""))).toMatchObject({ code: "conflict" });
  });

  it("of another scope's change undoes that one, not the project's entry of the same number", async () => {
    const world = makeWorld();
    await (await world.open({ scope: "team" })).save(note("shared"));
    const memdir = await world.open();
    await memdir.save(note("private"));
    const { undo } = await memdir.forget("shared");
    await memdir.undo(undo ?? "");
    expect((await memdir.list()).map(({ name }) => name).sort()).toEqual(["private", "shared"]);
    expect(await memdir.history()).toHaveLength(4);
  });
});

describe("the changes of several stores", () => {
  it("are called the same in what is said of them and in what is refused", async () => {
    const { world } = await start();
    await (await world.open({ scope: "user" })).save(note("tea"));
    const memdir = await world.open();
    expect(await memdir.undo("user:1")).toMatchObject({ undone: "user:1", undo: "user:2" });
    const { message } = await errorOf(memdir.undo("user:1"));
    expect(message).toMatch(/^user:1 was already undone by user:2; .*`memdir undo user:2` brings the change back/);
    expect((await errorOf(memdir.undo("user:99"))).message).toMatch(/^there is no change user:99: /);
    expect(await memdir.undo("user:2")).toMatchObject({ undone: "user:2", undo: "user:3" });
    const { reason, undoes } = (await memdir.history()).at(-1) ?? {};
    expect([reason, undoes]).toEqual(["undo of undo 2", "user:2"]);
  });
});

describe("the time of a file", () => {
  /** Saved half a year ago, among others. */
  async function startOld() {
    const world = makeWorld();
    const memdir = await world.open();
    for (const name of ["a", "b"]) await memdir.save(note(name));
    const modified = new Date(world.now.getTime() - 180 * DAY).toISOString();
    for (const file of ["user_a.md", "user_b.md"])
      world.write(file, world.read(file).replace(/modified: .*/, `modified: ${modified}`), { ageMs: 180 * DAY });
    const ages = async () => (await (await world.open()).list()).map(({ ageDays }) => ageDays);
    expect(await ages()).toEqual([180, 180]);
    return { world, memdir, ages };
  }

  it.each<[what: string, change: (memdir: Memdir, world: World) => Promise<unknown>]>([
    ["a forget", (memdir) => memdir.forget("a")],
    ["a rename", (memdir) => memdir.rename("a", "other")],
    [
      "an edit",
      async (memdir, world) => memdir.edit("a", world.read("user_a.md"), `${world.read("user_a.md")}More.\n`),
    ],
    ["a prune", (memdir) => memdir.prune({ type: "user", olderThanDays: 30, dryRun: false })],
  ])("C15 is what it was after %s and its undo", async (_, change) => {
    const { world, memdir, ages } = await startOld();
    await change(memdir, world);
    await memdir.undo();
    expect(await ages()).toEqual([180, 180]);
  });

  it("C15 stays under another name; what an undo took back is as new as it was when that is undone", async () => {
    const { world, memdir, ages } = await startOld();
    await memdir.rename("a", "other");
    expect(await ages()).toEqual([180, 180]);
    await memdir.edit("other", world.read("user_other.md"), `${world.read("user_other.md")}More.\n`);
    const { undo } = await memdir.undo();
    expect(await ages()).toEqual([180, 180]);
    await memdir.undo(undo);
    expect((await ages()).sort()).toEqual([0, 180]);
  });
});

describe("what is not ours to read", () => {
  it("an index in another encoding is refused, and keeps its bytes", async () => {
    const world = makeWorld();
    const memdir = await world.open();
    const { file } = await memdir.save(note("one"));
    const bytes = Buffer.from([0x23, 0x20, 0x43, 0xe9, 0x0a, 0xff, 0xfe, 0x0a]);
    fs.writeFileSync(world.path("MEMORY.md"), bytes);
    expect(await errorOf(memdir.save(note("two")))).toMatchObject({
      code: "broken",
      message: expect.stringContaining("not UTF-8"),
    });
    expect(await errorOf(memdir.forget(file))).toMatchObject({ code: "broken" });
    expect(fs.readFileSync(world.path("MEMORY.md"))).toEqual(bytes);
    expect((await (await world.open()).list()).map((row) => row.file)).toEqual([file]);
  });

  it.each([
    '{"id":"11","at":"2026-11-16T00:00:00Z","action":"save"}',
    '{"id":"11","at":"2026-11-16T00:00:00Z","action":"save","reason":"","files":[{"file":123}]}',
    '{"id":"11","at":"x","action":"save","reason":"","files":[{"file":"../victim.md","before":null,"after":null}]}',
    `{"id":"11","at":"x","action":"save","files":[{"file":"a.md","before":null,"after":null,"mtimeMs":"x"}]}`,
    '{"id":"11"}',
  ])("a line in the journal that memdir did not write is skipped: %s", async (line) => {
    const world = makeWorld();
    const memdir = await world.open();
    await memdir.save(note("one"));
    fs.appendFileSync(world.path(".memdir", "journal.jsonl"), `${line}\n`);
    const { undo } = await (await world.open()).save(note("two"));
    expect((await memdir.history()).map(({ action }) => action)).toEqual(["save", "save"]);
    await memdir.undo(undo ?? "");
    expect(world.index()).not.toContain("two");
  });
});
