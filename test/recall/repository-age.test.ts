import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { openMemdir } from "../../src/open.ts";
import { readRowCache } from "../../src/store/store.ts";
import { makeTemporary } from "../temporary.ts";

const NOW = new Date("2026-11-16T12:00:00.000Z");

/** A clone made today of a repository whose memory was committed in August. */
function cloneOld() {
  const top = makeTemporary("age");
  const env = { HOME: path.join(top, "home"), PATH: process.env.PATH ?? "" };
  const gitOn = (day: string, cwd: string, ...args: string[]) =>
    execFileSync("git", ["-c", "user.name=x", "-c", "user.email=x@example.invalid", ...args], {
      cwd,
      env: { ...env, GIT_COMMITTER_DATE: `${day}T00:00:00Z`, GIT_AUTHOR_DATE: `${day}T00:00:00Z` },
    });
  const git = (cwd: string, ...args: string[]) => gitOn("2026-08-05", cwd, ...args);
  const origin = path.join(top, "origin");
  fs.mkdirSync(path.join(origin, ".claude", "memory"), { recursive: true });
  fs.mkdirSync(env.HOME);
  const text = "---\nname: beta\ndescription: about the beta deploy pipeline\ntype: project\n---\n\nIt runs nightly.\n";
  fs.writeFileSync(path.join(origin, ".claude", "memory", "beta.md"), text);
  fs.writeFileSync(path.join(origin, ".claude", "memory", "MEMORY.md"), "- [beta](beta.md)\n");
  git(origin, "init", "-q");
  git(origin, "add", "-A");
  git(origin, "commit", "-q", "-m", "x");
  git(top, "clone", "-q", origin, "clone");
  return { cwd: path.join(top, "clone"), env, gitOn };
}

it("C15 recall dates a memory of a repository by its commit, as list does, from the first prompt on", async () => {
  const { cwd, env } = cloneOld();
  const open = () => openMemdir({ cwd, env, now: () => NOW, embed: null });
  const { memories } = await (await open()).recall("how does the beta deploy pipeline run?");
  expect(memories.map(({ ageDays }) => ageDays)).toEqual([103]);
  expect((await (await open()).list()).map(({ ageDays }) => ageDays)).toEqual([103]);
  expect((await (await open()).recall("beta deploy pipeline")).memories[0]?.ageDays).toBe(103);
});

it("C15 a process that stays open dates memories by the commits that come meanwhile, and leaves the dates to lists and hooks", async () => {
  const { cwd, env, gitOn } = cloneOld();
  const open = () => openMemdir({ cwd, env, now: () => NOW, embed: null });
  const memdir = await open();
  const ageOf = async () => (await memdir.recall("how does the beta deploy pipeline run?")).memories[0]?.ageDays;
  expect(await ageOf()).toBe(103);
  fs.appendFileSync(path.join(cwd, ".claude", "memory", "beta.md"), "It takes an hour.\n");
  gitOn("2026-11-06", cwd, "commit", "-q", "-a", "-m", "y");
  expect(await ageOf()).toBe(10);
  expect(await ageOf()).toBe(10);
  const rows = readRowCache({ path: path.join(cwd, ".claude", "memory") }, "rows").entries;
  expect([...rows.values()].map(({ commitMs }) => commitMs)).toEqual([Date.parse("2026-11-06T00:00:00Z")]);
});
