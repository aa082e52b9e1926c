/** Gemini CLI with our MCP server and our hook. */

import { expect, it } from "vitest";
import { describeClient, openDesk } from "./client.ts";
import { describeHooks } from "./hook-contract.ts";
import { geminiCli } from "./hosts/gemini-cli.ts";
import { describeInit } from "./init-contract.ts";
import { describeMcp } from "./mcp-contract.ts";

describeMcp(geminiCli);
describeHooks(geminiCli);
describeInit(geminiCli);

describeClient("gemini-cli", () => {
  it("what was said in its sessions can be extracted", async () => {
    const desk = await openDesk("gemini-cli");
    geminiCli.prepare(desk);
    desk.server.queue({ text: "Understood." });
    await geminiCli.start(desk, "remember that we never use npm here, always pnpm");
    const { sessions } = await desk.json(["extract", "--since", "1d", "--agent", "gemini"]);
    expect(sessions).toMatchObject([{ agent: "gemini", skipped: null }]);
    expect(JSON.stringify(await desk.json(["list"]))).toContain("pnpm");
  });
});
