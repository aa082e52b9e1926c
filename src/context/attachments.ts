/** Reminders waiting to be sent to the model along with what the user says: by kind, each once. */

import { isObject } from "../errors.ts";
import type { TextBlock } from "../model/ask.ts";
import { buildChange, buildWithdrawal } from "../prompts/conversation.ts";
import { formatReminder } from "../recall/injection.ts";
import { neutraliseTags } from "../recall/neutral.ts";
import { sha256 } from "../text/hash.ts";

/** In the order in which they are sent. */
export const ATTACHMENT_KINDS = [
  "nested-instructions",
  "memories",
  "skills",
  "agents",
  "deferred-tools",
  "mcp-instructions",
] as const;

export type AttachmentKind = (typeof ATTACHMENT_KINDS)[number];

interface Attachment {
  kind: AttachmentKind;
  /** What it is about, such as a path or the name of a server. */
  key: string;
  /** Neither fenced nor neutralised, except that memories come from recall ready to be shown. */
  text: string;
}

/** Records that something was sent, and a digest of its latest text. */
type SentAttachment = Omit<Attachment, "text"> & { digest: string };

export type Attachments = ReturnType<typeof openAttachments>;

/** Kinds whose text may change. All others are sent once. */
const DELTAS: ReadonlySet<AttachmentKind> = new Set(["mcp-instructions", "deferred-tools", "agents", "skills"]);

export function openAttachments() {
  const waiting = new Map<string, Attachment & SentAttachment>();
  const sent = new Map<string, SentAttachment>();
  return {
    /** Sends each kind and key once. For kinds that can change, a different text is sent again as a change, and "" as its withdrawal. */
    push(attachment: Attachment): void {
      const { kind, text } = attachment;
      const id = idOf(attachment);
      // All empty texts are equal, and one is sent only if another text was sent before.
      const digest = sha256(text.trim());
      const before = sent.get(id);
      const isSaid = before ? !DELTAS.has(kind) || before.digest === digest : text.trim() === "";
      // Also cancels a change that was undone before it was sent.
      if (isSaid) waiting.delete(id);
      else waiting.set(id, { ...attachment, digest });
    },
    /** Returns what waits, which counts as sent from now on: the caller puts it into the conversation. */
    take(): TextBlock[] {
      const taken = ATTACHMENT_KINDS.flatMap((kind) => [...waiting.values()].filter((one) => one.kind === kind));
      waiting.clear();
      return taken.map(({ kind, key, text, digest }) => {
        const isAgain = sent.has(idOf({ kind, key }));
        sent.set(idOf({ kind, key }), { kind, key, digest });
        if (!isAgain) return remind(kind, text);
        return remind(kind, text.trim() === "" ? buildWithdrawal(kind, key) : buildChange(text));
      });
    },
    /** What the model was shown, as JSON for the transcript. */
    sent: () => [...sent.values()],
    /** After a resume: what the transcript records as sent is not sent again. Invalid entries are skipped. */
    restore(list: readonly unknown[]): void {
      for (const { kind, key, digest } of list.filter(isSent)) sent.set(idOf({ kind, key }), { kind, key, digest });
    },
    /** After clear and compact the model has none of it any more, and what waited belonged to what is gone. */
    clear(): void {
      waiting.clear();
      sent.clear();
    },
  };
}

/**
 * A reminder of any kind. Nothing in it can end its fence. Instructions are the user's own words
 * and files are edited by their exact text, so both stay as they are otherwise; in everything else, tags are neutralised.
 */
export function remind(kind: string, text: string): TextBlock {
  // Those are fenced one by one and neutralised by recall.
  const isReady = kind === "memories";
  return { type: "text", text: isReady ? text : formatReminder(guard(kind, text)), attachment: kind };
}

/** `buildMemoryPrompt` neutralises the index. */
const KINDS_VERBATIM: ReadonlySet<string> = new Set(["instructions", "nested-instructions", "file", "memory-index"]);

function guard(kind: string, text: string): string {
  return KINDS_VERBATIM.has(kind) ? text.replace(CLOSING, "&lt;") : neutraliseTags(text);
}

/** The bracket of a closing fence, however it is spaced. */
const CLOSING = /<(?=\s*\/\s*system[\s_.-]*reminder)/gi;

function idOf({ kind, key }: { kind: string; key: string }): string {
  return `${kind} ${key}`;
}

function isSent(value: unknown): value is SentAttachment {
  if (!isObject(value)) return false;
  const { kind, key, digest } = value;
  return ATTACHMENT_KINDS.some((known) => known === kind) && typeof key === "string" && typeof digest === "string";
}
