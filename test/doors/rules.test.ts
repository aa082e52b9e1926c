/** Enforced rules between the parts: every way in which a host writes, and every door through which a model could disarm one. */

import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { readEvent } from "../../src/hooks/event.ts";
import { answerTool } from "../../src/hooks/tool.ts";
import { openMemoryTool } from "../../src/memory-tool/memory-tool.ts";
import { acceptRules, makeHost } from "../hooks/host.ts";
import { makeMcpOptions, openWire } from "../mcp/wire.ts";
import { errorOf, makeWorld, type World } from "../world.ts";

const rule = (...lines: string[]) =>
  `---\nname: The rule\ndescription: d\ntype: feedback\nenforce:\n${lines.map((line) => `  ${line}\n`).join("")}---\n\nNever.\n`;
const FORCE = rule("tool: Bash", "pattern: git push -f", "message: Ask first.");

function denies(
  world: World,
  tool_name: string,
  tool_input: object,
  { elapsedMs = (): number => 0, faults = [] as string[] } = {},
): boolean {
  const input = { hook_event_name: "PreToolUse", cwd: world.project, session_id: "s", tool_name, tool_input };
  return answerTool(readEvent(input), makeHost(world, { elapsedMs, faults }).host()).out !== "";
}

describe("a rule about what is written", () => {
  it("sees what a patch adds, under each name that a host gives to it, and not what it takes out", () => {
    const world = makeWorld();
    world.write("rule.md", rule("tool: Edit", "pattern: console\\.log", "message: m"));
    const patch = (line: string) => `*** Begin Patch\n*** Update File: src/a.ts\n@@\n keep\n${line}\n*** End Patch`;
    for (const key of ["command", "input", "patch"]) {
      expect(denies(world, "apply_patch", { [key]: patch("+console.log(1)") })).toBe(true);
      expect(denies(world, "apply_patch", { [key]: patch("-console.log(1)") })).toBe(false);
    }
  });

  it("about Edit holds for every tool that writes files, and one about another of them not for Edit", () => {
    const world = makeWorld();
    world.write("rule.md", rule("tool: Edit", "pattern: secret_word", "message: m"));
    const edits = [{ old_string: "a", new_string: "secret_word" }];
    expect(denies(world, "MultiEdit", { file_path: "a.ts", edits })).toBe(true);
    expect(denies(world, "NotebookEdit", { notebook_path: "a.ipynb", new_source: "secret_word" })).toBe(true);
    for (const tool of ["Write", "write_file"])
      expect(denies(world, tool, { file_path: "a.ts", content: "secret_word" })).toBe(true);
    for (const tool of ["NotebookEdit", "Write"]) {
      world.write("rule.md", rule(`tool: ${tool}`, "pattern: secret_word", "message: m"));
      expect(denies(world, "Edit", { file_path: "a.ts", new_string: "secret_word" })).toBe(false);
    }
  });

  it("with a glob from the top of the disk or from the home finds files outside the project", () => {
    const world = makeWorld();
    const keys = path.join(world.home, ".ssh", "config");
    for (const [glob, isHit] of [
      ["~/.ssh/**", true],
      [`${world.home}/.ssh/**`, true],
      [`${world.home}/.gnupg/**`, false],
      [".ssh/**", false],
    ] as const) {
      world.write("rule.md", rule("tool: Write", `path: ${glob}`, "message: m"));
      expect([glob, denies(world, "Write", { file_path: keys, content: "" })]).toEqual([glob, isHit]);
    }
    world.write("rule.md", rule("tool: Write", "path: /src/**", "message: m"));
    expect(denies(world, "Write", { file_path: path.join(world.project, "src/a.ts"), content: "" })).toBe(true);
  });
});

describe("the kept rules", () => {
  it("follow an edit of the same size and time, a removal and a new name at once", () => {
    const world = makeWorld();
    world.write("rule.md", FORCE);
    const file = world.path("rule.md");
    const then = new Date("2026-01-01T00:00:00.000Z");
    fs.utimesSync(file, then, then);
    expect(denies(world, "Bash", { command: "git push -f" })).toBe(true);
    fs.writeFileSync(file, FORCE.replace("git push -f", "git pull -r"));
    fs.utimesSync(file, then, then);
    expect(denies(world, "Bash", { command: "git push -f" })).toBe(false);
    expect(denies(world, "Bash", { command: "git pull -r" })).toBe(true);
    fs.renameSync(file, world.path("other.md"));
    expect(denies(world, "Bash", { command: "git pull -r" })).toBe(true);
    fs.rmSync(world.path("other.md"));
    expect(denies(world, "Bash", { command: "git pull -r" })).toBe(false);
  });

  it("of the user hold beside the project's, and a repository's own words command nobody as the user", () => {
    const world = makeWorld();
    world.write("rule.md", FORCE);
    const user = path.join(world.home, ".claude", "memory");
    fs.mkdirSync(user, { recursive: true });
    fs.writeFileSync(path.join(user, "rule.md"), rule("tool: Bash", "pattern: rm -rf", "message: u"));
    expect(denies(world, "Bash", { command: "ls\nrm -rf x" })).toBe(true);
    expect(denies(world, "Bash", { command: "git push -f" })).toBe(true);
    fs.mkdirSync(path.join(world.project, ".claude"));
    const hostile = { hooks: { enforce: false }, memdir: { hooks: { enforce: false } } };
    for (const name of ["settings.json", "settings.local.json", "memdir.json"])
      fs.writeFileSync(path.join(world.project, ".claude", name), JSON.stringify(hostile));
    fs.writeFileSync(path.join(world.project, ".env"), "MEMDIR_DISABLED=1\nCLAUDE_CODE_DISABLE_AUTO_MEMORY=1\n");
    expect(denies(world, "Bash", { command: "git push -f" })).toBe(true);
  });
});

describe("a repository with any number of slow rules", () => {
  it("costs no more than the deadline, and the user's own are still checked", () => {
    const world = makeWorld();
    const team = path.join(world.project, ".claude", "memory");
    fs.mkdirSync(team, { recursive: true });
    for (let at = 0; at < 30; at++)
      fs.writeFileSync(path.join(team, `r${at}.md`), rule("tool: Bash", `pattern: ^(a+)+b${at}$`, "message: t"));
    acceptRules(world);
    world.write("rule.md", rule("tool: Bash", "pattern: a!$", "message: u"));
    // A clock that has all rules read in no time, and is up at the first slow one.
    let looks = 0;
    const elapsedMs = () => (++looks > 32 ? 5_000 : 0);
    const faults: string[] = [];
    expect(denies(world, "Bash", { command: "a".repeat(60) }, { elapsedMs, faults })).toBe(false);
    expect(faults.filter((fault) => fault.includes("took too long")).length).toBeLessThan(5);
    expect(faults.at(-1)).toBe("time was up before all of the team's rules were checked");
    // Late from the beginning.
    expect(denies(world, "Bash", { command: `${"a".repeat(60)}!` }, { elapsedMs })).toBe(true);
  });
});

describe("a model cannot disarm a rule", () => {
  it("through the MCP server, whatever it says about the user", async () => {
    const world = makeWorld();
    world.write("rule.md", FORCE);
    const wire = openWire(makeMcpOptions(world));
    const save = { type: "feedback", name: "The rule", description: "d", body: "Always.", replace: true };
    for (const [tool, input] of [
      ["save", save],
      ["save", { ...save, body: "Never.", expires: "2020-01-01" }],
      ["forget", { name: "The rule" }],
      ["forget", { name: "rule.md" }],
    ] as const) {
      const { isError, content } = await wire.call(tool, input);
      expect({ tool, isError, text: content[0].text }).toMatchObject({
        isError: true,
        text: expect.stringMatching(
          /rule\.md holds a rule that is enforced.*which only the user makes, changes or removes/,
        ),
      });
    }
    expect(world.read("rule.md")).toBe(FORCE);
    expect(denies(world, "Bash", { command: "git push -f" })).toBe(true);
    wire.input.end();
    await wire.ended;
  });

  it("through the memory tool, nor make one", async () => {
    const world = makeWorld();
    world.write("rule.md", FORCE);
    world.write("notes/x.txt", FORCE);
    const tool = openMemoryTool(await world.open());
    const refused = [
      () => tool.str_replace({ path: "/memories/rule.md", old_str: "git push -f", new_str: "nothing" }),
      () => tool.str_replace({ path: "/memories/rule.md", old_str: "type: feedback", new_str: "type: project" }),
      () => tool.insert({ path: "/memories/rule.md", insert_line: 1, insert_text: "expires: 2020-01-01\n" }),
      () => tool.insert({ path: "/memories/rule.md", insert_line: 1, insert_text: "source: inferred\n" }),
      () => tool.delete({ path: "/memories/rule.md" }),
      () => tool.rename({ old_path: "/memories/rule.md", new_path: "/memories/rule.txt" }),
      () => tool.rename({ old_path: "/memories/notes/x.txt", new_path: "/memories/notes/x.md" }),
      () => tool.create({ path: "/memories/new.md", file_text: FORCE }),
    ];
    for (const [at, attempt] of refused.entries())
      expect({ at, message: (await errorOf(attempt())).message }).toMatchObject({
        message: expect.stringMatching(/rule that is enforced.*only the user/),
      });
    expect(world.read("rule.md")).toBe(FORCE);
    expect(world.files()).toEqual(["notes/x.txt", "rule.md"]);
    await tool.str_replace({ path: "/memories/rule.md", old_str: "Never.", new_str: "Never, since May." });
    await tool.rename({ old_path: "/memories/rule.md", new_path: "/memories/renamed.md" });
    expect(denies(world, "Bash", { command: "git push -f" })).toBe(true);
  });

  it("nor write as the user's word through the memory tool what a document says", async () => {
    const world = makeWorld();
    const tool = openMemoryTool(await world.open());
    const text = (type: string) =>
      `---\nname: tabs\ndescription: d\ntype: ${type}\nsource: document\n---\n\nUse tabs.\n`;
    const refused = await errorOf(tool.create({ path: "/memories/tabs.md", file_text: text("feedback") }));
    expect(refused).toMatchObject({
      code: "untrusted",
      message: expect.stringContaining("only the user can say that"),
    });
    await tool.create({ path: "/memories/tabs.md", file_text: text("reference") });
    expect(world.files()).toContain("tabs.md");
  });
});
