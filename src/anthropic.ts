/** Memory for the Anthropic SDK: tools for its tool runner, recall for each message, and the API's memory tool, in one call. */

import type { BetaMemoryTool20250818 } from "@anthropic-ai/sdk/resources/beta";
import { MemdirError } from "./errors.ts";
import type { Library, MemoryToolName, ToolsOptions } from "./library/library.ts";
import { checkOpened } from "./memdir.ts";
import { type MemoryToolHandlers, type MemoryToolOptions, openMemoryTool } from "./memory-tool/memory-tool.ts";
import { MCP_INSTRUCTIONS } from "./prompts/mcp.ts";
import { openRecallSession, type RecallSession } from "./recall/injection.ts";
import type { RecallOptions } from "./recall/rank.ts";

/** Which tools the model gets, and how much recall may show. */
export interface AnthropicMemoryOptions extends ToolsOptions {
  /** How much recall may show: `limit`, `maxBytes`, `exclude`, `model`. */
  recall?: Pick<RecallOptions, "limit" | "maxBytes" | "exclude" | "model"> | undefined;
  /** For the memory tool. */
  memoryTool?: MemoryToolOptions | undefined;
}

/** A tool in the form that `client.beta.messages.toolRunner` expects. */
export interface RunnableTool {
  /** What the model calls it by. */
  name: MemoryToolName;
  /** What it does and when to use it, for the model. */
  description: string;
  /** JSON Schema of its input. */
  input_schema: { type: "object"; properties: Record<string, unknown>; required: string[] };
  /** Runs it and resolves with text for the model; rejects with a `MemdirError` for wrong input. */
  run(input: unknown, context?: { signal?: AbortSignal | null | undefined }): Promise<string>;
  /** Passes the input through unchanged, as `run` checks it. */
  parse(content: unknown): unknown;
}

/** The API's memory tool, `memory_20250818`, in the form that the tool runner expects. */
export interface RunnableMemoryTool extends BetaMemoryTool20250818 {
  /** Runs one command from the model and resolves with the result for it. */
  run(command: unknown): ReturnType<MemoryToolHandlers[keyof MemoryToolHandlers]>;
  /** Passes the command through unchanged, as `run` checks it. */
  parse(content: unknown): unknown;
}

/** A user message, with the memories that help with it before the user's words. */
export interface UserMessage {
  role: "user";
  /** The memories, if there are any, then the prompt. */
  content: { type: "text"; text: string }[];
}

/** What you pass to the Anthropic SDK, for one conversation. */
export interface AnthropicMemory {
  /** Pass these as `tools` to the tool runner. */
  tools: RunnableTool[];
  /** The API's memory tool over the same memories; use it instead of `tools` or together with them. */
  memoryTool: RunnableMemoryTool;
  /** Builds the user's next message, with the memories that help with it. Call it once per message: each memory is shown once per conversation. */
  message(prompt: string, options?: { signal?: AbortSignal | undefined }): Promise<UserMessage>;
  /** What this conversation has been shown. Call `session.clear()` after the conversation is cleared or compacted. */
  session: RecallSession;
  /** Instructions for `system`: when to recall and save. */
  instructions: string;
}

/**
 * Opens tools, recall and the memory tool for one conversation.
 *
 * @example
 * const memory = await openAnthropicMemory(await openMemdir());
 * const messages = [await memory.message("Which package manager do we use?")];
 * client.beta.messages.toolRunner({ model, max_tokens: 8192, system: memory.instructions, messages, tools: memory.tools });
 */
export async function openAnthropicMemory(
  memdir: Library,
  options: AnthropicMemoryOptions = {},
): Promise<AnthropicMemory> {
  checkOpened("openAnthropicMemory", memdir);
  const session = openRecallSession();
  const tools = await memdir.tools(options);
  const handlers = openMemoryTool(memdir, options.memoryTool);
  return {
    tools: tools.map(({ name, description, inputSchema, run }) => ({
      ...{ name, description, input_schema: inputSchema, parse: (content: unknown) => content },
      run: (input, context) => run(input, { signal: context?.signal }),
    })),
    memoryTool: {
      ...{ type: "memory_20250818", name: "memory", parse: (content: unknown) => content },
      run: (command) => runCommand(handlers, command),
    },
    async message(prompt, { signal } = {}) {
      const asked = { type: "text" as const, text: prompt };
      if (memdir.config.disabled !== null) return { role: "user", content: [asked] };
      const { text, memories } = await memdir.recall(prompt, { ...options.recall, session, signal });
      session.surface(memories);
      return { role: "user", content: text === "" ? [asked] : [{ type: "text", text }, asked] };
    },
    session,
    instructions: MCP_INSTRUCTIONS,
  };
}

/** The command is the model's, and not checked yet. */
async function runCommand(handlers: MemoryToolHandlers, command: unknown) {
  const name = (command as { command?: unknown } | null)?.command;
  const handle = Object.hasOwn(handlers, String(name)) ? handlers[name as keyof MemoryToolHandlers] : undefined;
  if (!handle) {
    const names = Object.keys(handlers).join(", ");
    throw new MemdirError("usage", `there is no command "${String(name).slice(0, 40)}"; there are: ${names}`);
  }
  return handle(command as never);
}
