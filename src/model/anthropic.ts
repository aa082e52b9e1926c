/** Anthropic's Messages API through its own SDK: streaming, tools, prompt caching. */

import type {
  MessageCreateParamsStreaming,
  MessageParam,
  RawMessageStreamEvent,
} from "@anthropic-ai/sdk/resources/messages";
import {
  type Ask,
  type AskRequest,
  type Block,
  isThinking,
  type Message,
  NO_USAGE,
  readUsage,
  type WireBlock,
  wireBlock,
} from "./ask.ts";
import { openProvider, type ProviderOptions, parseToolInput, type Reading, stopOf, wellFormed } from "./exchange.ts";

/** Loads the SDK, which takes a while; rejects only if the installation is broken. */
export async function openAnthropic(options: ProviderOptions): Promise<Ask> {
  const { Anthropic } = await import("@anthropic-ai/sdk");
  return openProvider(
    {
      title: "Anthropic",
      // Without the `/v1`.
      baseUrl: "https://api.anthropic.com",
      keyVariable: "ANTHROPIC_API_KEY",
      urlVariable: "ANTHROPIC_BASE_URL",
      // The API pings about every ten seconds while it thinks: a minute and a half without a byte is a dead connection.
      maxSilenceMs: 90_000,
      reading: ({ onText }) => readAnthropicStream(onText),
      send: (request, { model, apiKey, baseUrl }, { timeout, fetch, signal }) => {
        const server = { apiKey, baseURL: baseUrl, webhookKey: null, openTelemetry: false, logLevel: "off" } as const;
        const client = new Anthropic({ ...server, maxRetries: 0, timeout, fetch });
        return client.messages.create(wellFormed(anthropicBody(model, request)), { signal }).withResponse();
      },
    },
    options,
  );
}

/** Two cache marks are left for messages: a request may have four, and the system blocks take two at most. */
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
  // Thinking cannot have a cache mark.
  const last = content.findLastIndex(({ type }) => !type.includes("thinking"));
  if (mark && last >= 0) content[last] = { ...content[last]!, ...CACHE };
  return { role: message.role, content } as MessageParam & { content: object[] };
}

function blockParams(block: Message["content"][number]): WireBlock[] {
  // Texts must not be empty or blank, and models do answer with a line end next to a call.
  if (block.type === "text" && block.text.trim() === "") return [];
  if (block.type === "opaque" && block.provider !== "anthropic") return [];
  // Other servers give calls any id, such as `functions.Read:0`; this one refuses that.
  return [wireBlock("id" in block ? { ...block, id: block.id.replace(/[^\w-]/g, "_") } : block)];
}

/** A block as it grows; `json` is a tool's input so far. */
interface Growing {
  value: WireBlock;
  json: string;
}

function readAnthropicStream(onText: (delta: string) => void = () => {}): Reading<RawMessageStreamEvent> {
  const blocks = new Map<number, Growing>();
  let usage = NO_USAGE;
  let stop: string | null = null;

  const text = () =>
    [...blocks.values()].map(({ value }) => (value.type === "text" ? String(value.text ?? "") : "")).join("");

  return {
    text,
    usage: () => usage,
    take: (event) => {
      switch (event.type) {
        case "message_start":
          usage = readUsage(event.message.usage);
          break;
        case "content_block_start":
          blocks.set(event.index, { value: { ...event.content_block } as unknown as WireBlock, json: "" });
          break;
        case "content_block_delta": {
          const block = blocks.get(event.index);
          if (block) grow(block, event.delta, onText);
          break;
        }
        case "message_delta":
          // A running total, in which some counts may be missing.
          usage = readUsage(event.usage, usage);
          stop = event.delta.stop_reason ?? stop;
          break;
      }
    },
    answer: () => {
      if (stop === null) return null;
      const content = [...blocks.values()].flatMap(blockOf);
      const cut = stop === "max_tokens" || stop === "model_context_window_exceeded";
      return { ok: true, content, stop: stopOf(content, { cut, refused: stop === "refusal" }), usage };
    },
  };
}

type Delta = Extract<RawMessageStreamEvent, { type: "content_block_delta" }>["delta"];

function grow(block: Growing, delta: Delta, onText: (delta: string) => void): void {
  const { value } = block;
  switch (delta.type) {
    case "text_delta":
      value.text = `${value.text ?? ""}${delta.text}`;
      onText(delta.text);
      break;
    case "input_json_delta":
      block.json += delta.partial_json;
      break;
    case "thinking_delta":
      value.thinking = `${value.thinking ?? ""}${delta.thinking}`;
      break;
    case "signature_delta":
      value.signature = delta.signature;
      break;
  }
}

function blockOf({ value, json }: Growing): Block[] {
  if (value.type === "text") return value.text ? [{ type: "text", text: String(value.text) }] : [];
  if (value.type === "tool_use") {
    return [{ type: "tool_use", id: String(value.id), name: String(value.name), ...parseToolInput(json) }];
  }
  if (isThinking(value)) return [{ type: "opaque", provider: "anthropic", value }];
  return []; // from tools that run at the provider, and we offer none
}
