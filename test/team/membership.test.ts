import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { findStores } from "../../src/open.ts";
import { findPlace, listScopes, scopeDirectory } from "../../src/project/scopes.ts";
import {
  findMembership,
  keepMembership,
  type Membership,
  prepareMirror,
  readMarker,
} from "../../src/team/membership.ts";
import { errorOf, makeWorld, type World } from "../world.ts";

const ACME: Membership = { server: "https://h.example", team: "acme", repository: "app" };
const OTHER: Membership = { ...ACME, repository: "other" };

function placeOf(world: World, cwd = world.project) {
  const { config, location } = findPlace({ cwd }, world.env);
  return { config, location, context: { config, project: location.project, dir: location.dir } };
}

function join(world: World, membership = ACME) {
  const { config, location } = placeOf(world);
  keepMembership(config, location.project, membership);
}

function teamOf(world: World) {
  const { config, location } = placeOf(world);
  return findStores({ cwd: world.project, scope: "team", now: () => world.now }, config, location).main;
}

describe("membership", () => {
  it("is in the user's own file, for all worktrees of a project", () => {
    const world = makeWorld({ settings: { meaning: false } });
    const { config, location } = placeOf(world);
    expect(findMembership(config, location.project)).toBeNull();
    join(world);
    const file = JSON.parse(fs.readFileSync(config.userFile, "utf8"));
    expect(file).toEqual({ meaning: false, teams: { [world.project]: "https://h.example/acme/app" } });
    const after = placeOf(world);
    expect(findMembership(after.config, after.location.project)).toEqual(ACME);
    keepMembership(after.config, after.location.project, null);
    expect(findMembership(placeOf(world).config, location.project)).toBeNull();
  });

  it("is not taken from a repository", () => {
    const world = makeWorld();
    fs.mkdirSync(path.join(world.project, ".claude"));
    const teams = { [world.project]: "https://evil.example/acme/app" };
    fs.writeFileSync(path.join(world.project, ".claude", "memdir.json"), JSON.stringify({ teams }));
    const { config, location } = placeOf(world);
    expect(findMembership(config, location.project)).toBeNull();
    expect(config.problems.join()).toContain('"teams" is not taken from a repository');
  });

  it("that names no server is an error, not silence", () => {
    const world = makeWorld();
    fs.writeFileSync(
      path.join(world.home, ".claude", "memdir.json"),
      JSON.stringify({ teams: { [world.project]: "http://h.example/acme/app" } }),
    );
    const { config, location } = placeOf(world);
    expect(() => findMembership(config, location.project)).toThrow("https");
  });
});

describe("the scope team", () => {
  it("B9.1 is the repository's until the project joins a team, then the mirror, and both are listed", () => {
    const world = makeWorld();
    const repository = path.join(world.project, ".claude", "memory");
    fs.mkdirSync(repository, { recursive: true });
    const before = placeOf(world).context;
    expect(scopeDirectory("team", before)).toMatchObject({ dir: repository, committable: true });
    expect(listScopes(before).map(({ dir }) => dir)).toEqual([repository]);
    join(world);
    const { context } = placeOf(world);
    const mirror = world.path("team");
    expect(scopeDirectory("team", context)).toEqual({
      scope: "team",
      dir: mirror,
      committable: false,
    });
    fs.mkdirSync(mirror, { recursive: true });
    const teams = listScopes(context).filter(({ scope }) => scope === "team");
    expect(teams.map(({ dir }) => dir)).toEqual([mirror, repository]);
    expect(listScopes({ ...context, config: { ...context.config, team: false } }).map(({ scope }) => scope)).toEqual([
      "project",
    ]);
  });

  it("is no link: what is private is not sent through one", () => {
    const world = makeWorld();
    join(world);
    fs.mkdirSync(path.join(world.dir), { recursive: true });
    fs.symlinkSync(world.dir, world.path("team"));
    expect(() => scopeDirectory("team", placeOf(world).context)).toThrow(/is a link/);
    expect(listScopes(placeOf(world).context).map(({ scope }) => scope)).toEqual(["project"]);
  });

  it("is not where agents keep their own in the shared layout", () => {
    const world = makeWorld({ settings: { scopeLayout: "shared" } });
    join(world);
    expect(scopeDirectory("agent:x@local", placeOf(world).context).dir).toBe(
      path.join(world.project, ".claude", "memory"),
    );
  });

  it("has memories that the project's own directory does not count as its own", async () => {
    const world = makeWorld();
    join(world);
    await prepareMirror(teamOf(world), world.dir, ACME);
    world.write("team/a.md", "---\nname: a\ndescription: d\ntype: project\n---\n\nx\n");
    const rows = await (await world.open()).list();
    expect(rows.map(({ scope, file }) => [scope, file])).toEqual([["team", "a.md"]]);
  });
});

describe("the mirror", () => {
  it("is made once, private, with a marker that names its team", async () => {
    const world = makeWorld();
    join(world);
    const directory = teamOf(world);
    expect(readMarker(directory)).toBeNull();
    await prepareMirror(directory, world.dir, ACME);
    await prepareMirror(directory, world.dir, ACME);
    expect(JSON.parse(world.read("team/.memdir/mirror.json"))).toEqual({ ...ACME, person: "" });
    expect(readMarker(directory)).toBe("https://h.example/acme/app");
    expect(fs.statSync(directory.path).mode & 0o777).toBe(0o700);
  });

  it("of another team is left alone", async () => {
    const world = makeWorld();
    join(world);
    await prepareMirror(teamOf(world), world.dir, ACME);
    world.write("team/a.md", "x");
    const error = await errorOf(prepareMirror(teamOf(world), world.dir, OTHER));
    expect(error).toMatchObject({
      code: "conflict",
      message: expect.stringContaining("mirror of https://h.example/acme/app"),
    });
    for (const text of ["", "{}", "[]", '{"server":1}', "x".repeat(20_000)]) {
      world.write("team/.memdir/mirror.json", text);
      expect((await errorOf(prepareMirror(teamOf(world), world.dir, ACME))).code).toBe("conflict");
    }
    fs.rmSync(world.path("team/.memdir/mirror.json"));
    fs.symlinkSync("/etc/hostname", world.path("team/.memdir/mirror.json"));
    expect((await errorOf(prepareMirror(teamOf(world), world.dir, ACME))).code).toBe("conflict");
  });

  it("is not made of a folder with files that came from elsewhere", async () => {
    const world = makeWorld();
    join(world);
    world.write("team/mine.md", "private");
    const error = await errorOf(prepareMirror(teamOf(world), world.dir, ACME));
    expect(error).toMatchObject({ code: "conflict", message: expect.stringContaining("move them away") });
    expect(world.files()).toEqual(["team/mine.md"]);
  });

  it("is made anew where it vanished, and where it is empty", async () => {
    const world = makeWorld();
    join(world);
    await prepareMirror(teamOf(world), world.dir, ACME);
    fs.rmSync(world.path("team"), { recursive: true });
    await prepareMirror(teamOf(world), world.dir, ACME);
    fs.rmSync(world.path("team/.memdir/mirror.json"));
    await prepareMirror(teamOf(world), world.dir, ACME);
    expect(readMarker(teamOf(world))).toBe("https://h.example/acme/app");
  });

  it("is no other directory, and no link to one", async () => {
    const world = makeWorld();
    const memdir = await world.open();
    const main = memdir.directories[0];
    if (!main) throw new Error("no directory");
    for (const directory of [main, { ...main, path: path.join(world.home, ".claude", "memory") }]) {
      expect((await errorOf(prepareMirror(directory, world.dir, ACME))).code).toBe("outside");
    }
    fs.mkdirSync(world.dir, { recursive: true });
    fs.symlinkSync(path.join(world.home, ".claude"), world.path("team"));
    const linked = { ...main, path: world.path("team") };
    expect((await errorOf(prepareMirror(linked, world.dir, ACME))).code).toBe("outside");
    expect(fs.readdirSync(path.join(world.home, ".claude"))).toEqual(["projects"]);
  });
});
