/** Whatever a server does, the answer is a value of the right kind, and without the key. */
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { openAnthropic } from "../../src/model/anthropic.ts";
import type { AskAnswer, AskError } from "../../src/model/ask.ts";
import { openOpenai } from "../../src/model/openai.ts";
import type { Reply } from "../model-server/reply.ts";
import { until } from "../until.ts";
import { bad, good, KEY, request, SHORT_SILENCE_MS, useTalk } from "./talk.ts";

const talk = useTalk();

interface Case {
  name: string;
  reply: Reply;
  kind: AskError["kind"];
  retriable: boolean;
  says: RegExp;
  partial?: string;
}

/** A server that repeats the key in what it says. */
const chatty = `invalid: ${KEY} (Bearer ${KEY}) and sk-other-9876543210`;

const CASES: Case[] = [
  {
    name: "400",
    reply: { status: 400, message: chatty },
    kind: "bad-request",
    retriable: false,
    says: /invalid: \[key\]/,
  },
  { name: "401", reply: { status: 401, message: chatty }, kind: "auth", retriable: false, says: /check \w+_API_KEY/ },
  { name: "402", reply: { status: 402 }, kind: "auth", retriable: false, says: /billing/ },
  { name: "403", reply: { status: 403, message: chatty }, kind: "auth", retriable: false, says: /MEMDIR_MODEL/ },
  { name: "404", reply: { status: 404 }, kind: "bad-request", retriable: false, says: /no model.*MEMDIR_MODEL/ },
  { name: "413", reply: { status: 413 }, kind: "bad-request", retriable: false, says: /compact/ },
  { name: "429", reply: { status: 429, message: chatty }, kind: "rate", retriable: true, says: /wait/ },
  { name: "500", reply: { status: 500, message: chatty }, kind: "overloaded", retriable: true, says: /500/ },
  { name: "500 without JSON", reply: { status: 500, body: "oops" }, kind: "overloaded", retriable: true, says: /500/ },
  { name: "529", reply: { status: 529 }, kind: "overloaded", retriable: true, says: /overloaded/ },
  { name: "504", reply: { status: 504, body: "" }, kind: "timeout", retriable: true, says: /ran out of time/ },
  { name: "a socket closed at once", reply: { before: "drop" }, kind: "network", retriable: true, says: /broke/ },
  { name: "a web page", reply: { before: "page" }, kind: "bad-answer", retriable: false, says: /_BASE_URL/ },
  { name: "silence", reply: { before: "hang" }, kind: "timeout", retriable: true, says: /nothing for 0\.3 s/ },
  {
    name: "a stream dropped in the middle",
    reply: { text: ["half", " an"], fault: "drop" },
    kind: "network",
    retriable: true,
    says: /broke/,
    partial: "half an",
  },
  {
    name: "a stream that ends too early",
    reply: { text: ["half", " an"], fault: "close" },
    kind: "network",
    retriable: true,
    says: /broke off in the middle/,
    partial: "half an",
  },
  {
    name: "malformed JSON",
    reply: { text: "half", fault: "malformed" },
    kind: "bad-answer",
    retriable: true,
    says: /not JSON/,
    partial: "half",
  },
  {
    name: "an error inside the stream",
    reply: { text: "half", fault: "overloaded" },
    kind: "overloaded",
    retriable: true,
    says: /overloaded|failed/,
    partial: "half",
  },
  {
    name: "a stream that hangs",
    reply: { text: "half", fault: "hang" },
    kind: "timeout",
    retriable: true,
    says: /nothing for/,
    partial: "half",
  },
];

/** Time passes when the test says so, for the watch over silence; sockets have none. */
function holdTime(): void {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
}

/** A server that says nothing, or nothing more: time is up once everything that it does say has arrived. */
async function waitOut(provider: "anthropic" | "openai", partial = ""): Promise<AskAnswer> {
  holdTime();
  let heard = "";
  const onText = (delta: string) => {
    heard += delta;
  };
  const asking = talk.impatient[provider](request({ onText }));
  await until(() => talk.server.requests.length === 1 && heard === partial);
  vi.advanceTimersByTime(SHORT_SILENCE_MS);
  return asking;
}

describe.each(["anthropic", "openai"] as const)("%s", (provider) => {
  it.each(CASES)("$name", async ({ reply, kind, retriable, says, partial }) => {
    talk.server.queue(reply);
    const answer = bad(
      await (kind === "timeout" && !("status" in reply) ? waitOut(provider, partial) : talk[provider](request())),
    );
    expect(answer.error).toMatchObject({ kind, retriable });
    expect(answer.error.message).toMatch(says);
    expect(answer.partial?.text || undefined).toBe(partial);
    expect(JSON.stringify(answer)).not.toContain(KEY);
    expect(JSON.stringify(answer)).not.toContain("9876543210");
    // The SDKs' own retries are off.
    expect(talk.server.requests).toHaveLength(1);
  });

  it("waits for a slow stream as long as something comes", async () => {
    holdTime();
    const text = Array.from({ length: 12 }, (_, i) => `${i} `);
    const heard: string[] = [];
    // Time passes after each word, once it has arrived.
    const pace = async (event: string) => {
      const word = text.find((each) => event.includes(`"${each}"`));
      if (!word) return;
      await until(() => heard.includes(word));
      vi.advanceTimersByTime(SHORT_SILENCE_MS / 6);
    };
    talk.server.queue({ text, pace });
    const asking = talk.impatient[provider](request({ onText: (delta) => heard.push(delta) }));
    expect(good(await asking).content).toEqual([{ type: "text", text: text.join("") }]);
  });

  it("stops a server that hangs when it is told to", async () => {
    talk.server.queue({ text: "half", fault: "hang" });
    const stop = new AbortController();
    const answer = bad(await talk[provider](request({ signal: stop.signal, onText: () => stop.abort() })));
    expect(answer.error.kind).toBe("aborted");
    expect(answer.partial?.text).toBe("half");
  });

  it("tells how long the provider asks to wait", async () => {
    talk.server.queue(
      { status: 429, headers: { "retry-after": "7" } },
      { status: 529, headers: { "retry-after-ms": "250" } },
    );
    expect(bad(await talk[provider](request())).error.retryAfterMs).toBe(7000);
    expect(bad(await talk[provider](request())).error.retryAfterMs).toBe(250);
  });

  it("does not hope for a server that is not there", async () => {
    await talk.server.close();
    const { error } = bad(await talk[provider](request()));
    expect(error).toMatchObject({ kind: "network", retriable: false });
    expect(error.message).toMatch(/ECONNREFUSED.*_BASE_URL/);
  });
});

describe("a key that cannot be a header", () => {
  const broken = "sk-line\nbreak-0123456789";
  it.each([
    { name: "anthropic", open: openAnthropic },
    { name: "openai", open: openOpenai },
  ])("is not told by $name", async ({ open }) => {
    const ask = await open({ model: "m", apiKey: broken, baseUrl: talk.server.url });
    const text = JSON.stringify(bad(await ask(request())));
    expect(text).not.toMatch(/sk-line|0123456789/);
  });
});

it("openai: a used-up quota is not waited for", async () => {
  talk.server.queue({ status: 429, type: "insufficient_quota" });
  expect(bad(await talk.openai(request())).error).toMatchObject({ kind: "auth", retriable: false });
});
