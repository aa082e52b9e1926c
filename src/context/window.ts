/** What fills the model's window, part by part, in bytes and in estimated tokens. */

import type { Block, Message, SystemBlock, TextBlock, ToolResult, ToolSpec } from "../model/ask.ts";
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

interface MeasuredPart {
  name: PartName;
  bytes: number;
  tokens: number;
  /** Its share of the window, from 0 to 1; more when the part alone is larger. */
  share: number;
}

export interface WindowView {
  parts: MeasuredPart[];
  windowTokens: number;
  /** All parts together, including what is reserved. */
  totalTokens: number;
  totalBytes: number;
  freeTokens: number;
  share: number;
  /** Whether the total is the provider's own count. */
  isCounted: boolean;
}

/** `used` is the provider's count of the last request: input, cached and output. The parts are then scaled to that total. */
export function measureWindow(
  parts: readonly WindowPart[],
  windowTokens: number,
  used?: { tokens: number },
): WindowView {
  const rough = parts.map(({ name, text, tokens }) => ({
    name,
    bytes: Buffer.byteLength(text),
    tokens: tokens ?? approximateTokens(text),
    isKnown: tokens !== undefined,
  }));
  const guessed = sum(rough.filter(({ isKnown }) => !isKnown).map(({ tokens }) => tokens));
  const reserved = sum(rough.filter(({ isKnown }) => isKnown).map(({ tokens }) => tokens));
  const isCounted = used !== undefined && used.tokens > 0 && guessed > 0;
  const factor = isCounted ? used.tokens / guessed : 1;
  const shareOf = (tokens: number) => (windowTokens > 0 ? tokens / windowTokens : 0);
  const totalTokens = reserved + (isCounted ? used.tokens : guessed);
  return {
    parts: rough.map(({ name, bytes, tokens, isKnown }) => {
      const shown = isKnown ? tokens : Math.round(tokens * factor);
      return { name, bytes, tokens: shown, share: shareOf(shown) };
    }),
    windowTokens,
    totalTokens,
    totalBytes: sum(rough.map(({ bytes }) => bytes)),
    freeTokens: Math.max(0, windowTokens - totalTokens),
    share: shareOf(totalTokens),
    isCounted,
  };
}

/**
 * An estimate, within about a quarter of what tokenizers count: four ASCII characters are a token in English and code, a
 * character of Chinese, Japanese or Korean is about one, and so are two units of any other script or of an emoji.
 */
export function approximateTokens(text: string): number {
  // Nearly all text is ASCII: the engine counts its bytes many times faster than a loop.
  if (Buffer.byteLength(text) === text.length) return Math.ceil(text.length / 4);
  let [ascii, cjk, other] = [0, 0, 0];
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 0x80) ascii++;
    else if (isCjk(unit)) cjk++;
    else other++;
  }
  return Math.ceil(ascii / 4 + cjk + other / 2);
}

/** Kana, ideographs, Hangul, and their full-width marks. Rarer ideographs are two units, which count as other: one token too. */
function isCjk(unit: number): boolean {
  return (
    (unit >= 0x3000 && unit <= 0x9fff) ||
    (unit >= 0xac00 && unit <= 0xd7a3) ||
    (unit >= 0xf900 && unit <= 0xfaff) ||
    (unit >= 0xff00 && unit <= 0xffef)
  );
}

export interface Shown {
  system: readonly SystemBlock[];
  tools: readonly ToolSpec[];
  messages: readonly Message[];
}

interface PartOptions {
  /** The system prompt's own parts, to separate the memory section from the rest. */
  sections?: readonly { name: string; text: string }[];
  /** Tokens that are reserved for the answer. */
  reserved?: number;
}

/** Everything that a conversation shows the model, sorted by part; empty parts are left out. */
export function partsOf(conversation: Shown, options: PartOptions = {}): WindowPart[] {
  const texts = new Map<PartName, string[]>();
  const add = (name: PartName, text: string) => {
    const list = texts.get(name);
    if (list) list.push(text);
    else texts.set(name, [text]);
  };
  const { system, tools, messages } = conversation;
  const sections = options.sections?.length ? options.sections : system.map(({ text }) => ({ name: "", text }));
  for (const { name, text } of sections) {
    add(name === MEMORY_SECTION ? "memory section" : "system prompt", text);
  }
  if (tools.length > 0) add("tools", JSON.stringify(tools));
  for (const { content } of messages) for (const block of content) add(partOf(block), wordsOf(block));
  const parts = WINDOW_PARTS.map((name): WindowPart => ({ name, text: (texts.get(name) ?? []).join("\n") }));
  const filled = parts.filter(({ text }) => text !== "");
  const { reserved = 0 } = options;
  return reserved > 0 ? [...filled, { name: "reserved for the answer", text: "", tokens: reserved }] : filled;
}

/** Any other kind counts as an attachment. */
const PART_OF_ATTACHMENT: Readonly<Record<string, PartName>> = {
  instructions: "instructions",
  "nested-instructions": "instructions",
  "memory-index": "memory index",
  environment: "environment",
  memories: "recalled memories",
  file: "files and tool results",
};

type AnyBlock = Block | ToolResult | TextBlock;

function partOf(block: AnyBlock): PartName {
  if (block.type === "tool_result" || block.type === "tool_use") return "files and tool results";
  if (block.type === "opaque" || block.attachment === undefined) return "what was said";
  return Object.hasOwn(PART_OF_ATTACHMENT, block.attachment)
    ? (PART_OF_ATTACHMENT[block.attachment] as PartName)
    : "attachments";
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
