/** One contract for both providers: the real SDKs against the server. */
import { describe, expect, it } from "vitest";
import type { Message } from "../../src/model/ask.ts";
import { until } from "../until.ts";
import { bad, good, KEY, request, says, useTalk } from "./talk.ts";

const talk = useTalk();
const WEATHER = {
  name: "weather",
  description: "The weather of a town",
  schema: { type: "object", properties: { town: { type: "string" } }, required: ["town"] },
};

describe.each(["anthropic", "openai"] as const)("%s", (provider) => {
  it("answers with text, delta by delta, and counts tokens", async () => {
    talk.server.queue({ text: ["Hel", "lo", " there"], usage: { input: 12, output: 3 } });
    const deltas: string[] = [];
    const answer = good(await talk[provider](request({ onText: (delta) => deltas.push(delta) })));
    expect(answer.content).toEqual([{ type: "text", text: "Hello there" }]);
    expect(answer.stop).toBe("end");
    expect(answer.usage).toEqual({ input: 12, output: 3, cacheRead: 0, cacheWrite: 0 });
    expect(deltas).toEqual(["Hel", "lo", " there"]);
  });

  it("tells deltas when they come, not at the end", async () => {
    const deltas: string[] = [];
    // The server says no more until this one is told.
    const pace = async (event: string) => {
      const said = /one|two|three/.exec(event)?.[0];
      if (said) await until(() => deltas.includes(said));
    };
    talk.server.queue({ text: ["one", "two", "three"], pace });
    await talk[provider](request({ onText: (delta) => deltas.push(delta) }));
    expect(deltas).toEqual(["one", "two", "three"]);
  });

  it("carries a tool call out and its result back", async () => {
    talk.server.queue({ text: "Looking.", tools: [{ id: "t1", name: "weather", input: { town: "Bari ☀" } }] });
    const messages: Message[] = [says("weather in Bari?")];
    const first = good(await talk[provider](request({ messages, tools: [WEATHER] })));
    expect(first.stop).toBe("tools");
    expect(first.content).toEqual([
      { type: "text", text: "Looking." },
      { type: "tool_use", id: "t1", name: "weather", input: { town: "Bari ☀" } },
    ]);
    talk.server.queue({ text: "Sunny." });
    messages.push({ role: "assistant", content: first.content });
    messages.push({ role: "user", content: [{ type: "tool_result", id: "t1", content: "sun" }] });
    expect(good(await talk[provider](request({ messages, tools: [WEATHER] }))).content).toEqual([
      { type: "text", text: "Sunny." },
    ]);
    const sent = talk.server.requests[1]!.body;
    expect(JSON.stringify(sent.tools)).toContain('"required":["town"]');
    expect(JSON.stringify(sent.messages)).toContain('"sun"');
  });

  it("keeps parallel calls apart", async () => {
    const tools = ["Bari", "Oslo", "Lima"].map((town) => ({ name: "weather", input: { town } }));
    talk.server.queue({ tools });
    const { content } = good(await talk[provider](request({ tools: [WEATHER] })));
    expect(content.map((block) => block.type === "tool_use" && block.input)).toEqual(tools.map(({ input }) => input));
    expect(new Set(content.map((block) => block.type === "tool_use" && block.id)).size).toBe(3);
  });

  it("reports an input that is no JSON object as a problem, and no input as an empty one", async () => {
    talk.server.queue({ tools: [{ name: "weather", rawInput: '{"town": ' }] });
    talk.server.queue({ tools: [{ name: "weather", rawInput: "[1]" }] });
    talk.server.queue({ tools: [{ name: "weather", rawInput: "" }] });
    const calls = [];
    for (let i = 0; i < 3; i++) calls.push(good(await talk[provider](request({ tools: [WEATHER] }))).content[0]);
    expect(calls).toMatchObject([
      { input: {}, problem: "the input is not valid JSON" },
      { input: {}, problem: "the input is not a JSON object" },
      { input: {} },
    ]);
    expect(calls[2]).not.toHaveProperty("problem");
  });

  it("says why it stopped", async () => {
    const words = provider === "anthropic" ? ["max_tokens", "refusal"] : ["length", "content_filter"];
    for (const stop of words) talk.server.queue({ text: "Well", stop });
    expect(good(await talk[provider](request())).stop).toBe("length");
    expect(good(await talk[provider](request())).stop).toBe("refused");
  });

  it("leaves out what the API refuses: empty texts and empty messages", async () => {
    talk.server.queue({ text: "fine" });
    const messages: Message[] = [
      {
        role: "user",
        content: [
          { type: "text", text: "" },
          { type: "text", text: "a" },
        ],
      },
      { role: "assistant", content: [] },
      says("b"),
    ];
    good(await talk[provider](request({ system: [{ text: "" }], messages })));
  });

  it("sends equal bytes for equal requests", async () => {
    talk.server.queue({ text: "a" }, { text: "b" });
    await talk[provider](request({ tools: [WEATHER], cacheAt: [0] }));
    await talk[provider](request({ tools: [WEATHER], cacheAt: [0] }));
    expect(talk.server.requests[0]!.raw).toBe(talk.server.requests[1]!.raw);
  });

  it("stops in the middle when it is told to, and keeps what had arrived", async () => {
    const pace = (event: string) => (event.includes('"so"') ? new Promise<void>(() => {}) : undefined);
    talk.server.queue({ text: ["so", " far", " so", " good"], pace });
    const controller = new AbortController();
    const answer = bad(await talk[provider](request({ signal: controller.signal, onText: () => controller.abort() })));
    expect(answer.error).toMatchObject({ kind: "aborted", retriable: false });
    expect(answer.partial?.text).toBe("so");
    await until(() => talk.server.requests[0]!.aborted);
  });

  it("sends nothing when it is stopped before", async () => {
    expect(bad(await talk[provider](request({ signal: AbortSignal.abort() }))).error.kind).toBe("aborted");
    expect(talk.server.requests).toEqual([]);
  });

  it("sends the key, and nothing that the environment holds for others", async () => {
    talk.server.queue({ text: "a" });
    await talk[provider](request());
    const { headers } = talk.server.requests[0]!;
    expect([headers["x-api-key"], headers.authorization]).toContainEqual(expect.stringContaining(KEY));
    expect(headers).not.toHaveProperty("openai-organization");
  });
});

describe("anthropic's cache and thinking", () => {
  it("marks the blocks and messages that are asked for, four at most, and reads what the cache did", async () => {
    talk.server.queue({ text: "hi", usage: { input: 5, output: 2, cacheRead: 900, cacheWrite: 40 } });
    const system = [{ text: "a", cache: true }, { text: "b" }, { text: "c", cache: true }, { text: "d", cache: true }];
    const messages = [says("one"), says("two"), says("three"), says("four")];
    const answer = good(await talk.anthropic(request({ system, messages, cacheAt: [0, 1, 3] })));
    expect(answer.usage).toEqual({ input: 5, output: 2, cacheRead: 900, cacheWrite: 40 });
    const { body } = talk.server.requests[0]!;
    const mark = { cache_control: { type: "ephemeral" } };
    expect(body.system).toEqual([
      { type: "text", text: "a" },
      { type: "text", text: "b" },
      { type: "text", text: "c", ...mark },
      { type: "text", text: "d", ...mark },
    ]);
    expect(body.messages.map(({ content }: { content: object[] }) => "cache_control" in content[0]!)).toEqual([
      false,
      true,
      false,
      true,
    ]);
  });

  it("marks nothing unasked", async () => {
    talk.server.queue({ text: "hi" });
    await talk.anthropic(request());
    expect(talk.server.requests[0]!.raw).not.toContain("cache_control");
  });

  it("gives thinking back as it came, and never marks it", async () => {
    talk.server.queue({ thinking: "hm", tools: [{ id: "t1", name: "weather", input: {} }] }, { text: "ok" });
    const first = good(await talk.anthropic(request({ tools: [WEATHER] })));
    expect(first.content[0]).toMatchObject({ type: "opaque", provider: "anthropic" });
    const messages: Message[] = [
      says("hello"),
      { role: "assistant", content: first.content },
      { role: "user", content: [{ type: "tool_result", id: "t1", content: "", isError: true }] },
    ];
    good(await talk.anthropic(request({ messages, tools: [WEATHER], cacheAt: [1] })));
    expect(talk.server.requests[1]!.body.messages[1].content).toEqual([
      { type: "thinking", thinking: "hm", signature: "signed" },
      { type: "tool_use", id: "t1", name: "weather", input: {}, cache_control: { type: "ephemeral" } },
    ]);
    // The other provider knows nothing of it.
    talk.server.queue({ text: "ok" });
    good(await talk.openai(request({ messages, tools: [WEATHER] })));
    expect(talk.server.requests[2]!.raw).not.toContain("hm");
    expect(talk.server.requests[2]!.body.messages.at(-1)).toMatchObject({ role: "tool", content: "Error: " });
  });
});

it("anthropic: a mark goes to the last block that can carry one", async () => {
  talk.server.queue({ thinking: "hm", text: "a" }, { text: "b" });
  const { content } = good(await talk.anthropic(request()));
  const messages: Message[] = [says("one"), { role: "assistant", content: [...content].reverse() }, says("two")];
  good(await talk.anthropic(request({ messages, cacheAt: [1] })));
  const [text, thinking] = talk.server.requests[1]!.body.messages[1].content;
  expect(text).toHaveProperty("cache_control");
  expect(thinking).toEqual({ type: "thinking", thinking: "hm", signature: "signed" });
});

describe("openai's dialects", () => {
  it("counts what came from the cache apart", async () => {
    talk.server.queue({ text: "hi", usage: { input: 5, output: 2, cacheRead: 900 } });
    expect(good(await talk.openai(request())).usage).toEqual({ input: 5, output: 2, cacheRead: 900, cacheWrite: 0 });
  });

  it("asks for tools although the server says stop", async () => {
    talk.server.queue({ tools: [{ name: "weather", input: {} }], stop: "stop" });
    expect(good(await talk.openai(request({ tools: [WEATHER] }))).stop).toBe("tools");
  });
});
