import fs from "node:fs";
import { describe, expect, it } from "vitest";
import { findProject } from "../../src/project/locate.ts";
import { makeFixture } from "./fixture.ts";

describe("findProject", () => {
  it("C2 a repository's subdirectories share its root, an empty .git is enough", () => {
    const f = makeFixture();
    f.put({ "repo/a/b/x.txt": "" });
    const root = f.repository("repo");
    expect(findProject(f.at("repo/a/b"))).toEqual({
      cwd: f.at("repo/a/b"),
      root,
      gitRoot: root,
      worktreeRoot: root,
      insideGit: true,
    });
    fs.mkdirSync(f.at("empty/.git"), { recursive: true });
    expect(findProject(f.at("empty")).root).toBe(f.at("empty"));
  });

  it("C2 outside git the directory itself counts, links resolved", () => {
    const f = makeFixture();
    fs.mkdirSync(f.at("plain/sub"), { recursive: true });
    fs.symlinkSync(f.at("plain"), f.at("link"));
    const expected = { root: f.at("plain/sub"), gitRoot: null, worktreeRoot: null, insideGit: false };
    expect(findProject(f.at("link/sub"))).toEqual({ cwd: f.at("plain/sub"), ...expected });
    expect(findProject(f.at("link/sub/gone")).root).toBe(f.at("plain/sub/gone"));
  });

  it("C2 linked worktrees share the main root; scope worktree and cwd do not", () => {
    const f = makeFixture();
    f.put({ "repo/a/x.txt": "" });
    const root = f.repository("repo");
    f.git(root, "worktree", "add", "-q", f.at("wt"));
    f.git(root, "worktree", "add", "-q", f.at("repo/.wt/two"));
    const project = findProject(f.at("wt/a"));
    expect(project).toMatchObject({ root, gitRoot: root, worktreeRoot: f.at("wt"), insideGit: true });
    expect(findProject(f.at("repo/.wt/two/a")).root).toBe(root);
    expect(findProject(f.at("wt/a"), { projectScope: "worktree" }).root).toBe(f.at("wt"));
    expect(findProject(f.at("wt/a"), { projectScope: "cwd" }).root).toBe(f.at("wt/a"));
    fs.symlinkSync(f.at("wt"), f.at("link"));
    expect(findProject(f.at("link")).root).toBe(root);
  });

  it("C2 a .git file that names somebody else's repository gets nothing of it", () => {
    const f = makeFixture();
    const root = f.repository("repo");
    f.git(root, "worktree", "add", "-q", f.at("wt"));
    const gitFile = fs.readFileSync(f.at("wt/.git"), "utf8");
    f.put({
      // The back-link of that entry names another folder.
      "copy/.git": gitFile,
      // Not an entry of the repository's own list.
      "fake/.git": `gitdir: ${f.at("fake/entry")}\n`,
      "fake/entry/commondir": `${root}/.git\n`,
      "fake/entry/gitdir": `${f.at("fake/.git")}\n`,
      "main/.git": `gitdir: ${root}/.git\n`,
      "broken/.git": "what is this",
    });
    for (const name of ["copy", "fake", "main", "broken"]) expect(findProject(f.at(name)).root).toBe(f.at(name));
    expect(findProject(f.at("wt")).root).toBe(root);
  });

  it("C2 submodules and inner repositories have their own; a submodule's worktree shares the submodule's", () => {
    const f = makeFixture();
    f.repository("lib");
    const root = f.repository("repo");
    f.git(root, "submodule", "add", "-q", f.at("lib"), "sub");
    f.repository("repo/inner");
    expect(findProject(f.at("repo/sub")).root).toBe(f.at("repo/sub"));
    expect(findProject(f.at("repo/inner")).root).toBe(f.at("repo/inner"));
    f.git(f.at("repo/sub"), "worktree", "add", "-q", f.at("sub-wt"));
    expect(findProject(f.at("sub-wt"))).toMatchObject({ root: f.at("repo/sub"), worktreeRoot: f.at("sub-wt") });
  });

  it("C2 worktrees of a bare repository share its directory", () => {
    const f = makeFixture();
    f.repository("seed");
    f.git(f.top, "clone", "-q", "--bare", f.at("seed"), f.at("app.git"));
    f.git(f.at("app.git"), "worktree", "add", "-q", f.at("one"));
    f.git(f.at("app.git"), "worktree", "add", "-q", "-b", "other", f.at("two"));
    expect(findProject(f.at("one")).root).toBe(f.at("app.git"));
    expect(findProject(f.at("two"))).toMatchObject({ root: f.at("app.git"), worktreeRoot: f.at("two") });
    // The other common layout: the bare repository is called .git.
    f.git(f.top, "clone", "-q", "--bare", f.at("seed"), f.at("hub/.git"));
    f.git(f.at("hub/.git"), "worktree", "add", "-q", f.at("hub/main"));
    expect(findProject(f.at("hub/main")).root).toBe(f.at("hub"));
  });
});
