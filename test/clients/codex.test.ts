/** Codex with our MCP server and our hook. */

import { expect, it } from "vitest";
import { countIn, describeClient, openDesk } from "./client.ts";
import { describeHooks } from "./hook-contract.ts";
import { codex } from "./hosts/codex.ts";
import { describeInit } from "./init-contract.ts";
import { describeMcp, MCP_COMMAND } from "./mcp-contract.ts";

describeMcp(codex);
describeHooks(codex);
describeInit(codex);

describeClient("codex", () => {
  it("reads the index and a memory as resources", async () => {
    const desk = await openDesk("codex");
    codex.prepare(desk, { server: MCP_COMMAND });
    await desk.save("release-day", [], "Releases are cut on Tuesdays.");
    const [{ file, scope }] = await desk.json(["list"]);
    const readOf = (uri: string) => ({ tools: [{ name: "read_mcp_resource", input: { server: "memdir", uri } }] });
    desk.server.queue(readOf("memory://index"), readOf(`memory://${scope}/${file}`), { text: "Read." });
    await codex.start(desk, "read your memory");
    const [, index, memory] = desk.asked();
    expect(countIn(index, "Says release-day")).toBeGreaterThan(0);
    expect(countIn(memory, "Releases are cut on Tuesdays.")).toBeGreaterThan(0);
  });

  it("what was said in a session of its own can be extracted", async () => {
    const desk = await openDesk("codex");
    codex.prepare(desk);
    desk.server.queue({ text: "Understood." });
    await codex.start(desk, "remember that we never use npm here, always pnpm");
    const [transcript] = desk.tree().filter((file) => /[\\/]rollout-[^\\/]*\.jsonl$/.test(file));
    await desk.json(["extract", "--transcript", desk.at(transcript!)]);
    expect(JSON.stringify(await desk.json(["list"]))).toContain("pnpm");
  });
});
