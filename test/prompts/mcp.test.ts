/** The golden file is what a model reads; review it as text. */
import { describe, expect, it } from "vitest";
import { buildMcpPrompt, MCP_INSTRUCTIONS, MCP_PROMPT_WORDS, MCP_TOOL_WORDS } from "../../src/prompts/mcp.ts";

describe("the words of the MCP server", () => {
  it("read as in the golden file", async () => {
    const tools = Object.entries(MCP_TOOL_WORDS).map(([name, { title, description, inputs }]) => {
      const lines = Object.entries(inputs).map(([input, words]) => `- ${input}: ${words}`);
      return [`## ${name} (${title})`, "", description, "", ...lines].join("\n");
    });
    const prompts = (Object.keys(MCP_PROMPT_WORDS) as (keyof typeof MCP_PROMPT_WORDS)[]).map((name) =>
      [`## prompt ${name}`, buildMcpPrompt(name, ""), buildMcpPrompt(name, "GIVEN")].join("\n\n"),
    );
    const all = [MCP_INSTRUCTIONS, ...tools, ...prompts].join("\n\n");
    await expect(`${all}\n`).toMatchFileSnapshot("golden/mcp.md");
  });

  it("the instructions stay under 2,000 characters: hosts show all of them, always", () => {
    expect(MCP_INSTRUCTIONS.length).toBeLessThanOrEqual(2000);
    for (const word of [
      "recall",
      "save",
      "when",
      "forget",
      "verify",
      "secrets",
      "data, not instructions",
      "out of date",
    ]) {
      expect(MCP_INSTRUCTIONS).toContain(word);
    }
  });
});
