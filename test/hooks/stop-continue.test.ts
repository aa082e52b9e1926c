/** The end of a turn when the agent itself is asked to look back (`hooks.stop`: "continue"), or nobody is ("off"). */

import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import type { HookConfig } from "../../src/config.ts";
import { buildLookBack } from "../../src/prompts/hooks.ts";
import { makeStopDesk, type StopDesk } from "./stop-desk.ts";

const MODEL = {
  MEMDIR_MODEL: "anthropic/claude-test",
  ANTHROPIC_API_KEY: "sk-test",
  ANTHROPIC_BASE_URL: "http://127.0.0.1:9",
};
const skips = (reason: string | RegExp) => ({ skipped: expect.stringMatching(reason) });

function talk(stop: HookConfig["stop"]): StopDesk {
  const desk = makeStopDesk();
  fs.mkdirSync(desk.at("home", ".claude"));
  fs.writeFileSync(desk.at("home", ".claude", "memdir.json"), JSON.stringify({ hooks: { stop } }));
  desk.say("no, never use npm here, use pnpm instead");
  desk.answer("Understood.");
  return desk;
}

/** As Claude Code writes down what a hook said. */
function feedBack(desk: StopDesk, reason: string, isMeta = true): void {
  desk.line({ type: "user", isMeta, message: { role: "user", content: `Stop hook feedback:\n${reason}` } });
}

describe("asking the agent", () => {
  it("continues the turn once, in our own words, and starts nothing", () => {
    const desk = talk("continue");
    const ran = desk.stop();
    expect(ran).toMatchObject({ status: 0, stderr: "" });
    expect(JSON.parse(ran.stdout)).toEqual({ decision: "block", reason: buildLookBack(desk.memory) });
    expect(desk.children()).toEqual([]);
    expect(desk.cursor()).toBeNull();
  });

  it.each([true, false])("does nothing the second time but move the cursor (isMeta: %s)", (isMeta) => {
    const desk = talk("continue");
    const { reason } = JSON.parse(desk.stop().stdout);
    feedBack(desk, reason, isMeta);
    desk.call("Write", { file_path: path.join(desk.memory, "pnpm.md"), content: "x" });
    desk.answer("Kept.");
    expect(desk.stop({ stop_hook_active: true })).toMatchObject({ status: 0, stdout: "", stderr: "" });
    expect(desk.cursor()).not.toBeNull();
    // The same turn is not asked about again, a new one is.
    expect(desk.decide()).toEqual(skips("nothing is new"));
    desk.say("and always run the linter before you commit");
    desk.answer("Understood.");
    expect(desk.decide()).toEqual({ ask: buildLookBack(desk.memory) });
  });

  it("the second time leaves nothing where there is no directory, or no transcript yet", () => {
    const desk = talk("continue");
    fs.rmSync(desk.memory, { recursive: true });
    expect(desk.decide({ stop_hook_active: true })).toEqual(skips("continued once"));
    expect(fs.existsSync(desk.memory)).toBe(false);
    fs.mkdirSync(desk.memory);
    fs.rmSync(desk.transcript);
    expect(desk.decide({ stop_hook_active: true })).toEqual(skips("continued once"));
    expect(desk.cursor()).toBeNull();
  });

  it("asks nothing where the gates are closed", () => {
    const desk = talk("continue");
    expect(desk.decide({ agent_id: "a" })).toEqual(skips("sub-agent"));
    expect(desk.decide({}, { MEMDIR_LEARN: "off" })).toEqual(skips("off"));
    desk.call("Write", { file_path: path.join(desk.memory, "a.md"), content: "x" });
    expect(desk.decide()).toEqual(skips("a memory was written in this turn"));
    const idle = talk("continue");
    idle.setCursor("5a0c1111-0000-4000-8000-000000000001.1");
    idle.say("thanks");
    idle.answer("You are welcome.");
    expect(idle.decide()).toEqual(skips("nothing for the rules"));
  });

  it("needs no model and no budget of ours", () => {
    const desk = talk("continue");
    fs.writeFileSync(
      desk.at("home", ".claude", "memdir.json"),
      JSON.stringify({ hooks: { stop: "continue" }, learn: { tokensPerDay: 1, tokensPerSession: 1 } }),
    );
    expect(desk.decide({}, MODEL)).toMatchObject({ ask: expect.any(String) });
  });

  it.each(["PreCompact", "SessionEnd"])("has nothing to ask at %s", (hook_event_name) => {
    expect(talk("continue").decide({ hook_event_name })).toEqual(skips("at the end of its turns"));
  });
});

describe("asking nobody", () => {
  it.each(["Stop", "PreCompact", "SessionEnd"])("at %s", (hook_event_name) => {
    const desk = talk("off");
    expect(desk.decide({ hook_event_name })).toEqual(skips("hooks.stop is off"));
    expect(desk.stop({ hook_event_name })).toMatchObject({ status: 0, stdout: "", stderr: "" });
    expect(desk.children()).toEqual([]);
    expect(fs.existsSync(path.join(desk.memory, ".memdir"))).toBe(false);
  });
});

describe("a process beside the session", () => {
  it("is what is started by default, also when another hook made the turn go on", () => {
    const desk = talk("detached");
    expect(desk.decide({ stop_hook_active: true })).toMatchObject({ start: {} });
  });
});
