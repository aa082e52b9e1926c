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
  say,
  type TextBlock,
  type ToolSpec,
  type ToolUse,
  textOf,
  type Usage,
} from "./ask.ts";
import { MAX_RESULT_CHARS, type ResultLimit, runTools, shareSignal, type Tool, type ToolEvent } from "./tool.ts";

/** All that the provider has been shown. Immutable: a loop returns a new one, so that a fork can share it. */
export interface Conversation {
  /** The system prompt. */
  system: readonly SystemBlock[];
  /** The tools that the model could call. */
  tools: readonly ToolSpec[];
  /** Everything said so far, oldest first. */
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

/** What a loop sends to the model, and how it is limited. */
export interface LoopOptions {
  /** The system prompt. */
  system: readonly SystemBlock[];
  /** Ends with a message of the user. */
  messages: readonly Message[];
  /** The tools that the model may call. */
  tools: readonly Tool[];
  /** What the answer must fit, without tools: see AskRequest. */
  schema?: Record<string, unknown>;
  /** A turn is one answer of the model and the tools that it calls. */
  maxTurns: number;
  /** The most tokens that one answer may have. */
  maxTokens: number;
  /** Ends the loop with "aborted". */
  signal?: AbortSignal;
  /** Called for each turn, piece of text, retry and tool call. */
  onEvent?: (event: LoopEvent) => void;
  /** Larger results go to a file through `write`. */
  results?: Partial<ResultLimit>;
  /** What has come up meanwhile and is sent with the tool results. Rejections are ignored. */
  attach?: () => Promise<readonly TextBlock[]>;
  /** Called before every turn but the first: true ends the loop with "paused", to be continued later. */
  pause?: () => boolean;
}

/** What became of a loop. */
export interface LoopResult {
  /** The conversation with what the loop added, ready to be continued or forked. */
  conversation: Conversation;
  /** The messages that this loop added. */
  added: Message[];
  /** Tokens spent by all turns. */
  usage: Usage;
  /** How many answers the model gave or began. */
  turns: number;
  /** Why it ended: "turns" when the limit was reached, "length" when an answer was cut. */
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

/** How a second conversation continues from a first one. */
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
  const prompt: Message = say(options.prompt);
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

/** `take` looks at an answer and says what the model must fix, null if nothing. Must not throw because of the model. */
export async function askTwice(
  ask: Ask,
  options: LoopOptions,
  take: (result: LoopResult) => Promise<string | null>,
): Promise<LoopResult> {
  const isAnswer = ({ ended }: LoopResult) => ended === "done" || ended === "length" || ended === "turns";
  const first = await runAgentLoop(ask, options);
  const correction = isAnswer(first) ? await take(first) : null;
  if (correction === null) return first;
  const messages = withMessage(first.conversation.messages, correction);
  const second = await runAgentLoop(ask, { ...options, messages, maxTurns: 1 });
  if (isAnswer(second)) await take(second);
  return { ...second, usage: addUsage(first.usage, second.usage), turns: first.turns + second.turns };
}

/** After tool results the text goes into the same message, because roles must alternate. */
function withMessage(messages: readonly Message[], text: string): Message[] {
  const last = messages.at(-1);
  if (last?.role !== "user") return [...messages, say(text)];
  return [...messages.slice(0, -1), { role: "user", content: [...last.content, { type: "text", text }] }];
}
