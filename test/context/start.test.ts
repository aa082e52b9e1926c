import { mkdirSync, readdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { makeWorld } from "../world.ts";

describe("what a host loads at start", () => {
  it("B1.1 names the three stores: memories, instructions, transcripts; and the specification tells of each", async () => {
    const world = makeWorld();
    const memdir = await world.open();
    await memdir.save({ type: "user", name: "role", description: "Data scientist", body: "Observability." });
    const { memory, instructions, environment } = await memdir.context([]);
    expect(memory).toMatchObject({ dir: memdir.location.dir, index: "- [role](user_role.md) — Data scientist" });
    expect(instructions).toEqual([]);
    expect(environment.transcripts).toMatch(/\/projects\/[\w-]+$/);
    const spec = readFileSync(path.resolve(import.meta.dirname, "../../docs/format.md"), "utf8");
    for (const store of ["memories", "instructions", "transcripts"]) expect(spec).toContain(`| ${store} |`);
  });

  it("B1.9 B4.14 the index is always loaded; one that is too long comes with a warning", async () => {
    const world = makeWorld();
    const memdir = await world.open();
    await memdir.save({ type: "user", name: "role", description: "d", body: "b" });
    world.write("MEMORY.md", "- a line by hand\n".repeat(250));
    const { memory } = await memdir.context([]);
    expect(memory.truncated).toBe(true);
    expect(memory.index?.split("\n")).toHaveLength(200);
    expect(memory.warning).toMatchObject({ lines: 250, cutLines: 50, firstCutLine: 201 });
  });

  it("B1.10 memories that were extracted into auto/ are read as any other", async () => {
    const world = makeWorld();
    world.write("auto/deploys.md", "---\nname: deploys\ndescription: d\ntype: project\n---\nOn Tuesdays.\n");
    const memdir = await world.open();
    expect((await memdir.list()).map((row) => row.file)).toEqual(["auto/deploys.md"]);
    expect((await memdir.show("deploys")).body).toBe("On Tuesdays.");
    expect((await memdir.index()).index).toBe("- [deploys](auto/deploys.md) — d");
  });
});

describe("C22 a repository whose settings name a directory outside it", () => {
  it("has its MEMORY.md shown as a host would load it, nothing else is read or written, and a warning says so", async () => {
    const world = makeWorld();
    const outside = path.join(path.dirname(world.project), "elsewhere");
    mkdirSync(outside);
    writeFileSync(path.join(outside, "a.md"), "---\nname: a\ndescription: theirs\n---\n");
    mkdirSync(path.join(world.project, ".claude"), { recursive: true });
    writeFileSync(path.join(world.project, ".claude/settings.json"), JSON.stringify({ autoMemoryDirectory: outside }));
    const memdir = await world.open();
    const { memory, warnings } = await memdir.context([]);
    expect(memory).toMatchObject({ dir: outside, index: null });
    expect(warnings.join()).toContain("memdir trust");
    expect(readdirSync(outside)).toEqual(["a.md"]);
    writeFileSync(path.join(outside, "MEMORY.md"), "- by hand\n");
    expect((await memdir.context([])).memory).toMatchObject({ dir: outside, index: "- by hand" });
    const saved = await memdir.save({ type: "user", name: "mine", description: "d", body: "b" });
    expect(saved.path.startsWith(outside)).toBe(false);
    renameSync(path.join(outside, "MEMORY.md"), path.join(world.top, "private"));
    symlinkSync(path.join(world.top, "private"), path.join(outside, "MEMORY.md"));
    expect((await memdir.context([])).memory.index).toBeNull();
  });
});
