// A small agent with memory, built on the Anthropic SDK. Each line of standard input is a prompt:
//   ANTHROPIC_API_KEY=… node examples/anthropic-agent.mjs
import process from "node:process";
import { createInterface } from "node:readline";
import Anthropic from "@anthropic-ai/sdk";
import { betaTool } from "@anthropic-ai/sdk/helpers/beta/json-schema";
import { MEMORY_TYPES, openMemdir, openRecallSession } from "memdir";

const memdir = await openMemdir({ cwd: process.cwd(), by: "anthropic-agent" });
const session = openRecallSession();
const string = { type: "string" };
const when = { type: "array", items: string, description: "situations in which it should come to mind" };
const properties = { type: { enum: MEMORY_TYPES }, name: string, description: string, body: string, when };
const client = new Anthropic();
const save = betaTool({
  name: "save_memory",
  description: "Saves what later sessions should know: corrections, decisions, who the user is, where to look.",
  inputSchema: { type: "object", properties, required: Object.keys(properties) },
  run: async (memory) => `saved as ${(await memdir.save(memory)).file}`,
});

let messages = [];
for await (const prompt of createInterface({ input: process.stdin })) {
  if (prompt === "") continue;
  const { memories, text } = await memdir.recall(prompt, { session });
  session.surface(memories); // so that none is shown twice
  messages.push({ role: "user", content: `${text}\n\n${prompt}`.trim() });
  const request = { model: process.env.MODEL ?? "claude-sonnet-5-5", max_tokens: 8192, messages, tools: [save] };
  // `thread: false` keeps the conversation here, so that gateways and other servers work too.
  const runner = client.beta.messages.toolRunner({ ...request, thread: false, stream: true });
  for await (const answer of runner) answer.on("text", (delta) => process.stdout.write(delta));
  messages = [...runner.params.messages];
  process.stdout.write("\n");
}
