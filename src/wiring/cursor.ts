/** Cursor: the server alone; its rules for all projects are no file. */

import { join } from "node:path";
import { type Client, findTrace } from "./client.ts";
import { serverCommand } from "./command.ts";
import type { WiringWorld } from "./world.ts";

export const cursor: Client = {
  name: "cursor",
  title: "Cursor",
  find: (world) => findTrace(world, "cursor", folder(world)),
  parts: (world) => [
    {
      kind: "value",
      file: join(folder(world), "mcp.json"),
      why: "tools to recall, save and check memories",
      at: ["mcpServers", "memdir"],
      value: serverCommand(world),
    },
  ],
  notes: () => [
    "Cursor: allow the server memdir in Settings, MCP; if its model seldom recalls, say so in Settings, Rules, User Rules",
  ],
};

function folder({ home }: WiringWorld): string {
  return join(home, ".cursor");
}
