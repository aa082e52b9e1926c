/** Anthropic's Messages API through its own SDK: streaming, tools, prompt caching. */

import type { MessageCreateParamsStreaming, MessageParam } from "@anthropic-ai/sdk/resources/messages";
import { readAnthropicStream } from "./anthropic-stream.ts";
import type { Ask, AskRequest, Message } from "./ask.ts";
import { exchange } from "./exchange.ts";
import type { Endpoint } from "./failure.ts";
import { wellFormed } from "./well-formed.ts";

export const ANTHROPIC_URL = "https://api.anthropic.com";

export interface AnthropicOptions {
  model: string;
  apiKey: string;
  /** Without the `/v1`. */
  baseUrl?: string;
  maxSilenceMs?: number;
}

/** The API pings about every ten seconds while it thinks: a minute and a half without a byte is a dead connection. */
const MAX_SILENCE_MS = 90_000;

/** Loads the SDK, which takes a while; rejects only if the installation is broken. */
export async function openAnthropic(options: AnthropicOptions): Promise<Ask> {
  const { Anthropic } = await import("@anthropic-ai/sdk");
  const { model, apiKey, baseUrl = ANTHROPIC_URL, maxSilenceMs = MAX_SILENCE_MS } = options;
  const endpoint: Endpoint = {
    title: "Anthropic",
    model,
    apiKey,
    baseUrl,
    keyVariable: "ANTHROPIC_API_KEY",
    urlVariable: "ANTHROPIC_BASE_URL",
  };

  return (request) =>
    exchange({
      endpoint,
      maxSilenceMs,
      request,
      reading: readAnthropicStream(request.onText),
      send: (watch) => {
        // A client for each request, as its fetch watches this one. Whatever it would take from the environment is given.
        const client = new Anthropic({
          apiKey,
          baseURL: baseUrl,
          webhookKey: null,
          openTelemetry: false,
          logLevel: "off",
          maxRetries: 0,
          timeout: maxSilenceMs,
          fetch: watch.fetch,
        });
        return client.messages
          .create(wellFormed(anthropicBody(model, request)), { signal: watch.signal })
          .withResponse();
      },
    });
}

/** Two marks are left for messages: a request may have four, and the system blocks take two at most. */
const MAX_MARKS = 2;
const CACHE = { cache_control: { type: "ephemeral" } } as const;

/** Equal requests give equal bytes: the provider's cache compares from the start. */
function anthropicBody(model: string, request: AskRequest): MessageCreateParamsStreaming {
  const { system, messages, tools = [], maxTokens, cacheAt = [] } = request;
  const marked = new Set(cacheAt.slice(-MAX_MARKS));
  const kept = new Set(system.filter(({ cache }) => cache).slice(-MAX_MARKS));
  const blocks = system.filter(({ text }) => text !== "");
  return {
    model,
    max_tokens: maxTokens,
    ...(tools.length > 0 && {
      tools: tools.map(({ name, description, schema }) => ({
        name,
        description,
        input_schema: { type: "object", ...schema } as const,
      })),
    }),
    ...(blocks.length > 0 && {
      system: blocks.map((block) => ({ type: "text", text: block.text, ...(kept.has(block) && CACHE) })),
    }),
    messages: messages
      .map((message, i) => messageParam(message, marked.has(i)))
      .filter(({ content }) => content.length > 0),
    stream: true,
  };
}

function messageParam(message: Message, mark: boolean): MessageParam & { content: object[] } {
  const content = message.content.flatMap(blockParams);
  // Thinking cannot carry a mark.
  const last = content.findLastIndex(({ type }) => !type.includes("thinking"));
  if (mark && last >= 0) content[last] = { ...content[last]!, ...CACHE };
  return { role: message.role, content } as MessageParam & { content: object[] };
}

/** As the API names things. */
interface WireBlock {
  type: string;
  [field: string]: unknown;
}

function blockParams(block: Message["content"][number]): WireBlock[] {
  // None may be empty, nor white space alone, and models do answer with a line end beside a call.
  if (block.type === "text") return block.text.trim() === "" ? [] : [{ type: "text", text: block.text }];
  if (block.type === "opaque") return block.provider === "anthropic" ? [block.value as WireBlock] : [];
  const { type } = block;
  // Other servers name their calls as they like, such as `functions.Read:0`; this one refuses that.
  const id = block.id.replace(/[^\w-]/g, "_");
  if (type === "tool_use") return [{ type, id, name: block.name, input: block.input }];
  return [{ type, tool_use_id: id, content: block.content, ...(block.isError && { is_error: true }) }];
}
