/** A fork's requests begin with the very bytes of the conversation it was forked from. */
import { describe, expect, it } from "vitest";
import { type Conversation, fork, runAgentLoop } from "../../src/model/agent-loop.ts";
import type { Tool } from "../../src/model/tool.ts";
import { says, useTalk } from "./talk.ts";

const talk = useTalk();
const ran: string[] = [];
const tool = (name: string, whose: string): Tool => ({
  name,
  description: `${name} of ${whose}`,
  schema: { type: "object", properties: {} },
  run: () => {
    ran.push(`${whose}/${name}`);
    return `${name} done`;
  },
});
const MAIN = [tool("read", "main"), tool("write", "main"), tool("bash", "main")];

async function converse(provider: "anthropic" | "openai"): Promise<Conversation> {
  talk.server.queue(
    { thinking: "hm", text: "Reading.", tools: [{ name: "read" }, { name: "bash" }] },
    { text: "Read ☕." },
  );
  const system = [{ text: "You are an agent.", cache: true }, { text: "The project is…" }];
  const messages = [says("read it")];
  const result = await runAgentLoop(talk[provider], { system, messages, tools: MAIN, maxTurns: 5, maxTokens: 100 });
  ran.length = 0;
  return result.conversation;
}

/** The request as it would be with only so many messages, and without the limit, which is each loop's own. */
function prefixOf(raw: string, messages: number): string {
  const body = JSON.parse(raw);
  const cut = { ...body, messages: body.messages.slice(0, messages), max_tokens: 0 };
  return JSON.stringify(cut);
}

describe("fork", () => {
  it("sends tools, system and messages byte for byte, marks included", async () => {
    const main = await converse("anthropic");
    const last = talk.server.requests[1]!.raw;
    talk.server.queue({ tools: [{ name: "write" }] }, { text: "Saved." });
    const tools = [tool("write", "fork")];
    await fork(talk.anthropic, main, { prompt: "What is worth keeping?", tools, maxTurns: 3, maxTokens: 500 });

    expect(main.sent).toBe(3);
    for (const { raw } of talk.server.requests.slice(2)) {
      expect(prefixOf(raw, main.sent)).toBe(prefixOf(last, main.sent));
      // Raw bytes too: from the first tool to the end of the last shared message.
      const shared = last.slice(last.indexOf('"tools":'), last.lastIndexOf("]", last.lastIndexOf('"stream"')));
      expect(shared.length).toBeGreaterThan(500);
      expect(raw).toContain(shared);
    }
    const first = talk.server.requests[2]!.body.messages;
    expect(first).toHaveLength(5);
    expect(first[4].content).toEqual([
      { type: "text", text: "What is worth keeping?", cache_control: { type: "ephemeral" } },
    ]);
  });

  it("shares the prefix with OpenAI-compatible servers too", async () => {
    const main = await converse("openai");
    const last = talk.server.requests[1]!.raw;
    talk.server.queue({ text: "ok" });
    await fork(talk.openai, main, { prompt: "And?", tools: [], maxTurns: 1, maxTokens: 500 });
    const shared = last.slice(last.indexOf('"tools":'), last.lastIndexOf("]", last.lastIndexOf('"stream"')));
    expect(shared.length).toBeGreaterThan(500);
    expect(talk.server.requests[2]!.raw).toContain(shared);
  });

  it("runs its own tools only, and refuses the others that it had to declare", async () => {
    const main = await converse("anthropic");
    talk.server.queue({ tools: [{ name: "write" }, { name: "bash" }] }, { text: "ok" });
    const tools = [tool("write", "fork")];
    const result = await fork(talk.anthropic, main, { prompt: "Save it.", tools, maxTurns: 3, maxTokens: 500 });
    expect(ran).toEqual(["fork/write"]);
    expect(result.added[1]!.content).toMatchObject([
      { content: "write done" },
      { content: expect.stringMatching(/no tool "bash" here; use one of: write/), isError: true },
    ]);
  });

  it("has its own turn limit, and nothing flows back", async () => {
    const main = await converse("anthropic");
    const before = JSON.stringify(main);
    for (let i = 0; i < 2; i++) talk.server.queue({ tools: [{ name: "write" }] });
    const tools = [tool("write", "fork"), tool("extra", "fork")];
    const result = await fork(talk.anthropic, main, { prompt: "Save it.", tools, maxTurns: 2, maxTokens: 500 });
    expect(result).toMatchObject({ ended: "turns", turns: 2 });
    expect(JSON.stringify(main)).toBe(before);
    expect(result.added).toHaveLength(4);
    const declared = talk.server.requests[2]!.body.tools.map(({ name }: { name: string }) => name);
    expect(declared).toEqual(["read", "write", "bash", "extra"]);
  });

  it("runs beside the conversation that it was forked from", async () => {
    const main = await converse("anthropic");
    const slow = { text: ["a", "b"], delayMs: 20 };
    talk.server.queue(slow, slow);
    const asked = { tools: MAIN, maxTurns: 2, maxTokens: 100 };
    const [on, beside] = await Promise.all([
      runAgentLoop(talk.anthropic, { ...asked, system: main.system, messages: [...main.messages, says("go on")] }),
      fork(talk.anthropic, main, { ...asked, prompt: "Notes?" }),
    ]);
    expect([on.ended, beside.ended]).toEqual(["done", "done"]);
    expect(JSON.stringify(on.conversation)).not.toContain("Notes?");
  });
});
