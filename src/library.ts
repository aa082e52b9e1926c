/** What a program gets: a Memdir, with every verb of the table as a typed method, and the tools for a model. */

import { processEnv } from "./config.ts";
import { MemdirError } from "./errors.ts";
import type { ToolCall } from "./mcp/tool.ts";
import type { Memdir } from "./memdir.ts";
import { type OpenOptions, openMemdir as open } from "./open.ts";
import { bindVerbs, type Verbs } from "./verbs/table.ts";

/** What `openMemdir` gives: the memory of one project. It holds no files or processes open and needs no closing. */
export interface Library extends Memdir {
  /** Every command of the command line, such as `memdir.verbs.check()`, with the same input and the same result. */
  readonly verbs: Verbs;
  /** What a model may do with memories, as tools for any SDK. `memdir/ai` and `memdir/anthropic` give them in the shapes of theirs. */
  tools(options?: ToolsOptions): Promise<MemoryTool[]>;
}

/** The names of the tools for a model. */
export type MemoryToolName = "recall" | "save" | "read" | "list" | "forget" | "undo" | "verify";

export interface ToolsOptions<Name extends MemoryToolName = MemoryToolName> {
  /** Only these tools; all of them unless given. */
  only?: readonly Name[] | undefined;
}

/** A tool for a model: its words, the JSON Schema of its input, and what it does. */
export interface MemoryTool {
  name: MemoryToolName;
  /** A short title for people. */
  title: string;
  /** What it does and when to use it, for the model. */
  description: string;
  /** JSON Schema of its input. */
  inputSchema: {
    type: "object";
    properties: Record<string, unknown>;
    required: string[];
    additionalProperties: boolean;
  };
  /** Whether it changes nothing. */
  readOnly: boolean;
  /**
   * Runs it on what the model sent, whatever that is: the input is checked here. Returns text for the model. Throws a
   * `MemdirError` whose message tells the model what to do instead. Calls may overlap; each sees what was written before it.
   */
  run(input: unknown, options?: { signal?: AbortSignal | null | undefined }): Promise<string>;
}

/**
 * Opens the memory of a project: of the process's own directory unless `cwd` says another.
 *
 * @example
 * const memdir = await openMemdir();
 * await memdir.save({ type: "feedback", name: "use pnpm", body: "Use pnpm, never npm." });
 */
export async function openMemdir(given: Partial<OpenOptions> = {}): Promise<Library> {
  const options = { ...given, cwd: given.cwd ?? process.cwd() };
  const memdir = await open(options);
  const { env = processEnv(), now = () => new Date(), log = () => {} } = options;
  const world = { env, now, log, cwd: memdir.location.project.cwd };
  const reopen = (more: Partial<OpenOptions>) => open({ ...options, ...more });
  const isFixed = options.scope !== undefined || options.memoryDir !== undefined;
  return {
    ...memdir,
    verbs: bindVerbs(memdir, { ...world, open: reopen }),
    tools: ({ only } = {}) => openTools(memdir, { ...world, open: isFixed ? null : reopen }, only),
  };
}

interface ToolsWorld extends Pick<ToolCall, "env" | "now" | "log" | "cwd"> {
  /** Opens another scope; null where the program has chosen the one there is. */
  open: ((more: { scope?: string }) => Promise<Memdir>) | null;
}

async function openTools(memdir: Memdir, { open, ...world }: ToolsWorld, only?: readonly string[]) {
  const { MODEL_TOOLS, openOrder } = await import("./mcp/tools.ts");
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
      if (!open) throw new MemdirError("usage", "leave `scope` out: these memories have one scope only");
      return open({ scope });
    },
  };
  const tools = MODEL_TOOLS.filter(({ spec }) => !only || only.includes(spec.name));
  return tools.map(({ spec, run }): MemoryTool => {
    const { name, title, description, annotations } = spec;
    const inputSchema = spec.inputSchema as MemoryTool["inputSchema"];
    const { scope: _, ...unscoped } = inputSchema.properties;
    return {
      ...{ name: name as MemoryToolName, title, description, readOnly: annotations.readOnlyHint },
      inputSchema: open ? inputSchema : { ...inputSchema, properties: unscoped },
      async run(input, { signal } = {}) {
        const asked = { ...call, signal: signal ?? new AbortController().signal };
        const { text } = await inOrder(annotations.readOnlyHint, async () => {
          asked.signal.throwIfAborted();
          return run(asked, (input ?? {}) as Record<string, unknown>);
        });
        return text;
      },
    };
  });
}
