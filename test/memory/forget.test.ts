import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { DAY, errorOf, makeWorld, note, sha256 } from "../world.ts";

describe("forget", () => {
  it("removes file and line, and says how to bring it back", async () => {
    const world = makeWorld();
    const memdir = await world.open();
    await memdir.save(note("a"));
    expect(await memdir.forget("a", { reason: "wrong" })).toEqual({
      file: "user_a.md",
      action: "removed",
      undo: "2",
      notices: [],
    });
    expect(world.files()).toEqual(["MEMORY.md"]);
    expect(world.index()).toBe("");
    expect((await memdir.history()).at(-1)?.reason).toBe("wrong");
  });

  it("a secret in the reason is kept nowhere", async () => {
    const world = makeWorld();
    const memdir = await world.open();
    await memdir.save(note("a"));
    const secret = ["ghp", "wWPw5k4aXcaT4fNP0UcnZwJUVFk6LO0pINUx"].join("_");
    await memdir.forget("a", { reason: `it held ${secret}` });
    expect(world.exists("user_a.md")).toBe(false);
    expect(world.grep(secret)).toEqual([]);
  });

  it("a broken file and invalid UTF-8 can be forgotten and brought back byte for byte", async () => {
    const world = makeWorld();
    const bytes = Buffer.concat([Buffer.from("---\nname: x\n\n"), Buffer.from([0xff, 0])]);
    world.write("bad.md", bytes);
    const memdir = await world.open();
    const { undo } = await memdir.forget("bad");
    expect(world.exists("bad.md")).toBe(false);
    await memdir.undo(undo ?? "");
    expect(fs.readFileSync(world.path("bad.md"))).toEqual(bytes);
  });

  it("C-7 of a link only the link goes", async () => {
    const world = makeWorld();
    const target = `${world.top}/target.md`;
    fs.writeFileSync(target, "mine");
    world.write("x", "");
    fs.symlinkSync(target, world.path("link.md"));
    fs.symlinkSync("nowhere", world.path("dangling.md"));
    const memdir = await world.open();
    const notice = `it was a symbolic link to ${target}: only the link is gone, undo cannot restore it`;
    expect(await memdir.forget("link")).toMatchObject({ undo: null, notices: [notice] });
    await memdir.forget("dangling");
    expect(world.exists("link.md") || world.exists("dangling.md")).toBe(false);
    expect(fs.readFileSync(target, "utf8")).toBe("mine");
  });

  it("a removed link is not brought back, and undo says where it led", async () => {
    const world = makeWorld();
    const memdir = await world.open();
    await memdir.save(note("a"));
    fs.symlinkSync("nowhere.md", world.path("link.md"));
    await memdir.forget("link");
    const refusal = {
      code: "conflict",
      message: expect.stringContaining("link.md was a symbolic link to nowhere.md,"),
    };
    for (const id of ["2", undefined]) expect(await errorOf(memdir.undo(id))).toMatchObject(refusal);
    // As earlier versions wrote it.
    const journal = world.path(".memdir/journal.jsonl");
    fs.writeFileSync(journal, fs.readFileSync(journal, "utf8").replace(',"link":"nowhere.md"', ""));
    const message = expect.stringContaining("link.md was a symbolic link, and");
    expect(await errorOf(memdir.undo("2"))).toMatchObject({ code: "conflict", message });
    expect(await memdir.history()).toHaveLength(2);
  });

  it("purge leaves nothing of it: no image, no line, no cache", async () => {
    const world = makeWorld();
    // Far enough ahead for the header cache to trust what it read.
    world.now = new Date(Date.now() + DAY);
    const memdir = await world.open();
    for (let i = 0; i < 30; i++) await memdir.save(note(`other ${i}`));
    await memdir.save(note("secret plan", { body: "marker-body-1", description: "marker-description-1" }));
    await memdir.save(note("secret plan", { body: "marker-body-2", description: "marker-description-2" }));
    await memdir.list();
    const other = await memdir.save(note("other 1", { body: "changed" }));
    const { undo } = await memdir.forget("secret plan", { purge: true });
    expect(undo).toBeNull();
    for (const marker of ["marker-body-1", "marker-body-2", "marker-description-2", "marker-description-1"])
      expect([marker, world.grep(marker)]).toEqual([marker, []]);
    const entry = (await memdir.history()).at(-1);
    const error = await errorOf(memdir.undo(entry?.id));
    expect(error.message).toMatch(/was purged/);
    // What belongs to other memories is still there.
    await memdir.undo(other.undo ?? "");
    expect((await memdir.show("other 1")).body).toBe("Body of other 1.");
  });

  it("purge keeps an image that another memory needs", async () => {
    const world = makeWorld();
    world.write("one.md", "the same");
    world.write("two.md", "the same");
    const memdir = await world.open();
    const { undo } = await memdir.forget("two");
    await memdir.forget("one", { purge: true });
    expect(world.exists(`.memdir/images/${sha256("the same")}`)).toBe(true);
    await memdir.undo(undo ?? "");
    expect(world.read("two.md")).toBe("the same");
  });

  it("undo goes on to what is before a purged memory's entries, and says why one of them cannot be undone", async () => {
    const world = makeWorld();
    const memdir = await world.open();
    await memdir.save(note("a"));
    const { undo: saved } = await memdir.save(note("b"));
    await memdir.forget("b", { purge: true });
    const error = await errorOf(memdir.undo(saved as string));
    expect(error.message).toBe("entry 2 was purged by entry 3 and cannot be undone: its content was removed for good");
    expect(await memdir.undo()).toMatchObject({ undone: "1", files: ["user_a.md"] });
    await memdir.save(note("b"));
    expect(await memdir.undo()).toMatchObject({ undone: "5" });
  });

  it("a purge reaches the versions under an earlier name, and undo passes what rests on them", async () => {
    const world = makeWorld();
    const memdir = await world.open();
    await memdir.save(note("first"));
    await memdir.save(note("old", { body: "The takeover is on Monday." }));
    await memdir.save(note("new", { supersedes: ["old"] }));
    await memdir.rename("old", "older");
    await memdir.forget("older", { purge: true });
    const images = path.join(world.dir, ".memdir", "images");
    const kept = fs.readdirSync(images).map((name) => fs.readFileSync(path.join(images, name), "utf8"));
    expect(kept.filter((text) => text.includes("takeover"))).toEqual([]);
    expect(await memdir.undo()).toMatchObject({ undone: "1" });
  });

  it("a memory that was forgotten can be purged afterwards", async () => {
    const world = makeWorld();
    const memdir = await world.open();
    await memdir.save(note("a"));
    await memdir.save(note("secret plan", { body: "The takeover is on Monday." }));
    const { undo } = await memdir.forget("secret plan");
    expect(await memdir.forget("secret plan", { purge: true })).toMatchObject({
      file: "user_secret_plan.md",
      undo: null,
    });
    const images = path.join(world.dir, ".memdir", "images");
    const kept = fs.readdirSync(images).map((name) => fs.readFileSync(path.join(images, name), "utf8"));
    expect(kept.filter((text) => text.includes("takeover") || text.includes("secret plan"))).toEqual([]);
    expect((await errorOf(memdir.undo(undo as string))).message).toMatch(/was purged by entry 4/);
    expect(await errorOf(memdir.forget("secret plan", { purge: true }))).toMatchObject({ code: "not-found" });
    expect(await errorOf(memdir.forget("never was", { purge: true }))).toMatchObject({ code: "not-found" });
  });

  it("a purged entry is not what undo without an id takes", async () => {
    const world = makeWorld();
    const memdir = await world.open();
    await memdir.save(note("a"));
    await memdir.save(note("b"));
    await memdir.forget("b", { purge: true });
    expect(await memdir.undo("1")).toMatchObject({ files: ["user_a.md"] });
  });
});

describe("prune", () => {
  async function start() {
    const world = makeWorld();
    const memdir = await world.open();
    for (const type of ["user", "feedback", "project", "reference"] as const)
      await memdir.save(note(`old ${type}`, { type }));
    await memdir.save(note("kept", { type: "project", pinned: true }));
    world.write("broken.md", "---\nname: b\ntype: project\n");
    world.now = new Date(world.now.getTime() + 100 * DAY);
    for (const file of world.files()) world.age(file, 100 * DAY);
    await memdir.save(note("new", { type: "project" }));
    return { world, memdir };
  }

  it("B4.16 takes only old memories of the type, never pinned or broken ones", async () => {
    const { world, memdir } = await start();
    const dry = await memdir.prune({ type: "project", olderThanDays: 30, dryRun: true });
    expect(dry).toMatchObject({ undo: null, memories: [{ file: "project_old_project.md" }] });
    expect(world.exists("project_old_project.md")).toBe(true);
    const { undo, memories } = await memdir.prune({ type: "project", olderThanDays: 30, dryRun: false });
    expect(memories.map(({ file }) => file)).toEqual(["project_old_project.md"]);
    expect(world.exists("project_old_project.md")).toBe(false);
    expect(world.index()).not.toContain("project_old_project.md");
    expect(undo).not.toBeNull();
  });

  it("B4.16 never takes corrections, and says nothing to undo where there is nothing", async () => {
    const { world, memdir } = await start();
    expect(await memdir.prune({ type: "feedback", olderThanDays: 0, dryRun: false })).toEqual({
      memories: [],
      undo: null,
    });
    expect(world.exists("feedback_old_feedback.md")).toBe(true);
  });
});

it("a memory is found by the path that is shown, and by a path from here", async () => {
  const world = makeWorld();
  const memdir = await world.open();
  const { path } = await memdir.save({ type: "user", name: "tabs", body: "Tabs." });
  for (const name of [path, "./user_tabs.md"]) expect((await memdir.show(name)).file).toBe("user_tabs.md");
  for (const name of [`${world.dir}/../x.md`, "/etc/passwd", "./../x.md"])
    await expect(memdir.show(name)).rejects.toMatchObject({ code: "outside" });
});
