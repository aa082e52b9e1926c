/** OpenCode: the server in its configuration, and a plugin, as it has no hooks that start a program. */

import { existsSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { type Client, findTrace } from "./client.ts";
import { serverCommand } from "./command.ts";
import { buildPlugin, PLUGIN_MARK } from "./opencode-plugin.ts";
import type { WiringWorld } from "./world.ts";

export const opencode: Client = {
  name: "opencode",
  title: "OpenCode",
  find: (world) => findTrace(world, "opencode", folder(world), join(world.home, ".opencode", "bin")),
  parts: (world) => {
    const { command, args } = serverCommand(world);
    return [
      {
        kind: "value",
        file: configFile(world),
        why: "tools to recall, save and check memories",
        at: ["mcp", "memdir"],
        value: { type: "local", command: [command, ...args] },
        // It would put this in by itself, and the file would no longer be as we left it.
        start: { $schema: "https://opencode.ai/config.json" },
      },
      {
        kind: "file",
        file: join(folder(world), "plugin", "memdir.js"),
        why: "memories that help are shown with each prompt",
        text: buildPlugin(world.node, join(world.dist, "hook.cjs")),
        mark: PLUGIN_MARK,
      },
    ];
  },
  notes: () => [],
};

/** Both names are read and merged: the one that is there is the one its user knows. */
function configFile(world: WiringWorld): string {
  const names = ["opencode.jsonc", "opencode.json"].map((name) => join(folder(world), name));
  return names.find((file) => existsSync(file)) ?? join(folder(world), "opencode.json");
}

/** On every system below `.config`. */
function folder({ home, env }: WiringWorld): string {
  const base = env.XDG_CONFIG_HOME && isAbsolute(env.XDG_CONFIG_HOME) ? env.XDG_CONFIG_HOME : join(home, ".config");
  return join(base, "opencode");
}
