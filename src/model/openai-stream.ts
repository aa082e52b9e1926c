/** The chunks of a chat completion, folded into an answer; servers differ in how they cut tool calls into fragments. */

import type { ChatCompletionChunk } from "openai/resources/chat/completions";
import type { Block, Usage } from "./ask.ts";
import { NO_USAGE } from "./ask.ts";
import type { Reading } from "./exchange.ts";
import { parseToolInput } from "./tool-input.ts";

interface GrowingCall {
  index: number | undefined;
  id: string;
  name: string;
  json: string;
}

/** `turn` tells the calls of one conversation apart where the server gives them no ids. */
export function readOpenaiStream(
  turn: number,
  onText: (delta: string) => void = () => {},
): Reading<ChatCompletionChunk> {
  const calls: GrowingCall[] = [];
  let text = "";
  let refused = false;
  let usage = NO_USAGE;
  let finish: string | null = null;

  return {
    text: () => text,
    usage: () => usage,
    take: ({ choices, usage: counted }) => {
      if (counted) usage = usageOf(counted);
      const choice = choices?.[0];
      if (!choice) return;
      const { content, refusal, tool_calls: fragments } = choice.delta ?? {};
      if (refusal) refused = true;
      const said = `${content ?? ""}${refusal ?? ""}`;
      if (said !== "") {
        text += said;
        onText(said);
      }
      for (const fragment of fragments ?? []) addFragment(calls, fragment);
      finish = choice.finish_reason ?? finish;
    },
    answer: () => {
      if (finish === null) return null;
      const content: Block[] = text === "" ? [] : [{ type: "text", text }];
      for (const [n, { id, name, json }] of calls.entries()) {
        content.push({ type: "tool_use", id: id || `call_${turn}_${n}`, name, ...parseToolInput(json) });
      }
      return { ok: true, content, stop: stopOf(finish, refused, calls.length > 0), usage };
    },
  };
}

type Fragment = NonNullable<ChatCompletionChunk.Choice.Delta["tool_calls"]>[number];

/** Most servers number the calls; some leave the number out or give every call the same one, and tell them apart by id. */
function addFragment(calls: GrowingCall[], { index, id, function: part }: Fragment): void {
  const last = calls.findLast((call) => index === undefined || call.index === index);
  const isNew = !last || (id !== undefined && id !== "" && last.id !== "" && id !== last.id);
  const call = isNew ? { index, id: id ?? "", name: "", json: "" } : last;
  if (isNew) calls.push(call);
  call.id ||= id ?? "";
  if (part?.name && call.name !== part.name) call.name += part.name;
  call.json += part?.arguments ?? "";
}

/** Some servers say "stop" although they ask for tools. */
function stopOf(finish: string, refused: boolean, asksForTools: boolean): "end" | "tools" | "length" | "refused" {
  if (finish === "length") return "length";
  if (finish === "content_filter" || refused) return "refused";
  return asksForTools ? "tools" : "end";
}

/** Their count of the input includes what came from the cache; ours does not. */
function usageOf(wire: NonNullable<ChatCompletionChunk["usage"]>): Usage {
  const cacheRead = wire.prompt_tokens_details?.cached_tokens ?? 0;
  const cacheWrite = wire.prompt_tokens_details?.cache_write_tokens ?? 0;
  const input = Math.max(0, (wire.prompt_tokens ?? 0) - cacheRead - cacheWrite);
  return { input, output: wire.completion_tokens ?? 0, cacheRead, cacheWrite };
}
