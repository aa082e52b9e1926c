import fs from "node:fs";
import { expect, it } from "vitest";
import { findOrphans } from "../../src/project/owner.ts";
import { makeFixture } from "./fixture.ts";

const record = (root: string, more: object = {}) => ({ roots: [root], rootCommit: null, remote: null, ...more });

it("finds directories of gone projects by first commit, remote or name, the surest first", () => {
  const f = makeFixture();
  const gone = f.at("gone/app");
  const projects = "home/.claude/projects";
  f.put({
    [`${projects}/ours/memory/a.md`]: "",
    [`${projects}/ours/memory/.memdir/project.json`]: record(gone, { rootCommit: "aaa" }),
    [`${projects}/by-commit/memory/a.md`]: "",
    [`${projects}/by-commit/memory/.memdir/project.json`]: record(f.at("gone/x"), { rootCommit: "aaa" }),
    [`${projects}/by-remote/memory/a.md`]: "",
    [`${projects}/by-remote/memory/user/b.md`]: "",
    [`${projects}/by-remote/memory/.memdir/project.json`]: record(f.at("gone/y"), { remote: "git@host:o/r.git" }),
    // Claude Code's own folder: only the transcript tells.
    [`${projects}/by-name/memory/a.md`]: "",
    [`${projects}/by-name/s.jsonl`]: `{"type":"mode"}\n{"type":"user","cwd":${JSON.stringify(gone)}}\n{"cwd":"/later"}\n`,
    [`${projects}/flat/a.md`]: "",
    [`${projects}/flat/s.jsonl`]: `${JSON.stringify({ cwd: gone })}\n`,
    // Alive, empty, of another name, unknown.
    [`${projects}/alive/memory/a.md`]: "",
    [`${projects}/alive/memory/.memdir/project.json`]: record(f.home, { rootCommit: "aaa" }),
    [`${projects}/empty/memory/MEMORY.md`]: "",
    [`${projects}/empty/memory/.memdir/project.json`]: record(gone),
    [`${projects}/other/memory/a.md`]: "",
    [`${projects}/other/memory/.memdir/project.json`]: record(f.at("gone/other")),
    [`${projects}/unknown/memory/a.md`]: "",
    [`${projects}/unknown/s.jsonl`]: "not json\n",
  });
  fs.mkdirSync(f.at(projects, "odd/memory"), { recursive: true });
  fs.writeFileSync(f.at(projects, "file"), "");
  const identity = { root: f.at("new/app"), rootCommit: "aaa", remote: "https://host/o/r" };
  const orphans = findOrphans({ config: f.config(f.top), identity, dir: f.at(projects, "ours/memory") });
  expect(orphans).toEqual([
    {
      dir: f.at(projects, "by-remote/memory"),
      memories: 2,
      recordedRoot: f.at("gone/y"),
      reason: "remote",
      sure: true,
    },
    {
      dir: f.at(projects, "by-commit/memory"),
      memories: 1,
      recordedRoot: f.at("gone/x"),
      reason: "root-commit",
      sure: true,
    },
    { dir: f.at(projects, "by-name/memory"), memories: 1, recordedRoot: gone, reason: "name", sure: false },
    { dir: f.at(projects, "flat"), memories: 1, recordedRoot: gone, reason: "name", sure: false },
  ]);
});

it("asks the newest transcript, and reads only its head", () => {
  const f = makeFixture();
  const folder = "home/.claude/projects/p";
  f.put({
    [`${folder}/memory/a.md`]: "",
    [`${folder}/old.jsonl`]: `${JSON.stringify({ cwd: f.at("gone/other") })}\n`,
    [`${folder}/new.jsonl`]: `${JSON.stringify({ cwd: f.at("gone/app") })}\n`,
  });
  fs.utimesSync(f.at(folder, "old.jsonl"), 1, 1);
  const find = () =>
    findOrphans({
      config: f.config(f.top),
      identity: { root: f.at("here/app"), rootCommit: null, remote: null },
      dir: f.at("elsewhere"),
    });
  expect(find()).toMatchObject([{ recordedRoot: f.at("gone/app") }]);
  f.put({ [`${folder}/new.jsonl`]: `${"x".repeat(70_000)}\n${JSON.stringify({ cwd: f.at("gone/app") })}\n` });
  expect(find()).toEqual([]);
});

it("is empty where nothing is", () => {
  const f = makeFixture();
  const identity = { root: f.top, rootCommit: null, remote: null };
  expect(findOrphans({ config: f.config(f.top), identity, dir: f.at("x") })).toEqual([]);
});
