// An MCP server whose hook answers at once and says nothing: what a client itself takes to call one.
import process from "node:process";
import { createInterface } from "node:readline";

const ANSWERS = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: "instant", version: "1" },
  }),
  "tools/list": () => ({ tools: [] }),
  "tools/call": () => ({ content: [{ type: "text", text: "{}" }] }),
};

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const result = ANSWERS[method]?.(params) ?? {};
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, result })}\n`);
});
