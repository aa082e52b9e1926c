/** Transcripts for tests: a folder, ids that count up, a clock that ticks, and conversations by chance. */

import fs from "node:fs";
import path from "node:path";
import fc from "fast-check";
import type { Block, Message, TextBlock, ToolResult } from "../../src/model/ask.ts";
import type { ResumedSession } from "../../src/session/session-reader.ts";
import { openTranscript, type Transcript, type TranscriptOptions } from "../../src/session/transcript.ts";
import { makeTemporary } from "../temporary.ts";

/** In memory where there is some: every append waits for the disk. */
export function makeFolder(): string {
  return makeTemporary("session", "memory");
}

export interface Desk {
  dir: string;
  logged: string[];
  open(from?: ResumedSession, options?: Partial<TranscriptOptions>): Transcript;
}

export function makeDesk(dir: string = path.join(makeFolder(), "projects", "-work")): Desk {
  const logged: string[] = [];
  return {
    dir,
    logged,
    open: (from, options) =>
      openTranscript(
        { dir, cwd: "/work", version: "0.1.0", model: () => "model-x", gitBranch: () => "main", ...options },
        { now: tick, newId: nextId, log: (message) => logged.push(message) },
        from,
      ),
  };
}

let count = 0;

export function nextId(): string {
  return uuid(++count);
}

export function uuid(number: number): string {
  return `00000000-0000-4000-8000-${number.toString(16).padStart(12, "0")}`;
}

let ticks = 0;

function tick(): Date {
  return new Date(Date.UTC(2026, 2, 10, 12) + 1000 * ticks++);
}

export function said(text: string): Message {
  return { role: "user", content: [{ type: "text", text }] };
}

export function answered(...content: (string | Block)[]): Message {
  return {
    role: "assistant",
    content: content.map((block) => (typeof block === "string" ? { type: "text", text: block } : block)),
  };
}

export function call(id: string, input: Record<string, unknown> = {}): Block {
  return { type: "tool_use", id, name: "Read", input };
}

export function result(id: string, content = "done"): ToolResult {
  return { type: "tool_result", id, content };
}

export function reminder(text: string, kind = "date"): TextBlock {
  return { type: "text", text, attachment: kind };
}

export function linesIn(file: string): Record<string, unknown>[] {
  return fs
    .readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));
}

export function writeLines(file: string, lines: readonly unknown[]): string {
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  return file;
}

const text = fc.string({ unit: "binary", maxLength: 12 });
const textBlock = fc.record({ type: fc.constant("text" as const), text });
const attachment = fc.record({ type: fc.constant("text" as const), text, attachment: fc.string({ maxLength: 4 }) });
const thinking = fc.record({
  type: fc.constant("opaque" as const),
  provider: fc.constant("anthropic"),
  value: fc.record({ type: fc.constant("thinking"), thinking: text, signature: text }),
});
const foreign = fc.record({
  type: fc.constant("opaque" as const),
  provider: fc.constant("other"),
  value: fc.jsonValue().map(plain),
});
const input = fc.dictionary(fc.string({ maxLength: 5 }), fc.jsonValue(), { maxKeys: 3 }).map(plain);

/** As JSON has it: no negative zero, nothing inherited. */
function plain<T>(value: T): T {
  return JSON.parse(JSON.stringify(value));
}

const aside = fc.array(fc.oneof(textBlock, attachment), { maxLength: 3 });
const prompt = fc.array(fc.oneof(textBlock, attachment), { minLength: 1, maxLength: 4 });
const turn = fc.record({
  prompt,
  rounds: fc.array(
    fc.record({
      before: fc.array(fc.oneof(textBlock, thinking, foreign), { maxLength: 2 }),
      calls: fc.array(fc.record({ input, content: text, isError: fc.boolean() }), { minLength: 1, maxLength: 3 }),
      aside,
    }),
    { maxLength: 2 },
  ),
  answer: fc.option(
    fc.tuple(fc.array(thinking, { maxLength: 1 }), fc.array(textBlock, { minLength: 1, maxLength: 2 })),
  ),
});

/** What an agent loop makes: every call answered at once, sometimes no answer at all to a prompt. */
export const conversations: fc.Arbitrary<Message[]> = fc.array(turn, { minLength: 1, maxLength: 4 }).map((turns) => {
  let calls = 0;
  return turns.flatMap(({ prompt, rounds, answer }): Message[] => [
    { role: "user", content: prompt },
    ...rounds.flatMap((round): Message[] => {
      // Some providers count their calls anew in every message.
      const ids = round.calls.map((_, i) => (round.calls.length > 2 ? `call_${i}` : `call-${++calls}`));
      return [
        {
          role: "assistant",
          content: [
            ...round.before,
            ...round.calls.map((one, i): Block => ({ type: "tool_use", id: ids[i]!, name: "Tool", input: one.input })),
          ],
        },
        {
          role: "user",
          content: [
            ...round.calls.map(
              ({ content, isError }, i): ToolResult => ({
                type: "tool_result",
                id: ids[i]!,
                content,
                ...(isError && { isError: true }),
              }),
            ),
            ...round.aside,
          ],
        },
      ];
    }),
    ...(answer ? [{ role: "assistant" as const, content: answer.flat() }] : []),
  ]);
});

/** What a provider insists on. */
export function whyNotSendable(messages: readonly Message[]): string | null {
  if (messages[0] && messages[0].role !== "user") return "does not start with the user";
  for (const [i, message] of messages.entries()) {
    if (message.content.length === 0) return `message ${i} is empty`;
    const calls = idsOf(message, "tool_use");
    const next = messages[i + 1];
    const results = next?.role === "user" ? idsOf(next, "tool_result") : [];
    if ([...calls].sort().join() !== [...results].sort().join()) return `calls of message ${i} have other results`;
    if (next?.content.slice(0, results.length).some(({ type }) => results.length > 0 && type !== "tool_result")) {
      return `message ${i + 1} does not begin with its results`;
    }
  }
  return messages[0] && idsOf(messages[0], "tool_result").length > 0 ? "results without a call" : null;
}

function idsOf(message: Message, type: string): string[] {
  return message.content.flatMap((block) => (block.type === type && "id" in block ? [block.id] : []));
}
