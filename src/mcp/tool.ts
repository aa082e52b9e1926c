/** What a model's tool is: a verb of the table with the inputs that a model may give, and its result in two forms. */

import { MemdirError } from "../errors.ts";
import { buildSchema, type Fields, type Input, readInput } from "../input.ts";
import type { Memdir } from "../memdir.ts";
import { MCP_TOOL_WORDS } from "../prompts/mcp.ts";
import { neutraliseLine } from "../recall/neutral.ts";
import { type Context, silent, type Verb, writes } from "../verb.ts";
import type { World } from "../world.ts";

/** What a call brings besides its input. */
export interface ToolCall extends Pick<World, "env" | "now" | "log"> {
  cwd: string;
  open(scope?: string): Promise<Memdir>;
  /** After a save that may have made a scope's directory. */
  renew(): void;
  /** Who calls, for the source of what is saved. */
  by: string;
  signal: AbortSignal;
  /** Missing where nobody is told how far it is. */
  progress?: Context["progress"];
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

export type ModelTool = ReturnType<typeof makeTool>;

interface ToolParts<F extends Fields, V extends Fields, R extends object> {
  name: keyof typeof MCP_TOOL_WORDS;
  // biome-ignore lint/suspicious/noExplicitAny: the tool's own `run` knows the result
  verb: Verb<V, any>;
  /** What of the verb's input, and besides it, a model may give; `scope` chooses the store. */
  fields: F;
  /** What of the verb's input it may not choose. */
  fixed?: Input<V>;
  /** For a verb that writes. */
  hints?: { destructiveHint?: boolean; idempotentHint: boolean };
  /** Loaded at once by Claude Code, which shows other tools only by name. */
  alwaysLoad?: true;
  /** What of the result programs get. */
  output: Readonly<Record<string, Shape>>;
  /**
   * Its result is a text already, and goes out as that alone. With structured output beside it some hosts show their model only
   * that and others only the text: the memories would have to be in both, twice as long.
   */
  isText?: true;
  run(memdir: Memdir, input: Input<F> & Input<V>, context: Context & Pick<ToolCall, "by" | "renew">): Promise<R>;
  /** The same as text, for hosts and models that read only that. `shown` is made harmless; all of it is in `result`. */
  say(shown: R, result: R): string;
}

export function makeTool<const F extends Fields, V extends Fields, R extends object>(parts: ToolParts<F, V, R>) {
  const { name, fields, fixed = {} as Input<V>, hints = { idempotentHint: true }, output } = parts;
  const { title, description, inputs } = MCP_TOOL_WORDS[name];
  const outputSchema = { type: "object", properties: output, required: Object.keys(output) };
  return {
    spec: {
      ...{ name: name as string, title, description, inputSchema: buildSchema(fields, inputs) },
      ...(!parts.isText && { outputSchema }),
      annotations: { ...{ title, openWorldHint: false, readOnlyHint: !writes(parts.verb, fixed) }, ...hints },
      ...(parts.alwaysLoad && { _meta: { "anthropic/alwaysLoad": true } }),
    },
    /**
     * `text` is for the model, `structured` for programs; missing where the text is all there is. Throws a MemdirError in words for the
     * model; what else goes wrong is logged first.
     */
    async run({ open, by, renew, ...call }: ToolCall, given: Row): Promise<{ text: string; structured?: unknown }> {
      try {
        const input = readInput(fields, given);
        const memdir = await open("scope" in input ? String(input.scope) : undefined);
        const quiet = silent({ ...call, open: ({ scope }) => open(scope) });
        const context = { ...quiet, progress: call.progress ?? quiet.progress };
        const result = await parts.run(memdir, { ...input, ...fixed }, { ...context, by, renew });
        const structured = shape(outputSchema, result) as R;
        return { text: parts.say(structured, result), ...(!parts.isText && { structured }) };
      } catch (error) {
        throw explain(error, (problem) => call.log(`${name}: ${problem}`));
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
function explain(error: unknown, log: (problem: string) => void): Error {
  if (!(error instanceof MemdirError)) {
    log((error as Error)?.stack ?? String(error));
    return error instanceof Error ? error : new Error(String(error));
  }
  const { code, message, details } = error;
  const words =
    code === "secret" && Array.isArray(details)
      ? `not saved, it holds what looks like a secret: ${details.join(", ")}; leave the value out and say where it is kept`
      : message.replaceAll("`memdir list`", "`list`").replaceAll("--scope", "`scope`");
  return new MemdirError(code, words, { cause: error, details });
}

/** Runs calls so that each sees what was written before it, and nothing that is written after it: a model may send several at once. */
export function openOrder() {
  let write: Promise<unknown> = Promise.resolve();
  let reads = new Set<Promise<unknown>>();
  return <T>(isRead: boolean, run: () => Promise<T>): Promise<T> => {
    const result = (isRead ? write : Promise.all([write, ...reads])).then(run);
    const settled = result.then(
      () => {},
      () => {},
    );
    if (isRead) {
      const among = reads;
      among.add(settled);
      void settled.then(() => among.delete(settled));
    } else {
      write = settled;
      reads = new Set();
    }
    return result;
  };
}
