/** Codex with our MCP server and our hook. */

import fs from "node:fs";
import { expect, it } from "vitest";
import { countIn, describeClient, openDesk } from "./client.ts";
import { describeHooks, HOOK_COMMAND } from "./hook-contract.ts";
import { codex } from "./hosts/codex.ts";
import { describeInit } from "./init-contract.ts";
import { describeMcp, MCP_COMMAND } from "./mcp-contract.ts";
import { describeServerHooks } from "./server-hooks-contract.ts";

describeMcp(codex);
describeHooks(codex);
describeInit(codex);
describeServerHooks(codex, {
  program: "codex",
  file: ".codex/hooks.json",
  switchOff(desk) {
    const file = desk.at("home", ".codex", "config.toml");
    const text = fs.readFileSync(file, "utf8");
    fs.writeFileSync(file, text.replace("[mcp_servers.memdir]\n", "[mcp_servers.memdir]\nenabled = false\n"));
  },
});

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

  it("is shown the instructions of a folder once it has touched a file there, which it does not load itself", async () => {
    const desk = await openDesk("codex");
    codex.prepare(desk, { hook: { command: HOOK_COMMAND, moments: ["start", "prompt", "before-tool", "after-tool"] } });
    desk.put("project/AGENTS.md", "Tests come first.");
    desk.put("project/src/api/AGENTS.md", "Handlers return a Result.");
    desk.put("project/src/web/AGENTS.md", "Pages have no state.");
    for (const file of ["api/a.ts", "web/w.ts"]) desk.put(`project/src/${file}`, "export {};\n");
    // A call says where it works; Codex tells the hook that folder instead of the session's.
    const inWeb = { name: "exec_command", input: { cmd: "cat w.ts", workdir: desk.at("project", "src", "web") } };
    const inApi = codex.shell("cat src/api/a.ts");
    desk.server.queue({ tools: [inApi] }, { tools: [inWeb] }, { tools: [inApi] }, { text: "Read." });
    await codex.start(desk, "look at the handlers and the pages");
    const counts = (text: string) => desk.asked().map((request) => countIn(request, text));
    expect(counts("Tests come first.")).toEqual([1, 1, 1, 1]);
    expect(counts("Handlers return a Result.")).toEqual([0, 1, 1, 1]);
    expect(counts("Pages have no state.")).toEqual([0, 0, 1, 1]);
    const [, next] = desk.asked();
    expect(countIn(next, "Instructions of this repository for files below src/api (src/api/AGENTS.md):")).toBe(1);
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
