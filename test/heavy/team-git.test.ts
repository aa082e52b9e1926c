/** Two people's branches meet in a real repository, through the built merge driver: merge and rebase. */

import { execFileSync, spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { afterEach, expect, test } from "vitest";
import { dist, type HeavyWorld, makeWorld, removeWorlds } from "./fixtures/heavy.ts";

afterEach(removeWorlds);

const BODY = "# Build\n\nRun make.\n\n# Deploy\n\nOn Tuesdays.\n";

function openRepository() {
  const world: HeavyWorld = makeWorld();
  const names = ["AUTHOR", "COMMITTER"].flatMap((who) => [
    [`GIT_${who}_NAME`, "Ada"],
    [`GIT_${who}_EMAIL`, "ada@example.invalid"],
  ]);
  const env = { ...world.env, GIT_CONFIG_NOSYSTEM: "1", GIT_EDITOR: "true", ...Object.fromEntries(names) };
  const options = { cwd: world.project, env, encoding: "utf8" as const };
  const folder = path.join(world.project, ".claude", "memory");
  const repository = {
    folder,
    git: (...args: string[]) => spawnSync("git", args, options),
    memdir: (args: string[], input = "") =>
      execFileSync(process.execPath, [path.join(dist, "cli.js"), ...args], { ...options, input }),
    save: (name: string, body: string) =>
      repository.memdir(["save", "--scope", "team", "--type", "project", "--name", name, "--file", "-"], body),
    commit: (message: string) => {
      repository.git("add", "-A");
      expect(repository.git("commit", "-q", "-m", message).status).toBe(0);
    },
    read: (file: string) => fs.readFileSync(path.join(folder, file), "utf8"),
    write: (file: string, text: string) => fs.writeFileSync(path.join(folder, file), text),
    edit: (file: string, from: string, to: string) => {
      expect(repository.read(file)).toContain(from);
      repository.write(file, repository.read(file).replace(from, to));
    },
    files: () =>
      fs
        .readdirSync(folder)
        .filter((file) => !file.startsWith("."))
        .sort(),
    lines: () => [...repository.read("MEMORY.md").matchAll(/\((project_\w+\.md)\)/g)].map(([, file]) => file).sort(),
    /** Both branches start from here; `ours` ends up checked out. */
    fork: (ours: () => void, theirs: () => void) => {
      repository.git("checkout", "-q", "-b", "theirs");
      theirs();
      repository.commit("theirs");
      repository.git("checkout", "-q", "main");
      ours();
      repository.commit("ours");
    },
  };
  repository.git("init", "-q", "-b", "main");
  repository.memdir(["init", "--team", "--yes"]);
  repository.save("x", BODY);
  repository.commit("base");
  return repository;
}

const WAYS = [
  ["merge", ["merge", "-q", "--no-edit", "theirs"]],
  ["rebase", ["rebase", "-q", "theirs"]],
] as const;

test.each(WAYS)("both add: every memory and every line is there (%s)", (_, way) => {
  const repository = openRepository();
  repository.fork(
    () => ["a", "b"].map((name) => repository.save(name, "Ours.")),
    () => ["c", "d"].map((name) => repository.save(name, "Theirs.")),
  );
  expect(repository.git(...way).status).toBe(0);
  const all = ["a", "b", "c", "d", "x"].map((name) => `project_${name}.md`);
  expect(repository.lines()).toEqual(all);
  expect(repository.files()).toEqual(["MEMORY.md", ...all]);
  expect(repository.git("status", "--porcelain").stdout).toBe("");
});

test.each(WAYS)("different sections: both changes, no question (%s)", (_, way) => {
  const repository = openRepository();
  repository.fork(
    () => repository.edit("project_x.md", "make", "ninja"),
    () => repository.edit("project_x.md", "Tuesdays", "Fridays"),
  );
  expect(repository.git(...way).status).toBe(0);
  expect(repository.read("project_x.md")).toContain("Run ninja.\n\n# Deploy\n\nOn Fridays.");
});

test.each(WAYS)("the same section: a whole memory, a copy beside it, and git says so (%s)", (_, way) => {
  const repository = openRepository();
  repository.fork(
    () => repository.edit("project_x.md", "Tuesdays", "Mondays"),
    () => repository.edit("project_x.md", "Tuesdays", "Fridays"),
  );
  const { status, stdout, stderr } = repository.git(...way);
  expect(status).toBe(1);
  expect(stdout + stderr).toContain("changed in the same place on both sides");
  const copies = repository.files().filter((file) => file.includes("-conflict-"));
  expect(copies).toHaveLength(1);
  const texts = [repository.read("project_x.md"), repository.read(copies[0] as string)];
  expect(texts.join()).not.toContain("<<<<<<<");
  expect(texts.map((text) => /On (\w+)\./.exec(text)?.[1]).sort()).toEqual(["Fridays", "Mondays"]);
  expect(repository.git("status", "--porcelain").stdout).toMatch(/^UU \.claude\/memory\/project_x\.md$/m);
});

test.each(WAYS)("one renames, the other edits: the edit is under the new name (%s)", (_, way) => {
  const repository = openRepository();
  repository.fork(
    () => repository.edit("project_x.md", "make", "ninja"),
    () => repository.memdir(["rename", "--scope", "team", "x", "how we ship"]),
  );
  expect(repository.git(...way).status).toBe(0);
  expect(repository.files()).toEqual(["MEMORY.md", "project_how_we_ship.md"]);
  expect(repository.read("project_how_we_ship.md")).toContain("Run ninja.");
  expect(repository.lines()).toEqual(["project_how_we_ship.md"]);
});

test.each(WAYS)("one deletes: gone with its line; edited by the other it stays and git asks (%s)", (_, way) => {
  const repository = openRepository();
  repository.save("y", "Goes.");
  repository.commit("y");
  repository.fork(
    () => repository.save("z", "New."),
    () => repository.memdir(["forget", "--scope", "team", "y"]),
  );
  expect(repository.git(...way).status).toBe(0);
  expect(repository.lines()).toEqual(["project_x.md", "project_z.md"]);
  repository.git("branch", "-D", "theirs");
  repository.fork(
    () => repository.edit("project_x.md", "make", "ninja"),
    () => repository.memdir(["forget", "--scope", "team", "x"]),
  );
  expect(repository.git(...way).status).toBe(1);
  expect(repository.read("project_x.md")).toContain("Run ninja.");
});

test("branches that merged one another: no copy comes from the ancestors that git makes up", () => {
  const repository = openRepository();
  repository.fork(
    () => repository.edit("project_x.md", "Tuesdays", "Mondays"),
    () => repository.edit("project_x.md", "make", "ninja"),
  );
  repository.git("branch", "old");
  expect(repository.git("merge", "-q", "--no-edit", "theirs").status).toBe(0);
  repository.git("checkout", "-q", "theirs");
  expect(repository.git("merge", "-q", "--no-edit", "old").status).toBe(0);
  // With its line break: the description that save derives says "# Build" too.
  repository.edit("project_x.md", "# Build\n", "# Build first\n");
  repository.commit("more");
  repository.git("checkout", "-q", "main");
  repository.save("late", "Late.");
  repository.commit("late");
  expect(repository.git("merge", "-q", "--no-edit", "theirs").status).toBe(0);
  expect(repository.files()).toEqual(["MEMORY.md", "project_late.md", "project_x.md"]);
  expect(repository.read("project_x.md")).toContain("# Build first\n\nRun ninja.\n\n# Deploy\n\nOn Mondays.");
});
