/** Gemini CLI: server and hooks in its user settings. */

import { join } from "node:path";
import { type Client, findTrace } from "./client.ts";
import { hookCommand, serverCommand } from "./command.ts";
import type { HookEntry } from "./hooks-part.ts";
import { readSetting } from "./setting.ts";
import type { WiringWorld } from "./world.ts";

/** In milliseconds here; for the same reason as elsewhere. Not PreCompress, which comes before every request. */
const EVENTS = {
  SessionStart: 10_000,
  BeforeAgent: 5_000,
  BeforeTool: 5_000,
  AfterTool: 5_000,
  AfterAgent: 10_000,
  SessionEnd: 10_000,
};

export const gemini: Client = {
  name: "gemini",
  title: "Gemini CLI",
  find: (world) => findTrace(world, "gemini", folder(world)),
  parts: (world) => {
    const file = join(folder(world), "settings.json");
    return [
      {
        kind: "value",
        file,
        why: "tools to recall, save and check memories",
        at: ["mcpServers", "memdir"],
        value: serverCommand(world),
      },
      {
        kind: "hooks",
        file,
        why: "memories that help are shown with each prompt, and what is worth keeping is kept",
        hooks: hooks(hookCommand(world)),
      },
    ];
  },
  notes: (world) =>
    readSetting(join(folder(world), "settings.json"), "hooksConfig", "enabled") === false
      ? ["Gemini CLI: its settings switch hooks off (hooksConfig.enabled): only the tools work until you change that"]
      : [],
};

/** Named, as its lists of hooks show names. */
function hooks(command: string): Record<string, HookEntry> {
  const entries = Object.entries(EVENTS).map(([event, timeout]) => [
    event,
    { name: "memdir", type: "command", command, timeout },
  ]);
  return Object.fromEntries(entries);
}

function folder({ home, env }: WiringWorld): string {
  return join(env.GEMINI_CLI_HOME || home, ".gemini");
}
