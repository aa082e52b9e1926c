/** The server itself: it must refuse what the real ones refuse, or the other tests prove nothing. */
import OpenAI from "openai";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type ModelServer, startModelServer } from "./model-server.ts";

let server: ModelServer;
beforeEach(async () => {
  server = await startModelServer();
});
afterEach(() => server.close());

const hello = { model: "m", max_tokens: 9, messages: [{ role: "user", content: "hello" }] };

async function post(path: string, body: unknown, headers: Record<string, string> = {}) {
  const auth = { "x-api-key": "k", "anthropic-version": "2023-06-01", "content-type": "application/json" };
  const response = await fetch(`${server.url}${path}`, {
    method: "POST",
    headers: { ...auth, ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  // biome-ignore lint/suspicious/noExplicitAny: tests look into it freely
  return { status: response.status, headers: response.headers, json: (await response.json()) as any };
}

describe("the model server", () => {
  it.each(["2023-06-01", "2026-10-21"])("speaks Anthropic's protocol of %s", async (version) => {
    server.queue({ text: "hi" });
    const { status, json } = await post("/v1/messages", hello, { "anthropic-version": version });
    expect([status, json.content]).toEqual([200, [{ type: "text", text: "hi" }]]);
  });

  it("speaks chat completions", async () => {
    server.queue({ text: "hi" });
    const { json } = await post("/v1/chat/completions", hello);
    expect(json.choices[0].message.content).toBe("hi");
  });

  it.each([
    ["another version", hello, { "anthropic-version": "2020-01-01" }, 400],
    ["no key", hello, { "x-api-key": "" }, 401],
    ["no JSON", "{", {}, 400],
    ["an empty text", { ...hello, messages: [{ role: "user", content: [{ type: "text", text: "" }] }] }, {}, 400],
    [
      "a call without its result",
      { ...hello, messages: [...hello.messages, { role: "assistant", content: [{ type: "tool_use", id: "a" }] }] },
      {},
      400,
    ],
    [
      "five marks",
      { ...hello, system: Array.from({ length: 5 }, () => ({ type: "text", text: "a", cache_control: {} })) },
      {},
      400,
    ],
  ])("refuses %s", async (_, body, headers, status) => {
    expect(await post("/v1/messages", body, headers)).toMatchObject({ status, json: { type: "error" } });
  });

  it("sends the headers of a refusal", async () => {
    server.queue({ status: 429, headers: { "retry-after": "3" } });
    const { status, headers, json } = await post("/v1/messages", hello);
    expect([status, headers.get("retry-after"), json.error.type]).toEqual([429, "3", "rate_limit_error"]);
  });

  it("says that nothing is queued, and keeps what it was asked", async () => {
    expect((await post("/v1/messages", hello)).json.error.message).toContain("queued no reply");
    expect(server.requests[0]!.body).toEqual(hello);
    expect((await post("/nowhere", hello)).status).toBe(404);
  });
});

describe("the Responses API", () => {
  const call = { name: "recall", namespace: "mcp__memdir", input: { prompt: "a" } };

  it("streams what the vendor's own client puts together again", async () => {
    const client = new OpenAI({ apiKey: "k", baseURL: server.openaiUrl, maxRetries: 0 });
    server.queue({ text: ["Look", "ing."], tools: [call], usage: { input: 7, cacheRead: 3 } });
    const stream = client.responses.stream({ model: "m", input: [{ role: "user", content: "hello" }] });
    const { output, usage } = await stream.finalResponse();
    expect(output).toMatchObject([
      { type: "message", content: [{ text: "Looking." }] },
      { type: "function_call", name: "recall", namespace: "mcp__memdir", arguments: '{"prompt":"a"}' },
    ]);
    expect(usage).toMatchObject({ input_tokens: 10, input_tokens_details: { cached_tokens: 3 } });
  });

  it.each([
    ["no key", { model: "m", input: [{ type: "message" }] }, {}, 401],
    ["no input", { model: "m", input: [] }, { authorization: "Bearer k" }, 400],
    [
      "a call alone",
      { model: "m", input: [{ type: "function_call", call_id: "a" }] },
      { authorization: "Bearer k" },
      400,
    ],
    [
      "a result alone",
      { model: "m", input: [{ type: "function_call_output", call_id: "a" }] },
      { authorization: "Bearer k" },
      400,
    ],
  ])("refuses %s", async (_, body, headers, status) => {
    expect((await post("/v1/responses", body, headers)).status).toBe(status);
  });
});

describe("generateContent", () => {
  const path = "/v1beta/models/gemini-test";
  const auth = { "x-goog-api-key": "k" };
  const said = { role: "user", parts: [{ text: "hello" }] };
  const called = { role: "model", parts: [{ functionCall: { name: "recall", args: {} } }] };

  it("answers whole or as a stream, as the path says", async () => {
    server.queue({ text: "hi" }, { text: ["h", "i"], tools: [{ name: "recall", input: { prompt: "a" } }] });
    const { json } = await post(`${path}:generateContent`, { contents: [said] }, auth);
    expect(json.candidates[0]).toMatchObject({ content: { parts: [{ text: "hi" }] }, finishReason: "STOP" });
    const response = await fetch(`${server.url}${path}:streamGenerateContent?alt=sse`, {
      method: "POST",
      headers: auth,
      body: JSON.stringify({ contents: [said] }),
    });
    const events = (await response.text()).split("\r\n\r\n").filter((event) => event !== "");
    const parts = events.map((event) => JSON.parse(event.replace("data: ", "")).candidates[0].content.parts[0]);
    const functionCall = { name: "recall", args: { prompt: "a" } };
    expect(parts).toEqual([{ text: "h" }, { text: "i" }, { functionCall }, { text: "" }]);
  });

  it.each([
    ["no key", [said], {}, 403],
    ["nothing said", [], auth, 400],
    ["a call without its response", [said, called], auth, 400],
    ["a response without its call", [{ role: "user", parts: [{ functionResponse: { name: "recall" } }] }], auth, 400],
  ])("refuses %s", async (_, contents, headers, status) => {
    expect((await post(`${path}:generateContent`, { contents }, headers)).status).toBe(status);
  });
});

describe("beside the conversation", () => {
  it("tokens are counted and the server is alive, without a reply being taken", async () => {
    server.queue({ text: "hi" });
    expect((await post("/v1/messages/count_tokens", hello)).json.input_tokens).toBeGreaterThan(0);
    expect((await post("/v1beta/models/m:countTokens", hello)).json.totalTokens).toBeGreaterThan(0);
    expect((await fetch(server.url, { method: "HEAD" })).status).toBe(200);
    expect((await post("/v1/messages", hello)).json.content[0].text).toBe("hi");
  });

  it("a test says what is aside; a reply may take its time", async () => {
    const other = await startModelServer({
      aside: ({ body }) => (body.model === "title" ? { text: "A title" } : null),
    });
    other.queue(async () => ({ text: "hi" }));
    const ask = async (model: string) => {
      const headers = { "content-type": "application/json" };
      const body = JSON.stringify({ ...hello, model });
      const response = await fetch(`${other.openaiUrl}/chat/completions`, { method: "POST", headers, body });
      return ((await response.json()) as { choices: [{ message: { content: string } }] }).choices[0].message.content;
    };
    expect([await ask("title"), await ask("m")]).toEqual(["A title", "hi"]);
    await other.close();
  });
});
