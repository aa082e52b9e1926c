// A small agent with memory, built on the Anthropic SDK. Each line of standard input is a prompt:
//   ANTHROPIC_API_KEY=… node examples/anthropic-agent.mjs
import process from "node:process";
import { createInterface } from "node:readline";
import Anthropic from "@anthropic-ai/sdk";
import { openMemdir } from "memdir";
import { openAnthropicMemory } from "memdir/anthropic";

const client = new Anthropic();
const memory = await openAnthropicMemory(await openMemdir({ by: "anthropic-agent" }));
const { tools, instructions: system } = memory;

let messages = [];
for await (const prompt of createInterface({ input: process.stdin })) {
  if (prompt === "") continue;
  messages.push(await memory.message(prompt));
  const request = { model: process.env.MODEL ?? "claude-sonnet-5-5", max_tokens: 8192, system, messages, tools };
  // `thread: false` keeps the conversation here, so that gateways and other servers work too.
  const runner = client.beta.messages.toolRunner({ ...request, thread: false, stream: true });
  for await (const answer of runner) answer.on("text", (delta) => process.stdout.write(delta));
  messages = [...runner.params.messages];
  process.stdout.write("\n");
}
