/** VS Code and its siblings: the server in the user's mcp.json, and instructions that point to it, as there are no hooks. */

import { existsSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { POINTER } from "../prompts/memory.ts";
import { type Client, findTrace } from "./client.ts";
import { serverCommand } from "./command.ts";
import type { Part } from "./part.ts";
import type { WiringWorld } from "./world.ts";

/** Each keeps a profile of its own. */
const EDITIONS = ["Code", "Code - Insiders", "VSCodium"];
const MARK = "<!-- Made by memdir init, removed by memdir uninstall. -->";

export const vscode: Client = {
  name: "vscode",
  title: "VS Code",
  find: (world) => findTrace(world, "code", ...EDITIONS.map((edition) => join(base(world), edition))),
  parts: (world) => {
    const there = EDITIONS.filter((edition) => existsSync(join(base(world), edition)));
    return (there.length > 0 ? there : ["Code"]).flatMap((edition) =>
      partsOf(world, join(base(world), edition, "User")),
    );
  },
  notes: () => ["VS Code: it asks once whether the server memdir may be started"],
};

function partsOf(world: WiringWorld, folder: string): Part[] {
  return [
    {
      kind: "value",
      file: join(folder, "mcp.json"),
      why: "tools to recall, save and check memories",
      at: ["servers", "memdir"],
      value: { type: "stdio", ...serverCommand(world) },
    },
    {
      kind: "file",
      file: join(folder, "prompts", "memdir.instructions.md"),
      why: "says when to use them",
      text: `---\napplyTo: "**"\n---\n${MARK}\n\n${POINTER}\n`,
      mark: MARK,
    },
  ];
}

function base({ home, env, platform }: WiringWorld): string {
  if (platform === "darwin") return join(home, "Library", "Application Support");
  if (platform === "win32") return env.APPDATA || join(home, "AppData", "Roaming");
  return env.XDG_CONFIG_HOME && isAbsolute(env.XDG_CONFIG_HOME) ? env.XDG_CONFIG_HOME : join(home, ".config");
}
