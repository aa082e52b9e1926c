/** OpenAI's chat completions through its own SDK, for every compatible endpoint: Ollama, vLLM, OpenRouter, LM Studio. */

import type {
  ChatCompletionChunk,
  ChatCompletionCreateParamsStreaming,
  ChatCompletionMessageParam,
} from "openai/resources/chat/completions";
import { type Ask, type AskRequest, type Block, type Message, NO_USAGE, splitUsage } from "./ask.ts";
import {
  type Endpoint,
  openProvider,
  type ProviderOptions,
  parseToolInput,
  type Reading,
  stopOf,
  wellFormed,
} from "./exchange.ts";

/** Loads the SDK, which takes a while; rejects only if the installation is broken. */
export async function openOpenai(options: ProviderOptions): Promise<Ask> {
  const { OpenAI } = await import("openai");
  return openProvider(
    {
      title: "OpenAI",
      // With the `/v1`.
      baseUrl: "https://api.openai.com/v1",
      keyVariable: "OPENAI_API_KEY",
      urlVariable: "OPENAI_BASE_URL",
      // Nothing is sent while a model loads or thinks, which takes minutes on a small machine. Node's fetch waits as long.
      maxSilenceMs: 300_000,
      reading: ({ messages, onText }) => readOpenaiStream(messages.length, onText),
      send: (request, endpoint, { timeout, fetch, signal }) => {
        const { apiKey, baseUrl } = endpoint;
        // The SDK insists on a key.
        const server = { apiKey: apiKey || "none", baseURL: baseUrl, logLevel: "off", fetch } as const;
        const unset = { adminAPIKey: null, organization: null, project: null, webhookSecret: null };
        const client = new OpenAI({ ...server, ...unset, maxRetries: 0, timeout });
        return client.chat.completions.create(wellFormed(openaiBody(endpoint, request)), { signal }).withResponse();
      },
    },
    options,
  );
}

function openaiBody({ model, baseUrl }: Endpoint, request: AskRequest): ChatCompletionCreateParamsStreaming {
  const { system, messages, tools = [], maxTokens } = request;
  const instructions = system
    .map(({ text }) => text)
    .filter((text) => text !== "")
    .join("\n\n");
  return {
    model,
    // OpenAI's newer models refuse the old name; many other servers know only that one.
    ...(new URL(baseUrl).hostname === "api.openai.com"
      ? { max_completion_tokens: maxTokens }
      : { max_tokens: maxTokens }),
    ...(tools.length > 0 && {
      tools: tools.map(({ name, description, schema }) => ({
        type: "function" as const,
        function: { name, description, parameters: { type: "object", ...schema } },
      })),
    }),
    messages: [
      ...(instructions === "" ? [] : [{ role: "system" as const, content: instructions }]),
      ...joinUsers(messages.flatMap(messageParams)),
    ],
    stream: true,
    stream_options: { include_usage: true },
  };
}

/** Joins consecutive user messages, as after a summary: the chat templates of many local models refuse them. */
function joinUsers(messages: readonly ChatCompletionMessageParam[]): ChatCompletionMessageParam[] {
  const joined: ChatCompletionMessageParam[] = [];
  for (const message of messages) {
    const last = joined.at(-1);
    if (last?.role === "user" && message.role === "user") {
      joined[joined.length - 1] = { role: "user", content: `${last.content}\n\n${message.content}` };
    } else joined.push(message);
  }
  return joined;
}

/** One of our messages may be several there: each tool result is its own. Texts are joined, as not every server accepts lists. */
function messageParams({ role, content }: Message): ChatCompletionMessageParam[] {
  const text = content
    .flatMap((block) => (block.type === "text" && block.text !== "" ? [block.text] : []))
    .join(role === "user" ? "\n\n" : "");
  if (role === "user") {
    const results = content.flatMap((block): ChatCompletionMessageParam[] =>
      block.type === "tool_result"
        ? [{ role: "tool", tool_call_id: block.id, content: block.isError ? `Error: ${block.content}` : block.content }]
        : [],
    );
    return text === "" ? results : [...results, { role: "user", content: text }];
  }
  const calls = content
    .filter((block) => block.type === "tool_use")
    .map(({ id, name, input }) => ({
      id,
      type: "function" as const,
      function: { name, arguments: JSON.stringify(input) },
    }));
  if (text === "" && calls.length === 0) return [];
  return [{ role: "assistant", content: text || null, ...(calls.length > 0 && { tool_calls: calls }) }];
}

interface GrowingCall {
  index: number | undefined;
  id: string;
  name: string;
  json: string;
}

/** `turn` distinguishes the calls of one conversation when the server gives them no ids. */
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
      const { prompt_tokens: input, completion_tokens: output, prompt_tokens_details: cached } = counted ?? {};
      const [cacheRead, cacheWrite] = [cached?.cached_tokens, cached?.cache_write_tokens];
      if (counted) usage = splitUsage({ input, output, cacheRead, cacheWrite });
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
      // Some servers say "stop" although they call tools.
      const stop = stopOf(content, { cut: finish === "length", refused: refused || finish === "content_filter" });
      return { ok: true, content, stop, usage };
    },
  };
}

type Fragment = NonNullable<ChatCompletionChunk.Choice.Delta["tool_calls"]>[number];

/** Most servers number the calls; some leave the number out or repeat it, and distinguish calls by id. */
function addFragment(calls: GrowingCall[], { index, id, function: part }: Fragment): void {
  const last = calls.findLast((call) => index === undefined || call.index === index);
  const isNew = !last || (id !== undefined && id !== "" && last.id !== "" && id !== last.id);
  const call = isNew ? { index, id: id ?? "", name: "", json: "" } : last;
  if (isNew) calls.push(call);
  call.id ||= id ?? "";
  if (part?.name && call.name !== part.name) call.name += part.name;
  call.json += part?.arguments ?? "";
}
