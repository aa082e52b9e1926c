/** Every verb and program by name, in groups, each loaded when it is called. */

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

function row<const Name extends string, V>(
  group: Row["group"],
  name: Name,
  summary: string,
  load: () => Promise<V>,
  more: Pick<Row, "aliases" | "formerly"> = {},
) {
  return { name, group, summary, load, ...more };
}

const TABLE = [
  row(
    "everyday",
    "save",
    "Save a memory, from a sentence, a file or standard input",
    async () => (await import("./save.ts")).save,
    { aliases: ["remember", "add", "new"] },
  ),
  row("everyday", "list", "List memories of all scopes", async () => (await import("./list.ts")).list, {
    aliases: ["ls"],
  }),
  row("everyday", "show", "Show one memory", async () => (await import("./list.ts")).show, { aliases: ["cat"] }),
  row(
    "everyday",
    "search",
    "Find every memory that contains the words, best first",
    async () => (await import("./search.ts")).search,
    { aliases: ["find", "grep"] },
  ),
  row(
    "everyday",
    "recall",
    "Show what an agent would be shown for a prompt, and why",
    async () => (await import("./recall.ts")).recall,
  ),
  row("everyday", "edit", "Open a memory in your editor", async () => (await import("./save.ts")).edit),
  row("everyday", "forget", "Remove a memory; undo brings it back", async () => (await import("./forget.ts")).forget, {
    aliases: ["rm", "delete", "remove"],
  }),
  row("everyday", "rename", "Give a memory a new name", async () => (await import("./forget.ts")).rename, {
    aliases: ["mv"],
  }),
  row(
    "everyday",
    "undo",
    "Undo a change as a whole; without an ID the last one",
    async () => (await import("./history.ts")).undo,
  ),
  row(
    "everyday",
    "history",
    "List the changes made to memories, newest last",
    async () => (await import("./history.ts")).history,
  ),
  row("health", "check", "Check everything below in one report", async () => (await import("./check.ts")).check),
  row(
    "health",
    "doctor",
    "Check the installation and every wired agent",
    async () => (await import("./doctor.ts")).doctor,
  ),
  row(
    "health",
    "lint",
    "Check the form and wording of memories and the index",
    async () => (await import("./verify.ts")).lint,
  ),
  row(
    "health",
    "verify",
    "Check what memories claim against the code and git",
    async () => (await import("./verify.ts")).verify,
  ),
  row(
    "health",
    "health",
    "Score all memories together, and say what to do first",
    async () => (await import("./health.ts")).health,
    { formerly: "rot" },
  ),
  row(
    "health",
    "prune",
    "Forget old memories; never feedback or pinned ones",
    async () => (await import("./prune.ts")).prune,
  ),
  row(
    "health",
    "index",
    "Show what the model sees of MEMORY.md, or rebuild it",
    async () => (await import("./context.ts")).index,
  ),
  row("health", "why", "Show when a memory was shown to a model, and why", async () => (await import("./why.ts")).why),
  row(
    "learning",
    "extract",
    "Learn from conversations, with a model or by rules",
    async () => (await import("./extract.ts")).extract,
  ),
  row(
    "learning",
    "inbox",
    "Review proposed memories: accept, edit or reject them",
    async () => (await import("./inbox.ts")).inbox,
  ),
  row(
    "learning",
    "dream",
    "Tidy up memories by a plan: merge, rewrite, retire",
    async () => (await import("./dream.ts")).dream,
  ),
  row(
    "learning",
    "enrich",
    "Add cues to memories that lack them, with a model",
    async () => (await import("./enrich.ts")).enrich,
  ),
  row("learning", "log", "Add a line to the daily log, or show today's", async () => (await import("./log.ts")).log),
  row(
    "learning",
    "ledger",
    "Show what background work cost, and what is left today",
    async () => (await import("./ledger.ts")).ledger,
  ),
  row(
    "learning",
    "sessions",
    "List past sessions, Claude Code's too, or search them",
    async () => (await import("./sessions.ts")).sessions,
  ),
  row(
    "learning",
    "rewind",
    "List checkpoints of a session, or go back to one",
    async () => (await import("./rewind.ts")).rewind,
  ),
  row(
    "agents",
    "context",
    "Show what a host loads at start, and what it leaves out",
    async () => (await import("./context.ts")).context,
  ),
  row(
    "agents",
    "prompt",
    "Show the text about memory that goes to the model",
    async () => (await import("./context.ts")).prompt,
  ),
  row(
    "agents",
    "adopt",
    "Take over the memories of a moved or renamed project",
    async () => (await import("./adopt.ts")).adopt,
  ),
  row(
    "agents",
    "trust",
    "Let this repository's settings use a directory outside it",
    async () => (await import("./adopt.ts")).trust,
  ),
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
    ({ load }: Row) =>
    async (input: Record<string, unknown> = {}, options: CallOptions = {}) => {
      const verb = await load();
      const { signal = new AbortController().signal, onProgress } = options;
      signal.throwIfAborted();
      return verb.run(memdir, readInput(verb.input, input), {
        ...silent({ ...world, signal }),
        progress: (what) => (done, total) => onProgress?.(what, done, total),
      });
    };
  return Object.fromEntries(VERBS.map((row) => [row.name, bind(row)])) as unknown as Verbs;
}
