/** Every verb and program by name, in groups, each loaded when it is called. */

import { MemdirError } from "../errors.ts";
import type { Memdir } from "../memdir.ts";
import { type Context, type Input, readInput, silent, type Verb } from "../verb.ts";

export const GROUPS = {
  everyday: "Memories",
  health: "Health",
  learning: "Learning and sessions",
  agents: "Agents and setup",
  team: "Team",
  plumbing: "Called by other programs",
} as const;

export interface Row {
  name: string;
  group: keyof typeof GROUPS;
  /** One line for the help. */
  summary: string;
  /** Other words that people type for it. */
  aliases?: readonly string[];
  /** What it was called: still answers, and says the new name. */
  formerly?: string;
  load(): Promise<Verb>;
}

/** The module exports the verb under its name. */
function row<const Name extends string, Module extends Record<Name, unknown>>(
  group: Row["group"],
  name: Name,
  summary: string,
  load: () => Promise<Module>,
  more: Pick<Row, "aliases" | "formerly"> = {},
) {
  return { name, group, summary, load: async (): Promise<Module[Name]> => (await load())[name], ...more };
}

const TABLE = [
  row("everyday", "save", "Save a memory, from a sentence, a file or standard input", () => import("./save.ts"), {
    aliases: ["remember", "add", "new"],
  }),
  row("everyday", "list", "List memories of all scopes", () => import("./list.ts"), { aliases: ["ls"] }),
  row("everyday", "show", "Show one memory", () => import("./list.ts"), { aliases: ["cat"] }),
  row("everyday", "search", "Find every memory that contains the words, best first", () => import("./search.ts"), {
    aliases: ["find", "grep"],
  }),
  row("everyday", "recall", "Show what an agent would be shown for a prompt, and why", () => import("./recall.ts")),
  row("everyday", "edit", "Open a memory in your editor", () => import("./save.ts")),
  row("everyday", "forget", "Remove a memory; undo brings it back", () => import("./forget.ts"), {
    aliases: ["rm", "delete", "remove"],
  }),
  row("everyday", "rename", "Give a memory a new name", () => import("./forget.ts"), { aliases: ["mv"] }),
  row("everyday", "undo", "Undo a change as a whole; without an ID the last one", () => import("./history.ts")),
  row("everyday", "history", "List the changes made to memories, newest last", () => import("./history.ts")),
  row("health", "check", "Check everything below in one report", () => import("./check.ts")),
  row("health", "doctor", "Check the installation and every wired agent", () => import("./doctor.ts")),
  row("health", "lint", "Check the form and wording of memories and the index", () => import("./verify.ts")),
  row("health", "verify", "Check what memories claim against the code and git", () => import("./verify.ts")),
  row("health", "health", "Score all memories together, and say what to do first", () => import("./health.ts"), {
    formerly: "rot",
  }),
  row("health", "prune", "Forget old memories; never feedback or pinned ones", () => import("./prune.ts")),
  row("health", "index", "Show what the model sees of MEMORY.md, or rebuild it", () => import("./context.ts")),
  row("health", "why", "Show when a memory was shown to a model, and why", () => import("./why.ts")),
  row("learning", "extract", "Learn from conversations, with a model or by rules", () => import("./extract.ts"), {
    aliases: ["learn"],
  }),
  row("learning", "inbox", "Review proposed memories: accept, edit or reject them", () => import("./inbox.ts")),
  row("learning", "dream", "Tidy up memories by a plan: merge, rewrite, retire", () => import("./dream.ts")),
  row("learning", "enrich", "Add cues to memories that lack them, with a model", () => import("./enrich.ts")),
  row("learning", "log", "Add a line to the daily log, or show today's", () => import("./log.ts")),
  row("learning", "ledger", "Show what background work cost, and what is left today", () => import("./ledger.ts")),
  row("learning", "sessions", "List past sessions, Claude Code's too, or search them", () => import("./sessions.ts")),
  row("learning", "rewind", "List checkpoints of a session, or go back to one", () => import("./rewind.ts")),
  row("agents", "init", "Connect the agents on this machine; shows every change first", () => import("./init.ts")),
  row("agents", "uninstall", "Disconnect the agents; memories stay", () => import("./init.ts")),
  row("agents", "import", "Import memories from other programs", () => import("./exchange.ts")),
  row("agents", "export", "Export memories as Markdown, JSON or a section of AGENTS.md", () => import("./exchange.ts")),
  row("agents", "context", "Show what a host loads at start, and what it leaves out", () => import("./context.ts")),
  row("agents", "prompt", "Show the text about memory that goes to the model", () => import("./context.ts")),
  row("agents", "adopt", "Take over the memories of a moved or renamed project", () => import("./adopt.ts")),
  row("agents", "trust", "Let this repository's settings use a directory outside it", () => import("./adopt.ts")),
  row("team", "promote", "Move a private memory to the team's", () => import("./promote.ts")),
  row("team", "demote", "Move a memory out of the team's", () => import("./promote.ts")),
  row("team", "sync", "Exchange memories with a team server, or through git", () => import("./sync.ts")),
  row("team", "join", "Share this project's memories through a team server", () => import("./sync.ts")),
  row("team", "team", "Show who shares memories here; manage people and tokens", () => import("./team.ts")),
];

export const VERBS = TABLE as readonly Row[];

/** Every verb by its name, typed by its input and result. */
export type Verbs = {
  [R in (typeof TABLE)[number] as R["name"]]: Awaited<ReturnType<R["load"]>> extends Verb<infer F, infer Result>
    ? (input?: Input<F>, options?: CallOptions) => Promise<Result>
    : never;
};

export interface CallOptions {
  signal?: AbortSignal;
  /** For long work: what is being done, and how far it is. */
  onProgress?: (what: string, done: number, total: number) => void;
}

/** The verbs for a program: they ask nothing and print nothing; the result is the answer. */
export function bindVerbs(memdir: Memdir, world: Pick<Context, "env" | "now" | "log" | "cwd" | "open">): Verbs {
  const bind =
    ({ name, load }: Row) =>
    async (input: Record<string, unknown> = {}, options: CallOptions = {}) => {
      const verb = await load();
      if (!verb.on.includes("library"))
        throw new MemdirError("usage", `"${name}" is for people at a terminal: run \`memdir ${name}\` instead`);
      const { signal = new AbortController().signal, onProgress } = options;
      signal.throwIfAborted();
      return verb.run(memdir, readInput(verb.input, input), {
        ...silent({ ...world, signal }),
        progress: (what) => (done, total) => onProgress?.(what, done, total),
      });
    };
  return Object.fromEntries(VERBS.map((row) => [row.name, bind(row)])) as unknown as Verbs;
}
