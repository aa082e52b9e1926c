/** The commands that let other programs and people in: wiring, servers, the page, exchange. */

import type { Command } from "./command.ts";

export const DOOR_COMMANDS: readonly Command[] = [
  {
    name: "init",
    usage: "",
    summary: "wires the agents on this machine to this memory: shows every change, asks, keeps a receipt",
    options: {
      agent: {
        value: "NAME",
        multiple: true,
        help: "only this one, found or not: claude-code, codex, gemini, opencode, cursor, vscode",
      },
      team: { help: "instead: prepare this repository for team memory (.claude/memory, merge driver)" },
      "dry-run": { help: "only show what would change" },
      yes: { short: "y", help: "do not ask" },
    },
    arguments: { min: 0, max: 0 },
    example: "memdir init --dry-run",
  },
  {
    name: "uninstall",
    usage: "",
    summary: "takes the wiring back, byte for byte where nothing else changed; memories stay",
    options: {
      agent: { value: "NAME", multiple: true, help: "only this one" },
      team: { help: "instead: take memdir out of this repository's .gitattributes and git settings" },
      "dry-run": { help: "only show what would change" },
    },
    arguments: { min: 0, max: 0 },
    example: "memdir uninstall",
  },
  {
    name: "hook",
    usage: "[EVENT]",
    summary: "answers a host's hook: JSON on standard input, JSON on standard output",
    options: {},
    arguments: { min: 0, max: 1 },
    example: "memdir hook UserPromptSubmit < /dev/null",
  },
  {
    name: "mcp",
    usage: "",
    summary: "an MCP server on standard input and output, for agents; with --http on loopback",
    options: {
      http: { help: "over HTTP on 127.0.0.1, with a token that is shown once (or the one in MEMDIR_MCP_TOKEN)" },
      port: { value: "N", help: "the port for --http (default: any that is free)" },
    },
    arguments: { min: 0, max: 0 },
    example: "memdir mcp < /dev/null",
  },
  {
    name: "ui",
    usage: "",
    summary: "a page in the browser to look at memories and curate them; on this machine only, until Ctrl-C",
    options: {
      port: { value: "N", help: "the port (default: any that is free)" },
      "no-open": { help: "only print the address" },
      "read-only": { help: "only look: nothing can be changed" },
    },
    arguments: { min: 0, max: 0 },
    example: "memdir ui --no-open",
  },
  {
    name: "import",
    usage: "[SOURCE [PATH]]",
    summary: "takes in memories of other programs as one change that undo takes back; alone it lists what it finds",
    options: {
      "dry-run": { help: "only say what would come in, and what would not" },
      type: { value: "TYPE", help: "give all of them this type: user, feedback, project or reference" },
      all: { help: "claude-mem: also what belongs to other projects" },
    },
    arguments: { min: 0, max: 2 },
    example: "memdir import",
  },
  {
    name: "export",
    usage: "",
    summary: "writes memories as Markdown, as JSON that can be imported again, or as a section of AGENTS.md",
    options: {
      format: { value: "FORMAT", help: "markdown (default), json or agents-md" },
      output: { value: "PATH", help: "a file, or for markdown also a folder (default: standard output)" },
      type: { value: "TYPE", help: "only this type; agents-md takes feedback and project unless told otherwise" },
      force: { help: "replace files that are no earlier export" },
    },
    arguments: { min: 0, max: 0 },
    example: "memdir export --format agents-md --output AGENTS.md",
  },
];
