/** The commands that are not verbs: programs with a conversation, a server or a life of their own. */

import { flag, list, text } from "../verb.ts";
import type { ProgramRow } from "./command.ts";

const AGENT = {
  resume: text("go on with this session; the beginning of its id is enough", "ID"),
  continue: flag("go on with the last session here"),
  allow: list('let tools do this without asking: edit, read, bash, "bash git status" or all', "KIND"),
  "add-dir": list("a further directory to work in", "DIR"),
};

export const PROGRAMS: readonly ProgramRow[] = [
  {
    name: "console",
    group: "agents",
    summary: "Open the console: an agent with a model, else offline",
    about: "On a pipe it reads prompts line by line.",
    input: AGENT,
    examples: ['echo "remember that releases are cut on Tuesdays" | memdir'],
    load: async () => (await import("./chat.ts")).openConsole,
  },
  {
    name: "chat",
    group: "agents",
    usage: "-p TEXT",
    summary: "Send one prompt to the agent and print its answer",
    input: { prompt: text("what to say; - is standard input", "TEXT", { short: "p" }), ...AGENT },
    examples: ['chat -p "what did we decide about retries?" --continue'],
    load: async () => (await import("./chat.ts")).chat,
  },
  {
    name: "hook",
    group: "plumbing",
    args: ["event?"],
    summary: "Answer an agent's hook: JSON in, JSON out",
    examples: ["hook UserPromptSubmit < /dev/null"],
    load: async () => (await import("./hook.ts")).hook,
  },
  {
    name: "mcp",
    group: "agents",
    summary: "Run an MCP server on standard input and output, or HTTP",
    input: {
      http: flag("over HTTP on 127.0.0.1, with a token that is shown once (or the one in MEMDIR_MCP_TOKEN)"),
      port: text("the port for --http (default: any that is free)", "N"),
    },
    examples: ["mcp < /dev/null"],
    load: async () => (await import("./mcp.ts")).mcp,
  },
  {
    name: "ui",
    group: "agents",
    summary: "Open a page in the browser to look at and curate memories",
    input: {
      port: text("the port (default: any that is free)", "N"),
      "no-open": flag("only print the address"),
      "read-only": flag("only look: nothing can be changed"),
    },
    examples: ["ui --no-open"],
    load: async () => (await import("./ui.ts")).ui,
  },
  {
    name: "serve",
    group: "team",
    summary: "Run the team server",
    about: "Shared memories over HTTP, kept in a folder or in PostgreSQL.",
    input: {
      port: text("the port (default: 7373; 0 is any that is free)", "N"),
      host: text("the address (default: 127.0.0.1); any other needs TLS", "H"),
      data: text("database, its program and token files (default: ~/.memdir-server)", "DIR"),
      database: text("postgres://… instead of the embedded database (or MEMDIR_DATABASE_URL)", "URL"),
      team: text("the team; made if it is not there (default: default)", "NAME"),
      admin: text("the first admin of a new team (default: your user name)", "NAME"),
      "tls-cert": text("certificate, with --tls-key", "FILE"),
      "tls-key": text("its key", "FILE"),
      "behind-tls": flag("a proxy in front does TLS, and nothing else reaches the port"),
      log: text("one JSON line per request (default: standard error)", "FILE"),
      yes: flag("fetch the embedded database from npm without asking"),
      "issue-token": text("only make a token for this person; an embedded server must be stopped", "PERSON"),
      "token-file": text("where --issue-token writes it", "FILE"),
    },
    examples: ["serve --help"],
    load: async () => (await import("./serve.ts")).serve,
  },
  {
    name: "extract-hook",
    group: "plumbing",
    summary: "Extract beside a session, silently; a Stop hook starts it",
    input: {
      transcript: text("the session's file", "FILE"),
      mark: text("of the host's last message, which may not be in the file yet", "MARK"),
    },
    examples: ["extract-hook --transcript session.jsonl"],
    load: async () => (await import("./extract-hook.ts")).extractHook,
  },
  {
    name: "prefetch",
    group: "plumbing",
    summary: "Recall beside a turn, for the session named on standard input",
    examples: ["memdir prefetch < /dev/null"],
    load: async () => (await import("./prefetch.ts")).prefetch,
  },
  {
    name: "merge-driver",
    group: "plumbing",
    args: ["kind", "base", "ours", "theirs", "path"],
    summary: "Merge team memories; git calls it",
    examples: ["merge-driver memory %O %A %B %P"],
    load: async () => (await import("./merge-driver.ts")).mergeDriver,
  },
];
