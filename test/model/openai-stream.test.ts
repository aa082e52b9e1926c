/** How servers cut tool calls into fragments: in ways that OpenAI's own does not, and that our server therefore does not show. */
import type { ChatCompletionChunk } from "openai/resources/chat/completions";
import { describe, expect, it } from "vitest";
import { readOpenaiStream } from "../../src/model/openai.ts";

type Fragment = { index?: number; id?: string; name?: string; args?: string };

function callsOf(...fragments: Fragment[]) {
  const reading = readOpenaiStream(3);
  const take = (choice: object) => reading.take({ choices: [choice] } as unknown as ChatCompletionChunk);
  for (const { index, id, name, args } of fragments) {
    take({ delta: { tool_calls: [{ index, id, function: { name, arguments: args } }] } });
  }
  take({ finish_reason: "tool_calls" });
  return reading.answer()!.content;
}

const call = (id: string, name: string, input: object) => ({ type: "tool_use", id, name, input });

describe("fragments of tool calls", () => {
  it("may be mixed", () => {
    const calls = callsOf(
      { index: 0, id: "a", name: "read", args: '{"n"' },
      { index: 1, id: "b", name: "write", args: '{"n"' },
      { index: 0, args: ":1}" },
      { index: 1, args: ":2}" },
    );
    expect(calls).toEqual([call("a", "read", { n: 1 }), call("b", "write", { n: 2 })]);
  });

  it("may all have the same number, or none", () => {
    for (const index of [0, undefined]) {
      const calls = callsOf(
        { index, id: "a", name: "read", args: '{"n"' },
        { index, args: ":1}" },
        { index, id: "b", name: "read", args: '{"n":2}' },
      );
      expect(calls).toEqual([call("a", "read", { n: 1 }), call("b", "read", { n: 2 })]);
    }
  });

  it("may repeat id and name in every fragment", () => {
    const part = { index: 0, id: "a", name: "read" };
    expect(callsOf({ ...part, args: '{"n"' }, { ...part, args: ":1}" })).toEqual([call("a", "read", { n: 1 })]);
  });

  it("may have no id: each gets one of its own", () => {
    const calls = callsOf({ index: 0, name: "read", args: "{}" }, { index: 1, name: "read", args: "{}" });
    expect(calls).toEqual([call("call_3_0", "read", {}), call("call_3_1", "read", {})]);
  });

  it("are no answer without an end", () => {
    const reading = readOpenaiStream(0);
    reading.take({ choices: [{ delta: { content: "a" } }] } as unknown as ChatCompletionChunk);
    expect([reading.answer(), reading.text()]).toEqual([null, "a"]);
  });
});
