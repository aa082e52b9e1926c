/** `memdir init` and `memdir uninstall` as a person meets them. */

import fs from "node:fs";
import { beforeEach, describe, expect, test } from "vitest";
import { runOf } from "../../src/cli/command.ts";
import { makeInit, makeUninstall } from "../../src/verbs/init.ts";
import { putFakeClient } from "../model/fake-client.ts";
import { makeMachine, type TestMachine } from "../wiring/machine.ts";
import { errorOf, makeWorld, type World } from "../world.ts";
import { hearCall } from "./call.ts";
import { openSandbox } from "./run.ts";

let machine: TestMachine;
const wire = runOf(makeInit(() => machine));
const unwire = runOf(makeUninstall(() => machine));

beforeEach(() => {
  machine = makeMachine({ ".claude/settings.json": '{\n  "a": 1\n}\n', ".codex/config.toml": "" });
});

interface Asked {
  options?: Record<string, boolean | string>;
  agents?: string[];
  json?: boolean;
  /** What is answered on a terminal; none: there is no terminal. */
  answers?: boolean[];
  world?: World;
}

function prepare({ options = {}, agents = [], json = false, answers, world = makeWorld() }: Asked) {
  const asked: string[] = [];
  const ask = async (question: string) => {
    asked.push(question);
    return answers?.shift() ?? false;
  };
  const heard = hearCall(world, { options, json, columns: 100, ...(answers ? { ask } : {}) });
  heard.call.values = () => agents;
  return { ...heard, asked, said: () => [...heard.printed, ...heard.warned].join("\n") };
}

async function run(asked: Asked) {
  const prepared = prepare(asked);
  return { ...prepared, code: await wire(prepared.call) };
}

describe("init", () => {
  test("shows every file with its changes, asks for each agent, does what it is told", async () => {
    const { code, said, asked } = await run({ answers: [true, false] });
    expect(code).toBe(0);
    expect(asked).toEqual(["Connect Claude Code?", "Connect Codex?"]);
    expect(said()).toContain("Claude Code (found: ~/.claude/settings.json)");
    expect(said()).toContain("  edit ~/.claude/settings.json: memories that help are shown with each prompt");
    expect(said()).toMatch(/ {4}\+ {3}"hooks": \{/);
    expect(said()).toContain("  create ~/.claude.json: tools to recall, save and check memories");
    expect(said()).toContain("Claude Code is connected");
    expect(said()).not.toContain("Codex is connected");
    expect(machine.read(".claude.json")).toContain("memdir");
    expect(machine.read(".codex/hooks.json")).toBe(undefined);
  });

  test("--yes does not ask, says what is left to do, and is done the second time", async () => {
    const { code, said, asked } = await run({ options: { yes: true } });
    expect([code, asked]).toEqual([0, []]);
    expect(said()).toMatch(/Codex: it runs hooks only after you trust them: type \/hooks there/);
    const again = await run({ options: { yes: true } });
    expect(again.said()).toContain("Claude Code (found: ~/.claude.json): connected already");
  });

  test("--dry-run and no terminal change nothing; the latter ends with 2", async () => {
    const before = machine.picture();
    expect((await run({ options: { "dry-run": true } })).code).toBe(0);
    const prepared = prepare({});
    const error = await errorOf(wire(prepared.call));
    expect(`${error.code}: ${error.message}`).toBe(
      "usage: nothing was changed: there is no terminal to ask on; --yes does it",
    );
    expect(prepared.said()).toContain("edit ~/.claude/settings.json");
    expect(machine.picture()).toEqual(before);
  });

  test("--json: one value with every change", async () => {
    const { answers, printed, code } = await run({ options: { yes: true }, json: true, agents: ["codex"] });
    expect([code, printed]).toEqual([0, []]);
    expect(answers[0].changes.map(({ file, kind }: { file: string; kind: string }) => `${kind} ${file}`)).toEqual([
      `edit ${machine.at(".codex/config.toml")}`,
      `create ${machine.at(".codex/hooks.json")}`,
      `create ${machine.at(".codex/AGENTS.md")}`,
    ]);
    expect(answers[0]).toMatchObject({ applied: ["codex"], problems: [], notes: [expect.stringMatching(/trust/)] });
  });

  test("--json without --yes: what would change, and the error", async () => {
    const before = machine.picture();
    const prepared = prepare({ json: true, agents: ["codex"] });
    expect((await errorOf(wire(prepared.call))).code).toBe("usage");
    expect(prepared.printed.map((line) => JSON.parse(line))).toMatchObject([{ changes: [{}, {}, {}], applied: [] }]);
    expect(machine.picture()).toEqual(before);
  });

  test("a broken file: that agent is left alone with what and where, the others are wired, the code says so", async () => {
    machine.put(".claude/settings.json", "{ oops");
    const { code, said, answers } = await run({ options: { yes: true } });
    expect(code).toBe(2);
    expect(said()).toContain("Claude Code: left alone");
    expect(said()).toMatch(/^memdir: .*settings\.json:1:3 is not valid JSON/m);
    expect(machine.read(".claude/settings.json")).toBe("{ oops");
    expect(machine.read(".codex/hooks.json")).toContain("hook.cjs");
    expect(answers).toEqual([]);
  });

  test("links and npx's cache are pointed out; secrets beside the change are not shown", async () => {
    const key = ["sk", "ant", "api03", "A".repeat(80)].join("-");
    fs.renameSync(machine.at(".claude/settings.json"), machine.at("real.json"));
    machine.put("real.json", `{\n  "env": { "ANTHROPIC_API_KEY": "${key}" },\n  "b": 1\n}\n`);
    fs.symlinkSync("../real.json", machine.at(".claude/settings.json"));
    machine.dist = "/home/u/.npm/_npx/12/node_modules/memdir/dist";
    const { said } = await run({ options: { yes: true }, agents: ["claude"] });
    expect(said()).toContain("edit ~/.claude/settings.json, a link to ~/real.json:");
    expect(said()).toContain("runs from a cache that is emptied");
    expect(said()).not.toContain(key);
    expect(machine.read("real.json")).toContain(key);
  });

  test("of one long line only what is around the change is shown, and all of the change", async () => {
    machine.put(
      ".cursor/mcp.json",
      JSON.stringify({ first: "a".repeat(5000), mcpServers: {}, last: "z".repeat(5000) }),
    );
    const { said, printed } = await run({ options: { "dry-run": true }, agents: ["cursor"] });
    expect(
      said()
        .split("\n")
        .every((line) => line.length <= 100),
    ).toBe(true);
    expect(said().length).toBeLessThan(1000);
    expect(printed.join("").replaceAll(/\s+/g, "")).toContain('"args":["/opt/memdir/dist/cli.js","mcp"]');
    expect(said()).toMatch(/ {4}- …a+","mcpServers":\{\}/);
  });

  test("nothing found, an unknown agent, an agent that is not here", async () => {
    machine = makeMachine();
    expect((await run({ options: { yes: true } })).said()).toMatch(/^No agent was found .* claude-code, codex/);
    const prepared = prepare({ agents: ["emacs"] });
    expect((await errorOf(wire(prepared.call))).code).toBe("usage");
    const { said } = await run({ options: { yes: true }, agents: ["cursor"] });
    expect(said()).toContain("Cursor (not found here)");
    expect(machine.read(".cursor/mcp.json")).toContain("memdir");
  });
});

describe("uninstall", () => {
  const undo = async (asked: Asked = {}) => {
    const prepared = prepare(asked);
    return { ...prepared, code: await unwire(prepared.call) };
  };

  test("says what became of each file, and where the memories are", async () => {
    const before = machine.picture();
    await run({ options: { yes: true } });
    fs.appendFileSync(machine.at(".codex/AGENTS.md"), "mine\n");
    const { code, said } = await undo({ options: { yes: true } });
    expect(code).toBe(0);
    expect(said()).toBe(
      [
        "~/.claude/settings.json is as it was before memdir",
        "~/.claude.json is removed: it was memdir's",
        "~/.codex/config.toml is as it was before memdir",
        "~/.codex/hooks.json is removed: it was memdir's",
        "~/.codex/AGENTS.md was changed since: only memdir's part was removed",
        "Your memories stay where they are: ~/.claude/projects/*/memory and where your settings say",
      ].join("\n"),
    );
    expect(machine.picture()).toEqual({ ...before, ".codex/AGENTS.md": "600 mine\n" });
    expect((await undo()).said()).toMatch(/^No agent is connected, so there is nothing to undo/);
    const gemini = await undo({ agents: ["gemini"], options: { yes: true } });
    expect(gemini.said()).toMatch(/^Not connected: Gemini CLI, so there is nothing to undo/);
  });

  test("--dry-run only says it, --json is one value, --agent is one agent, a problem is an exit code", async () => {
    await run({ options: { yes: true } });
    const wired = machine.picture();
    const { answers } = await undo({ options: { "dry-run": true }, json: true, agents: ["claude"] });
    expect(answers[0]).toEqual({
      changes: [
        { client: "claude-code", file: machine.at(".claude/settings.json"), kind: "restored" },
        { client: "claude-code", file: machine.at(".claude.json"), kind: "removed" },
      ],
      problems: [],
    });
    expect(machine.picture()).toEqual(wired);
    machine.put(".codex/hooks.json", "{");
    const { code, said } = await undo({ options: { yes: true } });
    expect(code).toBe(2);
    expect(said()).toMatch(/^memdir: .*hooks\.json:1:2 is not valid JSON/m);
  });

  test("shows it and asks first; without a terminal it changes nothing and ends with 2", async () => {
    await run({ options: { yes: true } });
    const wired = machine.picture();
    const declined = await undo({ answers: [false], agents: ["claude"] });
    expect(declined.asked).toEqual(["Disconnect these agents?"]);
    expect(declined.said()).toBe(
      [
        "~/.claude/settings.json will be as it was before memdir",
        "~/.claude.json will be removed: it is memdir's",
        "Nothing was changed",
      ].join("\n"),
    );
    for (const json of [false, true]) {
      const blind = prepare({ json });
      expect((await errorOf(unwire(blind.call))).message).toMatch(/^nothing was changed: .* --yes does it$/);
      expect(blind.printed.join("\n")).toContain(".claude.json");
    }
    expect(machine.picture()).toEqual(wired);
    expect((await undo({ answers: [true] })).said()).toContain("~/.claude.json is removed: it was memdir's");
    expect(machine.picture()).not.toEqual(wired);
  });
});

describe.runIf(process.platform !== "win32")("hooks through the server", () => {
  test("are wired where the client can, a rule says what that means for it, and --hooks command goes back for good", async () => {
    const sandbox = openSandbox();
    const put = (file: string, text: string) => fs.chmodSync(sandbox.put(file, text), 0o755);
    put("bin/claude", '#!/bin/sh\necho "2.1.325 (Claude Code)"\n');
    put(
      "bin/editor",
      "#!/bin/sh\nprintf -- '---\\nname: keep\\ntype: feedback\\nenforce:\\n  tool: Bash\\n  pattern: rm\\n  message: m\\n---\\n\\nNo.\\n' > \"$1\"\n",
    );
    const env = { PATH: `${sandbox.at("bin")}:${process.env.PATH}`, EDITOR: sandbox.at("bin", "editor") };
    const init = (...args: string[]) => sandbox.json(["init", "--yes", "--agent", "claude-code", ...args], { env });
    const settings = () => fs.readFileSync(sandbox.at("home", ".claude", "settings.json"), "utf8");
    const formOf = (event: string) => JSON.parse(settings()).hooks[event][0].hooks[0].type;
    await init();
    expect([formOf("UserPromptSubmit"), formOf("PreToolUse")]).toEqual(["mcp_tool", "mcp_tool"]);

    await sandbox.save("keep", ["--type", "feedback"], "No.");
    const { notices } = await sandbox.json(["edit", "keep"], { env });
    expect(notices.join()).toMatch(/^Claude Code checks rules through memdir's server: `memdir init`/);
    await init();
    expect([formOf("UserPromptSubmit"), formOf("PreToolUse")]).toEqual(["mcp_tool", "command"]);
    const again = await sandbox.json(["save", "--type", "feedback", "--name", "keep", "Never."], { env });
    expect(again.notices.join()).not.toContain("memdir init");

    await init("--hooks", "command");
    expect(settings()).not.toContain("mcp_tool");
    expect(await init()).toMatchObject({ changes: [] });
    await init("--hooks", "server");
    expect(formOf("UserPromptSubmit")).toBe("mcp_tool");
    await sandbox.json(["uninstall", "--yes"], { env });
    expect(fs.existsSync(sandbox.at("home", ".claude", "settings.json"))).toBe(false);
  });
});

describe("the model of background learning", () => {
  const settings = (world: World) => {
    const file = `${world.home}/.claude/memdir.json`;
    return fs.existsSync(file) ? JSON.parse(fs.readFileSync(file, "utf8")) : {};
  };
  const learningQuestion = (asked: string[]) => asked.filter((question) => question.startsWith("May background"));

  beforeEach(() => {
    machine = makeMachine({ ".codex/auth.json": "{}" });
    machine.env = { ...machine.env, PATH: putFakeClient(machine.home, "codex", "seen(1)").PATH };
  });

  test("is asked for once, with what it costs, and kept beside the other settings", async () => {
    const world = makeWorld({ settings: { learn: { everyTurns: 2 }, team: false } });
    const { asked, said } = await run({ answers: [false, true], world });
    expect(learningQuestion(asked)).toEqual([
      "May background learning use Codex? Each turn it learns from takes about 10,000 tokens of your account, a day at most 200,000",
    ]);
    expect(said()).toContain("Background learning asks codex");
    expect(settings(world)).toEqual({ learn: { everyTurns: 2, model: "codex" }, team: false });
    expect((await world.open()).config.learn.model).toBe("codex");
    expect(learningQuestion((await run({ answers: [false], world })).asked)).toEqual([]);
  });

  test("stays off after a no, which is not asked again, and without an answer", async () => {
    const world = makeWorld();
    await run({ answers: [false, false], world });
    expect(settings(world)).toEqual({ learn: { model: "off" } });
    expect((await world.open()).config.learn.model).toBeNull();
    expect(learningQuestion((await run({ answers: [false], world })).asked)).toEqual([]);
  });

  test("is not switched on by --yes, by --dry-run, or where nobody is logged in", async () => {
    const world = makeWorld();
    await run({ options: { yes: true }, world });
    await run({ options: { "dry-run": true, "learn-with": "codex" }, answers: [true], world });
    fs.rmSync(machine.at(".codex/auth.json"));
    expect(learningQuestion((await run({ answers: [false], world })).asked)).toEqual([]);
    expect(settings(world)).toEqual({});
  });

  test("is what --learn-with names, also without a terminal; what is no model changes nothing", async () => {
    const world = makeWorld();
    const before = machine.picture();
    const wrong = prepare({ options: { yes: true, "learn-with": "clade" }, world });
    expect((await errorOf(wire(wrong.call))).message).toMatch(/learn\.model is "clade"; name/);
    expect([settings(world), machine.picture()]).toEqual([{}, before]);
    await run({ options: { yes: true, "learn-with": "claude-code/sonnet" }, world });
    expect(settings(world)).toEqual({ learn: { model: "claude-code/sonnet" } });
    // It is the user's setting: uninstall is about the agents' files.
    await unwire(prepare({ options: { yes: true }, world }).call);
    expect(settings(world)).toEqual({ learn: { model: "claude-code/sonnet" } });
  });
});
