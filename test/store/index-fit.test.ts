import { describe, expect, it } from "vitest";
import { fitIndex, type LineValue } from "../../src/store/index-fit.ts";
import { CLIENT_LIMITS, isOver, measureIndex } from "../../src/store/index-limits.ts";
import { parseIndexLine } from "../../src/store/index-line.ts";
import { cutIndex } from "../../src/store/index-load.ts";
import { splitLines } from "../../src/store/index-text.ts";
import type { MemoryType } from "../../src/store/memory.ts";
import { DAY, makeWorld, note, type World } from "../world.ts";

const LIMITS = { maxLines: 20, maxChars: 25_000 };

function fitNames(names: readonly string[], value: (name: string) => Partial<LineValue>, saved: string | null = null) {
  const text = names.map((name) => `- [${name}](${name}.md)\n`).join("");
  const full = (file: string): LineValue => ({
    type: "user",
    pinned: false,
    ageDays: 0,
    own: true,
    ...value(file.replace(".md", "")),
  });
  return fitIndex(text, () => "", LIMITS, full, saved);
}

function names(prefix: string, count: number): string[] {
  return Array.from({ length: count }, (_, i) => `${prefix}${i}`);
}

/** File -> how often index and overflow page point to it. */
function pointers(world: World): Map<string, number> {
  const count = new Map<string, number>();
  const overflow = world.exists("MEMORY.more.md") ? world.read("MEMORY.more.md") : "";
  for (const line of [...splitLines(world.index()), ...splitLines(overflow)]) {
    const file = parseIndexLine(line)?.file;
    if (file && file !== "MEMORY.more.md") count.set(file, (count.get(file) ?? 0) + 1);
  }
  return count;
}

describe("fitIndex", () => {
  it("leaves an index under the cap alone", () => {
    const fitted = fitNames(names("a", 20), () => ({}));
    expect(fitted).toMatchObject({ overflow: null, moved: [], stillOver: false });
  });

  it("C13 stale project goes first, then reference, fresh project, user; feedback and pinned last", () => {
    const values: Record<string, Partial<LineValue>> = {
      stale: { type: "project", ageDays: 60 },
      ref: { type: "reference" },
      fresh: { type: "project", ageDays: 1 },
      user: { type: "user" },
      feedback: { type: "feedback" },
      pinned: { type: "project", ageDays: 90, pinned: true },
    };
    const order = ["pinned", "feedback", "user", "fresh", "ref", "stale"];
    // 21 lines: five go, one of them makes room for the link.
    const fillers = names("x", 15);
    const value = (name: string) => values[name] ?? { type: "feedback" as MemoryType, pinned: true };
    expect(fitNames([...fillers, ...order], value).moved).toEqual([
      "stale.md",
      "ref.md",
      "fresh.md",
      "user.md",
      "feedback.md",
    ]);
  });

  it("C13 of a kind the oldest goes first, a hand-worded line later than an own one", () => {
    const value = (name: string) => ({ ageDays: Number(name.slice(1)), own: !["a19", "a20"].includes(name) });
    expect(fitNames(names("a", 21), value).moved).toEqual(["a18.md", "a17.md", "a16.md", "a15.md", "a14.md"]);
  });

  it("C13 the memory just saved stays in the index", () => {
    const { moved } = fitNames(
      names("a", 21),
      (name) => (name === "a20" ? { type: "project", ageDays: 99 } : { type: "feedback" }),
      "a20.md",
    );
    expect(moved).not.toContain("a20.md");
    expect(moved).toHaveLength(5);
  });

  it("C13 no more is moved than is of use when hand-written text fills the index", () => {
    const hand = "hand-written\n".repeat(18);
    const own = ["p", "q", "r"].map((name) => `- [${name}](${name}.md)\n`).join("");
    const value = (file: string): LineValue => ({
      type: file === "p.md" ? "project" : "feedback",
      pinned: file === "r.md",
      ageDays: 50,
      own: true,
    });
    const fitted = fitIndex(hand + own, () => "", LIMITS, value, null);
    expect(isOver(measureIndex(fitted.text), LIMITS)).toBe(false);
    // 18 by hand, the link: one more line fits, and it is the pinned one.
    expect(fitted.moved).toEqual(["p.md", "q.md"]);
  });

  it("lines that point to no memory are not moved", () => {
    const fitted = fitIndex(
      "- [x](x.md)\n".repeat(30),
      () => "",
      LIMITS,
      () => null,
      null,
    );
    expect(fitted).toMatchObject({ moved: [], stillOver: true });
  });
});

describe("a full index", () => {
  it("B4.11 B4.12 C13 450 saves of all types with long descriptions never go over the cap, and none is lost", async () => {
    const world = makeWorld();
    const memdir = await world.open();
    const types: MemoryType[] = ["user", "feedback", "project", "reference"];
    let said = 0;
    for (let i = 0; i < 450; i++) {
      world.now = new Date(world.now.getTime() + DAY / 4);
      const saved = await memdir.save({
        type: types[i % 4] as MemoryType,
        name: `memory ${i}`,
        description: `${i} ${"words and more words ".repeat(i % 9)}`,
        body: "x",
        pinned: i % 50 === 0,
      });
      const text = world.index();
      expect(cutIndex(text, CLIENT_LIMITS).truncated).toBe(false);
      expect(text).toContain(`(${saved.file})`);
      const notice = saved.notices.find((n) => n.includes("moved to MEMORY.more.md"));
      if (notice) said++;
    }
    expect(said).toBeGreaterThan(2);
    const count = pointers(world);
    expect(count.size).toBe(450);
    expect([...count.values()].every((n) => n === 1)).toBe(true);
    const inIndex = splitLines(world.index()).map((line) => parseIndexLine(line)?.file ?? "");
    const kept = (prefix: string) => inIndex.filter((file) => file.startsWith(prefix)).length;
    expect(kept("feedback_")).toBeGreaterThan(100);
    // Of the others only those since the last clearing are left.
    expect(kept("feedback_")).toBeGreaterThan(kept("project_") + kept("reference_") + kept("user_"));
    for (const { file, pinned } of await memdir.list()) if (pinned) expect(inIndex).toContain(file);
    expect(world.index()).toMatch(/^- \[More memories\]\(MEMORY\.more\.md\) — \d+ further memories/m);
    const stated = Number(/— (\d+) further/.exec(world.index())?.[1]);
    expect(stated).toBe((await memdir.index()).overflow.length);
  });

  /** Ten lines fit, and eleven memories make them seven and a link. */
  const OVERFLOW = ["project_p1.md", "project_p2.md", "project_p3.md", "feedback_f1.md"];
  async function full() {
    const world = makeWorld({ settings: { index: { maxLines: 10 } } });
    world.now = new Date("2026-01-01T00:00:00Z");
    const memdir = await world.open();
    for (const name of ["p1", "p2", "p3"]) await memdir.save(note(name, { type: "project" }));
    world.now = new Date("2026-03-01T00:00:00Z");
    for (let i = 1; i <= 8; i++) await memdir.save(note(`f${i}`, { type: "feedback" }));
    return { world, memdir };
  }

  it("C12 C13 custom limits hold; the save says what moved", async () => {
    const world = makeWorld({ settings: { index: { maxLines: 10 } } });
    const memdir = await world.open();
    for (let i = 1; i <= 10; i++) expect((await memdir.save(note(`m${i}`))).notices).toEqual([]);
    const { notices } = await memdir.save(note("m11"));
    expect(notices).toEqual([
      "MEMORY.md was full: the lines of user_m1.md, user_m2.md, user_m3.md and 1 more moved to MEMORY.more.md",
    ]);
    expect(measureIndex(world.index()).lines).toBe(8);
    const small = makeWorld({ settings: { index: { maxChars: 300 } } });
    const other = await small.open();
    for (let i = 1; i <= 20; i++) {
      await other.save(note(`m${i}`));
      expect(measureIndex(small.index()).chars).toBeLessThanOrEqual(300);
    }
    expect(pointers(small).size).toBe(20);
  });

  it("C13 a line longer than the whole cap goes to the overflow page itself", async () => {
    const world = makeWorld();
    const memdir = await world.open();
    await memdir.save(note("small"));
    await memdir.save(note("giant", { description: "x".repeat(30_000) }));
    expect(cutIndex(world.index(), CLIENT_LIMITS).truncated).toBe(false);
    expect([...pointers(world).entries()].sort()).toEqual([
      ["user_giant.md", 1],
      ["user_small.md", 1],
    ]);
  });

  it("forgetting a memory of the overflow page takes its line and counts anew; undo brings one line back", async () => {
    const { world, memdir } = await full();
    expect((await memdir.index()).overflow).toEqual(OVERFLOW);
    const { undo } = await memdir.forget("p1");
    expect(world.read("MEMORY.more.md")).not.toContain("project_p1.md");
    expect(world.index()).toContain("3 further memories");
    await memdir.undo(undo ?? "");
    expect(pointers(world).get("project_p1.md")).toBe(1);
    for (const name of ["p1", "p2", "p3"]) await memdir.forget(name);
    expect(world.index()).toContain("1 further memory;");
    await memdir.forget("f1");
    expect(world.index()).not.toContain("MEMORY.more.md");
  });

  it("updating a memory of the overflow page brings its line back into the index", async () => {
    const { world, memdir } = await full();
    await memdir.save(note("p2", { type: "project", description: "news" }));
    expect(world.index()).toContain("- [p2](project_p2.md) — news");
    expect(world.read("MEMORY.more.md")).not.toContain("project_p2.md");
    expect([...pointers(world).values()].every((n) => n === 1)).toBe(true);
    expect(Number(/— (\d+) further/.exec(world.index())?.[1])).toBe((await memdir.index()).overflow.length);
  });

  it("renaming a memory of the overflow page takes its line along", async () => {
    const { world, memdir } = await full();
    const { undo } = await memdir.rename("p3", "p three");
    expect(world.index() + world.read("MEMORY.more.md")).toContain("- [p three](project_p_three.md) — about p3\n");
    expect(pointers(world).get("project_p_three.md")).toBe(1);
    expect(pointers(world).has("project_p3.md")).toBe(false);
    await memdir.undo(undo ?? "");
    expect(pointers(world).get("project_p3.md")).toBe(1);
    expect(pointers(world).has("project_p_three.md")).toBe(false);
    expect(pointers(world).size).toBe(11);
  });

  it("C13 an editor that brings an old text back does not make lines stand twice", async () => {
    const { world, memdir } = await full();
    const old = world
      .read("MEMORY.more.md")
      .split("\n")
      .filter((line) => line.startsWith("- "))
      .join("\n");
    world.write("MEMORY.md", `${old}\n`);
    await memdir.save(note("one more"));
    const count = pointers(world);
    expect([...count.entries()].filter(([, n]) => n !== 1)).toEqual([]);
    expect(count.size).toBe(12);
  });

  it("C10 a hand-worded line of the overflow page keeps its words through forget and undo", async () => {
    const world = makeWorld({ settings: { index: { maxLines: 5 } } });
    const old = "---\nname: old\ndescription: d\ntype: project\nmodified: 2020-01-01T00:00:00.000Z\n---\n";
    world.write("old.md", old);
    world.write("MEMORY.md", "- [My words](old.md) — mine\n");
    const memdir = await world.open();
    for (let i = 0; i < 6; i++) await memdir.save(note(`f${i}`, { type: "feedback" }));
    expect(world.read("MEMORY.more.md")).toContain("- [My words](old.md) — mine\n");
    const { undo } = await memdir.forget("old");
    await memdir.undo(undo ?? "");
    expect(world.index() + world.read("MEMORY.more.md")).toContain("- [My words](old.md) — mine\n");
  });

  it("C10 hand-written text alone over the cap: nothing of it moves, and it is said", async () => {
    const world = makeWorld();
    const hand = `# Mine\n${"A hand-written line.\n".repeat(250)}`;
    world.write("MEMORY.md", hand);
    const { notices } = await (await world.open()).save(note("a"));
    expect(world.index().startsWith(hand)).toBe(true);
    expect(notices.join("\n")).toMatch(/over the client's limit by hand-written text alone/);
    expect(pointers(world).get("user_a.md")).toBe(1);
  });

  it("C-1 an index with CRLF stays one when lines move", async () => {
    const world = makeWorld({ settings: { index: { maxLines: 5 } } });
    world.write("MEMORY.md", "# T\r\n\r\n");
    const memdir = await world.open();
    for (let i = 1; i <= 6; i++) await memdir.save(note(`m${i}`));
    expect(world.index().replaceAll("\r\n", "")).not.toContain("\n");
  });

  it("rebuild keeps both pages, counts them and loses nothing", async () => {
    const { world, memdir } = await full();
    const before = pointers(world);
    await memdir.rebuildIndex();
    expect(pointers(world)).toEqual(before);
  });
});
