/** The table of commands: names, options and help. */

import type { Command, CommandRow, Option } from "./command.ts";
import { AGENT_COMMANDS } from "./commands-agent.ts";
import { CONNECT_COMMANDS } from "./commands-connect.ts";

const TYPE: Option = { value: "TYPE", help: "user, feedback, project or reference" };
const REDACT: Option = { help: "mask secrets instead of refusing" };

const ALL: readonly CommandRow[] = [
  ...AGENT_COMMANDS,
  {
    name: "save",
    usage: "--type TYPE --name NAME [-]",
    summary: "saves a memory; the same name again updates it",
    options: {
      type: TYPE,
      name: { value: "NAME", help: "a short title" },
      description: { value: "TEXT", help: "one line for the index: what it is about" },
      when: {
        value: "CUE",
        multiple: true,
        help: "a situation in which it should come to mind; may be given several times",
      },
      link: { value: "NAME", multiple: true, help: "a memory that belongs with it; may be given several times" },
      supersedes: { value: "NAME", multiple: true, help: "a memory that this one replaces: it will rank under it" },
      file: { value: "FILE", help: "read the body from this file; - is standard input" },
      pin: { help: "keep its line in the index when others must go" },
      source: { value: "WHO", help: "who said it: user, inferred, tool or document" },
      reason: { value: "TEXT", help: "a note for the journal" },
      redact: REDACT,
    },
    example:
      'echo "Use pnpm, never npm." | memdir save --type feedback --name "use pnpm" --description "Package manager"',
    load: async () => (await import("./changes.ts")).save,
  },
  {
    name: "list",
    summary: "lists memories of all scopes",
    options: { type: TYPE },
    example: "memdir list --type feedback",
    load: async () => (await import("./memories.ts")).list,
  },
  {
    name: "show",
    usage: "NAME",
    summary: "shows one memory; NAME is a file name, a stem or a name",
    example: 'memdir show "use pnpm"',
    load: async () => (await import("./memories.ts")).show,
  },
  {
    name: "edit",
    usage: "NAME",
    summary: "opens a memory in $VISUAL or $EDITOR and checks it on close",
    options: { redact: REDACT },
    example: 'EDITOR=nano memdir edit "use pnpm"',
    load: async () => (await import("./changes.ts")).edit,
  },
  {
    name: "forget",
    usage: "NAME",
    summary: "removes a memory and its index line; undo brings it back",
    options: {
      reason: { value: "TEXT", help: "a note for the journal" },
      purge: { help: "for good: also removes its earlier versions from the journal" },
    },
    example: 'memdir forget "use pnpm"',
    load: async () => (await import("./changes.ts")).forget,
  },
  {
    name: "rename",
    usage: "NAME NEW",
    summary: "gives a memory a new name",
    example: 'memdir rename "use pnpm" "package manager is pnpm"',
    load: async () => (await import("./changes.ts")).rename,
  },
  {
    name: "search",
    usage: "WORDS…",
    summary: "finds every memory that holds the words, best first",
    example: "memdir search deploy staging",
    load: async () => (await import("./memories.ts")).search,
  },
  {
    name: "recall",
    usage: "PROMPT…",
    summary: "shows the memories that a host would be shown for this prompt, and why each",
    options: {
      "max-bytes": { value: "N", help: "the most that all of them may take, headers included" },
      limit: { value: "N", help: "at most this many (default: 5)" },
      exclude: { value: "FILE", multiple: true, help: "leave this memory out; may be given several times" },
      "no-model": { help: "rank offline even if a model is configured" },
      all: { help: "also those that are not sure enough to be shown" },
      prefetch: { help: "as a prompt hook starts it: silent, for the session named on standard input; PROMPT is -" },
    },
    example: 'memdir recall "can I stub the database in this spec?"',
    load: async () => (await import("./recall.ts")).recall,
  },
  {
    name: "prompt",
    summary: "shows the text about memory that goes to the model",
    options: {
      section: { value: "NAME", help: "only this part of it" },
      files: { help: "with the memories that the index names, inside a budget" },
    },
    example: "memdir prompt --section saving",
    load: async () => (await import("./context.ts")).prompt,
  },
  {
    name: "index",
    summary: "shows what the model sees of MEMORY.md",
    options: { rebuild: { help: "give every memory its line again, take out dead ones" } },
    example: "memdir index --rebuild",
    load: async () => (await import("./context.ts")).index,
  },
  {
    name: "context",
    summary: "shows what a host loads at start, and why every other candidate is not loaded",
    options: {
      touch: { value: "FILE", multiple: true, help: "a file that is read or written then" },
      "add-dir": { value: "DIR", multiple: true, help: "a further directory, as for Claude Code" },
      "approve-imports": { help: "allow imports from outside the working directory in this project, from now on" },
      "all-agents": { help: "also AGENTS.md, GEMINI.md, Cursor's and Copilot's files" },
      "setting-sources": { value: "LIST", help: "which settings count: user,project,local" },
    },
    example: "memdir context --json",
    load: async () => (await import("./context.ts")).context,
  },
  {
    name: "history",
    usage: "[NAME]",
    summary: "lists changes, newest last",
    example: "memdir history",
    load: async () => (await import("./memories.ts")).history,
  },
  {
    name: "undo",
    usage: "[ID]",
    summary: "undoes one change as a whole; without ID the last one",
    example: "memdir undo 17",
    load: async () => (await import("./changes.ts")).undo,
  },
  {
    name: "prune",
    summary: "forgets old memories as one change that can be undone; never feedback or pinned ones",
    options: {
      "older-than": { value: "DAYS", help: "how old (default: 90)" },
      type: { value: "TYPE", help: "only this type: project (default), reference or user" },
      suggest: { help: "say what could go and why, and ask" },
      apply: { help: "with --suggest: do it without asking" },
    },
    example: "memdir prune --suggest",
    load: async () => (await import("./health.ts")).prune,
  },
  {
    name: "log",
    usage: "[TEXT…]",
    summary: "adds a line to the daily log; without TEXT shows today's",
    example: 'memdir log "moved the build to node 22"',
    load: async () => (await import("./log.ts")).log,
  },
  {
    name: "lint",
    summary: "checks form and wording of memories and index; exit code 1 if there is something to fix",
    example: "memdir lint",
    load: async () => (await import("./health.ts")).lint,
  },
  {
    name: "verify",
    usage: "[NAME]",
    summary: "checks what memories claim against the code and git, with evidence; exit code 1 when something is false",
    options: {
      "changed-since": { value: "REV", help: "only memories that speak of what changed since this commit" },
      fix: { help: "write new paths for moved files, as one change that can be undone" },
      stamp: { help: "also stamp memories inside the repository as verified" },
      "no-stamp": { help: "stamp nothing" },
    },
    example: "memdir verify",
    load: async () => (await import("./health.ts")).verify,
  },
  {
    name: "rot",
    summary: "the health of all memories together: a score, what is wrong, what to do first",
    options: { all: { help: "name every finding" } },
    example: "memdir rot",
    load: async () => (await import("./health.ts")).rot,
  },
  {
    name: "why",
    usage: "NAME",
    summary: "when a memory was surfaced, through which interface, and why",
    example: 'memdir why "package manager is pnpm"',
    load: async () => (await import("./why.ts")).why,
  },
  {
    name: "doctor",
    summary: "checks the installation, the directory and every wired agent, each by a real round trip",
    options: { fix: { help: "fix what is safe to fix: locks of dead processes, broken caches, modes, the index" } },
    example: "memdir doctor",
    load: async () => (await import("./doctor.ts")).doctor,
  },
  {
    name: "adopt",
    usage: "[DIR]",
    summary: "takes over the memories of a moved or renamed project, or settles who owns a directory",
    options: {
      separate: { help: "two projects share this directory by accident: give this one its own" },
      share: { help: "two projects share this directory: that is fine" },
      keep: { help: "the directory's former project is gone: it belongs to this one now" },
    },
    example: "memdir adopt",
    load: async () => (await import("./changes.ts")).adopt,
  },
  {
    name: "trust",
    summary: "allows this repository's settings to use a memory directory outside it",
    options: { revoke: { help: "take the permission back" } },
    example: "memdir trust",
    load: async () => (await import("./changes.ts")).trust,
  },
  ...CONNECT_COMMANDS,
  {
    name: "completion",
    usage: "SHELL",
    summary: "prints a completion script for bash, zsh or fish",
    example: 'eval "$(memdir completion bash)"',
    load: async () => (await import("./help.ts")).completeFor(COMMANDS),
  },
];

export const COMMANDS: readonly Command[] = ALL.map((row) => ({ usage: "", options: {}, ...row }));
