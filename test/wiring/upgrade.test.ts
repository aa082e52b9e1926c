/** A home with the wiring and the store that 0.1 wrote, brought up to date; and `uninstall --purge`, which leaves memories and nothing else. */

import fs from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { BINARY, openSandbox, type Sandbox } from "../cli/run.ts";
import older from "./fixtures/home-0.1.json" with { type: "json" };

/** As 0.1 left it, for this sandbox; the user's own files had `{}` in them before. */
function putOlderHome(sandbox: Sandbox): void {
  const { home, cwd } = sandbox;
  for (const [name, value] of Object.entries(older)) {
    const file = name.startsWith("{store}") ? name.replace("{store}", sandbox.dir()) : path.join(home, name);
    fs.mkdirSync(path.dirname(file), { recursive: true });
    const text = (content: string) => content.replaceAll("{home}", home).replaceAll("{project}", cwd);
    fs.writeFileSync(file, typeof value === "string" ? text(value) : Buffer.from(value.base64, "base64"));
  }
}

/** Every file below the home, without the folder of the project's store in its name. */
function filesOf({ home, dir }: Sandbox): Record<string, string> {
  const all = fs.readdirSync(home, { recursive: true, withFileTypes: true });
  const files = all.filter((entry) => !entry.isDirectory()).map(({ parentPath, name }) => path.join(parentPath, name));
  return Object.fromEntries(
    files
      .sort()
      .map((file) => [
        path.relative(home, file).replace(path.relative(home, dir()), "store"),
        fs.readFileSync(file, "utf8"),
      ]),
  );
}

test("init updates every entry of 0.1 in place, the store keeps its memories and its undo, and purge restores what was there before", async () => {
  const sandbox = openSandbox();
  putOlderHome(sandbox);
  const memory = older["{store}/feedback_deploy.md"];
  const { applied, problems } = await sandbox.json(["init", "--yes"]);
  expect([applied.length, problems]).toEqual([6, []]);
  const { ".claude/memdir-receipt.json": _, ...wired } = filesOf(sandbox);
  expect(Object.keys(wired).filter((file) => wired[file]?.includes("/opt/memdir-0.1"))).toEqual([]);
  const { hooks } = JSON.parse(wired[".gemini/settings.json"] as string);
  expect(Object.values<unknown[]>(hooks).map((groups) => groups.length)).toEqual([1, 1, 1, 1, 1]);
  expect(wired[".codex/config.toml"]).toContain(BINARY);
  expect(await sandbox.json(["init", "--yes"])).toMatchObject({ changes: [] });

  expect(await sandbox.json(["list"])).toMatchObject([{ name: "deploy" }]);
  await sandbox.json(["undo", "1"]);
  expect(await sandbox.json(["list"])).toEqual([]);
  await sandbox.json(["undo", "2"]);
  expect(filesOf(sandbox)["store/feedback_deploy.md"]).toBe(memory);

  const { purged } = await sandbox.json(["uninstall", "--purge", "--yes"]);
  expect(purged.map((trace: { path: string }) => trace.path)).toContain(path.join(sandbox.dir(), ".memdir"));
  expect(filesOf(sandbox)).toEqual({
    ".claude/settings.json": "{}\n",
    ".config/opencode/opencode.json": "{}\n",
    "store/MEMORY.md": older["{store}/MEMORY.md"],
    "store/feedback_deploy.md": memory,
  });
});

test("purge shows everything first, finds the stores of other projects and of repositories, and leaves links and what is not memdir's", async () => {
  const sandbox = openSandbox();
  const { home, cwd } = sandbox;
  const other = sandbox.repository("other");
  await sandbox.save("a");
  await sandbox.save("b", ["--scope", "user"]);
  await sandbox.run(["save", "--name", "c", "Other."], { cwd: other });
  await sandbox.run(["--scope", "team", "save", "--name", "d", "Shared."], { cwd: other });
  sandbox.put("home/.claude/memdir.json", { learn: { model: "off" } });
  sandbox.put("home/.claude/memdir-archive/x/session.jsonl", "{}");
  sandbox.put("home/.cache/memdir/faults.jsonl", "");
  sandbox.put("home/.claude/history.jsonl", "Claude Code's");
  // A clone in which memdir only read; a session says where it is.
  const clone = sandbox.repository("clone");
  sandbox.put("clone/.claude/memory/e.md", "---\nname: e\ntype: project\n---\n");
  sandbox.put("clone/.claude/memory/.memdir/rows.bin", "cache");
  sandbox.put(
    "home/.claude/projects/-clone/1.jsonl",
    `{"type":"summary"}\n${JSON.stringify({ type: "user", cwd: clone })}\n`,
  );
  // A project whose state is a link, which memdir refuses to follow everywhere else, too.
  sandbox.put("home/elsewhere/keep.txt", "mine");
  fs.mkdirSync(path.join(home, ".claude/projects/-linked/memory"), { recursive: true });
  fs.symlinkSync(path.join(home, "elsewhere"), path.join(home, ".claude/projects/-linked/memory/.memdir"));
  const before = sandbox.tree();

  const planned = await sandbox.run(["uninstall", "--purge", "--dry-run"]);
  expect(planned.out).toContain("~/.claude/memdir.json (your settings; 1 KB) will be removed");
  expect((await sandbox.run(["uninstall", "--purge"])).err).toMatch(/no terminal to ask on; --yes does it/);
  expect((await sandbox.run(["uninstall", "--purge", "--team", "--yes"])).err).toMatch(/leave out --agent and --team/);
  expect(sandbox.tree()).toEqual(before);

  const done = await sandbox.run(["uninstall", "--purge", "--yes"]);
  expect(done.out).toContain("To remove the program: npm uninstall -g memdir");
  // Nothing says where else memdir only read: the user is told how to find it.
  expect(done.out.replace(/\s+/g, " ")).toContain("find ~ -type d -name .memdir -path '*/.claude/*'");
  const names = sandbox
    .tree(path.join(cwd, ".git"), path.join(other, ".git"), path.join(clone, ".git"))
    .map((name) => path.basename(name));
  const left = names.filter((name) => /^\.?memdir|\.md$|jsonl$/.test(name)).sort();
  const index = "MEMORY.md";
  const memories = ["project_c.md", "project_d.md", "user_a.md", "user_b.md"];
  expect(left).toEqual([".memdir", "1.jsonl", index, index, index, index, "e.md", "history.jsonl", ...memories]);
  expect(fs.readFileSync(path.join(home, "elsewhere/keep.txt"), "utf8")).toBe("mine");
  expect(fs.existsSync(path.join(home, ".cache"))).toBe(false);
  expect(await sandbox.json(["list"])).toHaveLength(2);
});
