/** The one interface to a model: a conversation goes in, its next message comes out, and failure is a value. */

import { isObject } from "../errors.ts";

/** `cache` asks the provider to keep everything up to and including this block. */
export interface SystemBlock {
  text: string;
  cache?: boolean;
}

export interface TextBlock {
  type: "text";
  text: string;
  /** The kind of reminder, if the program added it. Not sent. */
  attachment?: string;
}

export interface ToolUse {
  type: "tool_use";
  id: string;
  name: string;
  input: Record<string, unknown>;
  /** Why `input` is empty although the model sent something: it was not a JSON object. Such a call must not be run. */
  problem?: string;
}

/** What a provider wants back unchanged in the next request (its signed thinking): kept, never shown. */
interface OpaqueBlock {
  type: "opaque";
  provider: string;
  value: unknown;
}

export interface ToolResult {
  type: "tool_result";
  /** The `id` of the call that it answers. */
  id: string;
  content: string;
  isError?: boolean;
}

export type Block = TextBlock | ToolUse | OpaqueBlock;

/** A block as Anthropic's API and the transcripts of Claude Code have it. */
export interface WireBlock {
  type: string;
  [field: string]: unknown;
}

/** After a message with tool calls comes a user message that starts with the results of all of them. */
export type Message =
  | { role: "user"; content: readonly (ToolResult | TextBlock)[] }
  | { role: "assistant"; content: readonly Block[] };

export interface ToolSpec {
  name: string;
  description: string;
  /** The JSON Schema of an object. */
  schema: Record<string, unknown>;
}

/** One request to a model. */
export interface AskRequest {
  /** The system prompt, in blocks that may be cached. */
  system: readonly SystemBlock[];
  /** The conversation so far, oldest first. */
  messages: readonly Message[];
  /** The tools that the model may call. */
  tools?: readonly ToolSpec[];
  /** The JSON Schema that the answer must fit; the answer's text is then one JSON value. Not together with tools. */
  schema?: Record<string, unknown>;
  /** The longest answer. */
  maxTokens: number;
  /** Indexes of messages up to which the provider is asked to cache. At most two are used, as a request may have four marks. */
  cacheAt?: readonly number[];
  /** Ends the request; the answer is then an error of kind "aborted". */
  signal?: AbortSignal;
  /** Like `onRetry`, must not throw. */
  onText?: (delta: string) => void;
  /** The answer starts again: what `onText` reported so far is void. */
  onRetry?: (retry: Retry) => void;
}

export interface Retry {
  /** The number of the failed attempt, from 1. */
  attempt: number;
  waitMs: number;
  error: AskError;
  /** What the failed attempt cost; it is not in the usage of the answer. */
  spent: Usage;
}

/** Tokens that requests cost. */
export interface Usage {
  /** Tokens sent that were neither read from a cache nor written to it. */
  input: number;
  /** Tokens that the model wrote. */
  output: number;
  /** Tokens sent that the provider had cached. */
  cacheRead: number;
  /** Tokens sent that the provider cached now. */
  cacheWrite: number;
}

/** Why a model did not answer. */
export interface AskError {
  /** What kind of failure it is. */
  kind: "auth" | "rate" | "overloaded" | "network" | "timeout" | "aborted" | "bad-request" | "bad-answer";
  /** Says how to fix it. Never contains a key. */
  message: string;
  /** Whether the same request may succeed later. */
  retriable: boolean;
  /** How long the provider asks us to wait. */
  retryAfterMs?: number;
  /** The provider says that the request is longer than the model can take. */
  isTooLong?: boolean;
}

/** The model's next message, or why there is none. */
export type AskAnswer =
  | {
      ok: true;
      /** The message's texts and tool calls, in order. */
      content: Block[];
      /** "tools" exactly if calls are to be answered; at "length" the last block may be cut, and no call is certain to be complete. */
      stop: "end" | "tools" | "length" | "refused";
      /** Tokens that the request cost. */
      usage: Usage;
    }
  | {
      ok: false;
      /** What went wrong and whether to try again. */
      error: AskError;
      /** What had arrived before it failed, and what that cost. */
      partial?: { text: string; usage: Usage };
    };

/** Must not throw or reject; ends soon after the signal aborts. Equal requests send equal bytes. */
export type Ask = (request: AskRequest) => Promise<AskAnswer>;

export const NO_USAGE: Usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };

export const TOKEN_KINDS = ["input", "output", "cacheRead", "cacheWrite"] as const;

export function makeUsage(countOf: (kind: keyof Usage) => number): Usage {
  return Object.fromEntries(TOKEN_KINDS.map((kind) => [kind, countOf(kind)])) as unknown as Usage;
}

/** As Anthropic's API names them. */
export const WIRE_TOKENS: Readonly<Record<keyof Usage, string>> = {
  input: "input_tokens",
  output: "output_tokens",
  cacheRead: "cache_read_input_tokens",
  cacheWrite: "cache_creation_input_tokens",
};

/** What is missing, or not a count, is as it was before. */
export function readUsage(wire: unknown, before: Usage = NO_USAGE): Usage {
  const given = (wire ?? {}) as Record<string, unknown>;
  return makeUsage((kind) => countOf(given[WIRE_TOKENS[kind]], before[kind]));
}

/** For programs that count what came from the cache or went into it as sent, too. What is missing, or not a count, is nothing. */
export function splitUsage(given: Partial<Record<keyof Usage, unknown>>): Usage {
  const usage = makeUsage((kind) => countOf(given[kind]));
  return { ...usage, input: Math.max(0, usage.input - usage.cacheRead - usage.cacheWrite) };
}

export function countOf(value: unknown, otherwise = 0): number {
  return typeof value === "number" && value >= 0 && Number.isFinite(value) ? value : otherwise;
}

export function usedNothing({ input, output, cacheRead, cacheWrite }: Usage): boolean {
  return input + output + cacheRead + cacheWrite === 0;
}

export function addUsage(a: Usage, b: Usage): Usage {
  return makeUsage((kind) => a[kind] + b[kind]);
}

export function textOf(content: readonly { type: string; text?: string }[]): string {
  return content.map((block) => (block.type === "text" ? (block.text ?? "") : "")).join("");
}

/** What a person or a program says to the model. */
export function say(text: string): Message {
  return { role: "user", content: [{ type: "text", text }] };
}

/** What a call's `problem` says is for the loop alone: by the time the call is sent or written it has been answered. */
export function wireBlock(block: Message["content"][number]): WireBlock {
  const { type } = block;
  if (type === "text") return { type, text: block.text };
  if (type === "tool_use") return { type, id: block.id, name: block.name, input: block.input };
  if (type === "opaque")
    return block.provider === "anthropic" && isThinking(block.value) ? (block.value as WireBlock) : { ...block };
  return { type, tool_use_id: block.id, content: block.content, ...(block.isError && { is_error: true }) };
}

export function isThinking(value: unknown): boolean {
  return isObject(value) && (value.type === "thinking" || value.type === "redacted_thinking");
}
