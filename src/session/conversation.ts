/** Turns lines of a transcript, in the order of the conversation, or what another agent's session holds, into messages that a provider accepts. */

import { isObject } from "../errors.ts";
import type { Block, Message, TextBlock, ToolResult, ToolUse } from "../model/ask.ts";
import {
  answerOf,
  assistantBlocks,
  attachmentOf,
  promptOf,
  type TranscriptLine,
  textOrNull,
  userBlocks,
} from "./transcript-line.ts";

export interface Prompt {
  uuid: string;
  text: string;
  /** When it was said, ISO; "" if unknown. */
  at: string;
  /** The index of its message. */
  index: number;
  /** Its parent line: rewinding to it removes the prompt. */
  parent: string | null;
}

/** What another agent's session holds, in order: its own program's texts apart from what was said. */
export type Heard =
  | { kind: "user"; uuid: string; at: string; said: string; attached: readonly string[] }
  | { kind: "answer"; blocks: readonly (TextBlock | ToolUse)[] }
  /** With `all`, no further results of the same answer follow. */
  | { kind: "results"; blocks: readonly ToolResult[]; all?: true };

/** Replaces a result that was never written. */
export const CUT_OFF = "no result: the session was cut off before the tool was done";

type UserDraft = { role: "user"; content: (ToolResult | TextBlock)[]; prompt: Omit<Prompt, "index"> | null };
type AssistantDraft = { role: "assistant"; content: Block[]; id: string | null };
type Draft = UserDraft | AssistantDraft;

/** Takes lines with their ids in the chain, which lines without a uuid have, too. */
export function buildConversation() {
  const drafts: Draft[] = [];
  let model: string | null = null;
  return {
    add({ line, uuid, parent }: { line: TranscriptLine; uuid: string; parent: string | null }) {
      const attachment = attachmentOf(line);
      if (attachment) addAttachment(drafts, attachment);
      if (line.type === "user") {
        const text = promptOf(line);
        const prompt = text === null ? null : { uuid, text, at: textOrNull(line.timestamp) ?? "", parent };
        drafts.push({ role: "user", content: userBlocks(line), prompt });
      }
      const answer = answerOf(line);
      if (answer) {
        model = answer.model ?? model;
        addAnswer(drafts, assistantBlocks(line), answer.id);
      }
    },
    finish: () => ({ ...finish(drafts), model }),
  };
}

/** The conversation of another agent's session; `agent` marks what was not said but attached. */
export function converse(heard: readonly Heard[], agent: string): ReturnType<typeof finish> {
  const drafts: Draft[] = [];
  /** Calls without a result so far: text that comes meanwhile belongs to the same answer. */
  const open = new Set<string>();
  let answer = 0;
  let last: Heard["kind"] | null = null;
  for (const item of heard) {
    if (item.kind === "answer") {
      if (last !== "answer" && open.size === 0) answer++;
      for (const block of item.blocks) if (block.type === "tool_use") open.add(block.id);
      addAnswer(drafts, [...item.blocks], `${answer}`);
    } else if (item.kind === "results") {
      for (const { id } of item.blocks) open.delete(id);
      if (item.all) open.clear();
      drafts.push({ role: "user", content: [...item.blocks], prompt: null });
    } else {
      const { uuid, at, said: text, attached } = item;
      open.clear();
      const content = attached.map((each): TextBlock => ({ type: "text", text: each, attachment: agent }));
      if (text !== "") content.push({ type: "text", text });
      drafts.push({ role: "user", content, prompt: text === "" ? null : { uuid, text, at, parent: null } });
    }
    last = item.kind;
  }
  return finish(drafts);
}

function addAttachment(drafts: Draft[], { block, index, starts }: NonNullable<ReturnType<typeof attachmentOf>>): void {
  const last = drafts.at(-1);
  if (starts || last?.role !== "user") drafts.push({ role: "user", content: [block], prompt: null });
  else last.content.splice(index, 0, block);
}

/** Claude Code writes a line for each block, and the results of the first calls may come between them. */
function addAnswer(drafts: Draft[], content: Block[], id: string | null): void {
  const last = drafts.findLastIndex(({ role }) => role === "assistant");
  const started = drafts[last];
  const between = drafts.slice(last + 1);
  if (
    id !== null &&
    started?.role === "assistant" &&
    started.id === id &&
    between.every((draft) => draft.content.every(({ type }) => type === "tool_result"))
  ) {
    started.content.push(...content);
  } else {
    drafts.push({ role: "assistant", content, id });
  }
}

function finish(drafts: readonly Draft[]): { messages: Message[]; prompts: Prompt[] } {
  const kept = settle(drafts.filter(isMessage));
  const first = kept.findIndex(({ role }) => role === "user");
  const sendable = first < 0 ? [] : kept.slice(first);
  return {
    messages: sendable.map(({ role, content }) => ({ role, content }) as Message),
    prompts: sendable.flatMap((draft, index) =>
      draft.role === "user" && draft.prompt ? [{ ...draft.prompt, index }] : [],
    ),
  };
}

/** Thinking alone, from an answer that was cut off, is not a message. */
function isMessage({ role, content }: Draft): boolean {
  return role === "user" ? content.length > 0 : content.some(({ type }) => type !== "opaque");
}

/**
 * Every call gets its result in the next message, and no result is without its call. Where all is in order nothing
 * changes, and doing it twice changes nothing more: what was sent stays what is sent.
 */
function settle(drafts: readonly Draft[]): Draft[] {
  const settled: Draft[] = [];
  let at = 0;
  while (at < drafts.length) {
    const draft = drafts[at++]!;
    const answered: UserDraft[] = [];
    if (draft.role === "user") answered.push(draft);
    else settled.push(draft);
    for (let next = drafts[at]; next?.role === "user"; next = drafts[++at]) answered.push(next);
    const calls = draft.role === "assistant" ? draft.content.filter((block) => block.type === "tool_use") : [];
    settled.push(...answer(calls, answered));
  }
  return settled;
}

/** The user's messages up to the next answer, with the results of these calls where they belong. */
function answer(calls: readonly ToolUse[], drafts: readonly UserDraft[]): UserDraft[] {
  const open = new Set(calls.map(({ id }) => id));
  const taken = drafts.map(({ content }) =>
    content.filter((block) => block.type === "tool_result" && open.delete(block.id)),
  );
  const missing = [...open].map((id): ToolResult => ({ type: "tool_result", id, content: CUT_OFF, isError: true }));
  const own = (taken[0] ?? []) as ToolResult[];
  const moved = [...(taken.slice(1).flat() as ToolResult[]), ...missing];
  const [first, ...others] = drafts.map((draft) => ({
    ...draft,
    content: draft.content.filter(({ type }) => type !== "tool_result"),
  }));
  const rest = others.filter(({ content }) => content.length > 0);
  if (own.length > 0 && first) {
    // Our reminders may be anywhere, but the provider wants results first.
    return [{ ...first, content: [...own, ...moved, ...first.content] }, ...rest];
  }
  const results: UserDraft[] = moved.length > 0 ? [{ role: "user", content: moved, prompt: null }] : [];
  return [...results, ...(first && first.content.length > 0 ? [first] : []), ...rest];
}

// --- What the readers of other agents' sessions share.

/** What the beginning of a session's file says. */
export interface Head {
  id: string;
  cwd: string | null;
  /** Its prompts come from an agent, not a person; Claude Code does not say. */
  isSubAgent: boolean;
}

/** An id will be printed and written: anything but a plain name is rejected. */
export function plainId(given: unknown, otherwise: string): string {
  return typeof given === "string" && /^[\w.-]{1,128}$/.test(given) ? given : otherwise;
}

/** Whether a program says it in the user's name. A text wrapped in a tag comes from a program, or is a pasted document. */
export function isInjected(text: string, known: RegExp): boolean {
  return known.test(text.trim()) || /^<([a-z][\w-]*)(?:\s[^>]*)?>[\s\S]*<\/\1>$/i.test(text.trim());
}

/** Thinking is left out. */
export function textsOf(content: unknown): string[] {
  return partsOf(content).flatMap(({ text, thought }) =>
    typeof text === "string" && text !== "" && !thought ? [text] : [],
  );
}

/** A text, a part or a list of either. */
export function partsOf(content: unknown): Record<string, unknown>[] {
  const list = Array.isArray(content) ? content : [content];
  return list.flatMap((part) => (typeof part === "string" ? [{ text: part }] : isObject(part) ? [part] : []));
}
