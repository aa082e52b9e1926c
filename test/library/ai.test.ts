/** `memdir/ai` with the real AI SDK and a real provider, against the model server on loopback. */

import { createAnthropic } from "@ai-sdk/anthropic";
import { generateText, type ModelMessage, stepCountIs, streamText, wrapLanguageModel } from "ai";
import { afterEach, beforeEach, describe, expect, expectTypeOf, it } from "vitest";
import { openAiMemory } from "../../src/ai.ts";
import { openMemdir } from "../../src/index.ts";
import { type ModelServer, startModelServer } from "../model-server/model-server.ts";
import { makeWorld, type World } from "../world.ts";
import { PNPM, TOKEN } from "./memories.ts";

// The model of the test is unknown to the provider, which would say so at every call.
globalThis.AI_SDK_LOG_WARNINGS = false;

let server: ModelServer;
let world: World;
beforeEach(async () => {
  server = await startModelServer();
  world = makeWorld();
});
afterEach(() => server.close());

async function open(more: Parameters<typeof openMemdir>[0] = {}) {
  const memdir = await openMemdir({
    cwd: world.project,
    env: world.env,
    now: () => world.now,
    by: "my-agent",
    ...more,
  });
  const memory = await openAiMemory(memdir);
  const provider = createAnthropic({ baseURL: `${server.url}/v1`, apiKey: "key" });
  const model = wrapLanguageModel({ model: provider("model-of-the-test"), middleware: memory.middleware });
  return { memdir, memory, model };
}

/** How often a request's messages hold a text. */
function count(request: number, text: string): number {
  return JSON.stringify(server.requests[request]?.body.messages ?? "").split(text).length - 1;
}

describe("tools", () => {
  it("save what the model asks for while it streams, and tell it what is wrong", async () => {
    const { memory, model } = await open();
    server.queue(
      { tools: [{ name: "save", input: { ...PNPM, body: `the token is ${TOKEN}` } }] },
      { tools: [{ name: "save", input: { name: 3 } }] },
      {
        tools: [
          { name: "save", input: PNPM },
          { name: "list", input: {} },
        ],
      },
      { text: ["Not", "ed."] },
    );
    const stopWhen = stepCountIs(8);
    const answer = streamText({
      model,
      tools: memory.tools,
      system: memory.instructions,
      prompt: "Use pnpm!",
      stopWhen,
    });
    const deltas: string[] = [];
    for await (const delta of answer.textStream) deltas.push(delta);
    expect(deltas).toEqual(["Not", "ed."]);
    const results = server.requests.slice(1).map(({ body }) => JSON.stringify(body.messages.at(-1).content));
    expect(results[0]).toMatch(/leave the value out/);
    expect(results[1]).toMatch(/type.*is missing.*name.*must be a string/);
    // The list is asked for in the same step and sees what was saved before it.
    expect(results[2]).toMatch(/created feedback_use_pnpm\.md.*\[feedback\] feedback_use_pnpm\.md/s);
    expect(world.read("feedback_use_pnpm.md")).toMatch(/source: my-agent/);
    expect(world.grep(TOKEN)).toEqual([]);
  });

  it("undo what they changed, and nothing of a person's", async () => {
    const { memdir, memory } = await open();
    const byHand = await (await openMemdir({ cwd: world.project, env: world.env, by: "cli" })).save({
      ...PNPM,
      type: "user",
    });
    const run = (name: "save" | "undo", input: Record<string, unknown>) =>
      memory.tools[name].execute?.(input, { toolCallId: "1", messages: [] });
    await run("save", PNPM);
    await expect(run("undo", { id: byHand.undo })).rejects.toThrow(/was not made through these tools: ask the user/);
    expect(await run("undo", {})).toMatch(/^undid save \S+: feedback_use_pnpm\.md/);
    expect((await memdir.list()).map(({ file }) => file)).toEqual([byHand.file]);
    await expect(run("undo", {})).rejects.toMatchObject({ code: "not-found" });
  });

  it("are limited to one agent's memory where the program says so", async () => {
    const { memdir, memory } = await open({ scope: "agent:reviewer" });
    const input = await memory.tools.save.execute?.(PNPM, { toolCallId: "1", messages: [] });
    expect(input).toBe("created feedback_use_pnpm.md");
    expect((await memdir.list()).map(({ scope }) => scope)).toEqual(["agent:reviewer@project"]);
    expect(world.files()).toEqual([]);
    const [save] = await memdir.tools({ only: ["save"] });
    expect(Object.keys(save?.inputSchema.properties ?? {})).not.toContain("scope");
    await expect(save?.run({ ...PNPM, scope: "user" })).rejects.toThrow(/one scope only/);
  });

  it("are typed by the names that are asked for", async () => {
    const memory = await openAiMemory((await open()).memdir, { only: ["save", "recall"] });
    expectTypeOf(memory.tools).toHaveProperty("save");
    expectTypeOf(memory.tools).not.toHaveProperty("forget");
    expect(Object.keys(memory.tools).sort()).toEqual(["recall", "save"]);
  });
});

describe("middleware", () => {
  it("shows a memory once, before the message it helps with, in every step and turn", async () => {
    const { memdir, memory, model } = await open();
    await memdir.save(PNPM);
    server.queue(
      { tools: [{ name: "list", input: {} }] },
      { text: "pnpm add." },
      { text: "With -D." },
      { text: "pnpm again." },
    );
    const messages: ModelMessage[] = [{ role: "user", content: "How do I install a package with pnpm or npm?" }];
    const stopWhen = stepCountIs(8);
    const first = streamText({ model, tools: memory.tools, messages, stopWhen });
    await first.consumeStream();
    messages.push(...(await first.response).messages, {
      role: "user",
      content: "Installing a package for tests with pnpm?",
    });
    await generateText({ model, messages });
    expect([0, 1, 2].map((request) => count(request, PNPM.body))).toEqual([1, 1, 1]);
    const opening = (request: number) => JSON.stringify(server.requests[request]?.body.messages[0]);
    expect([opening(1), opening(2)].map((text) => text.replace(/,"cache_control":\{[^}]*\}/g, ""))).toEqual([
      opening(0),
      opening(0),
    ]);
    // Another conversation with the same middleware has seen nothing yet.
    await generateText({ model, prompt: "How do I install a package with npm?" });
    expect(count(3, PNPM.body)).toBe(1);
  });

  it("adds nothing where nothing helps, or memory is switched off", async () => {
    const { memdir, model } = await open();
    await memdir.save(PNPM);
    server.queue({ text: "Hm." }, { text: "Hm." });
    await generateText({ model, prompt: "What is the weather like on the moon?" });
    expect(server.requests[0]?.body.messages[0].content).toHaveLength(1);
    const off = await open({ env: { ...world.env, MEMDIR_DISABLED: "1", CLAUDE_CODE_DISABLE_AUTO_MEMORY: "1" } });
    await generateText({ model: off.model, prompt: "How do I install a package with npm?" });
    expect(count(1, PNPM.body)).toBe(0);
  });
});
