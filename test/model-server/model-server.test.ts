/** The server itself: it must refuse what the real ones refuse, or the other tests prove nothing. */
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
