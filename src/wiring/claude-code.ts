/** Claude Code: hooks in its user settings, the server in its own state file. */

import { join, resolve } from "node:path";
import { type Client, findTrace } from "./client.ts";
import { hookCommand, serverCommand } from "./command.ts";
import type { HookEntry } from "./hooks-part.ts";
import { readSetting } from "./setting.ts";
import type { WiringWorld } from "./world.ts";

/**
 * In seconds. The hook has a deadline of its own, far shorter: this is for a disk that hangs. At the end of a turn or a session
 * more may be written, and nobody waits to type.
 */
const EVENTS = {
  SessionStart: 10,
  UserPromptSubmit: 5,
  PreToolUse: 5,
  PostToolUse: 5,
  Stop: 10,
  PreCompact: 10,
  SessionEnd: 10,
};

export const claudeCode: Client = {
  name: "claude-code",
  title: "Claude Code",
  // Its folder alone says nothing: memories lie there, too.
  find: (world) => findTrace(world, "claude", stateFile(world), settingsFile(world)),
  // Hooks of both would show every memory twice.
  findOther: (world) => {
    const plugins = readSetting(settingsFile(world), "enabledPlugins");
    const isOn = ([name, on]: [string, unknown]) => name.startsWith("memdir@") && on === true;
    const [found] = Object.entries(plugins ?? {}).find(isOn) ?? [];
    return found === undefined ? null : `its plugin ${found}`;
  },
  parts: (world) => [
    {
      kind: "hooks",
      file: settingsFile(world),
      why: "memories that help are shown with each prompt, and what is worth keeping is kept",
      hooks: hooksFor(EVENTS, hookCommand(world)),
    },
    {
      kind: "value",
      file: stateFile(world),
      why: "tools to recall, save and check memories",
      at: ["mcpServers", "memdir"],
      value: { type: "stdio", ...serverCommand(world) },
    },
  ],
  notes: (world) => [
    "Claude Code: sessions that are open now take it up when they are started again",
    ...(readSetting(settingsFile(world), "disableAllHooks") === true
      ? ["Claude Code: its settings switch all hooks off (disableAllHooks): only the tools work until you change that"]
      : []),
  ],
};

/** `~/.claude`, or where it was moved to. */
export function claudeFolder({ home, env, cwd }: WiringWorld): string {
  return env.CLAUDE_CONFIG_DIR ? resolve(cwd, env.CLAUDE_CONFIG_DIR) : join(home, ".claude");
}

export function hooksFor(events: Readonly<Record<string, number>>, command: string): Record<string, HookEntry> {
  const entries = Object.entries(events).map(([event, timeout]) => [event, { type: "command", command, timeout }]);
  return Object.fromEntries(entries);
}

function settingsFile(world: WiringWorld): string {
  return join(claudeFolder(world), "settings.json");
}

function stateFile(world: WiringWorld): string {
  return join(world.env.CLAUDE_CONFIG_DIR ? claudeFolder(world) : world.home, ".claude.json");
}
