/** Scopes side by side: user, project, team and agents, each with its own directory and index. */

import fs from "node:fs";
import path from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { openSandbox, type Sandbox } from "./run.ts";

let box: Sandbox;
const SCOPES = ["project", "user", "team", "agent:rev@local", "agent:rev@project", "agent:rev@user"];
const dirs = () => ({
  project: box.dir(),
  user: box.at("home/.claude/memory"),
  team: path.join(box.cwd, ".claude/memory"),
  "agent:rev@local": path.join(box.cwd, ".claude/agent-memory-local/rev"),
  "agent:rev@project": path.join(box.cwd, ".claude/agent-memory/rev"),
  "agent:rev@user": box.at("home/.claude/agent-memory/rev"),
});

beforeAll(async () => {
  box = openSandbox();
  for (const scope of SCOPES) await box.save("role", ["--scope", scope], `The role in ${scope}.`);
});

test("each scope has its own place (B9.2, C23, C25)", async () => {
  for (const [scope, dir] of Object.entries(dirs())) {
    expect(fs.readFileSync(path.join(dir, "user_role.md"), "utf8")).toContain(`The role in ${scope}.`);
    expect(fs.readFileSync(path.join(dir, "MEMORY.md"), "utf8")).toBe("- [role](user_role.md) — Says role\n");
  }
});

test("list shows them together with their scope; one file name in two scopes is two memories (C9)", async () => {
  const [json, human] = await Promise.all([box.json(["list"]), box.run(["list"])]);
  expect(json.map((row: { scope: string }) => row.scope)).toEqual(SCOPES);
  expect(new Set(json.map((row: { path: string }) => row.path)).size).toBe(6);
  expect(human.out).toMatch(/^6 memories:\n {4}\[user\] role — Says role \(today\)\n/);
  for (const scope of SCOPES.slice(1)) expect(human.out).toContain(`role — Says role (${scope}, today)\n`);
});

test("--scope restricts reading and writing to one; agent:NAME finds where the agent keeps its own", async () => {
  const all = await Promise.all(SCOPES.map((scope) => box.json(["list", "--scope", scope])));
  expect(all.map((rows) => rows.map((row: { scope: string }) => row.scope))).toEqual(SCOPES.map((scope) => [scope]));
  box.put("project/.claude/agents/rev.md", "---\nname: rev\nmemory: user\n---\nReview.\n");
  expect((await box.json(["list", "--scope", "agent:rev"]))[0].scope).toBe("agent:rev@user");
  fs.rmSync(path.join(box.cwd, ".claude/agents"), { recursive: true });
  const [index, history] = await Promise.all([
    box.json(["index", "--scope", "team"]),
    box.json(["history", "--scope", "team"]),
  ]);
  expect(index.dir).toBe(dirs().team);
  expect(history).toHaveLength(1);
});

test("a name that several scopes have is ambiguous: exit 2, each listed; --scope settles it", async () => {
  const ran = await box.run(["show", "role"]);
  expect(ran.code).toBe(2);
  for (const scope of SCOPES) expect(ran.err).toContain(`user_role.md (${scope})`);
  expect(ran.err).toMatch(/--scope/);
  const json = await box.run(["forget", "user_role.md", "--json"]);
  expect(JSON.parse(json.err).error.code).toBe("ambiguous");
  expect((await box.json(["show", "role", "--scope", "team"])).body).toBe("The role in team.");
});

test("search looks in all of them", async () => {
  const hits = await box.json(["search", "role", "agent:rev@local"]);
  expect(hits).toHaveLength(6);
  expect(hits[0].scope).toBe("agent:rev@local");
});

test("what forget prints undoes just that, also for a memory of another scope", async () => {
  await box.save("only there", ["--scope", "user"]);
  const before = await box.json(["list"]);
  const ran = await box.run(["forget", "only there"]);
  const undo = /; memdir (undo .*?) brings it back/.exec(ran.out)?.[1] ?? "";
  expect(await box.json(["list"])).toHaveLength(before.length - 1);
  expect((await box.run(undo.split(" "))).code).toBe(0);
  const files = (rows: { path: string }[]) => rows.map((row) => row.path).sort();
  expect(files(await box.json(["list"]))).toEqual(files(before));
});

test("team memory can be turned off (B9.1)", async () => {
  const off = await box.run(["list", "--json"], { env: { TEAMMEM: "0" } });
  expect(JSON.parse(off.out).map((row: { scope: string }) => row.scope)).not.toContain("team");
});

test("a repository's memories are readable for others, private ones are not; .memdir is not committed", async () => {
  const mode = (file: string) => fs.statSync(file).mode & 0o777;
  expect(mode(path.join(dirs().team, "user_role.md"))).toBe(0o644);
  expect(mode(path.join(dirs().project, "user_role.md"))).toBe(0o600);
  box.git(box.cwd, "add", "-A");
  expect(box.git(box.cwd, "status", "--porcelain").split("\n").sort()).toEqual(
    ["agent-memory-local/rev", "agent-memory/rev", "memory"]
      .flatMap((dir) => [`A  .claude/${dir}/MEMORY.md`, `A  .claude/${dir}/user_role.md`])
      .sort(),
  );
});

test("a repository whose .claude/memory is a link out of it is refused", async () => {
  const evil = box.repository("evil");
  fs.mkdirSync(box.at("home/private"));
  fs.mkdirSync(path.join(evil, ".claude"));
  fs.symlinkSync(box.at("home/private"), path.join(evil, ".claude/memory"));
  const ran = await box.run(["save", "--type", "user", "--name", "x", "--scope", "team"], { input: "x", cwd: evil });
  expect(ran.code).toBe(2);
  expect(ran.err).toMatch(/is a link that leads out of/);
  expect(fs.readdirSync(box.at("home/private"))).toEqual([]);
});

describe("another directory", () => {
  test("--memory-dir: absolute, relative to --cwd, with ~", async () => {
    for (const [given, dir] of [
      [box.at("abs/notes"), box.at("abs/notes")],
      ["below/notes", path.join(box.cwd, "below/notes")],
      ["~/notes", box.at("home/notes")],
    ] as const) {
      const ran = await box.run(["save", "--type", "user", "--name", "x", "--json", "--memory-dir", given], {
        input: "x",
      });
      expect(JSON.parse(ran.out).path).toBe(path.join(dir, "user_x.md"));
    }
    const rows = await box.json(["list", "--memory-dir", box.at("abs/notes"), "--scope", "project"]);
    expect(rows.map((row: { file: string }) => row.file)).toEqual(["user_x.md"]);
  });

  test("MEMDIR_MEMORY_DIR goes before CLAUDE_MEMORY_DIR; a refused one is said and the next is taken (B1.5, B1.6, B1.7, C21)", async () => {
    const index = (env: Record<string, string>) => box.run(["index", "--json"], { env });
    const own = await index({ MEMDIR_MEMORY_DIR: box.at("one"), CLAUDE_MEMORY_DIR: box.at("two") });
    expect(JSON.parse(own.out).dir).toBe(box.at("one"));
    const alias = await index({ CLAUDE_MEMORY_DIR: box.at("two") });
    expect(JSON.parse(alias.out).dir).toBe(box.at("two"));
    for (const bad of ["../up", "/", "\\\\server\\share", "~"]) {
      const ran = await index({ MEMDIR_MEMORY_DIR: bad, CLAUDE_MEMORY_DIR: box.at("two") });
      expect(JSON.parse(ran.out).dir).toBe(box.at("two"));
      expect(ran.err).toMatch(/^memdir: warning: MEMDIR_MEMORY_DIR .* is not used: /);
    }
  });

  test("CLAUDE_CONFIG_DIR moves everything (C4)", async () => {
    const ran = await box.run(["index", "--json"], { env: { CLAUDE_CONFIG_DIR: box.at("conf") } });
    expect(JSON.parse(ran.out).dir).toBe(
      path.join(box.at("conf"), "projects", box.cwd.replace(/[^a-zA-Z0-9]/g, "-"), "memory"),
    );
  });
});
