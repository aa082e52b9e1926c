/** What the tests of this folder share: a server and an Ask of each provider that talks to it. */
import { afterEach, beforeEach } from "vitest";
import { openAnthropic } from "../../src/model/anthropic.ts";
import type { Ask, AskAnswer, AskRequest, Message } from "../../src/model/ask.ts";
import { openOpenai } from "../../src/model/openai.ts";
import { type ModelServer, startModelServer } from "../model-server/model-server.ts";
import { PATIENCE_MS } from "../until.ts";

/** Has the shape of a real one, so that whatever hides keys must hide it. */
export const KEY = "sk-test-0123456789abcdefghij";

export interface Talk {
  server: ModelServer;
  anthropic: Ask;
  openai: Ask;
  /** The same with little patience, for servers that hang. */
  impatient: { anthropic: Ask; openai: Ask };
}

export const SHORT_SILENCE_MS = 300;

/** A fresh server for every test of the file. */
export function useTalk(): Talk {
  const talk = {} as Talk;
  beforeEach(async () => {
    const server = await startModelServer();
    const open = async (maxSilenceMs: number) => ({
      anthropic: await openAnthropic({ model: "claude-test", apiKey: KEY, baseUrl: server.url, maxSilenceMs }),
      openai: await openOpenai({ model: "gpt-test", apiKey: KEY, baseUrl: server.openaiUrl, maxSilenceMs }),
    });
    Object.assign(talk, { server, ...(await open(PATIENCE_MS)), impatient: await open(SHORT_SILENCE_MS) });
  });
  afterEach(() => talk.server.close());
  return talk;
}

export function says(text: string): Message {
  return { role: "user", content: [{ type: "text", text }] };
}

export function request(fields: Partial<AskRequest> = {}): AskRequest {
  return { system: [{ text: "Be brief." }], messages: [says("hello")], maxTokens: 100, ...fields };
}

export function good(answer: AskAnswer): Extract<AskAnswer, { ok: true }> {
  if (!answer.ok) throw new Error(`expected an answer, got ${JSON.stringify(answer)}`);
  return answer;
}

export function bad(answer: AskAnswer): Extract<AskAnswer, { ok: false }> {
  if (answer.ok) throw new Error(`expected a failure, got ${JSON.stringify(answer)}`);
  return answer;
}
