/** MCP inspector, the protocol's own reference client: every tool, resource and prompt of our server. */

import { expect, it } from "vitest";
import { type Desk, describeClient, openDesk } from "./client.ts";
import { ALL_TOOLS } from "./host.ts";
import { MCP_COMMAND, NOTE } from "./mcp-contract.ts";

// biome-ignore lint/suspicious/noExplicitAny: the shape is what tests look at
async function inspect(desk: Desk, method: string, ...flags: string[]): Promise<any> {
  const { out } = await desk.start(["--cli", ...MCP_COMMAND, "--method", method, ...flags]);
  return JSON.parse(out);
}

const call = (desk: Desk, tool: string, input: object = {}) => {
  const pairs = Object.entries(input).flatMap(([key, value]) => [
    "--tool-arg",
    `${key}=${typeof value === "string" ? value : JSON.stringify(value)}`,
  ]);
  return inspect(desk, "tools/call", "--tool-name", tool, ...pairs);
};

describeClient("inspector", () => {
  it("lists every tool with its schemas and hints", async () => {
    const { tools } = await inspect(await openDesk("inspector"), "tools/list");
    expect(tools.map(({ name }: { name: string }) => name).sort()).toEqual([...ALL_TOOLS].sort());
    for (const tool of tools) {
      expect(tool).toMatchObject({ inputSchema: { type: "object" } });
      expect([tool.name, tool.outputSchema?.type]).toEqual([
        tool.name,
        /recall|read/.test(tool.name) ? undefined : "object",
      ]);
      expect([tool.name, tool.annotations.readOnlyHint]).toEqual([tool.name, !/save|forget|undo/.test(tool.name)]);
      expect([tool.name, tool._meta?.["anthropic/alwaysLoad"] ?? false]).toEqual([
        tool.name,
        /recall|save/.test(tool.name),
      ]);
    }
  });

  it("calls every tool", async () => {
    const desk = await openDesk("inspector");
    const saved = await call(desk, "save", NOTE);
    expect(saved.structuredContent).toMatchObject({ action: "created", scope: "project" });
    const { file } = saved.structuredContent;
    expect(await desk.json(["list"])).toEqual([expect.objectContaining({ file, name: NOTE.name })]);

    const recalled = await call(desk, "recall", { prompt: "on which day are releases cut?" });
    expect(recalled.content[0].text).toContain(NOTE.body);
    const read = await call(desk, "read", { name: file });
    expect(read.content[0].text).toContain(NOTE.body);
    const listed = await call(desk, "list", { limit: 5 });
    expect(listed.structuredContent).toMatchObject({ total: 1, left: 0 });
    expect((await call(desk, "verify")).structuredContent).toMatchObject({ checked: 1, problems: [] });
    expect((await call(desk, "forget", { name: file })).isError).not.toBe(true);
    expect(await desk.json(["list"])).toEqual([]);
  });

  it("lists and reads resources", async () => {
    const desk = await openDesk("inspector");
    await desk.save("release-day", [], NOTE.body);
    const { resources } = await inspect(desk, "resources/list");
    expect(resources).toHaveLength(2);
    for (const { uri } of resources) {
      const { contents } = await inspect(desk, "resources/read", "--uri", uri);
      expect([uri, contents]).toEqual([uri, [expect.objectContaining({ uri, mimeType: "text/markdown" })]]);
      expect(contents[0].text).toContain("release-day");
    }
    const { resourceTemplates } = await inspect(desk, "resources/templates/list");
    expect(resourceTemplates).toHaveLength(1);
  });

  it("lists and gets prompts", async () => {
    const desk = await openDesk("inspector");
    const { prompts } = await inspect(desk, "prompts/list");
    expect(prompts.length).toBeGreaterThan(0);
    for (const { name } of prompts) {
      const { messages } = await inspect(desk, "prompts/get", "--prompt-name", name);
      expect([name, messages]).toEqual([name, [{ role: "user", content: { type: "text", text: expect.any(String) } }]]);
    }
  });
});
