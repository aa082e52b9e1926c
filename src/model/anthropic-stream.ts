/** The events of Anthropic's stream, folded into an answer. */

import type { RawMessageStreamEvent } from "@anthropic-ai/sdk/resources/messages";
import type { Block, Usage } from "./ask.ts";
import { NO_USAGE } from "./ask.ts";
import type { Reading } from "./exchange.ts";
import { parseToolInput } from "./tool-input.ts";

/** A block as it grows; `json` is a tool's input so far. */
interface Growing {
  value: Record<string, unknown> & { type: string };
  json: string;
}

export function readAnthropicStream(onText: (delta: string) => void = () => {}): Reading<RawMessageStreamEvent> {
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
          usage = mergeUsage(usage, event.message.usage);
          break;
        case "content_block_start":
          blocks.set(event.index, { value: { ...event.content_block } as unknown as Growing["value"], json: "" });
          break;
        case "content_block_delta": {
          const block = blocks.get(event.index);
          if (block) grow(block, event.delta, onText);
          break;
        }
        case "message_delta":
          usage = mergeUsage(usage, event.usage);
          stop = event.delta.stop_reason ?? stop;
          break;
      }
    },
    answer: () => {
      if (stop === null) return null;
      const content = [...blocks.values()].flatMap(blockOf);
      return { ok: true, content, stop: stopOf(stop, content), usage };
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
  if (value.type === "thinking" || value.type === "redacted_thinking") {
    return [{ type: "opaque", provider: "anthropic", value }];
  }
  return []; // of tools that run at the provider, and we offer none
}

function stopOf(reason: string, content: readonly Block[]): "end" | "tools" | "length" | "refused" {
  if (reason === "max_tokens" || reason === "model_context_window_exceeded") return "length";
  if (reason === "refusal") return "refused";
  return content.some(({ type }) => type === "tool_use") ? "tools" : "end";
}

type WireUsage = Partial<
  Record<
    "input_tokens" | "output_tokens" | "cache_read_input_tokens" | "cache_creation_input_tokens",
    number | null | undefined
  >
>;

/** The counts of later events are running totals; a field that is missing keeps its value. */
function mergeUsage(usage: Usage, wire: WireUsage | undefined): Usage {
  return {
    input: wire?.input_tokens ?? usage.input,
    output: wire?.output_tokens ?? usage.output,
    cacheRead: wire?.cache_read_input_tokens ?? usage.cacheRead,
    cacheWrite: wire?.cache_creation_input_tokens ?? usage.cacheWrite,
  };
}
