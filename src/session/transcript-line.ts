/** A line of a transcript in Claude Code's shape, and how our messages become lines and are read back. */

import { attempt, isObject } from "../errors.ts";
import {
  type Block,
  isThinking,
  type Message,
  NO_USAGE,
  readUsage,
  type TextBlock,
  TOKEN_KINDS,
  type ToolResult,
  type Usage,
  WIRE_TOKENS,
  type WireBlock,
  wireBlock,
} from "../model/ask.ts";

/** Anything with a type: most kinds of line belong to other programs and are skipped. */
export interface TranscriptLine {
  type: string;
  [field: string]: unknown;
}

type UserBlock = ToolResult | TextBlock;

/** One message as lines: its own, then one for each reminder that the program added to it. */
type Part =
  | { type: "user" | "assistant"; message: Record<string, unknown> }
  /** `index` is the position in the message's content; `starts` marks the first line of a message that has only reminders. */
  | { type: "attachment"; attachment: { type: string; content: string }; index: number; starts?: true };

export interface MessageFacts {
  id: string;
  model: string;
  usage?: Usage | undefined;
  stop?: string | undefined;
}

/** Null for anything but a JSON object with a type: half a line, another program's output. */
export function parseLine(text: string): TranscriptLine | null {
  const value = parseRecord(text);
  if (!value) return null;
  // Seed 001 says where its transcripts are, but not their format; a plain message is most likely.
  if (typeof value.type !== "string" && isRole(value.role)) return { type: value.role, message: value };
  if (isRole(value.type) && !isObject(value.message) && value.content !== undefined) {
    return { ...value, type: value.type, message: { role: value.type, content: value.content } };
  }
  return typeof value.type === "string" ? (value as TranscriptLine) : null;
}

/** Null for anything but a JSON object. An editor may have put a byte order mark before the first line. */
export function parseRecord(text: string): Record<string, unknown> | null {
  const value = attempt<unknown, null>(() => JSON.parse(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text), null);
  return isObject(value) ? value : null;
}

export function formatLine(line: TranscriptLine): string {
  return `${JSON.stringify(line)}\n`;
}

export function partsOf(message: Message, facts: MessageFacts): Part[] {
  if (message.role === "assistant") return [{ type: "assistant", message: assistantMessage(message.content, facts) }];
  const said = message.content.filter((block) => !isAttachment(block));
  const attachments = message.content.flatMap((block, index): Part[] =>
    isAttachment(block)
      ? [{ type: "attachment", attachment: { type: block.attachment, content: block.text }, index }]
      : [],
  );
  const [first, ...others] = attachments;
  if (said.length === 0 && first?.type === "attachment") return [{ ...first, starts: true }, ...others];
  return [{ type: "user", message: { role: "user", content: userContent(said) } }, ...attachments];
}

/** The blocks of a user line; what cannot be sent again, such as an image, is replaced by its name. */
export function userBlocks(line: TranscriptLine): UserBlock[] {
  return contentOf(line).flatMap((block): UserBlock[] => {
    if (block.type === "text") return typeof block.text === "string" ? [{ type: "text", text: block.text }] : [];
    if (block.type !== "tool_result") return [{ type: "text", text: `[${block.type}, not kept]` }];
    if (typeof block.tool_use_id !== "string") return [];
    const content = resultText(block.content);
    return [{ type: "tool_result", id: block.tool_use_id, content, ...(block.is_error === true && { isError: true }) }];
  });
}

export function assistantBlocks(line: TranscriptLine): Block[] {
  return contentOf(line).flatMap((block): Block[] => {
    const { type, id, name, input, provider } = block;
    if (type === "text") return typeof block.text === "string" ? [{ type, text: block.text }] : [];
    if (type === "tool_use" && typeof id === "string" && typeof name === "string") {
      return [{ type, id, name, input: isObject(input) ? input : {} }];
    }
    if (isThinking(block)) return [{ type: "opaque", provider: "anthropic", value: block }];
    if (type === "opaque" && typeof provider === "string") return [{ type, provider, value: block.value }];
    return []; // of tools that ran at the provider
  });
}

/** One of our reminders. Claude Code's own have no position in the message: it makes new ones when it resumes. */
export function attachmentOf(line: TranscriptLine): { block: TextBlock; index: number; starts: boolean } | null {
  const { attachment, index } = line;
  if (line.type !== "attachment" || !isObject(attachment) || !Number.isSafeInteger(index)) return null;
  if (typeof attachment.type !== "string" || typeof attachment.content !== "string") return null;
  const block: TextBlock = { type: "text", text: attachment.content, attachment: attachment.type };
  return { block, index: Math.max(0, index as number), starts: line.starts === true };
}

/** What the user typed, or null: tool results, summaries and the client's remarks come as user lines, too. */
export function promptOf(line: TranscriptLine): string | null {
  if (line.type !== "user" || line.isMeta === true || line.isCompactSummary === true) return null;
  const blocks = userBlocks(line);
  if (blocks.some(({ type }) => type === "tool_result")) return null;
  const text = blocks.map((block) => (block.type === "text" ? block.text : "")).join("\n");
  return text.trim() === "" || INTERRUPTED.test(text) ? null : text;
}

/** What Claude Code writes as the user when a turn was stopped. */
const INTERRUPTED = /^\[Request interrupted by user[^\]]*\]\s*$/;

/** A model's answer, or null: the client also writes its own errors as answers. */
export function answerOf(line: TranscriptLine): { id: string | null; model: string | null; usage: Usage } | null {
  if (line.type !== "assistant" || line.isApiErrorMessage === true || !isObject(line.message)) return null;
  const { id, model, usage } = line.message;
  if (model === "<synthetic>") return null;
  return { id: textOrNull(id), model: textOrNull(model), usage: readUsage(usage) };
}

export interface Title {
  rank: number;
  title: string;
}

/** A title from a person outranks one from a model, which outranks a summary of the start; of equals the later one counts. */
export function titleAfter(before: Title | null, line: TranscriptLine): Title | null {
  const rank = TITLE_LINES.indexOf(line.type);
  if (rank < (before?.rank ?? 0)) return before;
  const title = [line.customTitle, line.aiTitle, line.title, line.summary].find(
    (text) => typeof text === "string" && text.trim() !== "",
  );
  return title === undefined ? before : { rank, title: title as string };
}

const TITLE_LINES: readonly string[] = ["summary", "ai-title", "custom-title"];

export function textOrNull(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

function isRole(value: unknown): value is "user" | "assistant" {
  return value === "user" || value === "assistant";
}

function isAttachment(block: UserBlock): block is TextBlock & { attachment: string } {
  return block.type === "text" && block.attachment !== undefined;
}

/** A prompt is a plain string, as everywhere in these files. */
function userContent(blocks: readonly UserBlock[]): unknown {
  const [first] = blocks;
  if (blocks.length === 1 && first?.type === "text") return first.text;
  return blocks.map(wireBlock);
}

/** As the API names them. */
const STOP_REASONS: Record<string, string> = {
  end: "end_turn",
  tools: "tool_use",
  length: "max_tokens",
  refused: "refusal",
};

function assistantMessage(content: readonly Block[], facts: MessageFacts): Record<string, unknown> {
  const { id, model, stop, usage = NO_USAGE } = facts;
  return {
    id,
    type: "message",
    role: "assistant",
    model,
    content: content.map(wireBlock),
    stop_reason: stop === undefined ? null : (STOP_REASONS[stop] ?? stop),
    usage: Object.fromEntries(TOKEN_KINDS.map((kind) => [WIRE_TOKENS[kind], usage[kind]])),
  };
}

function contentOf({ message }: TranscriptLine): WireBlock[] {
  const content = isObject(message) ? message.content : null;
  if (typeof content === "string") return [{ type: "text", text: content }];
  if (!Array.isArray(content)) return [];
  return content.filter((block): block is WireBlock => isObject(block) && typeof block.type === "string");
}

function resultText(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content
    .filter(isObject)
    .map(({ type, text }) => (type === "text" && typeof text === "string" ? text : `[${String(type)}, not kept]`))
    .join("\n");
}
