/** The plugin's folder as Claude Code reads it: its files fit together, and what they start runs. */

import { execFileSync, spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { COMMANDS } from "../../src/cli/run.ts";
import { parseDocument } from "../../src/text/frontmatter.ts";
import { chooseClients } from "../../src/wiring/clients.ts";
import { makeTemporary } from "../temporary.ts";
import { makeMachine } from "../wiring/machine.ts";

const ROOT = path.resolve(import.meta.dirname, "../..");
const PLUGIN = path.join(ROOT, "plugin");
const json = (file: string) => JSON.parse(fs.readFileSync(path.join(ROOT, file), "utf8"));
const text = (file: string) => fs.readFileSync(path.join(PLUGIN, file), "utf8");

describe("the plugin", () => {
  it("is offered by the marketplace of the package, under the package's version", () => {
    const { plugins } = json(".claude-plugin/marketplace.json");
    expect(plugins).toMatchObject([{ name: "memdir", source: "./plugin" }]);
    expect(json("plugin/.claude-plugin/plugin.json")).toMatchObject({
      name: "memdir",
      version: json("package.json").version,
    });
  });

  it("hooks into every event that memdir answers, with the launcher", () => {
    const { hooks } = json("plugin/hooks/hooks.json");
    expect(Object.keys(hooks)).toEqual([
      ...["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "PreCompact", "SessionEnd"],
    ]);
    const root = "$" + "{CLAUDE_PLUGIN_ROOT}";
    const command = { type: "command", command: `node "${root}/launch.cjs" hook` };
    // A plugin's server has the plugin's name before its own.
    const tool = { type: "mcp_tool", server: "plugin:memdir:memdir", tool: "hook" };
    const wired = json("plugin/.mcp.json").mcpServers;
    expect(Object.keys(wired)).toEqual(["memdir"]);
    const machine = makeMachine();
    for (const [event, groups] of Object.entries(hooks as Record<string, { hooks: { input?: object }[] }[]>)) {
      const isCommand = ["SessionStart", "PreCompact", "SessionEnd"].includes(event);
      expect([event, groups[0]?.hooks]).toMatchObject([event, [isCommand ? command : tool]]);
      // The same fields as `memdir init` names.
      const form = { byServer: true, hasRules: false, prefetches: true };
      const [part] = chooseClients(machine, ["claude-code"])[0]?.parts(machine, form) ?? [];
      const entry = part?.kind === "hooks" ? part.hooks[event] : undefined;
      if (entry?.type === "mcp_tool") expect(groups[0]?.hooks[0]?.input).toEqual(entry.input);
    }
  });

  it("has commands and a skill with a description, which name only tools and commands that exist", () => {
    const files = fs.readdirSync(path.join(PLUGIN, "commands")).map((name) => `commands/${name}`);
    expect(files.map((file) => path.basename(file, ".md"))).toEqual([
      "dream",
      "forget",
      "recall",
      "remember",
      "verify",
    ]);
    for (const file of [...files, "skills/memory/SKILL.md"]) {
      const { fields } = parseDocument(text(file));
      expect(JSON.stringify(fields), file).toContain("description");
      const known = new Set(COMMANDS.map(({ name }) => name));
      for (const [, command] of text(file).matchAll(/`memdir (\w+)/g)) expect(known).toContain(command);
    }
  });

  it("starts the hook and the command line from its own folder", () => {
    const launch = path.join(PLUGIN, "launch.cjs");
    const home = makeTemporary("plugin");
    const env = { PATH: process.env.PATH, HOME: home, USERPROFILE: home };
    const version = execFileSync(process.execPath, [launch, "cli", "--version"], { env, encoding: "utf8" });
    expect(version).toContain(json("package.json").version);
    const input = JSON.stringify({ hook_event_name: "UserPromptSubmit", prompt: "which tabs?", cwd: home });
    expect(spawnSync(process.execPath, [launch, "hook"], { env, input, encoding: "utf8" })).toMatchObject({
      status: 0,
      stdout: "",
      stderr: "",
    });
  });

  it("copied without the package: the hook is silent, the command line says what to do", () => {
    const folder = makeTemporary("plugin-copy");
    fs.copyFileSync(path.join(PLUGIN, "launch.cjs"), path.join(folder, "launch.cjs"));
    const run = (...args: string[]) =>
      spawnSync(process.execPath, [path.join(folder, "launch.cjs"), ...args], { input: "{}", encoding: "utf8" });
    expect(run("hook")).toMatchObject({ status: 0, stdout: "", stderr: "" });
    expect(run("cli", "mcp")).toMatchObject({ status: 3, stderr: expect.stringContaining("npm install -g memdir") });
  });
});
