import { describe, expect, it } from "vitest";
import { remind } from "../../src/context/attachments.ts";
import { buildUserContext } from "../../src/context/environment.ts";
import { agentSections, openSystemPrompt } from "../../src/context/system-prompt.ts";
import { measureWindow, partsOf, WINDOW_PARTS } from "../../src/context/window.ts";
import { approximateTokens } from "../../src/model/cost.ts";

describe("approximate tokens", () => {
  it.each([
    ["nothing", "", 0],
    ["a letter", "a", 1],
    ["English", "The quick brown fox jumps over the lazy dog.", 11],
    ["code", "const x = 1;\n", 4],
    ["Chinese", "部署在星期二", 6],
    ["Japanese", "ひらがなカタカナ", 8],
    ["Korean", "안녕하세요", 5],
    ["Greek", "λόγος", 3],
    ["an emoji", "🤖", 1],
    ["mixed", "abcd部署", 3],
    ["a lone surrogate", "\ud800", 1],
  ])("of %s", (_, text, tokens) => {
    expect(approximateTokens(text)).toBe(tokens);
  });
});

describe("what fills the window", () => {
  const parts = [
    { name: "system prompt" as const, text: "x".repeat(400) },
    { name: "what was said" as const, text: "部".repeat(100) },
    { name: "reserved for the answer" as const, text: "", tokens: 300 },
  ];

  it("measures bytes, tokens and share of each part, the sum and what is free", () => {
    expect(measureWindow(parts, 1000)).toEqual({
      parts: [
        { name: "system prompt", bytes: 400, tokens: 100, share: 0.1 },
        { name: "what was said", bytes: 300, tokens: 100, share: 0.1 },
        { name: "reserved for the answer", bytes: 0, tokens: 300, share: 0.3 },
      ],
      windowTokens: 1000,
      totalTokens: 500,
      totalBytes: 700,
      freeTokens: 500,
      share: 0.5,
      isCounted: false,
    });
  });

  it("brings the parts to the provider's own count, but not what is reserved", () => {
    const view = measureWindow(parts, 1000, 300);
    expect(view.parts.map(({ tokens }) => tokens)).toEqual([150, 150, 300]);
    expect(view).toMatchObject({ totalTokens: 600, freeTokens: 400, isCounted: true });
  });

  it("is sound at the edges: full, over, empty, no window, no count", () => {
    expect(measureWindow(parts, 400)).toMatchObject({ freeTokens: 0, share: 1.25 });
    expect(measureWindow([], 1000)).toMatchObject({ totalTokens: 0, freeTokens: 1000, share: 0, parts: [] });
    expect(measureWindow(parts, 0)).toMatchObject({ freeTokens: 0, share: 0 });
    expect(measureWindow([], 1000, 50)).toMatchObject({ totalTokens: 0, isCounted: false });
    expect(measureWindow(parts, 1000, 0)).toMatchObject({ totalTokens: 500, isCounted: false });
  });
});

describe("the parts of a conversation", () => {
  const opening = buildUserContext({ instructions: "INSTR", index: "INDEX", environment: "ENV", git: null });
  const shown: Parameters<typeof partsOf>[0] = {
    sections: [
      { name: "identity", text: "SYSTEM" },
      { name: "tone", text: "MORE" },
    ],
    tools: [{ name: "Read", description: "TOOL", schema: {} }],
    messages: [
      { role: "user", content: [...opening, { type: "text", text: "ASKED" }] },
      {
        role: "assistant",
        content: [
          { type: "opaque", provider: "x", value: { thinking: "THOUGHT" } },
          { type: "text", text: "ANSWERED" },
          { type: "tool_use", id: "1", name: "Read", input: { path: "CALL" } },
        ],
      },
      {
        role: "user",
        content: [
          { type: "tool_result", id: "1", content: "RESULT" },
          remind("nested-instructions", "NESTED"),
          remind("memories", "RECALLED"),
          remind("file", "FILE"),
          remind("notice", "NOTICE"),
          remind("toString", "ODD"),
        ],
      },
    ],
  };

  it("sorts every block into its part, in a fixed order", () => {
    const found = partsOf(shown, 8000);
    const words = (text: string) => text.match(/[A-Z]{3,}/g) ?? [];
    expect(found.map(({ name, text, tokens }) => [name, words(text).join(" "), tokens])).toEqual([
      ["system prompt", "SYSTEM MORE", undefined],
      ["tools", "TOOL", undefined],
      ["instructions", "INSTR NESTED", undefined],
      ["memory index", "INDEX", undefined],
      ["environment", "ENV", undefined],
      ["recalled memories", "RECALLED", undefined],
      ["attachments", "NOTICE ODD", undefined],
      ["files and tool results", "CALL RESULT FILE", undefined],
      ["what was said", "ASKED THOUGHT ANSWERED", undefined],
      ["reserved for the answer", "", 8000],
    ]);
    expect(WINDOW_PARTS.filter((name) => found.some((part) => part.name === name))).toEqual(
      found.map(({ name }) => name),
    );
  });

  it("tells the memory section from the rest of the system prompt by its sections", async () => {
    const sections = await openSystemPrompt(agentSections({ commit: null, pr: null }, () => "# Memory")).parts();
    const found = partsOf({ ...shown, sections });
    expect(found.find(({ name }) => name === "memory section")?.text).toBe("# Memory");
    expect(found.find(({ name }) => name === "system prompt")?.text).not.toContain("# Memory");
  });

  it("has no parts when there is nothing", () => {
    expect(partsOf({ sections: [], tools: [], messages: [] })).toEqual([]);
  });
});
