/** The four clients as memdir's model, by the same contract. */

import { claudeCode } from "./hosts/claude-code.ts";
import { codex } from "./hosts/codex.ts";
import { geminiCli } from "./hosts/gemini-cli.ts";
import { opencode } from "./hosts/opencode.ts";
import { describeModel } from "./model-contract.ts";

const QUIET = { DISABLE_TELEMETRY: "1", CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1", IS_SANDBOX: "1" };

describeModel({
  host: claudeCode,
  model: "claude-code",
  known: "claude-code/haiku",
  env: ({ server }) => ({ ...QUIET, ANTHROPIC_BASE_URL: server.url, ANTHROPIC_API_KEY: "sk-test" }),
  loggedOut: () => ({ ANTHROPIC_API_KEY: "" }),
  // Its form is a tool that it adds, and answers itself.
  formed: (input) => ({ tools: [{ name: "StructuredOutput", input }] }),
  tools: ["DeferredToolPlaceholder", "StructuredOutput"],
});

describeModel({
  host: codex,
  model: "codex",
  known: "codex/default",
  env: () => ({ FAKE_KEY: "sk-test" }),
  formed: (value) => ({ text: JSON.stringify({ ...value, n: null }) }),
  // Nobody is there to be asked.
  tools: ["request_user_input"],
});

describeModel({
  host: geminiCli,
  model: "gemini-cli/gemini-2.5-flash",
  known: "gemini-cli/gemini-2.5-flash",
  env: ({ server }) => ({ GEMINI_API_KEY: "sk-test", GOOGLE_GEMINI_BASE_URL: server.url }),
  // Of an empty folder.
  tools: ["list_directory"],
});

describeModel({
  host: opencode,
  model: "opencode/fake/fake-model",
  known: "opencode/fake/fake-model",
  env: () => ({ OPENCODE_DISABLE_MODELS_FETCH: "1" }),
  tools: [],
});
