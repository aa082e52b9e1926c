import { describe, expect, it } from "vitest";
import { type LoopEvent, type LoopOptions, runAgentLoop } from "../../src/model/agent-loop.ts";
import type { ToolResult } from "../../src/model/ask.ts";
import { withRetries } from "../../src/model/choose.ts";
import type { Tool } from "../../src/model/tool.ts";
import { KEY, says, useTalk } from "./talk.ts";

const talk = useTalk();
const schema = { type: "object", properties: { text: { type: "string" } } };
const ECHO: Tool = { name: "echo", description: "Says it again", schema, run: ({ text }) => `echo: ${text}` };

function options(fields: Partial<LoopOptions> = {}): LoopOptions {
  return {
    system: [{ text: "Be brief.", cache: true }],
    messages: [says("go")],
    tools: [ECHO],
    maxTurns: 5,
    maxTokens: 100,
    ...fields,
  };
}

/** A tool that is done when the test says so. */
function gate(name: string) {
  let open = () => {};
  const passed = new Promise<void>((resolve) => {
    open = resolve;
  });
  const tool: Tool = { name, description: name, schema, run: () => passed.then(() => name) };
  return { tool, open };
}

describe.each(["anthropic", "openai"] as const)("a loop over %s", (provider) => {
  it("asks, runs a tool, and asks again until the model is done", async () => {
    talk.server.queue({ text: "Wait.", tools: [{ id: "t1", name: "echo", input: { text: "hi" } }] }, { text: "Done." });
    const events: LoopEvent[] = [];
    const result = await runAgentLoop(talk[provider], options({ onEvent: (event) => events.push(event) }));
    expect(result).toMatchObject({ ended: "done", turns: 2, text: "Done.", usage: { input: 20, output: 10 } });
    expect(result).not.toHaveProperty("error");
    expect(result.added).toEqual([
      {
        role: "assistant",
        content: [
          { type: "text", text: "Wait." },
          { type: "tool_use", id: "t1", name: "echo", input: { text: "hi" } },
        ],
      },
      { role: "user", content: [{ type: "tool_result", id: "t1", content: "echo: hi" }] },
      { role: "assistant", content: [{ type: "text", text: "Done." }] },
    ]);
    expect(result.conversation.messages).toEqual([says("go"), ...result.added]);
    expect(events.map(({ type }) => type)).toEqual([
      ...["turn", "text", "usage", "message", "tool-start", "tool-end", "message"],
      ...["turn", "text", "usage", "message"],
    ]);
  });

  it("runs the calls of one turn at the same time and answers in their order", async () => {
    const [slow, quick] = [gate("slow"), gate("quick")];
    talk.server.queue({ tools: [{ name: "slow" }, { name: "quick" }] }, { text: "ok" });
    const started: string[] = [];
    const onEvent = (event: LoopEvent) => {
      if (event.type === "tool-start") started.push(event.call.name);
      if (started.length === 2) quick.open();
      if (event.type === "tool-end" && event.call.name === "quick") slow.open();
    };
    const result = await runAgentLoop(talk[provider], options({ tools: [slow.tool, quick.tool], onEvent }));
    expect(result.ended).toBe("done");
    expect(result.added[1]!.content).toMatchObject([{ content: "slow" }, { content: "quick" }]);
  });

  it("tells the model what went wrong with a tool, and goes on", async () => {
    const thrower: Tool = { ...ECHO, name: "thrower", run: () => Promise.reject(new Error("no such file")) };
    const careless: Tool = { ...ECHO, name: "careless", run: () => undefined as unknown as string };
    talk.server.queue(
      {
        tools: [
          { name: "thrower" },
          { name: "unknown" },
          { name: "echo", rawInput: '{"te' },
          { name: "careless" },
          { name: "echo", input: { text: "fine" } },
        ],
      },
      { text: "ok" },
    );
    const result = await runAgentLoop(talk[provider], options({ tools: [ECHO, thrower, careless] }));
    expect(result.ended).toBe("done");
    expect(result.added[1]!.content).toMatchObject([
      { content: "no such file", isError: true },
      { content: expect.stringMatching(/no tool "unknown".*echo, thrower/), isError: true },
      { content: expect.stringContaining("not valid JSON"), isError: true },
      { isError: true },
      { content: "echo: fine" },
    ]);
  });

  it("stops after its turns, with every call answered", async () => {
    for (let i = 0; i < 2; i++) talk.server.queue({ tools: [{ name: "echo", input: { text: i } }] });
    const result = await runAgentLoop(talk[provider], options({ maxTurns: 2 }));
    expect(result).toMatchObject({ ended: "turns", turns: 2 });
    expect(talk.server.requests).toHaveLength(2);
    expect(result.added.at(-1)!.content).toMatchObject([{ type: "tool_result", content: "echo: 1" }]);
    // What it leaves can be sent again: the server checks it.
    const messages = [...result.conversation.messages, says("go on")];
    talk.server.queue({ text: "more" });
    expect((await runAgentLoop(talk[provider], options({ messages, maxTurns: 5 }))).ended).toBe("done");
  });

  it("is stopped while a tool runs that does not heed the signal", async () => {
    const never: Tool = { ...ECHO, name: "never", run: () => new Promise(() => {}) };
    talk.server.queue({ tools: [{ name: "never" }, { name: "echo", input: { text: "a" } }] });
    const controller = new AbortController();
    const onEvent = (event: LoopEvent) => {
      if (event.type === "tool-end" && event.call.name === "echo") controller.abort();
    };
    const result = await runAgentLoop(
      talk[provider],
      options({ tools: [never, ECHO], signal: controller.signal, onEvent }),
    );
    expect(result).toMatchObject({ ended: "aborted", turns: 1 });
    expect(result.added.at(-1)!.content).toMatchObject([
      { content: expect.stringContaining("stopped"), isError: true },
      { content: "echo: a" },
    ]);
  });

  it("is stopped while the model answers", async () => {
    const pace = (event: string) => (event.includes('"so"') ? new Promise<void>(() => {}) : undefined);
    talk.server.queue({ text: ["so", " far", " so"], pace });
    const controller = new AbortController();
    const onEvent = (event: LoopEvent) => event.type === "text" && controller.abort();
    const result = await runAgentLoop(talk[provider], options({ signal: controller.signal, onEvent }));
    expect(result).toMatchObject({ ended: "aborted", text: "so", added: [], error: { kind: "aborted" } });
  });

  it("ends with the error when the model fails, and keeps what was done before", async () => {
    talk.server.queue({ tools: [{ name: "echo", input: { text: "a" } }] }, { status: 401, message: KEY });
    const result = await runAgentLoop(talk[provider], options());
    expect(result).toMatchObject({ ended: "error", turns: 2, error: { kind: "auth" } });
    expect(result.added).toHaveLength(2);
    expect(JSON.stringify(result)).not.toContain(KEY);
  });

  it("writes a result that is too large to a file", async () => {
    const large = Array.from({ length: 5000 }, (_, i) => `line ${i}`).join("\n");
    const cat: Tool = { ...ECHO, name: "cat", run: () => large };
    talk.server.queue(
      {
        tools: [
          { id: "t1", name: "cat" },
          { name: "echo", input: { text: "small" } },
        ],
      },
      { text: "ok" },
    );
    const written = new Map<string, string>();
    const write = async ({ id }: { id: string }, content: string) => {
      written.set(id, content);
      return `/tmp/results/${id}.txt`;
    };
    const files: (string | null)[] = [];
    const onEvent = (event: LoopEvent) => event.type === "tool-end" && files.push(event.file);
    const result = await runAgentLoop(
      talk[provider],
      options({ tools: [cat, ECHO], onEvent, results: { maxChars: 10_000, write } }),
    );
    expect([...written]).toEqual([["t1", large]]);
    expect(files.sort()).toEqual(["/tmp/results/t1.txt", null]);
    const [shown, small] = result.added[1]!.content as readonly ToolResult[];
    expect(shown!.content).toMatch(/^The result has 48889 characters.* \/tmp\/results\/t1\.txt/);
    expect(shown!.content).toMatch(/line \d+$/);
    expect(shown!.content.length).toBeLessThan(2300);
    expect(small!.content).toBe("echo: small");
    expect(talk.server.requests[1]!.raw.length).toBeLessThan(10_000);
  });
});

describe("a loop", () => {
  it("says so when a large result cannot be kept", async () => {
    const cat: Tool = { ...ECHO, name: "cat", run: () => "😀".repeat(3000) };
    const results = { maxChars: 101, write: () => Promise.reject(new Error("disk full")) };
    talk.server.queue({ tools: [{ name: "cat" }] }, { text: "ok" });
    const result = await runAgentLoop(talk.anthropic, options({ tools: [cat], results }));
    const [{ content }] = result.added[1]!.content as readonly [ToolResult];
    expect(content).toContain("disk full");
    expect(content.isWellFormed()).toBe(true);
  });

  it("drops calls that were cut off by the limit, so that its messages can be sent again", async () => {
    talk.server.queue({ text: "I", tools: [{ name: "echo", rawInput: '{"te' }], stop: "max_tokens" });
    const result = await runAgentLoop(talk.anthropic, options());
    expect(result).toMatchObject({ ended: "length", text: "I" });
    expect(result.added).toEqual([{ role: "assistant", content: [{ type: "text", text: "I" }] }]);
  });

  it("tells a refusal, and adds no message without content", async () => {
    talk.server.queue({ stop: "refusal" }, { stop: "end_turn" });
    expect(await runAgentLoop(talk.anthropic, options())).toMatchObject({ ended: "refused", added: [] });
    expect(await runAgentLoop(talk.anthropic, options())).toMatchObject({ ended: "done", added: [] });
  });

  it("marks its last message for the cache at every turn", async () => {
    talk.server.queue({ tools: [{ name: "echo", input: { text: "a" } }] }, { text: "ok" });
    await runAgentLoop(talk.anthropic, options());
    const marked = talk.server.requests.map(({ body }) =>
      body.messages.map(({ content }: { content: object[] }) => content.some((block) => "cache_control" in block)),
    );
    expect(marked).toEqual([[true], [false, false, true]]);
  });

  it("tells that a turn starts again, and survives a listener that throws", async () => {
    talk.server.queue({ text: "ha", fault: "drop" }, { text: "whole" });
    const world = { now: () => new Date(0), sleep: async () => {}, random: () => 0 };
    const types: string[] = [];
    const onEvent = ({ type }: LoopEvent) => {
      types.push(type);
      throw new Error("the listener's own");
    };
    const result = await runAgentLoop(withRetries(talk.anthropic, world), options({ onEvent }));
    // The attempt that failed has cost something too.
    expect(result).toMatchObject({ ended: "done", text: "whole", usage: { input: 20, output: 6 } });
    expect(types).toEqual(["turn", "text", "retry", "text", "usage", "message"]);
  });

  it("does not ask when it is stopped before", async () => {
    const result = await runAgentLoop(talk.anthropic, options({ signal: AbortSignal.abort() }));
    expect(result).toMatchObject({ ended: "aborted", turns: 0, added: [] });
    expect(talk.server.requests).toEqual([]);
  });
});
