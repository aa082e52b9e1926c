/** One question beside the conversation: a text in, a text out. */

import { MemdirError } from "../errors.ts";
import type { Ask, AskError } from "./ask.ts";
import { textOf } from "./ask.ts";

export interface Question {
  system: string;
  user: string;
  maxTokens?: number;
  signal?: AbortSignal;
}

/** Enough for a list of names and for a model that thinks aloud first. */
const MAX_TOKENS = 1024;

/** The model's text, also if it ran into the limit. Rejects with a MemdirError that has the kind of failure in its details. */
export async function askText(ask: Ask, question: Question): Promise<string> {
  const { system, user, maxTokens = MAX_TOKENS, signal } = question;
  const answer = await ask({
    system: system === "" ? [] : [{ text: system }],
    messages: [{ role: "user", content: [{ type: "text", text: user }] }],
    maxTokens,
    signal,
  });
  if (!answer.ok) throw new MemdirError(codeOf(answer.error), answer.error.message, { details: answer.error });
  if (answer.stop === "refused") {
    throw new MemdirError("usage", "the model declined to answer; ask it in other words", {
      details: { kind: "refused" },
    });
  }
  return textOf(answer.content);
}

/** The same with the signature that recall asks for. */
export function sideQuery(ask: Ask, maxTokens?: number) {
  return (system: string, user: string, signal?: AbortSignal): Promise<string> =>
    askText(ask, { system, user, maxTokens, signal });
}

/** A wrong key or model is the caller's to mend; everything else is the environment's failure. */
function codeOf({ kind }: AskError): "usage" | "model" {
  return kind === "auth" || kind === "bad-request" ? "usage" : "model";
}
