/** Claude Code in print mode. */

import type { Ran } from "../../cli/run.ts";
import type { Desk } from "../client.ts";
import { type Host, hooksOf, type Moment } from "../host.ts";

const EVENTS: Record<Moment, string> = {
  start: "SessionStart",
  prompt: "UserPromptSubmit",
  "before-tool": "PreToolUse",
  "after-tool": "PostToolUse",
  stop: "Stop",
};

export const claudeCode: Host = {
  name: "claude-code",
  agent: "claude-code",
  by: "mcp:claude-code",
  prepare(desk, wiring = {}) {
    const [command, ...args] = wiring.server ?? [];
    const memdir = { type: "stdio", command, args };
    desk.put("home/.claude.json", command ? { mcpServers: { memdir } } : {});
    desk.put("home/.claude/settings.json", { hooks: hooksOf(wiring, EVENTS, { timeout: 20 }) });
  },
  start: (desk, prompt, env) => runClaude(desk, ["-p", prompt, "--allowedTools", "mcp__memdir", "Bash"], env),
  tool: (name) => ({ name: `mcp__memdir__${name}` }),
  shown: ({ body }) => body.tools.map(({ name }: { name: string }) => name),
  // The others are names only until the model asks for them.
  always: ["recall", "save"],
  shell: (command) => ({ name: "Bash", input: { command } }),
  hasReadableTranscript: true,
};

/** Any call of it, `plugin validate` for one. */
export function runClaude(desk: Desk, args: string[], env: Record<string, string> = {}): Promise<Ran> {
  return desk.start(args, {
    ANTHROPIC_BASE_URL: desk.server.url,
    ANTHROPIC_API_KEY: "sk-test",
    DISABLE_TELEMETRY: "1",
    DISABLE_AUTOUPDATER: "1",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    IS_SANDBOX: "1",
    ...env,
  });
}
