import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { findProject, type Owner, ownerFile, readOwner } from "../../src/project/locate.ts";
import {
  cleanRemote,
  compareOwner,
  type Identity,
  identifyProject,
  mergeOwner,
  setUserEntry,
} from "../../src/project/owner.ts";
import { makeWorld } from "../world.ts";
import { makeFixture } from "./fixture.ts";

const AT = "2026-11-15T00:00:00.000Z";
const owner = (more: Partial<Owner> = {}): Owner => ({
  roots: ["/old"],
  rootCommit: "aaa",
  remote: "https://host/o/r.git",
  shared: false,
  at: AT,
  ...more,
});
const identity = (more: Partial<Identity> = {}): Identity => ({
  root: "/new",
  rootCommit: null,
  remote: null,
  ...more,
});
const alive = () => true;
const gone = () => false;

describe("compareOwner", () => {
  it("knows its own, and directories that the user shares", () => {
    expect(compareOwner(null, identity(), alive)).toBe("unknown");
    expect(compareOwner(owner({ roots: [] }), identity(), alive)).toBe("unknown");
    expect(compareOwner(owner(), identity({ root: "/old" }), alive)).toBe("same");
    expect(compareOwner(owner({ shared: true }), identity(), alive)).toBe("same");
  });

  it("tells a collision from another clone", () => {
    expect(compareOwner(owner(), identity(), alive)).toBe("collision");
    expect(compareOwner(owner({ rootCommit: null, remote: null }), identity(), alive)).toBe("collision");
    expect(compareOwner(owner(), identity({ rootCommit: "bbb", remote: "https://host/o/other" }), alive)).toBe(
      "collision",
    );
    expect(compareOwner(owner(), identity({ rootCommit: "aaa" }), alive)).toBe("same");
  });

  it("tells a move from an abandoned directory", () => {
    expect(compareOwner(owner(), identity({ rootCommit: "aaa" }), gone)).toBe("moved");
    expect(compareOwner(owner(), identity({ remote: "git@HOST:o/r" }), gone)).toBe("moved");
    expect(compareOwner(owner(), identity({ remote: "git@host:o/r2" }), gone)).toBe("abandoned");
    expect(compareOwner(owner(), identity(), gone)).toBe("abandoned");
  });
});

describe("the record", () => {
  it("is written and read back", () => {
    const f = makeFixture();
    const merged = mergeOwner(null, identity({ rootCommit: "abc" }), { at: AT });
    expect(merged).toEqual({ roots: ["/new"], rootCommit: "abc", remote: null, shared: false, at: AT });
    f.put({ "mem/.memdir/project.json": merged });
    expect(ownerFile(f.at("mem"))).toBe(f.at("mem/.memdir/project.json"));
    expect(readOwner(f.at("mem"))).toEqual(merged);
  });

  it("keeps what it knew, the latest root first, and drops roots that are gone", () => {
    const merged = mergeOwner(owner(), identity(), { at: "later", shared: true });
    expect(merged).toEqual({ ...owner(), roots: ["/new", "/old"], shared: true, at: "later" });
    expect(mergeOwner(merged, identity(), { at: "later" })).toEqual(merged);
  });

  it("is nothing when broken", () => {
    const f = makeFixture();
    expect(readOwner(f.at("mem"))).toBeNull();
    for (const text of ["{", "null", "[]", '{"roots":"x"}']) {
      f.put({ "mem/.memdir/project.json": text });
      expect(readOwner(f.at("mem"))).toBeNull();
    }
    f.put({ "mem/.memdir/project.json": '{"roots":["/a",1],"rootCommit":5}' });
    expect(readOwner(f.at("mem"))).toEqual({ roots: ["/a"], rootCommit: null, remote: null, shared: false, at: "" });
  });

  it.runIf(process.platform !== "win32")("is nothing when it is a pipe", () => {
    const f = makeFixture();
    fs.mkdirSync(f.at("mem/.memdir"), { recursive: true });
    execFileSync("mkfifo", [ownerFile(f.at("mem"))]);
    expect(readOwner(f.at("mem"))).toBeNull();
  });
});

it.each([
  ["https://user:token@host/o/r.git", "https://host/o/r.git"],
  ["https://token@host:8443/o/r?private_token=x#y", "https://host:8443/o/r"],
  ["ssh://git@host/o/r", "ssh://host/o/r"],
  ["git@host:o/r.git", "host:o/r.git"],
  ["/srv/git/a@b.git", "/srv/git/a@b.git"],
  ["../a.git", "../a.git"],
])("cleanRemote %s", (url, cleaned) => {
  expect(cleanRemote(url)).toBe(cleaned);
});

describe("identifyProject", () => {
  const env = process.env;

  it("asks git for the first commit and the remote, without its password", async () => {
    const f = makeFixture();
    const root = f.repository("repo");
    const first = f.git(root, "rev-parse", "HEAD");
    f.git(root, "commit", "-q", "--allow-empty", "-m", "second");
    f.git(root, "remote", "add", "fork", "https://example.com/fork.git");
    f.git(root, "remote", "add", "origin", "https://me:hunter2@example.com/o/r.git");
    f.git(root, "worktree", "add", "-q", f.at("wt"));
    const expected = { root, rootCommit: first, remote: "https://example.com/o/r.git" };
    expect(await identifyProject(findProject(root), env)).toEqual(expected);
    expect(await identifyProject(findProject(f.at("wt")), { ...env, GIT_DIR: "/nowhere" })).toEqual(expected);
  });

  it("knows nothing outside git, in an empty .git, without commits, of a shallow clone, without git", async () => {
    const f = makeFixture();
    const nothing = (root: string) => ({ root, rootCommit: null, remote: null });
    const root = f.repository("repo");
    fs.mkdirSync(f.at("repo/empty/.git"), { recursive: true });
    f.git(f.top, "init", "-q", "fresh");
    f.git(root, "commit", "-q", "--allow-empty", "-m", "second");
    f.git(f.top, "clone", "-q", "--depth", "1", `file://${root}`, "shallow");
    for (const dir of [f.home, f.at("repo/empty"), f.at("fresh")]) {
      expect(await identifyProject(findProject(dir), env)).toEqual(nothing(dir));
    }
    const shallow = await identifyProject(findProject(f.at("shallow")), env);
    expect(shallow).toEqual({ ...nothing(f.at("shallow")), remote: `file://${root}` });
    expect(await identifyProject(findProject(root), { PATH: f.at("nowhere") })).toEqual(nothing(root));
  });
});

describe("an entry of the user's file", () => {
  it("is not put in the place of something else", async () => {
    const world = makeWorld({ settings: { learn: "off", teams: ["a"] } });
    const { config } = await world.open();
    const before = fs.readFileSync(config.userFile, "utf8");
    expect(() => setUserEntry(config, "learn", "mode", "inbox")).toThrow('"learn" must be an object');
    expect(() => setUserEntry(config, "teams", "/p", "url")).toThrow('"teams" must be an object');
    expect(fs.readFileSync(config.userFile, "utf8")).toBe(before);
  });

  it.skipIf(process.platform === "win32")("goes where a link leads, and the link stays", async () => {
    const world = makeWorld();
    const { config } = await world.open();
    const target = path.join(world.top, "dotfiles.json");
    fs.symlinkSync(target, config.userFile);
    expect(() => setUserEntry(config, "learn", "mode", "inbox")).toThrow("fix the link");
    fs.writeFileSync(target, '{"team":false}');
    setUserEntry(config, "learn", "mode", "inbox");
    expect(fs.readlinkSync(config.userFile)).toBe(target);
    expect(JSON.parse(fs.readFileSync(target, "utf8"))).toEqual({ team: false, learn: { mode: "inbox" } });
  });
});
