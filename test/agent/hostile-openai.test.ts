/** The same agent on an OpenAI-compatible server: whole turns, compaction, and sessions that go from one provider to the other. */

import { describe, expect, it } from "vitest";
import type { AgentModel } from "../../src/agent/state.ts";
import { withRetries } from "../../src/model/choose.ts";
import { openOpenai } from "../../src/model/openai.ts";
import type { Reply } from "../model-server/reply.ts";
import { PATIENCE_MS } from "../until.ts";
import { type AgentDesk, calls, openDesk } from "./desk.ts";

async function openaiOf(desk: AgentDesk): Promise<AgentModel> {
  const ask = await openOpenai({ model: "local-test", baseUrl: desk.server.openaiUrl, maxSilenceMs: PATIENCE_MS });
  return {
    ask: withRetries(ask, { now: () => new Date(), sleep: async () => {}, random: () => 0 }),
    name: "local-test",
    provider: "openai",
    windowTokens: 100_000,
    maxTokens: 1_000,
    cutoff: null,
  };
}

const text = (desk: AgentDesk) => JSON.stringify(desk.last().messages);

describe("an OpenAI-compatible server", () => {
  it("a whole turn with tools, a compaction and a resume", async () => {
    const desk = await openDesk();
    desk.put("CLAUDE.md", "Be kind.");
    const file = desk.put("a.txt", "found\n");
    const agent = await desk.open();
    agent.model(await openaiOf(desk));
    desk.server.queue(calls({ name: "Read", input: { file_path: file } }), { text: "one" });
    expect(await agent.say("look into a.txt please")).toMatchObject({ text: "one", ended: "done" });
    expect(text(desk)).toContain("Be kind.");
    expect(text(desk)).toContain("found");
    desk.server.queue({ text: "<summary>We looked.</summary>" }, { text: "two" });
    expect(await agent.compact()).toMatchObject({ ok: true });
    expect(await agent.say("second words here")).toMatchObject({ text: "two" });
    expect(text(desk)).toContain("We looked.");
    const resumed = await desk.open({ from: await desk.read(agent) });
    resumed.model(await openaiOf(desk));
    desk.server.queue({ text: "three" });
    expect(await resumed.say("third words here")).toMatchObject({ text: "three" });
    expect(text(desk)).toContain("We looked.");
    expect(text(desk)).toContain("second words here");
  });

  it("goes on with a session that began with Anthropic, and back, without the other's thinking", async () => {
    const desk = await openDesk();
    const file = desk.put("a.txt", "found\n");
    desk.server.queue(
      { thinking: "a secret thought", text: "Let me look.", ...calls({ name: "Read", input: { file_path: file } }) },
      { thinking: "another thought", text: "one" },
    );
    const agent = await desk.open();
    await agent.say("look into a.txt please");
    const middle = await desk.open({ from: await desk.read(agent) });
    middle.model(await openaiOf(desk));
    desk.server.queue(calls({ name: "Read", input: { file_path: file } }), { text: "two" });
    expect(await middle.say("look once more please")).toMatchObject({ text: "two", ended: "done" });
    expect(desk.last().model).toBe("local-test");
    expect(text(desk)).not.toMatch(/thought|signed|opaque/);
    expect(text(desk)).toContain("Let me look.");
    const back = await desk.open({ from: await desk.read(middle) });
    desk.server.queue({ text: "three" });
    expect(await back.say("and back again")).toMatchObject({ text: "three", ended: "done" });
    expect(text(desk)).toContain("a secret thought");
    expect(text(desk)).toContain('"signature":"signed"');
    expect(text(desk)).toContain("look once more please");
  });

  // A fault that is known: it holds with 03-wire.patch.
  it("ids that other servers give their calls are sent to Anthropic in its alphabet", async () => {
    const desk = await openDesk();
    const file = desk.put("a.txt", "found\n");
    const agent = await desk.open();
    const anthropic = agent.model();
    agent.model(await openaiOf(desk));
    desk.server.queue(
      { tools: [{ id: "functions.Read:0", name: "Read", input: { file_path: file } }] },
      { text: "one" },
    );
    await agent.say("look into a.txt please");
    agent.model(anthropic);
    desk.server.queue({ text: "two" });
    expect(await agent.say("second words here")).toMatchObject({ text: "two" });
    const ids = [...text(desk).matchAll(/"(?:id|tool_use_id)":"([^"]*)"/g)].map(([, id]) => id);
    expect(ids).toHaveLength(2);
    for (const id of ids) expect(id).toMatch(/^[\w-]+$/);
    expect(new Set(ids).size).toBe(1);
  });

  // A fault that is known: it holds with 08-openai-roles.patch.
  it("roles alternate, as the chat templates of many local models demand, also behind a summary and a stopped turn", async () => {
    const desk = await openDesk();
    const agent = await desk.open();
    agent.model(await openaiOf(desk));
    desk.server.queue({ text: "one" }, { text: "<summary>We looked.</summary>" }, { text: "two" }, { text: "three" });
    await agent.say("first words here");
    await agent.compact();
    await agent.say("second words here");
    await agent.say("third words here");
    const roles = desk.last().messages.map(({ role }: { role: string }) => role);
    expect(roles).toEqual(["system", "user", "assistant", "user"]);
    expect(text(desk)).toContain("We looked.");
    expect(text(desk)).toContain("second words here");
  });

  it("a server that fails leaves the conversation whole", async () => {
    const faults: Reply[] = [
      { text: ["Half a", " thought"], fault: "drop" },
      { text: ["Half a", " thought"], fault: "malformed" },
      { before: "page" },
      { status: 529 },
      { status: 400, message: "maximum context length exceeded" },
    ];
    const desk = await openDesk();
    const agent = await desk.open();
    agent.model(await openaiOf(desk));
    for (const [i, fault] of faults.entries()) {
      const before = desk.server.requests.length;
      const again = () => (desk.server.requests.length - before > 6 ? { text: "unexpected" } : fault);
      desk.server.queue(...Array.from({ length: 6 }, () => again));
      const result = await agent.say(`words that failed ${i}`);
      expect(result.ended).toBe("error");
      for (let left = 6 - (desk.server.requests.length - before); left > 0; left--) await drain(desk);
    }
    desk.server.queue({ text: "at last" });
    expect(await agent.say("the last words")).toMatchObject({ text: "at last", ended: "done" });
    for (const i of faults.keys()) expect(text(desk)).toContain(`words that failed ${i}`);
    expect(text(desk)).toContain("Half a thought");
    const session = await desk.read(agent);
    expect(session.prompts).toHaveLength(faults.length + 1);
  });
});

/** Uses up a reply that nobody asked for. */
async function drain(desk: AgentDesk): Promise<void> {
  const body = JSON.stringify({ messages: [{ role: "user", content: "x" }] });
  await fetch(`${desk.server.openaiUrl}/chat/completions`, { method: "POST", body }).then(
    (response) => response.text().catch(() => ""),
    () => "",
  );
}
