/** The commands that connect memdir with other programs and people: wiring, servers, the page, exchange, teams. */

import type { CommandRow, Option } from "./command.ts";

const YES: Option = { short: "y", help: "do not ask" };
const MOVE = { "dry-run": { help: "only show what would move" }, yes: YES };

export const CONNECT_COMMANDS: readonly CommandRow[] = [
  {
    name: "init",
    summary: "wires the agents on this machine to this memory: shows every change, asks, keeps a receipt",
    options: {
      agent: {
        value: "NAME",
        multiple: true,
        help: "only this one, found or not: claude-code, codex, gemini, opencode, cursor, vscode",
      },
      team: { help: "instead: prepare this repository for team memory (.claude/memory, merge driver)" },
      "dry-run": { help: "only show what would change" },
      yes: YES,
    },
    example: "memdir init --dry-run",
    load: async () => (await import("./init.ts")).init,
  },
  {
    name: "uninstall",
    summary: "takes the wiring back, byte for byte where nothing else changed; memories stay",
    options: {
      agent: { value: "NAME", multiple: true, help: "only this one" },
      team: { help: "instead: take memdir out of this repository's .gitattributes and git settings" },
      "dry-run": { help: "only show what would change" },
    },
    example: "memdir uninstall",
    load: async () => (await import("./init.ts")).uninstall,
  },
  {
    name: "hook",
    usage: "[EVENT]",
    summary: "answers a host's hook: JSON on standard input, JSON on standard output",
    example: "memdir hook UserPromptSubmit < /dev/null",
    load: async () => (await import("./hook.ts")).hook,
  },
  {
    name: "mcp",
    summary: "an MCP server on standard input and output, for agents; with --http on loopback",
    options: {
      http: { help: "over HTTP on 127.0.0.1, with a token that is shown once (or the one in MEMDIR_MCP_TOKEN)" },
      port: { value: "N", help: "the port for --http (default: any that is free)" },
    },
    example: "memdir mcp < /dev/null",
    load: async () => (await import("./mcp.ts")).mcp,
  },
  {
    name: "ui",
    summary: "a page in the browser to look at memories and curate them; on this machine only, until Ctrl-C",
    options: {
      port: { value: "N", help: "the port (default: any that is free)" },
      "no-open": { help: "only print the address" },
      "read-only": { help: "only look: nothing can be changed" },
    },
    example: "memdir ui --no-open",
    load: async () => (await import("./ui.ts")).ui,
  },
  {
    name: "import",
    usage: "[SOURCE [PATH]]",
    summary: "takes in memories of other programs as one change that can be undone; alone it lists what it finds",
    options: {
      "dry-run": { help: "only say what would come in, and what would not" },
      type: { value: "TYPE", help: "give all of them this type: user, feedback, project or reference" },
      all: { help: "claude-mem: also what belongs to other projects" },
    },
    example: "memdir import",
    load: async () => (await import("./exchange.ts")).importAll,
  },
  {
    name: "export",
    summary: "writes memories as Markdown, as JSON that can be imported again, or as a section of AGENTS.md",
    options: {
      format: { value: "FORMAT", help: "markdown (default), json or agents-md" },
      output: { value: "PATH", help: "a file, or for markdown also a folder (default: standard output)" },
      type: { value: "TYPE", help: "only this type; agents-md takes feedback and project unless told otherwise" },
      force: { help: "replace files that are no earlier export" },
    },
    example: "memdir export --format agents-md --output AGENTS.md",
    load: async () => (await import("./exchange.ts")).exportAll,
  },
  {
    name: "promote",
    usage: "NAME",
    summary: "moves a private memory to the team's, after showing it and where it goes",
    options: MOVE,
    example: 'memdir promote "release day"',
    load: async () => (await import("./promote.ts")).promote,
  },
  {
    name: "demote",
    usage: "NAME",
    summary: "takes a memory out of the team's and keeps it as a private one",
    options: MOVE,
    example: 'memdir demote "release day"',
    load: async () => (await import("./promote.ts")).demote,
  },
  {
    name: "sync",
    summary: "exchanges the team's memories with its server, or your own with your other machines through git",
    options: {
      watch: { help: "go on while you work: soon after a change here, every 15 seconds for changes there" },
      git: {
        value: "REMOTE",
        help: "your own memories of this project and of you, through a branch of any git remote",
      },
      branch: { value: "NAME", help: "with --git: the branch that holds them (default: memdir)" },
      "dry-run": { help: "only say what would happen" },
      deadline: { value: "SECONDS", help: "end by itself after so long; the next one goes on" },
      "while-stdin": { help: "with --watch: end when standard input is closed" },
    },
    example: "memdir sync --watch",
    load: async () => (await import("./sync.ts")).sync,
  },
  {
    name: "join",
    usage: "[URL]",
    summary: "shares memories of this project through a team's server; the token comes from a file or standard input",
    options: {
      "token-file": { value: "FILE", help: "the token that an admin of the team gave you" },
      create: { help: "make the repository on the server if it is missing; for admins" },
      leave: { help: "end it; what was shared stays on the disk" },
    },
    example: "memdir join https://memory.example/acme/app --token-file token",
    load: async () => (await import("./sync.ts")).join,
  },
  {
    name: "team",
    usage: "[add|role|token|tokens|revoke|repository|search|audit|versions|redact …]",
    summary: "who shares memories here and what waits for a person; for admins: people, tokens, the audit log",
    options: {
      role: { value: "ROLE", help: "reader, writer or admin; none takes it away" },
      repository: { value: "NAME", help: "the role counts in this repository only; redact: in this one" },
      "token-file": { value: "FILE", help: "token: where it is written; a token is never shown" },
      days: { value: "N", help: "token: how long it is good (default: until it is revoked)" },
      label: { value: "TEXT", help: "token: what it is for" },
      limit: { value: "N", help: "search, audit: at most this many" },
      before: { value: "TIME", help: "audit: only what is older" },
    },
    example: "memdir team token bob --token-file bob-token",
    load: async () => (await import("./team.ts")).team,
  },
  {
    name: "serve",
    summary: "the team server: shared memories over HTTP, kept in a folder or in PostgreSQL",
    options: {
      port: { value: "N", help: "the port (default: 7373; 0 is any that is free)" },
      host: { value: "H", help: "the address (default: 127.0.0.1); any other needs TLS" },
      data: { value: "DIR", help: "database, its program and token files (default: ~/.memdir-server)" },
      database: { value: "URL", help: "postgres://… instead of the embedded database (or MEMDIR_DATABASE_URL)" },
      team: { value: "NAME", help: "the team; made if it is not there (default: default)" },
      admin: { value: "NAME", help: "the first admin of a new team (default: your user name)" },
      "tls-cert": { value: "FILE", help: "certificate, with --tls-key" },
      "tls-key": { value: "FILE", help: "its key" },
      "behind-tls": { help: "a proxy in front does TLS, and nothing else reaches the port" },
      log: { value: "FILE", help: "one JSON line per request (default: standard error)" },
      yes: { help: "fetch the embedded database from npm without asking" },
      "issue-token": { value: "PERSON", help: "only make a token for somebody; an embedded server must be stopped" },
      "token-file": { value: "FILE", help: "where --issue-token writes it" },
    },
    example: "memdir serve --help",
    load: async () => (await import("./serve.ts")).serve,
  },
  {
    name: "merge-driver",
    usage: "memory|index BASE OURS THEIRS PATH",
    summary: "git calls it to merge team memories (memdir init --team sets it up)",
    example: "memdir merge-driver memory %O %A %B %P",
    load: async () => (await import("./merge-driver.ts")).mergeDriver,
  },
];
