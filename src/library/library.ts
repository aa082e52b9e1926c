/** What a program gets: a Memdir with the verbs on memories as typed methods, and the tools for a model. */

import { processEnv } from "../config.ts";
import { waitForTurn } from "../disk/turns.ts";
import { MemdirError } from "../errors.ts";
import type { ToolCall } from "../mcp/tools.ts";
import type { Memdir } from "../memdir.ts";
import { openMemdir as open, type OpenOptions as Settled } from "../open.ts";
import { bindVerbs, MEMORY_VERBS, type VerbsOf } from "../verbs/rows.ts";
import { check, checkArguments, checkOptions, type OpenOptions } from "./arguments.ts";

type Bound = VerbsOf<typeof MEMORY_VERBS>;

/** The commands of the command line that work on memories, by name, typed by their input and result. */
export interface Verbs {
  /** Save a memory, from a sentence, a file or standard input. */
  save: Bound["save"];
  /** List memories of all scopes. */
  list: Bound["list"];
  /** Show one memory. */
  show: Bound["show"];
  /** Find every memory that contains the words, best first. */
  search: Bound["search"];
  /** Show what an agent would be shown for a prompt, and why. */
  recall: Bound["recall"];
  /** Open a memory in your editor. */
  edit: Bound["edit"];
  /** Remove a memory; undo brings it back. */
  forget: Bound["forget"];
  /** Give a memory a new name. */
  rename: Bound["rename"];
  /** Undo a change: the last one, unless an ID is given. */
  undo: Bound["undo"];
  /** List the changes made to memories, newest last. */
  history: Bound["history"];
  /** Check the form and wording of memories and the index. */
  lint: Bound["lint"];
  /** Check what memories claim against the code and git. */
  verify: Bound["verify"];
  /** Score all memories together, and say what to do first. */
  health: Bound["health"];
  /** Forget old memories; never feedback or pinned ones. */
  prune: Bound["prune"];
  /** Show what the model sees of MEMORY.md, or rebuild it. */
  index: Bound["index"];
  /** Show when a memory was shown to a model, and why. */
  why: Bound["why"];
}

/** What `openMemdir` returns: the memory of one project. It keeps no files or processes open and does not need to be closed. */
export interface Library extends Memdir {
  /** The commands that work on memories, such as `memdir.verbs.health()`, with the same input and result. `memdir/verbs` has all commands. */
  readonly verbs: Verbs;
  /** What a model may do with memories, as tools for any SDK. `memdir/ai` and `memdir/anthropic` have them in the form that those SDKs expect. */
  tools(options?: ToolsOptions): Promise<MemoryTool[]>;
}

/**
 * Opens the memory of a project: that of the current directory, unless `cwd` names another.
 *
 * @example
 * const memdir = await openMemdir();
 * await memdir.save({ type: "feedback", name: "use pnpm", body: "Use pnpm, never npm." });
 */
export async function openMemdir(given: OpenOptions = {}): Promise<Library> {
  const opened = await openChecked(given);
  const { memdir, world } = opened;
  return {
    ...checkArguments(memdir),
    verbs: bindVerbs(MEMORY_VERBS, memdir, world),
    tools: async (options) => {
      check("tools", "options", "options", options);
      return openTools(opened, options?.only);
    },
  };
}

type Opened = Awaited<ReturnType<typeof openChecked>>;

/** A Memdir with what its verbs and tools need besides. `isFixed`: the program has chosen the one scope there is. */
export async function openChecked(given: OpenOptions) {
  checkOptions(given);
  const options = { ...given, cwd: given.cwd ?? process.cwd() };
  // A host has other things to do: opening many one after the other leaves it turns, and vectors are made beside it.
  await waitForTurn();
  const findMeaning = async () => (await import("../meaning/thread.ts")).openThread();
  const memdir = await open(options, findMeaning);
  const { env = processEnv(), now = () => new Date(), log = () => {} } = options;
  const reopen = (more: Partial<Settled>) => open({ ...options, ...more }, findMeaning);
  const isFixed = options.scope !== undefined || options.memoryDir !== undefined;
  return { memdir, world: { env, now, log, cwd: memdir.location.project.cwd, open: reopen }, isFixed };
}

// --- The tools of the MCP server for any SDK: JSON Schema in, text for the model out.

/** The names of the tools for a model. */
export type MemoryToolName = "recall" | "save" | "read" | "list" | "forget" | "undo" | "verify";

/** Which tools a model gets. */
export interface ToolsOptions<Name extends MemoryToolName = MemoryToolName> {
  /** Only these tools. Default: all of them. */
  only?: readonly Name[] | undefined;
}

/** A tool for a model: its texts, the JSON Schema of its input, and what it does. */
export interface MemoryTool {
  /** What the model calls it by. */
  name: MemoryToolName;
  /** A short title for people. */
  title: string;
  /** What it does and when to use it, for the model. */
  description: string;
  /** JSON Schema of its input. */
  inputSchema: {
    type: "object";
    /** The JSON Schema of each field, by the field's name. */
    properties: Record<string, unknown>;
    /** Names of the fields that must be given. */
    required: string[];
    /** Whether fields that `properties` does not name are allowed. */
    additionalProperties: boolean;
  };
  /** Whether it only reads. */
  readOnly: boolean;
  /**
   * Runs the tool on whatever the model sent; the input is checked here. Returns text for the model. Throws a
   * `MemdirError` whose message says what the model should do instead. Calls may overlap; each sees what was written before it.
   */
  run(input: unknown, options?: { signal?: AbortSignal | null | undefined }): Promise<string>;
}

async function openTools({ memdir, world, isFixed }: Opened, only?: readonly string[]) {
  const { MODEL_TOOLS, openOrder } = await import("../mcp/tools.ts");
  const inOrder = openOrder();
  const names = MODEL_TOOLS.map(({ spec }) => spec.name);
  const unknown = only?.find((name) => !names.includes(name));
  if (unknown !== undefined)
    throw new MemdirError("usage", `there is no tool "${unknown}"; there are: ${names.join(", ")}`);
  const call: Omit<ToolCall, "signal"> = {
    ...world,
    by: memdir.directories[0]?.by ?? "library",
    renew: () => {},
    open: async (scope) => {
      if (memdir.config.disabled !== null)
        throw new MemdirError("usage", `memory is switched off for this project: ${memdir.config.disabled}`);
      if (scope === undefined) return memdir;
      if (isFixed) throw new MemdirError("usage", "leave `scope` out: these memories have one scope only");
      return world.open({ scope });
    },
  };
  const tools = MODEL_TOOLS.filter(({ spec }) => !only || only.includes(spec.name));
  return tools.map(({ spec, run }): MemoryTool => {
    const { name, title, description, annotations } = spec;
    const inputSchema = spec.inputSchema as MemoryTool["inputSchema"];
    const { scope: _, ...unscoped } = inputSchema.properties;
    return {
      ...{ name: name as MemoryToolName, title, description, readOnly: annotations.readOnlyHint },
      inputSchema: isFixed ? { ...inputSchema, properties: unscoped } : inputSchema,
      async run(input, options) {
        check(name, "options", "options", { ...options, signal: options?.signal ?? undefined });
        const asked = { ...call, signal: options?.signal ?? new AbortController().signal };
        const { text } = await inOrder(annotations.readOnlyHint, async () => {
          asked.signal.throwIfAborted();
          return run(asked, (input ?? {}) as Record<string, unknown>);
        });
        return text;
      },
    };
  });
}
