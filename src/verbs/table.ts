/** Every verb and program by name, in groups, each loaded when it is called. */

import { MemdirError } from "../errors.ts";
import type { Memdir } from "../memdir.ts";
import { type Adapter, type Context, type Input, readInput, silent, type Verb } from "../verb.ts";

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
  /** Who offers it. */
  on: readonly Adapter[];
  /** Its first argument is a memory's name. */
  takesName?: true;
  /** It may take seconds: a console shows that it works, and Ctrl-C stops it. */
  isLong?: true;
  load(): Promise<Verb>;
}

const SHELL: readonly Adapter[] = ["cli", "library"];
const CONSOLE: readonly Adapter[] = [...SHELL, "console"];
const PAGE: readonly Adapter[] = [...CONSOLE, "web"];
const MODELS: readonly Adapter[] = [...PAGE, "mcp"];

type Facts = Pick<Row, "aliases" | "formerly" | "takesName" | "isLong">;

/** Makes the rows of a group. The module of a verb exports it under its name. */
function inGroup(group: Row["group"]) {
  return <const Name extends string, Module extends Record<Name, unknown>>(
    name: Name,
    summary: string,
    load: () => Promise<Module>,
    on = SHELL,
    ...facts: Facts[]
  ) => ({
    ...{ name, group, summary, on, load: async (): Promise<Module[Name]> => (await load())[name] },
    ...(Object.assign({}, ...facts) as Facts),
  });
}

const everyday = inGroup("everyday");
const health = inGroup("health");
const learning = inGroup("learning");
const agents = inGroup("agents");
const team = inGroup("team");
const NAMED = { takesName: true } as const;
const LONG = { isLong: true } as const;

const TABLE = [
  everyday("save", "Save a memory, from a sentence, a file or standard input", () => import("./save.ts"), MODELS, {
    aliases: ["remember", "add", "new"],
  }),
  everyday("list", "List memories of all scopes", () => import("./list.ts"), MODELS, { aliases: ["ls"] }),
  everyday("show", "Show one memory", () => import("./list.ts"), MODELS, NAMED, { aliases: ["cat"] }),
  everyday("search", "Find every memory that contains the words, best first", () => import("./search.ts"), PAGE, {
    aliases: ["find", "grep"],
  }),
  everyday(
    "recall",
    "Show what an agent would be shown for a prompt, and why",
    () => import("./recall.ts"),
    MODELS,
    LONG,
  ),
  everyday("edit", "Open a memory in your editor", () => import("./save.ts"), ["cli", "console"], NAMED),
  everyday("forget", "Remove a memory; undo brings it back", () => import("./forget.ts"), MODELS, NAMED, {
    aliases: ["rm", "delete", "remove"],
  }),
  everyday("rename", "Give a memory a new name", () => import("./forget.ts"), PAGE, NAMED, { aliases: ["mv"] }),
  everyday("undo", "Undo a change as a whole; without an ID the last one", () => import("./history.ts"), MODELS),
  everyday("history", "List the changes made to memories, newest last", () => import("./history.ts"), PAGE, NAMED),
  health("check", "Check everything below in one report", () => import("./check.ts"), PAGE, LONG),
  health("doctor", "Check the installation and every wired agent", () => import("./doctor.ts"), [...SHELL, "web"]),
  health("lint", "Check the form and wording of memories and the index", () => import("./verify.ts"), PAGE, LONG),
  health(
    "verify",
    "Check what memories claim against the code and git",
    () => import("./verify.ts"),
    MODELS,
    NAMED,
    LONG,
  ),
  health("health", "Score all memories together, and say what to do first", () => import("./health.ts"), PAGE, LONG, {
    formerly: "rot",
  }),
  health("prune", "Forget old memories; never feedback or pinned ones", () => import("./prune.ts"), [...SHELL, "web"]),
  health("index", "Show what the model sees of MEMORY.md, or rebuild it", () => import("./context.ts"), PAGE),
  health("why", "Show when a memory was shown to a model, and why", () => import("./why.ts"), PAGE, NAMED),
  learning("learn", "Learn from past sessions: proposals come up one by one", () => import("./learn.ts")),
  learning("extract", "Learn from conversations, with a model or offline", () => import("./extract.ts")),
  learning("inbox", "Review proposed memories: accept, edit or reject them", () => import("./inbox.ts"), CONSOLE),
  learning("dream", "Tidy up memories by a plan: merge, rewrite, retire", () => import("./dream.ts"), CONSOLE, LONG),
  learning(
    "enrich",
    "Add cues to memories that lack them, with a model",
    () => import("./enrich.ts"),
    [...SHELL, "web"],
    NAMED,
  ),
  learning("log", "Add a line to the daily log, or show today's", () => import("./log.ts")),
  learning("ledger", "Show what background work cost, and what is left today", () => import("./ledger.ts"), [
    ...SHELL,
    "web",
  ]),
  learning("sessions", "List past sessions, Claude Code's too, or search them", () => import("./sessions.ts")),
  learning("rewind", "List checkpoints of a session, or go back to one", () => import("./rewind.ts")),
  agents("init", "Connect the agents on this machine; shows every change first", () => import("./init.ts")),
  agents("uninstall", "Disconnect the agents; memories stay", () => import("./init.ts")),
  agents("import", "Import memories from other programs", () => import("./exchange.ts"), [...SHELL, "web"]),
  agents("export", "Export memories as Markdown, JSON or a section of AGENTS.md", () => import("./exchange.ts"), [
    ...SHELL,
    "web",
  ]),
  agents("context", "Show what a host loads at start, and what it leaves out", () => import("./context.ts")),
  agents("prompt", "Show the text about memory that goes to the model", () => import("./context.ts")),
  agents("adopt", "Take over the memories of a moved or renamed project", () => import("./adopt.ts")),
  agents("trust", "Decide what this repository and your team may do here", () => import("./trust.ts")),
  team("promote", "Move a private memory to the team's", () => import("./promote.ts"), [...SHELL, "web"], NAMED),
  team("demote", "Move a memory out of the team's", () => import("./promote.ts"), SHELL, NAMED),
  team("sync", "Exchange memories with a team server, or through git", () => import("./sync.ts"), ["cli"]),
  team("join", "Share this project's memories through a team server", () => import("./sync.ts"), ["cli"]),
  team("team", "Show who shares memories here; manage people and tokens", () => import("./team.ts"), ["cli"]),
];

export const VERBS = TABLE as readonly Row[];

/** Every verb by its name, typed by its input and result. */
export type Verbs = {
  [R in (typeof TABLE)[number] as R["name"]]: Awaited<ReturnType<R["load"]>> extends Verb<infer F, infer Result>
    ? (input?: Input<F>, options?: CallOptions) => Promise<Result>
    : never;
};

/** What a verb takes besides its input. */
export interface CallOptions {
  /** Stops the work. */
  signal?: AbortSignal | undefined;
  /** For long work: what is being done, and how far it is. */
  onProgress?: ((what: string, done: number, total: number) => void) | undefined;
}

/** The verbs for a program: they ask nothing and print nothing; the result is the answer. */
export function bindVerbs(memdir: Memdir, world: Pick<Context, "env" | "now" | "log" | "cwd" | "open">): Verbs {
  const bind =
    ({ name, on, load }: Row) =>
    async (input: Record<string, unknown> = {}, options: CallOptions = {}) => {
      if (!on.includes("library"))
        throw new MemdirError("usage", `"${name}" is for people at a terminal: run \`memdir ${name}\` instead`);
      const { signal = new AbortController().signal, onProgress } = options;
      signal.throwIfAborted();
      const verb = await load();
      return verb.run(memdir, readInput(verb.input, input), {
        ...silent({ ...world, signal }),
        progress: (what) => (done, total) => onProgress?.(what, done, total),
      });
    };
  return Object.fromEntries(VERBS.map((row) => [row.name, bind(row)])) as unknown as Verbs;
}
