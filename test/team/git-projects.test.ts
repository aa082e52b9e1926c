import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { findProject } from "../../src/project/locate.ts";
import { normaliseRemote } from "../../src/project/owner.ts";
import { projectKey } from "../../src/team/git-address.ts";
import { findEntryProblem } from "../../src/team/protocol.ts";
import { makeWorld, type World } from "../world.ts";

const keyOf = (world: World, cwd = world.project) => projectKey(findProject(cwd), world.env);

describe("normaliseRemote", () => {
  it("is one place however it is written", () => {
    for (const url of [
      "https://git.example/Ann/app.git",
      "https://ann:pw@GIT.example/Ann/app",
      "https://git.example:8443/Ann/app/",
      "ssh://git@git.example:22/Ann/app.git",
      "git@git.example:Ann/app.git",
      "git.example:/Ann/app.git/",
      "git+ssh://git@git.example//Ann/app",
    ])
      expect(normaliseRemote(url), url).toBe("git.example/Ann/app");
    for (const url of [
      "/srv/app.git",
      "../app",
      "file:///srv/app.git",
      "C:\\app",
      "C:/app",
      "",
      "https://git.example/",
    ])
      expect(normaliseRemote(url), url).toBeNull();
  });
});

describe("projectKey", () => {
  it("is the same on every machine with the same origin", async () => {
    const [one, two] = [makeWorld(), makeWorld()];
    one.git("remote", "add", "origin", "git@git.example:ann/My.App.git");
    two.git("remote", "add", "origin", "https://ann:s3cret@git.example/ann/My.App");
    const key = await keyOf(one);
    expect(key).toMatch(/^my-app-[0-9a-f]{12}$/);
    expect(await keyOf(two)).toBe(key);
    two.git("remote", "set-url", "origin", "https://git.example/bob/My.App");
    expect(await keyOf(two)).not.toBe(key);
  });

  it("is that of the first commit where there is no origin, or one that is a folder", async () => {
    const world = makeWorld();
    world.git("commit", "--allow-empty", "-qm", "first");
    world.git("commit", "--allow-empty", "-qm", "second");
    const key = await keyOf(world);
    const clone = path.join(world.top, "clone under another name");
    world.git("clone", "-q", world.project, clone);
    expect(await keyOf(world, clone)).toBe(key);
    const shallow = path.join(world.top, "shallow");
    world.git("clone", "-q", "--depth=1", `file://${world.project}`, shallow);
    expect(await keyOf(world, shallow)).not.toBe(key);
  });

  it("is that of the path below the home where there is no git", async () => {
    const keys = await Promise.all(
      [makeWorld(), makeWorld()].map((world) => {
        const folder = path.join(world.home, "notes", "über uns");
        fs.mkdirSync(folder, { recursive: true });
        return keyOf(world, folder);
      }),
    );
    expect(keys[0]).toBe(keys[1]);
    expect(keys[0]).toMatch(/^ber-uns-[0-9a-f]{12}$/);
  });

  it("tells worktrees and folders apart that have memories of their own", async () => {
    const world = makeWorld();
    world.git("remote", "add", "origin", "git@git.example:ann/app.git");
    world.git("commit", "--allow-empty", "-qm", "first");
    const worktree = path.join(world.top, "side");
    world.git("worktree", "add", "-q", worktree);
    const folder = path.join(world.project, "packages", "one");
    fs.mkdirSync(folder, { recursive: true });
    const whole = await keyOf(world);
    expect(await keyOf(world, worktree)).toBe(whole);
    expect(await keyOf(world, folder)).toBe(whole);
    const own = await projectKey(findProject(worktree, { projectScope: "worktree" }), world.env);
    const part = await projectKey(findProject(folder, { projectScope: "cwd" }), world.env);
    expect(new Set([whole, own, part]).size).toBe(3);
    expect(part).toMatch(/^app-one-/);
  });

  it("is one part of a path that every file system holds", async () => {
    const world = makeWorld();
    world.git("remote", "add", "origin", "x");
    for (const name of ["con", "a".repeat(300), "日本", "..", "-", "a b"]) {
      world.git("remote", "set-url", "origin", `https://git.example/${name}/${name}`);
      const key = await keyOf(world);
      expect(findEntryProblem(`${key}/a.md`), key).toBeNull();
      expect(key.length).toBeLessThanOrEqual(37);
    }
  });
});
