import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { locate } from "../../src/project/locate.ts";
import {
  getTeamMemDir,
  getTeamMemPath,
  listScopes,
  type ScopeContext,
  scopeDirectory,
} from "../../src/project/scopes.ts";
import { type Fixture, makeFixture } from "./fixture.ts";

function contextOf(f: Fixture, cwd: string, env = {}): ScopeContext {
  const config = f.config(cwd, env);
  const { dir, project } = locate({ cwd, config });
  return { config, project, dir };
}

describe("scopeDirectory", () => {
  it("user, project and team", () => {
    const f = makeFixture();
    f.put({ "repo/a/x.txt": "" });
    const root = f.repository("repo");
    f.git(root, "worktree", "add", "-q", f.at("wt"));
    const context = contextOf(f, f.at("wt/a"));
    const outside = { committable: false };
    expect(scopeDirectory("user", context)).toEqual({ scope: "user", dir: f.at("home/.claude/memory"), ...outside });
    expect(scopeDirectory("project", context)).toEqual({ scope: "project", dir: context.dir, ...outside });
    const team = { scope: "team", dir: f.at("wt/.claude/memory"), committable: true };
    expect(scopeDirectory("team", context)).toEqual(team);
    const inside = contextOf(f, root, { CLAUDE_MEMORY_DIR: f.at("repo/notes") });
    expect(scopeDirectory("project", inside)).toMatchObject({ committable: true });
  });

  it("B9.1 B9.2 the team's directory and a file in it by type and name", () => {
    expect(getTeamMemDir("/r")).toBe(path.join("/r", ".claude", "memory"));
    expect(getTeamMemPath("/r", "feedback", "use-tabs")).toBe(path.join("/r/.claude/memory/feedback/use-tabs.md"));
    expect(getTeamMemPath("/r", "user", "role.md")).toBe(path.join("/r/.claude/memory/user/role.md"));
    for (const [type, name] of [
      ["..", "x"],
      ["user", "../x"],
      ["user", ""],
      ["a/b", "x"],
      ["user", "x\0"],
    ] as const) {
      expect(() => getTeamMemPath("/r", type, name)).toThrow(expect.objectContaining({ code: "usage" }));
    }
  });

  it("C25 agents: three places, a colon becomes a dash", () => {
    const f = makeFixture();
    const context = contextOf(f, f.repository("repo"));
    const dirOf = (scope: string) => scopeDirectory(scope, context).dir;
    expect(dirOf("agent:rev@user")).toBe(f.at("home/.claude/agent-memory/rev"));
    expect(dirOf("agent:rev@project")).toBe(f.at("repo/.claude/agent-memory/rev"));
    expect(dirOf("agent:rev@local")).toBe(f.at("repo/.claude/agent-memory-local/rev"));
    expect(dirOf("agent:plug:rev@user")).toBe(f.at("home/.claude/agent-memory/plug-rev"));
    expect(scopeDirectory("agent:rev@project", context)).toMatchObject({ committable: true });
    expect(scopeDirectory("agent:rev@local", context)).toMatchObject({ committable: false });
  });

  it("C25 a local agent's directory that is committed is shared all the same", () => {
    const f = makeFixture();
    f.put({ "repo/.claude/agent-memory-local/helper/deploy.md": "x", "repo/.claude/agent-memory-local/hid/a.md": "x" });
    f.put({ "repo/.gitignore": "hid\n", "repo/sub/.claude/agent-memory-local/inner/a.md": "x" });
    const root = f.repository("repo");
    const isCommittable = (name: string, cwd = root) =>
      scopeDirectory(`agent:${name}@local`, contextOf(f, cwd)).committable;
    expect(["helper", "hid", "new"].map((name) => isCommittable(name))).toEqual([true, false, false]);
    f.git(root, "worktree", "add", "-q", f.at("tree"));
    expect(["helper", "hid"].map((name) => isCommittable(name, f.at("tree")))).toEqual([true, false]);
    f.git(root, "update-index", "--index-version", "4");
    expect(isCommittable("helper")).toBe(true);
    f.git(root, "update-index", "--index-version", "2");
    f.git(root, "rm", "-rq", "--cached", ".claude/agent-memory-local/helper");
    expect(isCommittable("helper")).toBe(false);
    f.git(root, "update-index", "--split-index");
    expect(isCommittable("helper")).toBe(true);
    // `.claude` may be a submodule, and a file of git may be broken.
    f.git(f.at("repo/sub/.claude"), "init", "-q");
    f.git(f.at("repo/sub/.claude"), "add", ".");
    fs.mkdirSync(f.at("repo/sub/.git"));
    expect(isCommittable("inner", f.at("repo/sub"))).toBe(true);
    fs.writeFileSync(f.at("repo/sub/.claude/.git/index"), "");
    expect(isCommittable("inner", f.at("repo/sub"))).toBe(true);
  });

  it("B9.6 without a place: the definition's memory line, else where it has memories, else the project", () => {
    const f = makeFixture();
    f.put({
      "repo/.claude/agents/rev.md": "---\r\nname: rev\r\nmemory: local # ours\r\n---\r\nmemory: user\r\n",
      "home/.claude/agents/rev.md": "---\nmemory: user\n---\n",
      "home/.claude/agents/mine.md": '---\nmemory: "user"\n---\n',
      "home/.claude/agents/odd.md": "---\nmemory: galaxy\n---\nmemory: user\n",
      "home/.claude/agent-memory/old/a.md": "",
    });
    const context = contextOf(f, f.repository("repo"));
    const scopeOf = (name: string) => scopeDirectory(`agent:${name}`, context).scope;
    expect(scopeOf("rev")).toBe("agent:rev@local");
    expect(scopeOf("mine")).toBe("agent:mine@user");
    expect(scopeOf("old")).toBe("agent:old@user");
    expect(scopeOf("odd")).toBe("agent:odd@project");
    expect(scopeOf("new")).toBe("agent:new@project");
  });

  it.runIf(process.platform !== "win32")(
    "a definition that is no regular file says nothing, and holds nothing up",
    () => {
      const f = makeFixture();
      f.put({ "repo/.claude/agents/long.md": `---\nmemory: user\n---\n${"x".repeat(100_000)}` });
      execFileSync("mkfifo", [f.at("pipe")]);
      fs.symlinkSync(f.at("pipe"), f.at("repo/.claude/agents/pipe.md"));
      const context = contextOf(f, f.repository("repo"));
      expect(scopeDirectory("agent:pipe", context).scope).toBe("agent:pipe@project");
      expect(scopeDirectory("agent:long", context).scope).toBe("agent:long@user");
    },
  );

  it("B9.7 C25 the shared layout: one directory per scope, local is the committed one of the worktree", () => {
    const f = makeFixture();
    f.put({ "home/.claude/memdir.json": { scopeLayout: "shared" } });
    const context = contextOf(f, f.repository("repo"));
    const dirOf = (scope: string) => scopeDirectory(scope, context).dir;
    expect(dirOf("agent:a@user")).toBe(f.at("home/.claude/memory"));
    expect(dirOf("agent:a@project")).toBe(context.dir);
    expect(dirOf("agent:a@local")).toBe(f.at("repo/.claude/memory"));
    expect(dirOf("agent:b@local")).toBe(dirOf("agent:a@local"));
    expect(scopeDirectory("agent:a@local", context)).toMatchObject({ scope: "agent:a@local", committable: true });
  });

  it.each([
    "galaxy",
    "",
    "agent",
    "agent:",
    "agent:a/b",
    "agent:a\\b",
    "agent:..",
    "agent:a\0",
    "agent:x@moon",
    "agent:@user",
  ])("refuses %j", (scope) => {
    const f = makeFixture();
    const context = contextOf(f, f.top);
    expect(() => scopeDirectory(scope, context)).toThrow(expect.objectContaining({ code: "usage" }));
  });

  it("names the valid scopes", () => {
    const f = makeFixture();
    expect(() => scopeDirectory("galaxy", contextOf(f, f.top))).toThrow(/user, project, team, agent:NAME/);
  });

  it("C22 a repository's link to a place outside is refused", () => {
    const f = makeFixture();
    const root = f.repository("repo");
    fs.mkdirSync(f.at("repo/.claude"));
    fs.mkdirSync(f.at("secret"));
    fs.symlinkSync(f.at("secret"), f.at("repo/.claude/memory"));
    fs.symlinkSync(f.at("gone"), f.at("repo/.claude/agent-memory"));
    const context = contextOf(f, root);
    for (const scope of ["team", "agent:a@project"]) {
      expect(() => scopeDirectory(scope, context)).toThrow(expect.objectContaining({ code: "outside" }));
    }
    expect(listScopes(context)).toEqual([]);
  });
});

describe("listScopes", () => {
  it("lists what exists, the project first, each directory once", () => {
    const f = makeFixture();
    const root = f.repository("repo");
    expect(listScopes(contextOf(f, root))).toEqual([]);
    f.put({
      "home/.claude/memory/a.md": "",
      "repo/.claude/memory/a.md": "",
      "repo/.claude/agent-memory/rev/a.md": "",
      "repo/.claude/agent-memory/.hidden/a.md": "",
      "repo/.claude/agent-memory/file.md": "",
      "home/.claude/agent-memory/rev/a.md": "",
      "repo/.claude/agent-memory-local/doc/a.md": "",
    });
    const context = contextOf(f, root);
    fs.mkdirSync(context.dir, { recursive: true });
    const names = ["project", "user", "team", "agent:doc@local", "agent:rev@project", "agent:rev@user"];
    expect(listScopes(context).map(({ scope }) => scope)).toEqual(names);
    const same = contextOf(f, root, { CLAUDE_MEMORY_DIR: f.at("repo/.claude/memory"), TEAMMEM: "1" });
    expect(listScopes(same).map(({ scope }) => scope)).toEqual(names.filter((name) => name !== "team"));
  });

  it("B9.1 TEAMMEM=0 leaves the team out", () => {
    const f = makeFixture();
    f.put({ "repo/.claude/memory/a.md": "" });
    const root = f.repository("repo");
    expect(listScopes(contextOf(f, root)).map(({ scope }) => scope)).toEqual(["team"]);
    expect(listScopes(contextOf(f, root, { TEAMMEM: "0" }))).toEqual([]);
  });
});
