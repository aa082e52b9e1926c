/** Our plugin in Claude Code: from its folder, and installed from this repository as a marketplace. */

import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { countIn, type Desk, describeClient, openDesk } from "./client.ts";
import { runClaude } from "./hosts/claude-code.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const PLUGIN = path.join(ROOT, "plugin");
const PROMPT = "how do we deploy with kubectl to staging?";
const BODY = "Deploy with kubectl, context heron, never on a Friday.";

async function openWithMemory(): Promise<Desk> {
  const desk = await openDesk("claude-code");
  await desk.save("deploy-staging", ["--type", "project"], BODY);
  return desk;
}

const toolNames = (desk: Desk): string[] => desk.asked()[0]!.body.tools.map(({ name }: { name: string }) => name);

describeClient("claude-code", () => {
  it("finds nothing wrong with the plugin and the marketplace", async () => {
    const desk = await openDesk("claude-code");
    for (const folder of [PLUGIN, ROOT]) {
      const { out } = await runClaude(desk, ["plugin", "validate", folder]);
      expect(out).toContain("Validation passed");
    }
  });

  it("runs the plugin's hooks and server from its folder", async () => {
    const desk = await openWithMemory();
    desk.server.queue({ text: "With kubectl." });
    await runClaude(desk, ["-p", PROMPT, "--plugin-dir", PLUGIN]);
    expect(countIn(desk.asked()[0], BODY)).toBe(1);
    expect(toolNames(desk)).toEqual(
      expect.arrayContaining(["mcp__plugin_memdir_memdir__recall", "mcp__plugin_memdir_memdir__save"]),
    );
    expect(countIn(desk.asked()[0], "memdir:memory")).toBeGreaterThan(0);
  });

  it("knows the plugin's commands", async () => {
    const desk = await openDesk("claude-code");
    for (const command of fs.readdirSync(path.join(PLUGIN, "commands"))) {
      const text = fs.readFileSync(path.join(PLUGIN, "commands", command), "utf8");
      const [line = ""] = text.split(/^---$/m).at(-1)!.trim().split("\n");
      desk.server.queue({ text: "Done." });
      await runClaude(desk, ["-p", `/memdir:${path.parse(command).name} the heron`, "--plugin-dir", PLUGIN]);
      const said = line.replaceAll("$ARGUMENTS", "the heron");
      expect([command, countIn(desk.asked().at(-1), said)]).toEqual([command, 1]);
    }
  });

  it("runs it when it is installed from the marketplace", async () => {
    const desk = await openWithMemory();
    await runClaude(desk, ["plugin", "marketplace", "add", ROOT]);
    await runClaude(desk, ["plugin", "install", "memdir@memdir"]);
    desk.server.queue({ text: "With kubectl." });
    await runClaude(desk, ["-p", PROMPT]);
    expect(countIn(desk.asked()[0], BODY)).toBe(1);
    expect(toolNames(desk)).toEqual(expect.arrayContaining(["mcp__plugin_memdir_memdir__recall"]));
  });
});
