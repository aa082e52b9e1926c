/** A memory tool over a fresh world, and what came of a command. */
import type { MemdirError } from "../../src/errors.ts";
import type { Memdir } from "../../src/memdir.ts";
import { type MemoryToolHandlers, type MemoryToolOptions, openMemoryTool } from "../../src/memory-tool/memory-tool.ts";
import type { OpenOptions } from "../../src/open.ts";
import { errorOf, makeWorld, type World } from "../world.ts";

export interface TestTool {
  world: World;
  memdir: Memdir;
  tool: MemoryToolHandlers;
  create(path: string, text?: string): Promise<string>;
  /** The view as text. */
  view(path: string, range?: number[]): Promise<string>;
}

export async function openTool(options: MemoryToolOptions & { open?: Partial<OpenOptions> } = {}): Promise<TestTool> {
  const { open = {}, ...limits } = options;
  const world = makeWorld();
  const memdir = await world.open(open);
  const tool = openMemoryTool(memdir, limits);
  return {
    world,
    memdir,
    tool,
    create: (path, text = "A note.\n") => tool.create({ path, file_text: text }),
    view: async (path, range) => String(await tool.view({ path, ...(range ? { view_range: range } : {}) })),
  };
}

/** The words that a command fails with. */
export async function wordsOf(work: Promise<unknown>): Promise<string> {
  const error: MemdirError = await errorOf(work);
  return error.message;
}
