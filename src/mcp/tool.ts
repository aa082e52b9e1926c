/** What a tool of the MCP server is: one description makes its schema, checks its input and runs it. */

import { MemdirError } from "../errors.ts";
import type { Memdir } from "../memdir.ts";
import { buildSchema, type Fields, type Input, readInput } from "../tools/input.ts";

interface ToolCall {
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
  run(call: ToolCall, input: Readonly<Record<string, unknown>>, log: (message: string) => void): Promise<ToolResult>;
}

interface ToolParts<F extends Fields> {
  name: string;
  words: { title: string; description: string; inputs: Readonly<Record<string, string>> };
  fields: F;
  annotations: Hints;
  /** Loaded at once by Claude Code, which shows other tools only by name. */
  alwaysLoad?: true;
  output: Readonly<Record<string, object>>;
  run(call: ToolCall, input: Input<F>): Promise<Answer>;
}

export function makeTool<const F extends Fields>(parts: ToolParts<F>): McpTool {
  const { name, words, fields, annotations } = parts;
  return {
    spec: {
      name,
      title: words.title,
      description: words.description,
      inputSchema: buildSchema(fields, words.inputs),
      outputSchema: { type: "object", properties: { ...parts.output }, required: Object.keys(parts.output) },
      annotations: { title: words.title, openWorldHint: false, ...annotations },
      ...(parts.alwaysLoad && { _meta: { "anthropic/alwaysLoad": true } }),
    },
    async run(call, given, log) {
      try {
        const { structured, text } = await parts.run(call, check(fields, given));
        return { content: [{ type: "text", text }], structuredContent: structured };
      } catch (error) {
        if (!(error instanceof MemdirError)) log(`${name}: ${(error as Error).stack ?? error}`);
        return { content: [{ type: "text", text: explain(error) }], isError: true };
      }
    },
  };
}

/** A model's mistake is a usage error. */
function check<F extends Fields>(fields: F, given: Readonly<Record<string, unknown>>): Input<F> {
  try {
    return readInput(fields, given);
  } catch (cause) {
    throw new MemdirError("usage", (cause as Error).message, { cause });
  }
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
