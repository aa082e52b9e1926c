/** Every command, verbs and programs: what the binary loads when it starts. */

import { choice, flag, list, text } from "../verb.ts";
import { VERBS } from "../verbs/table.ts";
import { type CommandLine, type CommandRow, program } from "./command.ts";

export { runCommandLine } from "./command.ts";

const AGENT = {
  resume: text("continue this session; the beginning of its id is enough", "ID"),
  continue: flag("continue the last session here"),
  allow: list('let tools do this without asking: edit, read, bash, "bash git status" or all', "KIND"),
  "add-dir": list("another directory to work in", "DIR"),
};

export const COMMANDS: readonly CommandRow[] = [
  ...VERBS,
  program(
    "agents",
    "console",
    "Open the console: an agent if a model is set, else offline",
    async () => ({ start: (await import("./chat.ts")).openConsole }),
    {
      about: "On a pipe, reads prompts line by line.",
      input: AGENT,
      examples: ['echo "remember that releases are cut on Tuesdays" | memdir'],
    },
  ),
  program("agents", "chat", "Send one prompt to the agent and print its answer", () => import("./chat.ts"), {
    usage: "-p TEXT",
    input: { prompt: text("what to say; - for standard input", "TEXT", { short: "p" }), ...AGENT },
    examples: ['chat -p "what did we decide about retries?" --continue'],
  }),
  {
    ...program("plumbing", "hook", "Answer an agent's hook: JSON in, JSON out", () => import("./run-hook.ts"), {
      args: ["event?"],
      examples: ["hook UserPromptSubmit < /dev/null"],
    }),
    failOpen: async (...failed) => (await import("./run-hook.ts")).failOpen(...failed),
  },
  program("agents", "mcp", "Run an MCP server on standard input and output, or HTTP", () => import("./mcp.ts"), {
    input: {
      http: flag("serve over HTTP on 127.0.0.1, with a token that is shown once (or the one in MEMDIR_MCP_TOKEN)"),
      port: text("the port for --http (default: any free port)", "N"),
    },
    examples: ["mcp < /dev/null"],
  }),
  program("agents", "ui", "Open a local web page to browse and curate memories", () => import("./ui.ts"), {
    input: {
      port: text("the port (default: any free port)", "N"),
      "no-open": flag("only print the address"),
      "read-only": flag("disable every change"),
    },
    examples: ["ui --no-open"],
  }),
  program("team", "serve", "Run the team server", () => import("./serve.ts"), {
    about: "Shared memories over HTTP, kept in a folder or in PostgreSQL.",
    input: {
      port: text("the port (default: 7373; 0 for any free port)", "N"),
      host: text("the address (default: 127.0.0.1); any other needs TLS", "H"),
      data: text("folder for the database, its program and token files (default: ~/.memdir-server)", "DIR"),
      database: text(
        "postgres://… without a password; if it has one, use MEMDIR_DATABASE_URL or MEMDIR_DATABASE_URL_FILE instead",
        "URL",
      ),
      pool: text("connections to PostgreSQL (default: 10, plus 2 for search)", "N"),
      oidc: text("settings of an identity provider for signing in (docs/operations.md)", "FILE"),
      "keep-audit": text("days to keep the audit log (default: 400; 0: forever)", "DAYS"),
      "keep-versions": text("days to keep replaced versions (default: as long as they fit)", "DAYS"),
      "keep-tombstones": text("days to keep track of removed memories (default: 400)", "DAYS"),
      drain: text("seconds to keep answering after /ready switches to 503 (default: 0)", "N"),
      team: text("the team; created if it does not exist (default: the existing one, else `default`)", "NAME"),
      admin: text("the first admin of a new team (default: your user name)", "NAME"),
      "tls-cert": text("certificate, with --tls-key", "FILE"),
      "tls-key": text("its private key", "FILE"),
      "behind-tls": flag("a proxy in front handles TLS, and nothing else can reach the port"),
      log: text("one JSON line per request (default: standard error)", "FILE"),
      yes: flag("fetch the embedded database from npm without asking"),
      "issue-token": text("only create a token for this person; an embedded server must be stopped first", "PERSON"),
      "token-file": text("where --issue-token writes it", "FILE"),
    },
    examples: ["serve --help"],
  }),
  program(
    "plumbing",
    "extract-hook",
    "Learn from a session in the background; run by a Stop hook",
    () => import("./extract-hook.ts"),
    {
      input: {
        transcript: text("the session's file", "FILE"),
        mark: text("identifies the host's last message, which may not be in the file yet", "MARK"),
      },
      examples: ["extract-hook --transcript session.jsonl"],
    },
  ),
  program(
    "plumbing",
    "prefetch",
    "Recall in the background, for the session on standard input",
    () => import("./prefetch.ts"),
    {
      examples: ["memdir prefetch < /dev/null"],
    },
  ),
  program("plumbing", "merge-driver", "Merge team memories; called by git", () => import("./merge-driver.ts"), {
    args: ["kind", "base", "ours", "theirs", "path"],
    examples: ["merge-driver memory %O %A %B %P"],
  }),
  program(
    "agents",
    "completion",
    "Print a completion script for bash, zsh or fish",
    async () => ({ start: async (call) => (await import("./completion.ts")).complete(call, COMMANDS) }),
    {
      args: ["shell"],
      input: { shell: choice(["bash", "zsh", "fish"], "", "SHELL") },
      examples: ['eval "$(memdir completion bash)"'],
    },
  ),
];

export const COMMAND_LINE: CommandLine = {
  commands: COMMANDS,
  printHelp: async (...asked) => (await import("./help.ts")).printHelp(...asked),
};
