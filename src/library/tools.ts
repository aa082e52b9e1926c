/** The tools of the MCP server for any SDK: JSON Schema in, text for the model out. */

import { MemdirError } from "../errors.ts";
import type { ToolCall } from "../mcp/tool.ts";
import type { Memdir } from "../memdir.ts";
import { check } from "./arguments.ts";

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

interface ToolsWorld extends Pick<ToolCall, "env" | "now" | "log" | "cwd"> {
  /** Opens another scope; null where the program has chosen the one there is. */
  open: ((more: { scope?: string }) => Promise<Memdir>) | null;
}

export async function openTools(memdir: Memdir, { open, ...world }: ToolsWorld, only?: readonly string[]) {
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
