/** The commands for the agent, its sessions, and for learning from them. */

import type { CommandRow, Option } from "./command.ts";

const AGENT: Record<string, Option> = {
  resume: { value: "ID", help: "go on with this session; the beginning of its id is enough" },
  continue: { help: "go on with the last session here" },
  allow: {
    value: "KIND",
    multiple: true,
    help: 'let tools do this without asking: edit, read, bash, "bash git status" or all',
  },
  "add-dir": { value: "DIR", multiple: true, help: "a further directory to work in" },
};

export const AGENT_COMMANDS: readonly CommandRow[] = [
  {
    name: "console",
    summary: "a console: an agent if MEMDIR_MODEL names a model, else offline; on a pipe it reads lines",
    options: AGENT,
    example: 'echo "remember that releases are cut on Tuesdays" | memdir',
    load: async () => (await import("./chat.ts")).openConsole,
  },
  {
    name: "chat",
    usage: "-p TEXT",
    summary: "one prompt through the agent, its answer printed; without -p the console",
    options: { prompt: { value: "TEXT", short: "p", help: "what to say; - is standard input" }, ...AGENT },
    example: 'memdir chat -p "what did we decide about retries?" --continue',
    load: async () => (await import("./chat.ts")).chat,
  },
  {
    name: "sessions",
    usage: "[search WORDS…]",
    summary: "lists past sessions of this project, Claude Code's too, or finds what was said in them",
    options: {
      all: { help: "of all projects" },
      limit: { value: "N", help: "at most this many" },
    },
    example: 'memdir sessions search "connection pool"',
    load: async () => (await import("./sessions.ts")).sessions,
  },
  {
    name: "rewind",
    usage: "[ID]",
    summary: "lists the checkpoints of a session, or takes files and conversation back to one",
    options: {
      to: { value: "N", help: "back to before this prompt, by number or id" },
      code: { help: "only the files" },
      conversation: { help: "only the conversation" },
    },
    example: "memdir rewind 3f2a --to 1 --code",
    load: async () => (await import("./chat.ts")).rewind,
  },
  {
    name: "dream",
    summary: "tidies up memories by a plan: merged, rewritten, retired, each with its reason",
    options: {
      plan: { help: "only show the plan (this is what it does without an option)" },
      apply: { help: "make a plan and apply it, as one change that can be undone" },
      "if-due": { help: "with --apply, for timers: only a day and five sessions after the last one" },
      status: { help: "when the last one was, and whether one is due" },
    },
    example: "memdir dream --plan",
    load: async () => (await import("./dream.ts")).dream,
  },
  {
    name: "extract",
    usage: "--transcript FILE | --since TIME",
    summary: "keeps what is worth keeping of conversations, with a model, or by rules without one",
    options: {
      transcript: {
        value: "FILE",
        help: "a session's file, also Codex's or Gemini CLI's; memdir sessions --json names some",
      },
      since: { value: "TIME", help: "all sessions here that changed since: 24h, 7d, 2w or a date; run again to go on" },
      agent: { value: "NAME", help: "with --since: only sessions of claude, codex or gemini" },
      "dry-run": { help: "only say what would be looked at" },
      "session-hook": { value: "MARK", help: "as a Stop hook starts it: silent, and it ends by itself" },
    },
    example: "memdir extract --transcript session.jsonl",
    load: async () => (await import("./extract.ts")).extract,
  },
  {
    name: "inbox",
    usage: "[accept ID | reject ID | edit ID]",
    summary: "proposals that wait for a person, as diffs; accept, edit or reject them",
    example: "memdir inbox",
    load: async () => (await import("./inbox.ts")).inbox,
  },
  {
    name: "ledger",
    summary: "what background work cost, why some did not run, and what is left today",
    options: { days: { value: "N", help: "of so many days, today among them (default: 7)" } },
    example: "memdir ledger --days 1",
    load: async () => (await import("./ledger.ts")).ledger,
  },
  {
    name: "enrich",
    usage: "[NAME]",
    summary: "adds cues to memories that lack them, with a model; without one it says what it would do",
    example: "memdir enrich",
    load: async () => (await import("./enrich.ts")).enrich,
  },
];
