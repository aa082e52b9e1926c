import { describe, expect, test } from "vitest";
import type { Message } from "../../src/model/ask.ts";
import {
  answerOf,
  assistantBlocks,
  attachmentOf,
  formatLine,
  parseLine,
  partsOf,
  promptOf,
  titleAfter,
  userBlocks,
} from "../../src/session/transcript-line.ts";
import { answered, call, reminder, result, said } from "./transcripts.ts";

const FACTS = { id: "msg_1", model: "model-x" };

describe("lines of messages", () => {
  test("C26 a prompt is a plain string, as Claude Code writes it", () => {
    expect(partsOf(said("hello"), FACTS)).toEqual([{ type: "user", message: { role: "user", content: "hello" } }]);
  });

  test("C26 results of tools have the API's names", () => {
    const message: Message = { role: "user", content: [result("t1"), { ...result("t2", "no"), isError: true }] };
    const [part] = partsOf(message, FACTS);
    expect(part).toEqual({
      type: "user",
      message: {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "t1", content: "done" },
          { type: "tool_result", tool_use_id: "t2", content: "no", is_error: true },
        ],
      },
    });
    expect(userBlocks(part as never)).toEqual(message.content);
  });

  test("C26 an answer holds model, stop reason and usage; thinking is stored as the provider sent it", () => {
    const value = { type: "thinking", thinking: "hm", signature: "s" };
    const message = answered({ type: "opaque", provider: "anthropic", value }, "yes", call("t1", { a: [1] }));
    const usage = { input: 1, output: 2, cacheRead: 3, cacheWrite: 4 };
    const [part] = partsOf(message, { ...FACTS, usage, stop: "tools" });
    expect(part).toEqual({
      type: "assistant",
      message: {
        id: "msg_1",
        type: "message",
        role: "assistant",
        model: "model-x",
        content: [
          value,
          { type: "text", text: "yes" },
          { type: "tool_use", id: "t1", name: "Read", input: { a: [1] } },
        ],
        stop_reason: "tool_use",
        usage: {
          input_tokens: 1,
          output_tokens: 2,
          cache_read_input_tokens: 3,
          cache_creation_input_tokens: 4,
        },
      },
    });
    expect(assistantBlocks(part as never)).toEqual(message.content);
    expect(answerOf(part as never)).toEqual({ id: "msg_1", model: "model-x", usage });
  });

  test("what another provider wants back is kept as ours, not mistaken for thinking", () => {
    const message = answered({ type: "opaque", provider: "other", value: { type: "thinking" } }, "yes");
    expect(assistantBlocks(partsOf(message, FACTS)[0] as never)).toEqual(message.content);
  });

  test("a reminder is a line of its own with its place in the message", () => {
    const parts = partsOf(
      { role: "user", content: [reminder("r1"), ...said("hi").content, reminder("r2")] } as Message,
      FACTS,
    );
    expect(parts).toEqual([
      { type: "user", message: { role: "user", content: "hi" } },
      { type: "attachment", attachment: { type: "date", content: "r1" }, index: 0 },
      { type: "attachment", attachment: { type: "date", content: "r2" }, index: 2 },
    ]);
    expect(attachmentOf(parts[1] as never)).toEqual({ block: reminder("r1"), index: 0, starts: false });
  });

  test("a message of reminders alone says where it starts", () => {
    const parts = partsOf({ role: "user", content: [reminder("r1"), reminder("r2")] }, FACTS);
    expect(parts.map((part) => attachmentOf(part as never)?.starts)).toEqual([true, false]);
  });
});

describe("reading lines", () => {
  test.each([
    ["half a line", '{"type":"user","mess'],
    ["no object", "[1]"],
    ["null", "null"],
    ["a number", "7"],
    ["no type", '{"a":1}'],
    ["a type that is no text", '{"type":7}'],
    ["nothing", ""],
  ])("%s is no line", (_, text) => expect(parseLine(text)).toBeNull());

  test("a byte order mark and a carriage return do not matter", () => {
    expect(parseLine('\ufeff{"type":"mode"}\r')).toEqual({ type: "mode" });
  });

  test("C26 plain messages of a simpler program are understood", () => {
    expect(promptOf(parseLine('{"role":"user","content":"hi"}')!)).toBe("hi");
    expect(promptOf(parseLine('{"type":"user","content":"hi"}')!)).toBe("hi");
  });

  test("lone surrogates and line separators survive and stay on one line", () => {
    const line = formatLine({ type: "x", text: "a\ud800b\u2028c\nd" });
    expect(line.split("\n")).toHaveLength(2);
    expect(parseLine(line)).toEqual({ type: "x", text: "a\ud800b\u2028c\nd" });
  });

  test("blocks that make no sense are left out, what cannot be sent again is named", () => {
    const content = [null, 1, {}, { type: "text" }, { type: "image", source: {} }, { type: "tool_result" }];
    expect(userBlocks({ type: "user", message: { content } })).toEqual([{ type: "text", text: "[image, not kept]" }]);
    const wrong = [
      { type: "tool_use", id: 1 },
      { type: "server_tool_use" },
      { type: "tool_use", id: "a", name: "b", input: 3 },
    ];
    expect(assistantBlocks({ type: "assistant", message: { content: wrong } })).toEqual([
      { type: "tool_use", id: "a", name: "b", input: {} },
    ]);
    for (const message of [undefined, null, 3, [], { content: 3 }]) {
      expect(userBlocks({ type: "user", message })).toEqual([]);
    }
  });

  test("a result in blocks becomes text", () => {
    const content = [{ type: "text", text: "a" }, { type: "image" }, null];
    const line = { type: "user", message: { content: [{ type: "tool_result", tool_use_id: "t", content }] } };
    expect(userBlocks(line)).toEqual([result("t", "a\n[image, not kept]")]);
  });

  test("Claude Code's own reminders are not ours", () => {
    for (const attachment of [{ type: "instructions", files: [] }, { type: "date", content: "today" }, "x", null]) {
      expect(attachmentOf({ type: "attachment", attachment })).toBeNull();
    }
  });

  test("only what somebody typed is a prompt", () => {
    const line = (content: unknown, more = {}) => ({ type: "user", message: { role: "user", content }, ...more });
    expect(promptOf(line("hi"))).toBe("hi");
    expect(promptOf(line([{ type: "text", text: "hi" }]))).toBe("hi");
    expect(promptOf(line("hi", { isMeta: true }))).toBeNull();
    expect(promptOf(line("hi", { isCompactSummary: true }))).toBeNull();
    expect(promptOf(line(" \n"))).toBeNull();
    expect(promptOf(line("[Request interrupted by user]"))).toBeNull();
    expect(promptOf(line([{ type: "tool_result", tool_use_id: "t", content: "x" }]))).toBeNull();
    expect(promptOf({ type: "assistant", message: { content: "hi" } })).toBeNull();
  });

  test("the client's own errors are no answers", () => {
    const message = { id: "m", model: "model-x", content: [] };
    expect(answerOf({ type: "assistant", message, isApiErrorMessage: true })).toBeNull();
    expect(answerOf({ type: "assistant", message: { ...message, model: "<synthetic>" } })).toBeNull();
    expect(answerOf({ type: "assistant" })).toBeNull();
    expect(
      answerOf({ type: "assistant", message: { usage: { input_tokens: -1, output_tokens: "x" } } })?.usage,
    ).toEqual({
      input: 0,
      output: 0,
      cacheRead: 0,
      cacheWrite: 0,
    });
  });

  test("titles have an order", () => {
    expect(titleAfter(null, { type: "summary", summary: "a" })).toEqual({ rank: 0, title: "a" });
    expect(titleAfter(null, { type: "ai-title", aiTitle: "b" })).toEqual({ rank: 1, title: "b" });
    expect(titleAfter(null, { type: "custom-title", customTitle: "c" })).toEqual({ rank: 2, title: "c" });
    expect(titleAfter(null, { type: "custom-title", customTitle: " " })).toBeNull();
    expect(titleAfter(null, { type: "user" })).toBeNull();
    const own = { rank: 2, title: "c" };
    expect(titleAfter(own, { type: "ai-title", aiTitle: "b" })).toBe(own);
    expect(titleAfter(own, { type: "custom-title", customTitle: "d" })).toEqual({ rank: 2, title: "d" });
  });
});
