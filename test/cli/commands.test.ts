/** Every command once as a person calls it, and its `--json` answer as `spec/cli.md` promises it. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import path from "node:path";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { BINARY, expectError, openSandbox, type Sandbox, start } from "./run.ts";

const ROW_KEYS = [
  "file",
  "path",
  "scope",
  "type",
  "name",
  "description",
  "modified",
  "ageDays",
  "age",
  "bytes",
  "problems",
];

describe("save, list, show, search, rename, forget, history, undo", () => {
  let box: Sandbox;
  beforeAll(() => {
    box = openSandbox();
  });

  test("list says what to do when there is nothing yet", async () => {
    const [human, json] = await Promise.all([box.run(["list"]), box.json(["list"])]);
    expect(human.out).toBe('No memories saved yet.\nSave one: memdir save "Use pnpm, never npm."\n');
    expect(human.code).toBe(0);
    expect(json).toEqual([]);
    expect(fs.existsSync(box.dir())).toBe(false);
  });

  test("save creates, updates and says unchanged (B4.1, B4.2, C7)", async () => {
    const args = ["save", "--type", "feedback", "--name", "use pnpm", "--description", "Package manager"];
    const first = await box.run(args, { input: "Use pnpm, never npm.\n" });
    expect(first).toEqual({ code: 0, out: "created feedback_use_pnpm.md   (memdir undo 1)\n", err: "" });
    const second = await box.json(args, { input: "Use pnpm." });
    expect(second).toEqual({
      file: "feedback_use_pnpm.md",
      path: path.join(box.dir(), "feedback_use_pnpm.md"),
      action: "updated",
      notices: [],
      undo: "2",
      type: "feedback",
      name: "use pnpm",
      derived: [],
    });
    const third = await box.json(args, { input: "Use pnpm." });
    expect(third).toMatchObject({ action: "unchanged", undo: null });
    expect(fs.readFileSync(path.join(box.dir(), "MEMORY.md"), "utf8")).toBe(
      "- [use pnpm](feedback_use_pnpm.md) — Package manager\n",
    );
    expect(fs.readFileSync(second.path, "utf8")).toMatch(
      /^---\nname: use pnpm\ndescription: Package manager\ntype: feedback\ncreated: \S+Z\nmodified: \S+Z\n---\n\nUse pnpm\.\n$/,
    );
  });

  test("save takes cues, a pin, a source and a reason", async () => {
    const args = [
      "save",
      "--type",
      "reference",
      "--name",
      "grafana",
      "--when",
      "the site is slow",
      "--when",
      "on call",
    ];
    await box.json([...args, "--pin", "--source", "user", "--reason", "said so"], { input: "https://grafana.example" });
    const shown = await box.json(["show", "grafana"]);
    expect(shown).toMatchObject({ when: ["the site is slow", "on call"], pinned: true, metadata: { source: "user" } });
    expect((await box.json(["history"])).at(-1)).toMatchObject({ reason: "said so", by: "cli" });
  });

  test("a relative date in a project memory is pointed out on stderr, the answer stays clean (B2.18)", async () => {
    const args = ["save", "--type", "project", "--name", "merge freeze"];
    const ran = await box.run(args, { input: "Merge freeze from tomorrow." });
    expect(ran.out).toMatch(/^created project_merge_freeze\.md {3}\(memdir undo \d+\)\n$/);
    expect(ran.err).toMatch(/^memdir: note: line 1: "tomorrow" means \d{4}-\d\d-\d\d; write the date/m);
    const json = await box.json(args, { input: "Merge freeze from tomorrow, all day." });
    expect(json.notices[0]).toMatch(/"tomorrow" means \d{4}-\d\d-\d\d/);
  });

  test("list shows [type] name — description with the age; --json has every field (B11.3)", async () => {
    const [human, json, typed] = await Promise.all([
      box.run(["list"]),
      box.json(["list"]),
      box.json(["list", "--type", "feedback"]),
    ]);
    expect(human.out).toMatch(/^3 memories:\n/);
    expect(human.out).toContain("    [feedback] use pnpm — Package manager (today)\n");
    expect(human.err).toBe("");
    expect(json.map((row: { file: string }) => row.file)).toEqual([
      "feedback_use_pnpm.md",
      "project_merge_freeze.md",
      "reference_grafana.md",
    ]);
    expect(Object.keys(json[0])).toEqual(expect.arrayContaining(ROW_KEYS));
    const { path: _, modified, bytes, ...row } = json[0];
    expect(row).toMatchObject({
      file: "feedback_use_pnpm.md",
      scope: "project",
      type: "feedback",
      name: "use pnpm",
      description: "Package manager",
      ageDays: 0,
      age: "fresh",
      problems: [],
    });
    expect(modified).toBe(new Date(modified).toISOString());
    expect(bytes).toBe(fs.statSync(json[0].path).size);
    expect(typed).toHaveLength(1);
  });

  test("show takes a name, a stem or a file name, in any case", async () => {
    const [human, ...same] = await Promise.all([
      box.run(["show", "use pnpm"]),
      box.json(["show", "use pnpm"]),
      box.json(["show", "feedback_use_pnpm"]),
      box.json(["show", "feedback_use_pnpm.md"]),
      box.json(["show", "Use PNPM"]),
    ]);
    expect(human.out).toBe(
      `[feedback] use pnpm — Package manager\n${box.dir()}/feedback_use_pnpm.md, project, today\n\nUse pnpm.\n`,
    );
    for (const memory of same) {
      expect(memory).toMatchObject({ file: "feedback_use_pnpm.md", body: "Use pnpm." });
      expect(Object.keys(memory)).toEqual(expect.arrayContaining([...ROW_KEYS, "body", "metadata"]));
      expect(memory.metadata).toMatchObject({ name: "use pnpm", type: "feedback" });
    }
  });

  test("search ranks memories with more of the words first and shows the line", async () => {
    const [human, json, none] = await Promise.all([
      box.run(["search", "use", "pnpm"]),
      box.json(["search", "use pnpm"]),
      box.run(["search", "zebra"]),
    ]);
    expect(human.out).toMatch(/^\[feedback\] use pnpm feedback_use_pnpm\.md\n {4}Use pnpm\.\n/);
    expect(json[0]).toMatchObject({ file: "feedback_use_pnpm.md", score: 1, line: "Use pnpm." });
    expect(Object.keys(json[0])).toEqual(expect.arrayContaining([...ROW_KEYS, "score", "line"]));
    expect(none).toEqual({ code: 0, out: "Nothing found.\n", err: "" });
  });

  test("index shows what the model sees, its size on stderr", async () => {
    const [human, json] = await Promise.all([box.run(["index"]), box.json(["index"])]);
    const text = fs.readFileSync(path.join(box.dir(), "MEMORY.md"), "utf8").trim();
    expect(human).toEqual({ code: 0, out: `${text}\n`, err: `3 of 200 lines, ${text.length} of 25000 characters\n` });
    expect(json).toEqual({
      dir: box.dir(),
      index: text,
      lines: 3,
      chars: text.length,
      truncated: false,
      warning: null,
      overflow: [],
      limits: { maxLines: 200, maxChars: 25_000 },
      notices: [],
      undo: null,
    });
  });

  test("index --rebuild brings every line back after MEMORY.md was deleted (B4.4)", async () => {
    const file = path.join(box.dir(), "MEMORY.md");
    const before = fs.readFileSync(file, "utf8").trim().split("\n").sort();
    fs.rmSync(file);
    const json = await box.json(["index", "--rebuild"]);
    expect(json.index.split("\n").sort()).toEqual(before);
    expect(fs.readFileSync(file, "utf8").trim().split("\n").sort()).toEqual(before);
  });

  test("rename gives name, file and index line in one change", async () => {
    const json = await box.json(["rename", "use pnpm", "package manager is pnpm"]);
    expect(json).toEqual({
      file: "feedback_package_manager_is_pnpm.md",
      path: path.join(box.dir(), "feedback_package_manager_is_pnpm.md"),
      action: "updated",
      notices: [],
      undo: expect.stringMatching(/^\d+$/),
    });
    expect(fs.existsSync(path.join(box.dir(), "feedback_use_pnpm.md"))).toBe(false);
    expect((await box.json(["index"])).index).toContain("(feedback_package_manager_is_pnpm.md) — Package manager");
    const back = await box.run(["rename", "package manager is pnpm", "use pnpm"]);
    expect(back.out).toMatch(/^updated feedback_use_pnpm\.md {3}\(memdir undo \d+\)\n$/);
  });

  test("rename onto another memory is refused", async () => {
    const ran = await box.run(["rename", "feedback_use_pnpm", "grafana", "--json"]);
    // Another type makes another file name, so this one is allowed; the same type is not.
    expect(ran.code).toBe(0);
    await box.json(["undo"]);
    await box.save("one");
    await box.save("two");
    const taken = await box.run(["rename", "one", "two"]);
    expect(taken.code).toBe(2);
    expect(taken.err).toMatch(/^memdir: user_two\.md exists already/);
    expect((await box.json(["show", "one"])).body).toBe("About one.");
  });

  test("forget removes file and line, undo brings both back, history lists it all", async () => {
    const index = fs.readFileSync(path.join(box.dir(), "MEMORY.md"), "utf8");
    const gone = await box.json(["forget", "grafana", "--reason", "moved to the wiki"]);
    expect(gone).toEqual({
      ...{ file: "reference_grafana.md", action: "removed", notices: [] },
      undo: expect.stringMatching(/^\d+$/),
    });
    expect(fs.existsSync(path.join(box.dir(), "reference_grafana.md"))).toBe(false);
    expect(fs.readFileSync(path.join(box.dir(), "MEMORY.md"), "utf8")).not.toContain("grafana");

    const undone = await box.run(["undo", gone.undo]);
    expect(undone).toEqual({ code: 0, out: `undid forget ${gone.undo}: reference_grafana.md\n`, err: "" });
    expect(fs.readFileSync(path.join(box.dir(), "MEMORY.md"), "utf8")).toBe(index);

    const [human, json] = await Promise.all([box.run(["history"]), box.json(["history"])]);
    expect(json.at(-2)).toEqual({
      id: gone.undo,
      at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      action: "forget",
      files: ["reference_grafana.md"],
      by: "cli",
      reason: "moved to the wiki",
    });
    expect(json.at(-1)).toMatchObject({ action: "undo", undoes: gone.undo });
    expect(human.out.trim().split("\n")).toHaveLength(json.length);
    expect(human.out).toMatch(/forget\s+reference_grafana\.md\s+cli: moved to the wiki\n/);
  });

  test("forget says how to bring it back", async () => {
    const ran = await box.run(["forget", "two"]);
    const id = /memdir undo (\d+) brings it back/.exec(ran.out)?.[1] as string;
    expect(ran).toEqual({ code: 0, out: `removed user_two.md; memdir undo ${id} brings it back\n`, err: "" });
    const json = await box.json(["undo"]);
    expect(json).toEqual({
      undone: id,
      action: "forget",
      files: ["user_two.md"],
      undo: String(Number(id) + 1),
      notices: [],
    });
  });

  test("history NAME takes a file name, a stem or a name, as every other command does", async () => {
    const [file, stem, name] = await Promise.all([
      box.json(["history", "reference_grafana.md"]),
      box.json(["history", "reference_grafana"]),
      box.json(["history", "grafana"]),
    ]);
    expect(file.length).toBeGreaterThan(2);
    expect(stem).toEqual(file);
    expect(name).toEqual(file);
  });

  test("history NAME knows a memory that is gone by its name, too", async () => {
    await box.save("soon gone");
    await box.run(["forget", "soon gone"]);
    const actions = (await box.json(["history", "soon gone"])).map(({ action }: { action: string }) => action);
    expect(actions).toEqual(["save", "forget"]);
  });

  test("undo refuses when the file changed since and says so", async () => {
    const { undo, path: file } = await box.json(["save", "--type", "user", "--name", "mine"], { input: "one" });
    fs.appendFileSync(file, "by hand\n");
    const ran = await box.run(["undo", undo]);
    expect(ran.code).toBe(2);
    expect(ran.err).toMatch(/^memdir: entry \d+ is not undone: user_mine\.md changed since/);
    expect(fs.readFileSync(file, "utf8")).toContain("by hand");
  });

  test("--source takes who a memory can be by", async () => {
    const ran = await box.run(["save", "--source", "banana", "Something."]);
    expect(ran.code).toBe(2);
    expect(ran.err).toMatch(/source.* must be one of document, tool, inferred, user/);
  });

  test("list leaves a name out only where the description goes on from it as whole words", async () => {
    const own = openSandbox();
    await own.save("test", ["--description", "testing is done with vitest"]);
    await own.save("Use pnpm", ["--description", "Use pnpm, never npm"]);
    const { out } = await own.run(["list"]);
    expect(out).toContain("] test — testing is done with vitest");
    expect(out).toContain("] Use pnpm, never npm (");
  });

  test("forget --purge leaves nothing to undo", async () => {
    await box.json(["save", "--type", "user", "--name", "mine"], { input: "two" });
    const gone = await box.json(["forget", "mine", "--purge"]);
    expect(gone).toEqual({ file: "user_mine.md", action: "removed", undo: null, notices: [] });
    expect((await box.run(["history"])).out).toMatch(/forget +user_mine\.md .*\(for good: cannot be undone\)\n$/);
    const left = fs.readdirSync(path.join(box.dir(), ".memdir", "images"));
    for (const image of left) {
      expect(fs.readFileSync(path.join(box.dir(), ".memdir", "images", image), "utf8")).not.toContain("name: mine");
    }
  });
});

describe("the body", () => {
  let box: Sandbox;
  beforeAll(() => {
    box = openSandbox();
    box.put("project/note.md", "From a file.\n");
  });
  const save = ["save", "--type", "user", "--name"];

  test("comes from standard input, from - , from --file -, from --file FILE", async () => {
    await box.run([...save, "a"], { input: "plain" });
    await box.run([...save, "b", "-"], { input: "dash" });
    await box.run([...save, "c", "--file", "-"], { input: "file dash" });
    await box.run([...save, "d", "--file", "note.md"], { input: "not this" });
    await box.run([...save, "e", "--file", "note.md", "--cwd", box.cwd], { cwd: box.top });
    const bodies = await Promise.all(["a", "b", "c", "d", "e"].map((name) => box.json(["show", name])));
    expect(bodies.map((memory) => memory.body)).toEqual(["plain", "dash", "file dash", "From a file.", "From a file."]);
  });

  test("may be missing when there is a description", async () => {
    const json = await box.json([...save, "only", "--description", "A line"]);
    expect(json.action).toBe("created");
    expect((await box.json(["show", "only"])).body).toBe("");
  });

  test.skipIf(process.platform === "win32")("that has no end is not read to it", async () => {
    const [device, input] = await Promise.all([
      box.run([...save, "zero", "--file", "/dev/zero"]),
      start("sh", ["-c", `yes | "$0" "$1" save --name yes`, process.execPath, BINARY], "", box.cwd, box.env),
    ]);
    expectError(device, 2, /\/dev\/zero was not saved: .* the limit is 256 KB/);
    expectError(input, 2, /standard input was not saved: .* the limit is 256 KB/);
  });

  test.skipIf(process.platform === "win32")("is not saved when Ctrl-C comes while it is read", async () => {
    const child = spawn(process.execPath, [BINARY, ...save, "half"], { cwd: box.cwd, env: box.env });
    onTestFinished(() => void child.kill("SIGKILL"));
    child.stdin.on("error", () => {});
    // More than a pipe holds: once it is written, it is being read. The input stays open.
    await new Promise((written) => child.stdin.write("a line\n".repeat(500_000), written));
    child.kill("SIGINT");
    expect(await once(child, "exit")).toEqual([130, null]);
    expect(fs.existsSync(path.join(box.dir(), "user_half.md"))).toBe(false);
  });

  test("with a secret is refused with rule and line, never the value; --redact masks it", async () => {
    const secret = `ghp_${"aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hJ6"}`;
    const refused = await box.run([...save, "token"], { input: `first\nthe token is ${secret}\n` });
    expect(refused.code).toBe(2);
    expect(refused.err).toMatch(/^memdir: not saved, it holds what looks like a secret: .* in line 2/);
    expect(refused.err + refused.out).not.toContain(secret);
    expect(fs.existsSync(path.join(box.dir(), "user_token.md"))).toBe(false);
    const masked = await box.json([...save, "token", "--redact"], { input: `first\nthe token is ${secret}\n` });
    expect(masked.notices[0]).toMatch(/^masked: .* in line 2/);
    const all = fs.readdirSync(box.dir(), { recursive: true, withFileTypes: true });
    for (const entry of all.filter((e) => e.isFile())) {
      expect(fs.readFileSync(path.join(entry.parentPath, entry.name), "latin1")).not.toContain(secret);
    }
  });
});

test("a console that cannot begin ends, though its input stays open", async () => {
  const { cwd, env } = openSandbox();
  const child = spawn(process.execPath, [BINARY, "--resume", "nope"], { cwd, env });
  onTestFinished(() => void child.kill("SIGKILL"));
  expect(await once(child, "exit")).toEqual([2, null]);
});

describe("context, prune, lint, doctor, trust, adopt", () => {
  let box: Sandbox;
  beforeAll(async () => {
    box = openSandbox();
    box.put("project/CLAUDE.md", "Be brief.\n");
    box.put("home/.claude/CLAUDE.md", "I am the user.\n");
    await box.run(["save", "--type", "project", "--name", "old plan", "--description", "What ships after launch"], {
      input: "The plan.\n\n**Why:** x\n**How to apply:** y",
    });
    await box.run(["save", "--type", "feedback", "--name", "old rule", "--description", "How releases are tagged"], {
      input: "The rule.\n\n**Why:** x\n**How to apply:** y",
    });
    for (const file of ["project_old_plan.md", "feedback_old_rule.md"]) {
      const target = path.join(box.dir(), file);
      fs.writeFileSync(target, fs.readFileSync(target, "utf8").replaceAll(/20\d\d-\d\d-\d\dT/g, "2020-01-02T"));
      fs.utimesSync(target, new Date("2020-01-02"), new Date("2020-01-02"));
    }
  });

  test("context has the shape of the contract (B0.4, B1.9)", async () => {
    const json = await box.json(["context"]);
    expect(Object.keys(json)).toEqual(
      expect.arrayContaining(["instructions", "nested", "memory", "environment", "warnings"]),
    );
    expect(json.instructions.map((f: { path: string }) => f.path)).toEqual([
      path.join(box.home, ".claude", "CLAUDE.md"),
      path.join(box.cwd, "CLAUDE.md"),
    ]);
    for (const file of json.instructions) {
      expect(Object.keys(file)).toEqual(expect.arrayContaining(["path", "label", "source", "content", "size"]));
    }
    expect(json.instructions[1]).toMatchObject({ content: expect.stringContaining("Be brief."), source: "project" });
    expect(json.memory).toEqual({
      dir: box.dir(),
      index: expect.stringContaining("project_old_plan.md"),
      truncated: false,
      warning: null,
    });
    const human = await box.run(["context"]);
    expect(human.out).toContain(`${box.cwd}/CLAUDE.md`);
    expect(human.out).toContain(`${box.dir().replace(`${box.home}/`, "~/")}/MEMORY.md: 2 lines`);
  });

  test("context --touch tells the age of a stale memory", async () => {
    const old = path.join(box.dir(), "project_old_plan.md");
    const json = await box.json(["context", "--touch", old, "--setting-sources", "user,project"]);
    expect(json.recallAge).toEqual([{ path: old, days: expect.any(Number) }]);
    expect(json.recallAge[0].days).toBeGreaterThan(1000);
  });

  test("prune --suggest changes nothing; prune forgets old project notes, never feedback, and undo restores (B4.16, B4.17)", async () => {
    const suggested = await box.run(["prune", "--suggest"]);
    expect(suggested.out).toMatch(/^would forget project_old_plan\.md \(\d+ days old\)\n$/);
    expect(await box.json(["list"])).toHaveLength(2);
    const json = await box.json(["prune"]);
    expect(json).toEqual({
      memories: [expect.objectContaining({ file: "project_old_plan.md" })],
      undo: expect.any(String),
    });
    expect(await box.json(["list"])).toHaveLength(1);
    await box.json(["undo", json.undo]);
    expect(await box.json(["list"])).toHaveLength(2);
    const none = await box.run(["prune", "--type", "user"]);
    expect(none).toEqual({ code: 0, out: "No user memory is older than 90 days.\n", err: "" });
  });

  test("lint: exit 0 and nothing to fix, then 1 with file, line, rule, message (B2.13, B2.15)", async () => {
    const clean = await box.run(["lint"]);
    expect(clean).toEqual({ code: 0, out: "Nothing to fix.\n", err: "" });
    await box.run(["save", "--type", "feedback", "--name", "bare"], { input: "Do it.\n\nAnd then some more." });
    const [human, json] = await Promise.all([box.run(["lint"]), box.run(["lint", "--json"])]);
    expect(human.code).toBe(1);
    expect(human.out).toMatch(/^feedback_bare\.md: no \*\*Why:\*\* line.*\(why\)\n/);
    expect(human.out).toMatch(/\d+ to fix\n$/);
    expect(json.code).toBe(1);
    expect(json.err).toBe("");
    const { problems } = JSON.parse(json.out);
    expect(problems.map((p: { rule: string }) => p.rule).sort()).toEqual(["how", "why"]);
    expect(problems[0]).toMatchObject({ file: "feedback_bare.md", line: null, message: expect.any(String) });
  });

  test("doctor: exit 0 when all is well, 1 with a fix for what is not", async () => {
    const [human, json] = await Promise.all([box.run(["doctor"]), box.json(["doctor"])]);
    expect(human.code).toBe(0);
    expect(human.out).toMatch(/All is well\.\n$/);
    for (const check of json.checks) expect(check).toMatchObject({ name: expect.any(String), ok: true, fix: null });

    fs.appendFileSync(path.join(box.dir(), "MEMORY.md"), "- [gone](user_gone.md) — nobody\n");
    fs.mkdirSync(path.join(box.dir(), "folder.md"));
    const bad = await box.run(["doctor", "--json"]);
    expect(bad.code).toBe(1);
    const failed = JSON.parse(bad.out).checks.filter((check: { ok: boolean }) => !check.ok);
    expect(failed.map((check: { name: string }) => check.name).sort()).toEqual(["index-dangling", "skipped"]);
    for (const check of failed) expect(check.fix).toMatch(/\S/);
    fs.writeFileSync(path.join(box.dir(), "README.md"), "About this folder.\n");
    const other = JSON.parse((await box.run(["doctor", "--json"])).out).checks;
    expect(other.filter((check: { name: string }) => check.name === "other-files")).toMatchObject([{ ok: true }]);
    const list = await box.run(["list"]);
    expect(list.err).toBe("memdir: note: folder.md is skipped: a directory named like a memory\n");
  });

  test("adopt and trust say when there is nothing to do", async () => {
    const [adopt, json, trust] = await Promise.all([box.run(["adopt"]), box.json(["adopt"]), box.run(["trust"])]);
    expect(adopt.code).toBe(0);
    expect(adopt.out).toMatch(/^There is nothing to adopt/);
    expect(json).toEqual([]);
    expect(trust.code).toBe(0);
    expect(trust.out).toMatch(/^There is nothing to decide: your team has no rules here/);
  });
});
