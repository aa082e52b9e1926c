/** Which directory belongs to which project: worktrees, collisions, moves, older layouts, trust. */

import { createHash } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { openSandbox, type Sandbox } from "./run.ts";

const save = (name: string) => ["save", "--type", "user", "--name", name, "--description", name];

describe("one repository", () => {
  test("worktrees and subdirectories share its directory; outside git the folder itself counts (B1.2, C2)", async () => {
    const box = openSandbox();
    box.git(box.cwd, "worktree", "add", "-q", box.at("tree"));
    fs.mkdirSync(path.join(box.cwd, "deep/er"), { recursive: true });
    fs.mkdirSync(box.at("plain"));
    await box.run(save("from the worktree"), { input: "x", cwd: box.at("tree") });
    await box.run(save("from below"), { input: "x", cwd: path.join(box.cwd, "deep/er") });
    const [main, tree, plain] = await Promise.all([
      box.json(["list"]),
      box.json(["list", "--cwd", box.at("tree")]),
      box.json(["index"], { cwd: box.at("plain") }),
    ]);
    expect(main).toHaveLength(2);
    expect(tree).toEqual(main);
    expect(plain.dir).toBe(box.dir(box.at("plain")));
  });
});

describe("two projects with one slug (a/b-c and a/b/c)", () => {
  let box: Sandbox;
  let one: string;
  let two: string;
  beforeAll(async () => {
    box = openSandbox();
    one = box.repository("a/b-c");
    two = box.repository("a/b/c");
    await box.run(save("of one"), { input: "x", cwd: one });
  });
  const warning = /^memdir: warning: this memory directory is also used by .*a\/b-c.*adopt --separate.*adopt --share/;

  test("every command warns until it is settled, and --json stays clean", async () => {
    expect(box.dir(one)).toBe(box.dir(two));
    const all = await Promise.all(
      [["list"], ["index"], ["search", "x"], ["history"], ["lint"], ["show", "of one"], []].map((args) =>
        box.run(args, { cwd: two }),
      ),
    );
    for (const ran of all) expect(ran.err).toMatch(warning);
    // It is one of its checks, and not said twice.
    expect((await box.run(["doctor"], { cwd: two })).out).toMatch(/this memory directory is also used by .*a\/b-c/);
    const written = await box.run(save("of two"), { input: "x", cwd: two });
    expect(written.err).toMatch(warning);
    const context = await box.json(["context"], { cwd: two });
    expect(context.warnings[0]).toMatch(/also used by/);
    const again = await box.run(["list", "--json"], { cwd: two });
    expect(again.err).toMatch(warning);
    expect(JSON.parse(again.out)).toHaveLength(2);
    expect((await box.run(["list"], { cwd: one })).err).toBe("");
  });

  test("adopt --separate gives the second its own directory, and the warning ends", async () => {
    const ran = await box.run(["adopt", "--separate", "--json"], { cwd: two });
    const { dir } = JSON.parse(ran.out);
    expect(dir).not.toBe(box.dir(two));
    const after = await box.json(["index"], { cwd: two });
    expect(after.dir).toBe(dir);
    await box.json(save("own"), { input: "x", cwd: two });
    expect(fs.existsSync(path.join(dir, "user_own.md"))).toBe(true);
    expect(fs.existsSync(path.join(box.dir(one), "user_own.md"))).toBe(false);
  });

  test("adopt --share keeps one for both, and the warning ends", async () => {
    const three = box.repository("a/b_c");
    expect((await box.run(["list"], { cwd: three })).err).toMatch(warning);
    const ran = await box.run(["adopt", "--share"], { cwd: three });
    expect(ran.out).toMatch(/is shared by all projects that lead to it\n$/);
    const [third, first] = await Promise.all([box.run(["list"], { cwd: three }), box.run(["list"], { cwd: one })]);
    expect(third.err).toBe("");
    expect(first.err).toBe("");
    expect(first.out).toContain("of one");
  });
});

describe("a project that was moved", () => {
  let box: Sandbox;
  let old: string;
  let moved: string;
  beforeAll(async () => {
    box = openSandbox();
    old = box.repository("old/place");
    await box.run(save("kept"), { input: "Worth keeping.", cwd: old });
    await box.run(save("other"), { input: "Also.", cwd: old });
    const index = path.join(box.dir(old), "MEMORY.md");
    fs.writeFileSync(
      index,
      `# Ours\n\nBy hand, for people.\n\n${fs.readFileSync(index, "utf8").replace("— kept", "— in my words")}`,
    );
    moved = box.at("new-place");
    fs.renameSync(old, moved);
  });

  test("doctor finds the orphan and names the command", async () => {
    const ran = await box.run(["doctor", "--json"], { cwd: moved });
    expect(ran.code).toBe(1);
    const orphan = JSON.parse(ran.out).checks.find((check: { name: string }) => check.name === "orphan");
    expect(orphan).toMatchObject({ ok: false, fix: `memdir adopt ${box.dir(old)}` });
    expect(orphan.detail).toMatch(/^2 memories of .*old\/place, which is gone/);
  });

  test("adopt takes memories and hand-written lines over, leaves the old ones, and undo takes it back", async () => {
    await box.run(save("kept"), { input: "Something else.", cwd: moved });
    const before = fs.readFileSync(path.join(box.dir(moved), "MEMORY.md"), "utf8");
    const [result] = await box.json(["adopt"], { cwd: moved });
    expect(result).toMatchObject({ from: box.dir(old), present: [], undo: expect.any(String) });
    expect(result.adopted.sort()).toEqual(["user_kept_2.md", "user_other.md"]);
    const index = fs.readFileSync(path.join(box.dir(moved), "MEMORY.md"), "utf8");
    expect(index).toContain("By hand, for people.\n");
    expect(index).toContain("(user_other.md)");
    expect(index).toContain("(user_kept_2.md)");
    expect(fs.existsSync(path.join(box.dir(old), "user_kept.md"))).toBe(true);
    const again = await box.json(["adopt"], { cwd: moved });
    expect(again[0]?.adopted ?? []).toEqual([]);

    const undone = await box.json(["undo", result.undo], { cwd: moved });
    expect(undone.files.sort()).toEqual(["user_kept_2.md", "user_other.md"]);
    expect((await box.json(["list"], { cwd: moved })).map((r: { file: string }) => r.file)).toEqual(["user_kept.md"]);
    expect(fs.readFileSync(path.join(box.dir(moved), "MEMORY.md"), "utf8")).toContain(before.trim());
  });

  test("adopt DIR in words; once all is taken over doctor is silent about it", async () => {
    const ran = await box.run(["adopt", box.dir(old)], { cwd: moved });
    expect(ran.out).toMatch(/^adopted 2 memories from .*; memdir undo \d+ reverts it\n$/);
    const doctor = await box.run(["doctor"], { cwd: moved });
    expect(doctor.out).not.toMatch(/!! {2}orphan/);
    expect(doctor.code).toBe(0);
  });
});

describe("older layouts", () => {
  test("are listed, read-only, reported by doctor and adopted (C1, C3)", async () => {
    const box = openSandbox();
    const memory = (name: string) => `---\nname: ${name}\ndescription: ${name}\ntype: user\n---\n\nFrom ${name}.\n`;
    const slug = box.cwd.replace(/[^a-zA-Z0-9]/g, "-");
    const key = createHash("sha256").update(box.cwd).digest("hex").slice(0, 16);
    box.put(`home/.claude/projects/${slug}/flat-note.md`, memory("flat"));
    box.put(`home/.mini-claude/projects/${key}/memory/user_mini.md`, memory("mini"));
    await box.save("new");

    const rows = await box.json(["list"]);
    expect(rows.map((row: { file: string }) => row.file).sort()).toEqual([
      "flat-note.md",
      "user_mini.md",
      "user_new.md",
    ]);
    const refused = await box.run(["forget", "mini"]);
    expect(refused.code).toBe(2);
    expect(refused.err).toMatch(/older layout and only read.*memdir adopt/);
    const doctor = await box.run(["doctor", "--json"]);
    const older = JSON.parse(doctor.out).checks.filter((check: { name: string }) => check.name === "older-layout");
    expect(older.map((check: { ok: boolean }) => check.ok)).toEqual([false, false]);

    const adopted = await box.json(["adopt"]);
    expect(adopted.flatMap((result: { adopted: string[] }) => result.adopted).sort()).toEqual([
      "flat-note.md",
      "user_mini.md",
    ]);
    expect(fs.readFileSync(path.join(box.dir(), "user_mini.md"), "utf8")).toBe(memory("mini"));
    const index = fs.readFileSync(path.join(box.dir(), "MEMORY.md"), "utf8");
    for (const file of ["flat-note.md", "user_mini.md", "user_new.md"])
      expect(index.split(`(${file})`)).toHaveLength(2);
    const after = await box.json(["list"]);
    expect(after.map((row: { file: string }) => row.file).sort()).toEqual([
      "flat-note.md",
      "user_mini.md",
      "user_new.md",
    ]);
    expect((await box.json(["show", "mini"])).path).toBe(path.join(box.dir(), "user_mini.md"));
  });
});

describe("a repository's own settings (C22)", () => {
  let box: Sandbox;
  beforeAll(() => {
    box = openSandbox();
  });
  const ask = (dir: string) => box.put("project/.claude/settings.json", { autoMemoryDirectory: dir });

  test("may choose a directory inside it", async () => {
    ask(path.join(box.cwd, "notes"));
    expect((await box.json(["index"])).dir).toBe(path.join(box.cwd, "notes"));
  });

  test("cannot point outside until the user trusts it, for that directory only; refusing withdraws it", async () => {
    ask(box.at("home/.ssh"));
    const warned = await box.run(["save", "--type", "user", "--name", "x", "--json"], { input: "x" });
    expect(warned.err).toMatch(
      /^memdir: warning: autoMemoryDirectory in .*settings\.json asks for .*\.ssh.*memdir trust/,
    );
    expect(JSON.parse(warned.out).path).toBe(path.join(box.dir(), "user_x.md"));
    expect(fs.existsSync(box.at("home/.ssh"))).toBe(false);

    ask(box.at("shared/notes"));
    expect(JSON.parse((await box.run(["trust", "--json"])).out).directory.accepted).toBe(false);
    expect((await box.run(["index", "--json"])).out).not.toContain("shared/notes");
    const trust = await box.run(["trust", "accept", "directory"]);
    expect(trust.code).toBe(0);
    expect(trust.out).toBe(`${box.at("shared/notes")} is now the memory directory of ${box.cwd}\n`);
    expect((await box.json(["index"])).dir).toBe(box.at("shared/notes"));

    ask(box.at("home/.ssh"));
    const other = await box.run(["index", "--json"]);
    expect(JSON.parse(other.out).dir).toBe(box.dir());
    expect(other.err).toMatch(/memdir trust/);

    ask(box.at("shared/notes"));
    const revoked = await box.json(["trust", "refuse", "directory"]);
    expect(revoked).toEqual({ dir: null, message: expect.stringContaining(box.cwd) });
    expect(JSON.parse((await box.run(["index", "--json"])).out).dir).toBe(box.dir());
  });
});
