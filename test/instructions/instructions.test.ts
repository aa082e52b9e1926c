import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { makeWorld, type World } from "../world.ts";
import { open, put } from "./open.ts";

const texts = (files: { content: string }[]) => files.map(({ content }) => content.trim());

/** The disk as it was, down to the times, but with other letters: whoever reads sees it, whoever stats does not. */
const THEN = new Date("2026-01-01T00:00:00Z");
function putStill(...parts: [...string[], string]): string {
  const file = put(...parts);
  fs.utimesSync(file, THEN, THEN);
  return file;
}

describe("the cache", () => {
  it("B0.17 C34: a second load of an unchanged disk reads nothing; clear reads again", async () => {
    const world = makeWorld();
    putStill(world.project, "CLAUDE.md", "aaaa @i.md");
    putStill(world.project, "i.md", "bbbb");
    const instructions = open(world);
    const first = await instructions.load();
    putStill(world.project, "CLAUDE.md", "AAAA @i.md");
    putStill(world.project, "i.md", "BBBB");
    expect(await instructions.load()).toEqual(first);
    instructions.clear();
    expect(texts(await instructions.load())).toEqual(["AAAA @i.md", "BBBB"]);
  });

  it.each<[string, (world: World) => void, string[]]>([
    [
      "a changed file",
      ({ project }) => put(project, "CLAUDE.md", "root @i.md @gone.md new"),
      ["rule", "root @i.md @gone.md new", "i"],
    ],
    ["a changed import", ({ project }) => put(project, "i.md", "other"), ["rule", "root @i.md @gone.md", "other"]],
    [
      "a changed rule",
      ({ project }) => put(project, ".claude", "rules", "deep", "r.md", "changed"),
      ["changed", "root @i.md @gone.md", "i"],
    ],
    ["a removed file", ({ project }) => fs.rmSync(path.join(project, "i.md")), ["rule", "root @i.md @gone.md"]],
    [
      "a removed rule",
      ({ project }) => fs.rmSync(path.join(project, ".claude", "rules", "deep", "r.md")),
      ["root @i.md @gone.md", "i"],
    ],
    [
      "a new local file",
      ({ project }) => put(project, "CLAUDE.local.md", "local"),
      ["rule", "root @i.md @gone.md", "i", "local"],
    ],
    [
      "a new user file",
      ({ home }) => put(home, ".claude", "CLAUDE.md", "user"),
      ["rule", "root @i.md @gone.md", "i", "user"],
    ],
    [
      "a new managed file",
      ({ top }) => put(top, "managed", "CLAUDE.md", "managed"),
      ["managed", "rule", "root @i.md @gone.md", "i"],
    ],
    ["a new file above", ({ top }) => put(top, "CLAUDE.md", "above"), ["above", "rule", "root @i.md @gone.md", "i"]],
    [
      "a new rule",
      ({ project }) => put(project, ".claude", "rules", "new.md", "new"),
      ["new", "rule", "root @i.md @gone.md", "i"],
    ],
    [
      "a new rule in a folder of its own",
      ({ project }) => put(project, ".claude", "rules", "more", "new.md", "new"),
      ["new", "rule", "root @i.md @gone.md", "i"],
    ],
    [
      "a new rule in a folder that was there",
      ({ project }) => put(project, ".claude", "rules", "deep", "new.md", "new"),
      ["new", "rule", "root @i.md @gone.md", "i"],
    ],
    [
      "an import that was missing",
      ({ project }) => put(project, "gone.md", "found"),
      ["found", "rule", "root @i.md @gone.md", "i"],
    ],
  ])("B0.17 C34: %s is noticed", async (_, change, expected) => {
    const world = makeWorld();
    putStill(world.project, "CLAUDE.md", "root @i.md @gone.md");
    putStill(world.project, "i.md", "i");
    putStill(world.project, ".claude", "rules", "deep", "r.md", "rule");
    fs.utimesSync(path.join(world.project, ".claude", "rules", "deep"), THEN, THEN);
    fs.utimesSync(path.join(world.project, ".claude", "rules"), THEN, THEN);
    const instructions = open(world);
    expect(texts(await instructions.load())).toEqual(["root @i.md @gone.md", "i", "rule"]);
    change(world);
    expect(texts(await instructions.load()).sort()).toEqual([...expected].sort());
  });

  it("B0.17 C34: with allAgents a new Cursor rule and a new AGENTS.md are noticed", async () => {
    const world = makeWorld();
    putStill(world.project, ".cursor", "rules", "a.mdc", "a");
    fs.utimesSync(path.join(world.project, ".cursor", "rules"), THEN, THEN);
    const instructions = open(world, { allAgents: true });
    expect(texts(await instructions.load())).toEqual(["a"]);
    put(world.project, "AGENTS.md", "agents");
    expect(texts(await instructions.load())).toEqual(["agents", "a"]);
    put(world.project, ".cursor", "rules", "b.mdc", "b");
    expect(texts(await instructions.load())).toEqual(["agents", "a", "b"]);
  });

  it("B0.17 C34: AGENTS.md takes the place of a CLAUDE.md that went away", async () => {
    const world = makeWorld();
    const root = put(world.project, "CLAUDE.md", "root");
    put(world.project, "AGENTS.md", "agents");
    const instructions = open(world);
    expect(texts(await instructions.load())).toEqual(["root"]);
    fs.rmSync(root);
    expect(texts(await instructions.load())).toEqual(["agents"]);
  });

  it("B0.17 B0.19: clear makes touches count anew; a nested file that changed is not attached twice", async () => {
    const world = makeWorld();
    put(world.project, "a", "CLAUDE.md", "nested");
    const instructions = open(world);
    expect(texts(await instructions.touch("a/x"))).toEqual(["nested"]);
    put(world.project, "a", "CLAUDE.md", "nested and changed");
    expect(await instructions.touch("a/x")).toEqual([]);
    instructions.clear();
    expect(texts(await instructions.touch("a/x"))).toEqual(["nested and changed"]);
  });

  it("B0.17: many loads at the same time are one", async () => {
    const world = makeWorld();
    put(world.project, "CLAUDE.md", "root @i.md");
    put(world.project, "i.md", "i");
    const instructions = open(world);
    const all = await Promise.all(Array.from({ length: 10 }, () => instructions.load()));
    for (const files of all) expect(texts(files)).toEqual(["root @i.md", "i"]);
  });

  it("B0.17: what a caller does to its list does not change the next one", async () => {
    const world = makeWorld();
    put(world.project, "CLAUDE.md", "root");
    const instructions = open(world);
    (await instructions.load()).pop();
    expect(texts(await instructions.load())).toEqual(["root"]);
  });
});

describe("the rendered text", () => {
  it("B0.9 B0.11 B0.12: is byte-stable for an unchanged disk, across sessions", async () => {
    const world = makeWorld();
    put(world.project, "CLAUDE.md", "root @i.md");
    put(world.project, "i.md", "i");
    for (const name of ["c", "a", "b"]) put(world.project, ".claude", "rules", `${name}.md`, name);
    const instructions = open(world);
    const first = await instructions.render("system");
    expect(first?.text).not.toBe("");
    expect(await instructions.render("system")).toEqual(first);
    instructions.clear();
    expect(await instructions.render("system")).toEqual(first);
    expect(await open(world).render("system")).toEqual(first);
  });

  it("B0.12 C19: comes as either kind, without what touches added", async () => {
    const world = makeWorld();
    put(world.project, "CLAUDE.md", "root");
    put(world.project, "a", "CLAUDE.md", "nested");
    const instructions = open(world);
    await instructions.touch("a/x");
    const user = await instructions.render("user");
    expect(user?.role).toBe("user");
    expect(user?.text).toMatch(/^<system-reminder>\n[\s\S]*\n<\/system-reminder>$/);
    expect(user?.text).not.toContain("nested");
    expect(await instructions.render("system")).toMatchObject({ cache_control: { type: "ephemeral" } });
  });

  it("B0.20: omit drops it", async () => {
    const world = makeWorld();
    put(world.project, "CLAUDE.md", "root");
    const instructions = open(world);
    expect(await instructions.render("user", { omit: true })).toBeNull();
    expect(await instructions.render("user", { omit: false })).not.toBeNull();
  });

  it("B0.21: is kept and given without touching the disk", async () => {
    const world = makeWorld();
    put(world.project, "CLAUDE.md", "root");
    const instructions = open(world);
    expect(instructions.cached()).toBeNull();
    const text = await instructions.render("user");
    fs.rmSync(world.top, { recursive: true });
    expect(instructions.cached()).toEqual(text);
    instructions.clear();
    expect(instructions.cached()).toBeNull();
  });

  it("B0.20 B0.21: a read-only agent that omits it does not take it away from the others", async () => {
    const world = makeWorld();
    put(world.project, "CLAUDE.md", "root");
    const instructions = open(world);
    const text = await instructions.render("user");
    await instructions.render("user", { omit: true });
    expect(instructions.cached()).toEqual(text);
  });

  it("B0.17: a folder that is removed altogether leaves nothing, without an error", async () => {
    const world = makeWorld();
    put(world.project, "CLAUDE.md", "root");
    const instructions = open(world);
    await instructions.load();
    fs.rmSync(world.top, { recursive: true });
    expect(await instructions.load()).toEqual([]);
    expect(await instructions.render("user")).toBeNull();
    expect(await instructions.touch("a/x")).toEqual([]);
    expect(await instructions.touchCommand("cat a/x")).toEqual([]);
  });
});
