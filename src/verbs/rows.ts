/** What a row of the table of verbs is, and the rows of those that work on the memories themselves: a program's bundle holds no others. */

import { checkGivenType, MemdirError } from "../errors.ts";
import type { Memdir } from "../memdir.ts";
import { type Adapter, type Context, fieldsOf, type Input, readInput, silent, type Verb } from "../verb.ts";

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

export const SHELL: readonly Adapter[] = ["cli", "library"];
/** Those that the page offers, and a conversation does not. */
export const CURATED: readonly Adapter[] = [...SHELL, "web"];
export const CONSOLE: readonly Adapter[] = [...SHELL, "console"];
export const PAGE: readonly Adapter[] = [...CONSOLE, "web"];
const MODELS: readonly Adapter[] = [...PAGE, "mcp"];

type Facts = Pick<Row, "aliases" | "formerly" | "takesName" | "isLong">;

/** Makes the rows of a group. The module of a verb exports it under its name. */
export function inGroup(group: Row["group"]) {
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
export const NAMED = { takesName: true } as const;
export const LONG = { isLong: true } as const;

export const EVERYDAY = [
  everyday("save", "Save a memory, from a sentence, a file or standard input", () => import("./save.ts"), MODELS, {
    aliases: ["remember", "add", "new"],
  }),
  everyday("list", "List memories of all scopes", () => import("./list.ts"), MODELS, { aliases: ["ls"] }),
  everyday("show", "Show one memory", () => import("./list.ts"), MODELS, NAMED, { aliases: ["cat"] }),
  everyday("search", "Find every memory that contains the words, best first", () => import("./recall.ts"), PAGE, {
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
  everyday("undo", "Undo a change: the last one, unless an ID is given", () => import("./forget.ts"), MODELS),
  everyday("history", "List the changes made to memories, newest last", () => import("./forget.ts"), PAGE, NAMED),
];

export const HEALTH = [
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
  health("prune", "Forget old memories; never feedback or pinned ones", () => import("./prune.ts"), CURATED),
  health("index", "Show what the model sees of MEMORY.md, or rebuild it", () => import("./context.ts"), PAGE),
  health("why", "Show when a memory was shown to a model, and why", () => import("./why.ts"), PAGE, NAMED),
];

export const MEMORY_VERBS = [...EVERYDAY, ...HEALTH];

type Named = Omit<Row, "load"> & { load(): Promise<unknown> };

/** Verbs by their names, typed by input and result. */
export type VerbsOf<Rows extends readonly Named[]> = {
  [R in Rows[number] as R["name"]]: Awaited<ReturnType<R["load"]>> extends Verb<infer F, infer Result>
    ? (input?: Input<F>, options?: CallOptions) => Promise<Result>
    : never;
};

/** What a verb accepts besides its input. */
export interface CallOptions {
  /** Stops the work. */
  signal?: AbortSignal | undefined;
  /** For long work: what is being done, and how much of it is done. */
  onProgress?: ((what: string, done: number, total: number) => void) | undefined;
}

/** Verbs for a program: they ask nothing and print nothing; the result is the answer. */
export function bindVerbs<Rows extends readonly Named[]>(
  rows: Rows,
  memdir: Memdir,
  world: Pick<Context, "env" | "now" | "log" | "cwd" | "open">,
): VerbsOf<Rows> {
  const bind =
    ({ name, on, load }: Row) =>
    async (input: Record<string, unknown> = {}, options: CallOptions | null = {}) => {
      if (!on.includes("library"))
        throw new MemdirError("usage", `"${name}" is for people at a terminal: run \`memdir ${name}\` instead`);
      const { signal: given, onProgress } = options ?? {};
      const signal = given ?? new AbortController().signal;
      checkGivenType(signal instanceof AbortSignal, name, "`signal` must be an AbortSignal");
      const isFunction = onProgress === undefined || typeof onProgress === "function";
      checkGivenType(isFunction, name, "`onProgress` must be a function");
      signal.throwIfAborted();
      const verb = await load();
      return verb.run(memdir, readInput(fieldsOf(verb, "library"), input), {
        ...silent({ ...world, signal }),
        progress: (what) => (done, total) => onProgress?.(what, done, total),
      });
    };
  return Object.fromEntries(
    (rows as readonly Named[] as readonly Row[]).map((row) => [row.name, bind(row)]),
  ) as unknown as VerbsOf<Rows>;
}
