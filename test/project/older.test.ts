import fs from "node:fs";
import { expect, it } from "vitest";
import { locate, separatorSlug, sha256Key, slugOf } from "../../src/project/locate.ts";
import { findOlderDirectories } from "../../src/project/scopes.ts";
import { type Fixture, makeFixture } from "./fixture.ts";

function older(f: Fixture, cwd: string, env = {}) {
  const config = f.config(cwd, env);
  const { dir, project } = locate({ cwd, config });
  return findOlderDirectories({ config, project, dir }).map((found) => [found.layout, found.dir, found.recursive]);
}

it("C1 C3 finds every other keying and layout that holds a memory, never the one in use", () => {
  const f = makeFixture();
  f.put({ "my.repo/a/x.txt": "" });
  const root = f.repository("my.repo");
  f.git(root, "worktree", "add", "-q", f.at("wt"));
  const cwd = f.at("wt/a");
  const projects = "home/.claude/projects";
  const made = [
    ["flat-000", `${projects}/${separatorSlug(root)}`, false],
    ["flat-000", `${projects}/${slugOf(root)}`, false],
    ["worktree-slug", `${projects}/${slugOf(f.at("wt"))}/memory`, true],
    ["cwd-slug", `${projects}/${slugOf(cwd)}/memory`, true],
    ["sha256-16", `${projects}/${sha256Key(root)}/memory`, true],
    ["sha256-16", `${projects}/${sha256Key(cwd)}/memory`, true],
    ["mini-claude", `home/.mini-claude/projects/${sha256Key(root)}/memory`, true],
    ["mini-claude", `home/.mini-claude/projects/${sha256Key(cwd)}/memory`, true],
  ] as const;
  expect(older(f, cwd)).toEqual([]);
  for (const [, dir, recursive] of made) f.put({ [recursive ? `${dir}/user/one.md` : `${dir}/one.md`]: "text" });
  f.put({ [`${projects}/${slugOf(root)}/memory/own.md`]: "text" });
  expect(older(f, cwd)).toEqual(made.map(([layout, dir, recursive]) => [layout, f.at(dir), recursive]));
});

it("C1 with another keying configured, Claude Code's slug directory is the other one", () => {
  const f = makeFixture();
  const root = f.repository("repo");
  f.put({
    "home/.claude/memdir.json": { keying: "sha256-16" },
    [`home/.claude/projects/${slugOf(root)}/memory/a.md`]: "text",
  });
  expect(older(f, root)).toEqual([["slug", f.at("home/.claude/projects", slugOf(root), "memory"), true]]);
});

it("C3 an index alone, hidden files, links and other files are no memories", () => {
  const f = makeFixture();
  const root = f.repository("my.repo");
  const flat = `home/.claude/projects/${separatorSlug(root)}`;
  f.put({
    [`${flat}/MEMORY.md`]: "",
    [`${flat}/.x.md`]: "",
    [`${flat}/s.jsonl`]: "",
    [`${flat}/sub/deep.md`]: "",
    "o.md": "",
  });
  fs.symlinkSync(f.at("o.md"), f.at(flat, "link.md"));
  expect(older(f, root)).toEqual([]);
});
