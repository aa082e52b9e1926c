/** What fills the model's window, part by part, in bytes and in estimated tokens. */

import type { Conversation } from "../model/agent-loop.ts";
import type { Message } from "../model/ask.ts";
import { approximateTokens } from "../model/cost.ts";
import { MEMORY_SECTION } from "./system-prompt.ts";

/** In the order in which they are shown. */
export const WINDOW_PARTS = [
  "system prompt",
  "memory section",
  "tools",
  "instructions",
  "memory index",
  "environment",
  "recalled memories",
  "attachments",
  "files and tool results",
  "what was said",
  "reserved for the answer",
] as const;

type PartName = (typeof WINDOW_PARTS)[number];

interface WindowPart {
  name: PartName;
  text: string;
  /** Set when the count is known, so that the text is not counted. */
  tokens?: number;
}

/** How much of the model's window each part takes, in tokens and bytes. */
export type WindowView = ReturnType<typeof measureWindow>;

/** `used` is the provider's count of the last request: input, cached and output. The parts are then scaled to that total. */
export function measureWindow(parts: readonly WindowPart[], windowTokens: number, used = 0) {
  const guesses = parts.map(({ text, tokens }) => (tokens === undefined ? approximateTokens(text) : 0));
  const guessed = sum(guesses);
  const isCounted = used > 0 && guessed > 0;
  const factor = isCounted ? used / guessed : 1;
  const shareOf = (tokens: number) => (windowTokens > 0 ? tokens / windowTokens : 0);
  const reserved = sum(parts.map(({ tokens = 0 }) => tokens));
  const totalTokens = reserved + (isCounted ? used : guessed);
  const measured = parts.map(({ name, text, tokens: known }, i) => {
    const tokens = known ?? Math.round((guesses[i] ?? 0) * factor);
    /** The share of the window is from 0 to 1; more when the part alone is larger. */
    return { name, bytes: Buffer.byteLength(text), tokens, share: shareOf(tokens) };
  });
  return {
    parts: measured,
    windowTokens,
    /** All parts together, including what is reserved. */
    totalTokens,
    totalBytes: sum(measured.map(({ bytes }) => bytes)),
    freeTokens: Math.max(0, windowTokens - totalTokens),
    share: shareOf(totalTokens),
    /** Whether the total is the provider's own count. */
    isCounted,
  };
}

/** Everything that a conversation shows the model, sorted by part; empty parts are left out. `reserved` tokens are kept free for the answer. */
export function partsOf(
  {
    sections,
    tools,
    messages,
  }: Pick<Conversation, "tools" | "messages"> & { sections: readonly { name: string; text: string }[] },
  reserved = 0,
): WindowPart[] {
  const texts = new Map<PartName, string[]>(WINDOW_PARTS.map((name) => [name, []]));
  const add = (name: PartName, text: string) => texts.get(name)?.push(text);
  for (const { name, text } of sections) add(name === MEMORY_SECTION ? "memory section" : "system prompt", text);
  if (tools.length > 0) add("tools", JSON.stringify(tools));
  for (const { content } of messages) for (const block of content) add(partOf(block), wordsOf(block));
  const filled = [...texts]
    .map(([name, list]): WindowPart => ({ name, text: list.join("\n") }))
    .filter(({ text }) => text !== "");
  return reserved > 0 ? [...filled, { name: "reserved for the answer", text: "", tokens: reserved }] : filled;
}

/** Any other kind counts as an attachment. */
const PART_OF_ATTACHMENT: ReadonlyMap<string, PartName> = new Map([
  ["instructions", "instructions"],
  ["nested-instructions", "instructions"],
  ["memory-index", "memory index"],
  ["environment", "environment"],
  ["memories", "recalled memories"],
  ["file", "files and tool results"],
]);

type AnyBlock = Message["content"][number];

function partOf(block: AnyBlock): PartName {
  if (block.type === "tool_result" || block.type === "tool_use") return "files and tool results";
  if (block.type === "opaque" || block.attachment === undefined) return "what was said";
  return PART_OF_ATTACHMENT.get(block.attachment) ?? "attachments";
}

function wordsOf(block: AnyBlock): string {
  if (block.type === "text") return block.text;
  if (block.type === "tool_result") return block.content;
  if (block.type === "tool_use") return `${block.name} ${JSON.stringify(block.input)}`;
  return JSON.stringify(block.value) ?? "";
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
