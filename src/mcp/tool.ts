/** What a tool of the MCP server is: a verb of the table with its inputs for a model, and its result in two forms. */

import { MemdirError } from "../errors.ts";
import { buildSchema, type Fields, type Input, readInput } from "../input.ts";
import type { Memdir } from "../memdir.ts";
import { MCP_TOOL_WORDS } from "../prompts/mcp.ts";
import { neutraliseLine } from "../recall/neutral.ts";
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

interface Hints {
  readOnlyHint: boolean;
  destructiveHint?: boolean;
  idempotentHint: boolean;
}

interface ToolResult {
  content: { type: "text"; text: string }[];
  structuredContent?: unknown;
  isError?: true;
}

/** What of JSON Schema describes results. */
export interface Shape {
  type: string | readonly string[];
  items?: Shape;
  properties?: Readonly<Record<string, Shape>>;
  description?: string;
  enum?: readonly string[];
  minimum?: number;
}

export interface McpTool {
  spec: { name: string; annotations: Hints } & Readonly<Record<string, unknown>>;
  /** Must not throw: what goes wrong is an answer that the model can read. */
  run(call: ToolCall, input: Readonly<Record<string, unknown>>): Promise<ToolResult>;
}

interface ToolParts<F extends Fields, V extends Fields, R extends object> {
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
  /** What of the result programs get. */
  output: Readonly<Record<string, Shape>>;
  run(memdir: Memdir, input: Input<F> & Input<V>, context: Context & Pick<ToolCall, "by" | "renew">): Promise<R>;
  /** The same as text, for hosts and models that read only that. `shown` is made harmless; all of it is in `result`. */
  say(shown: R, result: R): string;
}

export function makeTool<const F extends Fields, V extends Fields, R extends object>(
  parts: ToolParts<F, V, R>,
): McpTool {
  const { name, fields, fixed = {} as Input<V>, hints = { idempotentHint: true }, output } = parts;
  const { title, description, inputs } = MCP_TOOL_WORDS[name];
  const outputSchema = { type: "object", properties: output, required: Object.keys(output) };
  return {
    spec: {
      ...{ name, title, description, inputSchema: buildSchema(fields, inputs), outputSchema },
      annotations: { ...{ title, openWorldHint: false, readOnlyHint: !writes(parts.verb, fixed) }, ...hints },
      ...(parts.alwaysLoad && { _meta: { "anthropic/alwaysLoad": true } }),
    },
    async run({ open, by, renew, ...call }, given) {
      try {
        const input = readInput(fields, given);
        const memdir = await open("scope" in input ? String(input.scope) : undefined);
        const context = silent({ ...call, open: ({ scope }) => open(scope) });
        const result = await parts.run(memdir, { ...input, ...fixed }, { ...context, by, renew });
        const structuredContent = shape(outputSchema, result) as R;
        return { content: [{ type: "text", text: parts.say(structuredContent, result) }], structuredContent };
      } catch (error) {
        if (!(error instanceof MemdirError)) call.log(`${name}: ${(error as Error).stack ?? error}`);
        return { content: [{ type: "text", text: explain(error) }], isError: true };
      }
    },
  };
}

/** Texts of several lines, which whoever made them has made harmless. */
const READY: ReadonlySet<string> = new Set(["header", "content"]);

/** What the schema names of a value, every text on one line and harmless to show. */
function shape({ properties, items }: Shape, value: unknown, name = ""): unknown {
  if (Array.isArray(value) && items) return value.map((each) => shape(items, each, name));
  if (properties) {
    const entries = Object.entries(properties).map(([key, inner]) => [key, shape(inner, (value as Row)[key], key)]);
    return Object.fromEntries(entries);
  }
  return typeof value === "string" && !READY.has(name) ? neutraliseLine(value) : value;
}

type Row = Readonly<Record<string, unknown>>;

/** Messages name commands; here there are tools. */
function explain(error: unknown): string {
  const message = (error as Error)?.message ?? String(error);
  if (!(error instanceof MemdirError)) return message;
  if (error.code === "secret" && Array.isArray(error.details)) {
    return `not saved, it holds what looks like a secret: ${error.details.join(", ")}; leave the value out and say where it is kept`;
  }
  return message.replaceAll("`memdir list`", "`list`").replaceAll("--scope", "`scope`");
}
