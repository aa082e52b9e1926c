/** Gemini CLI, one prompt. */

import { ALL_TOOLS, type Host, hooksOf, type Moment } from "../host.ts";

const EVENTS: Record<Moment, string> = {
  start: "SessionStart",
  prompt: "BeforeAgent",
  "before-tool": "BeforeTool",
  "after-tool": "AfterTool",
  stop: "AfterAgent",
};

export const geminiCli: Host = {
  name: "gemini-cli",
  agent: "gemini",
  by: "mcp:gemini-cli-mcp-client",
  prepare(desk, wiring = {}) {
    const [command, ...args] = wiring.server ?? [];
    desk.put("home/.gemini/settings.json", {
      security: { auth: { selectedType: "gemini-api-key" } },
      privacy: { usageStatisticsEnabled: false },
      general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
      mcpServers: command ? { memdir: { command, args } } : undefined,
      // Milliseconds here.
      hooks: hooksOf(wiring, EVENTS, { name: "memdir", timeout: 20_000 }),
    });
  },
  start: (desk, prompt, env) =>
    desk.start(["-m", "gemini-2.5-flash", "--yolo", "--skip-trust", "-p", prompt], {
      GEMINI_API_KEY: "sk-test",
      GOOGLE_GEMINI_BASE_URL: desk.server.url,
      ...env,
    }),
  tool: (name) => ({ name: `mcp_memdir_${name}` }),
  shown: ({ body }) =>
    body.tools.flatMap(({ functionDeclarations }: { functionDeclarations: { name: string }[] }) =>
      functionDeclarations.map(({ name }) => name),
    ),
  always: ALL_TOOLS,
  shell: (command) => ({ name: "run_shell_command", input: { command } }),
  hasReadableTranscript: true,
};
