/** What a tool of the MCP server is: a verb of the table with its inputs for a model, and its result in two forms. */

import { MemdirError } from "../errors.ts";
import { buildSchema, type Fields, type Input, readInput } from "../input.ts";
import type { Memdir } from "../memdir.ts";
import { MCP_TOOL_WORDS } from "../prompts/mcp.ts";
import { type Context, silent, type Verb, writes } from "../verb.ts";
import type { World } from "../world.ts";

interface ToolCall extends Pick<World, "env" | "now" | "log"> {
  cwd: string;
  open(scope?: string): Promise<Memdir>;
  /** After a save that may have made a scope's directory. */
  renew(): void;
  /** Who calls, for the source of what is saved. */
  by: string;
  signal: AbortSignal;
}

/** The same twice: for programs, and as text for hosts and models that read only that. */
interface Answer {
  structured: Record<string, unknown>;
  text: string;
}

interface Hints {
  readOnlyHint: boolean;
  destructiveHint?: boolean;
  idempotentHint: boolean;
}

interface ToolSpec {
  name: string;
  title: string;
  description: string;
  inputSchema: object;
  outputSchema: object;
  annotations: Hints & { title: string; openWorldHint: boolean };
  _meta?: object;
}

interface ToolResult {
  content: { type: "text"; text: string }[];
  structuredContent?: Record<string, unknown>;
  isError?: true;
}

export interface McpTool {
  spec: ToolSpec;
  /** Must not throw: what goes wrong is an answer that the model can read. */
  run(call: ToolCall, input: Readonly<Record<string, unknown>>): Promise<ToolResult>;
}

interface ToolParts<F extends Fields, V extends Fields> {
  name: keyof typeof MCP_TOOL_WORDS;
  // biome-ignore lint/suspicious/noExplicitAny: the tool's own `run` knows the result
  verb: Verb<V, any>;
  /** What of the verb's input, and besides it, a model may give; `scope` chooses the store. */
  fields: F;
  /** What of the verb's input it may not choose. */
  fixed?: Input<V>;
  /** For a verb that writes. */
  hints?: Omit<Hints, "readOnlyHint">;
  /** Loaded at once by Claude Code, which shows other tools only by name. */
  alwaysLoad?: true;
  output: Readonly<Record<string, object>>;
  run(memdir: Memdir, input: Input<F> & Input<V>, context: Context & Pick<ToolCall, "by" | "renew">): Promise<Answer>;
}

export function makeTool<const F extends Fields, V extends Fields>(parts: ToolParts<F, V>): McpTool {
  const { name, fields, fixed = {} as Input<V>, hints } = parts;
  const { title, description, inputs } = MCP_TOOL_WORDS[name];
  return {
    spec: {
      name,
      title,
      description,
      inputSchema: buildSchema(fields, inputs),
      outputSchema: { type: "object", properties: { ...parts.output }, required: Object.keys(parts.output) },
      annotations: {
        ...{ title, openWorldHint: false, readOnlyHint: !writes(parts.verb, fixed) },
        ...(hints ?? { idempotentHint: true }),
      },
      ...(parts.alwaysLoad && { _meta: { "anthropic/alwaysLoad": true } }),
    },
    async run({ open, by, renew, ...call }, given) {
      try {
        const input = readInput(fields, given);
        const memdir = await open("scope" in input ? String(input.scope) : undefined);
        const context = silent({ ...call, open: ({ scope }) => open(scope) });
        const { structured, text } = await parts.run(memdir, { ...input, ...fixed }, { ...context, by, renew });
        return { content: [{ type: "text", text }], structuredContent: structured };
      } catch (error) {
        if (!(error instanceof MemdirError)) call.log(`${name}: ${(error as Error).stack ?? error}`);
        return { content: [{ type: "text", text: explain(error) }], isError: true };
      }
    },
  };
}

/** Messages name commands; here there are tools. */
function explain(error: unknown): string {
  const message = (error as Error)?.message ?? String(error);
  if (!(error instanceof MemdirError)) return message;
  if (error.code === "secret" && Array.isArray(error.details)) {
    return `not saved, it holds what looks like a secret: ${error.details.join(", ")}; leave the value out and say where it is kept`;
  }
  return message.replaceAll("`memdir list`", "`list`").replaceAll("--scope", "`scope`");
}
