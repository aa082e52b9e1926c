/** `memdir/anthropic` with the real SDK and its tool runner, against the model server on loopback. */

import Anthropic from "@anthropic-ai/sdk";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openAnthropicMemory } from "../../src/anthropic.ts";
import { openMemdir } from "../../src/index.ts";
import { type ModelServer, startModelServer } from "../model-server/model-server.ts";
import { makeWorld, type World } from "../world.ts";
import { PNPM, TOKEN } from "./memories.ts";

let server: ModelServer;
let world: World;
beforeEach(async () => {
  server = await startModelServer();
  world = makeWorld();
});
afterEach(() => server.close());

async function open() {
  const memdir = await openMemdir({ cwd: world.project, env: world.env, now: () => world.now, by: "my-agent" });
  const client = new Anthropic({ baseURL: server.url, apiKey: "key" });
  return { memdir, client, memory: await openAnthropicMemory(memdir) };
}

const REQUEST = { model: "model-of-the-test", max_tokens: 8192, thread: false } as const;

function resultOf(request: number) {
  return server.requests[request]?.body.messages.at(-1).content[0];
}

describe("one call", () => {
  it("gives tools that save while the answer streams, and tell the model what is wrong", async () => {
    const { client, memory } = await open();
    server.queue(
      { tools: [{ name: "save", input: { ...PNPM, body: `the token is ${TOKEN}` } }] },
      { tools: [{ name: "save", input: { name: 3 } }] },
      { tools: [{ name: "save", input: PNPM }] },
      { text: ["Not", "ed."] },
    );
    const messages = [await memory.message("Use pnpm!")];
    const runner = client.beta.messages.toolRunner({ ...REQUEST, messages, tools: memory.tools, stream: true });
    const deltas: string[] = [];
    for await (const answer of runner) answer.on("text", (delta) => deltas.push(delta));
    expect(deltas).toEqual(["Not", "ed."]);
    expect(resultOf(1)).toMatchObject({ is_error: true, content: expect.stringMatching(/leave the value out/) });
    expect(resultOf(2)).toMatchObject({ is_error: true, content: expect.stringMatching(/"type" is missing/) });
    expect(resultOf(3).content).toBe("created feedback_use_pnpm.md");
    expect(world.read("feedback_use_pnpm.md")).toMatch(/source: my-agent/);
    expect(world.grep(TOKEN)).toEqual([]);
    expect(Object.keys(server.requests[0]?.body.tools[0])).toEqual(["name", "description", "input_schema"]);
  });

  it("puts what helps before a message, once in a conversation", async () => {
    const { memdir, memory } = await open();
    await memdir.save(PNPM);
    const prompt = "How do I install a package with npm?";
    const { content } = await memory.message(prompt);
    expect(content).toEqual([
      { type: "text", text: expect.stringContaining(PNPM.body) },
      { type: "text", text: prompt },
    ]);
    expect((await memory.message(prompt)).content).toEqual([{ type: "text", text: prompt }]);
    memory.session.clear();
    expect((await memory.message(prompt)).content).toHaveLength(2);
  });

  it("gives the memory tool over the same memories", async () => {
    const { client, memory, memdir } = await open();
    const command = (input: object) => ({ tools: [{ name: "memory", input }] });
    server.queue(
      command({ command: "create", path: "/memories/user.md", file_text: "The user likes tabs.\n" }),
      command({ command: "format" }),
      command({ command: "view", path: "/memories" }),
      { text: "Good." },
    );
    const messages = [await memory.message("I like tabs.")];
    const runner = client.beta.messages.toolRunner({ ...REQUEST, messages, tools: [memory.memoryTool], stream: true });
    await runner.runUntilDone();
    expect(server.requests[0]?.body.tools).toEqual([{ type: "memory_20250818", name: "memory" }]);
    expect(resultOf(1).content).toBe("File created successfully at: /memories/user.md");
    expect(resultOf(2)).toMatchObject({
      is_error: true,
      content: expect.stringMatching(/there is no command "format"/),
    });
    expect((await memdir.list()).map(({ file }) => file)).toEqual(["user.md"]);
  });
});
