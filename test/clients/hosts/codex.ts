/** Codex, `codex exec`. */

import { ALL_TOOLS, type Host, hooksOf, type Moment } from "../host.ts";

interface Shown {
  /** Tools that the vendor runs have none. */
  name?: string;
  tools?: { name: string }[];
}

const EVENTS: Record<Moment, string> = {
  start: "SessionStart",
  prompt: "UserPromptSubmit",
  "before-tool": "PreToolUse",
  "after-tool": "PostToolUse",
  stop: "Stop",
};

export const codex: Host = {
  name: "codex",
  agent: "codex",
  by: "mcp:codex-mcp-client",
  prepare(desk, wiring = {}) {
    const [command, ...args] = wiring.server ?? [];
    const server = command
      ? `\n[mcp_servers.memdir]\ncommand = ${JSON.stringify(command)}\nargs = ${JSON.stringify(args)}\n`
      : "";
    desk.put("home/.codex/config.toml", `${providerOf(desk.server.openaiUrl)}${server}`);
    const hooks = hooksOf(wiring, EVENTS, { timeout: 20 });
    if (hooks) desk.put("home/.codex/hooks.json", { hooks });
  },
  start(desk, prompt, env) {
    // Without the last one no hook runs that the user has not looked at.
    const flags = [
      "--skip-git-repo-check",
      "--dangerously-bypass-approvals-and-sandbox",
      "--dangerously-bypass-hook-trust",
    ];
    return desk.start(["exec", ...flags, prompt], { FAKE_KEY: "sk-test", ...env });
  },
  tool: (name) => ({ name, namespace: "mcp__memdir" }),
  shown: ({ body }) =>
    body.tools.flatMap(({ name = "", tools = [] }: Shown) => [name, ...tools.map((tool) => `${name}.${tool.name}`)]),
  always: ALL_TOOLS,
  shell: (cmd) => ({ name: "exec_command", input: { cmd } }),
  hasReadableTranscript: true,
};

function providerOf(url: string): string {
  return `# The model of the tests.
model = "fake-model"
model_provider = "fake"

[model_providers.fake]
name = "fake"
base_url = "${url}"
env_key = "FAKE_KEY"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0
`;
}
