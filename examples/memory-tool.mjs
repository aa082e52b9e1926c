// The model API's memory tool over a memdir directory: what the model keeps under /memories is a memory like any other.
//   ANTHROPIC_API_KEY=… node examples/memory-tool.mjs "What do you know about me?"
import process from "node:process";
import Anthropic from "@anthropic-ai/sdk";
import { openMemdir } from "memdir";
import { openAnthropicMemory } from "memdir/anthropic";

const { memoryTool } = await openAnthropicMemory(await openMemdir({ by: "memory-tool" }));
const runner = new Anthropic().beta.messages.toolRunner({
  model: process.env.MODEL ?? "claude-sonnet-5-5",
  max_tokens: 8192,
  messages: [{ role: "user", content: process.argv[2] ?? "What do you know about me?" }],
  tools: [memoryTool],
  thread: false, // keeps the conversation here, so that gateways and other servers work too
  stream: true,
});
for await (const answer of runner) answer.on("text", (delta) => process.stdout.write(delta));
process.stdout.write("\n");
