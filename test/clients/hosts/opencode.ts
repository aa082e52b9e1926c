/** OpenCode, `opencode run`. It has no hooks that start a program: only `memdir init` puts a plugin there. */

import { ALL_TOOLS, type Host } from "../host.ts";

export const opencode: Host = {
  name: "opencode",
  agent: "opencode",
  by: "mcp:opencode",
  prepare: (desk, { server } = {}) =>
    desk.put("home/.config/opencode/opencode.json", {
      // Which it adds to a file without one.
      $schema: "https://opencode.ai/config.json",
      provider: {
        fake: {
          npm: "@ai-sdk/openai-compatible",
          options: { baseURL: desk.server.openaiUrl, apiKey: "sk-test" },
          models: { "fake-model": { name: "fake", tool_call: true } },
        },
      },
      mcp: server ? { memdir: { type: "local", command: server } } : undefined,
    }),
  start: (desk, prompt, env) =>
    desk.start(["run", "-m", "fake/fake-model", prompt], {
      OPENCODE_DISABLE_AUTOUPDATE: "1",
      OPENCODE_DISABLE_MODELS_FETCH: "1",
      OPENCODE_DISABLE_DEFAULT_PLUGINS: "1",
      ...env,
    }),
  tool: (name) => ({ name: `memdir_${name}` }),
  shown: ({ body }) => body.tools.map(({ function: { name } }: { function: { name: string } }) => name),
  always: ALL_TOOLS,
  shell: (command) => ({ name: "bash", input: { command, description: "runs it" } }),
  hasReadableTranscript: false,
};
