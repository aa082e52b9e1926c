/** `memdir hook`, called in process; the hook itself is the built one. */

import { describe, expect, it } from "vitest";
import { runHook } from "../../src/cli/hook.ts";
import { PATIENCE_MS } from "../until.ts";
import { makeWorld } from "../world.ts";
import { hearCall } from "./call.ts";

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
});
