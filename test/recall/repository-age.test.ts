import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { openMemdir } from "../../src/open.ts";
import { makeTemporary } from "../temporary.ts";

const NOW = new Date("2026-11-16T12:00:00.000Z");

/** A clone made today of a repository whose memory was committed in August. */
function cloneOld(): { top: string; cwd: string; env: Record<string, string> } {
  const top = makeTemporary("age");
  const env = { HOME: path.join(top, "home"), PATH: process.env.PATH ?? "" };
  const git = (cwd: string, ...args: string[]) =>
    execFileSync("git", ["-c", "user.name=x", "-c", "user.email=x@example.invalid", ...args], {
      cwd,
      env: { ...env, GIT_COMMITTER_DATE: "2026-08-05T00:00:00Z", GIT_AUTHOR_DATE: "2026-08-05T00:00:00Z" },
    });
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
  return { top, cwd: path.join(top, "clone"), env };
}

it("C15 recall dates a memory of a repository by its commit, as list does, from the first prompt on", async () => {
  const { cwd, env } = cloneOld();
  const open = () => openMemdir({ cwd, env, now: () => NOW, embed: null });
  const { memories } = await (await open()).recall("how does the beta deploy pipeline run?");
  expect(memories.map(({ ageDays }) => ageDays)).toEqual([103]);
  expect((await (await open()).list()).map(({ ageDays }) => ageDays)).toEqual([103]);
  expect((await (await open()).recall("beta deploy pipeline")).memories[0]?.ageDays).toBe(103);
});
