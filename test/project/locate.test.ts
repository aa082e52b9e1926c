import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import type { Env } from "../../src/config.ts";
import { locate, sha256Key, slugOf } from "../../src/project/locate.ts";
import { type Fixture, makeFixture } from "./fixture.ts";

function located(f: Fixture, cwd: string, env: Env = {}, memoryDir?: string) {
  return locate({ cwd, config: f.config(cwd, env), memoryDir });
}

describe("computed", () => {
  it("B1.2 <claude dir>/projects/<slug of the main root>/memory", () => {
    const f = makeFixture();
    f.put({ "repo/a/x.txt": "" });
    const root = f.repository("repo");
    const dir = path.join(f.home, ".claude/projects", slugOf(root), "memory");
    expect(located(f, f.at("repo/a"))).toMatchObject({
      dir,
      source: "computed",
      via: "slug",
      rejected: [],
      untrusted: null,
    });
    const moved = located(f, root, { CLAUDE_CONFIG_DIR: f.at("cfg") });
    expect(moved.dir).toBe(path.join(f.at("cfg/projects"), slugOf(root), "memory"));
  });

  it("B1.3 code-assist: separators only, no memory folder", () => {
    const f = makeFixture();
    fs.mkdirSync(f.at("my.repo"));
    const { dir } = located(f, f.at("my.repo"), { MEMDIR_PROFILE: "code-assist" });
    expect(dir).toBe(path.join(f.home, ".claude/projects", f.at("my.repo").replaceAll("/", "-")));
  });

  it("B1.4 mini-claude: sha256 of the working directory; the keying is also an option of its own", () => {
    const f = makeFixture();
    f.put({ "repo/a/x.txt": "" });
    f.repository("repo");
    const cwd = f.at("repo/a");
    const mini = located(f, cwd, { MEMDIR_PROFILE: "mini-claude" });
    expect(mini.dir).toBe(path.join(f.home, ".mini-claude/projects", sha256Key(cwd), "memory"));
    f.put({ "home/.claude/memdir.json": { keying: "sha256-16" } });
    expect(located(f, cwd).dir).toBe(path.join(f.home, ".claude/projects", sha256Key(f.at("repo")), "memory"));
  });

  it("C1 C21 names: environment, then the user's for this root, then the user's for all; unsafe ones are refused", () => {
    const f = makeFixture();
    const root = f.repository("repo");
    const name = (env: Env = {}) => path.basename(path.dirname(located(f, root, env).dir));
    f.put({ "home/.claude/memdir.json": { keying: { name: "everything" }, directories: { [root]: "mine" } } });
    expect(name({ CLAUDE_CODE_PROJECT_DIR_NAME: "given" })).toBe("given");
    expect(name()).toBe("mine");
    f.put({ "home/.claude/memdir.json": { keying: { name: "everything" } } });
    expect(name()).toBe("everything");
    f.put({ "home/.claude/memdir.json": { keying: { name: ".." } } });
    const { dir, rejected } = located(f, root, { CLAUDE_CODE_PROJECT_DIR_NAME: "../../x" });
    expect(dir).toBe(path.join(f.home, ".claude/projects", slugOf(root), "memory"));
    expect(rejected.map(({ value }) => value)).toEqual(["../../x", ".."]);
  });

  it("C21 CLAUDE_CODE_REMOTE_MEMORY_DIR replaces the base", () => {
    const f = makeFixture();
    fs.mkdirSync(f.at("plain"));
    const name = path.join("projects", slugOf(f.at("plain")), "memory");
    const there = { CLAUDE_CODE_REMOTE_MEMORY_DIR: f.at("mnt") };
    expect(located(f, f.at("plain"), there).dir).toBe(path.join(f.at("mnt"), name));
    const refused = located(f, f.at("plain"), { CLAUDE_CODE_REMOTE_MEMORY_DIR: "mnt" });
    expect(refused.dir).toBe(path.join(f.home, ".claude", name));
    expect(refused.rejected).toHaveLength(1);
  });
});

describe("order of the sources", () => {
  it("B1.5 B1.6 option beats environment beats settings beats computed", () => {
    const f = makeFixture();
    const root = f.repository("repo");
    f.put({ "home/.claude/settings.json": { memoryDir: f.at("m2"), autoMemoryDirectory: f.at("m1") } });
    const env = {
      CLAUDE_COWORK_MEMORY_PATH_OVERRIDE: f.at("e3"),
      CLAUDE_MEMORY_DIR: f.at("e2"),
      MEMDIR_MEMORY_DIR: f.at("e1"),
    };
    const option = located(f, root, env, "../opt");
    expect(option).toMatchObject({ dir: f.at("opt"), source: "option", via: "--memory-dir" });
    expect(located(f, root, env)).toMatchObject({ dir: f.at("e1"), source: "env", via: "MEMDIR_MEMORY_DIR" });
    expect(located(f, root, { ...env, MEMDIR_MEMORY_DIR: "" })).toMatchObject({
      dir: f.at("e2"),
      via: "CLAUDE_MEMORY_DIR",
    });
    const last = { CLAUDE_COWORK_MEMORY_PATH_OVERRIDE: f.at("e3") };
    expect(located(f, root, last).dir).toBe(f.at("e3"));
    expect(located(f, root)).toMatchObject({ dir: f.at("m1"), source: "settings" });
    f.put({ "home/.claude/settings.json": { memoryDir: f.at("m2") } });
    expect(located(f, root)).toMatchObject({ dir: f.at("m2"), via: `memoryDir in ${f.home}/.claude/settings.json` });
  });

  it("C21 managed settings beat the user's", () => {
    const f = makeFixture();
    f.put({
      "managed/managed-settings.json": { autoMemoryDirectory: f.at("managed-mem") },
      "home/.claude/settings.json": { autoMemoryDirectory: f.at("user-mem") },
    });
    expect(located(f, f.repository("repo")).dir).toBe(f.at("managed-mem"));
  });

  it("B1.7 each refused source is reported and the next one taken", () => {
    const f = makeFixture();
    const root = f.repository("repo");
    f.put({ "home/.claude/settings.json": { autoMemoryDirectory: "/", memoryDir: "~/mem" } });
    const bad = {
      MEMDIR_MEMORY_DIR: "../mem",
      CLAUDE_MEMORY_DIR: "\\\\server\\share",
      CLAUDE_COWORK_MEMORY_PATH_OVERRIDE: f.home,
    };
    const location = located(f, root, bad);
    expect(location.dir).toBe(path.join(f.home, "mem"));
    expect(location.rejected.map(({ via }) => via)).toEqual([
      ...Object.keys(bad),
      `autoMemoryDirectory in ${f.home}/.claude/settings.json`,
    ]);
    expect(located(f, root, { CLAUDE_MEMORY_DIR: "/x/m\0" }).rejected).toHaveLength(2);
  });

  it("B1.7 a bad option is an error that says why", () => {
    const f = makeFixture();
    const root = f.repository("repo");
    for (const bad of ["", "/", ".", f.home, "..", "~", "//server/share", "\\\\server\\share", "a\0b"]) {
      const where = bad === ".." ? f.at("home") : root;
      fs.mkdirSync(path.join(f.home, "sub"), { recursive: true });
      expect(() => located(f, bad === ".." ? path.join(where, "sub") : where, {}, bad)).toThrow(
        expect.objectContaining({ code: "usage", message: expect.stringContaining("--memory-dir") }),
      );
    }
  });

  it("B1.7 links to the home or the repository are refused too, a memory directory under git is not", () => {
    const f = makeFixture();
    const root = f.repository("repo");
    fs.symlinkSync(f.home, f.at("to-home"));
    fs.symlinkSync(root, f.at("to-repo"));
    expect(located(f, root, { CLAUDE_MEMORY_DIR: f.at("to-home") }).rejected[0]?.reason).toMatch(/home directory/);
    expect(located(f, root, { CLAUDE_MEMORY_DIR: f.at("to-repo") }).rejected[0]?.reason).toMatch(/repository/);
    f.put({ "repo/MEMORY.md": "" });
    expect(located(f, root, {}, ".").dir).toBe(root);
  });
});

describe("C22 a repository's own settings", () => {
  it.each(["settings.json", "settings.local.json"])("%s: inside it yes, outside only when approved", (name) => {
    const f = makeFixture();
    const root = f.repository("repo");
    const ask = (dir: string) => {
      f.put({ [`repo/.claude/${name}`]: { autoMemoryDirectory: dir } });
      return located(f, root);
    };
    expect(ask(f.at("repo/.claude/memory"))).toMatchObject({ dir: f.at("repo/.claude/memory"), source: "settings" });
    const outside = ask(path.join(f.home, ".ssh"));
    expect(outside).toMatchObject({ source: "computed", rejected: [] });
    expect(outside.untrusted).toEqual({
      via: `autoMemoryDirectory in ${root}/.claude/${name}`,
      dir: path.join(f.home, ".ssh"),
      root,
    });
    f.put({ "home/.claude/memdir.json": { trusted: { [root]: f.at("elsewhere") } } });
    expect(ask(path.join(f.home, ".ssh")).source).toBe("computed");
    expect(ask(f.at("elsewhere"))).toMatchObject({ dir: f.at("elsewhere"), source: "settings", untrusted: null });
  });

  it("links out of the repository, dangling ones too, and .git do not count as inside", () => {
    const f = makeFixture();
    const root = f.repository("repo");
    fs.mkdirSync(f.at("out"));
    fs.symlinkSync(f.at("out"), f.at("repo/link"));
    fs.symlinkSync(f.at("nowhere"), f.at("repo/dangling"));
    for (const inner of ["link/mem", "dangling/mem", ".git/hooks", "../repo2"]) {
      f.put({ "repo/.claude/settings.json": { autoMemoryDirectory: `${root}/${inner}` } });
      expect(located(f, root)).toMatchObject({ source: "computed", untrusted: { root } });
    }
  });

  it("where the home directory is a repository, inside it proves nothing", () => {
    const f = makeFixture();
    fs.mkdirSync(path.join(f.home, ".git"));
    fs.mkdirSync(path.join(f.home, "sub"));
    f.put({ "home/.claude/settings.local.json": { autoMemoryDirectory: "~/.ssh" } });
    expect(located(f, path.join(f.home, "sub"))).toMatchObject({ source: "computed", untrusted: { root: f.home } });
  });

  it("the user's own word for the same directory settles it", () => {
    const f = makeFixture();
    const root = f.repository("repo");
    f.put({
      "repo/.claude/settings.json": { autoMemoryDirectory: f.at("mem") },
      "home/.claude/settings.json": { autoMemoryDirectory: f.at("mem") },
    });
    expect(located(f, root)).toMatchObject({ dir: f.at("mem"), untrusted: null });
  });
});
