/** The messages of a session as learning hears them: each with a name that lasts, and without what a host wrote in the user's place. */

import type { Message } from "../model/ask.ts";
import { sha256 } from "../text/hash.ts";

/** A message with what its session calls it, and when it was said (ISO), if that is known. */
export interface HeardMessage {
  id: string;
  at: string | null;
  message: Message;
}

/**
 * Names for the messages of a session: its prompts' own, and for what follows one its number behind it. Messages before the
 * first prompt, such as the summary that compaction leaves, are named by what they say, so that another one is new.
 */
export function hearMessages(messages: Session["messages"], prompts: Session["prompts"]): HeardMessage[] {
  const starts = new Map(prompts.map((prompt) => [prompt.index, prompt]));
  let current: Session["prompts"][number] | null = null;
  return messages.map((message, i) => {
    current = starts.get(i) ?? current;
    if (!current) return { id: `start-${sha256(JSON.stringify(message)).slice(0, 16)}`, at: null, message };
    const id = i === current.index ? current.uuid : `${current.uuid}.${i - current.index}`;
    return { id, at: current.at || null, message };
  });
}

interface Session {
  messages: readonly Message[];
  prompts: readonly { uuid: string; index: number; at: string }[];
}

/** Hosts write skills, commands and summaries as messages of the user, and a session may be a host's: only prompts are theirs. */
export function hearSession({ messages, prompts }: Session): HeardMessage[] {
  const typed = new Set(prompts.map(({ index }) => index));
  // Our own compaction keeps words of the user behind its summary, and no longer knows them as prompts.
  const isOurs = messages[0]?.content.some((block) => block.type === "text" && block.attachment === "summary");
  const kept = isOurs ? (prompts[0]?.index ?? messages.length) : 0;
  return hearMessages(messages, prompts).map((heard, i) =>
    typed.has(i) || i < kept ? heard : { ...heard, message: disown(heard.message) },
  );
}

/** The part of a prompt that the user typed, without what a host put into it. */
export function ownWords(prompt: string): string {
  return prompt.replace(HOST_TEXT, "");
}

function disown(message: Message): Message {
  if (message.role !== "user") return message;
  const content = message.content.map((block) =>
    block.type === "text" && block.attachment === undefined ? { ...block, attachment: HOST } : block,
  );
  return { role: "user", content };
}

/** What a program wrote in the user's place. */
export const HOST = "host";

/**
 * What hosts put into the user's message: reminders, output of commands, an editor's selection. Up to the last end of its kind,
 * as a text in it may hold such an end to pose as the user behind it.
 */
export const HOST_TEXT =
  /<(system-reminder|local-command-[a-z]+|command-[a-z]+|bash-[a-z]+|ide_[a-z_]+|[a-z-]+-hook|task-notification)\b[^<>]*>(?:[\s\S]*<\/\1>|[\s\S]*)/g;
