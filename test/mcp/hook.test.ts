/** The tool that clients call for their events instead of starting a process. */

import { spawn } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, it } from "vitest";
import { readFaults } from "../../src/hooks/faults.ts";
import { openHooks } from "../../src/hooks/hooks.ts";
import { BINARY } from "../cli/run.ts";
import { PATIENCE_MS, until } from "../until.ts";
import { makeWorld, type World } from "../world.ts";
import { type Json, makeMcpOptions, openWire, type Wire } from "./wire.ts";

const DIST = fileURLToPath(new URL("../../dist", import.meta.url));
const PROMPT = "how do we deploy with kubectl to staging?";
const DEPLOY = "---\nname: Deploy kubectl staging\ntype: project\n---\n\nDeploy with kubectl on staging.\n";
const RULE =
  "---\nname: No force push\ntype: feedback\nenforce:\n  tool: Bash\n  pattern: git push -f\n  message: Ask first.\n---\n\nNever.\n";
const SETTINGS = { hooks: { deadlineMs: PATIENCE_MS } };

function openHookWire(world: World): Wire {
  return openWire(makeMcpOptions(world, { hooks: openHooks({ env: world.env, dist: DIST }) }));
}

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

/** As Claude Code calls it: every field is a text, and what an event does not have is "". */
function makeAsk(world: World, wire: Wire) {
  const ask = async (event: string, fields: object): Promise<Json> => {
    const named = { hook_event_name: event, cwd: world.project, session_id: "one", transcript_path: "", agent_id: "" };
    const { content, isError } = await wire.call("hook", { ...named, ...fields });
    expect([isError, content.length, content[0].type]).toEqual([undefined, 1, "text"]);
    return JSON.parse(content[0].text);
  };
  const shown = async (prompt: string, session_id: string) =>
    (await ask("UserPromptSubmit", { prompt, session_id })).hookSpecificOutput?.additionalContext ?? "";
  const reason = async (command: string) =>
    (await ask("PreToolUse", { tool_name: "Bash", tool_input: JSON.stringify({ command }) })).hookSpecificOutput
      ?.permissionDecisionReason ?? "";
  return { ask, shown, reason };
}

describe("the tool", () => {
  it("is in no list, and is there only where a client can call it for its events", async () => {
    const world = makeWorld();
    const names = (await openHookWire(world).ask("tools/list")).result.tools.map(({ name }: Json) => name);
    expect(names).toContain("recall");
    expect(names).not.toContain("hook");
    const { error } = await openWire(makeMcpOptions(world)).ask("tools/call", { name: "hook", arguments: {} });
    expect(error.message).toContain('there is no tool "hook"');
  });

  it("answers a prompt with what helps, once in a session, and with {} for nothing", async () => {
    const world = makeWorld({ settings: SETTINGS });
    world.write("deploy.md", DEPLOY);
    const { ask, shown } = makeAsk(world, openHookWire(world));
    expect(await ask("UserPromptSubmit", { prompt: PROMPT })).toEqual({
      hookSpecificOutput: {
        hookEventName: "UserPromptSubmit",
        additionalContext: expect.stringContaining("Deploy with kubectl on staging."),
      },
    });
    expect(await ask("UserPromptSubmit", { prompt: PROMPT })).toEqual({});
    expect(await shown(PROMPT, "two")).toContain("Deploy with kubectl");
    for (const prompt of ["", "deploy", "what is the weather like on the moon"])
      expect(await ask("UserPromptSubmit", { prompt })).toEqual({});
    for (const event of ["PostToolUse", "Stop", "Nonsense"]) expect(await ask(event, {})).toEqual({});
    expect(readFaults(world.env)).toEqual([]);
  });

  it("is prepared for the first prompt once a client has connected that calls it, and leaves no trace in the session", async () => {
    const world = makeWorld({ settings: SETTINGS });
    world.write("deploy.md", DEPLOY);
    const rows = world.path(".memdir/rows.bin");
    const wire = openHookWire(world);
    const clientInfo = { name: "claude-code", version: "1" };
    await wire.ask("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo });
    await until(() => fs.existsSync(rows));
    expect(fs.readdirSync(world.path(".memdir"))).not.toContain("surfaced.jsonl");
    expect(await makeAsk(world, wire).shown(PROMPT, "one")).toContain("Deploy with kubectl");
    expect(readFaults(world.env)).toEqual([]);
  });

  it("shows memories as they are now, whoever wrote them", async () => {
    const world = makeWorld({ settings: SETTINGS });
    world.write("deploy.md", DEPLOY);
    const { shown } = makeAsk(world, openHookWire(world));
    expect(await shown(PROMPT, "one")).toContain("on staging.");
    world.write("deploy.md", DEPLOY.replace("on staging.", "from the bastion."));
    expect(await shown(PROMPT, "two")).toContain("from the bastion.");
    world.write("zebra.md", "---\nname: Zebra stripes\ntype: project\n---\n\nZebra stripes are black.\n");
    expect(await shown("which colour are the zebra stripes", "one")).toContain("black");
    fs.rmSync(world.path("deploy.md"));
    expect(await shown(PROMPT, "three")).toBe("");
    fs.rmSync(world.path(".memdir"), { recursive: true });
    expect(await shown("which colour are the zebra stripes", "four")).toContain("black");
  });

  it("denies what a rule forbids from the call on that follows the rule's writing, to the one that follows its end", async () => {
    const world = makeWorld({ settings: SETTINGS });
    for (let i = 0; i < 40; i++) world.write(`m${i}.md`, DEPLOY.replaceAll("eploy", `eploy${i}`));
    const { reason } = makeAsk(world, openHookWire(world));
    expect(await reason("git push -f")).toBe("");
    world.write("rule.md", RULE);
    for (const _ of [1, 2]) expect(await reason("git push -f")).toContain("Ask first.");
    expect(await reason("git push")).toBe("");
    world.write("rule.md", RULE.replace("push -f", "push --all"));
    expect([await reason("git push -f"), await reason("git push --all")]).toEqual([
      "",
      expect.stringContaining("Ask first."),
    ]);
    fs.rmSync(world.path("rule.md"));
    expect(await reason("git push --all")).toBe("");
  });

  it("takes the fields as Codex passes them, too", async () => {
    const world = makeWorld({ settings: SETTINGS });
    world.write("rule.md", RULE);
    const { ask } = makeAsk(world, openHookWire(world));
    const call = { turn_id: "t", tool_name: "Bash", tool_input: { command: "git push -f" } };
    expect(await ask("PreToolUse", call)).toMatchObject({ hookSpecificOutput: { permissionDecision: "deny" } });
  });

  it("lets a turn go on with a question, if the user wants that", async () => {
    const world = makeWorld({ settings: { hooks: { ...SETTINGS.hooks, stop: "continue" } } });
    world.write("deploy.md", DEPLOY);
    const transcript = path.join(world.top, "session.jsonl");
    const line = {
      type: "user",
      uuid: "1",
      message: { role: "user", content: "we deploy on Tuesdays, never on Fridays" },
    };
    fs.writeFileSync(transcript, `${JSON.stringify(line)}\n`);
    const { ask } = makeAsk(world, openHookWire(world));
    const stop = { transcript_path: transcript, last_assistant_message: "" };
    expect(await ask("Stop", { ...stop, stop_hook_active: "false" })).toMatchObject({ decision: "block" });
    expect(await ask("Stop", { ...stop, stop_hook_active: "true" })).toEqual({});
  });

  it("records what fails, and lets the client go on", async () => {
    const world = makeWorld({ settings: { hooks: { deadlineMs: 1 } } });
    for (let i = 0; i < 300; i++) world.write(`m${i}.md`, DEPLOY);
    const { ask } = makeAsk(world, openHookWire(world));
    await ask("UserPromptSubmit", { prompt: PROMPT });
    await until(() => readFaults(world.env).length > 0);
    expect(readFaults(world.env)[0]).toMatchObject({
      event: "UserPromptSubmit",
      message: expect.stringMatching(/^time was up/),
    });
  });
});

describe("the server's process", () => {
  function serve(world: World, env: Record<string, string> = {}, args: string[] = []) {
    const all = { ...world.env, PATH: process.env.PATH ?? "", ...env };
    const child = spawn(process.execPath, [...args, BINARY, "mcp"], { cwd: world.project, env: all });
    ends.push(() => child.kill("SIGKILL"));
    const lines: Json[] = [];
    let rest = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      const parts = (rest + text).split("\n");
      rest = parts.pop() ?? "";
      lines.push(...parts.map((line) => JSON.parse(line)));
    });
    let id = 0;
    const call = async (given: object) => {
      const mine = ++id;
      const params = { name: "hook", arguments: { cwd: world.project, ...given } };
      child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: mine, method: "tools/call", params })}\n`);
      await until(() => lines.some((line) => line.id === mine));
      return lines.find((line) => line.id === mine)?.result.content[0].text;
    };
    return { call, lines };
  }
  const prompt = (session_id: string) => ({ hook_event_name: "UserPromptSubmit", prompt: PROMPT, session_id });

  it("writes nothing but answers to the protocol's stream, whatever an event does", async () => {
    const world = makeWorld({ settings: SETTINGS });
    world.write("deploy.md", DEPLOY);
    world.write("rule.md", RULE);
    const { call, lines } = serve(world, { MEMDIR_DEBUG: "1" });
    expect(await call(prompt("one"))).toContain("Deploy with kubectl");
    const force = JSON.stringify({ command: "git push -f" });
    expect(await call({ hook_event_name: "PreToolUse", tool_name: "Bash", tool_input: force })).toContain("Ask first.");
    for (const hook_event_name of ["SessionStart", "Stop", "SessionEnd", "PreCompact", "PostToolUse"])
      expect(JSON.parse(await call({ hook_event_name, session_id: "one" }))).toBeTypeOf("object");
    expect(await call({ hook_event_name: 5 })).toBe("{}");
    expect(lines.every(({ jsonrpc, id }) => jsonrpc === "2.0" && id > 0)).toBe(true);
  });

  it("does not look at every memory with every event", async () => {
    const world = makeWorld({ settings: SETTINGS });
    for (let i = 0; i < 1000; i++) world.write(`m${i}.md`, DEPLOY.replaceAll("eploy", `eploy${i}`), { ageMs: 60_000 });
    world.write("rule.md", RULE, { ageMs: 60_000 });
    const counts = path.join(world.top, "counts");
    const preload = path.join(world.top, "preload.cjs");
    const names = ["statSync", "lstatSync", "readFileSync", "openSync", "readdirSync"];
    fs.writeFileSync(
      preload,
      `const fs = require("fs"); let n = 0; const { writeFileSync } = fs;
       for (const name of ${JSON.stringify(names)}) { const call = fs[name]; fs[name] = (...given) => { n++; return call(...given); }; }
       require("module").syncBuiltinESMExports();
       setInterval(() => writeFileSync(${JSON.stringify(counts)}, String(n)), 20).unref();`,
    );
    const { call } = serve(world, {}, ["-r", preload]);
    const tool = { hook_event_name: "PreToolUse", tool_name: "Bash", tool_input: '{"command":"ls"}' };
    /** When no more is counted. */
    const settled = async () => {
      let last = -1;
      await until(async () => {
        const now = fs.existsSync(counts) ? Number(fs.readFileSync(counts, "utf8")) : -1;
        const isSame = now >= 0 && now === last;
        last = now;
        if (!isSame) await new Promise((done) => setTimeout(done, 100));
        return isSame;
      });
      return last;
    };
    for (let i = 0; i < 3; i++) {
      await call(prompt(`warm ${i}`));
      await call(tool);
      await settled();
    }
    const before = await settled();
    for (let i = 0; i < 5; i++) await call(tool);
    const between = await settled();
    for (let i = 0; i < 5; i++) await call(prompt(`measured ${i}`));
    const after = await settled();
    expect((between - before) / 5).toBeLessThan(100);
    expect((after - between) / 5).toBeLessThan(400);
  });
});
