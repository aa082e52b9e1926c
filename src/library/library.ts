/** What a program gets: a Memdir with the verbs on memories as typed methods, and the tools for a model. */

import { processEnv } from "../config.ts";
import { waitForTurn } from "../disk/breathe.ts";
import type { Memdir } from "../memdir.ts";
import { openMemdir as open, type OpenOptions as Settled } from "../open.ts";
import { bindVerbs, MEMORY_VERBS, type VerbsOf } from "../verbs/rows.ts";
import { check, checkArguments, checkOptions, type OpenOptions } from "./arguments.ts";
import { type MemoryTool, openTools, type ToolsOptions } from "./tools.ts";

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
  const { memdir, world, isFixed } = await openChecked(given);
  return {
    ...checkArguments(memdir),
    verbs: bindVerbs(MEMORY_VERBS, memdir, world),
    tools: async (options) => {
      check("tools", "options", "options", options);
      return openTools(memdir, { ...world, open: isFixed ? null : world.open }, options?.only);
    },
  };
}

/** A Memdir with what its verbs and tools need besides. */
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
