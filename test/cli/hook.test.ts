/** `memdir hook`, called in process; the hook itself is the built one. */

import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { runHook } from "../../src/cli/run-hook.ts";
import { openPty } from "../pty.ts";
import { PATIENCE_MS } from "../until.ts";
import { makeWorld } from "../world.ts";
import { hearCall } from "./call.ts";
import { BINARY, openSandbox } from "./run.ts";

const HOOK = path.join(path.dirname(BINARY), "hook.cjs");

const RULE = "---\nname: r\ntype: feedback\nenforce:\n  pattern: git push -f\n  message: Ask first.\n---\n\nAsk.\n";

async function hook(input: unknown, args: string[] = []) {
  const world = makeWorld({ settings: { hooks: { deadlineMs: PATIENCE_MS } } });
  world.write("rule.md", RULE);
  const text = typeof input === "string" ? input : JSON.stringify({ cwd: world.project, ...(input as object) });
  const { call, printed, warned } = hearCall(world, { args });
  return { code: await runHook(call, () => JSON.parse(text)), printed, warned };
}

const CALL = { tool_name: "Bash", tool_input: { command: "git push -f" } };

describe("memdir hook", () => {
  it("answers as the hook does, with the event from the host or from the command line", async () => {
    for (const { input, args } of [
      { input: { hook_event_name: "PreToolUse", ...CALL }, args: [] },
      { input: CALL, args: ["PreToolUse"] },
      { input: { hook_event_name: "PreToolUse", ...CALL }, args: ["Stop"] },
    ]) {
      const { code, printed, warned } = await hook(input, args);
      expect({ code, warned }).toEqual({ code: 0, warned: [] });
      expect(JSON.parse(printed.join(""))).toMatchObject({
        hookSpecificOutput: {
          permissionDecision: "deny",
          permissionDecisionReason: expect.stringContaining("Ask first."),
        },
      });
    }
  });

  it("has no answer, and never a failure, for anything else", async () => {
    for (const input of ["null", "[]"]) {
      expect(await hook(input, ["PreToolUse"])).toEqual({ code: 0, printed: [], warned: [] });
    }
    expect(await hook({ ...CALL }, ["NoSuchEvent"])).toEqual({ code: 0, printed: [], warned: [] });
    expect(await hook({ tool_name: "Bash", tool_input: { command: "ls" } }, ["PreToolUse"])).toEqual({
      code: 0,
      printed: [],
      warned: [],
    });
  });

  it("with nothing on standard input does nothing and records nothing; what is no JSON is recorded", async () => {
    const box = openSandbox();
    const faults = () => fs.existsSync(box.at("home/.cache/memdir/faults.jsonl"));
    for (const input of ["", "\n"]) {
      expect(await box.run(["hook"], { input })).toEqual({ code: 0, out: "", err: "" });
      expect(await box.run(["hook", "SessionStart"], { input })).toEqual({ code: 0, out: "", err: "" });
      const direct = spawnSync(process.execPath, [HOOK], { input, env: box.env, encoding: "utf8" });
      expect([direct.status, direct.stdout, direct.stderr]).toEqual([0, "", ""]);
    }
    expect(faults()).toBe(false);
    expect(await box.run(["hook"], { input: "not JSON" })).toEqual({ code: 0, out: "", err: "" });
    expect(faults()).toBe(true);
  });

  it.each([
    ["an unknown option", ["UserPromptSubmit", "--bogus"]],
    ["a folder that is gone", ["UserPromptSubmit", "--cwd", "/nope"]],
    ["an option without its value", ["UserPromptSubmit", "--memory-dir"]],
    ["too many words", ["UserPromptSubmit", "B", "C"]],
  ])("%s does not block the prompt, and is recorded", async (_, args) => {
    const box = openSandbox();
    const input = JSON.stringify({ hook_event_name: "UserPromptSubmit", prompt: "hello" });
    expect(await box.run(["hook", ...args], { input })).toMatchObject({ code: 0, out: "" });
    const faults = fs.readFileSync(box.at("home/.cache/memdir/faults.jsonl"), "utf8");
    expect(JSON.parse(faults)).toMatchObject({ event: "UserPromptSubmit" });
  });

  it("on a terminal says what it is for and records nothing", async () => {
    const box = openSandbox();
    const terminal = openPty(process.execPath, [BINARY, "hook"], { cwd: box.cwd, env: box.env, cols: 200 });
    await terminal.waitFor(/hook is for agents.*memdir init/);
    expect(await terminal.exit).toBe(0);
    expect(fs.existsSync(box.at("home/.cache/memdir"))).toBe(false);
  });

  it("--memory-dir is honoured, and a bad one is not replaced by the project's", async () => {
    const world = makeWorld({ settings: { hooks: { deadlineMs: PATIENCE_MS } } });
    const elsewhere = path.join(world.top, "elsewhere");
    fs.mkdirSync(elsewhere);
    fs.writeFileSync(path.join(elsewhere, "rule.md"), RULE);
    const input = { hook_event_name: "PreToolUse", cwd: world.project, ...CALL };
    const ask = async (options: Record<string, string>) => {
      const { call, printed, warned } = hearCall(world, { options });
      return { code: await runHook(call, () => input), denies: printed.join("").includes("Ask first."), warned };
    };
    expect(await ask({})).toEqual({ code: 0, denies: false, warned: [] });
    expect(await ask({ "memory-dir": elsewhere })).toEqual({ code: 0, denies: true, warned: [] });
    expect(await ask({ "memory-dir": "../elsewhere" })).toEqual({ code: 0, denies: true, warned: [] });
    world.write("rule.md", RULE);
    expect(await ask({ "memory-dir": "/" })).toEqual({
      code: 0,
      denies: false,
      warned: [expect.stringContaining("--memory-dir")],
    });
  });
});
