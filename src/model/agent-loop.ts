/** The agent loop: ask, run the tools that are called, ask again, until the model is done or something ends it. */

import { attempt } from "../errors.ts";
import {
  type Ask,
  type AskError,
  addUsage,
  type Block,
  type Message,
  NO_USAGE,
  type Retry,
  type SystemBlock,
  type TextBlock,
  type ToolSpec,
  type ToolUse,
  textOf,
  type Usage,
} from "./ask.ts";
import { MAX_RESULT_CHARS, type ResultLimit, runTools, shareSignal, type Tool, type ToolEvent } from "./tool.ts";

/** All that the provider has been shown. Immutable: a loop returns a new one, so that a fork can share it. */
export interface Conversation {
  system: readonly SystemBlock[];
  tools: readonly ToolSpec[];
  messages: readonly Message[];
  /** How many of the messages the last request held: what the provider's cache may know. */
  sent: number;
}

export type LoopEvent =
  | { type: "turn"; turn: number }
  | { type: "text"; delta: string }
  /** The texts of this turn are void, and it starts again. */
  | ({ type: "retry" } & Retry)
  /** A message was added to the conversation: what a transcript keeps. */
  | { type: "message"; message: Message; usage?: Usage; stop?: string }
  | ToolEvent
  | { type: "usage"; usage: Usage };

export interface LoopOptions {
  system: readonly SystemBlock[];
  /** Ends with a message of the user. */
  messages: readonly Message[];
  tools: readonly Tool[];
  /** What the answer must fit, without tools: see AskRequest. */
  schema?: Record<string, unknown>;
  /** A turn is one answer of the model and the tools that it calls. */
  maxTurns: number;
  maxTokens: number;
  signal?: AbortSignal;
  onEvent?: (event: LoopEvent) => void;
  /** Larger results go to a file through `write`. */
  results?: Partial<ResultLimit>;
  /** What has come up meanwhile and is sent with the tool results. Rejections are ignored. */
  attach?: () => Promise<readonly TextBlock[]>;
  /** Called before every turn but the first: true ends the loop with "paused", to be continued later. */
  pause?: () => boolean;
}

export interface LoopResult {
  conversation: Conversation;
  /** The messages that this loop added. */
  added: Message[];
  usage: Usage;
  turns: number;
  ended: "done" | "turns" | "paused" | "aborted" | "length" | "refused" | "error";
  /** Set with "error", and with "aborted" if the model was answering. */
  error?: AskError;
  /** The model's last text; after a failure, as much of it as had arrived. */
  text: string;
}

/** Must not throw. Its messages can always be sent again: no call is left without a result. */
export function runAgentLoop(ask: Ask, options: LoopOptions): Promise<LoopResult> {
  return loop(ask, { ...options, specs: options.tools.map(specOf), shared: 0 });
}

export interface ForkOptions extends Omit<LoopOptions, "system" | "messages"> {
  /** What the second conversation is asked. */
  prompt: string;
}

/**
 * A second conversation that starts where another is; nothing of it flows back. Must not throw.
 * The provider caches tools, then system, then messages, so the prefix is sent byte for byte, including the other's tool
 * declarations. Tools that are not in `tools` are refused when they are called. A tool that the other did not have is
 * declared after them, which works but loses the cache.
 */
export function fork(ask: Ask, from: Conversation, options: ForkOptions): Promise<LoopResult> {
  const known = new Set(from.tools.map(({ name }) => name));
  const specs = [...from.tools, ...options.tools.filter(({ name }) => !known.has(name)).map(specOf)];
  const prompt: Message = { role: "user", content: [{ type: "text", text: options.prompt }] };
  const messages = [...from.messages, prompt];
  return loop(ask, { ...options, system: from.system, messages, specs, shared: from.sent });
}

interface Loop extends LoopOptions {
  /** What is declared; `tools` is what can be run. */
  specs: readonly ToolSpec[];
  /** How many messages of another conversation the provider's cache may know. */
  shared: number;
}

async function loop(ask: Ask, options: Loop): Promise<LoopResult> {
  const { system, specs, tools, maxTurns, maxTokens, shared } = options;
  const limit: ResultLimit = { maxChars: MAX_RESULT_CHARS, ...options.results };
  const signal = shareSignal(options.signal);
  const emit = quietly<LoopEvent>(options.onEvent);
  const messages = [...options.messages];
  let sent = 0;
  let usage = NO_USAGE;
  let text = "";
  let turns = 0;

  const add = (message: Message, more: { usage?: Usage; stop?: string } = {}) => {
    if (message.content.length === 0) return;
    messages.push(message);
    emit({ type: "message", message, ...more });
  };
  const end = (ended: LoopResult["ended"], error?: AskError): LoopResult => ({
    conversation: { system, tools: specs, messages: [...messages], sent },
    added: messages.slice(options.messages.length),
    usage,
    turns,
    ended,
    ...(error && { error }),
    text,
  });

  while (turns < maxTurns) {
    if (signal.aborted) return end("aborted");
    if (turns > 0 && options.pause?.()) return end("paused");
    emit({ type: "turn", turn: ++turns });
    sent = messages.length;
    const answer = await ask({
      system,
      messages: [...messages],
      tools: specs,
      ...(options.schema && { schema: options.schema }),
      maxTokens,
      cacheAt: shared > 0 ? [shared - 1, sent - 1] : [sent - 1],
      signal,
      onText: (delta) => emit({ type: "text", delta }),
      onRetry: (retry) => {
        usage = addUsage(usage, retry.spent);
        emit({ type: "retry", ...retry });
      },
    });
    const spent = answer.ok ? answer.usage : (answer.partial?.usage ?? NO_USAGE);
    usage = addUsage(usage, spent);
    emit({ type: "usage", usage: spent });
    if (!answer.ok) {
      text = answer.partial?.text ?? "";
      return end(answer.error.kind === "aborted" ? "aborted" : "error", answer.error);
    }

    text = textOf(answer.content);
    const calls = answer.content.filter((block): block is ToolUse => block.type === "tool_use");
    if (answer.stop !== "tools" || calls.length === 0) {
      add({ role: "assistant", content: withoutCalls(answer.content) }, { usage: spent, stop: answer.stop });
      return end(answer.stop === "length" || answer.stop === "refused" ? answer.stop : "done");
    }
    add({ role: "assistant", content: answer.content }, { usage: spent, stop: answer.stop });
    const results = await runTools(calls, tools, signal, limit, emit);
    // Reminders are helpful, but their failure must not cost the tool results.
    const attached = (await options.attach?.().catch(() => [])) ?? [];
    add({ role: "user", content: [...results, ...attached] });
  }
  return end(signal.aborted ? "aborted" : "turns");
}

/** Calls that will not be run must not stay; and thinking or white space alone is not a message. */
function withoutCalls(content: readonly Block[]): Block[] {
  const kept = content.filter(({ type }) => type !== "tool_use");
  return kept.some((block) => block.type === "text" && block.text.trim() !== "") ? kept : [];
}

function specOf({ name, description, schema }: Tool): ToolSpec {
  return { name, description, schema };
}

/** A listener that throws must not end a conversation: it is its own error, and there is nowhere to report it. */
export function quietly<E>(listen: (event: E) => void = () => {}): (event: E) => void {
  return (event) => attempt(() => listen(event), undefined);
}
