/** Memory for the AI SDK: tools for `generateText` and `streamText`, and a middleware that recalls. */

import { createHash } from "node:crypto";
import { jsonSchema, type LanguageModelMiddleware, type Tool, tool } from "ai";
import type { Library, MemoryToolName, ToolsOptions } from "./library/library.ts";
import { checkOpened } from "./memdir.ts";
import { MCP_INSTRUCTIONS } from "./prompts/mcp.ts";
import { openRecallSession } from "./recall/injection.ts";
import type { RecallOptions } from "./recall/rank.ts";
import type { Recalled } from "./recall/recall.ts";

/** Which tools the model gets, and how much recall may show. */
export interface AiMemoryOptions<Name extends MemoryToolName = MemoryToolName> extends ToolsOptions<Name> {
  /** How much recall may show: `limit`, `maxBytes`, `exclude`, `model`. */
  recall?: Pick<RecallOptions, "limit" | "maxBytes" | "exclude" | "model"> | undefined;
}

/** What you pass to the AI SDK. */
export interface AiMemory<Name extends MemoryToolName = MemoryToolName> {
  /** Pass these as `tools` to `generateText`, `streamText` and agents, by name. */
  tools: Record<Name, Tool<Record<string, unknown>, string>>;
  /**
   * Pass it to `wrapLanguageModel`. It puts the memories that help with a user's message before that message. Each memory
   * is shown once per conversation and stays where it is, so the provider's cache keeps working. It can serve many conversations.
   */
  middleware: LanguageModelMiddleware;
  /** Instructions for the system prompt: when to recall and save. */
  instructions: string;
}

/**
 * Tools and recall for the AI SDK.
 *
 * @example
 * const memory = await openAiMemory(await openMemdir());
 * const model = wrapLanguageModel({ model: anthropic("claude-sonnet-5-5"), middleware: memory.middleware });
 * streamText({ model, tools: memory.tools, system: memory.instructions, prompt, stopWhen: stepCountIs(8) });
 */
export async function openAiMemory<const Name extends MemoryToolName = MemoryToolName>(
  memdir: Library,
  options: AiMemoryOptions<Name> = {},
): Promise<AiMemory<Name>> {
  checkOpened("openAiMemory", memdir);
  const tools = (await memdir.tools(options)).map(({ name, title, description, inputSchema, run }) => [
    name,
    tool({
      title,
      description,
      inputSchema: jsonSchema<Record<string, unknown>>(inputSchema as Parameters<typeof jsonSchema>[0]),
      execute: (input, { abortSignal }) => run(input, { signal: abortSignal }),
    }),
  ]);
  const middleware = openMiddleware(memdir, options.recall);
  return { tools: Object.fromEntries(tools) as AiMemory<Name>["tools"], middleware, instructions: MCP_INSTRUCTIONS };
}

type Transform = NonNullable<LanguageModelMiddleware["transformParams"]>;
type Prompt = Parameters<Transform>[0]["params"]["prompt"];
type Message = Prompt[number];

/** What was shown before a message. */
interface Shown {
  text: string;
  memories: Recalled[];
}

/** Messages whose memories are known: enough for hundreds of conversations at a time. */
const MAX_KEPT = 2000;

function openMiddleware(memdir: Library, options: AiMemoryOptions["recall"]): LanguageModelMiddleware {
  /** By the user's messages up to this one; the oldest first. */
  const kept = new Map<string, Shown>();
  const keep = (key: string, shown: Shown) => {
    kept.delete(key);
    kept.set(key, shown);
    for (const oldest of kept.keys()) if (kept.size > MAX_KEPT) kept.delete(oldest);
  };
  return {
    specificationVersion: "v3",
    async transformParams({ params }) {
      const session = openRecallSession();
      const prompt: Prompt = [];
      let key = "";
      for (const [i, message] of params.prompt.entries()) {
        const text = textOf(message);
        if (text === "") {
          prompt.push(message);
          continue;
        }
        key = createHash("sha256").update(`${key}\n${text}`).digest("base64");
        const isNew = i === params.prompt.length - 1;
        // A message that is not the last has been answered: what it was answered with stays.
        const known = isNew ? undefined : kept.get(key);
        const shown = known ?? (isNew ? await find(text, session, params.abortSignal) : { text: "", memories: [] });
        keep(key, shown);
        session.surface(shown.memories);
        prompt.push(shown.text === "" ? message : withText(message, shown.text));
      }
      return { ...params, prompt };
    },
  };

  async function find(text: string, session: RecallOptions["session"] & object, signal?: AbortSignal): Promise<Shown> {
    if (memdir.config.disabled !== null) return { text: "", memories: [] };
    return memdir.recall(text, { ...options, session, ...(signal && { signal }) });
  }
}

/** What the user says in it; "" for the messages of others. */
function textOf({ role, content }: Message): string {
  if (role !== "user") return "";
  return content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
}

function withText(message: Message, text: string): Message {
  return message.role === "user" ? { ...message, content: [{ type: "text", text }, ...message.content] } : message;
}
