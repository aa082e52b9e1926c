/** Codex: the server in its TOML, hooks in a file of their own, and a pointer for as long as nobody has trusted them. */

import { join, resolve } from "node:path";
import { POINTER } from "../prompts/memory.ts";
import { hooksFor } from "./claude-code.ts";
import { type Client, findTrace } from "./client.ts";
import { hookCommand, serverCommand } from "./command.ts";
import type { WiringWorld } from "./world.ts";

/** In seconds, as for Claude Code. */
const EVENTS = { SessionStart: 10, UserPromptSubmit: 5, PreToolUse: 5, PostToolUse: 5, Stop: 10, PreCompact: 10 };

export const codex: Client = {
  name: "codex",
  title: "Codex",
  find: (world) => findTrace(world, "codex", folder(world)),
  parts: (world) => [
    {
      kind: "table",
      file: join(folder(world), "config.toml"),
      why: "tools to recall, save and check memories",
      table: ["mcp_servers", "memdir"],
      values: serverCommand(world),
    },
    {
      kind: "hooks",
      file: join(folder(world), "hooks.json"),
      why: "memories that help are shown with each prompt",
      hooks: hooksFor(EVENTS, hookCommand(world)),
    },
    {
      kind: "block",
      file: join(folder(world), "AGENTS.md"),
      why: "says that the tools are there: hooks do not run before you trust them",
      text: POINTER,
    },
  ],
  notes: () => ["Codex: it runs no hook before you trust it: type /hooks there, look at memdir's and trust them"],
};

function folder({ home, env, cwd }: WiringWorld): string {
  return env.CODEX_HOME ? resolve(cwd, env.CODEX_HOME) : join(home, ".codex");
}
